//! Sorters by name, laid over the arrivals of a flow packet by packet.
//!
//! The general way: a batch model, the sorter itself and the stack behind it, for any sorter of the
//! registry. SRPIC's usual settings have their own, much quicker way (the rest of this folder);
//! a test holds one against the other.

use std::collections::VecDeque;

use inorder_sort::{AnySorter, Batcher, Meta, Sorter, SorterConfig, Surroundings};

use super::DataArrival;
use super::delivered::Delivered;
use super::receiver::Receiver;
use super::runs::Data;
use crate::result::WhatIf;

/// Packets the receive ring holds, as in the receiver of the SRPIC paper.
const PACKETS_IN_RECEIVE_RING: usize = 512;
/// Coalescing times are taken to be at most this, nanoseconds (18 minutes): sums stay in 64 bits.
const MAX_COALESCE_NS: u64 = 1 << 40;
/// Latest time that counts as a time: what comes a coalescing time later is a number still.
const MAX_TIME_NS: i64 = i64::MAX >> 1;

/// One flow at receivers with sorters by name.
pub(crate) struct NamedReceivers {
    cards: Vec<Card>,
    unsorted: Receiver,
    packets: u64,
    originals: u64,
    now_ns: i64,
}

impl std::fmt::Debug for NamedReceivers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedReceivers").finish_non_exhaustive()
    }
}

/// A packet on its way through a card.
struct Held {
    meta: Meta<u32>,
    data: Data,
    at_ns: i64,
}

/// One sorter behind one coalescing time.
struct Card {
    config: SorterConfig,
    coalesce_ns: u64,
    batcher: Batcher,
    sorter: AnySorter<u32, Held>,
    /// Arrived, their interrupt not yet fired.
    ring: VecDeque<Held>,
    up: Up,
}

/// What reaches the stack, and when.
#[derive(Default)]
struct Up {
    delivered: Delivered,
    delay_sum_ns: u128,
    delay_max_ns: u64,
}

impl Up {
    fn take(&mut self, held: &Held, now_ns: i64) {
        self.delivered.feed(std::slice::from_ref(&held.data));
        let delay_ns = u64::try_from(now_ns.saturating_sub(held.at_ns)).unwrap_or(0);
        self.delay_sum_ns += u128::from(delay_ns);
        self.delay_max_ns = self.delay_max_ns.max(delay_ns);
    }
}

impl Card {
    /// `None` if there is no memory for the sorter or its settings are wrong.
    fn new(config: SorterConfig, coalesce_ns: u64, ring: usize) -> Option<Self> {
        let around = Surroundings {
            flows: 1,
            ..Surroundings::ring(ring)
        };
        let coalesce = coalesce_ns.min(MAX_COALESCE_NS);
        Some(Card {
            config,
            coalesce_ns,
            batcher: Batcher::new(coalesce as i64, ring, 0),
            sorter: config.build(&around).ok()?,
            ring: VecDeque::new(),
            up: Up::default(),
        })
    }

    fn arrive(&mut self, held: Held, una: i64) {
        let now_ns = held.at_ns;
        if let Some(batch) = self.batcher.arrive(now_ns).ended {
            self.end_of_batch(batch.fire_ns);
        }
        self.release(now_ns);
        if self.sorter.held() == 0 && self.ring.is_empty() {
            // Everything acknowledged by now has arrived by now: what is still missing below was
            // not captured.
            self.up.delivered.receiver.acknowledged(una);
        }
        self.ring.push_back(held);
    }

    /// The interrupt comes: the ring goes through the sorter.
    fn end_of_batch(&mut self, fire_ns: i64) {
        self.release(fire_ns);
        let up = &mut self.up;
        for held in self.ring.drain(..) {
            let meta = held.meta;
            let out = &mut |held: Held| up.take(&held, fire_ns);
            self.sorter.push(&meta, held, fire_ns, out);
        }
        let out = &mut |held: Held| up.take(&held, fire_ns);
        self.sorter.end_of_batch(fire_ns, out);
    }

    /// The sorter's deadlines up to `until_ns` come.
    fn release(&mut self, until_ns: i64) {
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|at| *at <= until_ns) {
            let up = &mut self.up;
            let out = &mut |held: Held| up.take(&held, due_ns);
            self.sorter.on_deadline(due_ns, out);
        }
    }

    fn finish(&mut self) {
        if let Some(batch) = self.batcher.finish() {
            self.end_of_batch(batch.fire_ns);
        }
        self.release(i64::MAX);
    }
}

impl NamedReceivers {
    /// A card for each sorter and coalescing time, in this order.
    pub(crate) fn new(sorters: &[SorterConfig], coalesce_ns: &[u64]) -> Self {
        Self::with_ring(sorters, coalesce_ns, PACKETS_IN_RECEIVE_RING)
    }

    pub(super) fn with_ring(sorters: &[SorterConfig], coalesce_ns: &[u64], ring: usize) -> Self {
        let cards = sorters
            .iter()
            .flat_map(|sorter| coalesce_ns.iter().map(move |ns| (*sorter, *ns)));
        NamedReceivers {
            cards: cards
                .filter_map(|(sorter, ns)| Card::new(sorter, ns, ring))
                .collect(),
            unsorted: Receiver::default(),
            packets: 0,
            originals: 0,
            now_ns: i64::MIN,
        }
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    pub(crate) fn push(&mut self, arrival: &DataArrival, una: i64) {
        // Time that runs backwards, as in some captures, counts as standing still.
        self.now_ns = arrival.ts_ns.min(MAX_TIME_NS).max(self.now_ns);
        let data = Data {
            start: arrival.offset,
            len: arrival.len,
            retransmission: arrival.retransmission,
            count: 1,
        };
        self.packets += 1;
        self.originals += u64::from(!arrival.retransmission);
        self.unsorted.acknowledged(una);
        self.unsorted.deliver(&data);
        // Sequence numbers wrap as they do on the wire.
        let meta = match arrival.suitable {
            true => Meta::data(0, arrival.offset as u32, arrival.len),
            false => Meta::unsuitable(0),
        };
        for card in &mut self.cards {
            let held = Held {
                meta,
                data,
                at_ns: self.now_ns,
            };
            card.arrive(held, una);
        }
    }

    /// The result of every sorter and, within it, every coalescing time.
    pub(crate) fn finish(mut self) -> Vec<WhatIf> {
        let (packets, originals) = (self.packets.max(1), self.originals.max(1));
        let unsorted = self.unsorted.dupacks;
        let result = |card: &mut Card| {
            card.finish();
            let counts = card.up.delivered.counts();
            let mean_ns = card.up.delay_sum_ns / u128::from(packets);
            WhatIf {
                sorter: Some(card.config),
                block_size: 0,
                coalesce_ns: card.coalesce_ns,
                reordered: counts.reordered,
                reordered_ratio: counts.reordered as f64 / originals as f64,
                max_extent: u32::try_from(counts.max_extent).unwrap_or(u32::MAX),
                dupacks_saved: unsorted.saturating_sub(counts.dupacks),
                mean_added_delay_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
                max_added_delay_ns: card.up.delay_max_ns,
            }
        };
        self.cards.iter_mut().map(result).collect()
    }
}
