//! A mean and how far off it may be.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with the half width of its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; infinite when there were too few observations to tell.
    pub half_width: f64,
}

impl Estimate {
    /// Whether the interval holds `value`.
    pub fn covers(&self, value: f64) -> bool {
        (value - self.mean).abs() <= self.half_width
    }

    /// Half width over mean; 0 for a mean known to be 0.
    pub fn relative_error(&self) -> f64 {
        if self.half_width == 0.0 {
            0.0
        } else {
            self.half_width / self.mean.abs()
        }
    }

    /// The same in other units: both numbers times `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            half_width: self.half_width * factor.abs(),
        }
    }

    /// Of the mean of independent observations.
    pub(crate) fn of_mean(
        observations: impl Iterator<Item = f64> + Clone,
        confidence: f64,
    ) -> Self {
        let n = observations.clone().count() as f64;
        let mean = observations.clone().sum::<f64>() / n;
        let squares = observations.map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Self {
            mean,
            half_width: half_width(squares, n, confidence),
        }
    }

    /// Of a ratio of means, from pairs of (numerator, denominator): the delta method.
    pub(crate) fn of_ratio(
        pairs: impl Iterator<Item = (f64, f64)> + Clone,
        confidence: f64,
    ) -> Option<Self> {
        let n = pairs.clone().count() as f64;
        let (above, below) = pairs
            .clone()
            .fold((0.0, 0.0), |sums, p| (sums.0 + p.0, sums.1 + p.1));
        if below <= 0.0 {
            return None;
        }
        let mean = above / below;
        let residual = |(a, b): (f64, f64)| (a - mean * b) / (below / n);
        let squares = pairs
            .map(|pair| residual(pair) * residual(pair))
            .sum::<f64>();
        Some(Self {
            mean,
            half_width: half_width(squares, n, confidence),
        })
    }
}

/// Student's t times the standard error, from the sum of squared deviations.
fn half_width(squares: f64, n: f64, confidence: f64) -> f64 {
    if n < 2.0 {
        return f64::INFINITY;
    }
    t_quantile(n - 1.0, confidence) * libm::sqrt(squares / (n - 1.0) / n)
}

/// The two-sided quantile of Student's t, to 24 bits: the ones behind depend on the platform's logarithm.
pub(crate) fn t_quantile(freedom: f64, confidence: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) => f64::from(t.inverse_cdf(0.5 + confidence.clamp(0.0, 1.0 - 1e-9) / 2.0) as f32),
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        assert!((t_quantile(9.0, 0.95) - 2.262).abs() < 1e-3);
        assert!((t_quantile(31.0, 0.99) - 2.744).abs() < 1e-3);
    }

    #[test]
    fn the_interval_of_a_worked_example() {
        // Ten observations with mean 1.343 and variance 0.168; t for 9 degrees at 90 % is 1.833, so that the half
        // width is 1.833 * sqrt(0.168 / 10) = 0.24 (Law, example 4.27).
        let x = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09];
        let estimate = Estimate::of_mean(x.into_iter(), 0.9);
        assert!((estimate.mean - 1.343).abs() < 1e-9);
        assert!((estimate.half_width - 0.24).abs() < 0.005, "{estimate:?}");
    }

    #[test]
    fn a_ratio_of_proportional_numbers_is_known_exactly() {
        let pairs = [(1.0, 2.0), (3.0, 6.0), (2.0, 4.0)];
        let ratio = Estimate::of_ratio(pairs.into_iter(), 0.95).unwrap();
        assert_eq!((ratio.mean, ratio.half_width), (0.5, 0.0));
        assert_eq!(Estimate::of_ratio([(1.0, 0.0)].into_iter(), 0.95), None);
    }
}
