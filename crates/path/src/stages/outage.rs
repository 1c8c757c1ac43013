//! A path that is interrupted (RFC 9293 section 3.8.3: connection failures).

use inorder_base::random::Random;
use inorder_scenario::config as plain;

use crate::counters::Reason;
use crate::declared::Declared;
use crate::packet::Packet;
use crate::stage::{Outbox, Pass, Stage};

/// Drops every packet for a time, once or again and again.
#[derive(Clone, PartialEq, Debug)]
pub struct Outage(plain::Outage);

impl Outage {
    /// True if nothing passes at this time.
    pub fn is_on(&self, now_ns: i64) -> bool {
        let Some(since_ns) = now_ns
            .checked_sub(self.0.from_ns)
            .filter(|&since| since >= 0)
        else {
            return false;
        };
        let since_ns = match self.0.every_ns {
            Some(every_ns) if every_ns > 0 => since_ns % every_ns,
            _ => since_ns,
        };
        since_ns < self.0.until_ns.saturating_sub(self.0.from_ns)
    }
}

impl<P: Packet> Stage<P> for Outage {
    #[inline]
    fn pass(&mut self, now_ns: i64, _: &mut P, _: &mut Outbox<P>) -> Pass {
        if self.is_on(now_ns) {
            return Pass::Dropped(Reason::Loss);
        }
        Pass::Leaves(now_ns)
    }

    fn keeps_order(&self) -> bool {
        true
    }
}

impl<P: Packet> Declared<P> for plain::Outage {
    type Stage = Outage;

    fn build(&self, _: Random) -> Outage {
        Outage(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Probe;

    #[test]
    fn nothing_passes_for_a_time() {
        let passed = |every_ns| -> Vec<u64> {
            let mut outage = Outage(plain::Outage {
                from_ns: 3,
                until_ns: 5,
                every_ns,
            });
            let mut out = Outbox::new();
            (0..12).for_each(|n| outage.push(n as i64, Probe::new(n, 1500), &mut out));
            out.take().map(|(_, packet)| packet.number).collect()
        };
        assert_eq!(passed(None), [0, 1, 2, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(passed(Some(5)), [0, 1, 2, 5, 6, 7, 10, 11]);
    }
}
