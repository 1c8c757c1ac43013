//! Duplication, as in Linux `sch_netem`.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::Dice;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Stage};

/// Duplicates some packets.
#[derive(Clone, Debug)]
pub struct Duplicate {
    dice: Dice,
    copy_delay_ns: i64,
}

impl Duplicate {
    /// `random` is the stream of this stage.
    pub fn new(config: &plain::Duplicate, random: Random) -> Self {
        Duplicate {
            dice: Dice::of_shares(config.probability, config.correlation, random),
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
        Duplicate::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    #[test]
    fn copies_follow_their_originals() {
        let config = plain::Duplicate {
            probability: 1.0,
            correlation: 0.0,
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
