//! What successive observations of one run tell: where the warm-up ends, how much they depend on each other, how precise
//! their mean is, and whether they grow without end.

use inorder_stats::{Estimate, lag_one, t_quantile};

/// Observations that are taken together before the warm-up is looked for.
const TOGETHER: usize = 5;

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

/// How many values at the start do not count, by the rule MSER-5: those without which the standard error of the rest is
/// the least, but at most half of them (K. P. White, "An effective truncation heuristic for bias reduction in simulation
/// output", Simulation 69(6), 1997).
pub(crate) fn warm_up(values: &[f64]) -> usize {
    let groups: Vec<f64> = values
        .chunks_exact(TOGETHER)
        .map(|group| group.iter().sum::<f64>() / TOGETHER as f64)
        .collect();
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // A value in the middle of the range keeps the squares small.
    let base = groups.last().copied().unwrap_or_default();
    for (first, value) in groups.iter().enumerate().rev() {
        sum += value - base;
        squares += (value - base) * (value - base);
        let n = (groups.len() - first) as f64;
        let error = (squares - sum * sum / n).max(0.0) / (n * n);
        if first <= groups.len() / 2 && error <= best.0 {
            best = (error, first);
        }
    }
    best.1 * TOGETHER
}

/// Mean and interval of means of successive batches of one run.
///
/// Batches depend on those before them the less, the longer they are. What dependence is left is taken as that of an
/// autoregressive process of order 1: it widens the interval and lowers the degrees of freedom (A. Tafazzoli and J. Wilson,
/// "Skart: a skewness- and autoregression-adjusted batch-means procedure for simulation analysis", IIE Transactions 43(2),
/// 2011, without the correction for skewness).
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
        t_quantile((independent - 1.0).max(1.0), confidence) * error
    };
    Spread {
        estimate: Estimate { mean, half_width },
        independent,
    }
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
    use inorder_random::Random;

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
        for seed in 0..20 {
            let values = process(seed, 0.95, 1000.0, 2000);
            let end = warm_up(&values);
            assert!((50..=1000).contains(&end), "{end}");
        }
        assert_eq!(warm_up(&[1.0; 100]), 0);
        assert_eq!(warm_up(&[]), 0);
    }

    #[test]
    fn constant_values_have_no_interval() {
        let spread = of_series(&[3.0; 32], 0.95);
        assert_eq!(spread.estimate, Estimate::exact(3.0));
        assert!(distance_from_zero(&[2.0; 5]).is_infinite());
        assert_eq!(distance_from_zero(&[0.0; 5]), 0.0);
    }
}
