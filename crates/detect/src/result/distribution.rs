//! A distribution in bounded memory: exact small values, 3 % wide buckets above.

use std::collections::BTreeMap;

/// Values below this are counted exactly; above, 32 buckets an octave.
const EXACT: u64 = 64;
const SUB_BITS: u32 = 5;

/// Counts of non-negative integers (packets, nanoseconds).
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Distribution {
    buckets: BTreeMap<u64, u64>,
    count: u64,
    sum: u128,
    max: u64,
}

impl Distribution {
    /// Adds one value.
    pub fn add(&mut self, value: u64) {
        *self.buckets.entry(bucket_of(value)).or_default() += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// How many values were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Greatest value, exact; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Mean, exact; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Smallest bucket start with at least `q` (0 to 1) of the values at or below it.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = (q.clamp(0.0, 1.0) * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (&start, &n) in &self.buckets {
            seen += n;
            if seen >= rank {
                return Some(start);
            }
        }
        None
    }

    /// Bucket start and count, ascending. Below 64 a bucket is one value.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().map(|(&start, &n)| (start, n))
    }
}

fn bucket_of(value: u64) -> u64 {
    if value < EXACT {
        return value;
    }
    let shift = 63 - value.leading_zeros() - SUB_BITS;
    value >> shift << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact_and_large_within_three_percent() {
        let mut d = Distribution::default();
        for v in [0, 1, 63, 64, 65, 1_000_000] {
            d.add(v);
        }
        let starts: Vec<u64> = d.buckets().map(|b| b.0).collect();
        assert_eq!(starts[..3], [0, 1, 63]);
        assert!(
            starts
                .iter()
                .any(|&s| s <= 1_000_000 && s as f64 > 1_000_000.0 * 0.968)
        );
        assert_eq!(d.max(), 1_000_000);
        assert_eq!(d.quantile(0.5), Some(63));
        assert_eq!(Distribution::default().quantile(0.5), None);
    }
}
