//! Means with intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A value with the interval it lies in at 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// Mean over the repetitions.
    pub mean: f64,
    /// Half the width of the interval; infinite with a single repetition.
    pub half_width: f64,
}

impl Estimate {
    /// A value without repetitions: counted, not sampled.
    pub fn exact(mean: f64) -> Self {
        Self {
            mean,
            half_width: 0.0,
        }
    }

    /// Mean of independent values with the half-width of its 95 % interval by Student's t.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let half_width = Self::quantile(values.len())
            .map_or(f64::INFINITY, |t| t * (squares / (n - 1.0) / n).sqrt());
        Self { mean, half_width }
    }

    /// Student's quantile for a two-sided interval at 95 % from `n` values; `None` of fewer than two.
    pub fn quantile(n: usize) -> Option<f64> {
        let t = StudentsT::new(0.0, 1.0, n as f64 - 1.0).ok()?;
        Some(t.inverse_cdf(0.975))
    }

    /// Lower and upper end.
    pub fn interval(&self) -> [f64; 2] {
        [self.mean - self.half_width, self.mean + self.half_width]
    }

    /// True if even the upper end lies below `other`'s lower end. A single repetition has no interval: its value
    /// stands for itself, lest a claim hold only because nothing is known.
    pub fn surely_below(&self, other: &Self) -> bool {
        let known = |e: &Self| {
            if e.half_width.is_finite() {
                e.half_width
            } else {
                0.0
            }
        };
        self.mean + known(self) < other.mean - known(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_a_textbook_sample() {
        // t(0.975, 4) = 2.776; standard deviation of 1..5 is sqrt(2.5).
        let e = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(e.mean, 3.0);
        assert!((e.half_width - 2.776_445 * (2.5f64 / 5.0).sqrt()).abs() < 1e-5);
        assert!(Estimate::of(&[1.0]).half_width.is_infinite());
        assert!(Estimate::of(&[1.0]).surely_below(&Estimate::of(&[2.0])));
        assert!(!Estimate::of(&[2.0]).surely_below(&Estimate::of(&[1.0])));
        assert!(Estimate::of(&[1.0, 1.1]).mean < 1.06);
    }
}
