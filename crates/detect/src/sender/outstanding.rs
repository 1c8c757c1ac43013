//! What is outstanding: data sent and not yet acknowledged, and what the receiver has SACKed of it.
//!
//! Here sequence numbers become offsets, and SACK blocks (RFC 2018 section 3, RFC 2883 section 4) are read against what was
//! sent. Nothing here knows of time or of verdicts.

use inorder_base::sequence::Offsets;
use inorder_wire::{Has, Segment};

use super::blocks::Blocks;
use super::board::{Board, Copies, Had, Sent};
use super::paws::ticks_too_old;
use super::ranges::Ranges;
use crate::explanation::{Explanation, Explanations};

/// Holes looked at for one unexplained ACK.
const MAX_HOLES_PER_ACK: usize = 512;

/// Segments that are looked at for one retransmission: those of 64 bytes in the largest super-packet (65,535 bytes). A
/// capture may claim that each byte was sent by itself.
const MAX_COVERED: usize = 1_024;

/// The data that is outstanding in one direction.
#[derive(Debug)]
pub(super) struct Outstanding {
    pub(super) board: Board,
    pub(super) ranges: Ranges,
    /// Left edge: everything below is acknowledged.
    pub(super) una: i64,
    /// One past the highest byte sent, as far as captured or acknowledged.
    pub(super) highest: i64,
    unwrap: Offsets,
    /// Largest payload sent, bytes.
    mss: u32,
    /// First and last TSval of the data; `None` where timestamps are not in use.
    tsvals: Option<(u32, u32)>,
    timestamps: bool,
    /// Segments that were acknowledged and never captured.
    missing: u64,
    /// What [`Outstanding::has_discardable`] found last: state of the board, TS.Recent, answer.
    discardable: Option<(u64, u32, bool)>,
    /// Something may have been captured after a SACK of all of it: what is in a range need not have been reported.
    sacked_unseen: bool,
    /// The capture begins in the middle of the connection: what it has may have been sent before.
    headless: bool,
}

heap!(Outstanding: board, ranges);

impl Outstanding {
    pub(super) fn new(unwrap: Offsets, timestamps: bool, explanations: Explanations) -> Self {
        Outstanding {
            board: Board::new(!explanations.has(Explanation::WireCuts)),
            ranges: Ranges::default(),
            una: 0,
            highest: 0,
            unwrap,
            mss: 1,
            tsvals: None,
            timestamps,
            missing: 0,
            discardable: None,
            sacked_unseen: false,
            headless: false,
        }
    }

    /// The capture begins in the middle of the connection, whose receiver has acknowledged everything below `una`.
    pub(super) fn begins_without_syn(&mut self, una: i64) {
        self.headless = true;
        self.una = una;
    }

    /// In a capture that begins in the middle: `seg` reports bytes above all that was captured. So they were sent
    /// before, and what was captured so far had perhaps been sent before, too.
    #[inline]
    pub(super) fn sent_before_capture(&self, seg: &Segment) -> bool {
        self.headless && self.blocks(seg).any(|b| b.1 > self.highest + 1)
    }

    /// Knows nothing of what is outstanding any more.
    pub(super) fn forget(&mut self) {
        self.board.forget();
    }

    /// The offset of a sequence number, bytes.
    #[inline]
    pub(super) fn offset(&self, number: u32) -> i64 {
        self.unwrap.offset(number)
    }

    /// The SACK blocks of `seg` as offsets, in its order.
    #[inline]
    pub(super) fn blocks(&self, seg: &Segment) -> Blocks {
        Blocks::of(seg, &self.unwrap)
    }

    /// A first transmission of `[start, start + len)`.
    #[inline]
    pub(super) fn sent(&mut self, seg: &Segment, start: i64, len: u32) {
        self.note_tsval(seg);
        self.mss = self.mss.max(len);
        let end = start + i64::from(len);
        if end > self.highest {
            self.highest = end;
            self.unwrap.advance(end);
        }
        if start >= self.una {
            self.sacked_unseen |= self.ranges.covers(start, end);
            self.board
                .insert(start, len, seg.ts_ns, seg.frame, seg.tsval);
        }
    }

    #[inline]
    fn note_tsval(&mut self, seg: &Segment) {
        if self.timestamps && seg.has(Has::TIMESTAMPS) {
            let first = self.tsvals.map_or(seg.tsval, |t| t.0);
            self.tsvals = Some((first, seg.tsval));
        }
    }

    /// Both hosts have turned out to use timestamps.
    pub(super) fn note_timestamps(&mut self) {
        self.timestamps = true;
    }

    /// A retransmission was sent: its TSval may be echoed.
    pub(super) fn sent_again(&mut self, seg: &Segment) {
        self.note_tsval(seg);
    }

    /// Notes a retransmission of everything unreported from segment `first` to the byte `end`: it may be cut
    /// differently from what it repeats.
    pub(super) fn mark_copies(&mut self, first: usize, seg: &Segment, end: i64, phase: u32) {
        for i in first..first + MAX_COVERED {
            match self.board.get(i) {
                Some(s) if s.start >= end => break,
                Some(s) if s.reported => {}
                Some(_) => {
                    let counted = i == first;
                    self.board
                        .retransmitted(i, seg.ts_ns, seg.tsval, phase, counted);
                }
                None => break,
            }
        }
    }

    /// Has all of `[start, end)` been reported?
    pub(super) fn all_reported(&self, start: i64, end: i64) -> bool {
        let first = self.board.find(start.max(self.una));
        let covered = self.board.tail(first).iter().take(MAX_COVERED);
        let mut within = covered.take_while(|s| s.start < end);
        within.all(|s| s.reported)
    }

    /// True when this ACK echoes a timestamp that can be trusted: one that was sent. (Some middleboxes
    /// rewrite timestamps in one direction only.)
    pub(super) fn echoes(&self, seg: &Segment) -> bool {
        let Some((first, last)) = self.tsvals else {
            return false;
        };
        let sent = (seg.tsecr.wrapping_sub(first) as i32) >= 0
            && (last.wrapping_sub(seg.tsecr) as i32) >= 0;
        seg.has(Has::TIMESTAMPS) && sent
    }

    /// The offset that `seg` acknowledges. What was never captured (the FIN, which takes one number, apart)
    /// is counted as missing and taken to have been sent.
    #[inline]
    pub(super) fn acknowledged_by(&mut self, seg: &Segment) -> i64 {
        let number = self.offset(seg.ack);
        let bytes = number - self.highest;
        if bytes > 1 {
            self.missing += (bytes as u64).div_ceil(u64::from(self.mss.max(1)));
            self.highest = number;
            self.unwrap.advance(number);
        }
        number.min(self.highest)
    }

    /// How many segments lie between the left edge and `number`, at least.
    pub(super) fn segments_up_to(&self, number: i64) -> u64 {
        ((number - self.una).max(0) as u64).div_ceil(u64::from(self.mss.max(1)))
    }

    /// Everything below `number` has been acknowledged.
    pub(super) fn advance(&mut self, number: i64) {
        self.una = number;
        self.ranges.drop_below(number);
        self.sacked_unseen &= !self.ranges.is_empty();
    }

    /// Could there be a segment that all of a SACKed range covers and that has not been reported?
    pub(super) fn sacked_unseen(&self) -> bool {
        self.sacked_unseen
    }

    /// Largest payload sent, bytes.
    pub(super) fn mss(&self) -> i64 {
        i64::from(self.mss)
    }

    /// Segments that were acknowledged and never captured, by the size of the others.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// When the segment at `start` was last sent, nanoseconds; `None` once it has been acknowledged.
    pub(super) fn last_sent(&self, start: i64) -> Option<i64> {
        let sent = self.board.get(self.board.find(start))?;
        let again = self.board.copies_of(sent).map(|c| c.last_ns);
        Some(again.unwrap_or(sent.sent_ns)).filter(|_| start >= self.una)
    }

    /// Segments sent again and not reported so far, with their retransmissions.
    pub(super) fn sent_again_in_vain(&self) -> impl Iterator<Item = (Sent, Copies)> {
        let open = self.board.iter().filter(|s| !s.reported);
        let again = open.filter_map(|s| Some((*s, *self.board.copies_of(s)?)));
        again.filter(|(_, copies)| copies.discarded.is_none())
    }

    /// Segments whose originals came in their turn and were discarded, and that have not been reported since.
    pub(super) fn discarded(&self) -> impl Iterator<Item = &Sent> {
        let open = self.board.iter().filter(|s| !s.reported);
        open.filter(|s| self.board.discarded(s) == Some(Had::InTurn))
    }

    /// Segments sent and not reported so far.
    pub(super) fn undecided(&self) -> u64 {
        self.board.iter().filter(|s| !s.reported).count() as u64
    }

    /// Number of unreported segments below others that have arrived.
    pub(super) fn unfilled(&self) -> u64 {
        let open = |s: &&Sent| !s.reported && s.due_ns != 0;
        self.board.iter().filter(open).count() as u64
    }

    /// One past the highest byte that an ACK acknowledges (`number`) or SACKs.
    #[inline]
    pub(super) fn top_reported(&self, blocks: &Blocks, number: i64) -> i64 {
        number.max(blocks.top()).min(self.highest)
    }

    /// The duplicate that a first block reports (RFC 2883 sections 4 and 5). All of it must have been acknowledged
    /// before: some stacks put what has just moved the left edge first, which RFC 2018 section 4 tells them
    /// not to.
    #[inline]
    pub(super) fn dsack(&self, blocks: &Blocks, number: i64) -> Option<(i64, i64)> {
        let first = blocks.first().filter(|b| b.0 < b.1)?;
        let second = blocks.get(1).filter(|b| b.0 < b.1);
        let inside = |outer: (i64, i64)| outer.0 <= first.0 && first.1 <= outer.1;
        let end = self.end_of_bytes(first.1);
        if end > number {
            return second.is_some_and(inside).then_some(first); // As usual: it lies above a hole.
        }
        if first.0 < self.una && self.una < end && end == number {
            // A retransmission that was cut differently repeats what had been acknowledged, and brings what this ACK is the first to cover.
            return Some((first.0, self.una));
        }
        let below = first.0 < end && end <= number.min(self.una);
        (below || second.is_some_and(inside)).then_some(first)
    }

    /// The first block of `seg` goes on above `right`, where the duplicate that it reports ended.
    pub(super) fn first_block_reaches_above(&self, seg: &Segment, right: i64) -> bool {
        let first = self.blocks(seg).first();
        first.is_some_and(|block| self.end_of_bytes(block.1) > right)
    }

    /// The end of a block that ends at `right`: the end of the data takes a number of its own (RFC 9293 section 3.4), which is
    /// none of its bytes.
    fn end_of_bytes(&self, right: i64) -> i64 {
        right - i64::from(right == self.highest + 1)
    }

    /// The first block of an ACK at `now` that is the first to cover what the block holds, and whether all of that had
    /// been sent again before the ACK came.
    #[inline]
    pub(super) fn first_block_crossed(
        &self,
        blocks: &Blocks,
        now: i64,
        number: i64,
    ) -> Option<((i64, i64), bool)> {
        let (left, right) = blocks.first()?;
        let right = self.end_of_bytes(right);
        if right > number {
            return None; // As usual.
        }
        let left = match left < self.una && right == number {
            true => self.una,
            false => left,
        };
        if left >= right || left < self.una {
            return None;
        }
        let within = self.board.tail(self.board.find(left)).iter();
        let mut within = within.take_while(|s| s.start < right);
        let again = within.all(|s| self.board.copies_of(s).is_some_and(|c| c.first_ns < now));
        Some(((left, right), again))
    }

    /// True where an ACK reports the number of the data's end (FIN) above what has not come: that was lost, or the end overtook it.
    pub(super) fn end_overtook(&self, blocks: &Blocks, number: i64) -> bool {
        number < self.highest && blocks.any(|b| b.1 == self.highest + 1)
    }

    /// Unreported segments below the highest SACKed byte.
    pub(super) fn open_holes(&self) -> impl Iterator<Item = &Sent> {
        let top = self.ranges.top().unwrap_or(self.una);
        let below = self.board.iter().take_while(move |s| s.start < top);
        below.take(MAX_HOLES_PER_ACK).filter(|s| !s.reported)
    }

    /// Is an original outstanding that a receiver whose TS.Recent is `recent` may discard? It need not lie in a
    /// hole: refused before anything above it has come, it leaves none.
    pub(super) fn has_discardable(&mut self, recent: u32) -> bool {
        let changes = self.board.changes();
        match self.discardable {
            // Repeated ACKs ask the same again.
            Some((then, before, answer)) if then == changes && before == recent => answer,
            _ => {
                let mut lowest = self.board.iter().take(MAX_HOLES_PER_ACK);
                let answer = lowest.any(|s| !s.reported && ticks_too_old(s.tsval, recent) > 0);
                self.discardable = Some((changes, recent, answer));
                answer
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five segments of 100 bytes with TSvals 10 to 14; number 1 was sent again.
    fn five() -> Outstanding {
        let mut out = Outstanding::new(Offsets::new(1_000), true, Explanations::ALL);
        for i in 0..5 {
            let seg = segment!(ts_ns: i, tsval: 10 + i as u32, has: Has::TIMESTAMPS);
            out.sent(&seg, i * 100, 100);
        }
        let again = segment!(ts_ns: 9, tsval: 19, has: Has::TIMESTAMPS);
        out.sent_again(&again);
        out.mark_copies(1, &again, 200, 0);
        out
    }

    /// Bytes that were sent one by one and come again in segments of 60,000, each a byte further.
    #[test]
    fn a_retransmission_is_noted_at_a_bounded_number_of_segments() {
        let mut out = Outstanding::new(Offsets::new(1_000), false, Explanations::ALL);
        for start in 0..60_000 {
            out.sent(&segment!(ts_ns: start), start, 1);
        }
        let again = segment!(ts_ns: 60_000);
        for first in 0..10 {
            out.mark_copies(first, &again, 60_000, 0);
        }
        let noted = |out: &Outstanding| out.sent_again_in_vain().count();
        assert_eq!(noted(&out), MAX_COVERED + 9);
        for i in 0..MAX_COVERED {
            out.board.report(i, false);
        }
        assert!(out.all_reported(0, 60_000), "as far as is looked");
        assert!(!out.all_reported(1, 60_000));
    }

    fn ack(at: i64, blocks: &[(u32, u32)]) -> Segment {
        let mut seg = segment!(ts_ns: at, ack: 1_000, sack_len: blocks.len() as u8);
        for (to, &(left, right)) in seg.sack.iter_mut().zip(blocks) {
            *to = (1_000 + left, 1_000 + right);
        }
        seg
    }

    #[test]
    fn a_first_block_is_a_duplicate_below_the_left_edge_or_inside_the_second_block() {
        let mut out = five();
        let told = |out: &Outstanding, blocks: &[(u32, u32)], number| {
            out.dsack(&out.blocks(&ack(20, blocks)), number)
        };
        let block = [(200, 300)];
        assert_eq!(told(&out, &block, 0), None);
        let inside = [(200, 300), (200, 500)];
        assert_eq!(told(&out, &inside, 0), Some((200, 300)));
        out.una = 300;
        assert_eq!(told(&out, &block, 300), Some((200, 300)));
        out.una = 500;
        assert_eq!(told(&out, &[(400, 501)], 500), Some((400, 501)), "the FIN");
        assert_eq!(told(&out, &[(500, 501)], 500), None);
        out.una = 300;
        let across = [(250, 400)];
        assert_eq!(told(&out, &across, 400), Some((250, 300)));
        assert_eq!(told(&out, &across, 300), None, "above what it acknowledges");
        assert_eq!(told(&out, &across, 500), None, "an ACK between is missing");
    }

    #[test]
    fn a_first_block_that_its_own_ack_covers_first_tells_of_two_arrivals_if_there_were_two_copies()
    {
        let mut out = five();
        out.una = 100;
        let crossed_by = |at, block, number| {
            let blocks = out.blocks(&ack(at, &[block]));
            out.first_block_crossed(&blocks, at, number)
        };
        let crossed = |at, block| crossed_by(at, block, 300);
        assert_eq!(crossed_by(20, (50, 200), 200), Some(((100, 200), true)));
        assert_eq!(crossed(20, (100, 200)), Some(((100, 200), true)));
        assert_eq!(
            crossed(5, (100, 200)),
            Some(((100, 200), false)),
            "sent later"
        );
        assert_eq!(crossed(20, (200, 300)), Some(((200, 300), false)));
        assert_eq!(crossed(20, (200, 400)), None, "not covered");
    }

    #[test]
    fn an_echo_counts_if_it_was_sent() {
        let out = five();
        let echo = |tsecr| segment!(tsecr, has: Has::TIMESTAMPS);
        let heard = [9, 10, 19, 20].map(|t| out.echoes(&echo(t)));
        assert_eq!(heard, [false, true, true, false]);
    }

    #[test]
    fn what_is_acknowledged_and_was_never_captured_is_counted() {
        let mut out = five();
        let upto = |ack: u32| segment!(ack: 1_000 + ack);
        assert_eq!(out.acknowledged_by(&upto(501)), 500, "the FIN");
        assert_eq!((out.acknowledged_by(&upto(750)), out.missing()), (750, 3));
    }

    #[test]
    fn open_holes_lie_below_what_was_sacked() {
        let mut out = five();
        assert_eq!(out.open_holes().count(), 0);
        out.ranges.add(300, 400, &mut Vec::new());
        out.board.report(3, false);
        assert!(out.open_holes().map(|s| s.start).eq([0, 100, 200]));
        assert!(out.has_discardable(14) && !out.has_discardable(10));
        out.board.report(0, false);
        assert!(out.has_discardable(12) && !out.has_discardable(11));
    }
}
