//! ACKs whose SACK blocks the snap length cut off: what is left of them, and what follows from it.
//!
//! The first block holds what came last (RFC 2018 section 4), so it has the new information; the others repeat what earlier ACKs had in
//! theirs. Of it a left edge is enough: one segment was added to a range that is known, or began a new one, or came again.
//! Where no edge is left, an ACK is what it is without SACK, except that the length of its header tells whether it had
//! blocks at all ([`super::no_sack`]).

use inorder_wire::Segment;

use super::Sender;
use super::acks::Ack;
use super::board::Sent;

type Range = (i64, i64);

impl Sender {
    /// The ACK with the blocks that follow from what is left of them; `None` if nothing does.
    #[cold]
    pub(super) fn completed(&mut self, ack: &Ack, number: i64) -> Option<Ack> {
        let seg = &ack.seg;
        let cut = seg.cut()?;
        let blocks = seg.all_sack_blocks(0);
        self.receiver.sack_seen |= blocks > 0;
        if blocks <= seg.sack_len {
            return None;
        }
        self.receiver.cuts_blocks = true;
        let first = self.outstanding.blocks(seg).first();
        let (first, within) = match (first, cut.left) {
            (Some(first), _) if seg.sack_len == 1 => (first, self.range_around(first)),
            (Some(_), _) => return None,
            (None, Some(left)) if !ack.stale => {
                self.receiver.guessed = true;
                self.first_block(self.outstanding.offset(left), number, seg)
            }
            (None, _) => {
                self.receiver.hides_blocks |= cut.left.is_none();
                return None;
            }
        };
        let within = within.filter(|range| range.1 > number);
        let mut seg = *seg;
        let number_of = |offset: i64| {
            seg.ack
                .wrapping_add((offset - self.outstanding.offset(seg.ack)) as u32)
        };
        let places = [Some(first), within].into_iter().flatten();
        let places: Vec<_> = places.map(|b| (number_of(b.0), number_of(b.1))).collect();
        seg.sack_len = places.len() as u8;
        seg.sack[..places.len()].copy_from_slice(&places);
        Some(Ack { seg, ..*ack })
    }

    /// The known range that all of `block` and more lies in: it came again (RFC 2883 section 4), for a range is listed as a whole.
    fn range_around(&self, block: Range) -> Option<Range> {
        let range = self.outstanding.ranges.around(block.0)?;
        (block.1 <= range.1 && block != range).then_some(range)
    }

    /// The first block, which begins at `left`, and the range that it lies in if it came again.
    fn first_block(&self, left: i64, number: i64, seg: &Segment) -> (Range, Option<Range>) {
        let out = &self.outstanding;
        if left < out.una {
            return ((left, (left + out.mss()).min(out.una)), None);
        }
        let sent = |at: i64| {
            let next = out.board.get(out.board.find(at));
            next.filter(|s| s.start <= at && s.sent_ns < seg.ts_ns)
        };
        let end = sent(left).map_or(left + out.mss(), Sent::end);
        match out.ranges.around(left) {
            _ if left < number => ((left, end.min(number)), None),
            None => ((left, end), None),
            Some((from, to)) if from < left => ((left, end.min(to)), Some((from, to))),
            Some((from, to)) => {
                // One more has come behind it, unless what came moved the left edge; where there are fewer ranges than before, what
                // was between two of them.
                if number > out.una {
                    return ((from, to), None);
                }
                let more = sent(to).filter(|s| s.start == to && !s.reported);
                let listed = seg.all_sack_blocks(0);
                let fewer = self.last.is_some_and(|l| l.all_sack_blocks(0) > listed);
                let joins = fewer && out.ranges.len() > usize::from(listed);
                let next = out.ranges.above(to).filter(|_| joins);
                ((from, next.or(more.map(Sent::end)).unwrap_or(to)), None)
            }
        }
    }
}
