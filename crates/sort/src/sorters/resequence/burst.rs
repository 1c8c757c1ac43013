//! Whole bursts: what comes together and is complete goes up together, in order, and nothing of it is held.
//!
//! A driver's receive call returns an array. Where the packets of it continue their flow without a gap, though in another
//! order, each would be held and let go at one and the same time. Then it is enough to put them in order within the array,
//! and to learn what would have been learnt. All else is pushed one by one.

use super::Resequencer;
use crate::key::FlowKey;
use crate::meta::Meta;
use crate::out::Out;
use crate::place::{MAX_BLOCK_IN_PLACE, Order};
use crate::sorter::Sorter;

/// The first packets of a block that continue their flow without a gap: all places up to their number are taken once.
struct Front {
    packets: usize,
    /// Bit by position: this packet does not continue the one before it. The first of all is not among them.
    jumps: u64,
    /// Where each belongs among them.
    places: [u8; MAX_BLOCK_IN_PLACE],
}

/// Packets of a front that arrived one after another in their order.
struct Run {
    /// Their places: a bit each, the first one's, and the one behind them.
    places: u64,
    first: u64,
    behind: u64,
    packets: u32,
}

impl Front {
    fn places(&self) -> &[u8] {
        self.places.get(..self.packets).unwrap_or_default()
    }

    /// They arrived in order.
    fn as_it_lies(&self) -> bool {
        self.jumps == 0
    }

    /// What arrived in order, in the order of arrival.
    fn runs(&self) -> impl Iterator<Item = Run> {
        let mut starts = self.jumps | 1;
        core::iter::from_fn(move || {
            let start = starts.trailing_zeros();
            let place = *self.places().get(start as usize)?;
            starts &= starts - 1;
            let packets = starts.trailing_zeros().min(self.packets as u32) - start;
            let first = 1u64 << place;
            let places = (u64::MAX >> (u64::BITS - packets)) << place;
            Some(Run {
                places,
                first,
                behind: places.wrapping_add(first), // Nothing, behind the last place of all.
                packets,
            })
        })
    }
}

/// What all packets of a front have in common.
#[derive(Clone, Copy)]
struct Course<K> {
    flow: K,
    /// Where the flow goes on, and how long each packet is.
    next: u32,
    len: u32,
}

impl<K: FlowKey> Course<K> {
    /// Looks for the front of a block of at most [`MAX_BLOCK_IN_PLACE`] packets.
    #[inline]
    fn front<T>(&self, block: &[T], meta: &impl Fn(&T) -> Meta<K>) -> Front {
        let mut places = [0; MAX_BLOCK_IN_PLACE];
        let (mut taken, mut top) = (0u64, 0);
        let (mut jumps, mut packets) = (0u64, 0);
        let (mut expected, mut after) = (self.next, 0);
        for ((t, slot), at) in block.iter().zip(&mut places).zip(0..) {
            let facts = meta(t);
            if !(facts.is_suitable() && facts.len == self.len && facts.flow == self.flow) {
                break;
            }
            // Most packets follow the one before: a division takes longer than all else here.
            let mut place = after;
            if facts.seq != expected {
                place = self.place(facts.seq);
                jumps |= 1 << at;
            }
            let Some(bit) = 1u64.checked_shl(place).filter(|bit| taken & bit == 0) else {
                break;
            };
            taken |= bit;
            *slot = place as u8;
            top = top.max(place);
            (expected, after) = (facts.seq.wrapping_add(self.len), place + 1);
            // No place is taken twice, so that none below the highest is left.
            if top == at {
                packets = at as usize + 1;
            }
        }
        let of_them = u64::MAX.checked_shr(u64::BITS - packets as u32);
        Front {
            packets,
            jumps: jumps & of_them.unwrap_or(0) & !1,
            places,
        }
    }

    /// The place of a number; of one that has none, a place that does not exist.
    #[inline]
    fn place(&self, seq: u32) -> u32 {
        let above = seq.wrapping_sub(self.next);
        match above.checked_rem(self.len) {
            Some(0) => above / self.len,
            _ => u32::MAX,
        }
    }

    /// Where the flow goes on after this number of packets.
    fn after(&self, packets: u32) -> u32 {
        self.next.wrapping_add(self.len.wrapping_mul(packets))
    }
}

impl<K: FlowKey, P> Resequencer<K, P> {
    /// A burst arrives.
    #[inline]
    pub(super) fn take_whole<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut impl Out<P>,
    ) {
        let mut rest = burst;
        while let Some((first, others)) = rest.split_first() {
            let block = rest.get(..MAX_BLOCK_IN_PLACE).unwrap_or(rest);
            let packets = self.take_front(&meta(first), block, meta, packet, now_ns, out);
            if packets == 0 {
                self.push(&meta(first), packet(first), now_ns, &mut |p| out.one(p));
                rest = others;
            } else {
                rest = rest.get(packets..).unwrap_or_default();
            }
        }
    }

    /// Delivers the front of a block, whose first packet is `first`; how many packets it was.
    #[inline]
    fn take_front<'b, T>(
        &mut self,
        first: &Meta<K>,
        block: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        now_ns: i64,
        out: &mut impl Out<P>,
    ) -> usize {
        let Some((at, next)) = self.calm(first) else {
            return 0;
        };
        if let Some(next) = in_order(first, next, block, meta) {
            out.block(block, Order::default(), |_| 0, packet);
            self.went_on(at, block.len(), next);
            return block.len();
        }
        let course = Course {
            flow: first.flow,
            next,
            len: first.len,
        };
        let front = course.front(block, meta);
        if !front.as_it_lies() && !self.would_hold(at, now_ns) {
            return 0;
        }
        let Some(block) = block.get(..front.packets).filter(|block| !block.is_empty()) else {
            return 0;
        };
        out.placed(block, front.places(), packet);
        if !front.as_it_lies() {
            self.learn_front(at, &course, &front, now_ns);
        }
        self.went_on(at, block.len(), course.after(block.len() as u32));
        block.len()
    }

    /// The place of a flow of which nothing waits, and where it goes on, if it is the one that was found last.
    #[inline]
    fn calm(&mut self, first: &Meta<K>) -> Option<(usize, u32)> {
        let (at, flow) = self.flows.found_last(first.flow)?;
        let is_calm = first.is_suitable() && flow.chain.is_empty() && flow.opened_ns.is_none();
        is_calm.then_some((at, flow.next))
    }

    /// What is out of order would be held until the gap fills, at this very time: there is room, it is worth it, and nothing
    /// else is due.
    fn would_hold(&mut self, at: usize, now_ns: i64) -> bool {
        let room = self.held.capacity().div_ceil(2);
        let free = self.held.capacity() - self.held.packets();
        let is_due = self
            .next_deadline_ns()
            .is_some_and(|due_ns| due_ns <= now_ns);
        room.min(free) >= MAX_BLOCK_IN_PLACE && !is_due && self.bound_ns(at) > 0
    }

    /// What pushing the packets of a front one by one would have taught. Of a run only its two ends meet a gap.
    fn learn_front(&mut self, at: usize, course: &Course<K>, front: &Front, now_ns: i64) {
        let Some(experience) = self.experience(at) else {
            return;
        };
        let mut lessons = experience.at_once(now_ns);
        let (mut taken, mut opened, mut filled) = (0u64, 0, 0);
        for run in front.runs() {
            let up = taken.trailing_ones();
            let is_above = taken & run.behind != 0;
            let is_next = run.first.trailing_zeros() == up;
            let is_below = taken & (run.first >> 1) != 0;
            let below = (taken & (run.first - 1)).unbounded_shr(up);
            let held = taken.unbounded_shr(up) != 0;
            taken |= run.places;
            if is_next {
                if is_above {
                    filled += 1;
                    lessons.filled();
                    let is_rest = taken.unbounded_shr(taken.trailing_ones()) != 0;
                    if is_rest {
                        lessons.consult();
                    }
                }
                continue;
            }
            if !held {
                lessons.gap(course.after(up), course.len);
            }
            // It is the lowest that waits.
            if below == 0 {
                lessons.consult();
            }
            let is_one = run.packets == 1;
            if !is_below && (!is_one || !is_above) {
                opened += 1;
            }
            if is_above && (is_below || !is_one) {
                filled += 1;
                lessons.filled();
            }
        }
        lessons.learn();
        self.gaps.opened += opened;
        self.gaps.filled += filled;
    }

    /// This number of packets of the flow at `at` has gone up, up to `next`.
    #[inline]
    fn went_on(&mut self, at: usize, packets: usize, next: u32) {
        self.counters.suitable += packets as u64;
        let clock = self.counters.suitable;
        if let Some(flow) = self.flows.used(at, clock) {
            flow.next = next;
            flow.behind = 0;
        }
    }
}

/// Where the flow goes on if all packets of a block continue it in order, from `next` on.
#[inline]
fn in_order<K: FlowKey, T>(
    first: &Meta<K>,
    mut next: u32,
    block: &[T],
    meta: &impl Fn(&T) -> Meta<K>,
) -> Option<u32> {
    // A few packets are looked at first: when flows alternate, or the order is not kept, one of them soon differs.
    let quarter = block.len() / 4;
    let probes = [1, quarter, 2 * quarter, 3 * quarter, block.len() - 1];
    let probed = |&at: &usize| {
        let facts = meta(block.get(at)?);
        let due = first.seq.wrapping_add(first.len.wrapping_mul(at as u32));
        Some(facts.seq == due && facts.flow == first.flow)
    };
    if first.seq != next || !probes.iter().filter_map(probed).all(|fits| fits) {
        return None;
    }
    let mut fits = true;
    let flows = block.iter().map(|t| {
        let facts = meta(t);
        fits &= facts.is_suitable() & (facts.seq == next);
        next = next.wrapping_add(facts.len);
        facts.flow
    });
    (first.flow.is_all_of(flows) && fits).then_some(next)
}
