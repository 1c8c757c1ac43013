//! Corruption.

use inorder_random::Random;

use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Stage};

/// Settings of [`Corrupt`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CorruptConfig {
    /// Probability of damage.
    pub probability: Probability,
    /// Of each draw with the one before.
    pub correlation: Probability,
    /// Damaged packets end here, as where a link's own checksum finds them; otherwise they go on
    /// if [`Packet::corrupt`] lets them.
    pub discard: bool,
}

/// Damages some packets.
#[derive(Clone, Debug)]
pub struct Corrupt {
    dice: Dice,
    places: Random,
    discard: bool,
}

impl Corrupt {
    /// `random` is this stage's own stream.
    pub fn new(config: &CorruptConfig, random: Random) -> Self {
        Corrupt {
            places: random.fork(1),
            dice: Dice::new(config.probability, config.correlation, random),
            discard: config.discard,
        }
    }

    /// The packet, damaged or not, or nothing when it was dropped.
    #[inline]
    pub(crate) fn pass<P: Packet>(&mut self, mut packet: P, out: &mut Outbox<P>) -> Option<P> {
        if !self.dice.roll() {
            return Some(packet);
        }
        if self.discard || !packet.corrupt(self.places.next_u64()) {
            out.drop(packet, Reason::Corrupted);
            return None;
        }
        out.mark(&packet, Fate::Corrupted);
        Some(packet)
    }
}

impl<P: Packet> Stage<P> for Corrupt {
    #[inline]
    fn push(&mut self, now_ns: u64, packet: P, out: &mut Outbox<P>) {
        if let Some(packet) = self.pass(packet, out) {
            out.send(now_ns, packet);
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    fn pass(discard: bool) -> (Vec<bool>, u64) {
        let config = CorruptConfig {
            probability: Probability::percent(50.0),
            correlation: Probability::NEVER,
            discard,
        };
        let mut corrupt = Corrupt::new(&config, Random::new(1, "corrupt"));
        let mut out = Outbox::new();
        (0..1000).for_each(|n| corrupt.push(n, Probe::new(n, 100), &mut out));
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
