//! The last few values of a quantity, for what is usual and how far it spreads.

const VALUES_KEPT: usize = 31;

/// A ring of the last 31 values, sorted as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// `None` before the first value: most flows have none of most quantities.
    values: Option<Box<Values>>,
}

heap!(Ring: values);

#[derive(Clone, Debug, Default)]
struct Values {
    values: [i64; VALUES_KEPT],
    sorted: [i64; VALUES_KEPT],
    next: usize,
    len: usize,
}

heap!(Values);

pub(super) fn apart(a: i64, b: i64) -> i64 {
    a.saturating_sub(b).saturating_abs()
}

impl Values {
    fn push(&mut self, value: i64) {
        let mut at = self.len;
        if self.len == VALUES_KEPT {
            at = place_of(&self.sorted, self.values[self.next]);
        } else {
            self.len += 1;
        }
        self.replace(at, value);
        self.values[self.next] = value;
        self.next = (self.next + 1) % VALUES_KEPT;
    }

    /// Puts `value` where it belongs, in place of the one at `at`: only those between the two move, and what a path
    /// shows one after the other is mostly alike.
    fn replace(&mut self, mut at: usize, value: i64) {
        let sorted = &mut self.sorted[..self.len];
        while at > 0 && sorted[at - 1] > value {
            sorted[at] = sorted[at - 1];
            at -= 1;
        }
        while at + 1 < sorted.len() && sorted[at + 1] < value {
            sorted[at] = sorted[at + 1];
            at += 1;
        }
        sorted[at] = value;
    }
}

/// The first place whose value is not below `value`.
#[inline]
fn place_of(sorted: &[i64; VALUES_KEPT], value: i64) -> usize {
    let (mut first, mut left) = (0, VALUES_KEPT);
    while left > 0 {
        let half = left / 2;
        let below = sorted[first + half] < value;
        first += if below { half + 1 } else { 0 };
        left = if below { left - half - 1 } else { half };
    }
    first
}

impl Ring {
    #[inline]
    pub(super) fn push(&mut self, value: i64) {
        self.values.get_or_insert_default().push(value);
    }

    /// The values, ascending.
    #[inline]
    pub(super) fn values(&self) -> &[i64] {
        self.values.as_ref().map_or(&[], |v| &v.sorted[..v.len])
    }

    /// Are `len` values all that are kept?
    pub(super) fn is_full(len: usize) -> bool {
        len >= VALUES_KEPT
    }

    /// There are none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_none()
    }

    /// How many values there are, 31 at most.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.values().len()
    }

    /// Median, and half the distance between the quartiles; `None` for fewer than `least` values.
    pub(super) fn middle(&self, least: usize) -> Option<(i64, i64)> {
        let (n, sorted) = (self.len(), self.values());
        let spread = || sorted[n * 3 / 4].saturating_sub(sorted[n / 4]) / 2;
        (n >= least.max(1)).then(|| (sorted[n / 2], spread()))
    }

    /// How far what lies in `low..=high` is from the `nth` nearest of the values (the farthest, if
    /// there are fewer): small where several were much the same, be it not in the middle. `None`
    /// without values.
    pub(super) fn nth_nearest(&self, low: i64, high: i64, nth: usize) -> Option<i64> {
        let sorted = self.values();
        let nth = nth.clamp(1, sorted.len().max(1));
        let off = |v: i64| apart(v, v.clamp(low, high));
        // The nearest `nth` lie side by side, and not all of them below or above what lies within.
        let first = sorted.partition_point(|&v| v < low).saturating_sub(nth);
        let behind = sorted.partition_point(|&v| v <= high) + nth;
        let near = sorted.get(first..behind.min(sorted.len()))?;
        let farther = |w: &[i64]| off(w[0]).max(off(w[nth - 1]));
        near.windows(nth).map(farther).min()
    }

    /// How far three in four of the values are at most from the `nth` nearest of the others; `None`
    /// when there are not twice as many.
    pub(super) fn cohesion(&self, nth: usize) -> Option<i64> {
        let sorted = self.values();
        let len = sorted.len();
        if len < 2 * nth + 1 {
            return None;
        }
        let mut off = [0; VALUES_KEPT];
        for (i, o) in off[..len].iter_mut().enumerate() {
            let around = &sorted[i.saturating_sub(nth)..(i + nth + 1).min(len)];
            let farther = |w: &[i64]| apart(sorted[i], w[0]).max(apart(sorted[i], w[nth]));
            *o = around.windows(nth + 1).map(farther).min()?;
        }
        off[..len].sort_unstable();
        Some(off[len * 3 / 4])
    }

    /// The narrowest range that holds half of the values; `None` for fewer than five.
    pub(super) fn densest_half(&self) -> Option<(i64, i64)> {
        let half = self.len().div_ceil(2);
        let ranges = self.values().windows(half.max(1));
        let densest = ranges.min_by_key(|w| w[w.len() - 1].saturating_sub(w[0]))?;
        (self.len() >= 5).then(|| (densest[0], densest[densest.len() - 1]))
    }

    /// Lower and upper quartile; `None` for fewer than five values.
    #[inline]
    pub(super) fn quartiles(&self) -> Option<(i64, i64)> {
        let (n, sorted) = (self.len(), self.values());
        (n >= 5).then(|| (sorted[n / 4], sorted[n * 3 / 4]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_the_last_few() {
        let mut ring = Ring::default();
        (0..4).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(5), None);
        (0..100).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(5), Some((84, 8)));
        assert_eq!(ring.quartiles(), Some((76, 92)));
    }

    #[test]
    fn two_habits_are_told_from_what_lies_between() {
        let mut ring = Ring::default();
        assert_eq!(ring.nth_nearest(7, 7, 3), None);
        for v in [100, 101, 102, 200, 201, 203, 204] {
            ring.push(v);
        }
        let off = |v| ring.nth_nearest(v, v, 3);
        assert_eq!((off(101), off(202), off(150)), (Some(1), Some(2), Some(50)));
        assert_eq!(ring.nth_nearest(150, 201, 3), Some(2));
        assert_eq!(ring.densest_half(), Some((200, 204)));
        assert_eq!((ring.cohesion(2), ring.cohesion(4)), (Some(3), None));
    }

    proptest! {
        #[test]
        fn the_nearest_are_those_of_all(
            values in proptest::collection::vec(-99i64..99, 0..40),
            low in -120i64..120,
            width in 0i64..40,
            nth in 0usize..6,
        ) {
            let mut ring = Ring::default();
            values.iter().for_each(|&v| ring.push(v));
            let last = &values[values.len().saturating_sub(VALUES_KEPT)..];
            let high = low + width;
            let mut off: Vec<i64> = last.iter().map(|&v| apart(v, v.clamp(low, high))).collect();
            off.sort_unstable();
            let expected = off.get(nth.clamp(1, off.len().max(1)) - 1).copied();
            prop_assert_eq!(ring.nth_nearest(low, high, nth), expected);
        }

        #[test]
        fn it_agrees_with_sorting_the_last_values(all in proptest::collection::vec(-9i64..9, 1..99)) {
            let mut ring = Ring::default();
            for (i, &value) in all.iter().enumerate() {
                ring.push(value);
                let mut last = all[(i + 1).saturating_sub(VALUES_KEPT)..=i].to_vec();
                last.sort_unstable();
                prop_assert_eq!(ring.values(), &last[..]);
            }
        }
    }
}
