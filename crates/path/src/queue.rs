//! Limits of queues, and the number of waiting packets.

use inorder_scenario::config::Queue as Limit;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// True if a frame of `frame` bytes may be added to `packets` packets with `bytes` bytes on the wire in total. The packet
/// being sent is no longer in the queue.
#[inline]
pub(crate) fn admits(limit: Limit, packets: usize, bytes: u64, frame: u32) -> bool {
    match limit {
        Limit::Packets(limit) => (packets as u64) < limit,
        Limit::Bytes(limit) => bytes.saturating_add(frame.into()) <= limit,
        Limit::Unlimited => true,
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
        admits(self.limit, self.leave.len(), self.bytes, bytes)
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
