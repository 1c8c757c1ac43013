//! Data that its receiver has reported and discarded (reneging, RFC 2018 section 8).
//!
//! An ACK acknowledges all that has come without a gap. Where an earlier one reported the bytes at which it ends, the receiver had
//! discarded these when it sent that ACK, in whatever order the two came here: what it acknowledges never becomes less.

use inorder_wire::{Has, Segment};

use super::Sender;
use super::acks::Ack;
use super::board::{Copies, Had, Sent};
use super::filled::Filled;
use super::report::Report;
use crate::collect::{Basis, Place};
use crate::result::{Confidence, Evidence, Reason};

impl Sender {
    /// The ACK `seg` is the first to acknowledge everything below `number`: what it should have acknowledged, too, is gone.
    #[inline]
    pub(super) fn forget_discarded(&mut self, seg: &Segment, number: i64) {
        if let Some((_, end)) = self.outstanding.ranges.lowest_around(number) {
            self.discarded_above(seg, number, end);
        }
    }

    /// The same of an ACK that has been captured and waits for its turn: what is sent from now on repeats nothing needlessly. Those before it may
    /// still report what is gone.
    pub(super) fn forget_in_advance(&mut self, seg: &Segment, number: i64) {
        if let Some((_, end)) = self.outstanding.ranges.around(number) {
            self.discarded_above(seg, number, end);
        }
    }

    /// Of the range that holds the byte `number` and ends at `end`, the receiver has no more than the ACK lists. Of what lies above, too, if it had
    /// room for more blocks.
    #[cold]
    fn discarded_above(&mut self, seg: &Segment, number: i64, end: i64) {
        // Of blocks that were cut off, only a guess is known.
        if self.receiver.guessed || self.receiver.cuts_blocks || seg.has(Has::OPTIONS_CUT) {
            return;
        }
        // No more are looked at than were sent: the same packets could be reported and discarded for ever.
        if self.looked_at > self.ledger.data_packets + self.ledger.retransmissions {
            return;
        }
        let blocks = self.outstanding.blocks(seg);
        let all = blocks.len() < self.receiver.room(None);
        let end = match all {
            true => i64::MAX,
            false => blocks.lowest_above(number).map_or(end, |b| b.min(end)),
        };
        let first = self.outstanding.board.find(number);
        let tail = self.outstanding.board.tail(first).iter();
        let within = tail.take_while(|s| s.start < end).count();
        self.looked_at = self.looked_at.saturating_add(within as u64);
        match all {
            true => self.outstanding.ranges.forget(),
            false => self.outstanding.ranges.discard(number, end),
        }
        for i in first..first + within {
            let sent = self.outstanding.board.get(i).copied();
            let gone = sent.filter(|s| s.reported && s.start >= number);
            let gone = gone.filter(|s| !blocks.any(|b| b.0 <= s.start && s.end() <= b.1));
            if let Some(sent) = gone {
                self.discard(i, &sent);
            }
        }
    }

    fn discard(&mut self, i: usize, sent: &Sent) {
        let once = self.outstanding.board.copies_of(sent).is_none();
        let had = match once && !sent.behind {
            true => Had::InTurn,
            false => Had::Otherwise,
        };
        let telling = self.telling();
        self.ledger.discarded(sent.start, &telling);
        self.outstanding.board.discard(i, had);
    }

    /// `report` is of a segment of which the receiver `had` something and discarded it.
    pub(super) fn came_again_after_discard(&mut self, report: &Report, had: Had, ack: &Ack) {
        let now = ack.seg.ts_ns;
        let copies = report.copies.and_then(Copies::unless_none);
        let Some(copies) = copies.filter(|copies| copies.first_ns < now) else {
            return; // It acknowledges step by step what it has, and has discarded nothing.
        };
        let rtt = self.timing.min_rtt.unwrap_or(0);
        if now - copies.first_ns < rtt / 2 {
            let sure = Confidence::Certain;
            return self
                .ledger
                .original_first(&report.sent, &copies, &ack.seg, sure);
        }
        if had == Had::InTurn {
            let place = report.sent.place(&ack.seg);
            let basis = Basis::certain(Evidence::Reneging);
            self.ledger.collector.refused(place, None, basis);
        }
        self.ledger.filled.insert(Filled {
            refused_in: true,
            ..Filled::by_copy(&report.sent, copies, &ack.seg, rtt)
        });
        self.trim_filled();
    }

    /// What was discarded and has not been acknowledged since; returns how much that is. Only what came again shows that it is not the end of the
    /// data that came below.
    pub(super) fn close_discarded(&mut self) -> u64 {
        let mut closed = 0;
        if self.ledger.collector.reneged() == 0 {
            return closed;
        }
        for sent in self.outstanding.discarded() {
            closed += 1;
            let place = Place {
                at_ns: self.news.last_ns(),
                ..sent.place(&Segment::default())
            };
            let basis = Basis::certain(Evidence::Reneging).weaker(Reason::Unanswered);
            self.ledger.collector.refused(place, None, basis);
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::{Told, Trace};
    use crate::result::{Confidence, Kind};

    /// Segment 20 is lost, and 21 to 29 wait above the hole. Once that is filled, the ACK ends at segment `upto` and lists `blocks`; what the receiver
    /// does not have is sent again, from 60 ms on.
    fn told(upto: i64, blocks: &[(i64, i64)]) -> (Told, u64, u64) {
        let mut trace = Trace::new(true, None);
        trace.in_order(0, 0, 20);
        (0..10).for_each(|n| trace.send(40 + n, 20 + n));
        (1..10).for_each(|n| trace.sack(50 + n, 20, &[(21, 21 + n)]));
        trace.send_again(55, 20);
        trace.ack(65, upto, blocks);
        let has = |n: i64| blocks.iter().any(|b| (b.0..b.1).contains(&n));
        let missing: Vec<i64> = (upto..30).filter(|n| !has(*n)).collect();
        for (at, n) in (66..).zip(&missing) {
            trace.send_again(at, *n);
        }
        trace.ack(80, 30, &[]);
        trace.in_order(100, 30, 60);
        let end = Box::new(trace.sender).finish(0, true).data;
        let events = end.collector.finish().events;
        let told = events
            .iter()
            .map(|e| (e.kind, e.seq_offset / 1_000, e.confidence));
        let again = end.retransmissions;
        (told.collect(), again.needed, again.spurious)
    }

    #[test]
    fn what_was_reported_and_is_not_acknowledged_behind_a_filled_hole_is_gone() {
        let discarded = |(upto, blocks): (i64, &[(i64, i64)]), lacks: std::ops::Range<u64>| {
            let (all, needed, spurious) = told(upto, blocks);
            let expected = lacks
                .clone()
                .map(|n| (Kind::Refused, n, Confidence::Certain));
            let behind = all.iter().copied().filter(|t| t.1 > 20);
            assert!(behind.eq(expected), "{all:?}");
            (needed - (lacks.end - lacks.start), spurious)
        };
        assert_eq!(discarded((21, &[]), 21..30), (1, 0), "but for the lost one");
        assert_eq!(discarded((21, &[(25, 30)]), 21..25), (1, 0));
        assert_eq!(
            discarded((30, &[]), 0..0),
            (0, 0),
            "an answer to nothing leaves it open"
        );
    }
}
