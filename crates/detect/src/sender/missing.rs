//! What may have answered with an ACK that nothing visible explains: an original that was refused.

use super::filled::Filled;
use super::paws::ticks_too_old;
use super::timing::Timing;
use super::unexplained::{Trigger, UnexplainedAck};
use crate::explanation::{Explanation, Explanations};

/// Filled segments looked at for some ACKs.
pub(super) const MAX_FILLED_PER_WINDOW: usize = 512;

/// What might have answered: a segment that was missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missing {
    pub(super) start: i64,
    pub(super) due_ns: i64,
    pub(super) filled_ns: i64,
    pub(super) tsval: u32,
}

impl Missing {
    pub(super) fn of(f: &Filled, timing: &Timing) -> Self {
        Missing {
            start: f.place.start,
            due_ns: timing.due(f.due_ns, f.place.sent_ns),
            filled_ns: f.reported_ns,
            tsval: f.tsval,
        }
    }

    /// Could the ACK answer the original, which the receiver discarded?
    pub(super) fn possible(&self, ack: &UnexplainedAck, explanations: Explanations) -> bool {
        let came_again = ack
            .again
            .is_some_and(|again| ack.at_ns > self.filled_ns && again.may_be(self.start));
        if came_again || matches!(ack.trigger, Trigger::Again | Trigger::Owed) {
            return came_again && ack.at_ns >= self.due_ns;
        }
        let old = ticks_too_old(self.tsval, ack.recent) > 0;
        if ack.trigger == Trigger::Lost {
            // The ACK behind the missing one shows the hole still: an original that is not too old would have filled it.
            // Later it may have come after the retransmission, and was a duplicate then.
            let open = ack.at_ns < self.filled_ns && explanations.has(Explanation::StillOpen);
            return ack.at_ns >= self.due_ns && (old || !open);
        }
        // Below the left edge it would have been reported as a duplicate.
        let unreported = ack.at_ns <= self.filled_ns || self.start >= ack.una;
        ack.at_ns >= self.due_ns && unreported && old
    }
}
