//! Values in the order of their offsets.

use std::collections::BTreeMap;

/// A map from offsets to large values.
///
/// The tree holds places in a list and not the values: what it moves when it inserts, removes and splits then fits in
/// few cache lines, however large a value is.
#[derive(Clone, Debug)]
pub(crate) struct ByOffset<T> {
    places: BTreeMap<i64, u32>,
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for ByOffset<T> {
    fn default() -> Self {
        ByOffset {
            places: BTreeMap::new(),
            values: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Copy> ByOffset<T> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// All values, those of the lowest offsets first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.places.values().map(|&place| self.at(place))
    }

    fn at(&self, place: u32) -> &T {
        &self.values[place as usize]
    }

    /// The value of the lowest offset.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        let (_, &place) = self.places.first_key_value()?;
        Some(self.at(place))
    }

    /// The value of the greatest offset that is at most `offset`.
    pub(crate) fn last_up_to(&self, offset: i64) -> Option<&T> {
        let (_, &place) = self.places.range(..=offset).next_back()?;
        Some(self.at(place))
    }

    /// The value of the lowest offset that is `offset` at least.
    pub(crate) fn first_from(&self, offset: i64) -> Option<&T> {
        let (_, &place) = self.places.range(offset..).next()?;
        Some(self.at(place))
    }

    /// The values of the offsets in `[from, to)`, each with its offset.
    pub(crate) fn range(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, &T)> {
        let places = self.places.range(from..to.max(from));
        places.map(|(&offset, &place)| (offset, self.at(place)))
    }

    pub(crate) fn get(&self, offset: i64) -> Option<&T> {
        self.places.get(&offset).map(|&place| self.at(place))
    }

    pub(crate) fn get_mut(&mut self, offset: i64) -> Option<&mut T> {
        let &place = self.places.get(&offset)?;
        self.values.get_mut(place as usize)
    }

    /// Puts `value` at `offset`, in place of what is there.
    pub(crate) fn insert(&mut self, offset: i64, value: T) {
        let place = self.free.pop().unwrap_or(self.values.len() as u32);
        match self.values.get_mut(place as usize) {
            Some(unused) => *unused = value,
            None => self.values.push(value),
        }
        if let Some(before) = self.places.insert(offset, place) {
            self.free.push(before);
        }
    }

    pub(crate) fn remove(&mut self, offset: i64) -> Option<T> {
        let place = self.places.remove(&offset)?;
        Some(self.take(place))
    }

    /// Removes the value of the lowest offset.
    pub(crate) fn pop_first(&mut self) -> Option<T> {
        let (_, place) = self.places.pop_first()?;
        Some(self.take(place))
    }

    fn take(&mut self, place: u32) -> T {
        self.free.push(place);
        self.values[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The straightforward twin is the tree with the values in it.
        #[test]
        fn it_holds_what_the_tree_alone_would(
            steps in prop::collection::vec((0u8..4, 0i64..30, 0i64..30), 0..200),
        ) {
            let (mut places, mut tree) = (ByOffset::default(), BTreeMap::new());
            for (value, (step, offset, other)) in steps.into_iter().enumerate() {
                match step {
                    0 | 1 => {
                        places.insert(offset, value);
                        tree.insert(offset, value);
                    }
                    2 => prop_assert_eq!(places.remove(offset), tree.remove(&offset)),
                    _ => prop_assert_eq!(places.pop_first(), tree.pop_first().map(|e| e.1)),
                }
                prop_assert!(places.iter().eq(tree.values()));
                prop_assert!(places.iter().rev().eq(tree.values().rev()));
                prop_assert_eq!((places.len(), places.is_empty()), (tree.len(), tree.is_empty()));
                prop_assert_eq!(places.first(), tree.values().next());
                prop_assert_eq!(places.get(offset), tree.get(&offset));
                prop_assert_eq!(places.get_mut(other), tree.get_mut(&other));
                prop_assert_eq!(places.last_up_to(other), tree.range(..=other).next_back().map(|e| e.1));
                prop_assert_eq!(places.first_from(other), tree.range(other..).next().map(|e| e.1));
                let within = tree.range(offset..other.max(offset)).map(|(o, v)| (*o, v));
                prop_assert!(places.range(offset, other).eq(within));
                prop_assert!(places.values.len() <= 31, "places are used again");
            }
        }
    }
}
