//! The event queue: earliest first, by (time, priority, order of scheduling).
//!
//! A heap of four children a node holds keys of 16 bytes, so that the four share a cache line; the
//! events themselves stay where they are.

/// What comes first among events of one time: smaller numbers, below 8.
pub type Priority = u8;

/// Events to come.
#[derive(Debug)]
pub struct Queue<E> {
    heap: Vec<Key>,
    slots: Vec<Option<E>>,
    free: Vec<u32>,
    /// Events scheduled so far.
    sequence: u64,
    overflowed: bool,
}

/// From the top: 64 bits of time with its sign, 3 of priority, 37 of sequence (1.4 10^11 events), 24 of slot.
/// Comparing two is comparing two numbers.
type Key = i128;

const SLOT_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 37;
const CHILDREN: usize = 4;

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Queue {
            heap: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            overflowed: false,
        }
    }
}

impl<E> Queue<E> {
    /// Schedules an event. See [`Queue::has_overflowed`].
    #[inline]
    pub fn push(&mut self, time_ns: i64, priority: Priority, event: E) {
        let slot = self.store(event);
        if slot >> SLOT_BITS != 0 || self.sequence >> SEQUENCE_BITS != 0 {
            self.overflowed = true;
            return;
        }
        let order = u64::from(priority & 7) << (SEQUENCE_BITS + SLOT_BITS)
            | self.sequence << SLOT_BITS
            | u64::from(slot);
        self.sequence += 1;
        self.heap
            .push(i128::from(time_ns) << 64 | i128::from(order));
        self.rise(self.heap.len() - 1);
    }

    /// The next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(i64, E)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        let slot = (first as u32) & ((1 << SLOT_BITS) - 1);
        let event = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        Some(((first >> 64) as i64, event))
    }

    /// More than 16 million events were pending at once, or more than 10^11 scheduled: some are
    /// lost.
    pub fn has_overflowed(&self) -> bool {
        self.overflowed
    }

    #[inline]
    fn store(&mut self, event: E) -> u32 {
        if let Some(slot) = self.free.pop()
            && let Some(place) = self.slots.get_mut(slot as usize)
        {
            *place = Some(event);
            return slot;
        }
        self.slots.push(Some(event));
        (self.slots.len() - 1) as u32
    }

    /// The key at `at` moves up to its place.
    #[inline]
    fn rise(&mut self, mut at: usize) {
        let heap = self.heap.as_mut_slice();
        let key = heap[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if heap[parent] < key {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = key;
    }

    /// `key` takes the place of the first one and moves down to its own.
    #[inline]
    fn sink(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        // Nodes with all four children, which are all but one.
        while let Some([a, b, c, d]) = heap.get(at * CHILDREN + 1..at * CHILDREN + 5) {
            let (left, left_at) = if a < b { (*a, 1) } else { (*b, 2) };
            let (right, right_at) = if c < d { (*c, 3) } else { (*d, 4) };
            let (child, child_at) = if left < right {
                (left, left_at)
            } else {
                (right, right_at)
            };
            if key < child {
                heap[at] = key;
                return;
            }
            heap[at] = child;
            at = at * CHILDREN + child_at;
        }
        let last = heap.get(at * CHILDREN + 1..).unwrap_or_default();
        if let Some((child_at, child)) = last.iter().enumerate().min_by_key(|(_, key)| **key)
            && *child < key
        {
            heap[at] = *child;
            at = at * CHILDREN + 1 + child_at;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn time_then_priority_then_order() {
        let mut queue = Queue::default();
        for (name, (time, priority)) in
            ["d", "b", "c", "a"]
                .iter()
                .zip([(2, 0), (1, 1), (1, 1), (1, 0)])
        {
            queue.push(time, priority, *name);
        }
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(order, [(1, "a"), (1, "b"), (1, "c"), (2, "d")]);
    }

    proptest! {
        #[test]
        fn a_heap_is_a_sorted_list(
            steps in prop::collection::vec((-20i64..30, 0u8..3, any::<bool>()), 1..300),
        ) {
            let mut queue = Queue::default();
            let mut list: Vec<(i64, u8, usize)> = Vec::new();
            for (number, (time, priority, pop)) in steps.into_iter().enumerate() {
                queue.push(time, priority, number);
                list.push((time, priority, number));
                if pop {
                    list.sort_unstable();
                    let (time, _, number) = list.remove(0);
                    prop_assert_eq!(queue.pop(), Some((time, number)));
                }
            }
            list.sort_unstable();
            for (time, _, number) in list {
                prop_assert_eq!(queue.pop(), Some((time, number)));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }
}
