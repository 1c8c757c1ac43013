//! Acknowledgements back in the order the receiver emitted them.
//!
//! The path back reorders too, and an inference from ACKs in the wrong order is wrong. Where the
//! receiver's IPv4 identification counts, it gives the order and tells which ACKs are missing;
//! otherwise cumulative ACK and TSval do, and what they list first.

use std::collections::VecDeque;

use inorder_wire::{Has, Segment};

/// ACKs held back at most while one before them may still come.
const MAX_ACKS_HELD: usize = 4_096;
/// Give up waiting for a missing one after this long.
const MAX_WAIT_FOR_ACK_NS: i64 = 50_000_000;
/// Steps larger than this are no counter's.
const MAX_ID_STEP: i32 = 4_096;
/// Without an identification nothing says that one is missing, so all wait alike: this many
/// and this long.
const MAX_ACKS_HELD_WITHOUT_ID: usize = 24;
const MAX_WAIT_WITHOUT_ID_NS: i64 = 5_000_000;

/// An acknowledgement in emission order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) seg: Segment,
    /// Packets of the receiver missing just before this one, as far as can be known.
    pub(crate) missing: u32,
    /// Emitted before one that has been handed out already.
    pub(crate) stale: bool,
}

impl Ack {
    /// In its turn, with none missing before it.
    #[inline]
    pub(crate) fn of(seg: &Segment) -> Self {
        Ack {
            seg: *seg,
            missing: 0,
            stale: false,
        }
    }
}

/// SACK blocks that an ACK has room for beside timestamps, and without (RFC 2018 section 3).
const BLOCKS_BESIDE_TIMESTAMPS: u8 = 3;
const BLOCKS: u8 = 4;

/// What orders ACKs without an identification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Key {
    ack: i64,
    tsval: i64,
    edge: i64,
    bytes: u64,
    /// The ranges above a hole that it lists.
    ranges: [(u32, u32); 4],
    listed: u8,
    /// It has no room for more.
    full: bool,
    /// A duplicate took the room of a range: what it does not list says nothing.
    lacks: bool,
    /// Some of the ranges were cut off, and the others are left out: they say nothing of the order.
    cut: bool,
}

#[derive(Debug)]
struct Held {
    order: i64,
    key: Key,
    seg: Segment,
}

/// The queue. Feed every packet of the receiver's direction, take ACKs out in order.
#[derive(Debug, Default)]
pub(crate) struct AckQueue {
    held: VecDeque<Held>,
    by_id: bool,
    last_id: Option<u16>,
    next_id: Option<i64>,
    last_key: Option<Key>,
    base: Option<Segment>,
    pub(crate) seen: u64,
    pub(crate) reordered: u64,
    pub(crate) missing: u64,
}

heap!(AckQueue: held);

impl AckQueue {
    /// The common case of [`AckQueue::push`]: takes `seg` if it is next by the identification and
    /// none is held. True if so; it is not handed out then, for the caller has it.
    #[inline]
    pub(crate) fn passes(&mut self, seg: &Segment, by_id: bool) -> bool {
        let Some(next) = self.next_id.filter(|_| self.by_id && by_id) else {
            return false;
        };
        let passes = seg.has(Has::IP_ID) && seg.ip_id == next as u16 && self.held.is_empty();
        if passes {
            self.seen += 1;
            self.next_id = Some(next + 1);
        }
        passes
    }

    /// Takes `seg`, captured just now; `by_id` says the identification counts. ACKs whose turn
    /// has come go to `out`.
    #[inline]
    pub(crate) fn push(&mut self, seg: &Segment, by_id: bool, mut out: impl FnMut(Ack)) {
        self.seen += 1;
        let by_id = by_id && seg.has(Has::IP_ID);
        if by_id != self.by_id {
            // What was held under the other rule goes first.
            self.flush(&mut out);
            self.by_id = by_id;
            self.next_id = by_id
                .then_some(self.last_id)
                .flatten()
                .map(|id| i64::from(id) + 1);
        }
        if by_id {
            self.push_by_id(seg, &mut out);
        } else {
            if seg.has(Has::IP_ID) {
                self.last_id = Some(seg.ip_id);
            }
            self.push_by_content(seg, &mut out);
        }
    }

    /// `seg` acknowledges more than all before, so it was sent last, whatever its identification: where that is lower than another, the host has
    /// begun to count anew.
    pub(crate) fn newest(&mut self, seg: &Segment, out: impl FnMut(Ack)) {
        let Some(next) = self.next_id.filter(|_| self.by_id) else {
            return;
        };
        let number = next + i64::from(seg.ip_id.wrapping_sub(next as u16) as i16);
        let overtaken = self.held.back().is_some_and(|held| held.order > number);
        if seg.ip_id != 0 && (number < next || overtaken) {
            self.flush(out);
            self.next_id = Some(number);
        }
    }

    fn push_by_id(&mut self, seg: &Segment, out: &mut impl FnMut(Ack)) {
        let Some(next) = self.next_id else {
            self.next_id = Some(i64::from(seg.ip_id) + 1);
            out(Ack::of(seg));
            return;
        };
        let step = seg.ip_id.wrapping_sub(next as u16) as i16;
        if seg.ip_id == 0 && i32::from(step).abs() > MAX_ID_STEP {
            // Linux sends SYN-ACKs and the ACKs of closed sockets without an identification.
            while let Some(held) = self.held.pop_front() {
                let missing = self.next_id.map_or(0, |n| (held.order - n).max(0));
                self.hand_out_by_id(&held, missing, out);
            }
            out(Ack::of(seg));
            return;
        }
        let id = next + i64::from(step);
        if id == next {
            self.next_id = Some(next + 1);
            out(Ack::of(&self.no_later_than(0, seg)));
            if !self.held.is_empty() {
                self.reordered += 1; // Others had overtaken it.
                self.release_by_id(seg.ts_ns, out);
            }
            return;
        }
        if id < next {
            // It was given up, or is a copy.
            self.reordered += 1;
            self.missing = self.missing.saturating_sub(1);
            out(Ack {
                seg: *seg,
                missing: 0,
                stale: true,
            });
            return;
        }
        let place = self.held.partition_point(|h| h.order <= id);
        if place < self.held.len() {
            self.reordered += 1;
        }
        self.held.insert(
            place,
            Held {
                order: id,
                key: Key::none(),
                seg: self.no_later_than(place, seg),
            },
        );
        self.release_by_id(seg.ts_ns, out);
    }

    /// `seg` with a time no later than that of the ACK held at `place`, which was sent after it. What delayed an ACK on the
    /// way back tells nothing of when data arrived.
    fn no_later_than(&self, place: usize, seg: &Segment) -> Segment {
        let after = self.held.get(place).map_or(seg.ts_ns, |h| h.seg.ts_ns);
        Segment {
            ts_ns: seg.ts_ns.min(after),
            ..*seg
        }
    }

    fn release_by_id(&mut self, now: i64, out: &mut impl FnMut(Ack)) {
        while let Some(front) = self.held.front() {
            let next = self.next_id.unwrap_or(front.order);
            let overdue =
                self.held.len() > MAX_ACKS_HELD || now - front.seg.ts_ns > MAX_WAIT_FOR_ACK_NS;
            if front.order > next && !overdue {
                return;
            }
            let missing = (front.order - next).max(0);
            if let Some(held) = self.held.pop_front() {
                self.hand_out_by_id(&held, missing, out);
            }
        }
    }

    fn hand_out_by_id(&mut self, held: &Held, missing: i64, out: &mut impl FnMut(Ack)) {
        self.missing += missing as u64;
        self.next_id = Some(held.order + 1);
        out(Ack {
            seg: held.seg,
            missing: missing as u32,
            stale: false,
        });
    }

    fn push_by_content(&mut self, seg: &Segment, out: &mut impl FnMut(Ack)) {
        let base = *self.base.get_or_insert(*seg);
        let key = Key::of(seg, &base);
        let place = self.place_of(&key);
        if place < self.held.len() {
            self.reordered += 1;
        }
        let held = Held {
            order: 0,
            key,
            seg: self.no_later_than(place, seg),
        };
        if place == self.held.len() {
            self.held.push_back(held); // As usual; an insertion at the end takes three times as long.
        } else {
            self.held.insert(place, held);
        }
        while let Some(front) = self.held.front() {
            let aged = seg.ts_ns - front.seg.ts_ns > MAX_WAIT_WITHOUT_ID_NS;
            let due = (aged && self.held.len() > MAX_ACKS_HELD_WITHOUT_ID)
                || self.held.len() > MAX_ACKS_HELD;
            if !due {
                return;
            }
            self.pop_by_content(out);
        }
    }

    /// Where an ACK belongs among those held: behind the last one that it was not sent before. Those are ascending in what they acknowledge
    /// and in their timestamps, so the ones above it in these are not looked at one by one: there may be thousands.
    fn place_of(&self, key: &Key) -> usize {
        let not_above = |h: &Held| h.key.number() <= key.number();
        let end = match self.held.back() {
            Some(last) if !not_above(last) => self.held.partition_point(not_above),
            _ => self.held.len(), // As usual.
        };
        let after = self.held.range(..end).rposition(|h| !key.is_before(&h.key));
        after.map_or(0, |at| at + 1)
    }

    fn pop_by_content(&mut self, out: &mut impl FnMut(Ack)) {
        if let Some(held) = self.held.pop_front() {
            let stale = self.last_key.is_some_and(|last| held.key.is_before(&last));
            if !stale {
                self.last_key = Some(held.key);
            }
            out(Ack {
                seg: held.seg,
                missing: 0,
                stale,
            });
        }
    }

    /// True when the receiver's identification gives the order.
    pub(crate) fn by_id(&self) -> bool {
        self.by_id
    }

    /// Hands out everything that is still held.
    pub(crate) fn flush(&mut self, mut out: impl FnMut(Ack)) {
        while let Some(front) = self.held.front() {
            if self.by_id {
                let missing = self.next_id.map_or(0, |next| (front.order - next).max(0));
                if let Some(held) = self.held.pop_front() {
                    self.hand_out_by_id(&held, missing, &mut out);
                }
            } else {
                self.pop_by_content(&mut out);
            }
        }
    }
}

impl Key {
    fn none() -> Self {
        Key {
            ack: 0,
            tsval: 0,
            edge: 0,
            bytes: 0,
            ranges: [(0, 0); 4],
            listed: 0,
            full: false,
            lacks: false,
            cut: false,
        }
    }

    /// What it acknowledges, and its timestamp.
    fn number(&self) -> (i64, i64) {
        (self.ack, self.tsval)
    }

    /// Was it sent before `other`, as its contents say? The first range holds what has just come, and is reported again, as far as
    /// there is room (RFC 2018 section 4): an ACK that lists the first range of another is the later one of the two. Where neither
    /// does, the bytes tell, if there was no room for more.
    fn is_before(&self, other: &Key) -> bool {
        let (own, others) = (self.number(), other.number());
        if own != others || self.cut || other.cut {
            return own < others;
        }
        let less = (self.edge, self.bytes) < (other.edge, other.bytes);
        match (self.is_known_to(other), other.is_known_to(self)) {
            (true, false) => true,
            (false, true) => false,
            (true, true) if self.lacks => self.edge < other.edge,
            (true, true) => less,
            (false, false) => less && self.full && other.full,
        }
    }

    fn is_known_to(&self, other: &Key) -> bool {
        let no_later = |a: u32, b: u32| b.wrapping_sub(a).cast_signed() >= 0;
        let holds = |a: &(u32, u32), b: &(u32, u32)| no_later(a.0, b.0) && no_later(b.1, a.1);
        let mut others = other.ranges.iter().take(other.listed.into());
        let [first, ..] = &self.ranges;
        self.listed == 0 || others.any(|range| holds(range, first))
    }

    /// Relative to the first ACK seen, so that wraps do not disturb the order.
    fn of(seg: &Segment, base: &Segment) -> Self {
        let far = |n: u32| i64::from(n.wrapping_sub(base.ack) as i32);
        // Some of the blocks say less than all of them, and not in the same order.
        let whole = seg.all_sack_blocks(0) == seg.sack_len;
        let blocks = if whole { held(seg) } else { &[] };
        let room = match seg.has(Has::TIMESTAMPS) {
            true => BLOCKS_BESIDE_TIMESTAMPS,
            false => BLOCKS,
        };
        let duplicate = blocks.len() < usize::from(seg.sack_len);
        let mut key = Key {
            ack: far(seg.ack),
            tsval: i64::from(seg.tsval.wrapping_sub(base.tsval) as i32),
            edge: far(seg.ack),
            full: seg.sack_len >= room,
            lacks: duplicate && seg.sack_len >= room,
            cut: !whole,
            ..Key::none()
        };
        for &(left, right) in blocks {
            if let Some(to) = key.ranges.get_mut(usize::from(key.listed)) {
                *to = (left, right);
                key.listed += 1;
            }
            key.edge = key.edge.max(far(right));
            key.bytes += u64::from(right.wrapping_sub(left));
        }
        key
    }
}

/// The blocks of what the receiver holds: a duplicate (RFC 2883 section 4) comes first, lies below the
/// cumulative ACK or inside the second block, and does not come again in the next ACK.
fn held(seg: &Segment) -> &[(u32, u32)] {
    let blocks = seg.sack_blocks();
    let no_later = |a: u32, b: u32| b.wrapping_sub(a).cast_signed() >= 0;
    let Some((first, rest)) = blocks.split_first() else {
        return blocks;
    };
    let below = no_later(first.1, seg.ack);
    let inside = |b: &(u32, u32)| no_later(b.0, first.0) && no_later(first.1, b.1);
    let duplicate = below || rest.first().is_some_and(inside);
    if duplicate { rest } else { blocks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The straightforward twin looks at each of those held.
        #[test]
        fn an_ack_is_placed_as_if_each_of_those_held_were_looked_at(
            acks in prop::collection::vec((0u32..6, 0u32..3, 0u32..8, 1u32..4), 1..60),
        ) {
            let mut q = AckQueue::default();
            for (number, tsval, left, len) in acks {
                let mut seg = segment!(
                    ack: number * 100, tsval, has: Has::TIMESTAMPS,
                    sack_len: u8::from(left > number)
                );
                seg.sack[0] = (left * 100, (left + len) * 100);
                let key = Key::of(&seg, q.base.get_or_insert(seg));
                let after = q.held.iter().rposition(|h| !key.is_before(&h.key));
                prop_assert_eq!(q.place_of(&key), after.map_or(0, |at| at + 1));
                q.push(&seg, false, |_| ());
            }
        }
    }

    fn ack(ip_id: u16, number: u32) -> Segment {
        segment!(ip_id, ack: number, has: Has::IP_ID, ts_ns: 0)
    }

    /// Identifications that come round within a few hundred numbers, as those of some balancers.
    #[test]
    fn what_acknowledges_more_was_sent_later_whatever_its_number() {
        let mut q = AckQueue::default();
        let mut got = Vec::new();
        for (id, number) in (0xc4eb..0xc831).cycle().zip(0..2_000) {
            let seg = ack(id, number);
            q.newest(&seg, |a| got.push(a.seg.ack));
            q.push(&seg, true, |a| got.push(a.seg.ack));
        }
        assert!(got.into_iter().eq(0..2_000));
        assert_eq!((q.reordered, q.missing), (0, 0));
    }

    #[test]
    fn the_identification_restores_the_order_across_its_wrap_and_counts_what_is_missing() {
        let mut q = AckQueue::default();
        let mut got = Vec::new();
        for (id, number) in [(65_534, 1), (0, 3), (65_535, 2), (3, 6), (1, 4)] {
            q.push(&ack(id, number), true, |a| got.push((a.seg.ack, a.missing)));
        }
        q.flush(|a| got.push((a.seg.ack, a.missing)));
        assert_eq!(got, [(1, 0), (2, 0), (3, 0), (4, 0), (6, 1)]);
        assert_eq!((q.reordered, q.missing), (2, 1));
    }

    #[test]
    fn an_overtaken_ack_counts_when_the_first_that_overtook_it_came() {
        let mut q = AckQueue::default();
        let mut got = Vec::new();
        for (id, at) in [(7, 10), (10, 20), (9, 30), (8, 40), (11, 50)] {
            let seg = Segment {
                ts_ns: at,
                ..ack(id, 0)
            };
            q.push(&seg, true, |a| got.push((a.seg.ip_id, a.seg.ts_ns)));
        }
        assert_eq!(got, [(7, 10), (8, 20), (9, 20), (10, 20), (11, 50)]);
    }

    #[test]
    fn what_passes_is_what_would_be_handed_out_at_once() {
        let ids = [65_534, 65_535, 0, 1, 3, 2, 4, 4, 5, 9, 6, 7, 8, 10];
        let (mut plain, mut quick) = (AckQueue::default(), AckQueue::default());
        let (mut expected, mut got) = (Vec::new(), Vec::new());
        for (id, number) in ids.into_iter().zip(0..) {
            let seg = ack(id, number);
            plain.push(&seg, true, |a| {
                expected.push((a.seg.ack, a.missing, a.stale));
            });
            if quick.passes(&seg, true) {
                got.push((number, 0, false));
            } else {
                quick.push(&seg, true, |a| got.push((a.seg.ack, a.missing, a.stale)));
            }
        }
        assert_eq!(got, expected);
        let counts = |q: &AckQueue| (q.seen, q.reordered, q.missing);
        assert_eq!(counts(&quick), counts(&plain));
    }

    #[test]
    fn a_duplicate_that_is_reported_once_does_not_make_the_next_ack_an_earlier_one() {
        let mut q = AckQueue::default();
        let blocks: [&[(u32, u32)]; 4] = [
            &[(1_500, 1_600), (1_500, 1_700)],
            &[(1_500, 1_700)],
            &[(900, 1_000), (1_500, 1_700)],
            &[(1_500, 1_800)],
        ];
        for (at, blocks) in (0..).zip(blocks) {
            let mut seg = segment!(
                ack: 1_000, ts_ns: at * 20_000_000, sack_len: blocks.len() as u8
            );
            seg.sack[..blocks.len()].copy_from_slice(blocks);
            q.push(&seg, false, |a| assert!(!a.stale));
        }
        q.flush(|a| assert!(!a.stale));
        assert_eq!(q.reordered, 0);
    }

    #[test]
    fn an_ack_without_room_for_all_ranges_is_no_earlier_than_one_that_lists_more_bytes() {
        let mut q = AckQueue::default();
        let ranges: [&[(u32, u32)]; 3] = [
            &[
                (6_200, 6_700),
                (3_500, 6_100),
                (8_200, 8_700),
                (7_600, 8_000),
            ],
            &[
                (6_800, 7_000),
                (6_200, 6_700),
                (3_500, 6_100),
                (8_200, 8_700),
            ],
            &[
                (7_100, 7_300),
                (6_800, 7_000),
                (6_200, 6_700),
                (3_500, 6_100),
            ],
        ];
        for (at, blocks) in (0..).zip(ranges) {
            let mut seg = segment!(ack: 3_400, ts_ns: at * 1_000_000, sack_len: 4);
            seg.sack[..4].copy_from_slice(blocks);
            q.push(&seg, false, |a| assert!(!a.stale));
        }
        let mut times = Vec::new();
        q.flush(|a| times.push(a.seg.ts_ns));
        assert_eq!((times, q.reordered), (vec![0, 1_000_000, 2_000_000], 0));
    }

    #[test]
    fn an_ack_of_which_a_range_was_cut_off_stays_where_it_was_captured() {
        let mut q = AckQueue::default();
        // The second lists two ranges, of which one was captured.
        let whole = segment!(ack: 1_000);
        let cut = segment!(ack: 1_000, ts_ns: 1, has: Has::OPTIONS_CUT).with_all_sack_blocks(2);
        for (mut seg, first) in [(whole, (1_500, 1_600)), (cut, (1_800, 1_900))] {
            (seg.sack[0], seg.sack_len) = (first, 1);
            q.push(&seg, false, |_| ());
        }
        let mut times = Vec::new();
        q.flush(|a| times.push(a.seg.ts_ns));
        assert_eq!((times, q.reordered), (vec![0, 1], 0));
    }

    #[test]
    fn without_it_the_content_does() {
        let mut q = AckQueue::default();
        let mut got = Vec::new();
        for number in [10, 30, 20, 40] {
            let seg = segment!(ack: number);
            q.push(&seg, false, |a| got.push(a.seg.ack));
        }
        q.flush(|a| got.push(a.seg.ack));
        assert_eq!(got, [10, 20, 30, 40]);
        assert_eq!(q.reordered, 1);
    }
}
