//! Fragmented datagrams (RFC 791 section 3.2, RFC 8200 section 4.5): the fields of each fragment, and a small table that
//! reassembles TCP segments and says of other datagrams whether they are whole.

use std::collections::{BTreeMap, VecDeque};

use crate::Other;
use crate::flow::{Dir, Endpoint, FlowKey};
use crate::segment::Segment;

/// Maximum number of incomplete datagrams; the oldest one is dropped first.
const MAX_OPEN: usize = 256;
/// Maximum number of separate received ranges of a datagram; one with more is hostile and is dropped.
const MAX_STRETCHES: usize = 64;
/// Maximum length of a datagram, bytes; longer ones are dropped (as in Linux's `ip_frag_reasm`).
const MAX_DATAGRAM_BYTES: u32 = 65_535;
/// Reassembly time-out, nanoseconds: later fragments with the same identification belong to another datagram (Linux
/// `ipfrag_time`).
const REASSEMBLY_TIMEOUT_NS: i64 = 30_000_000_000;
/// Number of first fragments without any later fragment after which the capture is assumed to contain no later ones:
/// a capture filter on ports drops them.
const ALONE: u32 = 16;

/// Protocol number of TCP.
const TCP: u8 = 6;

/// A fragment as a part of its datagram, whatever that contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaterPart {
    /// Capture time, nanoseconds since the Unix epoch.
    pub ts_ns: i64,
    /// 1-based number of the frame in its capture.
    pub frame: u64,
    /// Source; the port is unknown and 0.
    pub src: Endpoint,
    /// Destination; the port is unknown and 0.
    pub dst: Endpoint,
    /// The overlay network, as in [`FlowKey`].
    pub overlay: u32,
    /// The protocol of what the datagram contains.
    pub protocol: u8,
    /// Identification of the datagram; for IPv6 the lower half.
    pub id: u16,
    /// Offset in the datagram, bytes.
    pub offset: u32,
    /// Bytes of the datagram in this fragment.
    pub len: u32,
    /// The more-fragments bit: this is not the last fragment.
    pub more: bool,
}

/// The fields that identify the fragments of one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Name {
    src: u128,
    dst: u128,
    overlay: u32,
    protocol: u8,
    id: u16,
}

impl Name {
    fn of(part: &LaterPart) -> Self {
        Name {
            src: part.src.addr(),
            dst: part.dst.addr(),
            overlay: part.overlay,
            protocol: part.protocol,
            id: part.id,
        }
    }

    /// A hash that few different names share.
    fn print(&self) -> u32 {
        let fold = |wide: u128| (wide as u64) ^ ((wide >> 64) as u64).rotate_left(17);
        let ends = fold(self.src) ^ fold(self.dst).rotate_left(31);
        let rest =
            u64::from(self.protocol) << 48 | u64::from(self.overlay) << 16 | u64::from(self.id);
        // 2^64 divided by the golden ratio.
        let mixed =
            (ends ^ rest.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as u32
    }
}

/// An incomplete datagram.
#[derive(Debug)]
struct Open {
    name: Name,
    since_ns: i64,
    /// Number of frames received for it so far. They are counted once it is known whether the datagram will be complete.
    frames: u64,
    first: Option<(FlowKey, Dir, Segment, u32)>,
    /// Length of the complete datagram, known when its last fragment has arrived.
    total: Option<u32>,
    /// The received ranges: ascending and not adjacent.
    stretches: Vec<(u32, u32)>,
}

/// Reassembles fragmented segments in bounded memory, and counts the fragments of other datagrams.
///
/// A segment is returned with the fragment that completes it, with that fragment's time and frame number, because
/// only then does TCP receive it. Incomplete datagrams are never returned. If a capture contains only first
/// fragments, each of them is returned with the payload it contains.
#[derive(Debug, Default)]
pub struct Fragments {
    /// The oldest datagram first.
    open: VecDeque<Open>,
    /// A hash of each datagram's name, in the same order. All are searched for every fragment, so they are stored
    /// contiguously.
    prints: VecDeque<u32>,
    /// Number of first fragments seen before any later fragment.
    alone: u32,
    followed: bool,
    /// Frames of datagrams that are no longer in the table.
    counted: BTreeMap<Other, u64>,
}

impl Fragments {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a first fragment, as in [`Packet::FirstFragment`](crate::Packet::FirstFragment); returns the segment if
    /// it is complete.
    pub fn first(
        &mut self,
        key: FlowKey,
        dir: Dir,
        segment: Segment,
        header_len: u8,
    ) -> Option<(FlowKey, Dir, Segment)> {
        if !self.followed {
            self.alone = self.alone.saturating_add(1);
            if self.alone > ALONE {
                return Some((key, dir, segment));
            }
        }
        let (src, dst) = key.ends(dir);
        let name = Name {
            src: src.addr(),
            dst: dst.addr(),
            overlay: key.overlay,
            protocol: TCP,
            id: segment.ip_id,
        };
        let len = segment.payload_len.saturating_add(u32::from(header_len));
        let at = self.find(name, segment.ts_ns);
        let open = self.open.get_mut(at)?;
        open.first.get_or_insert((key, dir, segment, len));
        self.add(at, (0, len), false, (segment.ts_ns, segment.frame), 1)
    }

    /// Takes a later fragment; returns the segment if it is now complete.
    pub fn later(&mut self, part: &LaterPart) -> Option<(FlowKey, Dir, Segment)> {
        self.followed |= part.protocol == TCP;
        self.part(part, 1)
    }

    /// Takes note of a first fragment of a datagram that is no TCP segment, as in
    /// [`Aside::FirstPart`](crate::Aside::FirstPart). Its frame counts for what is in it, and not here.
    pub fn first_part(&mut self, part: &LaterPart) {
        self.part(part, 0);
    }

    fn part(&mut self, part: &LaterPart, frames: u64) -> Option<(FlowKey, Dir, Segment)> {
        let at = self.find(Name::of(part), part.ts_ns);
        let end = part.offset.saturating_add(part.len);
        let stretch = (part.offset, end);
        self.add(at, stretch, !part.more, (part.ts_ns, part.frame), frames)
    }

    /// Frames so far that did not become part of a returned segment, by what they were: [`Other::Incomplete`] or
    /// [`Other::Further`].
    pub fn unused(&self) -> BTreeMap<Other, u64> {
        let mut counted = self.counted.clone();
        for open in self.open.iter().filter(|open| open.frames > 0) {
            let why = Other::Incomplete(open.name.protocol);
            *counted.entry(why).or_default() += open.frames;
        }
        counted
    }

    /// The index of the datagram with this name, if it is in the table.
    fn known(&self, name: Name, print: u32) -> Option<usize> {
        // Without an end before the last one several are compared at once. Mostly none is equal.
        let holds = |prints: &[u32]| prints.iter().fold(false, |any, p| any | (*p == print));
        let (older, newer) = self.prints.as_slices();
        if !holds(older) && !holds(newer) {
            return None;
        }
        let named = |&(at, &other): &(usize, &u32)| {
            other == print && self.open.get(at).is_some_and(|open| open.name == name)
        };
        let found = self.prints.iter().enumerate().find(named)?;
        Some(found.0)
    }

    /// The index of a datagram; adds a new one if necessary.
    fn find(&mut self, name: Name, now_ns: i64) -> usize {
        let print = name.print();
        if let Some(at) = self.known(name, print) {
            let age_ns = now_ns.saturating_sub(self.open[at].since_ns);
            if age_ns <= REASSEMBLY_TIMEOUT_NS {
                return at;
            }
            self.give_up(at);
        }
        if self.open.len() == MAX_OPEN {
            self.give_up(0);
        }
        self.open.push_back(Open {
            name,
            since_ns: now_ns,
            frames: 0,
            first: None,
            total: None,
            stretches: Vec::new(),
        });
        self.prints.push_back(print);
        self.open.len() - 1
    }

    fn give_up(&mut self, at: usize) {
        self.prints.remove(at);
        if let Some(open) = self.open.remove(at) {
            self.count(Other::Incomplete(open.name.protocol), open.frames);
        }
    }

    fn count(&mut self, why: Other, frames: u64) {
        if frames > 0 {
            *self.counted.entry(why).or_default() += frames;
        }
    }

    /// Adds a range to a datagram; `last` marks the end of the datagram. A complete datagram leaves the table, and so
    /// does one whose fragments contradict each other, as in Linux's `ip_frag_queue`.
    fn add(
        &mut self,
        at: usize,
        stretch: (u32, u32),
        last: bool,
        (ts_ns, frame): (i64, u64),
        frames: u64,
    ) -> Option<(FlowKey, Dir, Segment)> {
        let open = self.open.get_mut(at)?;
        open.frames += frames;
        unite(&mut open.stretches, stretch);
        let end = open.stretches.last().map_or(0, |&(_, end)| end);
        let total = open.total.or(last.then_some(stretch.1));
        let two_ends = last && total != Some(stretch.1);
        let past_end = end > total.unwrap_or(MAX_DATAGRAM_BYTES).min(MAX_DATAGRAM_BYTES);
        open.total = total;
        if two_ends || past_end || open.stretches.len() > MAX_STRETCHES {
            self.give_up(at);
            return None;
        }
        let total = total?;
        let is_whole = |&(start, end): &(u32, u32)| start == 0 && end >= total;
        if !open.stretches.first().is_some_and(is_whole) {
            return None;
        }
        let (protocol, frames) = (open.name.protocol, open.frames);
        let first = open.first;
        if protocol == TCP && first.is_none() {
            return None;
        }
        self.open.remove(at);
        self.prints.remove(at);
        let Some((key, dir, segment, held)) = first else {
            self.count(Other::Further(protocol), frames);
            return None;
        };
        let payload_len = segment.payload_len + total.saturating_sub(held);
        let segment = Segment {
            ts_ns,
            frame,
            payload_len,
            ..segment
        };
        Some((key, dir, segment))
    }
}

/// Adds a range to others that are ascending and not adjacent, and keeps them so.
fn unite(stretches: &mut Vec<(u32, u32)>, (mut from, mut to): (u32, u32)) {
    let before = stretches.partition_point(|&(_, end)| end < from);
    let behind = stretches.partition_point(|&(start, _)| start <= to);
    if let Some(touched) = stretches.get(before..behind)
        && let (Some(first), Some(last)) = (touched.first(), touched.last())
    {
        (from, to) = (from.min(first.0), to.max(last.1));
    }
    stretches.splice(before..behind.max(before), [(from, to)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: u8 = 32;

    fn key() -> (FlowKey, Dir) {
        FlowKey::new(Endpoint::v4(9, 40_000), Endpoint::v4(2, 80), 0)
    }

    fn first(frame: u64) -> Segment {
        Segment {
            ts_ns: frame as i64 * 1_000,
            frame,
            seq: 5,
            payload_len: 1_448,
            ip_id: 7,
            ..Segment::default()
        }
    }

    fn unused(table: &Fragments) -> u64 {
        table.unused().values().sum()
    }

    fn later(frame: u64, offset: u32, len: u32, more: bool) -> LaterPart {
        LaterPart {
            protocol: TCP,
            ts_ns: frame as i64 * 1_000,
            frame,
            src: Endpoint::v4(9, 0),
            dst: Endpoint::v4(2, 0),
            overlay: 0,
            id: 7,
            offset,
            len,
            more,
        }
    }

    fn told(out: Option<(FlowKey, Dir, Segment)>) -> Option<(u64, u32, u32)> {
        out.map(|(.., s)| (s.frame, s.seq, s.payload_len))
    }

    #[test]
    fn fragments_make_no_packet_larger() {
        let whole = size_of::<(FlowKey, Dir, Segment)>();
        assert_eq!(whole, size_of::<crate::Packet>());
    }

    #[test]
    fn a_segment_is_returned_with_its_last_fragment_in_any_order() {
        let (key, dir) = key();
        let mut table = Fragments::new();
        // In order: 1,480 + 1,480 + 100 bytes, of which 32 are the TCP header.
        assert!(table.first(key, dir, first(1), HEADER).is_none());
        assert!(table.later(&later(2, 1_480, 1_480, true)).is_none());
        let out = table.later(&later(3, 2_960, 100, false));
        assert_eq!(out.map(|(k, d, _)| (k, d)), Some((key, dir)));
        assert_eq!(told(out), Some((3, 5, 3_028)));
        // The last fragment first, one fragment twice; the same identification is used again.
        assert!(table.later(&later(4, 2_960, 100, false)).is_none());
        assert!(table.first(key, dir, first(5), HEADER).is_none());
        assert!(table.first(key, dir, first(6), HEADER).is_none());
        let out = table.later(&later(7, 1_480, 1_480, true));
        assert_eq!(told(out), Some((7, 5, 3_028)));
        assert_eq!(unused(&table), 0);
    }

    #[test]
    fn incomplete_datagrams_are_counted_and_dropped() {
        let (key, dir) = key();
        let mut table = Fragments::new();
        assert!(table.later(&later(1, 2_960, 100, false)).is_none());
        assert!(table.first(key, dir, first(2), HEADER).is_none());
        // The same identification belongs to another datagram a minute later.
        let minute = LaterPart {
            ts_ns: 60_000_000_000,
            ..later(3, 1_480, 1_480, true)
        };
        assert!(table.later(&minute).is_none());
        assert_eq!(unused(&table), 3);
        for id in 100..60_000 {
            table.later(&LaterPart {
                id,
                ..later(4, 8, 8, true)
            });
        }
        assert_eq!(table.open.len(), MAX_OPEN);
        for gap in 0..1_000 {
            table.later(&later(5, 16 * gap + 16, 8, true));
        }
        assert!(
            table
                .open
                .iter()
                .all(|o| o.stretches.len() <= MAX_STRETCHES)
        );
        assert_eq!(unused(&table), 3 + 59_900 + 1_000);
    }

    /// Datagrams of UDP with the same identification as a segment: one whole in three fragments, its last first, one without
    /// its first and one without its last fragment.
    #[test]
    fn datagrams_of_other_protocols_are_whole_or_not() {
        let udp = |frame, id, offset, more| LaterPart {
            protocol: 17,
            id,
            ..later(frame, offset, 1_480, more)
        };
        let (key, dir) = key();
        let mut table = Fragments::new();
        assert!(table.first(key, dir, first(1), HEADER).is_none());
        assert!(table.later(&udp(2, 7, 2_960, false)).is_none());
        table.first_part(&udp(3, 7, 0, true));
        assert_eq!(table.unused()[&Other::Incomplete(17)], 1);
        assert!(table.later(&udp(4, 7, 1_480, true)).is_none());
        assert_eq!(table.unused()[&Other::Further(17)], 2);
        assert!(table.later(&udp(5, 8, 1_480, false)).is_none());
        table.first_part(&udp(6, 9, 0, true));
        assert!(table.later(&udp(7, 9, 1_480, true)).is_none());
        let expected = [
            (Other::Incomplete(TCP), 1),
            (Other::Incomplete(17), 2),
            (Other::Further(17), 2),
        ];
        assert_eq!(table.unused(), BTreeMap::from(expected));
        // The segment is still complete when its last fragment comes.
        let out = table.later(&later(8, 1_480, 100, false));
        assert_eq!(told(out), Some((8, 5, 1_548)));
    }

    #[test]
    fn a_datagram_with_contradicting_fragments_is_dropped() {
        let (key, dir) = key();
        let mut table = Fragments::new();
        // Its end lies within its first fragment.
        assert!(table.first(key, dir, first(1), HEADER).is_none());
        assert!(table.later(&later(2, 0, 8, false)).is_none());
        // It has two different ends.
        assert!(table.later(&later(3, 1_480, 100, false)).is_none());
        assert!(table.later(&later(4, 1_480, 108, false)).is_none());
        // It continues behind its end.
        assert!(table.later(&later(5, 1_480, 100, false)).is_none());
        assert!(table.later(&later(6, 1_496, 100, true)).is_none());
        // It exceeds the maximum length.
        assert!(table.later(&later(7, 65_528, 8, false)).is_none());
        assert_eq!((table.open.len(), unused(&table)), (0, 7));
    }

    #[test]
    fn first_fragments_are_used_if_the_capture_has_no_others() {
        let (key, dir) = key();
        let mut table = Fragments::new();
        let out: Vec<_> = (0..20)
            .filter_map(|n| {
                let segment = Segment {
                    ip_id: n,
                    ..first(u64::from(n))
                };
                told(table.first(key, dir, segment, HEADER))
            })
            .collect();
        assert_eq!(out, [16, 17, 18, 19].map(|n| (n, 5, 1_448)));
        assert_eq!(unused(&table), 16);
    }

    #[test]
    fn ranges_are_joined_like_bits_of_a_bitmap() {
        let mut stretches = Vec::new();
        let mut bits = [false; 200];
        let mut x = 1u32;
        for _ in 0..300 {
            x = x.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            let from = (x >> 16) % 190;
            let to = from + 1 + (x >> 8) % 6;
            unite(&mut stretches, (from, to));
            bits[from as usize..to as usize].fill(true);
            let mut naive: Vec<(u32, u32)> = Vec::new();
            for at in (0..200u32).filter(|&at| bits[at as usize]) {
                match naive.last_mut() {
                    Some(last) if last.1 == at => last.1 = at + 1,
                    _ => naive.push((at, at + 1)),
                }
            }
            assert_eq!(stretches, naive);
            if stretches.len() == 1 {
                stretches.clear();
                bits.fill(false);
            }
        }
    }
}
