//! What a path or a flow has shown: how late its late packets come, its round trip, and whether
//! its senders take a late packet for a lost one.

use super::lateness::Lateness;
use super::rule;

/// After so long half of what was seen is forgotten, nanoseconds.
const FADES_NS: i64 = 1_000_000_000;

/// A sender with a fixed threshold resends after three later packets. It is worth holding what it
/// would resend for as long as half a round trip: a retransmission cannot come sooner than a whole one, so that
/// a gap that fills earlier than that was filled by a late original.
const SHARE_FOR_STRICT: i64 = 2;

/// A sender that waits for late packets itself (RACK: a quarter of a round trip, RFC 8985 section
/// 6.2) gains little by a long hold and loses the time. So is every sender held until it has shown to be strict.
const SHARE_FOR_TOLERANT: i64 = 8;

/// Price of holding for as long as is ever done, in thousandths of what a gap that fills in time
/// earns; see [`rule`].
const PRICE: i64 = 50;

/// A sender is strict when it has resent what was only late so many times more often than it was
/// shown something late and did not. Once is not enough: RACK does it once, before it has seen reordering.
const STRICT: i8 = 2;

/// So many losses one after another say that the path has changed: nothing is held until a gap
/// has filled again. Without it a path that was good would be waited for until it is forgotten.
const LOSSES_IN_A_ROW: u8 = 16;

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
    /// Losses since a gap last filled.
    lost_in_a_row: u8,
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

impl Learnt {
    pub(super) const fn new() -> Self {
        Learnt {
            lateness: Lateness::new(),
            faded_ns: 0,
            rtt_ns: 0,
            strictness: 0,
            reacted_ns: i64::MIN,
            lost_in_a_row: 0,
            stale: 0,
            bound_ns: 0,
        }
    }

    /// A round trip was seen to take so long; the shortest counts.
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

    /// A gap filled so long after it had opened; `None`: it did not.
    pub(super) fn outcome(&mut self, late_ns: Option<i64>, now_ns: i64) {
        self.fade(now_ns);
        match late_ns {
            Some(late_ns) => {
                self.lateness.filled_after(late_ns);
                self.lost_in_a_row = 0;
            }
            None => {
                self.lateness.never_filled();
                self.lost_in_a_row = self.lost_in_a_row.saturating_add(1);
            }
        }
        self.stale = self.stale.saturating_sub(1);
    }

    /// A late packet went up late, and then its retransmission came (`resent`), or did not. What
    /// happens within a round trip is one reaction.
    pub(super) fn reaction(&mut self, resent: bool, now_ns: i64) {
        if now_ns.saturating_sub(self.reacted_ns) < self.rtt_ns {
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
        let most_ns = match rtt_ns {
            _ if limits.tunnel => limits.most_ns,
            Some(rtt_ns) => rtt_ns / share,
            None => limits.blind_ns,
        };
        most_ns.min(limits.most_ns)
    }

    /// How long to wait for a gap, by what was learnt.
    #[inline]
    pub(super) fn bound_ns(&mut self, rtt_ns: Option<i64>, limits: &Limits) -> i64 {
        if self.lost_in_a_row >= LOSSES_IN_A_ROW {
            return 0;
        }
        if self.stale == 0 {
            let hard_ns = self.hard_ns(rtt_ns, limits);
            self.bound_ns = rule::bound_ns(&self.lateness, hard_ns, PRICE);
            // Often while little is known, seldom when one outcome more hardly matters.
            self.stale = (self.lateness.outcomes() / 8).clamp(1, 16) as u8;
        }
        self.bound_ns
    }

    /// The bound as it was computed last.
    pub(super) fn known_bound_ns(&self) -> i64 {
        if self.lost_in_a_row >= LOSSES_IN_A_ROW {
            0
        } else {
            self.bound_ns
        }
    }

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
        start_ns: 0,
        blind_ns: MS,
        tunnel: false,
    };

    fn after(outcomes: &[Option<i64>]) -> Learnt {
        let mut learnt = Learnt::new();
        outcomes
            .iter()
            .for_each(|&late_ns| learnt.outcome(late_ns, 0));
        learnt
    }

    #[test]
    fn the_bound_is_a_share_of_the_round_trip() {
        let learnt = after(&[Some(MS); 10]);
        assert_eq!(learnt.hard_ns(Some(40 * MS), &LIMITS), 5 * MS);
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
        let mut learnt = after(&[Some(10 * MS); 4]);
        learnt.round_trip(40 * MS);
        learnt.reaction(true, 0);
        learnt.reaction(true, 39 * MS); // of the same round trip
        assert!(!learnt.is_strict());
        assert_eq!(learnt.bound_ns(Some(40 * MS), &LIMITS), 0); // later than an eighth
        learnt.reaction(true, 40 * MS);
        assert!(learnt.is_strict());
        let bound_ns = learnt.bound_ns(Some(40 * MS), &LIMITS);
        assert!((10 * MS..20 * MS).contains(&bound_ns));
        learnt.reaction(false, 80 * MS);
        assert!(!learnt.is_strict());
    }

    #[test]
    fn it_adapts_within_fifty_outcomes() {
        let mut learnt = after(&[Some(100_000); 500]);
        learnt.round_trip(40 * MS);
        let mut bound_after = |outcome| {
            (0..50).for_each(|_| learnt.outcome(outcome, 0));
            learnt.bound_ns(Some(40 * MS), &LIMITS)
        };
        let later_ns = bound_after(Some(2 * MS));
        assert!((2 * MS..3 * MS).contains(&later_ns), "{later_ns}");
        assert_eq!(bound_after(None), 0);
        assert!(bound_after(Some(MS)) > MS);
    }

    #[test]
    fn a_second_halves_what_is_remembered() {
        let mut learnt = after(&[Some(MS); 100]);
        learnt.outcome(None, 3 * FADES_NS);
        assert_eq!(learnt.outcomes(), 100 / 8 + 1);
        learnt.outcome(None, i64::MAX);
        assert_eq!(learnt.outcomes(), 1);
    }
}
