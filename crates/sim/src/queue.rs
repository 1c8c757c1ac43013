//! The event queue: earliest first, ordered by (time, priority, order of scheduling).
//!
//! A heap with four children per node has keys of 16 bytes, so the four children share a cache line. Every node has
//! all four: places without an event hold the greatest key. The events themselves are not moved.
//!
//! Most events are scheduled in order: what a link sends later also arrives later. Such events wait in lanes (first
//! in, first out), and only the first event of a lane is in the heap, which therefore stays small for any number of
//! packets in transit.

use std::collections::VecDeque;

/// Order of events at the same time: smaller numbers first; must be below 8.
pub(crate) type Priority = u8;

/// The future events.
#[derive(Debug)]
pub(crate) struct Queue<E> {
    heap: Vec<Key>,
    /// Number of places of the heap in use; [`NONE`] is in the others.
    used: usize,
    slots: Vec<Option<E>>,
    free: Vec<u32>,
    /// The lanes of each source.
    lanes: Vec<[Lane<E>; LANES]>,
    /// Number of events scheduled so far.
    sequence: u64,
    overflowed: bool,
    /// The lane at whose next events somebody should look.
    look: Option<u32>,
}

/// From the top: 64 bits of time with its sign, 3 of priority, 37 of sequence (1.4 10^11 events), 1 that is set if
/// the event is the first of a lane, 23 of its slot or lane. Keys are compared as numbers.
type Key = i128;

const SLOT_BITS: u32 = 23;
const IN_LANE: u32 = 1 << SLOT_BITS;
const SEQUENCE_SHIFT: u32 = SLOT_BITS + 1;
const SEQUENCE_BITS: u32 = 37;
const CHILDREN: usize = 4;
/// No event: after all events, since those are numbered in 37 bits.
const NONE: Key = Key::MAX;

/// Number of lanes per source. If paths of unequal length alternate, or some packets are late, there are several
/// sequences, each of them in order.
const LANES: usize = 4;
/// Maximum number of events in a lane; further ones go to the heap, which has its own limit.
const LONGEST_LANE: usize = 1 << 20;

/// Events of a lane that leave between two looks at those behind them. With 16 of 5,000 flows a look saves less (1.98 s of processor where
/// 32 take 1.82), with more no more (1.77 to 2.1 s).
const BETWEEN_LOOKS: u32 = 32;
/// The first events of a lane, which are not looked at: it is their turn before memory answers.
const PASSED_OVER: usize = 4;
/// In a lane with fewer events there is no look: half a megabyte of packets is in a cache anyway.
const LONG_LANE: usize = 4_096;

/// Events of one source in the order of their keys.
#[derive(Debug)]
struct Lane<E> {
    events: VecDeque<(Key, E)>,
    /// Key of the last event; the smallest possible key if there is none.
    last: Key,
    /// Events that leave before the next look at those behind them.
    until_look: u32,
}

impl<E> Default for Lane<E> {
    fn default() -> Self {
        Lane {
            events: VecDeque::new(),
            last: Key::MIN,
            until_look: BETWEEN_LOOKS,
        }
    }
}

impl<E> Default for Queue<E> {
    fn default() -> Self {
        Queue {
            heap: vec![NONE],
            used: 0,
            slots: Vec::new(),
            free: Vec::new(),
            lanes: Vec::new(),
            sequence: 0,
            overflowed: false,
            look: None,
        }
    }
}

impl<E> Queue<E> {
    /// Schedules an event. See [`Queue::has_overflowed`].
    #[inline]
    pub(crate) fn push(&mut self, time_ns: i64, priority: Priority, event: E) {
        let key = self.key(time_ns, priority);
        self.push_in_heap(key, event);
    }

    /// The same for an event from `source`, numbered from 0, whose events are mostly scheduled in order of time: this
    /// is cheaper. The order of `pop` is the same.
    #[inline]
    pub(crate) fn push_from(&mut self, source: u16, time_ns: i64, priority: Priority, event: E) {
        let key = self.key(time_ns, priority);
        let source = usize::from(source);
        if self.lanes.len() <= source {
            self.lanes.resize_with(source + 1, Default::default);
        }
        let lanes = &mut self.lanes[source];
        let fits = |lane: &Lane<E>| lane.last < key && lane.events.len() < LONGEST_LANE;
        if let Some(at) = lanes.iter().position(fits) {
            let lane = &mut lanes[at];
            lane.last = key;
            lane.events.push_back((key, event));
            if lane.events.len() == 1 {
                let number = (source * LANES + at) as u32;
                self.insert(key | Key::from(IN_LANE | number));
            }
            return;
        }
        self.push_in_heap(key, event);
    }

    /// The next event and its time.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(i64, E)> {
        let first = *self.heap.first().filter(|first| **first != NONE)?;
        let time_ns = (first >> 64) as i64;
        let place = first as u32 & (IN_LANE - 1);
        if first as u32 & IN_LANE != 0 {
            let lane = &mut self.lanes[place as usize / LANES][place as usize % LANES];
            let (_, event) = lane.events.pop_front()?;
            lane.until_look -= 1;
            if lane.until_look == 0 {
                lane.until_look = BETWEEN_LOOKS;
                self.look = Some(place);
            }
            match lane.events.front() {
                Some((next, _)) => {
                    let next = *next | Key::from(IN_LANE | place);
                    self.sink(next);
                }
                None => {
                    lane.last = Key::MIN;
                    self.remove_first();
                }
            }
            return Some((time_ns, event));
        }
        self.remove_first();
        let event = self.slots.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some((time_ns, event))
    }

    /// Now and then the events of a long lane that leave it next, so that somebody can look at what they need.
    #[inline]
    pub(crate) fn soon(&mut self) -> Option<impl Iterator<Item = &E>> {
        let place = self.look.take()? as usize;
        let lane = self.lanes.get(place / LANES)?.get(place % LANES)?;
        let end = PASSED_OVER + BETWEEN_LOOKS as usize;
        (lane.events.len() > LONG_LANE)
            .then(|| lane.events.range(PASSED_OVER..end).map(|(_, event)| event))
    }

    #[inline]
    fn remove_first(&mut self) {
        self.used -= 1;
        let last = std::mem::replace(&mut self.heap[self.used], NONE);
        if self.used > 0 {
            self.sink(last);
        }
    }

    /// The key of the next event to schedule, without its slot.
    #[inline]
    fn key(&mut self, time_ns: i64, priority: Priority) -> Key {
        let order = u64::from(priority & 7) << (SEQUENCE_BITS + SEQUENCE_SHIFT)
            | self.sequence << SEQUENCE_SHIFT;
        self.sequence += 1;
        Key::from(time_ns) << 64 | Key::from(order)
    }

    #[inline]
    fn push_in_heap(&mut self, key: Key, event: E) {
        let slot = self.store(event);
        if slot >> SLOT_BITS != 0 {
            self.overflowed = true;
            return;
        }
        self.insert(key | Key::from(slot));
    }

    /// True if more than 8 million events were pending out of order at the same time, or more than 10^11 were
    /// scheduled: some events are lost.
    #[inline]
    pub(crate) fn has_overflowed(&self) -> bool {
        self.overflowed || self.sequence > 1 << SEQUENCE_BITS
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

    /// Puts a key behind the others and moves it up to its position.
    #[inline]
    fn insert(&mut self, key: Key) {
        if self.used == self.heap.len() {
            self.heap.resize(self.used + CHILDREN, NONE);
        }
        let heap = self.heap.as_mut_slice();
        let mut at = self.used;
        self.used += 1;
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

    /// Replaces the first key by `key` and moves it down to its position.
    #[inline]
    fn sink(&mut self, key: Key) {
        let heap = self.heap.as_mut_slice();
        let mut at = 0;
        while let Some([a, b, c, d]) = heap.get(at * CHILDREN + 1..at * CHILDREN + 5) {
            let (left, left_at) = if a < b { (*a, 1) } else { (*b, 2) };
            let (right, right_at) = if c < d { (*c, 3) } else { (*d, 4) };
            let (child, child_at) = if left < right {
                (left, left_at)
            } else {
                (right, right_at)
            };
            if key < child {
                break;
            }
            heap[at] = child;
            at = at * CHILDREN + child_at;
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

    #[test]
    fn each_event_of_a_long_lane_is_soon_before_it_is_there() {
        let mut queue = Queue::default();
        let events = 3 * LONG_LANE;
        for number in 0..events {
            queue.push_from(0, number as i64, 0, number);
        }
        let mut soon = std::collections::BTreeSet::new();
        for number in 0..events - LONG_LANE {
            assert_eq!(queue.pop(), Some((number as i64, number)));
            soon.extend(queue.soon().into_iter().flatten().copied());
            let looked_at = soon.contains(&number) || number < PASSED_OVER + BETWEEN_LOOKS as usize;
            assert!(looked_at, "{number}");
        }
        while queue.pop().is_some() {
            assert!(queue.soon().is_none(), "the lane is short now");
        }
    }

    proptest! {
        #[test]
        fn a_heap_with_lanes_is_a_sorted_list(
            steps in prop::collection::vec(
                (-20i64..30, 0u8..3, prop::option::of(0u16..3), any::<bool>()), 1..300),
        ) {
            let mut queue = Queue::default();
            let mut list: Vec<(i64, u8, usize)> = Vec::new();
            for (number, (time, priority, source, pop)) in steps.into_iter().enumerate() {
                match source {
                    Some(source) => queue.push_from(source, time, priority, number),
                    None => queue.push(time, priority, number),
                }
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
