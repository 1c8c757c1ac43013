//! netem's `reorder P gap N`: some packets skip the delay.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use super::delay::DelayDraws;
use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::later;

/// Which packets are sent at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReorderConfig {
    /// Probability of being sent at once, for an eligible packet.
    pub probability: Probability,
    /// Correlation of each random number with the previous one.
    pub correlation: Probability,
    /// A packet is eligible after `gap - 1` delayed packets; 0: never.
    pub gap: u32,
}

impl ReorderConfig {
    /// `reorder P`: every packet is eligible, as with gap 1.
    pub fn probability(probability: Probability) -> Self {
        ReorderConfig {
            probability,
            correlation: Probability::NEVER,
            gap: 1,
        }
    }

    /// `gap N` alone: every N-th packet with certainty.
    pub fn gap(gap: u32) -> Self {
        ReorderConfig {
            gap,
            ..ReorderConfig::probability(Probability::ALWAYS)
        }
    }
}

/// Decides which packets are sent at once.
#[derive(Clone, Debug)]
pub(crate) struct Jumps {
    gap: u32,
    delayed: u32,
    dice: Dice,
}

impl Jumps {
    pub(crate) fn new(config: &ReorderConfig, random: Random) -> Self {
        Jumps {
            gap: config.gap,
            delayed: 0,
            dice: Dice::new(config.probability, config.correlation, random),
        }
    }

    pub(crate) fn is_never(&self) -> bool {
        self.gap == 0 || self.dice.is_never()
    }

    /// True if the next packet is sent at once.
    #[inline]
    pub(crate) fn roll(&mut self) -> bool {
        let turn = self.gap != 0 && self.delayed >= self.gap - 1;
        let jumps = turn && self.dice.roll();
        self.delayed = if jumps {
            0
        } else {
            self.delayed.saturating_add(1)
        };
        jumps
    }
}

/// Delays packets, except those that are sent at once. `delay 20ms reorder 98%` sends 98 % at once and delays the
/// others: the rule makes most packets early instead of some late.
#[derive(Clone, Debug)]
pub struct Reorder {
    jumps: Jumps,
    draws: DelayDraws,
}

impl Reorder {
    /// `random` is the stream of this stage. All settings of `delay` apply except the limit.
    pub fn new(config: &ReorderConfig, delay: &plain::Delay, random: Random) -> Self {
        Reorder {
            draws: DelayDraws::new(delay, random.fork(1)),
            jumps: Jumps::new(config, random),
        }
    }
}

impl<P: Packet> Stage<P> for Reorder {
    #[inline]
    fn pass(&mut self, now_ns: i64, _: &mut P, _: &mut Outbox<P>) -> Pass {
        if self.jumps.roll() {
            return Pass::Leaves(now_ns);
        }
        let at_ns = later(now_ns, self.draws.draw_ns());
        at_ns.ok_or(Reason::NoService).into()
    }

    fn keeps_order(&self) -> bool {
        self.jumps.is_never() && self.draws.is_constant()
    }
}

impl<P: Packet> Declared<P> for plain::Reorder {
    type Stage = Reorder;

    fn build(&self, random: Random) -> Reorder {
        Reorder::new(
            &ReorderConfig {
                probability: Probability::ratio(self.probability),
                correlation: Probability::ratio(self.correlation),
                gap: self.gap,
            },
            &plain::Delay::constant(self.delay_ns),
            random,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    const MS: i64 = 1_000_000;

    fn times(config: ReorderConfig, n: u64) -> Vec<i64> {
        let delay = plain::Delay::constant(20 * MS);
        let mut reorder = Reorder::new(&config, &delay, Random::new(1, "reorder"));
        let mut out = Outbox::new();
        (0..n).for_each(|n| reorder.push(0, Probe::new(n, 1500), &mut out));
        out.take().map(|(t, _)| t / MS).collect()
    }

    #[test]
    fn reorder_98_percent_sends_98_percent_at_once() {
        let times = times(
            ReorderConfig::probability(Probability::percent(98.0)),
            100_000,
        );
        let late = times.iter().filter(|&&t| t == 20).count();
        assert!((1_850..2_150).contains(&late), "{late}");
        assert!(times.iter().all(|t| [0, 20].contains(t)));
    }

    #[test]
    fn gap_alone_sends_every_nth_at_once() {
        assert_eq!(
            times(ReorderConfig::gap(5), 12),
            [20, 20, 20, 20, 0, 20, 20, 20, 20, 0, 20, 20]
        );
        assert_eq!(times(ReorderConfig::gap(1), 3), [0, 0, 0]);
        assert_eq!(times(ReorderConfig::gap(0), 3), [20, 20, 20]);
    }

    #[test]
    fn packets_stay_eligible_until_one_is_sent_at_once() {
        // After four delayed packets, each packet is eligible until one is sent at once.
        let config = ReorderConfig {
            gap: 5,
            ..ReorderConfig::probability(Probability::percent(50.0))
        };
        let times = times(config, 10_000);
        let jumped: Vec<usize> = (0..times.len()).filter(|&i| times[i] == 0).collect();
        let gaps: Vec<usize> = jumped.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert_eq!(gaps.iter().min(), Some(&5));
        assert!((mean - 6.0).abs() < 0.15, "{mean}"); // 5 and a geometric wait of mean 1
    }
}
