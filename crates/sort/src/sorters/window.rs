//! A reordering window: holds what stands behind a gap, until the gap fills or a time-out.
//!
//! What is in order passes at once, so on a path that keeps the order this sorter costs a look-up
//! and nothing waits. A packet above a gap waits until the missing ones have come, at most for
//! `HOLD`, counted from its own arrival: then all gaps below it are given up, and what is
//! missing passes at once, late, should it still come. Retransmissions and copies below what was
//! delivered pass at once, too. This is the reorder buffer of packet-spraying forwarders and, one
//! for each flow, the reordering function of 3GPP TS 38.323 (section 5.2.2.2, t-Reordering).
//!
//! Held packets are bounded: when there is no room, the flow with the oldest one gives up its
//! first gap. So are flows: when all places of a flow's hash are taken by flows that hold
//! something, a new flow is not followed and its packets pass as they come.

use alloc::vec::Vec;

use super::config::{ConfigError, Entry, Setting, SorterConfig, Surroundings};
use crate::key::FlowKey;
use crate::meta::{Kind, Meta};
use crate::sorter::{Counters, Sorter};

/// What the registry says of it.
pub const ENTRY: Entry = Entry::new(
    "window",
    "holds what stands behind a gap in its flow, until the gap fills or a time-out",
    "3GPP TS 38.323 section 5.2.2.2 (t-Reordering), for each flow; DPDK rte_reorder",
    &[HOLD, WINDOW],
);

/// How long a packet waits for those missing before it.
pub(crate) const HOLD: Setting = Setting::time(
    "hold",
    "How long a packet waits at most for what is missing before it.",
    (1, 10_000_000_000),
    300_000,
);

/// Packets held, of all flows together.
pub const WINDOW: Setting = Setting::packets(
    "window",
    "Packets held at most, of all flows together.",
    (1, 1 << 24),
    1024,
);

/// No slot.
const NIL: u32 = u32::MAX;

/// Places that flows with one hash share.
const WAYS: usize = 8;

/// A held packet. Slots are chained twice: in the order of the flow, and by age over all flows.
struct Slot<P> {
    packet: Option<P>,
    seq: u32,
    /// Where the packet after it begins.
    end: u32,
    /// Index of its flow.
    flow: u32,
    since_ns: i64,
    below: u32,
    /// Of a free slot, the next free one.
    above: u32,
    older: u32,
    newer: u32,
}

struct Flow<K> {
    key: K,
    /// Where the next packet in order begins.
    next: u32,
    /// Its held packets with the lowest and the highest number.
    lowest: u32,
    highest: u32,
    /// Packets pushed when it was last looked at: the flow with the least gives way.
    used: u64,
}

/// Why a packet that waited was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Why {
    Filled,
    TimedOut,
    Overflowed,
    Flushed,
}

/// What became of the packets that waited. All that ever did are these and those held now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Waited {
    /// Delivered since nothing was missing before them any longer.
    pub filled: u64,
    /// Delivered since they, or one above them, had waited long enough.
    pub timed_out: u64,
    /// Delivered to make room for another.
    pub overflowed: u64,
    /// Delivered ahead of a packet of their flow that must not wait, or by [`Sorter::flush`].
    pub flushed: u64,
}

/// The sorter; see the module's text.
pub struct Window<K, P> {
    hold_ns: i64,
    slots: Vec<Slot<P>>,
    /// The first free slot, the oldest and the newest held packet.
    free: u32,
    oldest: u32,
    newest: u32,
    held: usize,
    /// Sets of [`WAYS`] places.
    flows: Vec<Option<Flow<K>>>,
    hash_seed: u64,
    counters: Counters,
    waited: Waited,
}

/// The later of two sequence numbers, which are less than 2^31 apart.
#[inline]
fn later(a: u32, b: u32) -> u32 {
    if (b.wrapping_sub(a) as i32) > 0 { b } else { a }
}

/// Places for this number of flows: whole sets, their number a power of two.
fn places(flows: usize) -> usize {
    flows.div_ceil(WAYS).next_power_of_two() * WAYS
}

impl<K: FlowKey, P> Window<K, P> {
    /// The sorter of a registry's choice.
    pub fn build(config: &SorterConfig, around: &Surroundings) -> Result<Self, ConfigError> {
        let packets = usize::try_from(config.value(&WINDOW)).unwrap_or(usize::MAX);
        let (mut slots, mut flows) = (Vec::new(), Vec::new());
        slots.try_reserve_exact(packets)?;
        slots.extend((1..=packets).map(|next| Slot {
            packet: None,
            seq: 0,
            end: 0,
            flow: 0,
            since_ns: 0,
            below: NIL,
            above: if next < packets { next as u32 } else { NIL },
            older: NIL,
            newer: NIL,
        }));
        flows.try_reserve_exact(places(around.flows))?;
        flows.resize_with(places(around.flows), || None);
        Ok(Window {
            hold_ns: i64::try_from(config.value(&HOLD)).unwrap_or(i64::MAX),
            slots,
            free: 0,
            oldest: NIL,
            newest: NIL,
            held: 0,
            flows,
            hash_seed: around.hash_seed,
            counters: Counters::default(),
            waited: Waited::default(),
        })
    }

    /// Bytes the sorter of a registry's choice takes.
    pub fn footprint(config: &SorterConfig, around: &Surroundings) -> usize {
        let packets = usize::try_from(config.value(&WINDOW)).unwrap_or(usize::MAX);
        Self::bytes(packets, places(around.flows))
    }

    fn bytes(slots: usize, places: usize) -> usize {
        size_of::<Self>() + slots * size_of::<Slot<P>>() + places * size_of::<Option<Flow<K>>>()
    }

    /// What became of the packets that waited.
    pub fn waited(&self) -> Waited {
        self.waited
    }

    /// The places where `key` may be.
    fn set(&self, key: &K) -> core::ops::Range<usize> {
        let sets = self.flows.len() / WAYS;
        let first = (key.hash64(self.hash_seed) >> 32) as usize % sets.max(1) * WAYS;
        first..first + WAYS
    }

    fn find(&self, key: &K) -> Option<usize> {
        let is_it = |at: &usize| matches!(self.flows.get(*at), Some(Some(f)) if f.key == *key);
        self.set(key).find(is_it)
    }

    /// A place for a new flow: a free one, or that of the flow without held packets that was
    /// used longest ago.
    fn vacancy(&self, key: &K) -> Option<usize> {
        let used = |at: &usize| match self.flows.get(*at) {
            Some(None) => Some(0),
            Some(Some(flow)) if flow.lowest == NIL => Some(flow.used),
            _ => None,
        };
        let free = self.set(key).filter_map(|at| Some((used(&at)?, at)));
        free.min().map(|(_, at)| at)
    }

    /// A packet that may be held.
    fn data(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let end = meta.seq.wrapping_add(meta.len);
        let Some(at) = self.find(&meta.flow) else {
            if let Some(at) = self.vacancy(&meta.flow)
                && let Some(place) = self.flows.get_mut(at)
            {
                *place = Some(Flow {
                    key: meta.flow,
                    next: end,
                    lowest: NIL,
                    highest: NIL,
                    used: self.counters.suitable,
                });
            }
            return out(packet);
        };
        while let Some(Some(flow)) = self.flows.get_mut(at) {
            flow.used = self.counters.suitable;
            let gap = meta.seq.wrapping_sub(flow.next) as i32;
            let full = self.free == NIL && gap > 0;
            let victim = self
                .slots
                .get(self.oldest as usize)
                .map(|s| s.flow as usize);
            let lowest = self.slots.get(flow.lowest as usize).map(|slot| slot.seq);
            let is_first = |low: u32| (meta.seq.wrapping_sub(low) as i32) < 0;
            if gap <= 0 || full && victim == Some(at) && lowest.is_some_and(is_first) {
                // In order or late; or the gap that has to give way is the one before it.
                flow.next = later(flow.next, end);
                out(packet);
                return self.release(at, NIL, Why::Filled, out);
            }
            if !full {
                return self.hold(at, meta.seq, end, packet, now_ns);
            }
            let Some(victim) = victim else { break };
            let lowest = self
                .flows
                .get(victim)
                .and_then(Option::as_ref)
                .map(|f| f.lowest);
            self.release(victim, lowest.unwrap_or(NIL), Why::Overflowed, out);
        }
        out(packet);
    }

    /// Puts a packet into the first free slot, which the caller has seen there is.
    fn hold(&mut self, at: usize, seq: u32, end: u32, packet: P, now_ns: i64) {
        let (slot, Some(Some(flow))) = (self.free, self.flows.get_mut(at)) else {
            return;
        };
        let mut below = flow.highest;
        while let Some(other) = self.slots.get(below as usize)
            && (seq.wrapping_sub(other.seq) as i32) < 0
        {
            below = other.below;
        }
        let above = match self.slots.get_mut(below as usize) {
            Some(other) => core::mem::replace(&mut other.above, slot),
            None => core::mem::replace(&mut flow.lowest, slot),
        };
        match self.slots.get_mut(above as usize) {
            Some(other) => other.below = slot,
            None => flow.highest = slot,
        }
        let older = core::mem::replace(&mut self.newest, slot);
        match self.slots.get_mut(older as usize) {
            Some(other) => other.newer = slot,
            None => self.oldest = slot,
        }
        if let Some(place) = self.slots.get_mut(slot as usize) {
            self.free = place.above;
            *place = Slot {
                packet: Some(packet),
                seq,
                end,
                flow: at as u32,
                since_ns: now_ns,
                below,
                above,
                older,
                newer: NIL,
            };
            self.held += 1;
        }
    }

    /// Delivers the held packets of a flow up to slot `until`, gaps or not, and then those in
    /// order. [`NIL`]: only those in order.
    fn release(&mut self, at: usize, mut until: u32, why: Why, out: &mut (impl FnMut(P) + ?Sized)) {
        while let Some(Some(flow)) = self.flows.get_mut(at) {
            let lowest = flow.lowest;
            let Some(slot) = self.slots.get_mut(lowest as usize) else {
                return;
            };
            let in_order = slot.seq.wrapping_sub(flow.next) as i32 <= 0;
            if !in_order && until == NIL {
                return;
            }
            if until == lowest {
                until = NIL;
            }
            flow.next = if in_order {
                later(flow.next, slot.end)
            } else {
                slot.end
            };
            flow.lowest = slot.above;
            if flow.lowest == NIL {
                flow.highest = NIL;
            }
            let packet = slot.packet.take();
            self.free_slot(lowest);
            let waited = &mut self.waited;
            *match why {
                Why::Filled => &mut waited.filled,
                Why::TimedOut => &mut waited.timed_out,
                Why::Overflowed => &mut waited.overflowed,
                Why::Flushed => &mut waited.flushed,
            } += 1;
            packet.into_iter().for_each(&mut *out);
        }
    }

    /// Takes a slot, the lowest of its flow, out of both chains.
    fn free_slot(&mut self, at: u32) {
        let Some(slot) = self.slots.get_mut(at as usize) else {
            return;
        };
        let (above, older, newer) = (slot.above, slot.older, slot.newer);
        slot.above = core::mem::replace(&mut self.free, at);
        if let Some(slot) = self.slots.get_mut(above as usize) {
            slot.below = NIL;
        }
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
        self.held -= 1;
    }

    /// A packet that must not wait. What is held of its flow goes before it, unless it only
    /// acknowledges: data and acknowledgements of one direction have no order among themselves.
    fn unsuitable(&mut self, meta: &Meta<K>, out: &mut (impl FnMut(P) + ?Sized)) {
        if meta.kind == Kind::Ack {
            return;
        }
        let Some(at) = self.find(&meta.flow) else {
            return;
        };
        let highest = self
            .flows
            .get(at)
            .and_then(Option::as_ref)
            .map(|f| f.highest);
        self.release(at, highest.unwrap_or(NIL), Why::Flushed, out);
        if let Some(place) = self.flows.get_mut(at) {
            match place {
                // It carried data, too: what follows it is in order.
                Some(flow) if meta.kind == Kind::Other && meta.len > 0 => {
                    flow.next = later(flow.next, meta.seq.wrapping_add(meta.len));
                }
                _ => *place = None,
            }
        }
    }
}

impl<K: FlowKey, P> Sorter<K, P> for Window<K, P> {
    fn push(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        if meta.is_suitable() {
            self.counters.suitable += 1;
            self.data(meta, packet, now_ns, out);
        } else {
            self.counters.unsuitable += 1;
            self.unsuitable(meta, out);
            out(packet);
        }
    }

    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        self.counters.batches += 1;
        self.on_deadline(now_ns, out);
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        let oldest = self.slots.get(self.oldest as usize)?;
        Some(oldest.since_ns.saturating_add(self.hold_ns))
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while let Some(slot) = self.slots.get(self.oldest as usize)
            && slot.since_ns.saturating_add(self.hold_ns) <= now_ns
        {
            self.release(slot.flow as usize, self.oldest, Why::TimedOut, out);
        }
    }

    fn flush(&mut self, _now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        while let Some(slot) = self.slots.get(self.oldest as usize) {
            let at = slot.flow as usize;
            let highest = self
                .flows
                .get(at)
                .and_then(Option::as_ref)
                .map(|f| f.highest);
            self.release(at, highest.unwrap_or(NIL), Why::Flushed, out);
        }
    }

    fn hold_ns(&self, _flow: K) -> Option<i64> {
        Some(self.hold_ns)
    }

    fn held(&self) -> usize {
        self.held
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn memory_footprint(&self) -> usize {
        Self::bytes(self.slots.len(), self.flows.len())
    }
}
