//! Corruption, as in Linux `sch_netem`.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::Dice;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};

/// Damages some packets.
#[derive(Clone, Debug)]
pub struct Corrupt {
    dice: Dice,
    places: Random,
    discard: bool,
}

impl Corrupt {
    /// `random` is the stream of this stage.
    pub fn new(config: &plain::Corrupt, random: Random) -> Self {
        Corrupt {
            places: random.fork(1),
            dice: Dice::of_shares(config.probability, config.correlation, random),
            discard: config.discard,
        }
    }

    /// Damages the packet or not; false if it is dropped.
    #[inline]
    pub(crate) fn damage<P: Packet>(&mut self, packet: &mut P, out: &mut Outbox<P>) -> bool {
        if !self.dice.roll() {
            return true;
        }
        let goes_on = !self.discard && packet.corrupt(self.places.next_u64());
        if goes_on {
            out.mark(packet, Fate::Corrupted);
        }
        goes_on
    }
}

impl<P: Packet> Stage<P> for Corrupt {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        match self.damage(packet, out) {
            true => Pass::Leaves(now_ns),
            false => Pass::Dropped(Reason::Corrupted),
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::Corrupt {
    type Stage = Corrupt;

    fn build(&self, random: Random) -> Corrupt {
        Corrupt::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    fn pass(discard: bool) -> (Vec<bool>, u64) {
        let config = plain::Corrupt {
            probability: 0.5,
            correlation: 0.0,
            discard,
        };
        let mut corrupt = Corrupt::new(&config, Random::new(1, "corrupt"));
        let mut out = Outbox::new();
        (0..1000).for_each(|n| corrupt.push(0, Probe::new(n, 100), &mut out));
        let left = out.take().map(|(_, p)| p.corrupted).collect();
        (left, out.counters().dropped_for(Reason::Corrupted))
    }

    #[test]
    fn damaged_packets_go_on_or_end_here() {
        let (marked, dropped) = pass(false);
        let damaged = marked.iter().filter(|&&c| c).count();
        assert_eq!((marked.len(), dropped), (1000, 0));
        assert!((450..550).contains(&damaged), "{damaged}");

        let (left, dropped) = pass(true);
        assert!(left.iter().all(|&c| !c));
        assert_eq!((left.len(), dropped as usize), (1000 - damaged, damaged));
    }
}
