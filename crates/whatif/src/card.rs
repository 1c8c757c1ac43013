//! A network card with interrupt coalescing: which arrivals make a batch, and how long they wait.
//!
//! The rule is that of `inorder_sort::Batcher` with a softirq that takes no time. Arrivals come
//! many at a time ([`join`]): a card then costs a few instructions a packet and no branch
//! that depends on the traffic, however often its interrupts come.

use std::hint::select_unpredictable;

use crate::delays::Delays;

/// Counts over the arrivals of a flow that its cards know.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    /// Segments.
    pub(crate) arrived: u64,
    /// Retransmissions among them.
    pub(crate) retransmissions: u64,
    /// Segments among them that are unsuitable for sorting.
    pub(crate) unsuitable: u64,
    /// Sum of the arrival times, modulo 2^64: only the difference to the times of delivery is
    /// used.
    times: u64,
}

impl Counts {
    /// Suitable segments.
    #[inline]
    fn suitable(&self) -> u64 {
        self.arrived - self.unsuitable
    }

    /// Suitable originals arrived.
    #[inline]
    pub(crate) fn add(&mut self, times: &[i64]) {
        self.arrived += times.len() as u64;
        for &now in times {
            self.times = self.times.wrapping_add(now as u64);
        }
    }
}

/// Originals that may be sorted arrive in order at `times`, ascending, and are too few to fill a ring; `counts` are the arrivals
/// before. Only the sums of the cards change: a caller that follows each delivery finds the batches that end by itself.
pub(crate) fn join(cards: &mut [Card], times: &[i64], counts: &Counts) {
    // What a card does waits for what it did before; three at a time wait no longer than one.
    let (threes, rest) = cards.as_chunks_mut::<3>();
    for three in threes {
        join_side_by_side(three, times, counts);
    }
    for card in rest {
        join_side_by_side(std::array::from_mut(card), times, counts);
    }
}

#[inline(always)]
fn join_side_by_side<const N: usize>(cards: &mut [Card; N], times: &[i64], counts: &Counts) {
    let coalesce_ns = cards.each_ref().map(|card| card.coalesce_ns);
    let mut fire_ns = cards.each_ref().map(|card| card.fire_ns);
    let mut delivered = cards.each_ref().map(|card| card.delivered);
    // The place of the first arrival of the current batch, from 1.
    let mut first = [0_usize; N];
    for (&now, place) in times.iter().zip(1..) {
        for i in 0..N {
            // Selects instead of branches: whether a batch ends is hard to predict.
            let ended = now > fire_ns[i];
            let next = now.wrapping_add(coalesce_ns[i]);
            first[i] = select_unpredictable(ended, place, first[i]);
            fire_ns[i] = select_unpredictable(ended, next, fire_ns[i]);
            delivered[i] = delivered[i].wrapping_add(fire_ns[i] as u64);
            cards[i].delays.add(fire_ns[i].wrapping_sub(now));
        }
    }
    for (i, card) in cards.iter_mut().enumerate() {
        card.delivered = delivered[i];
        if let Some(first) = first[i].checked_sub(1) {
            card.ended(first, fire_ns[i], times, counts);
        }
    }
}

/// How long packets waited for their interrupt, nanoseconds. The quantiles are read off to a 32nd of the coalescing time, as if no
/// ring had been full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    pub(crate) mean_ns: u64,
    pub(crate) p50_ns: Option<u64>,
    pub(crate) p99_ns: Option<u64>,
    pub(crate) max_ns: u64,
}

/// One coalescing time.
#[derive(Debug)]
pub(crate) struct Card {
    pub(crate) coalesce_ns: i64,
    /// When the interrupt of the current batch comes.
    pub(crate) fire_ns: i64,
    /// The first arrival that its sorters have not delivered.
    pub(crate) from: u64,
    /// What it delivers is followed.
    pub(crate) followed: bool,
    /// The current batch: its first arrival, and the time of it.
    first: u64,
    first_ns: i64,
    /// Suitable arrivals before the sorters' ring was last empty.
    ring_from: u64,
    /// Sum over all arrivals of the times of their interrupts, modulo 2^64.
    delivered: u64,
    max_delay_ns: i64,
    delays: Delays,
}

impl Card {
    pub(crate) fn new(coalesce_ns: i64) -> Self {
        Card {
            coalesce_ns,
            fire_ns: i64::MIN,
            from: 0,
            followed: false,
            first: 0,
            first_ns: i64::MIN,
            ring_from: 0,
            delivered: 0,
            max_delay_ns: 0,
            delays: Delays::new(coalesce_ns),
        }
    }

    /// The interrupt that comes `coalesce_ns` after `now`; times are such that it is a number.
    #[inline]
    fn interrupt(&self, now: i64) -> i64 {
        now.wrapping_add(self.coalesce_ns)
    }

    /// Everything since [`Card::begin`] was delivered at the interrupt.
    #[inline]
    fn end(&mut self) {
        let longest = self.fire_ns.saturating_sub(self.first_ns);
        self.max_delay_ns = self.max_delay_ns.max(longest);
    }

    /// Arrival `first`, at `now`, finds the ring idle.
    #[inline]
    fn begin(&mut self, first: u64, now: i64, suitable_before: u64) {
        self.first = first;
        self.first_ns = now;
        self.ring_from = suitable_before;
    }

    /// The batch has ended during `times`, and maybe others: the current one begins at place `first`
    /// of them and ends at `fire_ns`.
    #[inline]
    fn ended(&mut self, first: usize, fire_ns: i64, times: &[i64], counts: &Counts) {
        self.end();
        let ended_ns = std::mem::replace(&mut self.fire_ns, fire_ns);
        let before = first as u64;
        let at = |place: usize| times.get(place).copied();
        if first
            .checked_sub(1)
            .and_then(at)
            .is_some_and(|now| now > ended_ns)
        {
            // A whole batch has come and gone, and no full ring cut it short.
            self.max_delay_ns = self.max_delay_ns.max(self.coalesce_ns);
        }
        let now = at(first).unwrap_or(ended_ns);
        self.begin(counts.arrived + before, now, counts.suitable() + before);
        self.from = self.first;
    }

    /// Ends the batch if its interrupt came before `now`; the next begins with what arrives now.
    #[inline]
    pub(crate) fn end_before(&mut self, now: i64, counts: &Counts) -> bool {
        let ended = self.fire_ns < now;
        if ended {
            self.end();
            self.begin(counts.arrived, now, counts.suitable());
            self.fire_ns = self.interrupt(now);
        }
        ended
    }

    /// Something arrives now and joins the current batch.
    #[inline]
    pub(crate) fn add(&mut self, now: i64) {
        self.delivered = self.delivered.wrapping_add(self.fire_ns as u64);
        self.delays.add(self.fire_ns.wrapping_sub(now));
    }

    /// Suitable arrivals since the sorters' ring was last empty.
    #[inline]
    pub(crate) fn held(&self, counts: &Counts) -> u64 {
        counts.suitable() - self.ring_from
    }

    #[inline]
    pub(crate) fn empty_ring(&mut self, counts: &Counts) {
        self.ring_from = counts.suitable();
    }

    /// Fires if the ring is full; how many arrivals fit before this must be asked again.
    #[inline]
    pub(crate) fn fill(&mut self, now: i64, counts: &Counts, ring: u64) -> u64 {
        let packets = counts.arrived - self.first;
        if packets < ring {
            return ring - packets;
        }
        // Later arrivals at this very time still join.
        let earlier = self.fire_ns.wrapping_sub(now).max(0);
        self.delivered = self
            .delivered
            .wrapping_sub((earlier as u64).wrapping_mul(packets));
        self.fire_ns = self.fire_ns.min(now);
        ring.saturating_sub(self.held(counts))
    }

    /// The times that packets waited, once everything is delivered.
    pub(crate) fn finish(&mut self, counts: &Counts) -> Waited {
        self.end();
        let waited = self.delivered.wrapping_sub(counts.times);
        let max_ns = self.max_delay_ns.max(0) as u64;
        let quantiles = self.delays.quantiles([0.5, 0.99]);
        let [p50_ns, p99_ns] = quantiles.map(|ns| ns.map(|ns| ns.min(max_ns)));
        Waited {
            mean_ns: waited / counts.arrived.max(1),
            p50_ns,
            p99_ns,
            max_ns,
        }
    }
}
