//! A mean with its confidence interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Default confidence level: the one papers print and by which claims are judged.
const USUAL_CONFIDENCE: f64 = 0.95;

/// A mean with the half width of its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval; infinite if there were too few observations.
    pub half_width: f64,
}

impl Estimate {
    /// A value without sampling error, for example a count.
    pub fn exact(mean: f64) -> Self {
        Self {
            mean,
            half_width: 0.0,
        }
    }

    /// The mean of independent values, at 95 % confidence.
    pub fn of(values: &[f64]) -> Self {
        Self::of_sample(values, USUAL_CONFIDENCE)
    }

    /// The mean of independent values at this confidence, 0 to 1.
    pub fn of_sample(values: &[f64], confidence: f64) -> Self {
        Self::of_mean(values.iter().copied(), confidence)
    }

    /// The mean of independent observations at this confidence, 0 to 1; not a number without observations.
    pub fn of_mean(observations: impl Iterator<Item = f64> + Clone, confidence: f64) -> Self {
        let n = observations.clone().count() as f64;
        let mean = observations.clone().sum::<f64>() / n;
        let squares = observations.map(|x| (x - mean) * (x - mean)).sum::<f64>();
        Self {
            mean,
            half_width: half_width(squares, n, confidence),
        }
    }

    /// A ratio of means, from pairs of (numerator, denominator), by the delta method (A. M. Law, "Simulation Modeling
    /// and Analysis", section 9.5.2). `None` if the sum of the denominators is 0.
    pub fn of_ratio(
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

    /// Half the width of the interval; `None` if there were too few observations.
    pub fn half(&self) -> Option<f64> {
        self.half_width.is_finite().then_some(self.half_width)
    }

    /// Lower and upper end of the interval.
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half_width, self.mean + self.half_width]
    }

    /// Whether the interval contains `value`.
    pub fn covers(&self, value: f64) -> bool {
        (value - self.mean).abs() <= self.half_width
    }

    /// Half width divided by mean; 0 for a mean that is certainly 0.
    pub fn relative_error(&self) -> f64 {
        if self.half_width == 0.0 {
            0.0
        } else {
            self.half_width / self.mean.abs()
        }
    }

    /// The estimate in other units: mean and half width are multiplied by `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            half_width: self.half_width * factor.abs(),
        }
    }
}

/// Student's t times the standard error of the mean, from the sum of squared deviations of `n` observations.
fn half_width(squares: f64, n: f64, confidence: f64) -> f64 {
    if n < 2.0 {
        return f64::INFINITY;
    }
    t_quantile(n - 1.0, confidence) * libm::sqrt(squares / (n - 1.0) / n)
}

/// The two-sided quantile of Student's t for these degrees of freedom, rounded to 24 bits, because further bits
/// depend on the platform's logarithm. Infinite without a degree of freedom.
pub fn t_quantile(freedom: f64, confidence: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(t) => f64::from(t.inverse_cdf(0.5 + confidence.clamp(0.0, 1.0 - 1e-9) / 2.0) as f32),
        Err(_) => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_agree_with_printed_tables() {
        for (freedom, confidence, printed) in [
            (2.0, 0.95, 4.303),
            (4.0, 0.95, 2.776),
            (9.0, 0.95, 2.262),
            (30.0, 0.99, 2.750),
            (31.0, 0.99, 2.744),
        ] {
            assert!((t_quantile(freedom, confidence) - printed).abs() < 1e-3);
        }
        assert!(t_quantile(0.0, 0.95).is_infinite());
    }

    #[test]
    fn the_interval_of_a_worked_example() {
        // Ten observations with mean 1.343 and variance 0.168; t for 9 degrees at 90 % is 1.833, so that the half
        // width is 1.833 * sqrt(0.168 / 10) = 0.24 (Law, example 4.27).
        let x = [1.20, 1.50, 1.68, 1.89, 0.95, 1.49, 1.58, 1.55, 0.50, 1.09];
        let estimate = Estimate::of_sample(&x, 0.9);
        assert!((estimate.mean - 1.343).abs() < 1e-9);
        assert!((estimate.half_width - 0.24).abs() < 0.005, "{estimate:?}");
    }

    #[test]
    fn interval_of_a_textbook_sample() {
        // t(0.975, 4) = 2.776; standard deviation of 1..5 is sqrt(2.5).
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(e.mean, 3.0);
        assert!((e.half_width - 2.776_445 * (2.5f64 / 5.0).sqrt()).abs() < 1e-5);
    }

    #[test]
    fn one_number_has_no_interval() {
        assert!(Estimate::of(&[]).mean.is_nan());
        assert_eq!(Estimate::of(&[5.0]).half(), None);
        assert_eq!(Estimate::of(&[5.0, 5.0]).half(), Some(0.0));
    }

    #[test]
    fn a_ratio_of_proportional_numbers_has_a_zero_interval() {
        let pairs = [(1.0, 2.0), (3.0, 6.0), (2.0, 4.0)];
        let ratio = Estimate::of_ratio(pairs.into_iter(), 0.95).unwrap();
        assert_eq!((ratio.mean, ratio.half_width), (0.5, 0.0));
        assert_eq!(Estimate::of_ratio([(1.0, 0.0)].into_iter(), 0.95), None);
    }

    /// Share of Student's t distribution within `t` of 0: the density up to its constant, integrated by Simpson's
    /// rule.
    fn share_within(t: f64, freedom: f64) -> f64 {
        let density = |x: f64| (1.0 + x * x / freedom).powf(-(freedom + 1.0) / 2.0);
        // x = u / (1 - u) maps 0..1 to all positive x.
        let simpson = |to: f64| {
            let steps = 4000;
            let f = |u: f64| density(u / (1.0 - u)) / ((1.0 - u) * (1.0 - u));
            let sum: f64 = (0..steps)
                .map(|step| {
                    let (a, b) = (
                        to * f64::from(step) / f64::from(steps),
                        to * f64::from(step + 1) / f64::from(steps),
                    );
                    (b - a) / 6.0 * (f(a) + 4.0 * f(f64::midpoint(a, b)) + f(b))
                })
                .sum();
            sum
        };
        simpson(t / (1.0 + t)) / simpson(1.0 - 1e-9)
    }

    proptest! {
        /// The straightforward twin of the quantile: the integral up to it must be the confidence.
        #[test]
        fn the_integral_up_to_the_quantile_is_the_confidence(freedom in 2u32..60, confidence in 0.5f64..0.99) {
            let t = t_quantile(freedom.into(), confidence);
            let share = share_within(t, freedom.into());
            prop_assert!((share - confidence).abs() < 1e-4, "{} {}", share, confidence);
        }

        /// The straightforward twin of the mean: a ratio with denominators of 1.
        #[test]
        fn a_mean_equals_a_ratio_with_denominators_of_one(values in prop::collection::vec(-1e3f64..1e3, 2..30)) {
            let mean = Estimate::of(&values);
            let ratio = Estimate::of_ratio(values.iter().map(|v| (*v, 1.0)), 0.95).unwrap();
            prop_assert!((mean.mean - ratio.mean).abs() < 1e-9);
            prop_assert!((mean.half_width - ratio.half_width).abs() < 1e-9 * (1.0 + mean.half_width));
        }
    }
}
