//! Segments that wait, in less memory than they take elsewhere.

use inorder_wire::{Dir, Has, MAX_SACK_BLOCKS, Segment, TcpFlags};

/// Packets of a short connection: room for so many is made at once.
const SHORT: usize = 12;

/// The SACK blocks of a segment, and what is known of those that were cut off.
type Blocks = [(u32, u32); MAX_SACK_BLOCKS];

/// Segments in the order they came. Few have SACK blocks, which are nearly half of a segment; so they lie apart.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    segments: Vec<Packed>,
    /// The blocks of those segments that have or had any.
    blocks: Vec<Blocks>,
}

/// A [`Segment`] and its direction, without its SACK blocks.
#[derive(Clone, Copy, Debug)]
struct Packed {
    ts_ns: i64,
    frame: u64,
    seq: u32,
    ack: u32,
    payload_len: u32,
    tsval: u32,
    tsecr: u32,
    window: u16,
    ip_id: u16,
    mss: u16,
    flags: TcpFlags,
    has: u8,
    ttl: u8,
    wscale: u8,
    ecn: u8,
    sack_len: u8,
    dir: Dir,
}

impl Waiting {
    pub(super) fn push(&mut self, dir: Dir, segment: &Segment) {
        if self.segments.is_empty() {
            self.segments.reserve(SHORT);
        }
        // Without `..`, so that a new field is not forgotten.
        let &Segment {
            ts_ns,
            frame,
            seq,
            ack,
            payload_len,
            tsval,
            tsecr,
            window,
            ip_id,
            mss,
            flags,
            has,
            ttl,
            wscale,
            ecn,
            sack_len,
            ref sack,
        } = segment;
        self.segments.push(Packed {
            ts_ns,
            frame,
            seq,
            ack,
            payload_len,
            tsval,
            tsecr,
            window,
            ip_id,
            mss,
            flags,
            has,
            ttl,
            wscale,
            ecn,
            sack_len,
            dir,
        });
        if has_blocks(sack_len, has) {
            self.blocks.push(*sack);
        }
    }

    /// The segments as they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Dir, Segment)> {
        let mut blocks = self.blocks.iter();
        self.segments.iter().map(move |packed| {
            let with_blocks = has_blocks(packed.sack_len, packed.has);
            let sack = with_blocks.then(|| blocks.next()).flatten();
            (packed.dir, packed.unpacked(sack.copied()))
        })
    }

    /// Something of every segment.
    pub(super) fn times(&self) -> impl Iterator<Item = i64> {
        self.segments.iter().map(|packed| packed.ts_ns)
    }
}

fn has_blocks(sack_len: u8, has: u8) -> bool {
    sack_len > 0 || has & Has::OPTIONS_CUT != 0
}

impl Packed {
    fn unpacked(&self, sack: Option<Blocks>) -> Segment {
        Segment {
            ts_ns: self.ts_ns,
            frame: self.frame,
            seq: self.seq,
            ack: self.ack,
            payload_len: self.payload_len,
            tsval: self.tsval,
            tsecr: self.tsecr,
            window: self.window,
            ip_id: self.ip_id,
            mss: self.mss,
            flags: self.flags,
            has: self.has,
            ttl: self.ttl,
            wscale: self.wscale,
            ecn: self.ecn,
            sack_len: self.sack_len,
            sack: sack.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_out_as_they_went_in() {
        assert!(size_of::<Packed>() <= 56, "{}", size_of::<Packed>());
        let segment = |n: u32| Segment {
            ts_ns: -i64::from(n),
            frame: u64::from(n) + 1,
            seq: n + 2,
            ack: n + 3,
            payload_len: n + 4,
            tsval: n + 5,
            tsecr: n + 6,
            window: 7,
            ip_id: 8,
            mss: 9,
            flags: TcpFlags(10),
            has: if n.is_multiple_of(4) {
                Has::OPTIONS_CUT
            } else {
                Has::DF
            },
            ttl: 12,
            wscale: 13,
            ecn: 1,
            sack_len: if n.is_multiple_of(3) { 2 } else { 0 },
            sack: if n.is_multiple_of(3) || n.is_multiple_of(4) {
                [(n, n + 1), (5, 6), (0, 0), (0, 8)]
            } else {
                Blocks::default()
            },
        };
        let dir = |n: u32| {
            if n.is_multiple_of(2) {
                Dir::LowToHigh
            } else {
                Dir::HighToLow
            }
        };
        let mut waiting = Waiting::default();
        (0..40).for_each(|n| waiting.push(dir(n), &segment(n)));
        assert!(waiting.iter().eq((0..40).map(|n| (dir(n), segment(n)))));
        assert!(waiting.times().eq((0..40).map(|n| -n)));
    }
}
