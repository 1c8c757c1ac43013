//! A path that swallows full segments: one of them is lost whole again and again, and arrives once the sender has cut it into smaller
//! ones.
//!
//! Where the message of the router in front of a narrow link is lost (ICMP, "fragmentation needed"), a sender learns by itself what the
//! path carries, if it tries (RFC 2923 section 2.1, RFC 4821 section 7.7): Windows after two retransmissions, Linux with `tcp_mtu_probing`.

use crate::result::{Shrunk, Swallowed};

/// Retransmissions of the whole segment before the one that is cut: two in a row may be lost by chance, three times the same one hardly.
const MIN_LOST_WHOLE: u32 = 2;
/// Every path carries segments of this payload (RFC 9293 section 3.7.1).
const CARRIED_EVERYWHERE: u32 = 536;

/// What is known of the sizes of segments that arrive.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// The longest segment that has arrived, bytes.
    arrived: u32,
    /// The first one that was lost whole and then cut, and its first byte.
    cut: Option<(i64, Shrunk)>,
}

impl Sizes {
    /// The segment of `len` bytes that begins at `start` arrived, as a whole unless it is the one that was cut.
    #[inline]
    pub(super) fn arrived(&mut self, start: i64, len: u32) {
        if len > self.arrived && self.cut.is_none_or(|(cut, _)| cut != start) {
            self.arrived = len;
        }
    }

    /// The same of one that was sent again, if it was sent `again`: once the sender cuts, nobody knows in how many parts that arrived.
    #[inline]
    pub(super) fn perhaps_arrived(&mut self, start: i64, len: u32, again: bool) {
        if !again || self.cut.is_none() {
            self.arrived(start, len);
        }
    }

    /// The first `len` bytes of the segment that begins at `start` are sent again, all `whole` of which were sent again `times` before.
    pub(super) fn sent_again(&mut self, start: i64, len: u32, (whole, times): (u32, u32)) {
        // Several segments that were handed over as one are sent again one by one.
        let one = whole > CARRIED_EVERYWHERE && len > 0 && !whole.is_multiple_of(len);
        if self.cut.is_none() && times >= MIN_LOST_WHOLE && len < whole && one {
            self.cut = Some((start, Shrunk { whole, cut: len }));
        }
    }

    /// `shortest` is the payload of the shortest segment that was sent again to the end and never acknowledged.
    pub(super) fn swallowed(&self, shortest: Option<u32>) -> Option<Swallowed> {
        let (shortest, passed) = (shortest?, self.arrived);
        let longer = passed > 0 && shortest > passed.max(CARRIED_EVERYWHERE);
        longer.then_some(Swallowed { shortest, passed })
    }

    /// The verdict, where everything below `una` has arrived.
    pub(super) fn finish(&self, una: i64) -> Option<Shrunk> {
        let (start, shrunk) = self.cut?;
        (una > start && self.arrived < shrunk.whole).then_some(shrunk)
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use crate::result::{Shrunk, Swallowed};

    /// A full segment and a short one are sent; the full one is sent again `times` after time-outs, and then its first 536 bytes. Was
    /// an equal one acknowledged `before`?
    fn told(times: i64, before: bool) -> Option<Shrunk> {
        let mut trace = Trace::new(true, None);
        if before {
            trace.in_order(0, 0, 20);
        }
        let first = if before { 20 } else { 0 };
        trace.send(40, first);
        trace.send_part(41, first + 1, 500);
        trace.ack_bytes(51, first, 0, Some((first + 1, 500)));
        (0..times).for_each(|n| trace.send_again(1_000 << n, first));
        trace.send_again_part(20_000, first, 536);
        trace.ack_bytes(20_010, first, 536, Some((first + 1, 500)));
        trace.send_again_part(20_011, first, 464);
        trace.ack_bytes(20_021, first + 1, 500, None);
        Box::new(trace.sender).finish(0, true).acks.shrunk
    }

    #[test]
    fn what_is_never_acknowledged_is_too_large_perhaps_if_only_shorter_ones_were() {
        let of = |before: u32| {
            let mut trace = Trace::new(true, None);
            trace.send_part(0, 0, before);
            trace.ack_bytes(10, 0, before, None);
            trace.send(20, 1);
            (0..4).for_each(|n| trace.send_again(300 << n, 1));
            Box::new(trace.sender)
                .finish(20_000_000_000, true)
                .acks
                .swallowed
        };
        let found = Some(Swallowed {
            shortest: 1_000,
            passed: 500,
        });
        assert_eq!(of(500), found);
        assert_eq!(of(1_000), None);
    }

    /// Three full segments are lost with all retransmissions of the first, and come in parts, some of which lie in two of them.
    #[test]
    fn segments_that_come_in_parts_have_not_come_whole() {
        let mut trace = Trace::new(true, None);
        (0..3).for_each(|n| trace.send(40 + n, n));
        (0..3).for_each(|n| trace.send_again(1_000 << n, 0));
        for (n, (from, len)) in (0..).zip([(0, 700), (700, 700), (1_400, 700), (2_100, 700)]) {
            trace.send_again_bytes(20_000 + 20 * n, from, len);
            trace.ack_bytes(20_010 + 20 * n, 0, from as u32 + len, None);
        }
        trace.send_again_bytes(20_100, 2_800, 200);
        trace.ack_bytes(20_110, 0, 3_000, None);
        let told = Box::new(trace.sender).finish(0, true).acks.shrunk;
        let sizes = told.map(|shrunk| (shrunk.whole, shrunk.cut));
        assert_eq!(sizes, Some((1_000, 700)));
    }

    #[test]
    fn a_full_segment_that_arrives_only_when_it_is_cut_is_too_large_for_the_path() {
        let found = Some(Shrunk {
            whole: 1_000,
            cut: 536,
        });
        assert_eq!(told(2, false), found);
        assert_eq!(told(1, false), None, "chance");
        assert_eq!(told(2, true), None, "one of its size has come");
    }
}
