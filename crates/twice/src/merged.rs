//! Frames of several packets: merged by a receiving card or its driver (GRO, LRO), or not yet cut by a sending one (TSO). One of their packets
//! may come a second time as a frame of its own, where the network delivers it twice or a bridge cuts the frame and both sides of the bridge
//! are captured. It bears the identification that its place gives it.

use inorder_wire::Segment;

/// Merged frames that are remembered: a second delivery comes within few of them.
const MAX_FRAMES: usize = 16;

/// The latest merged frames of one direction.
#[derive(Debug, Default)]
pub struct Merged {
    frames: [Frame; MAX_FRAMES],
    next: usize,
}

heap!(Merged);

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    ts_ns: i64,
    seq: u32,
    len: u32,
    /// Only packets with the same timestamp are merged.
    tsval: u32,
    ip_id: u16,
}

impl Merged {
    /// A frame of several packets.
    pub fn push(&mut self, seg: &Segment) {
        self.frames[self.next] = Frame {
            ts_ns: seg.ts_ns,
            seq: seg.seq,
            len: seg.payload_len,
            tsval: seg.tsval,
            ip_id: seg.ip_id,
        };
        self.next = (self.next + 1) % MAX_FRAMES;
    }

    /// How long before this packet, or these packets, a frame came that holds just them, nanoseconds. A retransmission would bear a later
    /// identification, or, of a host that keeps those or gives none, a later timestamp (RFC 7323 section 4.1).
    pub fn age_ns(&self, seg: &Segment) -> Option<i64> {
        let frame = self.frames.iter().find(|frame| frame.holds(seg))?;
        Some(seg.ts_ns.saturating_sub(frame.ts_ns))
    }
}

impl Frame {
    fn holds(&self, seg: &Segment) -> bool {
        let offset = seg.seq.wrapping_sub(self.seq);
        let before = u32::from(seg.ip_id.wrapping_sub(self.ip_id));
        let (len, end) = (seg.payload_len, offset.saturating_add(seg.payload_len));
        if len == 0 || len >= self.len || end > self.len || seg.tsval != self.tsval {
            return false;
        }
        if seg.ip_id == 0 && self.ip_id == 0 {
            return offset.is_multiple_of(len) || end == self.len;
        }
        if before == 0 {
            return offset == 0;
        }
        let (full, rest) = (offset / before, offset % before);
        rest == 0 && full > 0 && (len.is_multiple_of(full) || end == self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seg(seq: u32, payload_len: u32, ip_id: u16) -> Segment {
        segment!(seq, payload_len, ip_id)
    }

    #[test]
    fn a_packet_of_a_merged_frame_is_known_by_its_place_and_identification() {
        let mut merged = Merged::default();
        // Ten packets and one that is shorter; numbers of both kinds wrap within them.
        let (seq, id) = (u32::MAX - 2_000, u16::MAX - 4);
        merged.push(&seg(seq, 10_300, id));
        let nth = |n: u32, len| seg(seq.wrapping_add(n * 1_000), len, id.wrapping_add(n as u16));
        let holds = |seg: &Segment| merged.age_ns(seg).is_some();
        assert!((0..10).all(|n| holds(&nth(n, 1_000))));
        assert!(holds(&nth(3, 2_000)), "two, merged again");
        assert!(holds(&nth(10, 300)), "the last");
        let retransmitted = |n| Segment {
            ip_id: id.wrapping_add(11),
            ..nth(n, 1_000)
        };
        assert!((0..10).all(|n| !holds(&retransmitted(n))));
        let kept = Segment {
            tsval: 20,
            ..nth(3, 1_000)
        };
        assert!(!holds(&kept), "sent again with its identification");
        assert!(!holds(&nth(11, 1_000)), "what comes next");
        assert!(!holds(&nth(10, 1_000)));
    }
}
