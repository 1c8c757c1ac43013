//! What a path or a flow has shown: how late its late packets come, its round trip, and whether
//! its senders take a late packet for a lost one.

use super::lateness::Lateness;
use super::rule;

/// Time after which half of what was seen is forgotten, nanoseconds.
const FADES_NS: i64 = 1_000_000_000;

/// Number of parts in which shares of the round trip are given.
const PARTS: i64 = 8;

/// A sender with a fixed threshold resends after three later packets, however late the one that is missing. It is
/// held for up to 7/8 of a round trip: a retransmission cannot come sooner than a whole one.
const SHARE_FOR_STRICT: i64 = 7;

/// A sender that waits for late packets itself (RACK: a quarter of a round trip, RFC 8985 section 6.2) has little
/// left to gain by a hold longer than half a round trip, and takes it for a queue. So is every sender
/// held until it has shown to be strict, at the start, too: a late packet that is not waited for ends the slow start of
/// nearly every sender, because RACK, too, takes the first for lost.
const SHARE_FOR_TOLERANT: i64 = 4;

/// What fills a gap sooner than 7/8 of a round trip after it opened is an original.
const SHARE_OF_ORIGINALS: i64 = 7;

/// Number of gaps filled in time after which a path is no longer new. By then the longest wait seen, made
/// longer by the rule's margin, is enough for nearly all that follow; after fewer of them it is not.
const START_FILLED: u8 = 64;

/// Price of holding a packet for the longest time that is allowed, in thousandths of what a gap that fills in time
/// earns; see [`rule`].
const PRICE: i64 = 50;

/// A sender is strict when it has resent what was only late this number of times more often than it was
/// shown something late and did not. Once is not enough: RACK does it once, before it has seen reordering.
const STRICT: i8 = 2;

/// Number of losses one after another, over [`FADES_NS`] and longer, which say that the path has changed: nothing is held until
/// a gap has filled again. Without it a path that was good would be waited for until it is forgotten. In less time they say
/// that a queue was full, which happens on paths that also deliver late.
const LOSSES_IN_A_ROW: u8 = 16;

/// A retransmission of what was late by less than this share of a round trip, 1 / 4, shows a strict sender. RACK
/// resends what is later, and is not strict.
const RACK_WAITS: i64 = 4;

/// What became of a gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// The gap was filled while packets were held for it, this many nanoseconds after it had opened.
    InTime(i64),
    /// The gap was filled when no packets were held for it (any more), this many nanoseconds after it had opened.
    TooLate(i64),
    /// The gap was never filled: the packet was lost.
    Never,
}

/// The experience with a path or a flow.
#[derive(Clone, Debug)]
pub(super) struct Learnt {
    lateness: Lateness,
    faded_ns: i64,
    /// 0: not known.
    rtt_ns: i64,
    /// How often its sender resent what was only late, less how often it did not; within
    /// [`STRICT`] of zero.
    strictness: i8,
    /// Its last reaction: those of one round trip are one.
    reacted_ns: i64,
    /// Losses since a gap last filled, and when the first of them was seen.
    lost_in_a_row: u8,
    losing_since_ns: i64,
    /// Only losses have been seen for so long that nothing is waited for.
    only_loses: bool,
    /// Gaps that have ever filled while they were waited for, up to [`START_FILLED`].
    in_time: u8,
    /// A gap was waited for in vain since one last filled: the path loses packets, or its late ones come later than any hold.
    in_vain: bool,
    /// Outcomes until the bound is computed anew.
    stale: u8,
    bound_ns: i64,
}

/// What bounds every hold, whatever was learnt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The setting `bound`.
    pub(super) most_ns: i64,
    /// The setting `start`.
    pub(super) start_ns: i64,
    /// The setting `blind`.
    pub(super) blind_ns: i64,
    /// Numbers are a tunnel's own: nothing is resent under the same number, so no round trip limits a hold.
    pub(super) tunnel: bool,
}

impl Limits {
    /// This number of [`PARTS`] of a round trip, or what is set in its place.
    fn share_ns(&self, share: i64, rtt_ns: Option<i64>) -> i64 {
        match rtt_ns {
            _ if self.tunnel => self.most_ns,
            Some(rtt_ns) => rtt_ns / PARTS * share,
            None => self.blind_ns,
        }
    }

    /// The hold on a path that is new. `is_early`: the first gap of the flow came among its first packets. So early it is
    /// hardly a loss; later it may be, and where no round trip says what a hold costs, it is a short one.
    pub(super) fn at_start_ns(&self, rtt_ns: Option<i64>, is_early: bool) -> i64 {
        let start_ns = match self.tunnel && !is_early {
            true => self.blind_ns.min(self.start_ns),
            false => self.start_ns,
        };
        let share_ns = self.share_ns(SHARE_FOR_TOLERANT, rtt_ns);
        start_ns.min(share_ns).min(self.most_ns)
    }

    /// Time after a gap opened during which only an original can fill it.
    pub(super) fn original_ns(&self, rtt_ns: Option<i64>) -> i64 {
        self.share_ns(SHARE_OF_ORIGINALS, rtt_ns)
    }
}

impl Learnt {
    pub(super) const fn new() -> Self {
        Learnt {
            lateness: Lateness::new(),
            faded_ns: 0,
            rtt_ns: 0,
            strictness: 0,
            reacted_ns: i64::MIN,
            lost_in_a_row: 0,
            losing_since_ns: 0,
            only_loses: false,
            in_time: 0,
            in_vain: false,
            stale: 0,
            bound_ns: 0,
        }
    }

    /// A round trip was seen to take this time, nanoseconds; the shortest counts.
    pub(super) fn round_trip(&mut self, rtt_ns: i64) {
        if rtt_ns > 0 && (self.rtt_ns == 0 || rtt_ns < self.rtt_ns) {
            self.rtt_ns = rtt_ns;
            self.stale = 0;
        }
    }

    /// The shortest round trip seen, nanoseconds.
    pub(super) fn rtt_ns(&self) -> Option<i64> {
        (self.rtt_ns > 0).then_some(self.rtt_ns)
    }

    /// What became of a gap.
    #[inline]
    pub(super) fn outcome(&mut self, outcome: Outcome, now_ns: i64) {
        self.fade(now_ns);
        match outcome {
            Outcome::InTime(late_ns) | Outcome::TooLate(late_ns) => {
                self.lateness.filled_after(late_ns);
                self.lost_in_a_row = 0;
                self.only_loses = false;
            }
            Outcome::Never => {
                self.lateness.never_filled();
                if self.lost_in_a_row == 0 {
                    self.losing_since_ns = now_ns;
                }
                self.lost_in_a_row = self.lost_in_a_row.saturating_add(1);
                self.only_loses = self.lost_in_a_row >= LOSSES_IN_A_ROW
                    && now_ns.saturating_sub(self.losing_since_ns) >= FADES_NS;
            }
        }
        if let Outcome::InTime(_) = outcome {
            self.in_time = (self.in_time + 1).min(START_FILLED);
            self.in_vain = false;
        }
        self.stale = self.stale.saturating_sub(1);
    }

    /// This number of gaps filled at the time they opened, which is now: the same as [`Learnt::outcome`] for each.
    #[inline]
    pub(super) fn in_time_at_once(&mut self, gaps: u32, now_ns: i64) {
        self.fade(now_ns);
        self.lateness.filled_at_once(gaps);
        self.lost_in_a_row = 0;
        self.only_loses = false;
        let few = u8::try_from(gaps).unwrap_or(u8::MAX);
        self.in_time = self.in_time.saturating_add(few).min(START_FILLED);
        self.in_vain = false;
        self.stale = self.stale.saturating_sub(few);
    }

    /// Number of outcomes that can follow before the bound on the waiting time may change.
    #[inline]
    pub(super) fn keeps_its_bound_for(&self) -> u32 {
        u32::from(self.stale)
    }

    /// A packet went up late by `seen_late_ns`, and then its retransmission came: whether that is so is `resent`. What
    /// happens within a round trip is one reaction.
    pub(super) fn reaction(&mut self, resent: bool, seen_late_ns: i64, now_ns: i64) {
        let is_excused = resent && seen_late_ns >= self.rtt_ns / RACK_WAITS;
        if is_excused || now_ns.saturating_sub(self.reacted_ns) < self.rtt_ns {
            return;
        }
        self.reacted_ns = now_ns;
        let was = self.is_strict();
        let step = if resent { 1 } else { -1 };
        self.strictness = (self.strictness + step).clamp(-STRICT, STRICT);
        if self.is_strict() != was {
            self.stale = 0;
        }
    }

    /// Its sender takes late packets for lost ones.
    pub(super) fn is_strict(&self) -> bool {
        self.strictness >= STRICT
    }

    /// Outcomes known.
    #[inline]
    pub(super) fn outcomes(&self) -> u32 {
        self.lateness.outcomes()
    }

    /// The longest that may be waited here for a gap to fill: [`SHARE_FOR_STRICT`] of a round
    /// trip, or [`SHARE_FOR_TOLERANT`].
    pub(super) fn hard_ns(&self, rtt_ns: Option<i64>, limits: &Limits) -> i64 {
        let share = if self.is_strict() {
            SHARE_FOR_STRICT
        } else {
            SHARE_FOR_TOLERANT
        };
        limits.share_ns(share, rtt_ns).min(limits.most_ns)
    }

    /// A gap was waited for until its bound, in vain. What became of it is known later ([`Learnt::outcome`]).
    pub(super) fn waited_in_vain(&mut self) {
        self.in_vain = true;
    }

    /// Too little is known yet to go by it alone.
    pub(super) fn is_new(&self) -> bool {
        self.in_time < START_FILLED && !self.in_vain
    }

    /// How long to wait for a gap, by what was learnt.
    #[inline]
    pub(super) fn bound_ns(&mut self, rtt_ns: Option<i64>, limits: &Limits) -> i64 {
        if self.only_loses {
            return 0;
        }
        if self.stale == 0 {
            self.compute_bound(rtt_ns, limits);
        }
        self.bound_ns
    }

    #[inline(never)]
    fn compute_bound(&mut self, rtt_ns: Option<i64>, limits: &Limits) {
        let hard_ns = self.hard_ns(rtt_ns, limits);
        self.bound_ns = rule::bound_ns(&self.lateness, hard_ns, PRICE);
        // Often while little is known, seldom when one outcome more hardly matters.
        self.stale = (self.lateness.outcomes() / 8).clamp(1, 16) as u8;
    }

    /// The bound as it was computed last.
    pub(super) fn known_bound_ns(&self) -> i64 {
        if self.only_loses { 0 } else { self.bound_ns }
    }

    #[inline]
    fn fade(&mut self, now_ns: i64) {
        while now_ns.saturating_sub(self.faded_ns) >= FADES_NS {
            if self.lateness.outcomes() == 0 {
                self.faded_ns = now_ns;
                return;
            }
            self.lateness.halve();
            self.faded_ns = self.faded_ns.saturating_add(FADES_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const LIMITS: Limits = Limits {
        most_ns: 50 * MS,
        start_ns: 20 * MS,
        blind_ns: MS,
        tunnel: false,
    };

    fn after(outcomes: &[Outcome]) -> Learnt {
        let mut learnt = Learnt::new();
        outcomes
            .iter()
            .for_each(|&outcome| learnt.outcome(outcome, 0));
        learnt
    }

    #[test]
    fn the_bound_is_a_share_of_the_round_trip() {
        let learnt = after(&[Outcome::InTime(MS); 10]);
        assert_eq!(learnt.hard_ns(Some(40 * MS), &LIMITS), 20 * MS);
        assert_eq!(learnt.hard_ns(Some(4000 * MS), &LIMITS), 50 * MS);
        assert_eq!(learnt.hard_ns(None, &LIMITS), MS);
        let tunnel = Limits {
            tunnel: true,
            ..LIMITS
        };
        assert_eq!(learnt.hard_ns(Some(40 * MS), &tunnel), 50 * MS);
    }

    #[test]
    fn who_resends_late_packets_twice_is_strict_and_may_change() {
        let mut learnt = after(&[Outcome::TooLate(25 * MS); 4]);
        learnt.round_trip(40 * MS);
        learnt.reaction(true, MS, 0);
        learnt.reaction(true, MS, 39 * MS); // of the same round trip
        assert!(!learnt.is_strict());
        assert_eq!(learnt.bound_ns(Some(40 * MS), &LIMITS), 0); // later than half a round trip
        learnt.reaction(true, MS, 40 * MS);
        assert!(learnt.is_strict());
        let bound_ns = learnt.bound_ns(Some(40 * MS), &LIMITS);
        assert!((25 * MS..35 * MS).contains(&bound_ns));
        learnt.reaction(false, MS, 80 * MS);
        assert!(!learnt.is_strict());
    }

    #[test]
    fn who_resends_what_rack_would_resend_is_not_strict_for_that() {
        let mut learnt = Learnt::new();
        learnt.round_trip(40 * MS);
        (0..9).for_each(|i| learnt.reaction(true, 10 * MS, i * 40 * MS));
        assert!(!learnt.is_strict());
    }

    #[test]
    fn a_start_ends_when_waiting_has_worked_or_failed_often_enough() {
        let late = Outcome::InTime(MS);
        assert!(after(&[late; 63]).is_new());
        assert!(!after(&[late; 64]).is_new());
        let mut learnt = after(&[late; 3]);
        learnt.waited_in_vain();
        assert!(!learnt.is_new());
        learnt.outcome(late, 0);
        assert!(learnt.is_new());
        let hold_ns = |rtt_ns| LIMITS.at_start_ns(rtt_ns, false);
        assert_eq!(hold_ns(Some(4 * MS)), 2 * MS); // half a round trip
        assert_eq!(hold_ns(Some(400 * MS)), LIMITS.start_ns);
        assert_eq!(hold_ns(None), LIMITS.blind_ns);
    }

    #[test]
    fn a_tunnel_waits_long_only_for_a_gap_among_its_first_packets() {
        let tunnel = Limits {
            tunnel: true,
            ..LIMITS
        };
        assert_eq!(tunnel.at_start_ns(None, true), LIMITS.start_ns);
        assert_eq!(tunnel.at_start_ns(None, false), LIMITS.blind_ns);
    }

    #[test]
    fn it_adapts_within_fifty_outcomes() {
        let mut learnt = after(&[Outcome::InTime(100_000); 500]);
        learnt.round_trip(40 * MS);
        let mut bound_after = |outcome| {
            // One each 25 ms, so that this takes more than a second.
            (0..50).for_each(|i| learnt.outcome(outcome, i * 25 * MS));
            learnt.bound_ns(Some(40 * MS), &LIMITS)
        };
        let later_ns = bound_after(Outcome::TooLate(2 * MS));
        assert!((2 * MS..3 * MS).contains(&later_ns), "{later_ns}");
        assert_eq!(bound_after(Outcome::Never), 0);
        assert!(bound_after(Outcome::TooLate(MS)) > MS);
    }

    #[test]
    fn a_full_queue_does_not_end_the_holds() {
        let mut learnt = after(&[Outcome::InTime(MS); 100]);
        (0..200).for_each(|i| learnt.outcome(Outcome::Never, i * 1_000));
        assert!(learnt.bound_ns(Some(40 * MS), &LIMITS) > MS);
        learnt.outcome(Outcome::Never, FADES_NS);
        assert_eq!(learnt.bound_ns(Some(40 * MS), &LIMITS), 0);
    }

    #[test]
    fn a_second_halves_what_is_remembered() {
        let mut learnt = after(&[Outcome::InTime(MS); 100]);
        learnt.outcome(Outcome::Never, 3 * FADES_NS);
        assert_eq!(learnt.outcomes(), 100 / 8 + 1);
        learnt.outcome(Outcome::Never, i64::MAX);
        assert_eq!(learnt.outcomes(), 1);
    }
}
