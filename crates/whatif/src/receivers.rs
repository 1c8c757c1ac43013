//! One flow at sorting receivers of every setting.

use crate::DataArrival;
use crate::card::{Card, Counts, Waited, join};
use crate::pending::Pending;
use crate::runs::Runs;
use crate::sorters::Sorters;
use crate::stack::{Left, Stack};
use crate::{MAX_COALESCE_NS, MAX_TIME_NS, PACKETS_IN_RECEIVE_RING, WhatIf};
use inorder_base::heap::{self, Heap};

/// The cards of one flow, what they have not delivered yet, and the stacks behind them.
#[derive(Debug)]
#[repr(C, align(64))] // First what all data in order needs: one line of the cache.
pub struct SortingReceivers {
    /// End of the highest data: where data in order goes on.
    next: i64,
    last_ns: i64,
    /// Data in order until then may wait in `pending`: no batch that is followed ends before.
    limit_ns: i64,
    /// Length of the segments of the current run, if it ends at `next`; otherwise 0.
    run_len: u32,
    /// Number of further segments that fill no ring, those pending counted in.
    room: u32,
    pending: Pending,
    /// Without those pending.
    counts: Counts,
    ring: u32,
    /// Cards whose delivered order is followed.
    following: usize,
    runs: Runs,
    cards: Vec<Card>,
    block_sizes: Vec<u32>,
    /// From the first break in the order on.
    behind: Option<Box<Behind>>,
}

heap!(SortingReceivers: runs, cards, block_sizes, behind);

/// What is behind the cards.
#[derive(Debug)]
struct Behind {
    /// For each card.
    stacks: Vec<Stack>,
    sorters: Sorters,
}

impl Heap for Behind {
    fn heap_bytes(&self) -> usize {
        self.stacks.heap_bytes() + heap::sum(&self.stacks) + self.sorters.heap_bytes()
    }
}

impl SortingReceivers {
    /// Receivers with each of these block sizes, packets, and each of these coalescing times, nanoseconds.
    pub fn new(block_sizes: &[u32], coalesce_ns: &[u64]) -> Self {
        Self::with_ring(block_sizes, coalesce_ns, PACKETS_IN_RECEIVE_RING)
    }

    pub(crate) fn with_ring(block_sizes: &[u32], coalesce_ns: &[u64], ring: u32) -> Self {
        let coalesce = |&ns: &u64| ns.min(MAX_COALESCE_NS) as i64;
        SortingReceivers {
            next: 0,
            run_len: 0,
            room: ring,
            last_ns: i64::MIN,
            limit_ns: MAX_TIME_NS,
            pending: Pending::default(),
            counts: Counts::default(),
            ring,
            following: 0,
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
    pub fn push(&mut self, arrival: &DataArrival, una: i64) {
        let plain = arrival.suitable && !arrival.retransmission;
        let waits = plain
            && (self.continues(arrival.ts_ns, arrival.offset, arrival.len)
                || self.continues_after_batches(arrival, una));
        if !waits {
            self.push_any(arrival, una);
        }
    }

    /// Takes a suitable original if it continues the run and nothing has to be done at once.
    #[inline(always)]
    pub fn continues(&mut self, ts_ns: i64, offset: i64, len: u32) -> bool {
        let in_time = (self.last_ns..=self.limit_ns).contains(&ts_ns);
        let in_order = offset == self.next && len == self.run_len;
        let waits = in_order && in_time && self.wait(ts_ns);
        if waits {
            self.next += i64::from(len);
            self.last_ns = ts_ns;
        }
        waits
    }

    /// Takes a suitable original that continues the run, but comes after the end of a batch that
    /// is followed: with that delivered, mostly nothing more has to be done.
    #[inline(never)]
    fn continues_after_batches(&mut self, arrival: &DataArrival, una: i64) -> bool {
        let (now, in_order) = (arrival.ts_ns, arrival.offset == self.next);
        if now <= self.limit_ns.max(self.last_ns) || now > MAX_TIME_NS || !in_order {
            return false;
        }
        self.tell_cards();
        for i in 0..self.cards.len() {
            if self.cards.get(i).is_some_and(|card| card.fire_ns < now) {
                self.settle(i, una);
            }
        }
        self.set_limits();
        self.continues(now, arrival.offset, arrival.len)
    }

    /// Notes an arrival; false if it would fill a ring.
    #[inline(always)]
    fn wait(&mut self, ts_ns: i64) -> bool {
        self.pending.push(ts_ns) || (self.make_room() && self.pending.push(ts_ns))
    }

    /// Lets the cards catch up, so that more may wait; false if a ring is as good as full.
    #[inline(never)]
    fn make_room(&mut self) -> bool {
        self.tell_cards();
        // One that fills a ring does not wait.
        let room = self.room.saturating_sub(1);
        self.pending.limit(room);
        room > 0
    }

    #[inline(never)]
    pub(crate) fn push_any(&mut self, arrival: &DataArrival, una: i64) {
        let in_order = arrival.offset == self.next && arrival.suitable && !arrival.retransmission;
        self.tell_cards();
        // Time that runs backwards, as in some captures, counts as standing still.
        let now = arrival.ts_ns.min(MAX_TIME_NS).max(self.last_ns);
        self.end_batches(now, una);
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
        self.set_limits();
    }

    /// How long, and how many, may wait in `pending`.
    #[inline]
    fn set_limits(&mut self) {
        self.limit_ns = match self.following {
            0 => MAX_TIME_NS,
            _ => self.soonest_ns(),
        };
        // One that fills a ring does not wait.
        self.pending.limit(self.room.saturating_sub(1));
    }

    /// When the first of the interrupts comes that deliver to a stack that is followed.
    fn soonest_ns(&self) -> i64 {
        let followed = self.cards.iter().filter(|card| card.followed);
        let due = followed.map(|card| card.fire_ns);
        due.min().unwrap_or(MAX_TIME_NS)
    }

    /// The cards catch up with what is pending.
    #[inline]
    fn tell_cards(&mut self) {
        let times = self.pending.times();
        if times.is_empty() {
            return;
        }
        join(&mut self.cards, times, &self.counts);
        self.counts.add(times);
        self.room = self.room.saturating_sub(times.len() as u32);
        self.pending.clear();
    }

    /// Ends the batches whose interrupt came before `now`; new ones begin with what arrives now.
    fn end_batches(&mut self, now: i64, una: i64) {
        for i in 0..self.cards.len() {
            if let Some(card) = self.cards.get_mut(i)
                && card.end_before(now, &self.counts)
            {
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
        self.counts.add(&[self.last_ns]);
        let now = self.last_ns;
        self.cards.iter_mut().for_each(|card| card.add(now));
        self.counts.retransmissions += u64::from(arrival.retransmission);
        self.counts.unsuitable += u64::from(!arrival.suitable);
    }

    fn forget_runs(&mut self) {
        let needed = self.cards.iter().map(|card| card.from).min();
        self.runs
            .forget_before(needed.unwrap_or(self.counts.arrived));
    }

    /// A ring that has become full interrupts at once; a sorter that is full is emptied.
    #[cold]
    fn fill_rings(&mut self, una: i64) {
        let (now, ring) = (self.last_ns, u64::from(self.ring));
        self.room = u32::MAX;
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
    #[inline]
    fn settle(&mut self, i: usize, una: i64) {
        let to = self.counts.arrived;
        let Some(card) = self.cards.get_mut(i) else {
            return;
        };
        let from = std::mem::replace(&mut card.from, to);
        if card.followed && from != to {
            self.deliver(i, from, una);
        }
    }

    /// Card `i`, which is followed, delivers all from arrival `from` on.
    #[inline(never)]
    fn deliver(&mut self, i: usize, from: u64, una: i64) {
        let Some(Behind { stacks, sorters }) = self.behind.as_deref_mut() else {
            return;
        };
        let (Some(card), Some(stack)) = (self.cards.get_mut(i), stacks.get_mut(i)) else {
            return;
        };
        sorters.load(&self.runs, from, self.counts.arrived);
        stack.deliver(sorters);
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
                stacks: (0..cards).map(|_| Stack::new(block_sizes.len())).collect(),
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

    /// The number of results.
    pub fn rows(&self) -> usize {
        self.block_sizes.len() * self.cards.len()
    }

    /// The result of every setting: block sizes, and for each the coalescing times.
    pub fn finish(self) -> Vec<WhatIf> {
        let mut results = Vec::with_capacity(self.rows());
        self.finish_into(&mut results);
        results
    }

    /// Appends the result of every setting to other results.
    pub fn finish_into(mut self, results: &mut Vec<WhatIf>) {
        self.tell_cards();
        for i in 0..self.cards.len() {
            self.settle(i, i64::MIN);
        }
        let counts = self.counts;
        let delays: Vec<_> = self.cards.iter_mut().map(|c| c.finish(&counts)).collect();
        for (b, &block_size) in self.block_sizes.iter().enumerate() {
            for (c, (card, delay)) in self.cards.iter().zip(&delays).enumerate() {
                let stack = self.behind.as_ref().and_then(|behind| behind.stacks.get(c));
                let left = stack.map(|stack| stack.left(b)).unwrap_or_default();
                results.push(self.result(block_size, card.coalesce_ns, delay, &left));
            }
        }
    }

    fn result(&self, block_size: u32, coalesce_ns: i64, waited: &Waited, left: &Left) -> WhatIf {
        let originals = self.counts.arrived - self.counts.retransmissions;
        WhatIf {
            sorter: None,
            block_size,
            coalesce_ns: coalesce_ns.max(0) as u64,
            reordered: left.reordered,
            reordered_ratio: left.reordered as f64 / originals.max(1) as f64,
            max_extent: left.max_extent,
            dupacks_saved: left.dupacks_saved,
            mean_added_delay_ns: waited.mean_ns,
            p50_added_delay_ns: waited.p50_ns,
            p99_added_delay_ns: waited.p99_ns,
            max_added_delay_ns: waited.max_ns,
            bound_ns: None,
        }
    }

    #[cfg(test)]
    pub(crate) fn follows(&self) -> bool {
        self.following > 0
    }

    #[cfg(test)]
    pub(crate) fn entries(&self) -> (usize, bool) {
        (self.runs.len(), self.behind.is_some())
    }
}
