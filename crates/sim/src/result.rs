//! The results of a run as plain data.

use inorder_metrics::Summary;
use inorder_path::Counters as StageCounters;
use inorder_path::nic::Account;

use crate::flow::Counts;
use crate::limits::FlowLimits;
use crate::observer::SenderEvent;
use crate::samples::Sample;

/// A flow's results.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// Name of its `[[flow]]`.
    pub name: String,
    /// Index of its `[[flow]]`.
    pub group: usize,
    /// Number among the connections of that `[[flow]]`.
    pub number: u32,
    /// Congestion control.
    pub congestion: &'static str,
    /// Loss detection.
    pub loss_detection: &'static str,
    /// Time of opening, nanoseconds.
    pub start_ns: i64,
    /// Bytes to carry; `None` if there is no end.
    pub size_bytes: Option<u64>,
    /// Length of the measured interval, nanoseconds: from the end of the warm-up or the opening of the flow to the
    /// end of the run or the completion of the flow.
    pub measured_ns: i64,
    /// Counters over that interval.
    pub counts: Counts,
    /// Time from the opening until all data had arrived, nanoseconds.
    pub completion_ns: Option<i64>,
    /// Why the connection broke, if it did.
    pub error: Option<inorder_tcp::Error>,
    /// All metrics in front of the receiver's card, if requested; includes the warm-up.
    pub metrics_at_card: Option<Box<Summary>>,
    /// All metrics at the receiver's TCP.
    pub metrics_at_stack: Option<Box<Summary>>,
    /// Events of the sender, if requested.
    pub events: Vec<SenderEvent>,
}

/// The results of a stream of probes.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    /// Its name.
    pub name: String,
    /// Packets sent.
    pub sent: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Sum of their delays, nanoseconds.
    pub delay_ns: i64,
    /// All metrics of their order at the receiver's card.
    pub metrics: Option<Box<Summary>>,
}

/// The counters of a line.
#[derive(Clone, Debug)]
pub struct LineResult {
    /// `forward`, `receiver card`, `reverse`, `sender card`.
    pub name: String,
    /// Counters of its stages, including the warm-up.
    pub stages: Vec<StageCounters>,
    /// For a card, its counters since the end of the warm-up.
    pub account: Option<Account>,
}

/// All results of a run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// What limited each direction of each flow, if requested.
    pub limits: Vec<FlowLimits>,
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time, nanoseconds.
    pub duration_ns: i64,
    /// Flows, by `[[flow]]` and number.
    pub flows: Vec<FlowResult>,
    /// Probes.
    pub probes: Vec<ProbeResult>,
    /// Paths and cards.
    pub lines: Vec<LineResult>,
    /// Samples, by time.
    pub samples: Vec<Sample>,
    /// Number of events the simulator processed.
    pub events: u64,
}
