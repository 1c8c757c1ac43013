//! ACKs that were owed and went out before their time, at a receiver that reports no duplicates.
//!
//! A duplicate is answered at once (RFC 5681 section 4.2), together with whatever acknowledgement is owed for a segment in order
//! (section 4.2: at least every second one). So where the receiver delays its ACKs, one of a single segment may
//! be all that tells of an original that came after its retransmission.

use super::Sender;
use super::acks::Ack;
use super::again::Again;
use super::filled::Filled;
use super::missing::MAX_FILLED_PER_WINDOW;
use super::unexplained::Trigger;
use crate::explanation::Explanation;

impl Sender {
    /// An original came after its retransmission, and no DSACK said so. One suffices here: what such an ACK is weighed for is
    /// a habit of the path. (`Receiver::hides_duplicates` asks for more where a single ACK is to be explained.)
    pub(super) fn has_hidden_one(&self) -> bool {
        self.ledger.tally.came_after > 0 && !self.receiver.dsack_seen
    }

    /// `ack` acknowledges one segment in order, nothing is missing, and the receiver reports no duplicates.
    #[cold]
    pub(super) fn owed(&mut self, ack: &Ack) {
        if ack.stale || ack.missing > 0 || !self.explanations.has(Explanation::OwedAnswers) {
            return;
        }
        let now = ack.seg.ts_ns;
        self.windows.clutter.expose_owed(now);
        if self.timing.late_by_habit() && self.suits_a_filled(now) {
            let again = Again::below(self.outstanding.una);
            self.wait_for_hole(&ack.seg, now, None, (Trigger::Owed, Some(again)));
        } else {
            self.windows.clutter.note(Trigger::Owed, 1.0);
        }
    }

    /// Is there a segment whose retransmission came first and whose original would be as late as usual if it came `now`?
    fn suits_a_filled(&self, now: i64) -> bool {
        let Some((_, spread)) = self.timing.usual_lateness() else {
            return false;
        };
        let near = spread
            .saturating_mul(2)
            .saturating_add(self.timing.jitter());
        let since = now.saturating_sub(self.timing.patience());
        let suits = |f: &Filled| {
            let late = now.saturating_sub(self.timing.due(f.due_ns, f.place.sent_ns));
            let off = self.timing.off_usual(late, late);
            off.is_some_and(|off| off <= near)
        };
        let latest = self.ledger.filled.latest().take(MAX_FILLED_PER_WINDOW);
        let mut open = latest.filter(|f| f.unexplained() && (since..now).contains(&f.reported_ns));
        open.any(suits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// Of a receiver that reports no duplicates and acknowledges every second segment, originals came late by 30 ms. The
    /// retransmission of segment 20 comes first, and 30 ms behind the turn of its original a single segment is acknowledged,
    /// or two as always. Returns the verdict on 20.
    fn told(single: bool, without: Option<Explanation>) -> Option<(Kind, Confidence)> {
        let mut trace = Trace::stamped(without);
        trace.in_order(0, 0, 20);
        (0..9).for_each(|_| trace.sender.timing.lateness.push(30_000_000));
        trace.sender.ledger.tally.came_after = 1;
        trace.lost(40, 20);
        (0..200).for_each(|n| trace.send(56 + n, 25 + n));
        let acks = (0..100).map(|n| (67 + 2 * n, 27 + 2 * n));
        for (at, next) in acks {
            if single && at == 81 {
                trace.ack(80, next - 1, &[]);
            }
            trace.ack(at, next, &[]);
        }
        trace.in_order(400, 225, 600);
        let told = trace.end();
        told.iter().find(|t| t.1 == 20).map(|t| (t.0, t.2))
    }

    #[test]
    fn a_single_segment_that_is_acknowledged_when_an_original_is_due_may_not_be_all_that_came() {
        let said = |kind| Some((kind, Confidence::Likely));
        assert_eq!(told(true, None), said(Kind::Reordered));
        assert_eq!(told(false, None), said(Kind::Lost));
        let off = told(true, Some(Explanation::OwedAnswers));
        assert_eq!(off, said(Kind::Lost));
    }
}
