//! Distributions of firing times.

use inorder_base::random::Random;

use crate::net::Drawn;

/// The duration of a firing, in ticks. The model decides what a tick is. Samples are rounded to whole ticks, so a
/// tick should be small compared with the shortest mean (for a processor, a picosecond).
#[derive(Debug, Clone, PartialEq)]
pub enum Delay {
    /// Constant, in ticks.
    Deterministic(u64),
    /// Exponential.
    Exponential {
        /// Mean in ticks; not negative.
        mean: f64,
    },
    /// Uniform over `low..=high`.
    Uniform {
        /// Shortest, in ticks.
        low: u64,
        /// Longest, in ticks; not below `low`.
        high: u64,
    },
    /// Sum of `stages` exponentials of equal mean: the gamma distribution with a whole number of stages.
    Erlang {
        /// Number of stages; at least one.
        stages: u32,
        /// Mean of the sum, in ticks; not negative.
        mean: f64,
    },
    /// Of one of the [families](crate::net::family).
    Drawn {
        /// The distribution, in a unit of time.
        drawn: Box<Drawn>,
        /// Ticks in that unit.
        ticks_per_unit: f64,
    },
    /// One of a list of observed values; made by [`Delay::empirical`].
    Empirical(Empirical),
}

/// Observed values and their chances.
#[derive(Debug, Clone, PartialEq)]
pub struct Empirical {
    ticks: Vec<u64>,
    /// Sum of the weights up to each value.
    cumulative: Vec<f64>,
}

impl Delay {
    /// Exponential with this mean, in ticks.
    pub fn exponential(mean: f64) -> Self {
        Self::Exponential { mean }
    }

    /// Of a family, in units of this number of ticks.
    pub fn drawn(drawn: Drawn, ticks_per_unit: f64) -> Self {
        let drawn = Box::new(drawn);
        Self::Drawn {
            drawn,
            ticks_per_unit,
        }
    }

    /// One of the values (in ticks), with a probability proportional to its weight.
    pub fn empirical(values: impl IntoIterator<Item = (u64, f64)>) -> Self {
        let (mut ticks, mut cumulative, mut total) = (Vec::new(), Vec::new(), 0.0);
        for (value, weight) in values {
            total += weight;
            ticks.push(value);
            cumulative.push(total);
        }
        Self::Empirical(Empirical { ticks, cumulative })
    }

    /// One sample, in ticks.
    #[inline]
    pub fn sample(&self, random: &mut Random) -> u64 {
        match self {
            Self::Deterministic(ticks) => *ticks,
            Self::Exponential { mean } => round(random.exponential() * mean),
            Self::Uniform { low, high } => uniform(random, *low, *high),
            Self::Erlang { stages, mean } => round(erlang(random, *stages) * mean),
            Self::Drawn {
                drawn,
                ticks_per_unit,
            } => round(drawn.sample(random) * ticks_per_unit),
            Self::Empirical(values) => values.sample(random),
        }
    }

    /// The mean, in ticks.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Deterministic(ticks) => *ticks as f64,
            Self::Exponential { mean } | Self::Erlang { mean, .. } => *mean,
            Self::Uniform { low, high } => *low as f64 / 2.0 + *high as f64 / 2.0,
            Self::Drawn {
                drawn,
                ticks_per_unit,
            } => drawn.mean() * ticks_per_unit,
            Self::Empirical(values) => values.mean(),
        }
    }

    /// The error in the parameters, if there is one.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Exponential { mean } | Self::Erlang { mean, .. }
                if !(mean.is_finite() && *mean >= 0.0) =>
            {
                Some("the mean must be a finite number that is not negative")
            }
            Self::Erlang { stages: 0, .. } => Some("an Erlang distribution needs a stage"),
            Self::Uniform { low, high } if low > high => Some("low must not be above high"),
            Self::Drawn { drawn, .. } => drawn.fault().map(|(_, _, expected)| expected),
            Self::Empirical(values) => values.fault(),
            _ => None,
        }
    }
}

impl Empirical {
    fn sample(&self, random: &mut Random) -> u64 {
        let total = self.cumulative.last().copied().unwrap_or_default();
        let at = random.unit() * total;
        let index = self.cumulative.partition_point(|&sum| sum <= at);
        self.ticks.get(index).copied().unwrap_or_default()
    }

    fn mean(&self) -> f64 {
        let before = std::iter::once(0.0).chain(self.cumulative.iter().copied());
        let weights = self
            .cumulative
            .iter()
            .zip(before)
            .map(|(sum, before)| sum - before);
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        weights
            .zip(&self.ticks)
            .map(|(weight, &ticks)| weight * ticks as f64)
            .sum::<f64>()
            / total
    }

    fn fault(&self) -> Option<&'static str> {
        let rises =
            self.cumulative.is_sorted() && self.cumulative.first().is_some_and(|&w| w >= 0.0);
        match self.cumulative.last() {
            None => Some("an empirical distribution needs a value"),
            Some(total) if rises && total.is_finite() && *total > 0.0 => None,
            Some(_) => Some("the weights must be finite, not negative, and not all 0"),
        }
    }
}

/// Rounds to whole ticks; the conversion saturates.
#[inline]
fn round(ticks: f64) -> u64 {
    (ticks + 0.5) as u64
}

fn uniform(random: &mut Random, low: u64, high: u64) -> u64 {
    match high.saturating_sub(low).checked_add(1) {
        Some(width) => low + random.below(width),
        None => random.next_u64(),
    }
}

/// Mean 1.
fn erlang(random: &mut Random, stages: u32) -> f64 {
    (0..stages).map(|_| random.exponential()).sum::<f64>() / f64::from(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and squared coefficient of variation over many samples.
    fn moments(delay: &Delay) -> (f64, f64) {
        const N: usize = 100_000;
        let mut random = Random::new(1, "delay");
        let samples: Vec<f64> = (0..N).map(|_| delay.sample(&mut random) as f64).collect();
        let mean = samples.iter().sum::<f64>() / N as f64;
        let variance = samples.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / N as f64;
        (mean, variance / (mean * mean))
    }

    #[test]
    fn moments_agree_with_the_formulas() {
        let cases = [
            (Delay::Deterministic(1000), 0.0),
            (Delay::exponential(1000.0), 1.0),
            (
                Delay::Uniform {
                    low: 500,
                    high: 1500,
                },
                1.0 / 12.0,
            ),
            (
                Delay::Erlang {
                    stages: 4,
                    mean: 1000.0,
                },
                0.25,
            ),
            (Delay::empirical([(500, 2.0), (2000, 1.0)]), 0.5),
        ];
        for (delay, variation) in cases {
            let (mean, found) = moments(&delay);
            assert!(
                (mean / delay.mean() - 1.0).abs() < 0.015,
                "{delay:?}: {mean}"
            );
            assert!((found - variation).abs() < 0.03, "{delay:?}: {found}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut random = Random::new(2, "extremes");
        for delay in [
            Delay::Uniform {
                low: 0,
                high: u64::MAX,
            },
            Delay::exponential(f64::MAX),
            Delay::empirical([]),
        ] {
            delay.sample(&mut random);
        }
    }
}
