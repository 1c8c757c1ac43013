//! A set of sequence numbers as sorted disjoint ranges: the data a receiver holds out of order, or the data a sender
//! knows to be received.

use std::collections::VecDeque;

use crate::seq::Seq;

/// Half-open ranges `(start, end)`, ascending; adjacent ranges are joined.
#[derive(Debug, Clone, Default)]
pub(crate) struct RangeSet {
    ranges: VecDeque<(Seq, Seq)>,
}

impl RangeSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.ranges.clear();
    }

    /// True if all of `start..end` is in the set.
    pub(crate) fn holds(&self, start: Seq, end: Seq) -> bool {
        let at = self.first_reaching(end);
        self.ranges.get(at).is_some_and(|range| range.0 <= start)
    }

    /// End of the highest range.
    pub(crate) fn end(&self) -> Option<Seq> {
        self.ranges.back().map(|&(_, end)| end)
    }

    /// The range that ends at `end`, which is above all others or empty.
    pub(crate) fn last_from(&self, end: Seq) -> (Seq, Seq) {
        let last = self.ranges.back().copied();
        last.filter(|range| range.1 == end).unwrap_or((end, end))
    }

    /// All ranges, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Seq, Seq)> + '_ {
        self.ranges.iter().copied()
    }

    /// Adds `start..end`, appends to `new` the parts that were missing, and returns the range that contains it now.
    /// An empty range changes nothing.
    pub(crate) fn insert(&mut self, start: Seq, end: Seq, new: &mut Vec<(Seq, Seq)>) -> (Seq, Seq) {
        if start >= end {
            return (start, start);
        }
        let at = self.first_reaching(start);
        match self.ranges.get(at).copied() {
            Some(range) if range.0 <= start && end <= range.1 => range,
            Some(range) if range.0 <= end => self.merge(at, start, end, new),
            _ => {
                new.push((start, end));
                self.ranges.insert(at, (start, end));
                (start, end)
            }
        }
    }

    /// The first range that ends at or after `start`. New data mostly extends the last range, so that one is checked
    /// first.
    fn first_reaching(&self, start: Seq) -> usize {
        match self.ranges.back() {
            Some(last) if last.1 < start => self.ranges.len(),
            Some(last) if last.0 <= start => self.ranges.len() - 1,
            _ => self.ranges.partition_point(|range| range.1 < start),
        }
    }

    fn merge(&mut self, at: usize, start: Seq, end: Seq, new: &mut Vec<(Seq, Seq)>) -> (Seq, Seq) {
        let mut merged = (start, end);
        let mut reached = start;
        let mut past = at;
        while let Some(&(low, high)) = self.ranges.get(past) {
            if low > end {
                break;
            }
            if low > reached {
                new.push((reached, low));
            }
            reached = reached.max(high);
            merged = (merged.0.min(low), merged.1.max(high));
            past += 1;
        }
        if reached < end {
            new.push((reached, end));
        }
        self.ranges[at] = merged;
        if past > at + 1 {
            self.ranges.drain(at + 1..past);
        }
        merged
    }

    /// Removes everything below `floor`.
    pub(crate) fn remove_below(&mut self, floor: Seq) {
        while let Some(range) = self.ranges.front_mut() {
            if range.1 <= floor {
                self.ranges.pop_front();
            } else {
                range.0 = range.0.max(floor);
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The straightforward twin: one flag per number.
    #[derive(Default)]
    struct Bitmap(Vec<bool>);

    impl Bitmap {
        fn set(&mut self, start: u64, end: u64) -> usize {
            let end = end as usize;
            if self.0.len() < end {
                self.0.resize(end, false);
            }
            let mut new = 0;
            for slot in &mut self.0[(start as usize).min(end)..end] {
                new += usize::from(!*slot);
                *slot = true;
            }
            new
        }

        fn ranges(&self) -> Vec<(u64, u64)> {
            let mut list: Vec<(u64, u64)> = Vec::new();
            for (i, _) in self.0.iter().enumerate().filter(|(_, set)| **set) {
                let i = i as u64;
                match list.last_mut() {
                    Some(last) if last.1 == i => last.1 = i + 1,
                    _ => list.push((i, i + 1)),
                }
            }
            list
        }
    }

    proptest! {
        #[test]
        fn equals_a_bitmap(steps in prop::collection::vec((0u64..200, 0u64..20, any::<bool>()), 1..80)) {
            let (mut set, mut twin) = (RangeSet::default(), Bitmap::default());
            for (start, length, forget) in steps {
                if forget && length < 4 {
                    set.remove_below(start);
                    for slot in twin.0.iter_mut().take(start as usize) {
                        *slot = false;
                    }
                } else {
                    let mut new = Vec::new();
                    let merged = set.insert(start, start + length, &mut new);
                    let count: u64 = new.iter().map(|(a, b)| b - a).sum();
                    prop_assert_eq!(count as usize, twin.set(start, start + length));
                    if length > 0 {
                        prop_assert!(twin.ranges().contains(&merged));
                    }
                }
                prop_assert_eq!(set.iter().collect::<Vec<_>>(), twin.ranges());
            }
        }
    }
}
