//! What is known of the path: the rate of its line, its round trip, and the window that its receiver leaves.

use inorder_detect::{FlowReport, Vantage};
use inorder_limits::{Limit, Window};

use super::MIN_NAMED;

/// The rate of the line as payload, bits per second, where it can be believed: the line was full for a part of the time, or
/// is far faster than the flow, so that no bundle of packets which a window or late packets made was taken for it.
pub(crate) fn line_bps(flow: &FlowReport) -> Option<u64> {
    const FAR_ABOVE: u64 = 4;
    let line = flow.limits.line_bps?;
    let far = line / FAR_ABOVE >= flow.goodput_bps()?;
    (far || full_line_bps(flow).is_some()).then_some(line)
}

/// The rate of the line, only if the line was full for a part of the time: of rates that are far above the flow's, trains of packets alone tell, and
/// one in seven is wrong. Where it was full for a short time, the trains must agree: of 912 rates of drawn transfers 281 are of such
/// times, of these trains contradict 81, and of these 14 are wrong, of the others 11.
pub(crate) fn full_line_bps(flow: &FlowReport) -> Option<u64> {
    /// For less of the life a line is full for a short time.
    const MIN_LONG: f64 = 0.3;
    /// They agree if the rate over theirs lies within this.
    const RATE_OVER_TRAINS: std::ops::RangeInclusive<f64> = 0.9..=1.03;
    let full = flow.limits.share_of(Limit::Line.into());
    let line = flow.limits.line_bps.filter(|_| full >= MIN_NAMED)?;
    let trains = flow
        .cost
        .bottleneck_bps
        .map(|trains| line as f64 / trains as f64);
    (full >= MIN_LONG || trains.is_some_and(|of| RATE_OVER_TRAINS.contains(&of))).then_some(line)
}

/// Bytes that fill the path: the line's rate times the round trip. No window needs more than all that is sent.
pub(crate) fn path_bytes(flow: &FlowReport) -> Option<u64> {
    let bps = line_bps(flow)? as f64;
    let fills = (bps / 8e9 * round_trip_ns(flow)? as f64) as u64;
    Some(fills.min(flow.originals.bytes))
}

/// The round trip between sender and receiver at its shortest, nanoseconds.
pub(crate) fn round_trip_ns(flow: &FlowReport) -> Option<i64> {
    let at = &flow.vantage;
    match at.vantage {
        Vantage::Middle => Some(at.to_receiver_ns?.saturating_add(at.to_sender_ns?)),
        Vantage::Sender | Vantage::Receiver => flow.min_rtt_ns,
    }
}

/// The receiver's application reads too slowly: its window was closed, or mostly far below the largest that it offered.
pub(crate) fn reads_slowly(flow: &FlowReport) -> bool {
    /// A window closed for less of the time that it limits the flow may have filled by chance.
    const MIN_CLOSED: f64 = 0.05;
    let Some(window) = flow.limits.window else {
        return flow.cost.closed_ns > 0;
    };
    let full = flow.limits.shares.iter();
    let full = full.filter(|share| share.limits.only() == Some(Limit::ReceiverWindow));
    let full: i64 = full.map(|share| share.ns).sum();
    let closed = window.closed_ns > 0 && window.closed_ns as f64 >= MIN_CLOSED * full as f64;
    // A window that is the largest so far holds all that its buffer has room for: one that grows with the transfer did before.
    let shrunk = window.largest_ns <= full / 2;
    closed || shrunk && far_below_its_largest(flow, window, full)
}

/// While the window held the flow for `full` nanoseconds it passed far less than its largest size would have.
fn far_below_its_largest(flow: &FlowReport, window: Window, full: i64) -> bool {
    /// Rate that the largest window allows over the one that passed. Of 245 drawn transfers that a window held, where readers
    /// were slow it was 1.3 to 190 and in 8 less, where the window was small 1.3 at most.
    const FAR_BELOW: f64 = 1.3;
    /// Of smaller windows, acknowledgements that wait for a second segment, and updates that wait for room for one, take more
    /// time than the reader does: there the rate of small windows was up to 25 times below what their size allows.
    const MIN_SEGMENTS: u64 = 6;
    let segments = window.largest_bytes / u64::from(flow.endpoints.mss.max(1));
    let rtt_ns = round_trip_ns(flow).filter(|ns| *ns > 0);
    let (Some(rtt_ns), Some(bps)) = (rtt_ns, flow.goodput_bps()) else {
        return false;
    };
    // As if all had passed while the window held it, so that other times do not count as slow reading.
    let passed = bps as f64 * flow.limits.life_ns() as f64 / full.max(1) as f64;
    let allowed = 8e9 * window.largest_bytes as f64 / rtt_ns as f64;
    segments >= MIN_SEGMENTS && allowed > FAR_BELOW * passed
}
