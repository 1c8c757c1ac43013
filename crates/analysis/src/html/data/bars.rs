//! Distributions as bars and steps.

use inorder_detect::Distribution;
use serde::Serialize;

use super::rounded;

/// Greatest value with a bar of its own; distributions that go further get classes that double.
const SINGLE_BARS: u64 = 40;
/// Steps of a cumulative distribution that are drawn: more cannot be distinguished by eye.
const STEPS: usize = 80;

/// A distribution of counts: label and packets of each class, empty classes included.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Bars(Vec<(String, u64)>);

impl Bars {
    /// The classes of a distribution of values from 1 on.
    pub(crate) fn of(d: &Distribution) -> Bars {
        let Some(max) = d.max().filter(|max| *max > 0) else {
            return Bars(Vec::new());
        };
        let mut classes: Vec<(u64, u64, u64)> = match max <= SINGLE_BARS {
            true => (1..=max).map(|v| (v, v, 0)).collect(),
            false => doubling(max),
        };
        for (value, packets) in d.buckets() {
            let class = classes.iter_mut().find(|c| c.1 >= value.max(1));
            if let Some(class) = class {
                class.2 += packets;
            }
        }
        let label = |(from, to, packets): (u64, u64, u64)| match from == to {
            true => (from.to_string(), packets),
            false => (format!("{from}–{to}"), packets),
        };
        Bars(classes.into_iter().map(label).collect())
    }

    /// Classes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// 1, 2, 3 to 4, 5 to 8, ... up to `max`, each with a count of 0.
fn doubling(max: u64) -> Vec<(u64, u64, u64)> {
    let mut classes = vec![(1, 1, 0)];
    let mut end = 1u64;
    while end < max {
        let next = end.saturating_mul(2);
        classes.push((end + 1, next, 0));
        end = next;
    }
    classes
}

/// How late packets were: time and share of the late packets that were late by at most that.
#[derive(Serialize)]
pub(crate) struct Lateness {
    /// The unit of the times.
    unit: &'static str,
    steps: Vec<(f64, f64)>,
}

impl Lateness {
    /// The cumulative distribution of times in nanoseconds.
    pub(crate) fn of(d: &Distribution) -> Lateness {
        let (unit, scale) = match d.quantile(0.5).unwrap_or(0) {
            0..=999_999 => ("µs", 1e3),
            1_000_000..=999_999_999 => ("ms", 1e6),
            _ => ("s", 1e9),
        };
        let total = d.count().max(1) as f64;
        let mut seen = 0;
        let all: Vec<(f64, f64)> = d
            .buckets()
            .map(|(ns, packets)| {
                seen += packets;
                (rounded(ns as f64 / scale), rounded(seen as f64 / total))
            })
            .collect();
        Lateness {
            unit,
            steps: thinned(all),
        }
    }

    /// Steps.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

/// Leaves out steps that are hardly higher than the one before; the first and the last stay.
fn thinned(all: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let last = all.len().saturating_sub(1);
    let mut drawn = f64::NEG_INFINITY;
    let keep = all.len() <= STEPS;
    all.into_iter()
        .enumerate()
        .filter(|&(at, (_, share))| {
            let far = share - drawn >= 1.0 / STEPS as f64;
            let stays = keep || far || at == 0 || at == last;
            if stays {
                drawn = share;
            }
            stays
        })
        .map(|(_, step)| step)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut d = Distribution::default();
        values.into_iter().for_each(|v| d.update(v));
        d
    }

    #[test]
    fn bars_count_every_packet_once() {
        for max in [1, 3, 40, 41, 930, 100_000] {
            let d = distribution((1..=max).step_by(1 + max as usize / 500));
            let bars = Bars::of(&d);
            let sum: u64 = bars.0.iter().map(|bar| bar.1).sum();
            assert_eq!(sum, d.count(), "{max}");
            assert!(bars.len() <= SINGLE_BARS as usize, "{max}: {}", bars.len());
        }
        assert_eq!(Bars::of(&distribution([])).len(), 0);
    }

    #[test]
    fn steps_end_at_all_packets_and_keep_the_extremes() {
        let d = distribution((0..5_000).map(|n| 1_000 + n * n));
        let late = Lateness::of(&d);
        assert!(late.len() <= STEPS + 2);
        let (first, last) = (late.steps[0], late.steps[late.len() - 1]);
        assert!(first.0 < 0.002 && last.0 > 24.9, "{first:?} {last:?} ms");
        assert_eq!(last.1, 1.0);
    }
}
