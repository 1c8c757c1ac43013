//! ACKs whose SACK blocks were not captured: only the length of the header shows that they had some.
//!
//! A receiver that holds data behind a hole lists it in every ACK (RFC 2018 section 4). So an ACK with blocks between two
//! without, the second of which acknowledges no more than one segment beyond it, was no report of a hole: then the segment
//! above it would have been acknowledged, too. It reported a duplicate (RFC 2883 section 4), and so does one that acknowledges all there is.

use super::Sender;
use super::acks::Ack;
use super::board::Sent;
use super::filled::Filled;

/// Filled holes looked at for one duplicate.
const MAX_FILLED_WEIGHED: usize = 512;

/// ACKs with blocks since the last one without.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hidden {
    /// What the first acknowledges, and when it came; `None` where it is not distinguished from others.
    first: Option<(i64, i64)>,
    /// How many acknowledge the same.
    count: u32,
    /// How many blocks the last ACK had.
    blocks: u8,
    /// They were more than those of the ACK before, which acknowledged the same.
    rose: bool,
}

impl Sender {
    /// An ACK of a receiver whose blocks do not show.
    pub(super) fn note_hidden(&mut self, ack: &Ack, number: i64) {
        if ack.stale {
            return;
        }
        let blocks = ack.seg.all_sack_blocks(0);
        let before = std::mem::replace(&mut self.no_sack.hidden.blocks, blocks);
        self.note_duplicates(ack, before, blocks);
        let first = self.no_sack.hidden.first;
        if let Some((at, at_ns)) = first.filter(|f| blocks == 0 || number > f.0) {
            let hidden = &mut self.no_sack.hidden;
            let count = std::mem::take(&mut hidden.count);
            hidden.first = None;
            let board = &self.outstanding.board;
            let next = board.get(board.find(at)).map_or(at, Sent::end);
            if blocks == 0 && number <= next {
                (0..count).for_each(|_| self.came_twice(at_ns));
            }
        }
        let hidden = &mut self.no_sack.hidden;
        if blocks > 0 && number >= self.outstanding.highest {
            hidden.first = None;
            self.came_twice(ack.seg.ts_ns);
        } else if blocks > 0 && before == 0 {
            hidden.first = Some((number, ack.seg.ts_ns));
            hidden.count = 1;
        } else if blocks > 0 && first.is_some_and(|f| f.0 == number) {
            hidden.count += 1;
        }
    }

    /// An ACK that acknowledges no more than the one before and has fewer blocks, where that had more than the one before it: a
    /// duplicate was reported, for a range that begins and is closed by the next packet is rare. Or neither has any: at a receiver
    /// that reports no duplicates one came.
    fn note_duplicates(&mut self, ack: &Ack, before: u8, blocks: u8) {
        let seg = &ack.seg;
        let rose = std::mem::take(&mut self.no_sack.hidden.rose);
        let Some(last) = self.last.filter(|l| l.ack == seg.ack) else {
            return;
        };
        self.no_sack.hidden.rose = blocks > before && before > 0;
        let repeats =
            before == 0 && blocks == 0 && last.window == seg.window && seg.payload_len == 0;
        if self.ledger.retransmissions > 0 && (rose && before > blocks || repeats) {
            self.ledger.unplaced += 1.0;
        }
    }

    /// Something came twice, as an ACK at `at_ns` says: a copy that was sent when the segment had been acknowledged, or the original of
    /// some segment whose retransmission had come.
    fn came_twice(&mut self, at_ns: i64) {
        self.receiver.dsack_seen = true;
        (self.no_sack.above, self.no_sack.above_clean) = (0, 0);
        let rtt = self.timing.min_rtt.unwrap_or(0);
        let since = at_ns.saturating_sub(self.timing.patience());
        let expected = |f: &&Filled| {
            let needless = if f.original_in {
                f.copies.count
            } else {
                f.after
            };
            let due = f.copies.last_ns.saturating_add(rtt - rtt / 16);
            f.duplicates < needless && due <= at_ns && f.reported_ns >= since
        };
        let mut latest = self.ledger.filled.latest().take(MAX_FILLED_WEIGHED);
        let start = latest.find(expected).map(|f| f.place.start);
        drop(latest);
        match start.and_then(|start| self.ledger.filled.get_mut(start)) {
            Some(f) => f.duplicates += 1,
            None => self.ledger.unplaced += 1.0,
        }
    }
}
