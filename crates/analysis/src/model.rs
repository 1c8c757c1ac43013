//! How much happened to a flow.

use inorder_detect::FlowReport;
pub use inorder_detect::StreamReport;
pub use inorder_pipeline::Analysis;

/// True when something happened to the flow that is worth a reader's time.
pub(crate) fn has_problems(flow: &FlowReport) -> bool {
    severity(flow) > 0
}

/// How much happened to a flow: the order in which flows are shown to people.
///
/// Unnecessary reductions of the congestion window weigh most (they cost throughput), then late and lost packets.
pub(crate) fn severity(flow: &FlowReport) -> u64 {
    let order = &flow.reordering;
    flow.recoveries.spurious.saturating_mul(1_000)
        + order.reordered
        + order.ambiguous
        + flow.losses
        + flow.refused
        + flow.retransmissions.total
        + flow.upstream.as_ref().map_or(0, |u| u.reordered)
}

/// The flows of one analysis, those with problems first, otherwise in the order found.
pub(crate) fn by_severity(flows: &[FlowReport]) -> Vec<&FlowReport> {
    let mut sorted: Vec<&FlowReport> = flows.iter().collect();
    sorted.sort_by_key(|flow| std::cmp::Reverse(severity(flow)));
    sorted
}
