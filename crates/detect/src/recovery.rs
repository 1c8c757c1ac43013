//! Recovery phases: when the sender took something for lost, and whether anything was.

use std::collections::VecDeque;

use crate::prompt::{MIN_TIMEOUT_NS, Prompt};
use crate::result::Facts;
use crate::result::{Recoveries, Recovery, RecoveryVerdict, Verdict};

/// Phases whose retransmissions may still get their verdict.
const MAX_OPEN_PHASES: usize = 4_096;
/// Phases remembered for their causes when events are not kept.
const MAX_PHASES_REMEMBERED: usize = 16_384;
/// A sender that has measured its path waits no longer than this for an answer, nanoseconds: what RFC 6298 section 2 rounds shorter
/// times up to.
const MAX_TIMEOUT_NS: i64 = 1_000_000_000;
/// First bytes remembered of what may have been lost before the capture point.
const MAX_PERHAPS: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Phase {
    recovery: Recovery,
    needed: u32,
    spurious: u32,
    /// Of what came by for the first time in it, behind higher data, it is open whether it had been sent before.
    open: bool,
    /// When a tail loss probe began it, while nothing else was sent again, nanoseconds.
    probed_ns: Option<i64>,
    /// Its last retransmission, nanoseconds, and one past the highest byte sent by then.
    last_ns: i64,
    last_highest: i64,
}

impl Phase {
    fn verdict(&self) -> RecoveryVerdict {
        if self.needed > 0 {
            RecoveryVerdict::Loss
        } else if self.spurious == self.recovery.retransmissions && !self.open {
            RecoveryVerdict::Spurious
        } else {
            RecoveryVerdict::Ambiguous
        }
    }
}

/// Recognises phases (RFC 6582 section 3.2, `recover`: from the first retransmission until what had been sent
/// by then is acknowledged) and gathers the verdicts on their retransmissions.
#[derive(Debug, Default)]
#[repr(C)] // First what every acknowledgement needs: see `Engines`.
pub(crate) struct RecoveryTracker {
    recover: Option<i64>,
    /// What was acknowledged when the last phase ended: the sender has no reason to send that again (RFC 9293 section 3.10.7.4), so what
    /// comes of it was sent in that phase and is late.
    settled: i64,
    phases: VecDeque<Phase>,
    first: u32,
    /// When what had been sent by the start of the phase was acknowledged.
    left_ns: Option<i64>,
    done: Recoveries,
    /// What came by on the path for the first time while a phase was under way and may have been lost before: first bytes, and phases.
    perhaps: VecDeque<(i64, u32)>,
    /// What had been sent by the last time-out: all of it counts as lost then (RFC 5681 section 3.1: slow start over all of it).
    timed_out: i64,
    keep: bool,
}

heap!(RecoveryTracker: phases, perhaps, done);

impl RecoveryTracker {
    pub(crate) fn new(keep: bool) -> Self {
        RecoveryTracker {
            keep,
            ..Self::default()
        }
    }

    /// Everything below `una` is acknowledged, as seen at `now`.
    #[inline]
    pub(crate) fn acknowledged(&mut self, una: i64, now: i64) {
        if let Some(recover) = self.recover.take_if(|r| una >= *r) {
            self.settled = recover;
            self.left_ns = Some(now);
        }
    }

    /// May what the sender sent to be seen here at `now` belong to the last phase, `delay` being the way to the
    /// sender and back?
    pub(crate) fn under_way(&self, now: i64, delay: i64) -> bool {
        self.same_phase(now, delay.saturating_mul(2))
    }

    /// Is a retransmission seen at `now` part of the last phase? At the receiver those sent
    /// before the acknowledgement got to the sender still are: `delay` is the way there and back.
    fn same_phase(&self, now: i64, delay: i64) -> bool {
        let left = self.left_ns.filter(|_| self.recover.is_none());
        !self.phases.is_empty() && left.is_none_or(|at| now < at.saturating_add(delay))
    }

    /// The receiver was not heard at all, and `offset` is sent again at `now`, with `highest` as in [`RecoveryTracker::retransmitted`].
    /// What the last phase was about has been acknowledged if its sender repeats what had not been sent by then and nothing of it is
    /// `missing`, the lowest byte that has not come, or if it went on for long and its timer did not expire.
    pub(crate) fn unheard(
        &mut self,
        now: i64,
        offset: i64,
        highest: i64,
        missing: impl FnOnce() -> i64,
    ) {
        let over = self.phases.back().is_some_and(|last| {
            let quiet_ns = now.saturating_sub(last.last_ns);
            quiet_ns > MAX_TIMEOUT_NS && highest > last.last_highest
        });
        let beyond = self.recover.filter(|recover| offset >= *recover);
        let over = over || beyond.is_some_and(|recover| missing() >= recover);
        if over && self.recover.take().is_some() {
            self.left_ns = Some(i64::MIN);
        }
    }

    /// A retransmission of `offset` at `now`; `highest` is one past the highest byte sent,
    /// `delay` the round trip between here and the sender, `prompt` what made the sender repeat it.
    /// Returns the phase it belongs to, for [`RecoveryTracker::resolve`].
    pub(crate) fn retransmitted(
        &mut self,
        now: i64,
        offset: i64,
        highest: i64,
        delay: i64,
        prompt: Prompt,
    ) -> u32 {
        if prompt == Prompt::Timer {
            self.timed_out = highest;
        }
        // The first one was the original.
        self.perhaps.retain(|one| one.0 != offset);
        // Beside the sender nothing is late: what it repeats there had been on its way to the network when the acknowledgement came.
        let late = delay > 0 && !self.phases.is_empty() && offset < self.settled;
        if !late && !self.same_phase(now, delay) {
            self.recover = Some(highest);
            if self.phases.len() >= MAX_OPEN_PHASES {
                self.close_oldest();
            }
            let start = offset.max(0) as u64;
            let mut recovery = Recovery::new(now, start, RecoveryVerdict::Ambiguous);
            recovery.retransmissions = 0;
            // After a time-out in the phase before, the sender goes on with what had been sent by then.
            recovery.timeout = offset < self.timed_out;
            recovery.facts = Facts {
                first: offset,
                last: offset,
                to_end: highest.saturating_sub(offset),
                prompt,
                ..Facts::default()
            };
            self.phases.push_back(Phase {
                recovery,
                needed: 0,
                spurious: 0,
                open: false,
                probed_ns: (prompt == Prompt::Probe).then_some(now),
                last_ns: now,
                last_highest: highest,
            });
        }
        if let Some(last) = self.phases.back_mut() {
            // One expiry may send several segments again.
            let expired = last.recovery.retransmissions == 0
                || now.saturating_sub(last.last_ns) >= MIN_TIMEOUT_NS;
            let mut timer = prompt == Prompt::Timer && expired;
            (last.last_ns, last.last_highest) = (now, highest);
            if last.probed_ns.is_some_and(|at| now > at) {
                // A tail loss probe is no recovery, and there is one at a time (RFC 8985 section 7.3): where nothing was heard behind it, the
                // timer began this one.
                timer |= matches!(prompt, Prompt::Timer | Prompt::Probe);
                last.recovery.timeout |= timer;
                last.probed_ns = None;
            }
            last.recovery.expiries += u32::from(timer);
            last.recovery.retransmissions += 1;
            let facts = &mut last.recovery.facts;
            facts.first = facts.first.min(offset);
            facts.last = facts.last.max(offset);
            facts.asked |= prompt != Prompt::Nothing;
        }
        self.first + self.phases.len() as u32 - 1
    }

    /// What begins at `offset` comes by for the first time, behind higher data: it is late, or it is sent again because it was lost before.
    pub(crate) fn perhaps_again(&mut self, offset: i64) {
        if self.recover.is_none() || self.phases.is_empty() {
            return;
        }
        if self.perhaps.len() == MAX_PERHAPS {
            self.perhaps.pop_front();
        }
        let last = self.first + self.phases.len() as u32 - 1;
        self.perhaps.push_back((offset, last));
    }

    /// Phase `id`, while its retransmissions may still get their verdict.
    fn phase_mut(&mut self, id: u32) -> Option<&mut Phase> {
        self.phases.get_mut(id.wrapping_sub(self.first) as usize)
    }

    /// A verdict on `copies` retransmissions of phase `id`.
    pub(crate) fn resolve(&mut self, id: u32, verdict: Verdict, copies: u32) {
        if let Some(phase) = self.phase_mut(id) {
            match verdict {
                Verdict::Needed => phase.needed += copies,
                Verdict::Spurious => phase.spurious += copies,
                Verdict::Ambiguous => {}
            }
        }
    }

    /// A segment that phase `id` retransmitted was lost with probability `share`, and discarded by the receiver otherwise; or it came
    /// late after all, with probability `came`.
    pub(crate) fn lost(&mut self, id: u32, share: f64, came: f64) {
        if let Some(phase) = self.phase_mut(id) {
            phase.recovery.facts.lost += share;
            phase.recovery.facts.perhaps_refused += 1;
            phase.recovery.facts.none_lost += (1.0 - share * (1.0 - came)).ln();
        }
    }

    /// Has phase `id` sent more than one packet again?
    pub(crate) fn sent_several(&self, id: u32) -> bool {
        let index = id.wrapping_sub(self.first) as usize;
        let phase = self.phases.get(index);
        phase.is_some_and(|phase| phase.recovery.retransmissions > 1)
    }

    /// Something that phase `id` sent again was never acknowledged.
    pub(crate) fn unanswered(&mut self, id: u32) {
        if let Some(phase) = self.phase_mut(id) {
            phase.recovery.facts.unanswered = true;
            // Nothing came that could have asked for it.
            phase.recovery.timeout = true;
            let Recovery {
                retransmissions,
                facts,
                seq_offset,
                ..
            } = phase.recovery;
            // Where it repeated one segment alone, each repetition was an expiry, except for a tail loss probe (RFC 8985 section 7).
            let alone = facts.first >= seq_offset as i64 && facts.last <= seq_offset as i64;
            let probes = u32::from(facts.prompt == Prompt::Probe);
            let least = if alone { retransmissions - probes } else { 1 };
            phase.recovery.expiries = phase.recovery.expiries.max(least).max(1);
        }
    }

    fn close_oldest(&mut self) {
        if let Some(phase) = self.phases.pop_front() {
            self.first += 1;
            let verdict = phase.verdict();
            self.done.total += 1;
            match verdict {
                RecoveryVerdict::Spurious => self.done.spurious += 1,
                RecoveryVerdict::Ambiguous => self.done.ambiguous += 1,
                RecoveryVerdict::Loss => {}
            }
            if self.keep || self.done.list.len() < MAX_PHASES_REMEMBERED {
                self.done.list.push(Recovery {
                    verdict,
                    ..phase.recovery
                });
            }
        }
    }

    /// The counts, and the phases, of which only the first are remembered unless events are kept.
    pub(crate) fn finish(mut self) -> Recoveries {
        for (_, id) in std::mem::take(&mut self.perhaps) {
            if let Some(phase) = self.phase_mut(id) {
                phase.open = true;
            }
        }
        while !self.phases.is_empty() {
            self.close_oldest();
        }
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_spurious_only_if_every_retransmission_was() {
        let mut t = RecoveryTracker::new(true);
        let a = t.retransmitted(1, 0, 1_000, 0, Prompt::News);
        assert_eq!(
            t.retransmitted(2, 100, 1_200, 0, Prompt::News),
            a,
            "same phase until 1000 is acked"
        );
        t.acknowledged(999, 3);
        t.acknowledged(1_000, 4);
        let b = t.retransmitted(9, 2_000, 3_000, 0, Prompt::Timer);
        assert_ne!(a, b);
        t.resolve(a, Verdict::Spurious, 2);
        t.resolve(b, Verdict::Needed, 1);
        let done = t.finish();
        assert_eq!((done.total, done.spurious, done.ambiguous), (2, 1, 0));
        assert!(done.list[1].timeout);
    }

    /// On the path, one segment passes for the first time behind higher data while others are sent again that had passed: it was lost before,
    /// unless it passes twice.
    #[test]
    fn what_comes_first_in_a_phase_may_have_been_lost_before() {
        for twice in [false, true] {
            let mut t = RecoveryTracker::new(true);
            let a = t.retransmitted(1, 0, 1_000, 3, Prompt::Timer);
            t.perhaps_again(100);
            let again = if twice { 2 } else { 1 };
            if twice {
                t.retransmitted(2, 100, 1_000, 3, Prompt::Timer);
            }
            t.resolve(a, Verdict::Spurious, again);
            let verdict = t.finish().list[0].verdict;
            let expected = match twice {
                true => RecoveryVerdict::Spurious,
                false => RecoveryVerdict::Ambiguous,
            };
            assert_eq!(verdict, expected);
        }
    }

    /// Only the sender's packets were captured: what had been sent by the first retransmission ends at 1,000.
    #[test]
    fn without_answers_a_phase_ends_where_nothing_of_it_is_missing() {
        for (missing, phases) in [(1_000, 2), (900, 1)] {
            let mut t = RecoveryTracker::new(true);
            for (offset, highest, missing) in [(0, 1_000, 0), (1_500, 2_000, missing)] {
                t.unheard(offset, offset, highest, || missing);
                t.retransmitted(offset, offset, highest, 0, Prompt::News);
            }
            assert_eq!(t.finish().total, phases);
        }
    }

    #[test]
    fn a_timer_that_expires_behind_a_tail_loss_probe_begins_the_recovery() {
        let timeouts = |second: Prompt| {
            let mut t = RecoveryTracker::new(true);
            t.retransmitted(100, 900, 1_000, 0, Prompt::Probe);
            t.retransmitted(300, 0, 1_000, 0, second);
            t.finish().list[0].timeout
        };
        assert!(timeouts(Prompt::Timer));
        assert!(timeouts(Prompt::Probe), "there is one at a time");
        assert!(!timeouts(Prompt::News), "the probe was answered");
    }

    #[test]
    fn each_expiry_counts_once_however_much_it_sends_again() {
        const MS: i64 = 1_000_000;
        let mut t = RecoveryTracker::new(true);
        for ms in [300, 900, 2_100] {
            t.retransmitted(ms * MS, 0, 1_000, 0, Prompt::Timer);
            t.retransmitted(ms * MS + 1, 500, 1_000, 0, Prompt::Timer);
        }
        t.retransmitted(2_150 * MS, 900, 1_000, 0, Prompt::News);
        let done = t.finish();
        assert_eq!((done.list[0].expiries, done.by_cause.len()), (3, 0));
    }

    /// The first repetitions come sooner than this capture shows a timer to expire; nothing ever answers.
    #[test]
    fn each_repetition_of_what_is_never_answered_was_an_expiry_but_a_probe() {
        for (first, expiries) in [(Prompt::Nothing, 3), (Prompt::Probe, 2)] {
            let mut t = RecoveryTracker::new(true);
            t.retransmitted(300, 900, 1_000, 0, first);
            t.retransmitted(600, 900, 1_000, 0, Prompt::Nothing);
            let phase = t.retransmitted(1_200, 900, 1_000, 0, Prompt::Timer);
            t.unanswered(phase);
            assert_eq!(t.finish().list[0].expiries, expiries, "{first:?}");
        }
    }

    #[test]
    fn what_had_been_sent_by_a_time_out_is_sent_again_for_it_in_the_next_phase_too() {
        let mut t = RecoveryTracker::new(true);
        t.retransmitted(1, 0, 1_000, 0, Prompt::News);
        t.retransmitted(200, 0, 1_500, 0, Prompt::Timer);
        t.acknowledged(1_000, 300);
        t.retransmitted(301, 1_000, 1_500, 0, Prompt::News);
        t.acknowledged(1_500, 400);
        t.retransmitted(500, 1_600, 2_000, 0, Prompt::News);
        let timeouts: Vec<bool> = t.finish().list.iter().map(|p| p.timeout).collect();
        assert_eq!(timeouts, [false, true, false]);
    }

    #[test]
    fn what_had_been_acknowledged_begins_no_phase() {
        let mut t = RecoveryTracker::new(true);
        let a = t.retransmitted(1, 0, 1_000, 3, Prompt::News);
        t.acknowledged(1_500, 4);
        assert_eq!(t.retransmitted(9, 500, 2_000, 3, Prompt::News), a, "late");
        assert_ne!(t.retransmitted(9, 1_600, 2_000, 3, Prompt::News), a);
    }

    #[test]
    fn at_the_receiver_a_phase_ends_a_round_trip_later() {
        let mut t = RecoveryTracker::new(false);
        let a = t.retransmitted(1, 0, 1_000, 10, Prompt::News);
        t.acknowledged(1_000, 5);
        assert_eq!(t.retransmitted(14, 1_500, 2_000, 10, Prompt::News), a);
        assert_ne!(t.retransmitted(15, 1_500, 2_000, 10, Prompt::News), a);
    }
}
