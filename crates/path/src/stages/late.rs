//! Delays a share of the packets by an additional fixed time.

use crate::declared::Declared;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::chance::{Dice, Probability};
use crate::counters::Reason;
use crate::packet::Packet;
use crate::stage::{Fate, Outbox, Pass, Stage};
use crate::time::later;

/// Settings of [`Late`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateConfig {
    /// Share of packets that are late.
    pub probability: Probability,
    /// Correlation of each random number with the previous one.
    pub correlation: Probability,
    /// Additional delay, nanoseconds.
    pub delay_ns: i64,
}

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
    pub fn new(config: &LateConfig, random: Random) -> Self {
        Late {
            dice: Dice::new(config.probability, config.correlation, random),
            delay_ns: config.delay_ns,
            from_ns: i64::MIN,
            until_ns: i64::MAX,
        }
    }

    /// Outside this time all packets pass at once.
    #[must_use]
    pub fn between(self, from_ns: i64, until_ns: i64) -> Self {
        Late {
            from_ns,
            until_ns,
            ..self
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
        Late::new(
            &LateConfig {
                probability: Probability::ratio(self.probability),
                correlation: Probability::ratio(self.correlation),
                delay_ns: self.delay_ns,
            },
            random,
        )
        .between(self.from_ns, self.until_ns.unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    #[test]
    fn two_percent_arrive_20_ms_later() {
        let config = LateConfig {
            probability: Probability::percent(2.0),
            correlation: Probability::NEVER,
            delay_ns: 20_000_000,
        };
        let mut late = Late::new(&config, Random::new(1, "late"));
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
        let config = LateConfig {
            probability: Probability::percent(100.0),
            correlation: Probability::NEVER,
            delay_ns: 20_000_000,
        };
        let mut late = Late::new(&config, Random::new(1, "late")).between(10, 20);
        let mut out = Outbox::new();
        (0..30).for_each(|n| late.push(n as i64, Probe::new(n, 1500), &mut out));
        let held = out.take().filter(|(t, p)| *t > p.number as i64);
        assert!(held.map(|(_, p)| p.number).eq(10..20));
    }
}
