//! A network card with interrupt coalescing: which arrivals make a batch, and how long they wait.
//!
//! The rule is that of `inorder_srpic::Batcher` with a softirq that takes no time; here the
//! counting is done once for all cards of a flow, and a batch is the difference of two counts.

/// Counts over all arrivals of a flow.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Counts {
    /// Segments.
    pub(super) arrived: u64,
    /// Of these, retransmissions.
    pub(super) retransmissions: u64,
    /// Of these, unsuitable for sorting.
    pub(super) unsuitable: u64,
    /// Sum of the arrival times, modulo 2^64: only differences over a batch are used.
    times: u64,
}

impl Counts {
    /// Before the last arrival, a suitable original at `last_ns`.
    pub(super) fn without_last(&self, last_ns: i64) -> Self {
        Counts {
            arrived: self.arrived.saturating_sub(1),
            times: self.times.wrapping_sub(last_ns as u64),
            ..*self
        }
    }

    #[inline]
    pub(super) fn add(&mut self, now: i64) {
        self.arrived += 1;
        self.times = self.times.wrapping_add(now as u64);
    }
}

/// One coalescing time.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) coalesce_ns: i64,
    /// When the interrupt of the current batch comes.
    pub(super) fire_ns: i64,
    /// The first arrival that its sorters have not delivered.
    pub(super) from: u64,
    /// What it delivers is followed.
    pub(super) followed: bool,
    /// The current batch: its first arrival, the time of it, and the sum of times before.
    first: u64,
    first_ns: i64,
    times: u64,
    /// Suitable arrivals before the sorters' ring was last empty.
    ring_from: u64,
    /// Sum of the times that packets waited.
    pub(super) delay_ns: u64,
    pub(super) max_delay_ns: i64,
}

impl Card {
    pub(super) fn new(coalesce_ns: i64) -> Self {
        Card {
            coalesce_ns,
            fire_ns: i64::MIN,
            from: 0,
            followed: false,
            first: 0,
            first_ns: i64::MIN,
            times: 0,
            ring_from: 0,
            delay_ns: 0,
            max_delay_ns: 0,
        }
    }

    /// The batch has ended: everything since [`Card::begin`] was delivered at the interrupt.
    #[inline]
    pub(super) fn end(&mut self, counts: &Counts) {
        let packets = counts.arrived - self.first;
        let delivered = packets.wrapping_mul(self.fire_ns as u64);
        let arrived = counts.times.wrapping_sub(self.times);
        self.delay_ns += delivered.wrapping_sub(arrived);
        self.max_delay_ns = self
            .max_delay_ns
            .max(self.fire_ns.saturating_sub(self.first_ns));
    }

    /// So many batches of one packet each.
    pub(super) fn add_singles(&mut self, singles: u64) {
        self.delay_ns += singles.saturating_mul(self.coalesce_ns.max(0) as u64);
        if singles > 0 {
            self.max_delay_ns = self.max_delay_ns.max(self.coalesce_ns);
        }
    }

    /// The next arrival, at `now`, finds the ring idle.
    #[inline]
    pub(super) fn begin(&mut self, now: i64, counts: &Counts) {
        (self.first, self.times) = (counts.arrived, counts.times);
        self.first_ns = now;
        self.fire_ns = now.saturating_add(self.coalesce_ns);
        self.empty_ring(counts);
    }

    /// Suitable arrivals since the sorters' ring was last empty.
    #[inline]
    pub(super) fn held(&self, counts: &Counts) -> u64 {
        counts.arrived - counts.unsuitable - self.ring_from
    }

    #[inline]
    pub(super) fn empty_ring(&mut self, counts: &Counts) {
        self.ring_from = counts.arrived - counts.unsuitable;
    }

    /// Fires if the ring is full; how many arrivals fit before this must be asked again.
    #[inline]
    pub(super) fn fill(&mut self, now: i64, counts: &Counts, ring: u64) -> u64 {
        let packets = counts.arrived - self.first;
        if packets < ring {
            return ring - packets;
        }
        // Later arrivals at this very time still join.
        self.fire_ns = self.fire_ns.min(now);
        ring.saturating_sub(self.held(counts))
    }
}
