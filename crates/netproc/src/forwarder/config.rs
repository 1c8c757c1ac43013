//! The configuration of a simulation: the forwarder, its load, its receiver.

use inorder_sort::{SorterConfig, srpic};

use crate::config::ConfigError;

/// What restores the order of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Nothing.
    Unordered,
    /// An additional core that releases packets by the numbers they received on arrival.
    ReorderBuffer {
        /// Number of packets it holds before it gives up the missing one.
        window: u32,
        /// Maximum time for which it holds a packet, nanoseconds.
        timeout_ns: i64,
        /// Its work per packet, nanoseconds.
        work_ns: i64,
    },
    /// A sorter in the receiver's driver, applied to the packets of an interrupt.
    Receiver(SorterConfig),
}

/// The order in which the network card distributes packets over the cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spray {
    /// Round robin.
    RoundRobin,
    /// At random, with equal probabilities.
    Random,
}

/// A forwarder, its load and its receiver.
#[derive(Debug, Clone, PartialEq)]
pub struct ForwarderConfig {
    /// What restores the order.
    pub order: Order,
    /// How packets are distributed.
    pub spray: Spray,
    /// Cores, 1 to 64.
    pub cores: u32,
    /// Maximum number of packets in a burst.
    pub burst: u32,
    /// Packets that a core's ring holds; further packets are dropped.
    pub ring: u32,
    /// Offered load, million packets per second (Poisson process).
    pub offered_mpps: f64,
    /// Number of flows; each packet belongs to a random one.
    pub flows: u32,
    /// Packet length, bytes.
    pub bytes: u16,
    /// Outgoing line, Gb/s.
    pub line_gbps: f64,
    /// Work of a core per burst, in addition to the work per packet, nanoseconds.
    pub burst_ns: f64,
    /// Minimum work per packet, nanoseconds.
    pub packet_ns: f64,
    /// Mean additional work per packet (exponential: look-ups that miss the cache), nanoseconds.
    pub variable_ns: f64,
    /// Probability that the operating system takes the core away before a burst.
    pub stall: f64,
    /// Mean time for which the core is away (exponential), nanoseconds.
    pub stall_ns: f64,
    /// Time from a packet at the idle receiver to the interrupt, nanoseconds.
    pub coalesce_ns: i64,
    /// Work of the receiver's driver per packet, nanoseconds.
    pub receive_ns: i64,
    /// Maximum number of packets that the driver takes from the ring in one batch.
    pub budget: u32,
    /// Number of packets that reach the stack before the run ends.
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
    /// The reorder buffer with a window of 1024 packets, a time-out of 100 us and 60 ns of work per packet.
    pub const REORDER_BUFFER: Self = Self::ReorderBuffer {
        window: 1024,
        timeout_ns: 100_000,
        work_ns: 60,
    };
    /// SRPIC with blocks of 32 packets.
    pub const SRPIC: Self = Self::Receiver(SorterConfig::of(&srpic::ENTRY));
}

impl ForwarderConfig {
    /// Checks ranges.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let whole = |what, value: i128, low: i128, high: i128| {
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
        whole("packets", self.packets.into(), 1, 1 << 31)?;
        whole("interrupt delay", self.coalesce_ns.into(), 0, 1_000_000_000)?;
        whole("work of the receiver", self.receive_ns.into(), 1, 1_000_000)?;
        match self.order {
            Order::Unordered => {}
            Order::ReorderBuffer {
                window,
                timeout_ns,
                work_ns,
            } => {
                whole("window", window.into(), 1, 1 << 20)?;
                whole("time-out", timeout_ns.into(), 1, 1_000_000_000)?;
                whole("work of the reorder buffer", work_ns.into(), 0, 1_000_000)?;
            }
            Order::Receiver(sorter) => sorter.check().map_err(|error| ConfigError {
                what: "sorter",
                expected: "settings within their bounds".to_owned(),
                found: error.to_string(),
            })?,
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
