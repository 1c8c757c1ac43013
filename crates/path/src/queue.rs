//! Limits of queues, and the number of waiting packets.

use inorder_scenario::config as plain;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Maximum content of a drop-tail queue. The packet being sent is no longer in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Nothing is ever dropped.
    Unlimited,
    /// Packets.
    Packets(u64),
    /// Bytes on the wire, frame overhead included.
    Bytes(u64),
    /// The bytes that the link's rate at time 0 carries in a round-trip time: a bandwidth-delay product.
    Bdp {
        /// Round-trip time, nanoseconds.
        rtt_ns: i64,
    },
}

impl Limit {
    /// True if a frame of `frame` bytes may be added to `packets` packets with `bytes` bytes in total.
    #[inline]
    pub(crate) fn admits(self, packets: usize, bytes: u64, frame: u32) -> bool {
        match self {
            Limit::Packets(limit) => (packets as u64) < limit,
            Limit::Bytes(limit) => bytes.saturating_add(frame.into()) <= limit,
            Limit::Unlimited | Limit::Bdp { .. } => true,
        }
    }

    /// A bandwidth-delay product in bytes, for a rate in bit/s.
    pub(crate) fn resolve(self, bits_per_s: u64) -> Limit {
        let Limit::Bdp { rtt_ns } = self else {
            return self;
        };
        let bytes =
            u128::from(bits_per_s) * u128::from(rtt_ns.max(0).cast_unsigned()) / 8_000_000_000;
        Limit::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl From<plain::Queue> for Limit {
    fn from(queue: plain::Queue) -> Self {
        match queue {
            plain::Queue::Unlimited => Limit::Unlimited,
            plain::Queue::Packets(packets) => Limit::Packets(packets),
            plain::Queue::Bytes(bytes) => Limit::Bytes(bytes),
        }
    }
}

/// A first-in first-out queue, represented only by the times at which packets leave it.
#[derive(Clone, Debug)]
pub(crate) struct Backlog {
    limit: Limit,
    leave: VecDeque<(i64, u32)>,
    bytes: u64,
}

impl Backlog {
    pub(crate) fn new(limit: Limit) -> Self {
        Backlog {
            limit,
            leave: VecDeque::new(),
            bytes: 0,
        }
    }

    /// True if a packet of `bytes` may be added at `now_ns`.
    #[inline]
    pub(crate) fn admits(&mut self, now_ns: i64, bytes: u32) -> bool {
        while let Some(&(leaves_ns, left)) = self.leave.front()
            && leaves_ns <= now_ns
        {
            self.leave.pop_front();
            self.bytes -= u64::from(left);
        }
        self.fits(bytes)
    }

    /// Adds a packet that leaves at `leaves_ns`, which is not before those already in the queue.
    #[inline]
    pub(crate) fn add(&mut self, leaves_ns: i64, bytes: u32) {
        if self.limit != Limit::Unlimited {
            self.leave.push_back((leaves_ns, bytes));
            self.bytes += u64::from(bytes);
        }
    }

    #[inline]
    fn fits(&self, bytes: u32) -> bool {
        self.limit.admits(self.leave.len(), self.bytes, bytes)
    }
}

/// Counts packets that leave in another order than they arrived, compared with a limit.
///
/// Only a full queue needs to know which packets have left; until then, departure times are only recorded. A queue
/// that stays nearly full keeps them in a heap, so that it never scans all of them.
#[derive(Clone, Debug)]
pub(crate) struct Census {
    limit: usize,
    noted: Vec<i64>,
    heap: BinaryHeap<Reverse<i64>>,
}

impl Census {
    /// `limit` in packets; `None` for no limit.
    pub(crate) fn new(limit: Option<usize>) -> Self {
        Census {
            limit: limit.unwrap_or(usize::MAX),
            noted: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// True if there is room for another packet at `now_ns`.
    #[inline]
    pub(crate) fn admits(&mut self, now_ns: i64) -> bool {
        self.len() < self.limit || self.admits_after_counting(now_ns)
    }

    /// Adds a packet that leaves at `leaves_ns`.
    #[inline]
    pub(crate) fn add(&mut self, leaves_ns: i64) {
        if self.limit != usize::MAX {
            self.noted.push(leaves_ns);
        }
    }

    fn len(&self) -> usize {
        self.noted.len() + self.heap.len()
    }

    #[inline(never)]
    fn admits_after_counting(&mut self, now_ns: i64) -> bool {
        while self.heap.peek().is_some_and(|&Reverse(t)| t <= now_ns) {
            self.heap.pop();
        }
        self.noted.retain(|&t| t > now_ns);
        if self.len() > self.limit / 4 * 3 {
            self.heap.extend(self.noted.drain(..).map(Reverse));
        }
        self.len() < self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bandwidth_delay_product() {
        let bdp = Limit::Bdp { rtt_ns: 40_000_000 };
        assert_eq!(bdp.resolve(20_000_000), Limit::Bytes(100_000));
        assert_eq!(Limit::Packets(3).resolve(1), Limit::Packets(3));
        let huge = Limit::Bdp { rtt_ns: i64::MAX };
        assert_eq!(huge.resolve(u64::MAX), Limit::Bytes(u64::MAX));
    }

    proptest! {
        #[test]
        fn the_census_is_a_count(
            limit in 0usize..12,
            packets in prop::collection::vec((0i64..20, 0i64..200), 0..200),
        ) {
            let mut census = Census::new(Some(limit));
            let mut inside: Vec<i64> = Vec::new();
            let mut now = 0;
            for (gap, stay) in packets {
                now += gap;
                inside.retain(|&t| t > now);
                let room = inside.len() < limit;
                prop_assert_eq!(census.admits(now), room);
                if room {
                    census.add(now + stay);
                    inside.push(now + stay);
                }
            }
        }
    }
}
