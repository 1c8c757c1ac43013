//! The event queue: firings in progress or running clocks, ordered by the time at which they end.
//!
//! A 4-ary heap of 16-byte keys: the time in the upper half, the order of insertion and the slot of the firing in the
//! lower half. One comparison of 128 bits orders by (time, order of start), and four children share a cache line. A
//! typical queueing net has about a hundred firings in progress, which gives three levels.

/// Number of bits of the lower half for the slot; the others count insertions.
const SLOT_BITS: u32 = 24;

/// Maximum number of firings in progress.
pub(crate) const MAX_SLOTS: usize = 1 << SLOT_BITS;

const ARITY: usize = 4;

/// Events that were cancelled wait for their time while they are the minority of a queue of this length or of a shorter
/// one.
const SWEEP_FROM: usize = 64;

/// Events ordered by (time, order of insertion), each with a slot of its own. The slot of an event that was taken out
/// belongs to the caller until it is freed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    heap: Vec<u128>,
    inserted: u64,
    /// By slot: its event is still in the queue, but does not happen.
    is_cancelled: Vec<bool>,
    cancelled: usize,
    free: Vec<u32>,
}

impl Events {
    /// The time of the earliest event, in ticks.
    #[inline]
    pub(crate) fn next_time(&mut self) -> Option<u64> {
        if self.cancelled > 0 {
            self.forget_first();
        }
        self.heap.first().map(|&key| time_of(key))
    }

    /// Removes cancelled events that are the earliest.
    #[inline(never)]
    fn forget_first(&mut self) {
        while let Some(&key) = self.heap.first()
            && self.is_cancelled[split(key).1 as usize]
        {
            self.remove_first();
            self.forget(split(key).1);
        }
    }

    /// Adds an event; its slot, or `None` if there are too many.
    #[inline]
    pub(crate) fn insert(&mut self, time: u64) -> Option<u32> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow()?,
        };
        self.insert_again(time, slot);
        Some(slot)
    }

    #[cold]
    fn grow(&mut self) -> Option<u32> {
        let slot = self.is_cancelled.len();
        (slot < MAX_SLOTS).then(|| {
            self.is_cancelled.push(false);
            slot as u32
        })
    }

    /// Adds an event for a slot that has none.
    #[inline]
    pub(crate) fn insert_again(&mut self, time: u64, slot: u32) {
        let low = self.inserted << SLOT_BITS | u64::from(slot);
        self.inserted = self.inserted.wrapping_add(1);
        self.heap.push(u128::from(time) << 64 | u128::from(low));
        self.rise(self.heap.len() - 1);
    }

    /// Takes out the earliest event, if it is not later than `end`: its time and its slot.
    #[inline]
    pub(crate) fn pop_until(&mut self, end: u64) -> Option<(u64, u32)> {
        match self.next_time() {
            Some(time) if time <= end => self.remove_first().map(split),
            _ => None,
        }
    }

    /// Frees the slot of an event that was taken out.
    #[inline]
    pub(crate) fn free(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// An event that is in the queue will not happen; its slot is freed.
    pub(crate) fn cancel(&mut self, slot: u32) {
        self.is_cancelled[slot as usize] = true;
        self.cancelled += 1;
        // Memory for events that no longer matter stays in proportion to those that do.
        if self.cancelled * 2 > self.heap.len() && self.heap.len() > SWEEP_FROM {
            self.sweep();
        }
    }

    /// Takes out all events; their slots stay in use.
    pub(crate) fn take_out_all(&mut self) {
        self.sweep();
        self.heap.clear();
    }

    /// Whether nothing will happen.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.len() == self.cancelled
    }

    fn sweep(&mut self) {
        let mut heap = std::mem::take(&mut self.heap);
        heap.retain(|&key| {
            let slot = split(key).1;
            let is_cancelled = self.is_cancelled[slot as usize];
            if is_cancelled {
                self.forget(slot);
            }
            !is_cancelled
        });
        // A sorted list is a heap.
        heap.sort_unstable();
        self.heap = heap;
    }

    /// The event of a slot, which was cancelled, is no longer in the queue.
    fn forget(&mut self, slot: u32) {
        self.is_cancelled[slot as usize] = false;
        self.cancelled -= 1;
        self.free.push(slot);
    }

    #[inline]
    fn remove_first(&mut self) -> Option<u128> {
        let last = self.heap.pop()?;
        let Some(first) = self.heap.first_mut() else {
            return Some(last);
        };
        let key = std::mem::replace(first, last);
        self.sink();
        Some(key)
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

/// Index and value of the least of fewer than four children, at the end of the heap; the largest value if there is none.
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

    /// What a test does with the queue.
    #[derive(Debug, Clone)]
    enum Step {
        Insert(u64),
        Pop,
        /// Of the events in the queue, the one with this index modulo their number.
        Cancel(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            5 => (0u64..50).prop_map(Step::Insert),
            2 => Just(Step::Pop),
            2 => any::<usize>().prop_map(Step::Cancel),
        ]
    }

    proptest! {
        /// The straightforward twin: a sorted list of (time, insertion, slot).
        #[test]
        fn pops_like_a_sorted_list(steps in prop::collection::vec(step(), 0..600)) {
            let mut events = Events::default();
            let mut twin: Vec<(u64, usize, u32)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(time) => {
                        let slot = events.insert(time).expect("there is room");
                        prop_assert!(twin.iter().all(|event| event.2 != slot), "slot {} twice", slot);
                        twin.push((time, number, slot));
                        twin.sort_unstable();
                    }
                    Step::Cancel(which) if !twin.is_empty() => {
                        events.cancel(twin.remove(which % twin.len()).2);
                    }
                    Step::Cancel(_) => {}
                    Step::Pop => {
                        let expected = (!twin.is_empty()).then(|| twin.remove(0));
                        let found = events.pop_until(u64::MAX);
                        prop_assert_eq!(found, expected.map(|(time, _, slot)| (time, slot)));
                        found.into_iter().for_each(|(_, slot)| events.free(slot));
                    }
                }
                prop_assert_eq!(events.next_time(), twin.first().map(|event| event.0));
                prop_assert_eq!(events.is_empty(), twin.is_empty());
            }
        }
    }
}
