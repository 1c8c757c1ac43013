//! Data that the receiver has and that never came by: the capture lacks its frames.
//!
//! Each of them is missing from the extents across it (RFC 4737 section 4.2), which are therefore not certain.

use super::Arrival;
use crate::result::Reason;

impl Arrival {
    /// Something below the highest byte has not come by.
    #[inline]
    pub(crate) fn has_holes(&self) -> bool {
        !self.order.holes().is_empty()
    }

    /// The receiver acknowledges everything below `una`, and has `blocks` above. Where the capture turns out to lack frames of
    /// that: where the highest range of them begins.
    pub(crate) fn lacks(
        &mut self,
        una: i64,
        blocks: impl Iterator<Item = (i64, i64)>,
    ) -> Option<i64> {
        let mut found = None;
        while let Some(next) = self.lacks_in(self.looked_up_to, una, &mut found) {
            self.looked_up_to = next;
        }
        for (left, right) in blocks {
            self.lacks_in(left.max(una), right, &mut found);
        }
        if found.is_some() {
            self.doubt_from(self.order.arrivals(), Reason::NotSeen);
        }
        found
    }

    /// Looks at the first hole from `from` on, if it begins below `to`. Returns where to go on.
    fn lacks_in(&mut self, from: i64, to: i64, found: &mut Option<i64>) -> Option<i64> {
        let hole = self.order.holes().beyond(from)?;
        if hole.start >= to {
            return None;
        }
        // What a retransmission has filled came by; what was refused did, too.
        let came = hole.note.fill.copies > 0 || hole.note.refused.is_some();
        let end = hole.end.min(to);
        if !came && !hole.note.lacked {
            let start = hole.start.max(from);
            *found = (*found).max(Some(start));
            self.order.annotate(start, end, |note| note.lacked = true);
        }
        Some(end).filter(|&end| end > from)
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

    use crate::{Confidence, Config, Event, Reason, Tracker, Vantage};

    const LEN: u32 = 100;

    /// At the receiver, by milliseconds: segments 0, 2 and 4, an acknowledgement with these SACK blocks (of segments), then 1, and an
    /// acknowledgement of all below the segment `una`.
    fn late_behind(blocks: &[(u32, u32)], una: u32) -> Event {
        let (key, there) = FlowKey::new(Endpoint::v4(1, 10), Endpoint::v4(2, 20), 0);
        let config = Config::default().vantage(Some(Vantage::Receiver));
        let mut tracker = Tracker::new(config.keep_events(true).what_if(false));
        let mut id = 0;
        let mut push = |dir: Dir, ms: i64, segment: Segment| {
            id += 1;
            let segment = Segment {
                ts_ns: ms * 1_000_000,
                frame: id,
                flags: TcpFlags(segment.flags.0 | TcpFlags::ACK),
                has: segment.has | Has::TIMESTAMPS,
                ..segment
            };
            tracker.push(&key, dir, &segment);
        };
        let data = |n: u32| segment!(seq: n * LEN, payload_len: LEN, tsval: 10 + n);
        let hello = |seq: u32| {
            segment!(
                seq, flags: TcpFlags(TcpFlags::SYN), has: Has::SACK_PERMITTED, tsval: 9
            )
        };
        push(there, 0, hello(u32::MAX));
        push(there.reverse(), 0, hello(500));
        push(there, 10, data(0));
        push(there, 11, data(2));
        push(there, 13, data(4));
        let mut ack = segment!(seq: 501, ack: LEN, sack_len: blocks.len() as u8);
        for (slot, &(from, to)) in ack.sack.iter_mut().zip(blocks) {
            *slot = (from * LEN, to * LEN);
        }
        push(there.reverse(), 14, ack);
        push(there, 15, data(1));
        push(there.reverse(), 16, segment!(seq: 501, ack: una * LEN));
        let flows = tracker.finish();
        *flows[0]
            .records
            .events
            .iter()
            .find(|e| e.seq_offset == 100)
            .expect("segment 1 is late")
    }

    #[test]
    fn an_extent_across_what_was_captured_is_certain() {
        let late = late_behind(&[(4, 5), (2, 3)], 3);
        assert_eq!(
            (late.extent, late.confidence),
            (Some(2), Confidence::Certain)
        );
    }

    #[test]
    fn an_extent_across_a_frame_that_the_capture_lacks_is_not() {
        // The receiver has segment 3, too: it says so before or after the late one comes.
        for late in [late_behind(&[(2, 5)], 5), late_behind(&[(4, 5), (2, 3)], 5)] {
            assert_eq!(late.extent, Some(2));
            assert_eq!(
                (late.confidence, late.reason),
                (Confidence::Likely, Some(Reason::NotSeen))
            );
        }
    }
}
