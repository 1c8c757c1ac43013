//! A set of bytes of a stream: everything below a limit, and ranges above it.

/// Sorted, disjoint ranges; in most cases there is only one.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Ranges {
    /// Everything below is in the set.
    below: u64,
    /// The other ranges, sorted and not adjacent.
    above: Vec<(u64, u64)>,
}

impl Ranges {
    /// Adds `start..end`.
    #[inline]
    pub fn add(&mut self, start: u64, end: u64) {
        if start <= self.below && self.above.is_empty() {
            self.below = self.below.max(end);
            return;
        }
        self.add_above(start, end);
    }

    #[inline(never)]
    fn add_above(&mut self, start: u64, end: u64) {
        if start >= end || end <= self.below {
            return;
        }
        // New data mostly extends the last range, or begins another one behind it.
        match self.above.last_mut() {
            Some(last) if last.0 <= start && start <= last.1 => {
                last.1 = last.1.max(end);
                return;
            }
            Some(last) if start <= last.1 => {}
            _ => return self.above.push((start, end)),
        }
        let first = self.above.partition_point(|range| range.1 < start);
        let after = self.above.partition_point(|range| range.0 <= end);
        let (mut from, mut to) = (start, end);
        if let Some(touched) = self.above.get(first..after)
            && let (Some(head), Some(tail)) = (touched.first(), touched.last())
        {
            from = from.min(head.0);
            to = to.max(tail.1);
        }
        self.above.splice(first..after.max(first), [(from, to)]);
        let swallowed = self.above.partition_point(|range| range.0 <= self.below);
        for (_, end) in self.above.drain(..swallowed) {
            self.below = self.below.max(end);
        }
    }

    /// Everything below this byte is in the set.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// What of `start..end` is in the set; everything below `start` counts as in it.
    pub fn within(&self, start: u64, end: u64) -> Ranges {
        let first = self.above.partition_point(|range| range.1 <= start);
        let behind = self.above.partition_point(|range| range.0 < end);
        let mut part = Ranges {
            below: self.below.max(start),
            above: self.above.get(first..behind).unwrap_or_default().to_vec(),
        };
        let swallowed = part.above.partition_point(|range| range.0 <= part.below);
        for (_, end) in part.above.drain(..swallowed) {
            part.below = part.below.max(end);
        }
        part
    }

    /// True if all of `start..end` is in the set.
    #[inline]
    pub fn holds(&self, start: u64, end: u64) -> bool {
        if end <= self.below || start >= end {
            return true;
        }
        let start = start.max(self.below);
        let at = self.above.partition_point(|range| range.1 <= start);
        self.above
            .get(at)
            .is_some_and(|range| range.0 <= start && end <= range.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_a_set(
            adds in prop::collection::vec((0u64..60, 0u64..12), 0..40),
            asks in prop::collection::vec((0u64..70, 0u64..12), 1..20),
        ) {
            let mut ranges = Ranges::default();
            let mut set = std::collections::BTreeSet::new();
            for (start, length) in adds {
                ranges.add(start, start + length);
                set.extend(start..start + length);
            }
            for (start, length) in asks {
                let all = (start..start + length).all(|byte| set.contains(&byte));
                prop_assert_eq!(ranges.holds(start, start + length), all, "{:?}", &ranges);
                let part = ranges.within(start, start + length);
                for byte in start..start + length {
                    prop_assert_eq!(part.holds(byte, byte + 1), set.contains(&byte), "{:?}", &part);
                }
            }
        }
    }
}
