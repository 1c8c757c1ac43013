//! Delay with jitter, computed and queued as in netem.

use crate::declared::{Declared, length};
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::{Correlated, Probability};
use crate::counters::Reason;
use crate::distribution::{SCALE, Table};
use crate::packet::Packet;
use crate::queue::Census;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::later;

/// Generates random delays.
#[derive(Clone, Debug)]
pub(crate) struct DelayDraws {
    mean_ns: i64,
    jitter_ns: i64,
    table: Option<Table>,
    draws: Correlated,
}

impl DelayDraws {
    pub(crate) fn new(config: &plain::Delay, random: Random) -> Self {
        // 2^47 ns are 39 hours, so the product with an entry of the table fits.
        let jitter_ns = config.jitter_ns.clamp(0, 1 << 47);
        DelayDraws {
            mean_ns: config.delay_ns,
            jitter_ns,
            // A table takes milliseconds to compute.
            table: match jitter_ns {
                0 => None,
                _ => Table::of(config.distribution),
            },
            draws: Correlated::new(Probability::ratio(config.correlation), random),
        }
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.jitter_ns == 0
    }

    /// The next delay; may be negative.
    #[inline]
    pub(crate) fn draw_ns(&mut self) -> i64 {
        if self.jitter_ns == 0 {
            return self.mean_ns;
        }
        let random = self.draws.draw();
        let deviation = match &self.table {
            None => (u64::from(random) % (2 * self.jitter_ns as u64)) as i64 - self.jitter_ns,
            Some(table) => scaled(self.jitter_ns, table.pick(random)),
        };
        self.mean_ns.saturating_add(deviation)
    }
}

/// `jitter_ns * t / 8192`, rounded half away from zero.
#[inline]
fn scaled(jitter_ns: i64, t: i16) -> i64 {
    let product = jitter_ns * i64::from(t);
    (product + (SCALE / 2) * product.signum()) / SCALE
}

/// Delays each packet by an independent random time. Packets with shorter delays overtake others: netem's queue is
/// sorted by departure time, and so are events. Packets with equal times keep their order.
#[derive(Clone, Debug)]
pub struct Delay {
    draws: DelayDraws,
    census: Census,
    limited: bool,
}

impl Delay {
    /// `random` is the stream of this stage.
    pub fn new(config: &plain::Delay, random: Random) -> Self {
        Delay {
            draws: DelayDraws::new(config, random),
            census: Census::new(config.limit_packets.map(length)),
            limited: config.limit_packets.is_some(),
        }
    }
}

impl<P: Packet> Stage<P> for Delay {
    #[inline]
    fn pass(&mut self, now_ns: i64, _: &mut P, _: &mut Outbox<P>) -> Pass {
        if !self.census.admits(now_ns) {
            return Pass::Dropped(Reason::QueueFull);
        }
        match later(now_ns, self.draws.draw_ns()) {
            None => Pass::Dropped(Reason::NoService),
            Some(at_ns) => {
                self.census.add(at_ns);
                Pass::Leaves(at_ns)
            }
        }
    }

    fn keeps_order(&self) -> bool {
        self.draws.is_constant()
    }

    fn needs_order(&self) -> bool {
        self.limited || !self.draws.is_constant()
    }
}

impl<P: Packet> Declared<P> for plain::Delay {
    type Stage = Delay;

    fn build(&self, random: Random) -> Delay {
        Delay::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;
    use inorder_scenario::config::Distribution;

    const MS: i64 = 1_000_000;

    fn delays(config: &plain::Delay, n: u32) -> Vec<f64> {
        let mut draws = DelayDraws::new(config, Random::new(1, "delays"));
        (0..n).map(|_| draws.draw_ns() as f64).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    #[test]
    fn delays_have_their_distributions_moments() {
        for (distribution, mean, deviation) in [
            (Distribution::Uniform, 0.0, 1.0 / 3f64.sqrt()),
            (Distribution::Normal, 0.0, 1.0),
            (Distribution::Pareto, -0.034, 0.82),
            (Distribution::ParetoNormal, -0.025, 0.83),
        ] {
            let config = plain::Delay {
                distribution,
                ..plain::Delay::normal(10 * MS, MS)
            };
            let (m, d) = moments(&delays(&config, 200_000));
            assert!(
                (m / 1e6 - 10.0 - mean).abs() < 0.01,
                "{distribution:?}: {m}"
            );
            assert!((d / 1e6 - deviation).abs() < 0.01, "{distribution:?}: {d}");
        }
    }

    #[test]
    fn a_uniform_delay_reaches_from_minus_to_below_plus_jitter() {
        let config = plain::Delay {
            distribution: Distribution::Uniform,
            ..plain::Delay::normal(100, 3)
        };
        let values = delays(&config, 1000);
        let all = |x: f64| (97.0..103.0).contains(&x) && values.contains(&x);
        assert!((97..103).all(|x| all(f64::from(x))) && !values.contains(&103.0));
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        assert_eq!(
            [scaled(1, 4096), scaled(1, -4096), scaled(1, 4095)],
            [1, -1, 0]
        );
        assert_eq!(
            [scaled(3, 4096), scaled(8192, -7), scaled(1 << 47, i16::MIN)],
            [2, -7, -(1 << 49)]
        );
    }

    #[test]
    fn the_limit_counts_packets_delayed_at_the_same_time() {
        let config = plain::Delay {
            limit_packets: Some(3),
            ..plain::Delay::constant(10)
        };
        let mut delay = Delay::new(&config, Random::new(1, "limit"));
        let mut out = Outbox::new();
        for t in 0..14 {
            delay.push(t, Probe::new(0, 100), &mut out);
        }
        let left: Vec<_> = out.take().map(|(t, _)| t).collect();
        assert_eq!(left, [10, 11, 12, 20, 21, 22]);
    }

    #[test]
    fn extreme_settings_and_times_do_not_panic() {
        let config = plain::Delay::normal(i64::MAX, i64::MAX);
        let mut delay = Delay::new(&config, Random::new(1, "harm"));
        let mut out = Outbox::new();
        for t in [i64::MIN, 0, i64::MAX - 5, i64::MAX] {
            delay.push(t, Probe::new(0, 100), &mut out);
            assert!(out.take().all(|(at, _)| at >= t));
        }
    }
}
