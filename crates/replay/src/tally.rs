//! What sorting changed: reordering before and after, and the added delay.

use std::collections::HashMap;

use inorder_metrics::{Arrival, Order, OrderCounts, Reordering, Unwrapper};
use inorder_sort::Counters;

use crate::classify::{Flow, Placed};

/// Gaps remembered for each flow. A missing TCP segment leaves one gap. A segment whose gap has been forgotten is
/// counted as a copy.
const MAX_HOLES: usize = 512;

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
    flows: HashMap<Flow, (Unwrapper, Order)>,
    /// Extents and late times over all flows.
    found: Reordering,
}

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
        let known = self.flows.get_mut(&packet.flow);
        let (unwrapper, order) = match known {
            Some(flow) => flow,
            None => {
                let Some(unwrapper) = Unwrapper::new(packet.bits) else {
                    return;
                };
                let order = Order::with_limits(MAX_HOLES, None);
                self.flows.entry(packet.flow).or_insert((unwrapper, order))
            }
        };
        let number = unwrapper.extend(packet.number);
        if let Arrival::Reordered(late) = order.update(number, now_ns, packet.bytes) {
            self.found.extents.update(late.extent);
            self.found
                .late_ns
                .update(late.late_ns.max(0).cast_unsigned());
        }
    }

    fn sum(&self) -> Reordering {
        let counts = || self.flows.values().map(|(_, order)| order.counts());
        let sum = |of: fn(&OrderCounts) -> u64| counts().map(of).sum();
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
