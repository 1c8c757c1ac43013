//! The results of a run: throughput, delays, order before and behind the receiver.

use inorder_metrics::{Distribution, RECEIVED, Reordering};
use inorder_petri::coloured::{Engine, Observer, PlaceId, Queue, Stop};
use inorder_report::Column;

use super::{ForwarderConfig, Packet, Sights, TICKS_PER_NS};
use crate::error::NetprocError;
use crate::job::Job;
use crate::measure::{Lanes, Readings, Receivers, receive, update};
use crate::rows::{Row, metrics, read, row, whole};

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

/// The numbers of the whole run.
static WHOLE: &[Column<ForwarderOutcome>] = &[
    row(
        "throughput",
        "Mpackets/s",
        "Packets that reach the stack.",
        |o| o.mpps.into(),
    ),
    row("dropped", "%", "Packets dropped at full rings.", |o| {
        (100.0 * o.dropped).into()
    }),
];

/// Delays of packets, stored in nanoseconds.
static DELAY: &[Column<Distribution>] = &[
    row(
        "mean",
        "us",
        "Mean delay from the arrival of a packet.",
        |d| (d.mean().unwrap_or(0.0) * 1e-3).into(),
    ),
    row("p50", "us", "Median of the delays.", |d| {
        (whole(d.quantile(0.5)) * 1e-3).into()
    }),
    row("p99", "us", "99th percentile of the delays.", |d| {
        (whole(d.quantile(0.99)) * 1e-3).into()
    }),
];

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

/// Observes the packets.
pub(super) struct Watch {
    sent_at: usize,
    stack_at: usize,
    dropped_at: usize,
    sent: Receivers,
    stack: Receivers,
    lanes: Lanes,
    sent_ns: Distribution,
    delay_ns: Distribution,
    dropped: u64,
    pub(super) left: u64,
    target: u64,
    pub(super) is_warm: bool,
}

impl Watch {
    pub(super) fn new(config: &ForwarderConfig, sights: &Sights) -> Self {
        let index = |queue: Queue| PlaceId::from(queue).index();
        Self {
            sent_at: index(sights.sent),
            stack_at: index(sights.stack),
            dropped_at: index(sights.dropped),
            sent: Receivers::new(config.flows, None),
            stack: Receivers::new(config.flows, None),
            lanes: Lanes::new(config.flows),
            sent_ns: Distribution::new(),
            delay_ns: Distribution::new(),
            dropped: 0,
            left: 0,
            target: 0,
            is_warm: false,
        }
    }

    pub(super) fn advance(
        &mut self,
        engine: &mut Engine<Packet>,
        target: u64,
    ) -> Result<(), NetprocError> {
        self.target = target;
        match engine.run_until(u64::MAX, self)? {
            Stop::Observer => Ok(()),
            Stop::Dead | Stop::TimeReached => Err(NetprocError::Deadlock { packets: self.left }),
        }
    }

    pub(super) fn outcome(self, mpps: f64) -> ForwarderOutcome {
        ForwarderOutcome {
            mpps,
            dropped: self.dropped as f64 / (self.dropped + self.left).max(1) as f64,
            sent_ns: self.sent_ns,
            delay_ns: self.delay_ns,
            sent: self.sent.readings().clone(),
            stack: self.stack.readings().clone(),
            reordering: self.lanes.finish(),
            packets: self.left,
        }
    }
}

impl Observer<Packet> for Watch {
    fn deposited(&mut self, now: u64, place: PlaceId, packet: &Packet) {
        let job = || Job {
            flow: packet.flow.into(),
            lane: packet.flow,
            seq: packet.seq,
            turn: packet.seq,
            ..Job::default()
        };
        // A sorter's timer is also a token, and its time lies in the future; it never reaches a place that is
        // observed.
        let delay_ns = || now.saturating_sub(packet.arrived) / TICKS_PER_NS as u64;
        let place = place.index();
        if place == self.stack_at {
            receive(&mut self.stack, &job());
            let time_ns = (now / TICKS_PER_NS as u64).cast_signed();
            update(&mut self.lanes, &job(), time_ns);
            self.left += 1;
            if self.is_warm {
                self.delay_ns.update(delay_ns());
            }
        } else if place == self.sent_at {
            receive(&mut self.sent, &job());
            if self.is_warm {
                self.sent_ns.update(delay_ns());
            }
        } else if place == self.dropped_at {
            self.dropped += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.left >= self.target
    }
}
