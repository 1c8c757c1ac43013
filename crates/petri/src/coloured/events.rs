//! The event queue: firings in progress, ordered by the time at which they end.
//!
//! A 4-ary heap of 16-byte keys: the time in the upper half, the order of insertion and the slot of the firing in the
//! lower half. One comparison of 128 bits orders by (time, order of start), and four children share a cache line. A
//! typical queueing net has about a hundred firings in progress, which gives three levels.

/// Number of bits of the lower half for the slot; the others count insertions.
const SLOT_BITS: u32 = 24;

/// Maximum number of firings in progress.
pub(crate) const MAX_SLOTS: usize = 1 << SLOT_BITS;

const ARITY: usize = 4;

/// Events ordered by (time, order of insertion).
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    heap: Vec<u128>,
    inserted: u64,
}

impl Events {
    /// The time of the earliest event, in ticks.
    #[inline]
    pub(crate) fn next_time(&self) -> Option<u64> {
        self.heap.first().map(|&key| time_of(key))
    }

    /// The slot of the earliest event.
    #[inline]
    pub(crate) fn next_slot(&self) -> Option<u32> {
        self.heap.first().map(|&key| split(key).1)
    }

    /// Adds an event. `slot` must be below [`MAX_SLOTS`].
    #[inline]
    pub(crate) fn push(&mut self, time: u64, slot: u32) {
        let low = self.inserted << SLOT_BITS | u64::from(slot);
        self.inserted = self.inserted.wrapping_add(1);
        self.heap.push(u128::from(time) << 64 | u128::from(low));
        self.rise(self.heap.len() - 1);
    }

    /// Removes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, u32)> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first_mut() else {
            return Some(split(last));
        };
        let key = std::mem::replace(first, last);
        self.sink();
        Some(split(key))
    }

    /// Number of events.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Keeps only the events whose slot is `wanted`.
    pub(crate) fn retain(&mut self, mut wanted: impl FnMut(u32) -> bool) {
        self.heap.retain(|&key| wanted(split(key).1));
        // A sorted list is a heap.
        self.heap.sort_unstable();
    }

    fn rise(&mut self, mut at: usize) {
        let key = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Moves the key at the root down to its position.
    #[inline]
    fn sink(&mut self) {
        let heap = &mut self.heap[..];
        let key = heap[0];
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let (child, least) = match heap.get(first..first + ARITY) {
                Some(&[a, b, c, d]) => least_of_four(first, [a, b, c, d]),
                _ => least_of_few(first, heap),
            };
            if least >= key {
                break;
            }
            heap[at] = least;
            at = child;
        }
        heap[at] = key;
    }
}

/// Index and value of the least of four children, by two rounds of comparisons without branches that could be
/// mispredicted.
#[inline]
fn least_of_four(first: usize, [a, b, c, d]: [u128; ARITY]) -> (usize, u128) {
    let left = if b < a { (first + 1, b) } else { (first, a) };
    let right = if d < c {
        (first + 3, d)
    } else {
        (first + 2, c)
    };
    if right.1 < left.1 { right } else { left }
}

/// The same at the end of the heap; the largest value if there is no child.
#[inline]
fn least_of_few(first: usize, heap: &[u128]) -> (usize, u128) {
    let children = heap.get(first..).unwrap_or_default();
    let mut best = (first, u128::MAX);
    for (offset, &key) in children.iter().enumerate() {
        if key < best.1 {
            best = (first + offset, key);
        }
    }
    best
}

fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

fn split(key: u128) -> (u64, u32) {
    (time_of(key), key as u32 & (MAX_SLOTS as u32 - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The straightforward twin: a sorted list of (time, insertion).
        #[test]
        fn pops_like_a_sorted_list(steps in prop::collection::vec(prop::option::weighted(0.6, 0u64..50), 0..400)) {
            let mut events = Events::default();
            let mut twin: Vec<(u64, usize, u32)> = Vec::new();
            for (i, step) in steps.into_iter().enumerate() {
                match step {
                    Some(time) => {
                        events.push(time, i as u32);
                        twin.push((time, i, i as u32));
                        twin.sort_unstable();
                    }
                    None => {
                        let expected = (!twin.is_empty()).then(|| twin.remove(0));
                        prop_assert_eq!(events.pop(), expected.map(|(time, _, slot)| (time, slot)));
                    }
                }
                prop_assert_eq!(events.next_time(), twin.first().map(|e| e.0));
            }
        }
    }
}
