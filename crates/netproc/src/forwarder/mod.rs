//! A software forwarder that sprays packets over its cores and works in bursts, as nets on the same engine.
//!
//! ```text
//! line -> core's ring -> burst of up to 32 -> out line -> receiver's ring -> interrupt -> stack
//!                                           \-> reorder buffer -/          \-> SRPIC -/
//! ```
//!
//! The network card deals packets to the rings of the cores in turn (receive-side scaling is off, or the flow is one
//! tunnel). A core polls its ring, takes what is there up to a burst, works on each packet, and sends the burst as a
//! whole; now and then the system takes the core away for a while. Nothing in this room is calibrated against a
//! machine: it tells what bursts, spraying and the ways to repair them do to each other, not what a product reaches.

mod net;
mod receiver;
mod reorder;

use inorder_metrics::Distribution;
use inorder_petri::coloured::{Engine, Model, Observer, PlaceId, Queue, Stop};

use crate::config::ConfigError;
use crate::job::Job;
use crate::measure::{Lanes, Readings, Receivers, Reordering};
use crate::rows::{Row, metric_rows, order_rows, row};
use crate::run::{NetprocError, warm_up};

/// Ticks of these nets in a nanosecond: picoseconds.
const TICKS_PER_NS: f64 = 1000.0;

/// What puts packets back in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    Unordered,
    /// A core behind the others that releases packets by the numbers they got on arrival.
    ReorderBuffer {
        /// Packets it holds before it gives the missing one up.
        window: u32,
        /// How long it holds a packet at the most, nanoseconds.
        timeout_ns: u64,
        /// Its work on a packet, nanoseconds.
        work_ns: u64,
    },
    /// SRPIC in the receiver's driver, over the packets of an interrupt.
    Srpic {
        /// Most packets sorted together.
        block: u32,
    },
}

/// The order in which the card deals packets to the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spray {
    /// One after the other.
    RoundRobin,
    /// At random, each as likely.
    Random,
}

/// A forwarder, its load and its receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwarderConfig {
    /// What restores order.
    pub order: Order,
    /// How packets are dealt.
    pub spray: Spray,
    /// Cores, 1 to 64.
    pub cores: u32,
    /// Most packets of a burst.
    pub burst: u32,
    /// Packets a core's ring holds; one more is dropped.
    pub ring: u32,
    /// Packets offered, millions a second (Poisson).
    pub offered_mpps: f64,
    /// Flows, each packet of any of them.
    pub flows: u32,
    /// Packet length, bytes.
    pub bytes: u16,
    /// Outgoing line, Gb/s.
    pub line_gbps: f64,
    /// Work of a core on a burst besides that on its packets, nanoseconds.
    pub burst_ns: f64,
    /// Least work on a packet, nanoseconds.
    pub packet_ns: f64,
    /// Mean of what comes on top of it (exponential: look-ups that miss the cache), nanoseconds.
    pub variable_ns: f64,
    /// Probability that the system takes the core away before a burst.
    pub stall: f64,
    /// Mean time it is away (exponential), nanoseconds.
    pub stall_ns: f64,
    /// Time from a packet at the idle receiver to the interrupt, nanoseconds.
    pub coalesce_ns: u64,
    /// The receiver's driver on a packet, nanoseconds.
    pub receive_ns: u64,
    /// Packets the driver takes of the ring before a batch ends in any case.
    pub budget: u32,
    /// Packets that reach the stack before the run ends.
    pub packets: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Default for ForwarderConfig {
    /// Four cores at half of their capacity, bursts of 32, one flow of 512-byte packets, interrupts after 50 us.
    fn default() -> Self {
        Self {
            order: Order::Unordered,
            spray: Spray::RoundRobin,
            cores: 4,
            burst: 32,
            ring: 512,
            offered_mpps: 4.0,
            flows: 1,
            bytes: 512,
            line_gbps: 40.0,
            burst_ns: 200.0,
            packet_ns: 300.0,
            variable_ns: 150.0,
            stall: 0.0005,
            stall_ns: 20_000.0,
            coalesce_ns: 50_000,
            receive_ns: 80,
            budget: 256,
            packets: 100_000,
            seed: 1,
        }
    }
}

impl Order {
    /// The reorder buffer with a window of 1024 packets, a time-out of 100 us and 60 ns a packet.
    pub const REORDER_BUFFER: Self = Self::ReorderBuffer {
        window: 1024,
        timeout_ns: 100_000,
        work_ns: 60,
    };
    /// SRPIC with blocks of 32 packets.
    pub const SRPIC: Self = Self::Srpic { block: 32 };
}

impl ForwarderConfig {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let whole = |what, value: u64, low: u64, high: u64| {
            let is_in = (low..=high).contains(&value);
            is_in
                .then_some(())
                .ok_or_else(|| fault(what, &format!("{low} to {high}"), &value))
        };
        whole("cores", self.cores.into(), 1, 64)?;
        whole("burst", self.burst.into(), 1, 4096)?;
        whole("ring", self.ring.into(), 1, 1 << 20)?;
        whole("flows", self.flows.into(), 1, 4096)?;
        whole("packet length", self.bytes.into(), 1, 9000)?;
        whole("budget", self.budget.into(), 1, 1 << 16)?;
        whole("packets", self.packets, 1, 1 << 31)?;
        whole("interrupt delay", self.coalesce_ns, 0, 1_000_000_000)?;
        whole("work of the receiver", self.receive_ns, 1, 1_000_000)?;
        match self.order {
            Order::Unordered => {}
            Order::ReorderBuffer {
                window,
                timeout_ns,
                work_ns,
            } => {
                whole("window", window.into(), 1, 1 << 20)?;
                whole("time-out", timeout_ns, 1, 1_000_000_000)?;
                whole("work of the reorder buffer", work_ns, 0, 1_000_000)?;
            }
            Order::Srpic { block } => whole("block", block.into(), 1, 1 << 20)?,
        }
        positive("offered load", self.offered_mpps, 0.001, 1e4)?;
        positive("line", self.line_gbps, 0.001, 1e5)?;
        positive("work on a packet", self.packet_ns, 1.0, 1e6)?;
        positive("work on a burst", self.burst_ns, 0.0, 1e6)?;
        positive("variable work", self.variable_ns, 0.0, 1e6)?;
        positive("stall", self.stall, 0.0, 1.0)?;
        positive("length of a stall", self.stall_ns, 0.0, 1e8)
    }
}

fn positive(what: &'static str, value: f64, low: f64, high: f64) -> Result<(), ConfigError> {
    let is_in = (low..=high).contains(&value);
    is_in
        .then_some(())
        .ok_or_else(|| fault(what, &format!("{low} to {high}"), &value))
}

fn fault(what: &'static str, expected: &str, found: &impl ToString) -> ConfigError {
    ConfigError {
        what,
        expected: expected.to_owned(),
        found: found.to_string(),
    }
}

/// The token: a packet, or a core.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Number within its flow; packets dropped at a full ring get none.
    seq: u32,
    /// Number among all.
    order: u32,
    flow: u16,
    core: u16,
    /// When it came in, ticks.
    arrived: u64,
}

/// Where packets can be looked at.
pub(crate) struct Sights {
    /// They leave the forwarder.
    pub(crate) sent: Queue,
    /// They reach the stack.
    pub(crate) stack: Queue,
    /// They were dropped at a full ring.
    pub(crate) dropped: Queue,
}

/// What a run gave. Readings count from the first packet; throughput and delays leave the warm-up out.
#[derive(Debug)]
pub struct ForwarderOutcome {
    /// Packets that reached the stack, millions a second.
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

impl ForwarderOutcome {
    /// Every result as a row.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = vec![
            row("throughput", 0, "throughput", "Mpackets/s", self.mpps),
            row("throughput", 0, "dropped", "%", 100.0 * self.dropped),
        ];
        rows.extend(delay_rows("to the line", &self.sent_ns));
        rows.extend(delay_rows("to the stack", &self.delay_ns));
        let named = |readings, what: &'static str| {
            order_rows(0, readings).map(move |r| Row {
                name: format!("{what}, {}", r.name),
                ..r
            })
        };
        rows.extend(named(&self.sent, "line"));
        rows.extend(named(&self.stack, "stack"));
        rows.extend(metric_rows(&self.reordering, self.packets));
        rows
    }
}

fn delay_rows(name: &str, delays: &Distribution) -> [Row; 3] {
    let us = |value: Option<u64>| value.unwrap_or(0) as f64 * 1e-3;
    let mean = delays.mean().unwrap_or(0.0) * 1e-3;
    [
        ("mean", mean),
        ("p50", us(delays.quantile(0.5))),
        ("p99", us(delays.quantile(0.99))),
    ]
    .map(|(what, value)| row("delay", 0, &format!("{name}, {what}"), "us", value))
}

/// Runs a forwarder until enough packets have reached the stack, or `go_on`, asked now and then with the number that
/// have, says no.
pub fn run_forwarder(
    config: &ForwarderConfig,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<ForwarderOutcome, NetprocError> {
    config.validate()?;
    let mut net = Model::new();
    let sights = net::build(&mut net, config);
    let mut engine = Engine::new(net, config.seed)?;
    let mut watch = Watch::new(config, &sights);
    watch.advance(&mut engine, warm_up(config.packets))?;
    let (warm_ticks, warm_packets) = (engine.now(), watch.left);
    watch.is_warm = true;
    let step = (config.packets / 100).max(1_000);
    while watch.left < config.packets && go_on(watch.left) {
        let target = watch.left.saturating_add(step).min(config.packets);
        watch.advance(&mut engine, target)?;
    }
    let us = (engine.now() - warm_ticks) as f64 / (1000.0 * TICKS_PER_NS);
    let packets = (watch.left - warm_packets) as f64;
    Ok(watch.outcome(if us > 0.0 { packets / us } else { 0.0 }))
}

struct Watch {
    sent_at: usize,
    stack_at: usize,
    dropped_at: usize,
    sent: Receivers,
    stack: Receivers,
    lanes: Lanes,
    sent_ns: Distribution,
    delay_ns: Distribution,
    dropped: u64,
    left: u64,
    target: u64,
    is_warm: bool,
}

impl Watch {
    fn new(config: &ForwarderConfig, sights: &Sights) -> Self {
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

    fn advance(&mut self, engine: &mut Engine<Packet>, target: u64) -> Result<(), NetprocError> {
        self.target = target;
        match engine.run_until(u64::MAX, self)? {
            Stop::Observer => Ok(()),
            Stop::Dead | Stop::TimeReached => Err(NetprocError::Deadlock { packets: self.left }),
        }
    }

    fn outcome(self, mpps: f64) -> ForwarderOutcome {
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
        let delay_ns = (now - packet.arrived) / TICKS_PER_NS as u64;
        let place = place.index();
        if place == self.stack_at {
            self.stack.receive(&job());
            self.lanes.receive(&job(), now / TICKS_PER_NS as u64);
            self.left += 1;
            if self.is_warm {
                self.delay_ns.update(delay_ns);
            }
        } else if place == self.sent_at {
            self.sent.receive(&job());
            if self.is_warm {
                self.sent_ns.update(delay_ns);
            }
        } else if place == self.dropped_at {
            self.dropped += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.left >= self.target
    }
}

/// Nanoseconds as ticks.
fn ticks(ns: f64) -> u64 {
    (ns * TICKS_PER_NS + 0.5) as u64
}
