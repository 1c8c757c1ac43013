//! What sorting changed: reordering before and after, and the added delay.

use std::collections::HashMap;

use inorder_metrics::{Arrival, Order, OrderCounts, Reordering, Unwrapper};
use inorder_sort::Counters;

use crate::classify::{Flow, Placed};

/// Gaps remembered for each flow. A missing TCP segment leaves one gap. A segment whose gap has been forgotten is
/// counted as a copy.
const MAX_HOLES: usize = 512;

/// Minimum number of flows that are followed, and half of the maximum. A flow that comes again behind 65,536 others begins anew: its first packet is in
/// order.
const MAX_FLOWS: usize = 1 << 16;

/// Counts frames as they arrive and as they are delivered.
#[derive(Default)]
pub(crate) struct Tally {
    before: Orders,
    after: Orders,
    frames: u64,
    batches: u64,
    batch_max: u64,
    delay_sum_ns: u128,
    delay_max_ns: u64,
}

/// The order of every flow at one side of the sorter.
#[derive(Default)]
struct Orders {
    /// Those with the last packets.
    recent: Flows,
    /// Those with the last packets before: they become recent again with their next one, or are forgotten when there are as many recent ones.
    older: Flows,
    /// Packets of flows that were forgotten, and those of them that were reordered.
    forgotten: OrderCounts,
    /// Extents and late times over all flows.
    found: Reordering,
}

type Flows = HashMap<Flow, (Unwrapper, Order)>;

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Frames read.
    pub frames: u64,
    /// Frames that could be sorted.
    pub sortable: u64,
    /// Batches the card delivered.
    pub batches: u64,
    /// Frames in the largest batch.
    pub batch_max: u64,
    /// Order of the frames as they arrived.
    pub before: Reordering,
    /// Order of the frames as they were delivered.
    pub after: Reordering,
    /// Mean delay added to a frame, nanoseconds.
    pub delay_mean_ns: f64,
    /// Largest delay added to a frame, nanoseconds.
    pub delay_max_ns: u64,
}

impl Tally {
    pub(crate) fn arrived(&mut self, placed: Option<&Placed>, now_ns: i64) {
        self.frames += 1;
        self.before.update(placed, now_ns);
    }

    pub(crate) fn delivered(&mut self, placed: Option<&Placed>, arrived_ns: i64, now_ns: i64) {
        self.after.update(placed, now_ns);
        let delay_ns = u64::try_from(now_ns.saturating_sub(arrived_ns)).unwrap_or(0);
        self.delay_sum_ns += u128::from(delay_ns);
        self.delay_max_ns = self.delay_max_ns.max(delay_ns);
    }

    pub(crate) fn batch(&mut self, frames: u64) {
        self.batches += 1;
        self.batch_max = self.batch_max.max(frames);
    }

    pub(crate) fn summary(&self, sorter: &Counters) -> Summary {
        Summary {
            frames: self.frames,
            sortable: sorter.suitable,
            batches: self.batches,
            batch_max: self.batch_max,
            before: self.before.sum(),
            after: self.after.sum(),
            delay_mean_ns: self.delay_sum_ns as f64 / self.frames.max(1) as f64,
            delay_max_ns: self.delay_max_ns,
        }
    }
}

impl Orders {
    fn update(&mut self, placed: Option<&Placed>, now_ns: i64) {
        let Some(packet) = placed else { return };
        if !self.recent.contains_key(&packet.flow) {
            self.follow(packet);
        }
        let Some((unwrapper, order)) = self.recent.get_mut(&packet.flow) else {
            return;
        };
        let number = unwrapper.extend(packet.number);
        if let Arrival::Reordered(late) = order.update(number, now_ns, packet.bytes) {
            self.found.extents.update(late.extent);
            self.found
                .late_ns
                .update(late.late_ns.max(0).cast_unsigned());
        }
    }

    /// The packet's flow becomes one of the recent ones.
    fn follow(&mut self, packet: &Placed) {
        let new = || {
            Some((
                Unwrapper::new(packet.bits)?,
                Order::with_limits(MAX_HOLES, None),
            ))
        };
        let Some(flow) = self.older.remove(&packet.flow).or_else(new) else {
            return;
        };
        if self.recent.len() >= MAX_FLOWS {
            let forgotten = std::mem::replace(&mut self.older, std::mem::take(&mut self.recent));
            for (_, order) in forgotten.values() {
                self.forgotten.received += order.counts().received;
                self.forgotten.reordered += order.counts().reordered;
            }
        }
        self.recent.insert(packet.flow, flow);
    }

    fn sum(&self) -> Reordering {
        let flows = || self.recent.values().chain(self.older.values());
        let counts = || flows().map(|(_, order)| order.counts());
        let sum = |of: fn(&OrderCounts) -> u64| of(&self.forgotten) + counts().map(of).sum::<u64>();
        Reordering {
            received: sum(|c| c.received),
            reordered: sum(|c| c.reordered),
            ..self.found.clone()
        }
    }
}

impl Summary {
    /// Mean number of frames in a batch.
    pub(crate) fn batch_mean(&self) -> f64 {
        self.frames as f64 / self.batches.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use inorder_wire::{Endpoint, FlowKey};

    use super::*;

    fn packet(flow: u32, number: u64) -> Placed {
        let (key, dir) = FlowKey::new(Endpoint::v4(flow, 10), Endpoint::v4(u32::MAX, 20), 0);
        Placed {
            flow: Flow::Tcp(key, dir),
            number,
            bits: 32,
            bytes: 100,
        }
    }

    /// A scan of many flows, during which one flow goes on, with every tenth packet late.
    #[test]
    fn a_bounded_number_of_flows_is_followed_and_all_packets_are_counted() {
        let mut orders = Orders::default();
        let (mut packets, mut late) = (0, 0);
        for flow in 0..3 * MAX_FLOWS as u32 {
            orders.update(Some(&packet(flow, 7)), 0);
            packets += 1;
            if flow % 1_000 == 0 {
                let n = u64::from(flow / 1_000);
                let is_late = n % 10 == 9;
                let number = 1_000 + 10 * n - if is_late { 15 } else { 0 };
                orders.update(Some(&packet(u32::MAX - 1, number)), 0);
                packets += 1;
                late += u64::from(is_late);
            }
        }
        assert!(orders.recent.len() <= MAX_FLOWS && orders.older.len() <= MAX_FLOWS);
        let sum = orders.sum();
        assert_eq!((sum.received, sum.reordered), (packets, late));
    }
}
