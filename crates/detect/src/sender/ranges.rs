//! What the receiver has SACKed above the cumulative ACK.

use inorder_base::line::Line;

/// Blocks of an ACK (RFC 2018 section 3: four at most).
const BLOCKS: usize = 4;

/// Disjoint byte ranges above the cumulative ACK that the receiver has SACKed.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    ranges: Line<(i64, i64)>,
    /// Their lengths, added up.
    bytes: i64,
    /// The ranges as they were found for the last blocks: each block comes in several ACKs, and what is in one of these
    /// was there before, however much they have grown since.
    found: [(i64, i64); BLOCKS],
    /// The place in `found` that is overwritten next.
    oldest: usize,
}

heap!(Ranges: ranges);

impl Ranges {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes in all ranges.
    #[inline]
    pub(crate) fn bytes(&self) -> i64 {
        self.bytes
    }

    /// How many ranges there are.
    pub(crate) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// One past the highest byte in any range.
    pub(crate) fn top(&self) -> Option<i64> {
        self.ranges.last().map(|r| r.1)
    }

    /// Is all of `[from, to)` in one range?
    #[inline]
    pub(crate) fn covers(&self, from: i64, to: i64) -> bool {
        if self.top().is_none_or(|top| top < to) {
            return false; // As usual: what is sent is higher than what has been SACKed.
        }
        let first = self.ranges.partition_point(|r| r.1 < to);
        self.ranges.get(first).is_some_and(|r| r.0 <= from)
    }

    /// The range that has the byte `at`.
    pub(crate) fn around(&self, at: i64) -> Option<(i64, i64)> {
        let first = self.ranges.partition_point(|r| r.1 <= at);
        self.ranges.get(first).copied().filter(|r| r.0 <= at)
    }

    /// The same where what lies below is about to be forgotten, so that there is no need to search.
    #[inline]
    pub(super) fn lowest_around(&self, at: i64) -> Option<(i64, i64)> {
        let above = self.ranges.iter().find(|r| r.1 > at);
        above.copied().filter(|r| r.0 <= at)
    }

    /// Where the first range above `at` begins.
    pub(crate) fn above(&self, at: i64) -> Option<i64> {
        let first = self.ranges.partition_point(|r| r.0 <= at);
        self.ranges.get(first).map(|r| r.0)
    }

    /// Is `range` one of them, neither longer nor shorter?
    pub(crate) fn holds(&self, range: (i64, i64)) -> bool {
        let at = self.ranges.partition_point(|r| r.0 < range.0);
        self.ranges.get(at) == Some(&range)
    }

    /// Forgets everything below `una`.
    #[inline]
    pub(crate) fn drop_below(&mut self, una: i64) {
        if self.ranges.first().is_some_and(|r| r.0 < una) {
            while let Some(&(from, to)) = self.ranges.first()
                && to <= una
            {
                self.bytes -= to - from;
                self.ranges.pop_front();
            }
            if let Some(first) = self.ranges.first_mut() {
                let from = first.0.max(una);
                self.bytes -= from - first.0;
                first.0 = from;
            }
            for range in &mut self.found {
                range.0 = range.0.max(una);
            }
        }
    }

    /// Forgets all of them.
    pub(super) fn forget(&mut self) {
        *self = Ranges::default();
    }

    /// Forgets what lies below `to` of the range that has the byte `at`.
    pub(super) fn discard(&mut self, at: i64, to: i64) {
        let i = self.ranges.partition_point(|r| r.1 <= at);
        let Some(range) = self.ranges.get_mut(i) else {
            return;
        };
        let to = to.min(range.1);
        self.bytes -= (to - range.0).max(0);
        range.0 = range.0.max(to);
        if range.0 == range.1 {
            self.ranges.remove(i, i + 1);
        }
        self.found = Default::default();
    }

    /// Adds `[from, to)`, above the cumulative ACK; the parts that were not there before go to `news`. Returns the
    /// range it is part of; if nothing is new, perhaps an older state of that range.
    #[inline]
    pub(crate) fn add(&mut self, from: i64, to: i64, news: &mut Vec<(i64, i64)>) -> (i64, i64) {
        let within = |&&(a, b): &&(i64, i64)| a <= from && to <= b;
        if let Some(range) = self.found.iter().find(within) {
            return *range;
        }
        let whole = self.join(from, to, news);
        self.found[self.oldest] = whole;
        self.oldest = (self.oldest + 1) % BLOCKS;
        whole
    }

    fn join(&mut self, from: i64, to: i64, news: &mut Vec<(i64, i64)>) -> (i64, i64) {
        if self.top().is_none_or(|top| top < from) {
            // The usual case: a segment has come above a new hole.
            self.ranges.push_back((from, to));
            self.bytes += to - from;
            news.push((from, to));
            return (from, to);
        }
        let first = self.ranges.partition_point(|r| r.1 < from);
        let touched = self.ranges.get(first..).unwrap_or_default();
        match touched.first() {
            Some(&(a, b)) if a <= from && to <= b => return (a, b),
            _ => {}
        }
        let (mut low, mut high, mut at) = (from, to, from);
        let (mut last, mut known) = (first, 0);
        for &(a, b) in touched.iter().take_while(|r| r.0 <= to) {
            if a > at {
                news.push((at, a));
            }
            at = at.max(b);
            low = low.min(a);
            high = high.max(b);
            known += b - a;
            last += 1;
        }
        if at < to {
            news.push((at, to));
        }
        self.bytes += (high - low) - known;
        if last == first {
            self.ranges.insert(first, (low, high));
        } else {
            self.ranges[first] = (low, high);
            if last > first + 1 {
                self.ranges.remove(first + 1, last);
            }
        }
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_agree_with_a_bitmap(
            adds in proptest::collection::vec((0i64..200, 1i64..40), 1..60),
            una in 0i64..100,
        ) {
            let mut ranges = Ranges::default();
            let mut bitmap = [false; 256];
            for (i, &(from, len)) in adds.iter().enumerate() {
                if i == adds.len() / 2 {
                    ranges.drop_below(una);
                    bitmap[..una as usize].fill(false);
                }
                let mut news = Vec::new();
                ranges.add(from, from + len, &mut news);
                let mut expected = Vec::new();
                for b in from..from + len {
                    if !bitmap[b as usize] {
                        expected.push(b);
                    }
                    bitmap[b as usize] = true;
                }
                let got: Vec<i64> = news.iter().flat_map(|&(a, b)| a..b).collect();
                prop_assert_eq!(got, expected);
                let held = (una..una + len).all(|b| bitmap[b as usize]);
                prop_assert_eq!(ranges.covers(una, una + len), held);
                prop_assert_eq!(ranges.bytes(), bitmap.iter().filter(|&&b| b).count() as i64);
            }
        }
    }
}
