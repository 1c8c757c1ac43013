//! Streams of numbered packets without TCP.

use inorder_base::random::Random;
use inorder_scenario::config::{self as plain, Direction};

use crate::application::pause;
use crate::order::Order;
use crate::packet::{Body, Channel, End, Packet};
use crate::result::ProbeResult;

/// A stream of probes in the simulated world.
#[derive(Debug)]
pub(crate) struct Probes {
    plan: plain::Probe,
    channel: Channel,
    gap_ns: f64,
    sent: u32,
    /// The first one that counts; those sent in the warm-up do not.
    first: u32,
    received: u64,
    delay_ns: i64,
    order: Order,
    random: Random,
}

impl Probes {
    /// A stream that has sent nothing.
    pub(crate) fn new(plan: &plain::Probe, channel: Channel, random: Random) -> Self {
        let bits = f64::from(plan.packet_bytes) * 8.0;
        Probes {
            plan: plan.clone(),
            channel,
            gap_ns: bits * 1e9 / plan.bits_per_s as f64,
            sent: 0,
            first: 0,
            received: 0,
            delay_ns: 0,
            order: Order::new(Some(plan.threshold)),
            random,
        }
    }

    /// The end at which they are sent.
    pub(crate) fn source(&self) -> End {
        match self.plan.direction {
            Direction::Forward => End::A,
            Direction::Reverse => End::B,
        }
    }

    /// The next probe, and the time of the one after it.
    pub(crate) fn send(&mut self, now_ns: i64) -> (Packet, Option<i64>) {
        let packet = Packet {
            body: Body::Probe(self.plan.packet_bytes),
            sent_ns: now_ns,
            offset: 0,
            channel: self.channel,
            id: self.sent,
            original: self.sent.wrapping_add(1),
            frames: 1,
            passed: 0,
            corrupted: false,
        };
        self.sent = self.sent.wrapping_add(1);
        let more = self
            .plan
            .count
            .is_none_or(|count| u64::from(self.sent) < count);
        (packet, more.then(|| self.next_ns(now_ns)))
    }

    /// Constant intervals are counted from the start, so that rounding errors do not accumulate.
    fn next_ns(&mut self, now_ns: i64) -> i64 {
        match self.plan.gaps {
            plain::Gaps::Constant => {
                let since = self.gap_ns * f64::from(self.sent);
                self.plan.start_ns.saturating_add(since as i64).max(now_ns)
            }
            gaps => now_ns.saturating_add(pause(self.gap_ns as i64, gaps, &mut self.random)),
        }
    }

    /// The warm-up is over: what is sent from now on counts.
    pub(crate) fn begin_measuring(&mut self) {
        self.first = self.sent;
        self.received = 0;
        self.delay_ns = 0;
        self.order = Order::new(Some(self.plan.threshold));
    }

    /// A probe arrives.
    pub(crate) fn receive(&mut self, now_ns: i64, packet: &Packet) {
        if packet.id < self.first {
            return;
        }
        self.received += 1;
        self.delay_ns = self.delay_ns.saturating_add(now_ns - packet.sent_ns);
        self.order
            .update(packet.original - self.first, now_ns, self.plan.packet_bytes);
    }

    /// The results.
    pub(crate) fn finish(self) -> ProbeResult {
        ProbeResult {
            name: self.plan.name,
            sent: self.sent.wrapping_sub(self.first).into(),
            received: self.received,
            delay_ns: self.delay_ns,
            metrics: self.order.finish(),
        }
    }
}
