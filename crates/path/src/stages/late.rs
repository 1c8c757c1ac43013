//! Delays a share of the packets by an additional fixed time.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::Dice;
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};
use crate::time::later;

/// Holds a share of the packets back: the change to netem of Schulte and others, "I'll be a bit
/// late: Packet Reordering in Mobile Networks", section VI-B: "to directly set the desired fraction of packets that should be reordered for later
/// delivery as well as their desired delay"; there 2 % and 20 ms. Others pass at once.
#[derive(Clone, Debug)]
pub struct Late {
    dice: Dice,
    delay_ns: i64,
    /// Packets are late from this time on.
    from_ns: i64,
    /// None is late from this time on.
    until_ns: i64,
}

impl Late {
    /// `random` is the stream of this stage.
    pub fn new(late: &plain::Late, random: Random) -> Self {
        Late {
            dice: Dice::of_shares(late.probability, late.correlation, random),
            delay_ns: late.delay_ns,
            from_ns: late.from_ns,
            until_ns: late.until_ns.unwrap_or(i64::MAX),
        }
    }
}

impl<P: Packet> Stage<P> for Late {
    #[inline]
    fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
        let is_active = (self.from_ns..self.until_ns).contains(&now_ns);
        if !is_active || !self.dice.roll() {
            return Pass::Leaves(now_ns);
        }
        let Some(at_ns) = later(now_ns, self.delay_ns) else {
            return Pass::Dropped(Reason::NoService);
        };
        out.mark(packet, Fate::HeldBack(Some(self.delay_ns)));
        Pass::Leaves(at_ns)
    }

    fn keeps_order(&self) -> bool {
        self.dice.is_never() || self.delay_ns <= 0
    }
}

impl<P: Packet> Declared<P> for plain::Late {
    type Stage = Late;

    fn build(&self, random: Random) -> Late {
        Late::new(self, random)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    fn late(probability: f64, from_ns: i64, until_ns: Option<i64>) -> Late {
        let late = plain::Late {
            probability,
            correlation: 0.0,
            delay_ns: 20_000_000,
            from_ns,
            until_ns,
        };
        Late::new(&late, Random::new(1, "late"))
    }

    #[test]
    fn two_percent_arrive_20_ms_later() {
        let mut late = late(0.02, 0, None);
        let mut out = Outbox::new();
        (0..100_000).for_each(|n| late.push(n as i64, Probe::new(n, 1500), &mut out));
        let delays: Vec<i64> = out.take().map(|(t, p)| t - p.number as i64).collect();
        let held = delays.iter().filter(|&&d| d == 20_000_000).count();
        assert_eq!(delays.iter().filter(|&&d| d == 0).count(), 100_000 - held);
        assert!((1_850..2_150).contains(&held), "{held}");
        assert_eq!(out.counters().held_back, held as u64);
    }

    #[test]
    fn outside_its_time_nothing_is_late() {
        let mut late = late(1.0, 10, Some(20));
        let mut out = Outbox::new();
        (0..30).for_each(|n| late.push(n as i64, Probe::new(n, 1500), &mut out));
        let held = out.take().filter(|(t, p)| *t > p.number as i64);
        assert!(held.map(|(_, p)| p.number).eq(10..20));
    }
}
