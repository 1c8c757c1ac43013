//! The numbers below a limit that are missing.

use inorder_base::line::Line;

/// Missing numbers as disjoint ranges, ascending, no two adjacent.
#[derive(Clone, Default, Debug)]
pub(crate) struct Missing {
    ranges: Line<Range>,
}

inorder_base::heap!(Missing: ranges);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    lo: u64,
    /// Exclusive.
    end: u64,
}

/// Number of highest ranges that are searched one by one; most late packets fall into these.
const NEAR: usize = 6;

impl Missing {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The smallest missing number.
    #[inline]
    pub(crate) fn first(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.lo)
    }

    /// Adds the numbers `lo .. end`, all larger than any present; at least one.
    #[inline]
    pub(crate) fn push(&mut self, lo: u64, end: u64) {
        match self.ranges.last_mut() {
            Some(last) if last.end == lo => last.end = end,
            _ => self.ranges.push_back(Range { lo, end }),
        }
    }

    /// Adds the numbers `lo .. end`, none of which is present; at least one.
    pub(crate) fn insert(&mut self, lo: u64, end: u64) {
        let at = self.ranges.partition_point(|range| range.end < lo);
        // A range that ends at `lo` also stops the search.
        let (mut lo, mut end) = (lo, end);
        while let Some(near) = self.ranges.get(at).filter(|range| range.lo <= end) {
            lo = lo.min(near.lo);
            end = end.max(near.end);
            self.ranges.remove(at, at + 1);
        }
        self.ranges.insert(at, Range { lo, end });
    }

    /// Removes the smallest number and all that follow it without a break; returns the number after them.
    pub(crate) fn pop_first(&mut self) -> Option<u64> {
        self.ranges.pop_front().map(|range| range.end)
    }

    /// Removes a number; false if it is not present.
    #[inline]
    pub(crate) fn remove(&mut self, number: u64) -> bool {
        let Some((index, range)) = self.find(number) else {
            return false;
        };
        let (below, above) = (number > range.lo, number + 1 < range.end);
        match (self.ranges.get_mut(index), below, above) {
            (Some(range), true, false) => range.end = number,
            (Some(range), false, true) => range.lo = number + 1,
            (Some(range), true, true) => {
                let end = std::mem::replace(&mut range.end, number);
                let lo = number + 1;
                self.ranges.insert(index + 1, Range { lo, end });
            }
            _ => self.ranges.remove(index, index + 1),
        }
        true
    }

    /// The range that contains `number`, and its index.
    #[inline]
    fn find(&self, number: u64) -> Option<(usize, Range)> {
        let ranges = &self.ranges[..];
        for index in (ranges.len().saturating_sub(NEAR)..ranges.len()).rev() {
            let range = ranges[index];
            if range.lo <= number {
                return (number < range.end).then_some((index, range));
            }
        }
        let index = ranges.partition_point(|range| range.end <= number);
        let range = *ranges.get(index)?;
        (range.lo <= number).then_some((index, range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The straightforward twin: a tree set.
        #[test]
        fn agrees_with_a_tree_set(
            steps in prop::collection::vec((0u8..6, 0u64..60, 1u64..10), 1..80),
        ) {
            let (mut set, mut twin) = (Missing::default(), BTreeSet::new());
            for (action, number, n) in steps {
                match action {
                    0 => {
                        let lo = twin.last().map_or(0, |last| last + 1) + number % 4;
                        set.push(lo, lo + n);
                        twin.extend(lo..lo + n);
                    }
                    1 if (number..number + n).all(|x| !twin.contains(&x)) => {
                        set.insert(number, number + n);
                        twin.extend(number..number + n);
                    }
                    2 => {
                        let end = twin.first().map(|first| {
                            (*first..).find(|x| !twin.contains(x)).unwrap()
                        });
                        prop_assert_eq!(set.pop_first(), end);
                        twin.retain(|x| *x >= end.unwrap());
                    }
                    _ => prop_assert_eq!(set.remove(number), twin.remove(&number)),
                }
                prop_assert_eq!(set.first(), twin.first().copied());
                prop_assert_eq!(set.is_empty(), twin.is_empty());
                let all = set.ranges.iter().flat_map(|r| r.lo..r.end);
                prop_assert!(all.eq(twin.iter().copied()));
                let pairs = set.ranges.iter().zip(set.ranges.iter().skip(1));
                prop_assert!(pairs.into_iter().all(|(a, b)| a.end < b.lo));
            }
        }
    }
}
