//! The missing ranges in the order of their bytes.

use inorder_base::heap::Heap;

use super::Hole;
use super::by_offset::{ByOffset, Spot};

/// Disjoint ranges, none of them empty. All operations are logarithmic in their number: a flow may have thousands,
/// and each arrival cuts one of them somewhere in the middle.
#[derive(Debug)]
pub struct Holes<T> {
    /// By first byte.
    all: ByOffset<Hole<T>>,
}

impl<T> Heap for Holes<T> {
    fn heap_bytes(&self) -> usize {
        self.all.heap_bytes()
    }
}

impl<T: Copy> Holes<T> {
    pub(super) fn new() -> Self {
        Holes {
            all: ByOffset::default(),
        }
    }

    /// Nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them, lowest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Hole<T>> {
        self.all.iter()
    }

    /// The highest.
    pub fn last(&self) -> Option<Hole<T>> {
        self.all.iter().next_back().copied()
    }

    /// The lowest that ends beyond `offset`.
    #[inline]
    pub fn beyond(&self, offset: i64) -> Option<Hole<T>> {
        self.find_beyond(offset).map(|(_, hole)| hole)
    }

    /// The lowest hole that ends beyond `offset`, and where it is stored.
    #[inline]
    pub(super) fn find_beyond(&self, offset: i64) -> Option<(Spot, Hole<T>)> {
        // Mostly there is none, or it is the lowest.
        let first = self.all.first()?;
        if first.end > offset {
            return Some(((0, 0), *first));
        }
        let (below, from) = self.all.spots_around(offset);
        let hole = |spot| Some((spot, *self.all.value(spot)?));
        let below = below.and_then(hole);
        below
            .filter(|(_, hole)| hole.end > offset)
            .or_else(|| hole(from))
    }

    /// The one that begins at `start`.
    pub(super) fn get_mut(&mut self, start: i64) -> Option<&mut Hole<T>> {
        self.all.get_mut(start)
    }

    pub(super) fn insert(&mut self, hole: Hole<T>) {
        self.all.insert(hole.start, hole);
    }

    /// Takes the one there out.
    pub(super) fn take(&mut self, spot: Spot) {
        self.all.take(spot);
    }

    /// Puts what is left of the one there in its place.
    pub(super) fn set(&mut self, spot: Spot, left: Hole<T>) {
        self.all.set(spot, left.start, left);
    }

    /// Forgets the lowest, which it returns.
    pub(super) fn forget_first(&mut self) -> Option<Hole<T>> {
        self.all.pop_first()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The straightforward twin walks a list.
        #[test]
        fn the_one_beyond_is_that_of_a_list(
            lengths in prop::collection::vec((0i64..4, 1i64..4), 0..30),
            offsets in prop::collection::vec(-5i64..130, 20),
        ) {
            let (mut holes, mut list, mut at) = (Holes::new(), Vec::new(), 0);
            for (gap, len) in lengths {
                let hole = Hole::<()> { start: at + gap, end: at + gap + len, ..Hole::default() };
                at = hole.end;
                holes.insert(hole);
                list.push(hole);
            }
            prop_assert!(holes.iter().eq(&list));
            prop_assert_eq!(holes.last(), list.last().copied());
            for offset in offsets {
                let dumb = list.iter().find(|hole| hole.end > offset).copied();
                prop_assert_eq!(holes.beyond(offset), dumb);
            }
        }
    }
}
