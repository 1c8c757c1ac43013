//! Means over repetitions and their intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of some numbers and half the width of its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Mean.
    pub mean: f64,
    /// The interval is mean - half to mean + half; `None` of fewer than two numbers.
    pub half: Option<f64>,
    /// Numbers it is made of.
    pub n: usize,
}

/// Student's t interval of the mean at this confidence (0 to 1); `None` of no numbers.
pub fn estimate(values: &[f64], confidence: f64) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let deviation = libm::sqrt(squares / (n.max(2) - 1) as f64);
    let half = t_quantile(n, confidence).map(|t| t * deviation / libm::sqrt(n as f64));
    Some(Estimate { mean, half, n })
}

/// Two-sided quantile for n - 1 degrees of freedom, to 24 bits: the ones behind depend on the platform's logarithm.
fn t_quantile(n: usize, confidence: f64) -> Option<f64> {
    if n < 2 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64).ok()?;
    Some(f64::from(t.inverse_cdf(0.5 + confidence / 2.0) as f32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Two-sided 95 % quantiles of Student's t: 4.303 for 2, 2.776 for 4 degrees of freedom.
        let three = estimate(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert_eq!((three.mean, three.n), (2.0, 3));
        assert!((three.half.unwrap() - 4.3027 / 3f64.sqrt()).abs() < 1e-3);
        assert!((t_quantile(5, 0.95).unwrap() - 2.7764).abs() < 1e-3);
        assert!((t_quantile(31, 0.99).unwrap() - 2.7500).abs() < 1e-3);
    }

    #[test]
    fn one_number_has_no_interval() {
        assert_eq!(estimate(&[], 0.95), None);
        assert_eq!(estimate(&[5.0], 0.95).unwrap().half, None);
        assert_eq!(estimate(&[5.0, 5.0], 0.95).unwrap().half, Some(0.0));
    }
}
