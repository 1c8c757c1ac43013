//! What came again at a receiver that reports no duplicates, as far as its SACK blocks tell.
//!
//! The first block of an ACK is the range that holds the segment which triggered it (RFC 2018 section 4; Linux
//! `tcp_sack_new_ofo_skb`). An ACK that tells nothing new, and lists first another range than the ACK before, answers a
//! segment of that range that had been received already. A receiver that reports duplicates (RFC 2883 section 4) would have named
//! it, so this one does not, and a repeated ACK of its may answer a duplicate each time.

use inorder_wire::Segment;

use super::Sender;
use super::missing::MAX_FILLED_PER_WINDOW;
use crate::explanation::Explanation;

/// Where the segment lies that an ACK without new information answers, if it had been received before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Again {
    /// In the range that the ACK lists first.
    within: (i64, i64),
    /// Or below the left edge, unless the range says that it came there.
    edge: Option<i64>,
}

impl Again {
    /// Below the left edge at `edge`, where nothing lies above it.
    pub(super) fn below(edge: i64) -> Self {
        Again {
            within: (edge, edge),
            edge: Some(edge),
        }
    }

    /// It came in the range that is listed first: nothing else moves a block to the front.
    pub(super) fn is_sure(&self) -> bool {
        self.edge.is_none()
    }

    /// May the segment that begins at `start` be the one?
    pub(super) fn may_be(&self, start: i64) -> bool {
        let (left, right) = self.within;
        (left..right).contains(&start) || self.edge.is_some_and(|edge| start < edge)
    }
}

impl Sender {
    /// What the ACK `seg` answers, which tells nothing that `last`, the one before, did not. `None` if nothing says
    /// that duplicates are not reported.
    pub(super) fn came_again(&mut self, seg: &Segment, last: &Segment) -> Option<Again> {
        // A report of data that was sent unseen, or is captured only later, is new information, too.
        let news = self.reading.sacked_more || self.receiver.dsack_seen;
        if news || !self.explanations.has(Explanation::MovedBlock) {
            return None;
        }
        let first = self.outstanding.blocks(seg).first();
        let before = self.outstanding.blocks(last).first();
        // An ACK that was overtaken lists a range as it was.
        let whole = first.filter(|b| self.outstanding.ranges.holds(*b));
        if seg.ack == last.ack
            && before.is_some()
            && first != before
            && let Some(within) = whole
        {
            self.receiver.duplicates_hidden += 1;
            let known = self.receiver.hides_duplicates();
            return known.then_some(Again { within, edge: None });
        }
        let edge = Some(self.outstanding.una);
        let within = first.unwrap_or((0, 0));
        self.receiver
            .hides_duplicates()
            .then_some(Again { within, edge })
    }

    /// Is there a segment whose original may have come `again`, after its retransmission, just before `now`?
    pub(super) fn original_may_come_again(&self, again: &Again, now: i64) -> bool {
        let since = now.saturating_sub(self.timing.patience());
        let mut latest = self.ledger.filled.latest().take(MAX_FILLED_PER_WINDOW);
        latest.any(|f| {
            f.reported_ns >= since && again.may_be(f.place.start) && f.original_may_come(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use crate::explanation::Explanation;
    use crate::result::{Confidence, Kind};

    /// Segments 20, 24 and 33 miss their turn. The retransmission of 24 comes first, its original 30 ms late, into the range
    /// that the ACK before does not list first. Returns the verdict on 24. `hidden` duplicates were not reported before, and
    /// originals came late by 30 ms. Segments up to 37 were captured; the ACK that moves the block reports those up to `top`.
    fn told_of_a_moved_block(
        (hidden, top): (u32, i64),
        without: Option<Explanation>,
    ) -> Option<(Kind, Confidence)> {
        let mut trace = Trace::stamped(without);
        trace.in_order(0, 0, 20);
        (0..9).for_each(|_| trace.sender.timing.lateness.push(30_000_000));
        trace.sender.receiver.duplicates_hidden = hidden;
        (0..10).for_each(|n| trace.send(40 + n, 20 + n));
        // While 20 is missing, what came before it is echoed.
        let sack = |trace: &mut Trace, at, blocks: &[(i64, i64)]| {
            trace.ack_echoing(at, 20, blocks, 1_019);
        };
        (1..4).for_each(|n| sack(&mut trace, 50 + n, &[(21, 21 + n)]));
        (5..10).for_each(|n| sack(&mut trace, 50 + n, &[(25, 21 + n), (21, 24)]));
        trace.send_again(60, 24);
        sack(&mut trace, 70, &[(21, 30)]);
        (0..7).for_each(|n| trace.send(62 + n, 30 + n));
        (0..3).for_each(|n| sack(&mut trace, 72 + n, &[(21, 31 + n)]));
        (4..7).for_each(|n| sack(&mut trace, 72 + n, &[(34, 31 + n), (21, 33)]));
        sack(&mut trace, 84, &[(21, 33), (34, top)]);
        trace.send_again(85, 20);
        trace.send_again(85, 33);
        trace.ack(95, 33, &[(34, 37)]);
        trace.ack(95, 37, &[]);
        trace.in_order(100, 37, 400);
        let told = trace.end();
        told.iter().find(|t| t.1 == 24).map(|t| (t.0, t.2))
    }

    #[test]
    fn a_block_that_moved_to_the_front_without_news_holds_a_duplicate() {
        let said = |kind| Some((kind, Confidence::Likely));
        let told = told_of_a_moved_block;
        assert_eq!(told((1, 37), None), said(Kind::Reordered));
        assert_eq!(told((0, 37), None), said(Kind::Lost), "the first");
        assert_eq!(told((1, 38), None), said(Kind::Lost), "news");
        let off = told((1, 37), Some(Explanation::MovedBlock));
        assert_eq!(off, said(Kind::Lost));
    }
}
