//! The results of a run: throughput, delays, order before and behind the receiver.

use inorder_metrics::{Distribution, Lanes, RECEIVED, Readings, Receivers, Reordering};
use inorder_nets::{Live, Port, Stop};
use inorder_report::{Digits, columns};

use super::sorter::Sorting;
use super::{ForwarderConfig, Packet, TICKS_PER_NS};
use crate::error::NetprocError;
use crate::rows::{Row, metrics, read, whole};

/// The results of a run. Order counts from the first packet; throughput and delays leave out the warm-up.
#[derive(Debug)]
pub struct ForwarderOutcome {
    /// Packets that reached the stack, million per second.
    pub mpps: f64,
    /// Share of the offered packets dropped at full rings, 0 to 1.
    pub dropped: f64,
    /// From arrival to the outgoing line, nanoseconds.
    pub sent_ns: Distribution,
    /// From arrival to the receiver's stack, nanoseconds.
    pub delay_ns: Distribution,
    /// Order on the outgoing line.
    pub sent: Readings,
    /// Order at the stack.
    pub stack: Readings,
    /// The RFCs' metrics at the stack.
    pub reordering: Reordering,
    /// Packets that reached the stack.
    pub packets: u64,
}

columns! {
    /// The numbers of the whole run.
    WHOLE: ForwarderOutcome, |o|
    "throughput": Number(Digits::Short), "Packets that reach the stack." => o.mpps, unit("Mpackets/s");
    "dropped": Number(Digits::Short), "Packets dropped at full rings." => 100.0 * o.dropped, unit("%");
}

columns! {
    /// Delays of packets, stored in nanoseconds.
    DELAY: Distribution, |d|
    "mean": Number(Digits::Short), "Mean delay from the arrival of a packet."
        => d.mean().unwrap_or(0.0) * 1e-3, unit("us");
    "p50": Number(Digits::Short), "Median of the delays." => whole(d.quantile(0.5)) * 1e-3, unit("us");
    "p99": Number(Digits::Short), "99th percentile of the delays." => whole(d.quantile(0.99)) * 1e-3, unit("us");
}

impl ForwarderOutcome {
    /// Every result as a row.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = read("throughput", 0, "", WHOLE, self).collect();
        rows.extend(read("delay", 0, "to the line", DELAY, &self.sent_ns));
        rows.extend(read("delay", 0, "to the stack", DELAY, &self.delay_ns));
        rows.extend(read("order", 0, "line", RECEIVED, &self.sent));
        rows.extend(read("order", 0, "stack", RECEIVED, &self.stack));
        rows.extend(metrics(&self.reordering));
        rows
    }
}

/// Where packets are looked at; the values are those of [`packet`].
pub(super) const EXITS: [Port<'_>; 4] = {
    const FIELDS: &[&str] = &["seq", "flow", "arrived"];
    [
        port("receiver_ring", FIELDS),
        port("stack", FIELDS),
        port("dropped", &[]),
        port("batch_ends", &[]),
    ]
};

/// The exits by their numbers.
const SENT: usize = 0;
const HANDED_UP: usize = 1;
const DROPPED: usize = 2;

const fn port<'p>(place: &'p str, fields: &'p [&'p str]) -> Port<'p> {
    Port { place, fields }
}

fn packet(fields: &[i64]) -> Packet {
    match *fields {
        [seq, flow, arrived] => Packet {
            seq: seq as u32,
            flow: flow as u16,
            arrived: arrived as u64,
        },
        _ => Packet::default(),
    }
}

/// Observes the packets.
pub(super) struct Watch {
    sorting: Option<Sorting>,
    sent: Receivers,
    sent_ns: Distribution,
    stack: Stack,
    dropped: u64,
}

/// What reaches the stack.
struct Stack {
    receivers: Receivers,
    lanes: Lanes,
    delay_ns: Distribution,
    left: u64,
    is_warm: bool,
}

impl Stack {
    fn receive(&mut self, now: u64, packet: Packet) {
        let lane = usize::from(packet.flow);
        receive(&mut self.receivers, packet);
        let time_ns = (now / TICKS_PER_NS).cast_signed();
        self.lanes.receive(lane, packet.seq.into(), time_ns, 0);
        self.left += 1;
        if self.is_warm {
            self.delay_ns.update(delay_ns(now, packet));
        }
    }
}

fn receive(receivers: &mut Receivers, packet: Packet) {
    receivers.receive(packet.flow.into(), packet.flow.into(), packet.seq);
}

fn delay_ns(now: u64, packet: Packet) -> u64 {
    now.saturating_sub(packet.arrived) / TICKS_PER_NS
}

impl Watch {
    pub(super) fn new(config: &ForwarderConfig) -> Self {
        Self {
            sorting: Sorting::new(config),
            sent: Receivers::new(config.flows, None),
            sent_ns: Distribution::new(),
            stack: Stack {
                receivers: Receivers::new(config.flows, None),
                lanes: Lanes::new(config.flows),
                delay_ns: Distribution::new(),
                left: 0,
                is_warm: false,
            },
            dropped: 0,
        }
    }

    /// The packets that have reached the stack.
    pub(super) fn left(&self) -> u64 {
        self.stack.left
    }

    /// The warm-up is over.
    pub(super) fn warmed_up(&mut self) {
        self.stack.is_warm = true;
    }

    /// Runs the net until `target` packets have reached the stack.
    pub(super) fn advance(&mut self, net: &mut Live, target: u64) -> Result<(), NetprocError> {
        let stop = net.run_until(u64::MAX, &mut |now, exit, fields| {
            self.arrived(now, exit, packet(fields));
            self.left() < target
        })?;
        match stop {
            Stop::Observer => Ok(()),
            Stop::Dead | Stop::TimeReached => Err(NetprocError::Deadlock {
                packets: self.left(),
            }),
        }
    }

    fn arrived(&mut self, now: u64, exit: usize, packet: Packet) {
        let stack = &mut self.stack;
        if let Some(sorting) = &mut self.sorting {
            sorting.run_until(now, &mut |now, packet| stack.receive(now, packet));
        }
        match (exit, &mut self.sorting) {
            (SENT, _) => {
                receive(&mut self.sent, packet);
                if stack.is_warm {
                    self.sent_ns.update(delay_ns(now, packet));
                }
            }
            (HANDED_UP, None) => stack.receive(now, packet),
            (HANDED_UP, Some(sorting)) => {
                sorting.push(now, packet, &mut |now, packet| stack.receive(now, packet));
            }
            (DROPPED, _) => self.dropped += 1,
            (_, None) => {}
            (_, Some(sorting)) => {
                sorting.end_of_batch(now, &mut |now, packet| stack.receive(now, packet));
            }
        }
    }

    pub(super) fn outcome(self, mpps: f64) -> ForwarderOutcome {
        let stack = self.stack;
        ForwarderOutcome {
            mpps,
            dropped: self.dropped as f64 / (self.dropped + stack.left).max(1) as f64,
            sent_ns: self.sent_ns,
            delay_ns: stack.delay_ns,
            sent: self.sent.readings().clone(),
            stack: stack.receivers.readings().clone(),
            reordering: stack.lanes.finish(),
            packets: stack.left,
        }
    }
}
