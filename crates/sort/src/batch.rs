//! Forms batches from arrival times where there is no network card, for example from a capture.
//!
//! The model of section 3.1 (figure 1) of the SRPIC paper. The first packet at an idle ring starts the card's
//! coalescing delay. Then the softirq fetches packets, including those that arrive meanwhile, until the ring is
//! empty. These packets are one batch.

/// Forms batches. Times are in nanoseconds.
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

/// A batch: the packets that one softirq fetches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// Arrival of the first packet.
    pub first_ns: i64,
    /// Time at which the softirq starts fetching.
    pub fire_ns: i64,
    /// Time at which the ring is empty; for a batch that has not ended, as far as it is known.
    pub end_ns: i64,
    /// Number of packets in the batch.
    pub packets: u64,
    /// Number of those packets that arrived at a full ring while the softirq worked. A card would have dropped the
    /// first of them. They are counted and kept, because the caller knows that they arrived; so the ring stays full
    /// longer than the ring of a card.
    pub overruns: u64,
    per_packet_ns: i64,
}

impl Batch {
    /// Time at which the softirq has moved the packet with this number (from 0) within the batch.
    #[inline]
    pub(crate) fn handled_ns(&self, index: u64) -> i64 {
        let packets = i64::try_from(index.saturating_add(1)).unwrap_or(i64::MAX);
        self.fire_ns
            .saturating_add(packets.saturating_mul(self.per_packet_ns))
    }
}

/// What an arrival means for the previous batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Boundary {
    /// The previous batch, if it had ended before this packet. The packet then begins a new one.
    pub ended: Option<Batch>,
    /// True when the packet arrived at a full ring; see [`Batch::overruns`].
    pub overrun: bool,
}

impl Batcher {
    /// `coalesce_ns` is the time from the first packet at an idle ring to the softirq (T_intr). `ring_size` is the
    /// number of packets the ring holds, at least 1; a ring that fills while the interrupt is pending fires it at
    /// once. `per_packet_ns` is the time the softirq takes per packet (1 / R_sn), or 0. Negative times count as 0.
    pub fn new(coalesce_ns: i64, ring_size: usize, per_packet_ns: i64) -> Self {
        Batcher {
            coalesce_ns: coalesce_ns.max(0),
            ring_size: ring_size.max(1) as u64,
            per_packet_ns: per_packet_ns.max(0),
            current: None,
            now_ns: i64::MIN,
        }
    }

    /// A packet arrives. If time runs backwards, as in some captures, it is treated as unchanged.
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

    /// The time of the last arrival.
    pub(crate) fn now_ns(&self) -> i64 {
        self.now_ns
    }

    /// The batch being formed.
    pub fn current(&self) -> Option<&Batch> {
        self.current.as_ref()
    }

    /// The batch being formed, if its softirq had started when the last packet arrived.
    pub fn fired(&self) -> Option<&Batch> {
        self.current().filter(|batch| batch.fire_ns <= self.now_ns)
    }

    /// Takes the batch being formed if it has ended by `now_ns`.
    pub fn poll(&mut self, now_ns: i64) -> Option<Batch> {
        self.current.take_if(|batch| batch.end_ns < now_ns)
    }

    /// The last batch, if there is one; no packets follow.
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

    /// Adds a packet that arrives before the ring is empty. Returns true when the ring was full.
    fn join(batch: &mut Batch, now: i64, ring_size: u64) -> bool {
        let waiting = if now <= batch.fire_ns {
            batch.packets
        } else {
            // The softirq works without a pause, so its remaining time is that of the packets in the ring, including
            // the packet it is working on.
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
    fn only_the_first_packet_starts_the_coalescing_delay() {
        let times = [0, 40 * US, 75 * US, 76 * US, 151 * US, 152 * US];
        assert_eq!(sizes(Batcher::new(75 * US, 512, 0), times), [3, 2, 1]);
    }

    #[test]
    fn packets_that_arrive_while_the_softirq_works_join_the_batch() {
        // 10 us per packet: the interrupt is at 75 and the first packet is done at 85. The packet at 80 joins and is
        // done at 95; the packet at 95 joins.
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
        // The first packet leaves at 10 us, when ten have arrived: the fifth and all later ones find the ring full.
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
    fn unusual_times_do_not_panic() {
        let times = [i64::MAX, i64::MIN, 0, i64::MAX - 1];
        for (coalesce, ring, per_packet) in [(i64::MAX, 0, i64::MAX), (-5, 1, -5), (0, 2, 1)] {
            let total: u64 = sizes(Batcher::new(coalesce, ring, per_packet), times)
                .iter()
                .sum();
            assert_eq!(total, 4);
        }
    }
}
