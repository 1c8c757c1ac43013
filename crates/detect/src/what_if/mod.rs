//! What a sorting receiver would have left of the reordering of a flow.
//!
//! The data of one flow is laid through SRPIC (crate `inorder_srpic`) for several block sizes and
//! coalescing times at once. The model of a card: the flow's data is alone on its queue; the
//! first packet at an idle ring starts the coalescing delay; when it is over, what has arrived is
//! one batch and is delivered, each block of it sorted. The softirq itself takes no time.
//! Retransmissions are sorted like originals, for the card cannot tell them; what must not wait
//! (see `inorder_srpic::classify`) passes after the flow's block has been flushed.
//!
//! Sorting changes the order within a block only, so most traffic needs no simulation:
//! - in-order data costs a few additions, whatever the number of settings: arrivals are kept as
//!   runs of equal segments, delays as sums from which those of a batch are differences;
//! - the delivered order of every setting is followed (`busy`) only from a break in the order
//!   until every card has delivered the batch with it: data that goes on where the highest ended
//!   is delivered alike by all of them, holes below or not;
//! - the sorter itself runs only for stretches that are not in order as they came.

mod card;
mod delivered;
mod runs;
mod sorters;
#[cfg(test)]
mod tests;

use inorder_srpic::classify::TcpFacts;
use inorder_wire::{Has, Segment};

use crate::result::WhatIf;
use card::{Card, Counts};
use delivered::{Delivered, Receiver};
use runs::Runs;
use sorters::Sorters;

/// Packets the receive ring holds, as in the receiver of the paper: a ring that fills interrupts
/// at once.
const RING: u64 = 512;
/// Coalescing times are taken to be at most this, nanoseconds (18 minutes): sums stay in 64 bits.
const MAX_COALESCE_NS: u64 = 1 << 40;

/// A data segment of a flow as it arrives at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataArrival {
    /// When, nanoseconds since the epoch.
    pub ts_ns: i64,
    /// Bytes from the flow's first data byte; what lies before it is ignored.
    pub offset: i64,
    /// Payload bytes; what has none is ignored.
    pub len: u32,
    /// Not the first transmission of this data: sorted like all, but not counted as reordered.
    pub retransmission: bool,
    /// May be held and sorted (see `inorder_srpic::classify`).
    pub suitable: bool,
}

/// Lays SRPIC over the arrivals of one flow: a result for every block size (packets) and, within
/// it, every coalescing time (nanoseconds), in the orders given.
///
/// ```
/// use inorder_detect::{DataArrival, what_if};
///
/// // The third segment comes 30 us after the fourth.
/// let arrivals = [(0, 0), (10, 100), (20, 300), (50, 200)].map(|(us, offset)| DataArrival {
///     ts_ns: us * 1_000,
///     offset,
///     len: 100,
///     retransmission: false,
///     suitable: true,
/// });
/// let results = what_if(&arrivals, &[32], &[25_000, 75_000]);
/// assert_eq!(results[0].reordered, 1); // an interrupt in between: too late
/// assert_eq!(results[1].reordered, 0);
/// assert_eq!(results[1].dupacks_saved, 1);
/// assert_eq!(results[1].mean_added_delay_ns, 55_000);
/// ```
pub fn what_if(arrivals: &[DataArrival], block_sizes: &[u32], coalesce_ns: &[u64]) -> Vec<WhatIf> {
    let mut receivers = SortingReceivers::new(block_sizes, coalesce_ns);
    for arrival in arrivals.iter().filter(|a| a.len > 0 && a.offset >= 0) {
        receivers.push(arrival, i64::MIN);
    }
    receivers.finish()
}

/// Whether a card may hold `seg`. Options that were cut from the capture count as unsuitable.
#[inline]
pub(crate) fn may_be_sorted(seg: &Segment) -> bool {
    TcpFacts {
        flags: seg.flags.0,
        payload_len: seg.payload_len,
        other_tcp_options: seg.has(Has::UNSUITABLE),
        ..TcpFacts::default()
    }
    .suitable()
}

/// One flow at sorting receivers of every setting.
#[derive(Debug)]
pub(crate) struct SortingReceivers {
    /// Where the current run goes on, and with what length; 0 when nothing may join it.
    next: i64,
    run_len: u32,
    /// How many more segments may come before a ring is full.
    room: u32,
    last_ns: i64,
    /// The first of the interrupts that are due.
    soonest_ns: i64,
    counts: Counts,
    /// What no card has delivered yet continues the highest data: the delivered order is that of
    /// the arrivals and need not be followed.
    plain: bool,
    ring: u64,
    runs: Runs,
    cards: Vec<Card>,
    block_sizes: Vec<u32>,
    busy: Option<Box<Busy>>,
}

/// The delivered order, from the first break in the order on.
#[derive(Debug)]
struct Busy {
    /// For each card.
    stacks: Vec<Stack>,
    sorters: Sorters,
}

/// What reaches the stack behind one card.
#[derive(Debug)]
struct Stack {
    unsorted: Receiver,
    /// For each block size.
    sorted: Vec<Delivered>,
}

impl SortingReceivers {
    pub(crate) fn new(block_sizes: &[u32], coalesce_ns: &[u64]) -> Self {
        Self::with_ring(block_sizes, coalesce_ns, RING)
    }

    fn with_ring(block_sizes: &[u32], coalesce_ns: &[u64], ring: u64) -> Self {
        let card = |&ns: &u64| Card::new(ns.min(MAX_COALESCE_NS) as i64);
        SortingReceivers {
            next: 0,
            run_len: 0,
            room: 0,
            last_ns: i64::MIN,
            soonest_ns: i64::MIN,
            counts: Counts::default(),
            plain: true,
            ring,
            runs: Runs::default(),
            cards: coalesce_ns.iter().map(card).collect(),
            block_sizes: block_sizes.to_vec(),
            busy: None,
        }
    }

    /// The next arrival; `una` is what the receiver has acknowledged so far, if known.
    #[inline]
    pub(crate) fn push(&mut self, arrival: &DataArrival, una: i64) {
        let goes_on = arrival.offset == self.next
            && arrival.len == self.run_len
            && arrival.suitable
            && !arrival.retransmission;
        if !goes_on || self.room <= 1 || arrival.ts_ns < self.last_ns {
            return self.push_any(arrival, una);
        }
        if arrival.ts_ns > self.soonest_ns {
            if !self.plain {
                return self.push_any(arrival, una);
            }
            self.next_batches(arrival.ts_ns);
        }
        self.next += i64::from(arrival.len);
        self.room -= 1;
        self.last_ns = arrival.ts_ns;
        self.counts.add(arrival.ts_ns);
    }

    #[inline(never)]
    fn push_any(&mut self, arrival: &DataArrival, una: i64) {
        // Time that runs backwards, as in some captures, counts as standing still.
        let now = arrival.ts_ns.max(self.last_ns);
        self.last_ns = now;
        if now > self.soonest_ns {
            self.end_batches(now, una);
        }
        if !arrival.suitable {
            self.flush(una);
        }
        if self.plain && (arrival.retransmission || arrival.offset != self.next) {
            self.leave_plain(una);
        }
        self.append(arrival, now);
        if !arrival.suitable {
            self.flush(una);
        }
        self.fill_rings(now, una);
    }

    /// Ends the batches whose interrupt came before `now`; new ones begin with what arrives now.
    fn end_batches(&mut self, now: i64, una: i64) {
        for i in 0..self.cards.len() {
            let Some(card) = self.cards.get_mut(i).filter(|card| card.fire_ns < now) else {
                continue;
            };
            card.end(&self.counts);
            card.begin(now, &self.counts);
            self.settle(i, una);
        }
    }

    /// [`SortingReceivers::end_batches`] while nothing is followed and the run goes on. That a
    /// new batch leaves more room than the old one is left to [`SortingReceivers::fill_rings`].
    #[inline]
    fn next_batches(&mut self, now: i64) {
        self.soonest_ns = i64::MAX;
        for card in &mut self.cards {
            if card.fire_ns < now {
                card.end(&self.counts);
                card.begin(now, &self.counts);
                card.from = self.counts.arrived;
            }
            self.soonest_ns = self.soonest_ns.min(card.fire_ns);
        }
    }

    fn append(&mut self, arrival: &DataArrival, now: i64) {
        let common = arrival.suitable && !arrival.retransmission;
        if !common || arrival.offset != self.next || arrival.len != self.run_len {
            if self.runs.is_full() {
                let needed = self.cards.iter().map(|card| card.from).min();
                self.runs.forget_before(needed.unwrap_or(u64::MAX));
            }
            self.runs.push(self.counts.arrived, arrival);
            self.run_len = if common { arrival.len } else { 0 };
        }
        self.next = arrival.offset.saturating_add(i64::from(arrival.len));
        self.counts.add(now);
        self.counts.retransmissions += u64::from(arrival.retransmission);
        self.counts.unsuitable += u64::from(!arrival.suitable);
    }

    /// A ring that has become full interrupts at once; a sorter that is full is emptied.
    fn fill_rings(&mut self, now: i64, una: i64) {
        self.soonest_ns = i64::MAX;
        let mut room = u64::from(u32::MAX);
        for i in 0..self.cards.len() {
            let Some(card) = self.cards.get_mut(i) else {
                continue;
            };
            if card.held(&self.counts) >= self.ring {
                card.empty_ring(&self.counts);
                self.settle(i, una);
            }
            let Some(card) = self.cards.get_mut(i) else {
                continue;
            };
            room = room.min(card.fill(now, &self.counts, self.ring));
            self.soonest_ns = self.soonest_ns.min(card.fire_ns);
        }
        self.room = room as u32;
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
        if !self.plain && from < to {
            self.deliver(i, from, una);
        }
    }

    fn deliver(&mut self, i: usize, from: u64, una: i64) {
        let to = self.counts.arrived;
        let Some(Busy { stacks, sorters }) = self.busy.as_deref_mut() else {
            return;
        };
        let Some(stack) = stacks.get_mut(i) else {
            return;
        };
        stack.unsorted.feed(self.runs.stretch(from, to));
        if self.runs.is_sorted(from, to) {
            for delivered in &mut stack.sorted {
                delivered.feed(self.runs.stretch(from, to));
            }
        } else {
            sorters.load(self.runs.stretch(from, to));
            for (n, delivered) in stack.sorted.iter_mut().enumerate() {
                delivered.feed(sorters.sorted(n).iter().copied());
            }
        }
        // Everything acknowledged by now has arrived by now: what is still missing below was
        // not captured.
        stack.acknowledged(una);
        if stack.is_level() {
            self.try_plain();
        }
    }

    /// The order breaks: from here on the delivered order is followed.
    fn leave_plain(&mut self, una: i64) {
        self.plain = false;
        let (runs, block_sizes, ring) = (&self.runs, &self.block_sizes, self.ring);
        let cards = self.cards.len();
        let busy = self.busy.get_or_insert_with(|| {
            Box::new(Busy {
                stacks: (0..cards).map(|_| Stack::new(block_sizes.len())).collect(),
                sorters: Sorters::new(block_sizes, ring),
            })
        });
        for (card, stack) in self.cards.iter().zip(&mut busy.stacks) {
            let pending = card.from < self.counts.arrived;
            let first = pending.then(|| runs.offset(card.from)).flatten();
            let next = first.unwrap_or(self.next);
            stack.skip_to(next, card.from.saturating_sub(self.counts.retransmissions));
            // What the card has not delivered begins at `next`.
            stack.acknowledged(una.min(next));
        }
    }

    /// Stops following when behind every card the highest data is an original, and what the card
    /// has not delivered yet continues there in order.
    fn try_plain(&mut self) {
        let Some(busy) = self.busy.as_deref() else {
            return;
        };
        let to = self.counts.arrived;
        let mut next = None;
        for (card, stack) in self.cards.iter().zip(&busy.stacks) {
            let end = self.runs.continues(stack.next(), card.from, to);
            if !stack.is_level() || end.is_none() || (next.is_some() && next != end) {
                return;
            }
            next = end;
        }
        let Some(next) = next else {
            return;
        };
        self.plain = true;
        if next != self.next {
            (self.next, self.run_len) = (next, 0);
        }
    }

    /// The result of every setting: block sizes, and for each the coalescing times.
    pub(crate) fn finish(mut self) -> Vec<WhatIf> {
        for i in 0..self.cards.len() {
            if let Some(card) = self.cards.get_mut(i) {
                card.end(&self.counts);
            }
            self.settle(i, i64::MIN);
        }
        let mut results = Vec::with_capacity(self.block_sizes.len() * self.cards.len());
        for (b, &block_size) in self.block_sizes.iter().enumerate() {
            for (c, card) in self.cards.iter().enumerate() {
                let stack = self.busy.as_ref().and_then(|busy| busy.stacks.get(c));
                results.push(self.result(block_size, card, stack, b));
            }
        }
        results
    }

    fn result(&self, block_size: u32, card: &Card, stack: Option<&Stack>, b: usize) -> WhatIf {
        let left = stack.and_then(|s| Some((&s.unsorted, s.sorted.get(b)?)));
        let originals = self.counts.arrived - self.counts.retransmissions;
        let (reordered, max_extent, dupacks_saved) = left.map_or((0, 0, 0), |(unsorted, left)| {
            (
                left.originals.reordered,
                u32::try_from(left.originals.max_extent).unwrap_or(u32::MAX),
                unsorted.dupacks.saturating_sub(left.receiver.dupacks),
            )
        });
        WhatIf {
            block_size,
            coalesce_ns: card.coalesce_ns.max(0) as u64,
            reordered,
            reordered_ratio: reordered as f64 / originals.max(1) as f64,
            max_extent,
            dupacks_saved,
            mean_added_delay_ns: card.delay_ns / self.counts.arrived.max(1),
            max_added_delay_ns: card.max_delay_ns.max(0) as u64,
        }
    }
}

impl Stack {
    fn new(block_sizes: usize) -> Self {
        Stack {
            unsorted: Receiver::default(),
            sorted: (0..block_sizes).map(|_| Delivered::default()).collect(),
        }
    }

    /// The delivered order is that of the arrivals up to `next`, with so many originals.
    fn skip_to(&mut self, next: i64, originals: u64) {
        self.unsorted.skip_to(next);
        for delivered in &mut self.sorted {
            delivered.skip_to(next, originals);
        }
    }

    fn acknowledged(&mut self, una: i64) {
        self.unsorted.acknowledged(una);
        for delivered in &mut self.sorted {
            delivered.receiver.acknowledged(una);
        }
    }

    /// The next original in order means the same to all: it goes on at [`Stack::next`].
    fn is_level(&self) -> bool {
        self.sorted.iter().all(|d| d.is_level(self.next()))
    }

    fn next(&self) -> i64 {
        self.unsorted.top()
    }
}
