//! Duplication.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::{Dice, Probability};
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Stage};

/// Settings of [`Duplicate`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DuplicateConfig {
    /// Probability of a second copy.
    pub probability: Probability,
    /// Correlation of each random number with the previous one.
    pub correlation: Probability,
    /// Delay of the copy after the original, nanoseconds.
    pub copy_delay_ns: i64,
}

/// Duplicates some packets.
#[derive(Clone, Debug)]
pub struct Duplicate {
    dice: Dice,
    copy_delay_ns: i64,
}

impl Duplicate {
    /// `random` is the stream of this stage.
    pub fn new(config: &DuplicateConfig, random: Random) -> Self {
        Duplicate {
            dice: Dice::new(config.probability, config.correlation, random),
            copy_delay_ns: config.copy_delay_ns,
        }
    }
}

impl<P: Packet> Stage<P> for Duplicate {
    #[inline]
    fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
        if self.dice.roll() {
            out.mark(&packet, Fate::Duplicated);
            let copy = packet.clone();
            out.send(now_ns, packet);
            out.send(now_ns.saturating_add(self.copy_delay_ns.max(0)), copy);
        } else {
            out.send(now_ns, packet);
        }
    }

    fn keeps_order(&self) -> bool {
        self.copy_delay_ns <= 0
    }
}

impl<P: Packet> Declared<P> for plain::Duplicate {
    type Stage = Duplicate;

    fn build(&self, random: Random) -> Duplicate {
        Duplicate::new(
            &DuplicateConfig {
                probability: Probability::ratio(self.probability),
                correlation: Probability::ratio(self.correlation),
                copy_delay_ns: self.copy_delay_ns,
            },
            random,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    #[test]
    fn copies_follow_their_originals() {
        let config = DuplicateConfig {
            probability: Probability::ALWAYS,
            correlation: Probability::NEVER,
            copy_delay_ns: 7,
        };
        let mut duplicate = Duplicate::new(&config, Random::new(1, "duplicate"));
        let mut out = Outbox::new();
        duplicate.push(10, Probe::new(1, 100), &mut out);
        let left: Vec<_> = out.take().map(|(t, p)| (t, p.number)).collect();
        assert_eq!(left, [(10, 1), (17, 1)]);
        assert_eq!(out.counters().duplicated, 1);
    }
}
