//! The last few values of a quantity, for what is usual and how far it spreads.

const SIZE: usize = 31;

/// A ring of the last 31 values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ring {
    values: [i64; SIZE],
    next: usize,
    full: bool,
}

impl Ring {
    pub(super) fn push(&mut self, value: i64) {
        self.values[self.next] = value;
        self.next = (self.next + 1) % SIZE;
        self.full |= self.next == 0;
    }

    /// How many values there are, 31 at most.
    pub(super) fn len(&self) -> usize {
        if self.full { SIZE } else { self.next }
    }

    /// Median, and half the distance between the quartiles; `None` for fewer than `least` values.
    pub(super) fn middle(&self, least: usize) -> Option<(i64, i64)> {
        let n = self.len();
        if n < least.max(1) {
            return None;
        }
        let sorted = self.sorted();
        Some((sorted[n / 2], (sorted[n * 3 / 4] - sorted[n / 4]) / 2))
    }

    /// Lower and upper quartile; `None` for fewer than five values.
    pub(super) fn quartiles(&self) -> Option<(i64, i64)> {
        let n = self.len();
        let sorted = self.sorted();
        (n >= 5).then(|| (sorted[n / 4], sorted[n * 3 / 4]))
    }

    fn sorted(&self) -> [i64; SIZE] {
        let mut sorted = self.values;
        sorted[..self.len()].sort_unstable();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_last_few() {
        let mut ring = Ring::default();
        (0..4).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(5), None);
        (0..100).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(5), Some((84, 8)));
        assert_eq!(ring.quartiles(), Some((76, 92)));
    }
}
