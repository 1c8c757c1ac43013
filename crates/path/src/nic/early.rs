//! Arrivals that are known before they happen.

use std::collections::VecDeque;

/// Packets in the order of their arrival times, independent of the order in which they are added; packets with equal
/// times in the order in which they were added.
///
/// Jitter moves a packet past only a few others, so its position is near the end. Only small entries are moved,
/// packets are not.
#[derive(Clone, Debug)]
pub(crate) struct Early<P> {
    /// Time, and the index of the packet.
    order: VecDeque<(i64, u32)>,
    packets: Vec<Option<P>>,
    free: Vec<u32>,
}

impl<P> Early<P> {
    pub(crate) fn new() -> Self {
        Early {
            order: VecDeque::new(),
            packets: Vec::new(),
            free: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, at_ns: i64, packet: P) {
        let entry = (at_ns, self.store(packet));
        match self.order.back() {
            Some(&(last_ns, _)) if last_ns > at_ns => {
                let place = self.order.partition_point(|&(t, _)| t <= at_ns);
                self.order.insert(place, entry);
            }
            _ => self.order.push_back(entry),
        }
    }

    /// The time of the `n`-th arrival from now, counted from 0.
    #[inline]
    pub(crate) fn time_ns(&self, n: usize) -> Option<i64> {
        self.order.get(n).map(|&(at_ns, _)| at_ns)
    }

    /// The next arrival, if it is not later than `now_ns`.
    #[inline]
    pub(crate) fn take(&mut self, now_ns: i64) -> Option<(i64, P)> {
        let &(at_ns, place) = self.order.front().filter(|(at_ns, _)| *at_ns <= now_ns)?;
        self.order.pop_front();
        self.free.push(place);
        Some((at_ns, self.packets.get_mut(place as usize)?.take()?))
    }

    fn store(&mut self, packet: P) -> u32 {
        if let Some(place) = self.free.pop()
            && let Some(slot) = self.packets.get_mut(place as usize)
        {
            *slot = Some(packet);
            return place;
        }
        self.packets.push(Some(packet));
        (self.packets.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_stable_sort(steps in prop::collection::vec((0i64..30, any::<bool>()), 0..100)) {
            let (mut early, mut plain, mut taken) = (Early::new(), Vec::new(), Vec::new());
            let mut expected = Vec::new();
            for (number, &(ahead, take)) in steps.iter().enumerate() {
                let now = number as i64;
                early.add(now + ahead, number);
                plain.push((now + ahead, number));
                if take {
                    taken.extend(std::iter::from_fn(|| early.take(now)));
                    plain.sort();
                    let due = plain.partition_point(|&(t, _)| t <= now);
                    expected.extend(plain.drain(..due));
                }
            }
            prop_assert_eq!(taken, expected);
        }
    }
}
