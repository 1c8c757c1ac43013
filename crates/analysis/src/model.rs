//! Which flows to show first.

use inorder_detect::FlowReport;
pub use inorder_detect::StreamReport;
pub use inorder_pipeline::Analysis;

/// True if something happened to the flow that the reader should look at.
pub(crate) fn has_problems(flow: &FlowReport) -> bool {
    severity(flow) > 0
}

/// Sort key for showing flows to people, the largest first.
///
/// Unnecessary reductions of the congestion window come first because they cost throughput, then late packets, then
/// lost packets.
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
