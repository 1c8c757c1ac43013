//! A device on the path that receives packets by interrupt.

use crate::counters::Reason;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};
use crate::time::later;
use inorder_base::random::Random;
use inorder_scenario::config as plain;

/// A router or an emulator whose card limits its interrupts: all packets that arrived since the last interrupt are
/// forwarded one behind the other, as fast as the processor is. Jitter behind it reorders packets that were far apart on the line
/// before.
///
/// Intel's e1000, the card of the SRPIC paper's emulator, limits interrupts to between 4000 and 20,000 per second by
/// default, 4000 under bulk traffic (InterruptThrottleRate 3): a gap of 250 us.
#[derive(Clone, Debug)]
pub struct Batch {
    config: plain::Batch,
    /// Time of the interrupt that takes the waiting packets, or of the last one.
    interrupt_ns: Option<i64>,
    /// When the processor has forwarded all before; the smallest time while there was none.
    free_ns: i64,
}

impl Batch {
    /// A card without packets.
    pub fn new(config: plain::Batch) -> Self {
        Batch {
            config,
            interrupt_ns: None,
            free_ns: i64::MIN,
        }
    }

    /// When a packet that arrives now is forwarded; `None` if that is after the largest time.
    fn release(&mut self, now_ns: i64) -> Option<i64> {
        let taken = self.interrupt(now_ns)?;
        if self.config.packet_ns == 0 {
            return Some(taken);
        }
        self.free_ns = later(taken.max(self.free_ns), self.config.packet_ns)?;
        Some(self.free_ns)
    }

    /// The interrupt that takes a packet which arrives now.
    fn interrupt(&mut self, now_ns: i64) -> Option<i64> {
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
        Batch::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    /// When packets leave a card with this delay, minimum gap and time for each packet, nanoseconds.
    fn leave([delay_ns, gap_ns, packet_ns]: [i64; 3], times_us: &[i64]) -> Vec<i64> {
        let mut batch = Batch::new(plain::Batch {
            delay_ns,
            gap_ns,
            packet_ns,
        });
        let mut out = Outbox::new();
        for (n, t) in times_us.iter().enumerate() {
            batch.push(t * 1000, Probe::new(n as u64, 1500), &mut out);
        }
        out.take().map(|(t, _)| t / 1000).collect()
    }

    #[test]
    fn waiting_packets_are_forwarded_together() {
        let times = [0, 12, 24, 240, 250, 251, 700, 900];
        assert_eq!(
            leave([0, 250_000, 0], &times),
            [0, 250, 250, 250, 250, 500, 750, 1000]
        );
    }

    #[test]
    fn the_processor_forwards_one_packet_after_the_other() {
        // The second batch waits until the processor has done with it, one by one.
        assert_eq!(
            leave([0, 250_000, 2_000], &[0, 12, 24, 240, 700]),
            [2, 252, 254, 256, 702]
        );
        let slow = [0, 250_000, 200_000];
        assert_eq!(leave(slow, &[0, 12, 24, 240]), [200, 450, 650, 850]);
    }

    #[test]
    fn the_delay_starts_with_the_first_packet() {
        let delayed = [75_000, 0, 0];
        assert_eq!(
            leave(delayed, &[0, 50, 75, 76, 500]),
            [75, 75, 75, 151, 575]
        );
        assert_eq!(leave([0; 3], &[3, 4, 5]), [3, 4, 5]);
    }
}
