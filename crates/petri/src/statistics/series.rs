//! What successive observations of one run tell: where the warm-up ends, how much they depend on each other, how precise
//! their mean is, and whether they grow without end.

use inorder_base::stats::{Estimate, lag_one, t_quantile};

/// Greatest correlation of successive observations that is corrected; beyond it the series is hardly longer than its
/// memory.
const MOST_CORRELATED: f64 = 0.98;

/// The mean of a series of equally long observations, from first to last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Mean and half width.
    pub estimate: Estimate,
    /// Number of independent observations with the same precision.
    pub independent: f64,
}

/// How many values at the start do not count: as long as the first one is the largest or the smallest of all that are left,
/// it is left out, but at most half of them are (R. W. Conway, "Some tactical problems in digital simulation", Management
/// Science 10(1), 1963). The values are means of long batches; those of a queue that just happens to begin with many
/// customers are rarely the largest of all. Rules that minimise the standard error, as MSER, cut such beginnings away, and
/// make the mean of a short run too small.
pub(crate) fn warm_up(values: &[f64]) -> usize {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut end = values.len() / 2;
    for (index, value) in values.iter().enumerate().rev() {
        if index < end && (low..=high).contains(value) {
            end = index;
        }
        low = low.min(*value);
        high = high.max(*value);
    }
    end
}

/// Mean and interval of means of successive batches of one run.
///
/// Batches depend on those before them the less, the longer they are. What dependence is left is taken as that of an
/// autoregressive process of order 1: it widens the interval and lowers the degrees of freedom (A. Tafazzoli and J. Wilson,
/// "Skart: a skewness- and autoregression-adjusted batch-means procedure for simulation analysis", IIE Transactions 43(2),
/// 2011). If the values are skewed, the interval reaches further on one side (R. Willink, "A confidence interval and test
/// for the mean of an asymmetric distribution", Communications in Statistics 34(4), 2005); here it does so on both.
pub(crate) fn of_series(values: &[f64], confidence: f64) -> Spread {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let correlation = correlation(values);
    let independent = n * (1.0 - correlation) / (1.0 + correlation);
    let half_width = if n < 2.0 {
        f64::INFINITY
    } else if squares == 0.0 {
        0.0
    } else {
        let error = libm::sqrt(squares / (n - 1.0) / independent);
        let t = t_quantile((independent - 1.0).max(1.0), confidence);
        let cubes: f64 = values.iter().map(|x| libm::pow(x - mean, 3.0)).sum();
        let skewness = cubes / n / libm::pow(squares / n, 1.5);
        skewed(t, skewness / (6.0 * libm::sqrt(independent))) * error
    };
    Spread {
        estimate: Estimate { mean, half_width },
        independent,
    }
}

/// The quantile `t` for a mean whose distribution has this skewness, divided by 6, on the side where it is larger.
fn skewed(t: f64, skewness: f64) -> f64 {
    let b = skewness.abs();
    if b < 1e-6 {
        return t;
    }
    let root = libm::cbrt(1.0 - 6.0 * b * (t + b));
    ((1.0 - root) / (2.0 * b)).max(t)
}

/// Correlation of each value with the next one, not below 0. That of a sample is too small by about `(1 + 3 r) / n` (M. G.
/// Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954).
pub(crate) fn correlation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 4.0 {
        return 0.0;
    }
    let found = lag_one(values.iter().copied());
    ((found + 1.0 / n) / (1.0 - 3.0 / n)).clamp(0.0, MOST_CORRELATED)
}

/// How many standard errors the mean of independent values lies from 0: infinite if all are equal and not 0.
pub(crate) fn distance_from_zero(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    if mean == 0.0 || n < 2.0 {
        return 0.0;
    }
    mean / libm::sqrt(squares / (n - 1.0) / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inorder_base::random::Random;

    /// An autoregressive process that starts at `start` instead of at 0.
    fn process(seed: u64, memory: f64, start: f64, length: usize) -> Vec<f64> {
        let mut random = Random::new(seed, "process");
        let mut value = start;
        let mut next = || {
            value = memory * value + random.normal();
            value
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn intervals_of_dependent_values_hold_the_mean() {
        for memory in [0.0, 0.5, 0.8] {
            let held = (0..400)
                .filter(|seed| {
                    let values = process(*seed, memory, 0.0, 1032);
                    of_series(&values[1000..], 0.95).estimate.covers(0.0)
                })
                .count();
            println!("memory {memory}: {held} of 400");
            assert!(held >= 360, "memory {memory}: {held} of 400");
        }
    }

    #[test]
    fn the_warm_up_ends_where_the_start_is_forgotten() {
        assert_eq!(warm_up(&[100.0, 50.0, 20.0, 3.0, 5.0, 2.0, 4.0, 3.0]), 3);
        assert_eq!(warm_up(&[3.0, 5.0, 2.0, 4.0]), 0);
        // Still falling in the middle.
        assert_eq!(warm_up(&[8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]), 4);
        assert_eq!(warm_up(&[1.0; 100]), 0);
        assert_eq!(warm_up(&[]), 0);
    }

    #[test]
    fn skewed_values_have_a_wider_interval() {
        assert_eq!(skewed(2.0, 0.0), 2.0);
        // Willink's function by hand: (1 - (1 - 0.6 * 2.1)^(1/3)) / 0.2.
        assert!((skewed(2.0, 0.1) - (1.0 + 0.26_f64.cbrt()) / 0.2).abs() < 1e-9);
    }

    #[test]
    fn constant_values_have_no_interval() {
        let spread = of_series(&[3.0; 32], 0.95);
        assert_eq!(spread.estimate, Estimate::exact(3.0));
        assert!(distance_from_zero(&[2.0; 5]).is_infinite());
        assert_eq!(distance_from_zero(&[0.0; 5]), 0.0);
    }
}
