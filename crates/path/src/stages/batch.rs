//! A device on the path that receives packets by interrupt.

use crate::counters::Reason;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::later;
use inorder_random::Random;
use inorder_scenario::config as plain;

/// Settings of [`Batch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BatchConfig {
    /// Time from the first waiting packet to the interrupt, nanoseconds.
    pub delay_ns: i64,
    /// Minimum time between two interrupts, nanoseconds.
    pub gap_ns: i64,
}

/// A router or an emulator whose card limits its interrupts: all packets that arrived since the last interrupt are
/// forwarded at the same instant, in order. Jitter behind it reorders packets that were far apart on the line before.
///
/// Intel's e1000, the card of the SRPIC paper's emulator, limits interrupts to between 4000 and 20,000 per second by
/// default, 4000 under bulk traffic (InterruptThrottleRate 3): a gap of 250 us.
#[derive(Clone, Debug)]
pub struct Batch {
    config: BatchConfig,
    /// Time of the interrupt that takes the waiting packets, or of the last one.
    interrupt_ns: Option<i64>,
}

impl Batch {
    /// A card without packets.
    pub fn new(config: BatchConfig) -> Self {
        Batch {
            config,
            interrupt_ns: None,
        }
    }

    /// When a packet that arrives now is forwarded; `None` if that is after the largest time.
    fn release(&mut self, now_ns: i64) -> Option<i64> {
        if let Some(last) = self.interrupt_ns
            && now_ns <= last
        {
            return Some(last);
        }
        let soonest = later(now_ns, self.config.delay_ns)?;
        let next = match self.interrupt_ns {
            Some(last) => soonest.max(later(last, self.config.gap_ns)?),
            None => soonest,
        };
        self.interrupt_ns = Some(next);
        Some(next)
    }
}

impl<P: Packet> Stage<P> for Batch {
    #[inline]
    fn push(&mut self, now_ns: i64, mut packet: P, out: &mut Outbox<P>) {
        let pass = self.pass(now_ns, &mut packet, out);
        out.settle(packet, pass);
    }

    #[inline]
    fn pass(&mut self, now_ns: i64, _packet: &mut P, _out: &mut Outbox<P>) -> Pass {
        match self.release(now_ns) {
            Some(at_ns) => Pass::Leaves(at_ns),
            None => Pass::Dropped(Reason::NoService),
        }
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::Batch {
    type Stage = Batch;

    fn build(&self, _: Random) -> Batch {
        Batch::new(BatchConfig {
            delay_ns: self.delay_ns,
            gap_ns: self.gap_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    fn leave(config: BatchConfig, times_us: &[i64]) -> Vec<i64> {
        let mut batch = Batch::new(config);
        let mut out = Outbox::new();
        for (n, t) in times_us.iter().enumerate() {
            batch.push(t * 1000, Probe::new(n as u64, 1500), &mut out);
        }
        out.take().map(|(t, _)| t / 1000).collect()
    }

    #[test]
    fn waiting_packets_are_forwarded_together() {
        let config = BatchConfig {
            delay_ns: 0,
            gap_ns: 250_000,
        };
        let times = [0, 12, 24, 240, 250, 251, 700, 900];
        assert_eq!(
            leave(config, &times),
            [0, 250, 250, 250, 250, 500, 750, 1000]
        );
    }

    #[test]
    fn the_delay_starts_with_the_first_packet() {
        let config = BatchConfig {
            delay_ns: 75_000,
            gap_ns: 0,
        };
        assert_eq!(leave(config, &[0, 50, 75, 76, 500]), [75, 75, 75, 151, 575]);
        assert_eq!(leave(BatchConfig::default(), &[3, 4, 5]), [3, 4, 5]);
    }
}
