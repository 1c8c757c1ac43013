//! Exact counts of small whole numbers.

/// Counts of whole numbers: each value up to 1022 separately, all larger ones together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    bins: Vec<u64>,
    total: u64,
    sum: u128,
}

const BINS: usize = 1024;

impl Histogram {
    /// No numbers yet.
    pub fn new() -> Self {
        Histogram {
            bins: vec![0; BINS],
            total: 0,
            sum: 0,
        }
    }

    /// Counts one number.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bin = value.min(BINS as u64 - 1) as usize;
        if let Some(count) = self.bins.get_mut(bin) {
            *count += 1;
        }
        self.total += 1;
        self.sum += u128::from(value);
    }

    /// The values counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let pairs = self.bins.iter().zip(&earlier.bins);
        Histogram {
            bins: pairs.map(|(now, then)| now.saturating_sub(*then)).collect(),
            total: self.total.saturating_sub(earlier.total),
            sum: self.sum.saturating_sub(earlier.sum),
        }
    }

    /// Number of values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Mean of the values, exact for any size; 0 without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.total.max(1) as f64
    }

    /// How often each value occurred; the last entry also counts all larger values.
    pub fn counts(&self) -> &[u64] {
        &self.bins
    }

    /// Smallest value that this share of the values (0 to 1) does not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = libm::ceil(share * self.total as f64) as u64;
        let mut below = 0;
        for (value, count) in self.bins.iter().enumerate() {
            below += count;
            if below >= wanted.max(1) {
                return value as u64;
            }
        }
        0
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_histogram() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.quantile(0.5), histogram.mean()), (0, 0.0));
        (1..=100).for_each(|n| histogram.add(n));
        assert_eq!(
            [0.0, 0.5, 0.99, 1.0].map(|q| histogram.quantile(q)),
            [1, 50, 99, 100]
        );
        assert_eq!((histogram.total(), histogram.mean()), (100, 50.5));
        histogram.add(1 << 40);
        assert_eq!(histogram.quantile(1.0), 1023);
    }
}
