//! Which flow is due first: a binary heap in which a flow's place is known, so that a deadline
//! that changes costs no search.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// Not in the heap.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Flows by the time they are due.
pub(super) struct Deadlines {
    heap: Vec<(i64, u32)>,
    /// Of every flow, its index in `heap`.
    places: Vec<u32>,
}

impl Deadlines {
    /// Room for `flows` flows of which `most` have a deadline at one time.
    pub(super) fn new(flows: usize, most: usize) -> Result<Self, TryReserveError> {
        let (mut heap, mut places) = (Vec::new(), Vec::new());
        heap.try_reserve_exact(most)?;
        places.try_reserve_exact(flows)?;
        places.resize(flows, NOWHERE);
        Ok(Deadlines { heap, places })
    }

    /// Bytes beside itself.
    pub(super) fn footprint(flows: usize, most: usize) -> usize {
        most * size_of::<(i64, u32)>() + flows * size_of::<u32>()
    }

    /// The flow that is due first, and when.
    #[inline]
    pub(super) fn first(&self) -> Option<(i64, u32)> {
        self.heap.first().copied()
    }

    /// Flow `flow` is due at `due_ns`; `None`: it is not due any more.
    pub(super) fn set(&mut self, flow: u32, due_ns: Option<i64>) {
        let Some(&place) = self.places.get(flow as usize) else {
            return;
        };
        match (due_ns, self.heap.get_mut(place as usize)) {
            (Some(due_ns), Some(entry)) => {
                let earlier = due_ns < entry.0;
                entry.0 = due_ns;
                self.restore(place as usize, earlier);
            }
            (Some(due_ns), None) => {
                self.heap.push((due_ns, flow));
                self.rise(self.heap.len() - 1);
            }
            (None, Some(_)) => self.remove(flow, place as usize),
            (None, None) => {}
        }
    }

    fn remove(&mut self, flow: u32, place: usize) {
        let removed = self.heap.swap_remove(place);
        if let Some(known) = self.places.get_mut(flow as usize) {
            *known = NOWHERE;
        }
        if let Some(&moved) = self.heap.get(place) {
            self.restore(place, moved < removed);
        }
    }

    fn restore(&mut self, place: usize, earlier: bool) {
        if earlier {
            self.rise(place);
        } else {
            self.sink(place);
        }
    }

    fn rise(&mut self, mut place: usize) {
        while let Some(parent) = place.checked_sub(1).map(|above| above / 2)
            && self.heap.get(place) < self.heap.get(parent)
        {
            self.heap.swap(place, parent);
            self.note(place);
            place = parent;
        }
        self.note(place);
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let left = 2 * place + 1;
            let child = match (self.heap.get(left), self.heap.get(left + 1)) {
                (Some(a), Some(b)) if b < a => left + 1,
                (Some(_), _) => left,
                _ => break,
            };
            if self.heap.get(place) <= self.heap.get(child) {
                break;
            }
            self.heap.swap(place, child);
            self.note(place);
            place = child;
        }
        self.note(place);
    }

    /// Writes down where the flow at `place` is.
    fn note(&mut self, place: usize) {
        if let Some(&(_, flow)) = self.heap.get(place)
            && let Some(known) = self.places.get_mut(flow as usize)
        {
            *known = place as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Beside a map that is searched.
        #[test]
        fn the_first_is_the_least(steps in proptest::collection::vec((0u32..12, proptest::option::of(0i64..50)), 0..200)) {
            let mut deadlines = Deadlines::new(12, 12).unwrap();
            let mut map = BTreeMap::new();
            for (flow, due_ns) in steps {
                deadlines.set(flow, due_ns);
                match due_ns {
                    Some(due_ns) => map.insert(flow, due_ns),
                    None => map.remove(&flow),
                };
                let least = map.iter().map(|(&flow, &due_ns)| (due_ns, flow)).min();
                prop_assert_eq!(deadlines.first(), least);
            }
        }
    }
}
