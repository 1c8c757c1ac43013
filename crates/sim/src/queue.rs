//! The event queue: earliest first, by (time, priority, order of scheduling).
//!
//! A heap of four children a node holds small keys; the events themselves stay where they are.

/// What comes first among events of one time: smaller numbers.
pub type Priority = u8;

/// Events to come.
#[derive(Debug)]
pub struct Queue<E> {
    heap: Vec<Key>,
    slots: Vec<Option<E>>,
    free: Vec<u32>,
    /// Events scheduled so far.
    sequence: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key {
    time_ns: u64,
    /// Priority in the upper 8 bits, then the sequence number: 2^56 events take 3000 years.
    order: u64,
    slot: u32,
}

const CHILDREN: usize = 4;

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Queue {
            heap: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            sequence: 0,
        }
    }
}

impl<E> Queue<E> {
    /// Schedules an event.
    #[inline]
    pub fn push(&mut self, time_ns: u64, priority: Priority, event: E) {
        let slot = self.store(event);
        let order = u64::from(priority) << 56 | self.sequence;
        self.sequence += 1;
        self.heap.push(Key {
            time_ns,
            order,
            slot,
        });
        self.rise(self.heap.len() - 1);
    }

    /// The next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, E)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sink(last);
        }
        let event = self.slots.get_mut(first.slot as usize)?.take()?;
        self.free.push(first.slot);
        Some((first.time_ns, event))
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
        loop {
            let first = at * CHILDREN + 1;
            let end = (first + CHILDREN).min(heap.len());
            let Some(children) = heap.get(first..end) else {
                break;
            };
            let Some((smallest, child)) = children.iter().enumerate().min_by_key(|(_, key)| **key)
            else {
                break;
            };
            if key < *child {
                break;
            }
            heap[at] = *child;
            at = first + smallest;
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
            steps in prop::collection::vec((0u64..50, 0u8..3, any::<bool>()), 1..300),
        ) {
            let mut queue = Queue::default();
            let mut list: Vec<(u64, u8, usize)> = Vec::new();
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
