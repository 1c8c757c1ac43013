//! The last few values of a quantity, for what is usual and how far it spreads.

const SIZE: usize = 15;

/// A ring of the last 15 values.
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

    /// Median, and half the distance between the quartiles; `None` for fewer than five values.
    pub(super) fn middle(&self) -> Option<(i64, i64)> {
        let n = if self.full { SIZE } else { self.next };
        if n < 5 {
            return None;
        }
        let mut sorted = self.values;
        sorted[..n].sort_unstable();
        Some((sorted[n / 2], (sorted[n * 3 / 4] - sorted[n / 4]) / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_last_fifteen() {
        let mut ring = Ring::default();
        (0..4).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(), None);
        (0..100).for_each(|v| ring.push(v));
        assert_eq!(ring.middle(), Some((92, 4)));
    }
}
