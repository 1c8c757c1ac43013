//! A receiving card for packets of which only the arrival times are known: a ring with interrupt coalescing, a sorter,
//! and a softirq that takes no time.

use alloc::collections::VecDeque;

use crate::{
    AnySorter, Batch, Batcher, ConfigError, FlowKey, Meta, Sorter, SorterConfig, Surroundings,
};

/// The ring and the sorter of a card, without processor time. What it delivers goes to a function, with the time at
/// which the stack receives it, nanoseconds.
///
/// ```
/// use inorder_sort::{BatchCard, Meta, SorterConfig, Surroundings};
///
/// let srpic = SorterConfig::named("srpic")?;
/// let mut card = BatchCard::new(&srpic, 75_000, &Surroundings::default())?;
/// let mut stack = Vec::new();
/// for (at_ns, seq) in [(0, 2), (10_000, 1), (200_000, 3)] {
///     card.arrive(at_ns, &mut |packet, at_ns| stack.push((packet, at_ns)));
///     card.hold(Some(Meta::data(7_u32, seq, 1)), seq);
/// }
/// card.finish(&mut |packet, at_ns| stack.push((packet, at_ns)));
/// assert_eq!(stack, [(1, 75_000), (2, 75_000), (3, 275_000)]);
/// # Ok::<(), inorder_sort::ConfigError>(())
/// ```
pub struct BatchCard<F: FlowKey, T> {
    batcher: Batcher,
    sorter: AnySorter<F, T>,
    /// Packets that have arrived and whose interrupt has not fired yet. Those without facts pass the sorter by.
    ring: VecDeque<(Option<Meta<F>>, T)>,
}

impl<F: FlowKey, T> BatchCard<F, T> {
    /// A card whose ring holds `around.ring_packets` and whose interrupt comes `coalesce_ns` after the first packet.
    ///
    /// # Errors
    /// If the sorter's settings contradict each other.
    pub fn new(
        sorter: &SorterConfig,
        coalesce_ns: i64,
        around: &Surroundings,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            batcher: Batcher::new(coalesce_ns, around.ring_packets, 0),
            sorter: sorter.build(around)?,
            ring: VecDeque::new(),
        })
    }

    /// A packet arrives: all that leaves before it is delivered. Returns the batch that has ended, if one has. The packet
    /// itself is [held](Self::hold) then.
    pub fn arrive(&mut self, now_ns: i64, up: &mut impl FnMut(T, i64)) -> Option<Batch> {
        let ended = self.batcher.arrive(now_ns).ended;
        if let Some(batch) = ended {
            self.end_of_batch(batch.end_ns, up);
        }
        self.release(self.batcher.now_ns(), up);
        ended
    }

    /// Puts the packet that arrives into the ring. `None`: nothing is known of it, and no sorter looks at it.
    pub fn hold(&mut self, meta: Option<Meta<F>>, packet: T) {
        self.ring.push_back((meta, packet));
    }

    /// If the interrupt has already fired, by time or by a full ring, the softirq takes what waits: also packets that arrive
    /// at this very moment, so that never more than one ring waits. Without this call they wait until the batch has ended.
    pub fn fetch_fired(&mut self, up: &mut impl FnMut(T, i64)) {
        if let Some(batch) = self.batcher.fired() {
            self.fetch(batch.end_ns, up);
        }
    }

    /// Nothing arrives until after `now_ns`.
    pub fn advance(&mut self, now_ns: i64, up: &mut impl FnMut(T, i64)) {
        if let Some(batch) = self.batcher.poll(now_ns) {
            self.end_of_batch(batch.end_ns, up);
        }
        self.release(now_ns, up);
    }

    /// Nothing arrives any more. Returns the last batch.
    pub fn finish(&mut self, up: &mut impl FnMut(T, i64)) -> Option<Batch> {
        let last = self.batcher.finish();
        if let Some(batch) = last {
            self.end_of_batch(batch.end_ns, up);
        }
        self.release(i64::MAX, up);
        last
    }

    /// The sorter sees a packet that is delivered elsewhere.
    pub fn tell(&mut self, meta: &Meta<F>, packet: T, at_ns: i64) {
        self.sorter.push(meta, packet, at_ns, &mut |_| ());
    }

    /// Nothing waits in the ring or in the sorter.
    pub fn is_empty(&self) -> bool {
        self.sorter.held() == 0 && self.ring.is_empty()
    }

    /// The sorter.
    pub fn sorter(&self) -> &AnySorter<F, T> {
        &self.sorter
    }

    /// Bytes of memory, the card itself included.
    pub fn memory_footprint(&self) -> usize {
        let ring = self.ring.capacity() * size_of::<(Option<Meta<F>>, T)>();
        size_of::<Self>() - size_of_val(&self.sorter) + self.sorter.memory_footprint() + ring
    }

    /// The softirq passes the packets of the ring to the sorter.
    fn fetch(&mut self, at_ns: i64, up: &mut impl FnMut(T, i64)) {
        for (meta, packet) in self.ring.drain(..) {
            match meta {
                Some(meta) => {
                    let out = &mut |packet| up(packet, at_ns);
                    self.sorter.push(&meta, packet, at_ns, out);
                }
                None => up(packet, at_ns),
            }
        }
    }

    fn end_of_batch(&mut self, at_ns: i64, up: &mut impl FnMut(T, i64)) {
        self.release(at_ns, up);
        self.fetch(at_ns, up);
        self.sorter
            .end_of_batch(at_ns, &mut |packet| up(packet, at_ns));
    }

    /// The sorter's deadlines up to `until_ns` come, each at its own time.
    fn release(&mut self, until_ns: i64, up: &mut impl FnMut(T, i64)) {
        while let Some(due_ns) = self.sorter.next_deadline_ns().filter(|at| *at <= until_ns) {
            let out = &mut |packet| up(packet, due_ns);
            self.sorter.on_deadline(due_ns, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SORTERS;
    use proptest::prelude::*;
    use std::vec::Vec;

    const US: i64 = 1_000;

    /// What a card delivers of packets that come at `times`, by their numbers, and when; the ring is fetched as soon as its
    /// interrupt has fired, or only at the end of the batch.
    fn delivered(sorter: &SorterConfig, arrivals: &[(i64, u32)], early: bool) -> Vec<(u32, i64)> {
        let mut card = BatchCard::new(sorter, 50 * US, &Surroundings::ring(8)).unwrap();
        let mut up = Vec::new();
        for &(at_ns, number) in arrivals {
            card.arrive(at_ns, &mut |packet, at_ns| up.push((packet, at_ns)));
            card.hold(Some(Meta::data(7_u32, number, 1)), number);
            if early {
                card.fetch_fired(&mut |packet, at_ns| up.push((packet, at_ns)));
            }
        }
        card.finish(&mut |packet, at_ns| up.push((packet, at_ns)));
        assert!(card.is_empty());
        up
    }

    #[test]
    fn deadlines_come_at_their_own_time_and_not_at_the_next_arrival() {
        let window: SorterConfig = "window:hold=300us".parse().unwrap();
        // 3 waits for 2, which never comes, from the interrupt at 50 us on; the next packet arrives much later.
        let up = delivered(&window, &[(0, 1), (1, 3), (10_000 * US, 4)], false);
        assert_eq!(up, [(1, 50 * US), (3, 350 * US), (4, 10_050 * US)]);
    }

    #[test]
    fn a_packet_that_is_not_known_passes_the_sorter_by() {
        let mut card = BatchCard::new(&SorterConfig::default(), 0, &Surroundings::ring(8)).unwrap();
        let mut up = Vec::new();
        card.arrive(5, &mut |packet, at_ns| up.push((packet, at_ns)));
        card.hold(None::<Meta<u32>>, 'a');
        card.finish(&mut |packet, at_ns| up.push((packet, at_ns)));
        assert_eq!(up, [('a', 5)]);
    }

    proptest! {
        #[test]
        fn when_the_ring_is_fetched_changes_nothing(
            sorter in prop::sample::select(SORTERS),
            steps in prop::collection::vec((0_i64..100, 0_u32..20), 0..60),
        ) {
            let mut now = 0;
            let arrivals: Vec<_> = steps
                .into_iter()
                .map(|(gap, number)| {
                    now += gap * US;
                    (now, number)
                })
                .collect();
            let sorter = SorterConfig::of(sorter);
            let (early, late) = (delivered(&sorter, &arrivals, true), delivered(&sorter, &arrivals, false));
            prop_assert_eq!(early, late);
        }
    }
}
