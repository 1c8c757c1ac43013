//! Sorters by name, laid over the arrivals of a flow packet by packet.
//!
//! The general way: a batch model, the sorter itself and the stack behind it, for any sorter of the
//! registry. SRPIC's usual settings have their own, much quicker way (the rest of this folder);
//! a test holds one against the other.

use inorder_base::heap::Heap;
use std::sync::Arc;

use inorder_sort::{BatchCard, Kind, Meta, Sorter, SorterConfig, Surroundings};

use crate::DataArrival;
use crate::delivered::Delivered;
use crate::receiver::Receiver;
use crate::runs::Data;
use inorder_base::stats::Distribution;

use crate::{MAX_COALESCE_NS, MAX_TIME_NS, PACKETS_IN_RECEIVE_RING, WhatIf};

/// One flow at receivers with sorters by name.
pub struct NamedReceivers {
    cards: Vec<Card>,
    unsorted: Receiver,
    packets: u64,
    originals: u64,
    now_ns: i64,
}

impl Heap for NamedReceivers {
    fn heap_bytes(&self) -> usize {
        let card = |card: &Card| {
            card.model.memory_footprint() - size_of_val(&card.model) + card.up.heap_bytes()
        };
        let cards = self.cards.iter().map(card).sum::<usize>();
        self.cards.heap_bytes() + cards + self.unsorted.heap_bytes()
    }
}

impl std::fmt::Debug for NamedReceivers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedReceivers").finish_non_exhaustive()
    }
}

/// A packet on its way through a card.
struct Held {
    data: Data,
    at_ns: i64,
}

/// One sorter behind one coalescing time.
struct Card {
    config: SorterConfig,
    coalesce_ns: u64,
    model: BatchCard<u32, Held>,
    up: Up,
}

/// What reaches the stack, and when.
#[derive(Default)]
struct Up {
    delivered: Delivered,
    /// Added delay of the packets, of those in [`Up::in_order`] none, nanoseconds.
    delays_ns: Distribution,
    /// Packets that came before these and were not delayed.
    in_order: u64,
}

heap!(Up: delivered, delays_ns);

impl Up {
    fn take(&mut self, held: &Held, now_ns: i64) {
        self.delivered.feed(std::slice::from_ref(&held.data));
        let delay_ns = u64::try_from(now_ns.saturating_sub(held.at_ns)).unwrap_or(0);
        self.delays_ns.update(delay_ns);
    }

    /// The added delay that this share of the packets does not exceed.
    fn delay_ns(&self, share: f64) -> Option<u64> {
        let laid = self.delays_ns.count();
        let rank = share * (self.in_order + laid) as f64;
        let above = rank - self.in_order as f64;
        if above <= 0.0 {
            return (self.in_order > 0).then_some(0);
        }
        self.delays_ns.quantile(above / laid as f64)
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
            model: BatchCard::new(&config, coalesce as i64, &around).ok()?,
            up: Up::default(),
        })
    }

    /// What came before `now_ns` has gone up, and nothing waits or is missing below `next`.
    fn is_calm(&mut self, now_ns: i64, next: i64) -> bool {
        let up = &mut self.up;
        self.model
            .advance(now_ns, &mut |held, at| up.take(&held, at));
        self.model.is_empty() && self.up.delivered.is_complete(next)
    }

    /// Of a card that [is calm](Self::is_calm): this number of packets came by, from `first` up to `next`, each later than the one
    /// before it.
    fn pass(&mut self, packets: u64, (first, next): (i64, i64), now_ns: i64) {
        self.tell(Kind::Data, now_ns, first, (next - first) as u32);
        self.up.delivered.pass(next, packets);
        self.up.delays_ns.update_times(0, packets);
    }

    /// The sorter sees a packet of the flow that is not delivered.
    fn tell(&mut self, kind: Kind, at_ns: i64, first: i64, len: u32) {
        let meta = Meta {
            flow: 0,
            // A SYN takes the number before the data.
            seq: (first as u32).wrapping_sub(u32::from(kind == Kind::Open)),
            len,
            kind,
        };
        let held = Held {
            data: Data::default(),
            at_ns,
        };
        self.model.tell(&meta, held, at_ns);
    }

    fn arrive(&mut self, meta: Meta<u32>, held: Held, una: i64) {
        let up = &mut self.up;
        self.model
            .arrive(held.at_ns, &mut |held, at| up.take(&held, at));
        if self.model.is_empty() {
            // Everything acknowledged by now has arrived by now: what is still missing below was
            // not captured.
            self.up.delivered.receiver.acknowledged(una);
        }
        self.model.hold(Some(meta), held);
    }

    /// The flow has shown `in_order` packets in order, from `first` up to `next`, and its receiver a round trip.
    fn continue_after(
        &mut self,
        in_order: u64,
        (first, next): (i64, i64),
        now_ns: i64,
        rtt_ns: Option<i64>,
    ) {
        self.up.in_order = in_order;
        self.up.delivered.skip_to(next, in_order);
        // Numbers wrap: what lies further back is not below the next one any more.
        let first = first.max(next.saturating_sub(1 << 30));
        let opened_ns = now_ns.saturating_sub(rtt_ns.unwrap_or(0));
        self.tell(Kind::Open, opened_ns, first, 0);
        if rtt_ns.is_some() {
            self.tell(Kind::Ack, now_ns, first, 0);
        }
        if first < next {
            self.tell(Kind::Data, now_ns, first, (next - first) as u32);
        }
    }

    fn finish(&mut self) {
        let up = &mut self.up;
        self.model.finish(&mut |held, at| up.take(&held, at));
    }
}

impl NamedReceivers {
    /// A card for each sorter and coalescing time, in this order.
    pub fn new(sorters: &[SorterConfig], coalesce_ns: &[u64]) -> Self {
        Self::with_ring(sorters, coalesce_ns, PACKETS_IN_RECEIVE_RING as usize)
    }

    pub(crate) fn with_ring(sorters: &[SorterConfig], coalesce_ns: &[u64], ring: usize) -> Self {
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

    /// Before what is pushed, `in_order` packets have come in order, from `first` (which is `next` where a sorter need not know)
    /// up to `next`; `rtt_ns`: a round trip to the sender.
    pub(crate) fn continue_after(
        &mut self,
        in_order: u64,
        (first, next): (i64, i64),
        now_ns: i64,
        rtt_ns: Option<i64>,
    ) {
        self.packets += in_order;
        self.originals += in_order;
        self.unsorted.skip_to(next);
        for card in &mut self.cards {
            card.continue_after(in_order, (first, next), now_ns, rtt_ns);
        }
    }

    /// Nothing waits anywhere at `now_ns`, which is later than all that came, and nothing is missing below `next`. What comes then in
    /// order need only be counted, if each packet is later than the one before it: it is a batch of its own that passes at once. The
    /// last packet must have been the highest data, an original, and one that may be sorted: then every sorter expects what follows it.
    pub(crate) fn is_calm(&mut self, now_ns: i64, next: i64) -> bool {
        let later = self.now_ns < now_ns && now_ns <= MAX_TIME_NS;
        later
            && self.unsorted.is_complete(next)
            && self.cards.iter_mut().all(|card| card.is_calm(now_ns, next))
    }

    /// Counts packets that change nothing in any card: this number, from `first` up to `next`, the last of them at `now_ns`.
    pub(crate) fn pass(&mut self, packets: u64, (first, next): (i64, i64), now_ns: i64) {
        self.packets += packets;
        self.originals += packets;
        self.unsorted.skip_to(next);
        for card in &mut self.cards {
            card.pass(packets, (first, next), now_ns);
        }
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    pub fn push(&mut self, arrival: &DataArrival, una: i64) {
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
                data,
                at_ns: self.now_ns,
            };
            card.arrive(meta, held, una);
        }
    }

    /// The number of results.
    pub fn rows(&self) -> usize {
        self.cards.len()
    }

    /// The result of every sorter and, within it, every coalescing time.
    pub fn finish(mut self) -> Vec<WhatIf> {
        let (packets, originals) = (self.packets.max(1), self.originals.max(1));
        let unsorted = self.unsorted.dupacks;
        let result = |card: &mut Card| {
            card.finish();
            let counts = card.up.delivered.counts();
            let mean_ns = card.up.delays_ns.sum() / u128::from(packets);
            let bound_ns = card.model.sorter().hold_ns(0);
            WhatIf {
                sorter: Some(Arc::new(card.config)),
                block_size: 0,
                coalesce_ns: card.coalesce_ns,
                reordered: counts.reordered,
                reordered_ratio: counts.reordered as f64 / originals as f64,
                max_extent: u32::try_from(counts.max_extent).unwrap_or(u32::MAX),
                dupacks_saved: unsorted.saturating_sub(counts.dupacks),
                mean_added_delay_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
                p50_added_delay_ns: card.up.delay_ns(0.5),
                p99_added_delay_ns: card.up.delay_ns(0.99),
                max_added_delay_ns: card.up.delays_ns.max().unwrap_or(0),
                bound_ns: bound_ns.and_then(|ns| u64::try_from(ns).ok()),
            }
        };
        self.cards.iter_mut().map(result).collect()
    }
}
