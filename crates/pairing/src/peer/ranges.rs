//! A set of bytes, as disjoint ranges.

use std::collections::BTreeMap;

/// Bytes by offset; neighbours are joined, so that data in order is one range.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// Start to end, neither touching nor overlapping.
    ends: BTreeMap<i64, i64>,
}

impl Ranges {
    /// Adds `[from, to)`.
    pub(crate) fn add(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let (mut start, mut end) = (from, to);
        // Ranges that begin at or before `to` and reach `from` melt into the new one.
        while let Some((&s, &e)) = self.ends.range(..=end).next_back() {
            if e < start {
                break;
            }
            self.ends.remove(&s);
            start = start.min(s);
            end = end.max(e);
        }
        self.ends.insert(start, end);
    }

    /// Whether all of `[from, to)` is in.
    pub(crate) fn holds(&self, from: i64, to: i64) -> bool {
        let before = self.ends.range(..=from).next_back();
        from >= to || before.is_some_and(|(_, &end)| end >= to)
    }

    /// Cuts `[from, to)` into stretches that are in (true) or not, ascending.
    pub(crate) fn cut(&self, from: i64, to: i64, mut each: impl FnMut(i64, i64, bool)) {
        let mut at = from;
        let before = self.ends.range(..=from).next_back();
        let inside = self
            .ends
            .range(from.saturating_add(1)..to.max(from.saturating_add(1)));
        for (&start, &end) in before.into_iter().chain(inside) {
            let (start, end) = (start.max(at), end.min(to));
            if start >= end {
                continue;
            }
            if at < start {
                each(at, start, false);
            }
            each(start, end, true);
            at = end;
        }
        if at < to {
            each(at, to, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_list_of_bytes(
            adds in prop::collection::vec((0i64..60, 0i64..12), 0..20),
            ask in (0i64..60, 0i64..20),
        ) {
            let mut bytes = [false; 100];
            let mut ranges = Ranges::default();
            for (from, len) in adds {
                ranges.add(from, from + len);
                bytes[from as usize..(from + len) as usize].fill(true);
            }
            let (from, to) = (ask.0, ask.0 + ask.1);
            let asked = &bytes[from as usize..to as usize];
            prop_assert_eq!(ranges.holds(from, to), asked.iter().all(|&b| b));
            let mut cut = Vec::new();
            ranges.cut(from, to, |a, b, held| {
                assert!(a < b);
                cut.extend((a..b).map(|_| held));
            });
            prop_assert_eq!(&cut[..], asked);
        }
    }
}
