//! What an analysis of one capture found: the input of every writer in this crate.

use inorder_detect::FlowReport;
pub use inorder_detect::StreamReport;

use crate::peer::PeerComparison;

/// Everything said of one capture file (or of several, read as one rotated capture).
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Analysis {
    /// Name of the file, as the user gave it.
    pub file: String,
    /// Its format, for people: `pcap, nanoseconds`, `pcapng in zstd`, ...
    pub format: String,
    /// Frames read.
    pub frames: u64,
    /// Bytes of these frames on the wire.
    pub bytes: u64,
    /// Earliest frame, nanoseconds since the Unix epoch; 0 without frames.
    pub first_ns: i64,
    /// Latest frame, nanoseconds since the Unix epoch; 0 without frames.
    pub last_ns: i64,
    /// Frames of no use for the analysis, by reason, most frequent first.
    pub skipped: Vec<(String, u64)>,
    /// What the reader should know before trusting the numbers: damage, interruption, ...
    pub warnings: Vec<String>,
    /// The TCP flows that carried data, in the order of their first packets.
    pub flows: Vec<FlowReport>,
    /// Streams of other numbered services, in the order of their first packets.
    pub streams: Vec<StreamReport>,
    /// Comparison with a capture of the same flows at the other end.
    pub peer: Option<PeerComparison>,
}

impl Analysis {
    /// Time from first to last frame, nanoseconds.
    pub fn duration_ns(&self) -> i64 {
        self.last_ns.saturating_sub(self.first_ns)
    }
}

/// True when something happened to the flow that is worth a reader's time.
pub(crate) fn has_problems(flow: &FlowReport) -> bool {
    severity(flow) > 0
}

/// How much happened to a flow: the order in which flows are shown to people.
///
/// Needless slow-downs weigh most (they cost throughput for nothing), then late and lost packets.
pub(crate) fn severity(flow: &FlowReport) -> u64 {
    let order = &flow.reordering;
    flow.recoveries.spurious.saturating_mul(1_000)
        + order.reordered
        + order.ambiguous
        + flow.losses
        + flow.retransmissions.total
        + flow.upstream.as_ref().map_or(0, |u| u.reordered)
}

/// The flows of one analysis, those with problems first, otherwise in the order found.
pub(crate) fn by_severity(flows: &[FlowReport]) -> Vec<&FlowReport> {
    let mut sorted: Vec<&FlowReport> = flows.iter().collect();
    sorted.sort_by_key(|flow| std::cmp::Reverse(severity(flow)));
    sorted
}
