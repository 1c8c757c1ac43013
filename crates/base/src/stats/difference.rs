//! The difference of two means or ratios, with its confidence interval.

use super::estimate::{Estimate, t_quantile};

/// A mean or ratio as far as a comparison needs it: its value, the variance of that value, and the degrees of freedom
/// of the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// The mean or ratio.
    pub value: f64,
    /// The square of its standard error; infinite with fewer than two observations.
    pub variance: f64,
    /// Number of observations less one.
    pub freedom: f64,
}

/// Sums over pairs of numerator and denominator.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moments {
    /// Number of pairs.
    pub units: u64,
    /// Sum of the numerators.
    pub of: f64,
    /// Sum of the denominators.
    pub per: f64,
    /// Sum of the squared numerators.
    pub of_of: f64,
    /// Sum of the products.
    pub of_per: f64,
    /// Sum of the squared denominators.
    pub per_per: f64,
}

impl Moments {
    /// Adds sums over other pairs.
    pub fn add(&mut self, other: &Moments) {
        self.units += other.units;
        self.of += other.of;
        self.per += other.per;
        self.of_of += other.of_of;
        self.of_per += other.of_per;
        self.per_per += other.per_per;
    }

    /// The sum of `(of - value * per)^2` over the pairs; rounding never makes it negative.
    fn squares(&self, value: f64) -> f64 {
        let squares = self.of_of - 2.0 * value * self.of_per + value * value * self.per_per;
        squares.max(0.0)
    }
}

impl Sampled {
    /// The mean of independent values; `None` without any.
    pub fn mean(values: &[f64]) -> Option<Self> {
        Self::ratio(&values.iter().map(|v| (*v, 1.0)).collect::<Vec<_>>())
    }

    /// The ratio of the sums of numerators and denominators, from independent pairs of them (the delta method, as
    /// [`Estimate::of_ratio`]); `None` if the sum of the denominators is 0.
    pub fn ratio(pairs: &[(f64, f64)]) -> Option<Self> {
        Self::ratio_with(pairs, &Moments::default())
    }

    /// The ratio of the sums of `pairs` and of `further` pairs, of which only sums are known.
    pub fn ratio_with(pairs: &[(f64, f64)], further: &Moments) -> Option<Self> {
        let n = pairs.len() as f64 + further.units as f64;
        let above: f64 = pairs.iter().map(|p| p.0).sum::<f64>() + further.of;
        let below: f64 = pairs.iter().map(|p| p.1).sum::<f64>() + further.per;
        if below <= 0.0 {
            return None;
        }
        let value = above / below;
        let residual = |(a, b): &(f64, f64)| (a - value * b) / (below / n);
        let squares: f64 = pairs.iter().map(|p| residual(p) * residual(p)).sum();
        let squares = squares + further.squares(value) / (below / n) / (below / n);
        let variance = match n < 2.0 {
            true => f64::INFINITY,
            false => squares / (n - 1.0) / n,
        };
        // A sum of n numbers is exact to n units in the last place. Without this, equal flows would differ by rounding.
        let rounding = value * n * f64::EPSILON;
        Some(Sampled {
            value,
            variance: variance.max(rounding * rounding),
            freedom: n - 1.0,
        })
    }

    /// This result with its variance raised to at least `variance`.
    #[must_use]
    pub fn with_variance_of_at_least(self, variance: f64) -> Self {
        Sampled {
            variance: self.variance.max(variance),
            ..self
        }
    }
}

/// `after - before` of two independent samples, by Welch's t interval: variances may differ, and the degrees of
/// freedom are those of Welch and Satterthwaite. The half width is infinite if one of them has fewer than two
/// observations.
///
/// ```
/// use inorder_base::stats::{Sampled, difference};
///
/// let before = Sampled::mean(&[10.0, 11.0, 9.0]).unwrap();
/// let after = Sampled::mean(&[15.0, 16.0, 14.0]).unwrap();
/// let change = difference(&before, &after, 0.95);
/// assert_eq!(change.mean, 5.0);
/// assert!(change.half_width > 2.2 && change.half_width < 2.3);
/// ```
pub fn difference(before: &Sampled, after: &Sampled, confidence: f64) -> Estimate {
    let mean = after.value - before.value;
    let variance = before.variance + after.variance;
    if !variance.is_finite() {
        return Estimate {
            mean,
            half_width: f64::INFINITY,
        };
    }
    let part = |of: &Sampled| of.variance * of.variance / of.freedom.max(1.0);
    let parts = part(before) + part(after);
    let freedom = match parts > 0.0 {
        true => variance * variance / parts,
        false => before.freedom + after.freedom,
    };
    Estimate {
        mean,
        half_width: t_quantile(freedom, confidence) * libm::sqrt(variance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_interval_of_a_worked_example() {
        // Degrees of freedom by B. L. Welch, "The generalization of 'Student's' problem", Biometrika 34, 1947.
        let sample = |center: f64, step: f64| {
            Sampled::mean(&[center - step, center - step, center + step, center + step]).unwrap()
        };
        let (before, after) = (sample(10.0, 1.0), sample(20.0, 2.0));
        // Sample variances 4/3 and 16/3, of the means 1/3 and 4/3.
        let freedom = (5.0_f64 / 3.0).powi(2) / ((1.0 / 9.0) / 3.0 + (16.0 / 9.0) / 3.0);
        let change = difference(&before, &after, 0.95);
        assert_eq!(change.mean, 10.0);
        let expected = t_quantile(freedom, 0.95) * (5.0_f64 / 3.0).sqrt();
        assert!((change.half_width - expected).abs() < 1e-12);
        assert!((freedom - 4.411_764).abs() < 1e-5);
    }

    #[test]
    fn equal_units_do_not_differ_by_rounding() {
        for value in [0.1, 4.97, 1e9 / 3.0] {
            for (few, many) in [(2, 3), (6, 11), (10, 999)] {
                let of = |n| Sampled::ratio(&vec![(value, 1.0); n]).unwrap();
                let change = difference(&of(few), &of(many), 0.95);
                assert!(
                    change.mean.abs() <= change.half_width,
                    "{value} {few} {many}"
                );
            }
        }
    }

    #[test]
    fn one_observation_decides_nothing() {
        let one = Sampled::mean(&[1.0]).unwrap();
        let many = Sampled::mean(&[2.0, 2.0]).unwrap();
        assert!(difference(&one, &many, 0.95).half_width.is_infinite());
        assert_eq!(Sampled::mean(&[]), None);
        assert_eq!(Sampled::ratio(&[(0.0, 0.0)]), None);
    }

    proptest! {
        /// The variance is that of the estimate's interval.
        #[test]
        fn a_ratio_has_the_variance_of_its_interval(
            pairs in prop::collection::vec((0.0f64..10.0, 1.0f64..10.0), 2..20)
        ) {
            let sampled = Sampled::ratio(&pairs).unwrap();
            let estimate = Estimate::of_ratio(pairs.iter().copied(), 0.95).unwrap();
            let half = t_quantile(sampled.freedom, 0.95) * sampled.variance.sqrt();
            prop_assert!((half - estimate.half_width).abs() <= 1e-9 * (1.0 + half));
            prop_assert!((sampled.value - estimate.mean).abs() < 1e-12);
        }

        /// Two equal samples of n values have 2n - 2 degrees of freedom, as in Student's test.
        #[test]
        fn equal_samples_give_the_students_interval(values in prop::collection::vec(-10.0f64..10.0, 2..20)) {
            let sampled = Sampled::mean(&values).unwrap();
            prop_assume!(sampled.variance > 1e-9);
            let change = difference(&sampled, &sampled, 0.95);
            let expected = t_quantile(2.0 * sampled.freedom, 0.95) * (2.0 * sampled.variance).sqrt();
            prop_assert!((change.half_width - expected).abs() < 1e-6 * expected);
        }
    }
}
