//! What a guest reports of a run, besides its captures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The plan, in the folder that host and guest share.
pub const PLAN: &str = "plan.json";
/// The report.
pub const REPORT: &str = "report.json";
/// The captures of the sides of A and B.
pub const CAPTURES: [&str; 2] = ["a.pcap", "b.pcap"];
/// Begins each line by which the guest tells how much of the run has passed, in nanoseconds.
pub(crate) const PROGRESS: &str = "@progress ";
/// Begins the line by which the guest tells why it gave up.
pub const FAILED: &str = "@failed ";

/// Begins the line by which the guest tells, with its number as a process of the host, that its network is made and that it
/// waits for `GO`.
pub const READY: &str = "@ready ";
/// The file that appears in the folder when the path is emulated.
pub(crate) const GO: &str = "go";

/// What a guest reports.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// Version of the kernel.
    pub kernel: String,
    /// The time on the captures' clock at which the run began, nanoseconds.
    pub begin_ns: i64,
    /// The flows, in the order of the plan.
    pub flows: Vec<FlowReport>,
    /// Counters of each host's TCP between the end of the warm-up and the end of the run, by nstat's names.
    pub counters: BTreeMap<String, BTreeMap<String, u64>>,
    /// What the queueing disciplines of the stages did.
    pub stages: Vec<StageReport>,
    /// States of the senders.
    pub samples: Vec<TcpState>,
    /// Packets that the captures lost.
    pub capture_drops: u64,
}

/// What a queueing discipline did.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageReport {
    /// Its namespace.
    pub namespace: String,
    /// Its device.
    pub device: String,
    /// Packets that it dropped.
    pub drops: u64,
    /// Packets on which it marked congestion.
    pub marks: u64,
}

/// What a flow's application knows.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowReport {
    /// Why the connection broke, if it did.
    pub error: Option<String>,
    /// Responses received.
    pub responses: u64,
    /// Sum of the times from request to response, nanoseconds.
    pub response_ns: u64,
}

/// A sender's state at one time, from `TCP_INFO`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TcpState {
    /// Time since the run began, nanoseconds.
    pub time_ns: i64,
    /// The flow.
    pub flow: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Tolerance of reordering, segments.
    pub reordering: u32,
    /// Segments in flight.
    pub pipe: u32,
    /// Smoothed round-trip time, microseconds.
    pub srtt_us: u32,
    /// State: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Segments sent again.
    pub retransmissions: u32,
}
