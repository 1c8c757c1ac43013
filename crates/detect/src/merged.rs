//! Packets that a receiving card or its driver merged into one frame (GRO, LRO): one of them that the network delivers twice
//! comes a second time as a frame of its own, and bears the identification that its place in the merged frame gives it.

use inorder_wire::Segment;

/// Merged frames that are remembered: a second delivery comes within few of them.
const MAX_FRAMES: usize = 16;

/// The latest merged frames of one direction.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    frames: [Frame; MAX_FRAMES],
    next: usize,
}

heap!(Merged);

#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    seq: u32,
    len: u32,
    /// Only packets with the same timestamp are merged.
    tsval: u32,
    ip_id: u16,
}

impl Merged {
    pub(crate) fn push(&mut self, seg: &Segment) {
        self.frames[self.next] = Frame {
            seq: seg.seq,
            len: seg.payload_len,
            tsval: seg.tsval,
            ip_id: seg.ip_id,
        };
        self.next = (self.next + 1) % MAX_FRAMES;
    }

    /// True if one of the frames has merged just this packet, or these packets. A retransmission would bear a later
    /// identification, or, of a host that keeps those, a later timestamp (RFC 7323 section 4.1).
    pub(crate) fn holds(&self, seg: &Segment) -> bool {
        self.frames.iter().any(|frame| frame.holds(seg))
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
        Segment {
            seq,
            payload_len,
            ip_id,
            ..Segment::default()
        }
    }

    #[test]
    fn a_packet_of_a_merged_frame_is_known_by_its_place_and_identification() {
        let mut merged = Merged::default();
        // Ten packets and one that is shorter; numbers of both kinds wrap within them.
        let (seq, id) = (u32::MAX - 2_000, u16::MAX - 4);
        merged.push(&seg(seq, 10_300, id));
        let nth = |n: u32, len| seg(seq.wrapping_add(n * 1_000), len, id.wrapping_add(n as u16));
        assert!((0..10).all(|n| merged.holds(&nth(n, 1_000))));
        assert!(merged.holds(&nth(3, 2_000)), "two, merged again");
        assert!(merged.holds(&nth(10, 300)), "the last");
        let retransmitted = |n| Segment {
            ip_id: id.wrapping_add(11),
            ..nth(n, 1_000)
        };
        assert!((0..10).all(|n| !merged.holds(&retransmitted(n))));
        let kept = Segment {
            tsval: 20,
            ..nth(3, 1_000)
        };
        assert!(!merged.holds(&kept), "sent again with its identification");
        assert!(!merged.holds(&nth(11, 1_000)), "what comes next");
        assert!(!merged.holds(&nth(10, 1_000)));
    }
}
