//! Retransmissions of data that came by here and that nothing has acknowledged yet.
//!
//! That a packet was captured does not show that its receiver got it. Where no hole is open for a copy, an earlier one
//! came by; only the receiver's acknowledgement says that it was enough.

use std::collections::VecDeque;

use super::{Arrival, Context};
use crate::collect::{Basis, Place};
use crate::result::{Confidence, Evidence, Reason, Verdict};
use crate::sender::{MIN_PATIENCE_NS, PATIENCE_RTTS};

/// Copies that wait for an acknowledgement; of more, the oldest is taken to have been spurious.
const MAX_WAITING: usize = 1_024;

/// A copy that may have been needed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// First byte, and how many.
    pub(super) from: i64,
    pub(super) len: u32,
    /// Which retransmission of the flow, from 1.
    pub(super) number: u64,
    pub(super) phase: u32,
    pub(super) at_ns: i64,
    pub(super) frame: u64,
    /// What it repeats came late, and nothing had been heard of the receiver.
    pub(super) late: bool,
}

/// The copies that wait, those captured first in front.
#[derive(Debug, Default)]
pub(super) struct Unanswered {
    copies: VecDeque<Waiting>,
    /// Some copy begins below one before it: lost data is mostly sent again in ascending order, and then those that
    /// an acknowledgement answers stand in front.
    mixed: bool,
}

heap!(Unanswered: copies);

impl Unanswered {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.copies.is_empty()
    }

    /// Adds the latest copy; returns the oldest if there are too many.
    fn push(&mut self, copy: Waiting) -> Option<Waiting> {
        let full = self.copies.len() >= MAX_WAITING;
        let oldest = if full { self.copies.pop_front() } else { None };
        self.mixed |= self.copies.back().is_some_and(|last| copy.from < last.from);
        self.copies.push_back(copy);
        oldest
    }

    /// Takes out the copies of what begins below `una`.
    fn answer(&mut self, una: i64, mut answered: impl FnMut(&Waiting)) {
        if self.mixed {
            self.copies.retain(|copy| {
                let waits = copy.from >= una;
                if !waits {
                    answered(copy);
                }
                waits
            });
            self.mixed = !self.copies.iter().is_sorted_by_key(|copy| copy.from);
            return;
        }
        while let Some(copy) = self.copies.front()
            && copy.from < una
        {
            answered(copy);
            self.copies.pop_front();
        }
    }
}

impl Arrival {
    /// A copy of what came by before and has not been acknowledged.
    pub(super) fn await_answer(&mut self, copy: Waiting) {
        let Some(oldest) = self.unanswered.push(copy) else {
            return;
        };
        if !self.is_unheard() {
            self.recoveries.resolve(oldest.phase, Verdict::Spurious, 1);
        } else if oldest.late {
            self.recoveries.resolve(oldest.phase, Verdict::Spurious, 1);
            let sure = Confidence::Likely;
            self.resent.settle(oldest.number, Verdict::Spurious, sure);
        } else {
            self.resent.unclear += 1;
        }
    }

    /// Everything below `una` has arrived: copies of it were not needed.
    pub(super) fn answer_copies(&mut self, una: i64) {
        let recoveries = &mut self.recoveries;
        self.unanswered.answer(una, |copy| {
            recoveries.resolve(copy.phase, Verdict::Spurious, 1);
        });
    }

    /// At the end of the flow; `heard_ns` is the last time at which the receiver could be heard. Data that was retransmitted for
    /// longer than the waiting time for an answer before, and never acknowledged, had not arrived. What lies above a hole says nothing:
    /// no acknowledgement can cover it. Returns how many retransmissions were needed for that, and of how many it is not known.
    pub(super) fn settle_unanswered(&mut self, cx: &Context, heard_ns: Option<i64>) -> (u64, u64) {
        let rtt = cx.marks.rtt_ns().unwrap_or(0);
        let patience = rtt.saturating_mul(PATIENCE_RTTS).max(MIN_PATIENCE_NS);
        let covered_to = self.coverable(cx.una);
        let waiting: Vec<Waiting> = self.unanswered.copies.drain(..).collect();
        let (mut needed, mut open, mut lost_to) = (0, 0, i64::MIN);
        for copy in &waiting {
            let first = waiting.iter().find(|first| first.from == copy.from);
            let since_ns = first.map_or(copy.at_ns, |first| first.at_ns);
            let silent = copy.from < covered_to
                && heard_ns.is_some_and(|until| until.saturating_sub(since_ns) >= patience);
            let (verdict, sure) = match (silent, copy.late && heard_ns.is_none()) {
                (true, _) => (Verdict::Needed, Confidence::Likely),
                (false, true) => (Verdict::Spurious, Confidence::Likely),
                (false, false) => (Verdict::Ambiguous, Confidence::Ambiguous),
            };
            needed += u64::from(verdict == Verdict::Needed);
            open += u64::from(verdict == Verdict::Ambiguous);
            self.recoveries.resolve(copy.phase, verdict, 1);
            if silent {
                self.recoveries.unanswered(copy.phase);
                if copy.from >= lost_to {
                    lost_to = copy.from + i64::from(copy.len);
                    self.lost_beyond(copy);
                }
            }
            self.resent.settle(copy.number, verdict, sure);
        }
        (needed, open)
    }

    /// One past the highest byte that an acknowledgement could cover, where everything below `una` has been: what came by above lies behind
    /// a hole.
    fn coverable(&self, una: i64) -> i64 {
        let mut holes = self.order.holes().iter();
        let open = holes.find(|hole| hole.end > una && hole.note.fill.copies == 0);
        open.map_or(i64::MAX, |hole| hole.start)
    }

    /// What `copy` repeats never got from here to its receiver. A packet counts once: what came by here late is reported as that.
    fn lost_beyond(&mut self, copy: &Waiting) {
        if self.collector.was_late(copy.from) {
            return;
        }
        let place = Place::lost(copy.from, copy.len, copy.frame, copy.at_ns);
        let basis = Basis::certain(Evidence::Silence).weaker(Reason::Unanswered);
        self.collector.lost(place, basis);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explanation::{Explanation, Explanations};
    use crate::result::Half;

    const LEN: u32 = 1_000;
    const MS: i64 = 1_000_000;

    /// Which segments come, with their identifications, one a millisecond, and nothing of their receiver: how many retransmissions
    /// were needless, and of how many that is not known.
    fn unheard(arrivals: &[(i64, u16)], weighed: Explanations) -> (u64, u64) {
        let mut arrival = Arrival::new(Half::EndToEnd, true, true, weighed);
        let cx = Context::beside_receiver().numbered(true);
        for (&(i, ip_id), frame) in arrivals.iter().zip(1..) {
            let has = inorder_wire::Has::IP_ID;
            let seg = segment!(ts_ns: frame as i64 * MS, payload_len: LEN, ip_id, has: has, frame);
            let start = i * i64::from(LEN);
            if !arrival.in_order(&seg, start, LEN) {
                arrival.data(&seg, start, &cx, |_, _, _| {});
            }
        }
        let end = arrival.finish(&cx, None);
        let counts = end.retransmissions;
        let listed = |verdict| end.list.iter().filter(|r| r.verdict == verdict).count() as u64;
        assert_eq!(counts.spurious, listed(Verdict::Spurious));
        assert_eq!(counts.ambiguous, listed(Verdict::Ambiguous));
        (counts.spurious, counts.ambiguous)
    }

    #[test]
    fn what_came_late_was_sent_again_for_that_where_the_receiver_is_not_heard() {
        let without = Explanations::ALL.without(Explanation::AskedFor);
        let late = [(0, 0), (2, 2), (3, 3), (4, 4), (1, 1)];
        for (again, known) in [
            // Segment 1 again.
            (&[(1, 5)][..], (1, 0)),
            // Segment 3, which was not late.
            (&[(3, 5)], (0, 1)),
        ] {
            let all = [&late, again].concat();
            assert_eq!(unheard(&all, Explanations::ALL), known);
            assert_eq!(unheard(&all, without), (0, 1));
        }
        // The retransmission comes before its original.
        let all = [&late[..4], &[(1, 5), (1, 1)]].concat();
        assert_eq!(unheard(&all, Explanations::ALL), (1, 0));
        assert_eq!(unheard(&all, without), (0, 1));
    }

    proptest! {
        /// The straightforward twin looks at every copy for every acknowledgement.
        #[test]
        fn the_same_copies_are_answered_as_by_a_list(
            steps in prop::collection::vec((any::<bool>(), 0i64..20), 0..80),
        ) {
            let (mut unanswered, mut list) = (Unanswered::default(), Vec::new());
            for (number, (acknowledged, at)) in steps.into_iter().enumerate() {
                let number = number as u64;
                if acknowledged {
                    let mut answered = Vec::new();
                    unanswered.answer(at, |copy| answered.push(copy.number));
                    let below = list.iter().filter(|(from, _)| *from < at).map(|copy| copy.1);
                    prop_assert!(answered.into_iter().eq(below));
                    list.retain(|(from, _)| *from >= at);
                } else {
                    let copy = Waiting { from: at, len: 1, number, phase: 0, at_ns: 0, frame: 0, late: false };
                    unanswered.push(copy);
                    list.push((at, number));
                }
                let left = unanswered.copies.iter().map(|copy| (copy.from, copy.number));
                prop_assert!(left.eq(list.iter().copied()));
            }
        }
    }
}
