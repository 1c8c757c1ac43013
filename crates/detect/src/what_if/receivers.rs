//! One flow at sorting receivers of every setting.

use super::DataArrival;
use super::card::{Card, Counts};
use super::runs::Runs;
use super::sorters::Sorters;
use super::stack::Stack;
use crate::result::WhatIf;

/// Packets the receive ring holds, as in the receiver of the paper: a ring that fills interrupts
/// at once.
const RING: u32 = 512;
/// Coalescing times are taken to be at most this, nanoseconds (18 minutes): sums stay in 64 bits.
const MAX_COALESCE_NS: u64 = 1 << 40;

/// The cards of one flow, what they have not delivered yet, and the stacks behind them.
#[derive(Debug)]
pub(crate) struct SortingReceivers {
    /// End of the highest data: where data in order goes on.
    next: i64,
    /// Length of the segments of the current run, if it ends at `next`; otherwise 0.
    run_len: u32,
    /// So many segments more fill no ring.
    room: u32,
    last_ns: i64,
    /// The first and the last of the interrupts that are due.
    soonest_ns: i64,
    latest_ns: i64,
    counts: Counts,
    /// The last segment is the only one of every card's batch, and the cards do not know yet.
    lone: bool,
    /// Segments that were alone in every card's batch.
    singles: u64,
    ring: u32,
    /// Cards whose delivered order is followed.
    following: usize,
    longest_ns: i64,
    runs: Runs,
    cards: Vec<Card>,
    block_sizes: Vec<u32>,
    /// From the first break in the order on.
    behind: Option<Box<Behind>>,
}

/// What is behind the cards.
#[derive(Debug)]
struct Behind {
    /// For each card.
    stacks: Vec<Stack>,
    sorters: Sorters,
}

impl SortingReceivers {
    pub(crate) fn new(block_sizes: &[u32], coalesce_ns: &[u64]) -> Self {
        Self::with_ring(block_sizes, coalesce_ns, RING)
    }

    pub(super) fn with_ring(block_sizes: &[u32], coalesce_ns: &[u64], ring: u32) -> Self {
        let coalesce = |&ns: &u64| ns.min(MAX_COALESCE_NS) as i64;
        SortingReceivers {
            next: 0,
            run_len: 0,
            room: ring,
            last_ns: i64::MIN,
            soonest_ns: i64::MIN,
            latest_ns: i64::MIN,
            counts: Counts::default(),
            lone: false,
            singles: 0,
            ring,
            following: 0,
            longest_ns: coalesce_ns.iter().map(coalesce).max().unwrap_or(0),
            runs: Runs::default(),
            cards: coalesce_ns
                .iter()
                .map(|ns| Card::new(coalesce(ns)))
                .collect(),
            block_sizes: block_sizes.to_vec(),
            behind: None,
        }
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    #[inline]
    pub(crate) fn push(&mut self, arrival: &DataArrival, una: i64) {
        let in_order = arrival.offset == self.next && arrival.suitable && !arrival.retransmission;
        let in_batch = (self.last_ns..=self.soonest_ns).contains(&arrival.ts_ns);
        if in_order && in_batch && arrival.len == self.run_len && self.room > 1 {
            self.next += i64::from(arrival.len);
            self.room -= 1;
            self.last_ns = arrival.ts_ns;
            self.counts.add(arrival.ts_ns);
        } else {
            self.push_any(arrival, in_order, una);
        }
    }

    #[inline(never)]
    fn push_any(&mut self, arrival: &DataArrival, in_order: bool, una: i64) {
        // Time that runs backwards, as in some captures, counts as standing still.
        let now = arrival.ts_ns.max(self.last_ns);
        if in_order && now > self.latest_ns && self.following == 0 {
            self.end_all();
            self.latest_ns = now.saturating_add(self.longest_ns);
        } else {
            self.tell_cards();
            self.end_batches(now, una);
        }
        if !arrival.suitable {
            self.flush(una);
        }
        if arrival.retransmission || arrival.offset != self.next {
            self.follow(una);
        }
        self.last_ns = now;
        self.append(arrival, in_order);
        if !arrival.suitable {
            self.flush(una);
        }
        if self.room == 0 {
            self.fill_rings(una);
        }
    }

    /// Every batch has ended, nothing is followed, and the next arrival is in order.
    fn end_all(&mut self) {
        if self.lone {
            self.singles += 1;
        } else {
            for card in &mut self.cards {
                card.end(&self.counts);
            }
        }
        self.lone = true;
        self.room = self.ring;
        self.soonest_ns = i64::MIN;
    }

    /// The cards catch up with the segment that was alone.
    fn tell_cards(&mut self) {
        if !std::mem::take(&mut self.lone) {
            return;
        }
        let before = self.counts.without_last(self.last_ns);
        self.soonest_ns = i64::MAX;
        for card in &mut self.cards {
            card.begin(self.last_ns, &before);
            card.from = before.arrived;
            self.soonest_ns = self.soonest_ns.min(card.fire_ns);
        }
    }

    /// Ends the batches whose interrupt came before `now`; new ones begin with what arrives now.
    fn end_batches(&mut self, now: i64, una: i64) {
        if now <= self.soonest_ns {
            return;
        }
        (self.soonest_ns, self.latest_ns) = (i64::MAX, i64::MIN);
        for i in 0..self.cards.len() {
            let Some(card) = self.cards.get_mut(i) else {
                continue;
            };
            let ended = card.fire_ns < now;
            if ended {
                card.end(&self.counts);
                card.begin(now, &self.counts);
            }
            self.soonest_ns = self.soonest_ns.min(card.fire_ns);
            self.latest_ns = self.latest_ns.max(card.fire_ns);
            if ended {
                self.settle(i, una);
            }
        }
    }

    fn append(&mut self, arrival: &DataArrival, in_order: bool) {
        if !in_order || arrival.len != self.run_len {
            if self.runs.is_full() {
                self.forget_runs();
            }
            self.runs.push(self.counts.arrived, arrival);
            self.run_len = if in_order { arrival.len } else { 0 };
        }
        let end = arrival.offset.saturating_add(i64::from(arrival.len));
        self.next = self.next.max(end);
        self.room = self.room.saturating_sub(1);
        self.counts.add(self.last_ns);
        self.counts.retransmissions += u64::from(arrival.retransmission);
        self.counts.unsuitable += u64::from(!arrival.suitable);
    }

    fn forget_runs(&mut self) {
        let needed = self.cards.iter().map(|card| card.from).min();
        let needed = needed.filter(|_| !self.lone);
        self.runs
            .forget_before(needed.unwrap_or(self.counts.arrived));
    }

    /// A ring that has become full interrupts at once; a sorter that is full is emptied.
    #[cold]
    fn fill_rings(&mut self, una: i64) {
        self.tell_cards();
        let (now, ring) = (self.last_ns, u64::from(self.ring));
        self.room = u32::MAX;
        (self.soonest_ns, self.latest_ns) = (i64::MAX, i64::MIN);
        for i in 0..self.cards.len() {
            let Some(card) = self.cards.get_mut(i) else {
                continue;
            };
            let full = card.held(&self.counts) >= ring;
            if full {
                card.empty_ring(&self.counts);
            }
            let room = card.fill(now, &self.counts, ring);
            self.room = self.room.min(u32::try_from(room).unwrap_or(u32::MAX));
            self.soonest_ns = self.soonest_ns.min(card.fire_ns);
            self.latest_ns = self.latest_ns.max(card.fire_ns);
            if full {
                self.settle(i, una);
            }
        }
    }

    /// What has arrived since the last time is delivered, by every card.
    fn flush(&mut self, una: i64) {
        for i in 0..self.cards.len() {
            self.settle(i, una);
        }
    }

    /// Card `i` delivers the stretch that has arrived since its sorters were last empty.
    fn settle(&mut self, i: usize, una: i64) {
        let to = self.counts.arrived;
        let Some(card) = self.cards.get_mut(i) else {
            return;
        };
        let from = std::mem::replace(&mut card.from, to);
        if !card.followed || from == to {
            return;
        }
        let Some(Behind { stacks, sorters }) = self.behind.as_deref_mut() else {
            return;
        };
        let Some(stack) = stacks.get_mut(i) else {
            return;
        };
        stack.deliver(&self.runs, from, to, sorters);
        // Everything acknowledged by now has arrived by now: what is still missing below was
        // not captured.
        stack.acknowledged(una);
        if stack.is_level(self.next) {
            card.followed = false;
            self.following -= 1;
        }
    }

    /// The order breaks with what arrives now: what the cards deliver is followed from here on.
    fn follow(&mut self, una: i64) {
        if self.following == self.cards.len() {
            return;
        }
        let (runs, block_sizes) = (&self.runs, &self.block_sizes);
        let cards = self.cards.len();
        let ring = u64::from(self.ring);
        let behind = self.behind.get_or_insert_with(|| {
            Box::new(Behind {
                stacks: (0..cards).map(|_| Stack::default()).collect(),
                sorters: Sorters::new(block_sizes, ring),
            })
        });
        for (card, stack) in self.cards.iter_mut().zip(&mut behind.stacks) {
            if card.followed {
                continue;
            }
            card.followed = true;
            let pending = card.from < self.counts.arrived;
            let first = pending.then(|| runs.offset(card.from)).flatten();
            let next = first.unwrap_or(self.next);
            stack.skip_to(next, card.from.saturating_sub(self.counts.retransmissions));
            // What the card has not delivered begins at `next`.
            stack.acknowledged(una.min(next));
        }
        self.following = cards;
    }

    /// The result of every setting: block sizes, and for each the coalescing times.
    pub(crate) fn finish(mut self) -> Vec<WhatIf> {
        self.tell_cards();
        for i in 0..self.cards.len() {
            if let Some(card) = self.cards.get_mut(i) {
                card.end(&self.counts);
                card.add_singles(self.singles);
            }
            self.settle(i, i64::MIN);
        }
        let mut results = Vec::with_capacity(self.block_sizes.len() * self.cards.len());
        for (b, &block_size) in self.block_sizes.iter().enumerate() {
            for (c, card) in self.cards.iter().enumerate() {
                let stack = self.behind.as_ref().and_then(|behind| behind.stacks.get(c));
                results.push(self.result(block_size, card, stack, b));
            }
        }
        results
    }

    fn result(&self, block_size: u32, card: &Card, stack: Option<&Stack>, b: usize) -> WhatIf {
        let originals = self.counts.arrived - self.counts.retransmissions;
        let left = stack.map(|stack| stack.left(b)).unwrap_or_default();
        WhatIf {
            block_size,
            coalesce_ns: card.coalesce_ns.max(0) as u64,
            reordered: left.reordered,
            reordered_ratio: left.reordered as f64 / originals.max(1) as f64,
            max_extent: left.max_extent,
            dupacks_saved: left.dupacks_saved,
            mean_added_delay_ns: card.delay_ns / self.counts.arrived.max(1),
            max_added_delay_ns: card.max_delay_ns.max(0) as u64,
        }
    }

    #[cfg(test)]
    pub(super) fn follows(&self) -> bool {
        self.following > 0
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> (usize, bool) {
        (self.runs.len(), self.behind.is_some())
    }
}
