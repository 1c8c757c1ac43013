//! Quantiles of many numbers in little memory.

/// Bits of the fraction that tell buckets apart: 512 buckets for each power of two, so that the values in a bucket differ
/// by at most 0.2 %.
const FRACTION_BITS: u32 = 9;

/// How the values are distributed. A quantile lies between the least and the greatest value of its bucket as its rank does
/// among theirs, so that it is exact where a value occurs again and again, and otherwise wrong by much less than the 0.2 % of
/// the bucket (after C. Masson, J. Rim and H. Lee, "DDSketch", VLDB 12(12), 2019). One value for all of a bucket would be
/// wrong by up to half of it in every run alike, and intervals from several runs would not show that.
#[derive(Debug, Clone, Default)]
pub(super) struct Quantiles {
    below: Buckets,
    zeros: u64,
    above: Buckets,
}

/// Buckets of values above 0, by size.
#[derive(Debug, Clone, Default)]
struct Buckets {
    /// The number of the first bucket.
    first: usize,
    all: Vec<Bucket>,
    count: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    count: u64,
    least: f64,
    greatest: f64,
}

impl Bucket {
    fn add(&mut self, value: f64) {
        let is_first = self.count == 0;
        if is_first || value < self.least {
            self.least = value;
        }
        if is_first || value > self.greatest {
            self.greatest = value;
        }
        self.count += 1;
    }

    /// The value of this rank, from 1, if they are evenly spread.
    fn ranked(&self, rank: u64) -> f64 {
        let steps = self.count.saturating_sub(1).max(1) as f64;
        self.least + (self.greatest - self.least) * ((rank - 1) as f64 / steps)
    }
}

impl Quantiles {
    /// Adds a value; what is not a number does not count.
    #[inline]
    pub(super) fn add(&mut self, value: f64) {
        if value > 0.0 {
            self.above.add(value);
        } else if value < 0.0 {
            self.below.add(-value);
        } else if value == 0.0 {
            self.zeros += 1;
        }
    }

    /// The smallest value that at least this share of the values (0 to 1) does not exceed; `None` without values.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.below.count + self.zeros + self.above.count;
        if count == 0 {
            return None;
        }
        let rank = (libm::ceil(share * count as f64) as u64).clamp(1, count);
        if rank <= self.below.count {
            // The largest of the sizes is the least value.
            return self
                .below
                .ranked(self.below.count + 1 - rank)
                .map(|size| -size);
        }
        match rank - self.below.count {
            rank if rank <= self.zeros => Some(0.0),
            rank => self.above.ranked(rank - self.zeros),
        }
    }
}

impl Buckets {
    fn add(&mut self, value: f64) {
        let number = (value.to_bits() >> (52 - FRACTION_BITS)) as usize;
        if self.all.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let more = self.first - number;
            self.all
                .splice(0..0, std::iter::repeat_n(Bucket::default(), more));
            self.first = number;
        }
        let at = number - self.first;
        if at >= self.all.len() {
            self.all.resize(at + 1, Bucket::default());
        }
        if let Some(bucket) = self.all.get_mut(at) {
            bucket.add(value);
        }
        self.count += 1;
    }

    /// The value of this rank, from 1.
    fn ranked(&self, rank: u64) -> Option<f64> {
        let mut left = rank;
        for bucket in &self.all {
            if left <= bucket.count {
                return Some(bucket.ranked(left));
            }
            left -= bucket.count;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_whole_numbers_and_repeated_values_are_exact() {
        let mut values = Quantiles::default();
        assert_eq!(values.quantile(0.5), None);
        (-3..=3).for_each(|n| values.add(f64::from(n)));
        let found = [0.0, 0.1, 0.4, 0.5, 0.9, 1.0].map(|q| values.quantile(q));
        assert_eq!(found, [-3.0, -3.0, -1.0, 0.0, 3.0, 3.0].map(Some));
        let mut same = Quantiles::default();
        (0..1000).for_each(|_| same.add(1234.5));
        assert_eq!(same.quantile(0.99), Some(1234.5));
        same.add(f64::NAN);
        assert_eq!(same.quantile(1.0), Some(1234.5));
    }

    /// A million values between 0 and 1 in disorder: the bucket of a quantile is a thousand times as wide as its error.
    #[test]
    fn quantiles_of_many_values_are_far_better_than_their_buckets() {
        let mut values = Quantiles::default();
        let golden = 0.618_033_988_749_895;
        (0..1_000_000).for_each(|n| values.add((f64::from(n) * golden).fract() + 1e-9));
        for share in [0.1, 0.5, 0.9, 0.99, 0.9999] {
            let found = values.quantile(share).unwrap();
            assert!((found - share).abs() < 1e-5, "{found} instead of {share}");
        }
        assert!(values.quantile(1.0).unwrap() > 0.999_998);
    }

    proptest! {
        /// The straightforward twin sorts all values.
        #[test]
        fn a_quantile_is_near_the_sorted_value(
            mut all in prop::collection::vec(-1e6..1e9_f64, 1..400),
            share in 0.0..=1.0_f64,
        ) {
            let mut values = Quantiles::default();
            all.iter().for_each(|value| values.add(*value));
            all.sort_by(f64::total_cmp);
            let rank = ((share * all.len() as f64).ceil() as usize).clamp(1, all.len());
            let exact = all[rank - 1];
            let found = values.quantile(share).unwrap();
            prop_assert!((found - exact).abs() <= 0.002 * exact.abs(), "{} instead of {}", found, exact);
        }
    }
}
