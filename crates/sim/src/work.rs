//! The work of a sender's machine that TCP's own counters do not contain.

use inorder_tcp::Segment;

/// Maximum size of a packet passed to a card that divides it into segments, bytes including headers: the limit of
/// IPv4's length field.
const LARGEST_FRAME: u64 = 65_535;
/// Headers of such a packet, bytes: IPv4, TCP with timestamps.
const HEADERS: u64 = 52;

/// Counts of a sender's work.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Work {
    frames: u64,
    sack_span: u64,
    /// The packet under construction: time, first byte, end.
    open: Option<(i64, u64, u64)>,
}

impl Work {
    /// The bytes `start..end` of the stream are sent. New data sent at the same time is passed to the card in packets
    /// as large as IP allows; each retransmission (`again`) is a packet of its own.
    #[inline]
    pub(crate) fn sends(&mut self, now_ns: i64, start: u64, end: u64, again: bool) {
        if let Some((at_ns, first, next)) = self.open
            && !again
            && (at_ns, next) == (now_ns, start)
            && end.saturating_sub(first) + HEADERS <= LARGEST_FRAME
        {
            self.open = Some((at_ns, first, end));
            return;
        }
        self.frames += 1;
        self.open = (!again).then_some((now_ns, start, end));
    }

    /// An acknowledgement with SACK blocks arrives; `mss` is the length of segments, bytes.
    #[inline]
    pub(crate) fn sacked(&mut self, segment: &Segment, mss: u32) {
        let beyond = |&(_, end): &(u32, u32)| {
            // A block below the acknowledgement (DSACK, RFC 2883 section 4) causes no search.
            let bytes = end.wrapping_sub(segment.ack) as i32;
            u64::try_from(bytes).unwrap_or(0)
        };
        let bytes = segment.sack.as_slice().iter().map(beyond).max();
        self.sack_span += bytes.unwrap_or(0).div_ceil(u64::from(mss.max(1)));
    }

    /// Number of data packets passed to the card.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Segments between acknowledgements and the ends of their highest SACK blocks, summed.
    pub(crate) fn sack_span(&self) -> u64 {
        self.sack_span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u32, blocks: &[(u32, u32)]) -> Segment {
        Segment {
            ack,
            sack: blocks.iter().copied().collect(),
            ..Segment::default()
        }
    }

    #[test]
    fn new_data_sent_at_one_time_is_one_packet() {
        let mut work = Work::default();
        let mut send = |now_ns, start, end, again| {
            work.sends(now_ns, start, end, again);
            work.frames()
        };
        assert_eq!(
            [send(0, 0, 1000, false), send(0, 1000, 2000, false)],
            [1, 1]
        );
        // Later, out of order, retransmitted, and afterwards.
        assert_eq!(
            [send(1, 2000, 3000, false), send(1, 4000, 5000, false)],
            [2, 3]
        );
        assert_eq!([send(1, 0, 1000, true), send(1, 5000, 6000, false)], [4, 5]);
    }

    #[test]
    fn a_packet_is_limited_by_the_length_field_of_ip() {
        let mut work = Work::default();
        for n in 0..45 {
            work.sends(0, n * 1448, (n + 1) * 1448, false);
        }
        // 45 x 1448 + 52 bytes are 65212; one more segment begins another.
        assert_eq!(work.frames(), 1);
        work.sends(0, 45 * 1448, 46 * 1448, false);
        assert_eq!(work.frames(), 2);
    }

    #[test]
    fn a_search_ends_at_the_highest_block() {
        let mut work = Work::default();
        work.sacked(&ack(1000, &[(3000, 4000), (6000, 6500)]), 1000);
        assert_eq!(work.sack_span(), 6);
        // Duplicates reported below the acknowledgement cause no search; sequence numbers wrap.
        work.sacked(&ack(1000, &[(0, 1000)]), 1000);
        work.sacked(&ack(u32::MAX, &[(1999, 2999)]), 1000);
        assert_eq!(work.sack_span(), 6 + 3);
    }
}
