//! Segments that wait, in less memory than they take elsewhere.

use super::differences::Differences;
use inorder_base::heap::Heap;
use inorder_twice::{MAX_FRAMES_COMPARED, Twins};
use inorder_wire::{Dir, Has, MAX_SACK_BLOCKS, NO_WSCALE, Segment, TcpFlags};

/// Number of segments that wait as they came, those of a short connection. Those of longer ones are written down as differences,
/// because this is most of the memory of many connections that are open at once.
const SHORT: usize = 12;

/// Segments in the order they came.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The first ones, as long as there are few.
    few: Vec<Packed>,
    /// All of them, once there are many.
    many: Option<Box<Differences>>,
    /// What few segments have, for those that have any of it.
    rare: Vec<Rare>,
    /// The number of the first frame.
    first_frame: u64,
    /// Those of the first [`MAX_FRAMES_COMPARED`] without an identification.
    unnumbered: u8,
    /// For each direction the time to live of the first one, and whether that of another differs by 8, or nearly: the highest five bits do.
    ttls: [u8; 2],
    mixed: bool,
}

impl Heap for Waiting {
    fn heap_bytes(&self) -> usize {
        self.few.heap_bytes() + self.many.heap_bytes() + self.rare.heap_bytes()
    }
}

/// A [`Segment`] and its direction, without what is [`Rare`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Packed {
    pub(super) ts_ns: i64,
    /// Frames since the first, in 32 bits.
    pub(super) frames: u32,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) payload_len: u32,
    pub(super) tsval: u32,
    pub(super) tsecr: u32,
    pub(super) window: u16,
    pub(super) ip_id: u16,
    pub(super) flags: TcpFlags,
    pub(super) has: u8,
    pub(super) ttl: u8,
    pub(super) marks: u8,
}

/// Bits of [`Packed::marks`]: the ECN codepoint, the direction, and that something rare belongs to it.
const ECN: u8 = 3;
pub(super) const FROM_HIGH: u8 = 4;
const IS_RARE: u8 = 8;

/// What a SYN has, or a segment with SACK blocks or cut options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Rare {
    mss: u16,
    wscale: u8,
    ecn: u8,
    sack_len: u8,
    sack: [(u32, u32); MAX_SACK_BLOCKS],
    /// The frames since the first beyond 32 bits.
    frames_high: u32,
}

impl Rare {
    const NONE: Rare = Rare {
        mss: 0,
        wscale: NO_WSCALE,
        ecn: 0,
        sack_len: 0,
        sack: [(0, 0); MAX_SACK_BLOCKS],
        frames_high: 0,
    };

    /// It differs from [`Rare::NONE`]; every segment is asked. The list holds nothing where neither blocks were read nor options cut.
    #[inline]
    fn is_any(&self, has: u8) -> bool {
        let small = u32::from(self.mss) | u32::from(self.ecn) | u32::from(self.sack_len);
        let listed = has & Has::OPTIONS_CUT != 0 && self.sack != Rare::NONE.sack;
        (small | self.frames_high) != 0 || self.wscale != NO_WSCALE || listed
    }
}

impl Waiting {
    /// Segments that wait.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |many| many.len())
    }

    pub(super) fn push(&mut self, dir: Dir, segment: &Segment) {
        if self.len() == 0 {
            self.first_frame = segment.frame;
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
            sack,
        } = segment;
        let frames = frame.wrapping_sub(self.first_frame);
        let rare = Rare {
            mss,
            wscale,
            ecn: ecn & !ECN,
            sack_len,
            sack,
            frames_high: (frames >> 32) as u32,
        };
        let from_high = if dir == Dir::HighToLow { FROM_HIGH } else { 0 };
        let is_rare = if rare.is_any(has) { IS_RARE } else { 0 };
        if ip_id == 0 && self.len() < MAX_FRAMES_COMPARED {
            self.unnumbered += 1;
        }
        let first = &mut self.ttls[dir.index()];
        if *first == 0 {
            *first = ttl;
        }
        self.mixed |= (*first ^ ttl) > 7;
        self.put(Packed {
            ts_ns,
            frames: frames as u32,
            seq,
            ack,
            payload_len,
            tsval,
            tsecr,
            window,
            ip_id,
            flags,
            has,
            ttl,
            marks: ecn & ECN | from_high | is_rare,
        });
        if is_rare != 0 {
            if self.rare.capacity() == 0 {
                self.rare.reserve_exact(2); // Both SYNs.
            }
            self.rare.push(rare);
        }
    }

    fn put(&mut self, packed: Packed) {
        if let Some(many) = &mut self.many {
            return many.push(&packed);
        }
        if self.few.len() < SHORT {
            if self.few.capacity() == 0 {
                self.few.reserve_exact(SHORT);
            }
            return self.few.push(packed);
        }
        let mut many = Box::<Differences>::default();
        let few = std::mem::take(&mut self.few);
        few.iter().for_each(|packed| many.push(packed));
        many.push(&packed);
        self.many = Some(many);
    }

    fn all(&self) -> impl Iterator<Item = Packed> {
        let many = self.many.iter().flat_map(|many| many.all());
        self.few.iter().copied().chain(many)
    }

    /// Times to live of one direction may be far apart.
    pub(super) fn mixes_ttls(&self) -> bool {
        self.mixed
    }

    /// Do the first frames come twice? Two without an identification are needed for that.
    pub(super) fn twins(&self) -> Twins {
        match self.unnumbered {
            0 | 1 => Twins::None,
            _ => inorder_twice::among(|| self.iter()),
        }
    }

    /// The segments as they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Dir, Segment)> {
        let mut rare = self.rare.iter();
        self.all().map(move |packed| {
            let own = (packed.marks & IS_RARE != 0).then(|| rare.next()).flatten();
            packed.unpacked(own.unwrap_or(&Rare::NONE), self.first_frame)
        })
    }

    /// Data that does not begin behind all data that came before it from the same host, and reports of such data.
    pub(super) fn disordered(&self) -> u64 {
        let mut ends = [None; 2];
        let mut disordered = self.rare.iter().filter(|rare| rare.sack_len > 0).count() as u64;
        for packed in self.all().filter(|packed| packed.payload_len > 0) {
            let end = packed.seq.wrapping_add(packed.payload_len);
            let highest = &mut ends[usize::from(packed.marks & FROM_HIGH != 0)];
            let known = highest.unwrap_or(packed.seq);
            disordered += u64::from((packed.seq.wrapping_sub(known) as i32) < 0);
            let higher = (end.wrapping_sub(known) as i32) > 0;
            *highest = Some(if higher { end } else { known });
        }
        disordered
    }

    /// A segment that goes `dir` and waits is `segment` with its time, in another frame.
    pub(super) fn holds(&self, dir: Dir, segment: &Segment) -> bool {
        self.iter().any(|(way, waiting)| {
            let frame = waiting.frame;
            way == dir && waiting == Segment { frame, ..*segment }
        })
    }

    /// Something of the first segments.
    pub(super) fn times(&self) -> impl Iterator<Item = i64> {
        self.few.iter().map(|packed| packed.ts_ns)
    }
}

impl Packed {
    fn unpacked(&self, rare: &Rare, first_frame: u64) -> (Dir, Segment) {
        let dir = if self.marks & FROM_HIGH != 0 {
            Dir::HighToLow
        } else {
            Dir::LowToHigh
        };
        let frames = u64::from(rare.frames_high) << 32 | u64::from(self.frames);
        let segment = Segment {
            ts_ns: self.ts_ns,
            frame: first_frame.wrapping_add(frames),
            seq: self.seq,
            ack: self.ack,
            payload_len: self.payload_len,
            tsval: self.tsval,
            tsecr: self.tsecr,
            window: self.window,
            ip_id: self.ip_id,
            mss: rare.mss,
            flags: self.flags,
            has: self.has,
            ttl: self.ttl,
            wscale: rare.wscale,
            ecn: self.marks & ECN | rare.ecn,
            sack_len: rare.sack_len,
            sack: rare.sack,
        };
        (dir, segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_out_as_they_went_in() {
        assert!(size_of::<Packed>() <= 40, "{}", size_of::<Packed>());
        let segment = |n: u32| Segment {
            ts_ns: -i64::from(n),
            // Frames may be more than 32 bits apart, and come in another order.
            frame: u64::from(n * 7 % 40) << 30,
            seq: n + 2,
            ack: n + 3,
            payload_len: n + 4,
            tsval: n + 5,
            tsecr: n + 6,
            window: 7,
            ip_id: 8,
            mss: if n.is_multiple_of(5) { 9 } else { 0 },
            flags: TcpFlags(10),
            has: if n.is_multiple_of(4) {
                Has::OPTIONS_CUT
            } else {
                Has::DF
            },
            ttl: 12,
            wscale: if n.is_multiple_of(5) { 13 } else { NO_WSCALE },
            ecn: n as u8,
            sack_len: if n.is_multiple_of(3) { 2 } else { 0 },
            sack: if n.is_multiple_of(3) || n.is_multiple_of(4) {
                [(n, n + 1), (5, 6), (0, 0), (0, 8)]
            } else {
                Default::default()
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
        assert_eq!(waiting.len(), 40);
    }
}
