//! What a run gives: plain data.

use inorder_metrics::Summary;
use inorder_path::Counters as StageCounters;
use inorder_path::nic::Account;

use crate::flow::Counts;
use crate::observer::SenderEvent;
use crate::samples::Sample;

/// A flow's results.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// Name of its `[[flow]]`.
    pub name: String,
    /// Position of its `[[flow]]`.
    pub group: usize,
    /// Number among those.
    pub number: u32,
    /// Congestion control.
    pub congestion: &'static str,
    /// Loss detection.
    pub loss_detection: &'static str,
    /// It opened, nanoseconds.
    pub start_ns: i64,
    /// Length of the time measured, nanoseconds: from the end of the warm-up or its opening to the
    /// end of the run or its completion.
    pub measured_ns: i64,
    /// Counters over that time.
    pub counts: Counts,
    /// All its data had arrived, nanoseconds after its opening.
    pub completion_ns: Option<i64>,
    /// Why the connection broke, if it did.
    pub error: Option<inorder_tcp::Error>,
    /// All metrics before the receiver's card, if asked for; warm-up included.
    pub metrics_at_card: Option<Box<Summary>>,
    /// All metrics as TCP saw the packets.
    pub metrics_at_stack: Option<Box<Summary>>,
    /// Events of the sender, if asked for.
    pub events: Vec<SenderEvent>,
}

/// A stream of probes' results.
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

/// What a path did.
#[derive(Clone, Debug)]
pub struct LineResult {
    /// `forward`, `receiver card`, `reverse`, `sender card`.
    pub name: String,
    /// Counters of its stages, warm-up included.
    pub stages: Vec<StageCounters>,
    /// Of a card, what it did since the end of the warm-up.
    pub account: Option<Account>,
}

/// All a run gives.
#[derive(Clone, Debug)]
pub struct RunResult {
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
    /// Events the simulator went through.
    pub events: u64,
}
