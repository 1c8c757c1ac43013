//! Forming batches from arrival times, where no network card does it.
//!
//! The model of the paper's section 3.1 (figure 1): the first packet at an idle ring starts the
//! card's coalescing delay; then the softirq fetches packets, those that arrive meanwhile too,
//! until the ring is empty. All that is one batch.

/// Forms batches; times are nanoseconds.
///
/// ```
/// use inorder_sort::Batcher;
/// let mut batcher = Batcher::new(75_000, 512, 0);
/// assert!(batcher.arrive(0).ended.is_none());
/// assert!(batcher.arrive(75_000).ended.is_none()); // as the softirq starts: still in
/// let first = batcher.arrive(75_001).ended.unwrap();
/// assert_eq!((first.packets, first.end_ns), (2, 75_000));
/// ```
#[derive(Clone, Debug)]
pub struct Batcher {
    coalesce_ns: i64,
    ring_size: u64,
    per_packet_ns: i64,
    current: Option<Batch>,
    now_ns: i64,
}

/// A batch: what one softirq fetches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Arrival of the first packet.
    pub first_ns: i64,
    /// The softirq starts fetching.
    pub fire_ns: i64,
    /// The ring is empty; of a batch not yet ended, as far as known.
    pub end_ns: i64,
    /// Packets in the batch.
    pub packets: u64,
    /// Of those, packets that met a full ring while the softirq worked: the first of them a card
    /// would have dropped. They are counted and kept, for who feeds arrivals knows they arrived,
    /// so the ring stays full longer than a card's would.
    pub overruns: u64,
    per_packet_ns: i64,
}

impl Batch {
    /// When the softirq has moved the packet with this number (from 0) within the batch.
    #[inline]
    pub fn handled_ns(&self, index: u64) -> i64 {
        let packets = i64::try_from(index.saturating_add(1)).unwrap_or(i64::MAX);
        self.fire_ns
            .saturating_add(packets.saturating_mul(self.per_packet_ns))
    }
}

/// What an arrival means for the batch before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Boundary {
    /// The previous batch, when it had ended before this packet; the packet begins a new one.
    pub ended: Option<Batch>,
    /// The packet met a full ring; see [`Batch::overruns`].
    pub overrun: bool,
}

impl Batcher {
    /// `coalesce_ns`: T_intr, from the first packet at an idle ring to the softirq.
    /// `ring_size`: packets the ring holds, at least 1; a ring that fills while the interrupt is
    /// still pending fires it at once. `per_packet_ns`: time the softirq takes a packet, 1 / R_sn;
    /// 0 for no time at all. Negative times count as 0.
    pub fn new(coalesce_ns: i64, ring_size: usize, per_packet_ns: i64) -> Self {
        Batcher {
            coalesce_ns: coalesce_ns.max(0),
            ring_size: ring_size.max(1) as u64,
            per_packet_ns: per_packet_ns.max(0),
            current: None,
            now_ns: i64::MIN,
        }
    }

    /// A packet arrives. Time that runs backwards, as in some captures, counts as standing still.
    pub fn arrive(&mut self, now_ns: i64) -> Boundary {
        self.now_ns = self.now_ns.max(now_ns);
        let now = self.now_ns;
        match self.current {
            Some(ref mut batch) if now <= batch.end_ns => {
                let overrun = Self::join(batch, now, self.ring_size);
                Boundary {
                    ended: None,
                    overrun,
                }
            }
            ended => {
                self.current = Some(self.begin(now));
                Boundary {
                    ended,
                    overrun: false,
                }
            }
        }
    }

    /// The batch being formed.
    pub fn current(&self) -> Option<&Batch> {
        self.current.as_ref()
    }

    /// The batch being formed, if its softirq had started when the last packet arrived.
    pub fn fired(&self) -> Option<&Batch> {
        self.current().filter(|batch| batch.fire_ns <= self.now_ns)
    }

    /// The batch being formed, if it has ended by `now_ns`; it is taken out.
    pub fn poll(&mut self, now_ns: i64) -> Option<Batch> {
        self.current.take_if(|batch| batch.end_ns < now_ns)
    }

    /// No more packets: the last batch, if any.
    pub fn finish(&mut self) -> Option<Batch> {
        self.current.take()
    }

    fn begin(&self, now: i64) -> Batch {
        let fire_ns = if self.ring_size == 1 {
            now
        } else {
            now.saturating_add(self.coalesce_ns)
        };
        Batch {
            first_ns: now,
            fire_ns,
            end_ns: fire_ns.saturating_add(self.per_packet_ns),
            packets: 1,
            overruns: 0,
            per_packet_ns: self.per_packet_ns,
        }
    }

    /// Adds a packet that arrives before the ring is empty; true when the ring was full.
    fn join(batch: &mut Batch, now: i64, ring_size: u64) -> bool {
        let waiting = if now <= batch.fire_ns {
            batch.packets
        } else {
            // The softirq works without a pause, so what is left of its time is what is left in
            // the ring, the packet in its hands included.
            let left_ns = batch.end_ns.saturating_sub(now).max(0) as u64;
            left_ns.div_ceil(batch.per_packet_ns.max(1) as u64)
        };
        let overrun = waiting >= ring_size;
        batch.packets = batch.packets.saturating_add(1);
        batch.overruns += u64::from(overrun);
        if now < batch.fire_ns && batch.packets >= ring_size {
            batch.fire_ns = now;
        }
        batch.end_ns = batch.handled_ns(batch.packets - 1);
        overrun
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const US: i64 = 1_000;

    /// Sizes of the batches that arrivals at `times` form.
    fn sizes(mut batcher: Batcher, times: impl IntoIterator<Item = i64>) -> Vec<u64> {
        let mut sizes: Vec<u64> = Vec::new();
        for t in times {
            sizes.extend(batcher.arrive(t).ended.map(|b| b.packets));
        }
        sizes.extend(batcher.finish().map(|b| b.packets));
        sizes
    }

    #[test]
    fn the_interrupt_waits_for_the_first_packet_only() {
        let times = [0, 40 * US, 75 * US, 76 * US, 151 * US, 152 * US];
        assert_eq!(sizes(Batcher::new(75 * US, 512, 0), times), [3, 2, 1]);
    }

    #[test]
    fn what_arrives_while_the_softirq_works_joins() {
        // 10 us a packet: fires at 75, packet one done at 85; 80 joins, done at 95; 95 joins.
        let times = [0, 80 * US, 95 * US, 106 * US];
        assert_eq!(sizes(Batcher::new(75 * US, 512, 10 * US), times), [3, 1]);
    }

    #[test]
    fn packets_are_handled_one_after_another() {
        let mut batcher = Batcher::new(75 * US, 512, 10 * US);
        batcher.arrive(0);
        batcher.arrive(80 * US);
        let batch = batcher.finish().unwrap();
        assert_eq!(batch.handled_ns(0), 85 * US);
        assert_eq!(batch.handled_ns(1), 95 * US);
        assert_eq!(batch.end_ns, 95 * US);
    }

    #[test]
    fn a_full_ring_fires_at_once() {
        let mut batcher = Batcher::new(75 * US, 4, 0);
        for t in [0, 1, 2, 3] {
            assert!(batcher.arrive(t * US).ended.is_none());
        }
        let batch = batcher.arrive(4 * US).ended.unwrap();
        assert_eq!(
            (batch.packets, batch.fire_ns, batch.overruns),
            (4, 3 * US, 0)
        );
    }

    #[test]
    fn a_softirq_too_slow_overruns_its_ring() {
        let mut batcher = Batcher::new(0, 4, 10 * US);
        let overruns = (0..20).filter(|t| batcher.arrive(t * US).overrun).count() as u64;
        let batch = batcher.finish().unwrap();
        assert_eq!(batch.packets, 20);
        assert_eq!(batch.overruns, overruns);
        // The first leaves at 10 us, but by then ten have come: from the fifth on all find it full.
        assert_eq!(overruns, 16);
    }

    #[test]
    fn polling_ends_a_batch_without_an_arrival() {
        let mut batcher = Batcher::new(75 * US, 512, 0);
        batcher.arrive(0);
        assert_eq!(batcher.poll(75 * US), None);
        assert_eq!(batcher.poll(76 * US).map(|b| b.packets), Some(1));
        assert_eq!(batcher.finish(), None);
    }

    #[test]
    fn figure_2_batch_sizes() {
        // 1500-byte packets at the paper's three rates, T_intr 90 us, a fast softirq.
        let mean = |mbps: f64| {
            let gap_ns = 1500.0 * 8.0 * 1e3 / mbps;
            let times = (0..20_000).map(|i| (f64::from(i) * gap_ns) as i64);
            let batches = sizes(Batcher::new(90 * US, 512, 50), times);
            20_000.0 / batches.len() as f64
        };
        assert_eq!(mean(95.3), 1.0);
        assert!((7.0..8.5).contains(&mean(938.0)), "{}", mean(938.0));
        assert!((44.0..47.0).contains(&mean(5890.0)), "{}", mean(5890.0));
    }

    #[test]
    fn odd_times_do_no_harm() {
        let times = [i64::MAX, i64::MIN, 0, i64::MAX - 1];
        for (coalesce, ring, per_packet) in [(i64::MAX, 0, i64::MAX), (-5, 1, -5), (0, 2, 1)] {
            let total: u64 = sizes(Batcher::new(coalesce, ring, per_packet), times)
                .iter()
                .sum();
            assert_eq!(total, 4);
        }
    }
}
