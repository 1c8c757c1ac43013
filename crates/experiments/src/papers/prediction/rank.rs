//! Rank correlation (Spearman's rho) with bootstrap intervals.

use inorder_base::random::Random;

use crate::interval::Interval;

/// Bootstrap samples.
const SAMPLES: usize = 2000;

/// The values at some positions.
pub(super) fn at(values: &[f64], positions: &[usize]) -> Vec<f64> {
    let value = |n: &usize| values.get(*n).copied();
    positions.iter().filter_map(value).collect()
}

pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The correlation of the ranks; equal values share the mean of their ranks. 0 if one of the lists is constant.
pub(super) fn spearman(a: &[f64], b: &[f64]) -> f64 {
    pearson(&ranks(a), &ranks(b))
}

/// Spearman's rho with the 95 % interval of the bootstrap over pairs.
pub(super) fn correlation(a: &[f64], b: &[f64], random: &Random) -> Interval {
    bootstrap(b.len(), random, |positions| {
        spearman(&at(a, positions), &at(b, positions))
    })
}

/// How much more `a` correlates with `judged` than `b` does.
pub(super) fn difference(a: &[f64], b: &[f64], judged: &[f64], random: &Random) -> Interval {
    bootstrap(judged.len(), random, |positions| {
        let judged = at(judged, positions);
        spearman(&at(a, positions), &judged) - spearman(&at(b, positions), &judged)
    })
}

/// A statistic of `count` observations, with the interval of its values in samples drawn with replacement.
fn bootstrap(count: usize, random: &Random, of: impl Fn(&[usize]) -> f64) -> Interval {
    let whole: Vec<usize> = (0..count).collect();
    let mut random = random.clone();
    let mut values: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let one = |_| random.below(count as u64) as usize;
            let drawn: Vec<usize> = (0..count).map(one).collect();
            of(&drawn)
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| values.get((q * (SAMPLES - 1) as f64) as usize).copied();
    Interval {
        value: of(&whole),
        low: quantile(0.025).unwrap_or(f64::NEG_INFINITY),
        high: quantile(0.975).unwrap_or(f64::INFINITY),
    }
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let mean = before as f64 + (equal.len() - 1) as f64 / 2.0;
        equal.iter().for_each(|n| ranks[*n] = mean);
        before += equal.len();
    }
    ranks
}

fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let count = a.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / count;
    let (x, y) = (mean(a), mean(b));
    let sum =
        |of: fn(f64, f64) -> f64| -> f64 { a.iter().zip(b).map(|(a, b)| of(a - x, b - y)).sum() };
    let spread = (sum(|a, _| a * a) * sum(|_, b| b * b)).sqrt();
    if spread > 0.0 {
        sum(|a, b| a * b) / spread
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_a_table_in_a_textbook() {
        // Differences of the ranks 0, 1, 1, 0, 0: 1 - 6 x 2 / (5 x 24).
        let rho = spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 30.0, 2.0, 40.0, 50.0]);
        assert!((rho - 0.9).abs() < 1e-12, "{rho}");
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]), [1.5, 0.0, 1.5, 3.0]);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }

    #[test]
    fn an_interval_has_the_width_of_its_sample() {
        let mut random = Random::new(1, "pairs");
        let a: Vec<f64> = (0..200).map(|_| random.normal()).collect();
        let b: Vec<f64> = a.iter().map(|a| a + random.normal()).collect();
        let none: Vec<f64> = a.iter().map(|_| random.normal()).collect();
        let random = Random::new(2, "bootstrap");
        // Pearson's correlation is the square root of 1/2; Spearman's is 6/pi asin(rho/2) = 0.69.
        let found = correlation(&a, &b, &random);
        let width = found.high - found.low;
        assert!((found.value - 0.69).abs() < 0.12, "{found:?}");
        assert!(
            found.low < found.value && found.value < found.high,
            "{found:?}"
        );
        assert!((0.1..0.25).contains(&width), "{found:?}");
        let found = correlation(&none, &b, &random);
        assert!(found.low < 0.0 && found.high > 0.0);
        let more = difference(&a, &none, &b, &random);
        assert!(more.low > 0.4 && more.high < 1.0, "{more:?}");
    }
}
