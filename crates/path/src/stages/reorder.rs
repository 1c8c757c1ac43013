//! netem's `reorder P gap N`: some packets skip the delay.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::Dice;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::later;

/// Decides which packets are sent at once.
#[derive(Clone, Debug)]
pub(crate) struct Jumps {
    gap: u32,
    delayed: u32,
    dice: Dice,
}

impl Jumps {
    /// A packet is eligible after `gap - 1` delayed packets; 0: never.
    pub(crate) fn new(gap: u32, dice: Dice) -> Self {
        Jumps {
            gap,
            delayed: 0,
            dice,
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
    delay_ns: i64,
}

impl Reorder {
    /// `random` is the stream of this stage.
    pub fn new(reorder: &plain::Reorder, random: Random) -> Self {
        let dice = Dice::of_shares(reorder.probability, reorder.correlation, random);
        Reorder {
            jumps: Jumps::new(reorder.gap, dice),
            delay_ns: reorder.delay_ns,
        }
    }
}

impl<P: Packet> Stage<P> for Reorder {
    #[inline]
    fn pass(&mut self, now_ns: i64, _: &mut P, _: &mut Outbox<P>) -> Pass {
        if self.jumps.roll() {
            return Pass::Leaves(now_ns);
        }
        let at_ns = later(now_ns, self.delay_ns);
        at_ns.ok_or(Reason::NoService).into()
    }

    fn keeps_order(&self) -> bool {
        self.jumps.is_never()
    }
}

impl<P: Packet> Declared<P> for plain::Reorder {
    type Stage = Reorder;

    fn build(&self, random: Random) -> Reorder {
        Reorder::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    const MS: i64 = 1_000_000;

    fn times(probability: f64, gap: u32, n: u64) -> Vec<i64> {
        let config = plain::Reorder {
            probability,
            correlation: 0.0,
            gap,
            delay_ns: 20 * MS,
        };
        let mut reorder = Reorder::new(&config, Random::new(1, "reorder"));
        let mut out = Outbox::new();
        (0..n).for_each(|n| reorder.push(0, Probe::new(n, 1500), &mut out));
        out.take().map(|(t, _)| t / MS).collect()
    }

    #[test]
    fn reorder_98_percent_sends_98_percent_at_once() {
        let times = times(0.98, 1, 100_000);
        let late = times.iter().filter(|&&t| t == 20).count();
        assert!((1_850..2_150).contains(&late), "{late}");
        assert!(times.iter().all(|t| [0, 20].contains(t)));
    }

    #[test]
    fn gap_alone_sends_every_nth_at_once() {
        assert_eq!(
            times(1.0, 5, 12),
            [20, 20, 20, 20, 0, 20, 20, 20, 20, 0, 20, 20]
        );
        assert_eq!(times(1.0, 1, 3), [0, 0, 0]);
        assert_eq!(times(1.0, 0, 3), [20, 20, 20]);
    }

    #[test]
    fn packets_stay_eligible_until_one_is_sent_at_once() {
        // After four delayed packets, each packet is eligible until one is sent at once.
        let times = times(0.5, 5, 10_000);
        let jumped: Vec<usize> = (0..times.len()).filter(|&i| times[i] == 0).collect();
        let gaps: Vec<usize> = jumped.windows(2).map(|w| w[1] - w[0]).collect();
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert_eq!(gaps.iter().min(), Some(&5));
        assert!((mean - 6.0).abs() < 0.15, "{mean}"); // 5 and a geometric wait of mean 1
    }
}
