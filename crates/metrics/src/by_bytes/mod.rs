//! The metrics of RFC 4737 sections 4.2 to 4.4 on the arrivals of original transmissions, by byte ranges (RFC 4737 sections
//! 3.5 and 6.1), in memory that depends on the holes and not on the packets.
//!
//! The first arrival with a larger number than a late one is always the arrival that opened the
//! hole the late one falls in: remember it per hole, and extent and late time are
//! differences. The dumb twin in the tests compares against the definitions.

mod by_offset;
mod holes;
mod passed;

pub use by_offset::ByOffset;
pub use holes::Holes;

use by_offset::Spot;
use passed::LateArrivals;

use inorder_base::heap::Heap;

/// Holes remembered at once; beyond, the lowest is given up.
const MAX_HOLES_REMEMBERED: usize = 16_384;

/// Holes that are changed for one segment: every second packet of 128 bytes in the largest super-packet (65,535 bytes).
const MAX_HOLES_CHANGED: usize = 256;

/// A range of originals not seen to arrive, below data that has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hole<T> {
    /// First missing byte.
    pub start: i64,
    /// End of the missing bytes.
    pub end: i64,
    /// Arrival position of the packet that opened it.
    pub opened_at: u64,
    /// Its arrival time, nanoseconds.
    pub opened_ns: i64,
    /// The opener's place in the order is a guess.
    pub opener_unsure: bool,
    /// Bytes arrived before and with the opener.
    bytes_before: u64,
    /// Packet number of the first missing packet, by estimate from the sizes.
    pub first_label: u64,
    /// What the user of this structure wants to remember.
    pub note: T,
}

/// A late arrival, measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    /// RFC 4737 section 4.2, packets.
    pub extent: u32,
    /// RFC 4737 section 4.4, bytes.
    pub bytes: u64,
    /// RFC 4737 section 4.3, nanoseconds.
    pub late_ns: i64,
    /// The order of the first larger packet is a guess.
    pub opener_unsure: bool,
    /// Packet number by estimate.
    pub label: u64,
}

/// What an arrival was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrived {
    /// At or above the next expected byte; the packet number by estimate.
    InOrder(u64),
    /// In a hole.
    Late(Late),
    /// Its bytes had arrived before, or the hole was given up.
    Known,
}

/// Arrivals of originals and the holes they leave.
#[derive(Debug)]
pub struct Order<T> {
    holes: Holes<T>,
    next: i64,
    next_label: u64,
    position: u64,
    bytes: u64,
    /// `None` before the first: most flows have none.
    late: Option<Box<LateArrivals>>,
    mss: u32,
    /// Ranges up to here were missing and have been forgotten.
    forgotten_to: i64,
}

impl<T> Heap for Order<T> {
    fn heap_bytes(&self) -> usize {
        self.holes.heap_bytes() + self.late.heap_bytes()
    }
}

impl<T: Copy + Default> Order<T> {
    /// Expects `next` first.
    pub fn new(next: i64) -> Self {
        Order {
            holes: Holes::new(),
            next,
            next_label: 0,
            position: 0,
            bytes: 0,
            late: None,
            mss: 1,
            forgotten_to: i64::MIN,
        }
    }

    /// What comes below this may have been missing: there were too many ranges to remember. `i64::MIN` if there never were.
    pub fn forgotten_to(&self) -> i64 {
        self.forgotten_to
    }

    /// One past the highest byte that has arrived.
    #[inline]
    pub fn next(&self) -> i64 {
        self.next
    }

    /// Originals that have arrived.
    #[inline]
    pub fn arrivals(&self) -> u64 {
        self.position
    }

    /// What is missing.
    pub fn holes(&self) -> &Holes<T> {
        &self.holes
    }

    /// The arrival of the original with bytes `[start, start + len)` at `now`. `unsure` says its
    /// place among its neighbours is a guess. A new hole gets `note`.
    #[inline]
    pub fn arrive(&mut self, start: i64, len: u32, now: i64, unsure: bool, note: T) -> Arrived {
        if start == self.next && len > 0 {
            return Arrived::InOrder(self.append(1, u64::from(len), len));
        }
        self.mss = self.mss.max(len);
        if start > self.next {
            return self.skip_ahead(start, len, now, unsure, note);
        }
        self.fill(start, len, now)
    }

    /// The arrival of what was expected next: `packets`, none longer than `longest`, of `bytes`
    /// in all. The number of the first of them by estimate.
    #[inline(always)]
    pub fn append(&mut self, packets: u64, bytes: u64, longest: u32) -> u64 {
        let label = self.next_label;
        self.mss = self.mss.max(longest);
        self.next_label += packets;
        self.next += bytes as i64;
        self.position += packets;
        self.bytes += bytes;
        label
    }

    /// There are packets of `len` bytes.
    pub fn note_len(&mut self, len: u32) {
        self.mss = self.mss.max(len);
    }

    /// The longest packet so far, bytes.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// Expects `next` from now on, and nothing below it.
    pub fn go_on_at(&mut self, next: i64) {
        self.next = next;
        self.holes = Holes::new();
    }

    /// Everything below `to` that is not missing arrived before anything was counted.
    pub fn had(&mut self, to: i64) {
        self.next = self.next.max(to);
    }

    /// The hole that newer data, which arrives `now`, would open if `[start, end)`, the highest that has arrived, had not.
    pub fn as_if_missing<N>(&self, (start, end): (i64, i64), now: i64, note: N) -> Hole<N> {
        let packets = (self.next - start).max(0) as u64;
        Hole {
            start,
            end,
            opened_at: self.position,
            opened_ns: now,
            opener_unsure: false,
            bytes_before: self.bytes,
            first_label: self
                .next_label
                .saturating_sub(packets.div_ceil(u64::from(self.mss))),
            note,
        }
    }

    /// Takes everything below `to` as sent and missing since `now`.
    pub fn skip_to(&mut self, to: i64, now: i64, note: T) {
        if to <= self.next {
            return;
        }
        self.open_hole(to, now, false, note);
        let hole = self.holes.last();
        if let Some(hole) = hole {
            self.next_label = self.label_in(&hole, to).max(self.next_label + 1);
        }
        self.next = to;
    }

    /// Takes `[from, to)`, below everything that has arrived, as missing since before the first arrival, at `since_ns`.
    pub fn lacked_from_the_start(&mut self, (from, to): (i64, i64), since_ns: i64, note: T) {
        self.remember(Hole {
            start: from,
            end: to,
            opened_at: 0,
            opened_ns: since_ns,
            opener_unsure: true,
            bytes_before: 0,
            first_label: 0,
            note,
        });
    }

    /// The end of the data arrives `now`, a packet without data whose number is `end` (a FIN): what is missing below is late from now
    /// on, and it takes its place among the arrivals.
    pub fn end_arrives(&mut self, end: i64, now: i64, note: T) {
        self.skip_to(end, now, note);
        self.position += 1;
    }

    fn open_hole(&mut self, end: i64, now: i64, opener_unsure: bool, note: T) {
        let hole = Hole {
            start: self.next,
            end,
            opened_at: self.position,
            opened_ns: now,
            opener_unsure,
            bytes_before: self.bytes,
            first_label: self.next_label,
            note,
        };
        self.remember(hole);
    }

    /// The lowest hole is forgotten where there are too many: data that arrives in the middle of one, and reports that name a
    /// part of one, make two of it.
    fn remember(&mut self, hole: Hole<T>) {
        if self.holes.len() >= MAX_HOLES_REMEMBERED
            && let Some(lowest) = self.holes.forget_first()
        {
            self.forgotten_to = self.forgotten_to.max(lowest.end);
        }
        self.holes.insert(hole);
    }

    fn skip_ahead(
        &mut self,
        start: i64,
        len: u32,
        now: i64,
        opener_unsure: bool,
        note: T,
    ) -> Arrived {
        let missing = (start - self.next) as u64;
        self.open_hole(start, now, opener_unsure, note);
        let label = self.next_label + missing.div_ceil(u64::from(self.mss));
        self.next_label = label + 1;
        self.next = start + i64::from(len);
        self.position += 1;
        self.bytes += u64::from(len);
        Arrived::InOrder(label)
    }

    fn fill(&mut self, start: i64, len: u32, now: i64) -> Arrived {
        let end = start + i64::from(len);
        // The first hole that ends beyond `start`; a segment that straddles a hole's edge
        // counts for the part in the hole.
        let Some((spot, hole)) = self.holes.find_beyond(start) else {
            return Arrived::Known;
        };
        if hole.start >= end || len == 0 {
            return Arrived::Known;
        }
        let (from, to) = (start.max(hole.start), end.min(hole.end));
        let late = self.pass(&hole, start, len, now);
        self.cut(spot, &hole, from, to);
        Arrived::Late(late)
    }

    /// How late the arrival of `[start, start + len)` in `hole` is. It takes its place among the
    /// arrivals; whether it fills the hole is the caller's decision.
    pub fn pass<N>(&mut self, hole: &Hole<N>, start: i64, len: u32, now: i64) -> Late {
        let between = self.bytes - hole.bytes_before;
        let late = self.late.get_or_insert_default();
        let lower = late.bytes_below(hole.opened_at, start);
        late.push(self.position, start, len);
        let late = Late {
            extent: u32::try_from(self.position - hole.opened_at).unwrap_or(u32::MAX),
            bytes: between.saturating_sub(lower),
            late_ns: now - hole.opened_ns,
            opener_unsure: hole.opener_unsure,
            label: self.label_in(hole, start.max(hole.start)),
        };
        self.position += 1;
        self.bytes += u64::from(len);
        late
    }

    fn label_in<N>(&self, hole: &Hole<N>, at: i64) -> u64 {
        hole.first_label + (at - hole.start) as u64 / u64::from(self.mss)
    }

    /// Changes the note of the missing bytes in `[from, to)`, splitting holes at its edges: of the lowest ones, where there are very many.
    pub fn annotate(&mut self, from: i64, to: i64, mut change: impl FnMut(&mut T)) {
        let mut next = from;
        for _ in 0..MAX_HOLES_CHANGED {
            let found = self.holes.find_beyond(next).filter(|h| h.1.start < to);
            let Some((spot, hole)) = found else {
                return;
            };
            if hole.start < from {
                self.split((spot, &hole), from);
                continue;
            }
            if hole.end > to {
                self.split((spot, &hole), to);
            }
            if let Some(hole) = self.holes.get_mut(hole.start) {
                change(&mut hole.note);
                next = hole.end;
            }
        }
    }

    /// Takes whatever is still missing of `[from, to)` off the record, telling its notes.
    pub fn clear(&mut self, from: i64, to: i64, mut gone: impl FnMut(&T)) {
        while let Some((spot, hole)) = self.holes.find_beyond(from).filter(|h| h.1.start < to) {
            gone(&hole.note);
            self.cut(spot, &hole, from.max(hole.start), to.min(hole.end));
            if hole.start < from || hole.end > to {
                break;
            }
        }
    }

    /// Makes two of a hole.
    fn split(&mut self, (spot, hole): (Spot, &Hole<T>), at: i64) {
        self.cut(spot, hole, at, at);
    }

    /// Takes `[from, to)` out of the hole at `spot`.
    fn cut(&mut self, spot: Spot, hole: &Hole<T>, from: i64, to: i64) {
        let above = (to < hole.end).then(|| Hole {
            start: to,
            first_label: self.label_in(hole, to),
            ..*hole
        });
        match above {
            _ if from > hole.start => {
                self.holes.set(spot, Hole { end: from, ..*hole });
                if let Some(above) = above {
                    self.remember(above);
                }
            }
            Some(above) => self.holes.set(spot, above),
            None => self.holes.take(spot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEN: u32 = 100;

    /// Feeds packet numbers (each of 100 bytes) and lists (number, extent, bytes) of the late.
    fn late_of(arrivals: &[i64]) -> Vec<(i64, u32, u64)> {
        let mut order = Order::<()>::new(100);
        let mut out = Vec::new();
        for (t, &s) in arrivals.iter().enumerate() {
            if let Arrived::Late(l) = order.arrive(s * 100, LEN, t as i64, false, ()) {
                assert_eq!(
                    l.late_ns,
                    i64::from(l.extent),
                    "positions and times agree here"
                );
                out.push((s, l.extent, l.bytes));
            }
        }
        out
    }

    /// The definitions of RFC 4737 sections 4.2 and 4.4, word by word.
    fn late_by_definition(arrivals: &[i64]) -> Vec<(i64, u32, u64)> {
        let mut next = 1;
        let mut out = Vec::new();
        for (i, &s) in arrivals.iter().enumerate() {
            if s >= next {
                next = s + 1;
                continue;
            }
            let first = arrivals[..i].iter().position(|&o| o > s).unwrap();
            let bytes = arrivals[..i].iter().filter(|&&o| o > s).count() as u64 * 100;
            out.push((s, (i - first) as u32, bytes));
        }
        out
    }

    #[test]
    fn examples_of_rfc_4737() {
        assert_eq!(late_of(&[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]), [(4, 4, 400)]);
        assert_eq!(
            late_of(&[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]),
            [(5, 1, 100), (6, 2, 100)]
        );
        assert_eq!(
            late_of(&[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]),
            [(4, 4, 400), (5, 5, 400), (6, 6, 400)]
        );
    }

    #[test]
    fn the_end_of_the_data_overtakes_as_any_packet_does() {
        let mut order = Order::<()>::new(0);
        let mut arrive = |n: i64, at_ns| match order.arrive(n * 100, LEN, at_ns, false, ()) {
            Arrived::Late(late) => Some((late.extent, late.bytes, late.late_ns)),
            _ => None,
        };
        assert_eq!((arrive(0, 0), arrive(2, 1)), (None, None));
        order.end_arrives(400, 2, ());
        let mut arrive = |n: i64, at_ns| match order.arrive(n * 100, LEN, at_ns, false, ()) {
            Arrived::Late(late) => Some((late.extent, late.bytes, late.late_ns)),
            _ => None,
        };
        // Behind the third packet and the end; behind the end and the second.
        assert_eq!(arrive(1, 3), Some((2, 100, 2)));
        assert_eq!(arrive(3, 4), Some((2, 0, 2)));
    }

    /// Every second byte is missing, and segments of 60,000 bytes come, each a byte further.
    #[test]
    fn a_bounded_number_of_holes_is_changed_for_one_segment() {
        let mut order = Order::<u32>::new(0);
        for start in 0..8_000 {
            order.arrive(2 * start + 1, 1, start, false, 0);
        }
        let mut changes = 0;
        for from in 0..10 {
            order.annotate(from, from + 60_000, |note| {
                *note += 1;
                changes += 1;
            });
        }
        assert_eq!(changes, 10 * MAX_HOLES_CHANGED);
    }

    proptest! {
        #[test]
        fn agrees_with_the_definitions(
            keys in proptest::collection::vec((0u32..60, 0.0f64..1.0), 1..120),
        ) {
            // Each packet is delayed by its key; some are lost.
            let mut sent: Vec<(u32, i64)> = keys
                .iter()
                .enumerate()
                .filter(|(_, k)| k.1 > 0.1)
                .map(|(i, k)| (i as u32 + k.0, i as i64 + 1))
                .collect();
            sent.sort_unstable();
            let arrivals: Vec<i64> = sent.into_iter().map(|p| p.1).collect();
            prop_assert_eq!(late_of(&arrivals), late_by_definition(&arrivals));
        }
    }
}
