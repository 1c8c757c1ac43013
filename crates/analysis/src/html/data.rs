//! The data of one flow's charts, as rows of numbers that the page's script reads.

use inorder_detect::{Confidence, Distribution, Event, FlowReport, Kind, PointKind};
use serde::Serialize;

use inorder_detect::names::Name;
use inorder_report::number::millis;

/// Maximum number of events drawn. More would hide each other and slow the page.
const EVENTS: usize = 4_000;

/// The data of a flow's charts, each a list of rows.
#[derive(Serialize)]
pub struct Charts {
    /// Seconds, bytes, kind (0 data, 1 retransmission, 2 ACK).
    points: Vec<(f64, u64, u8)>,
    events: Vec<EventRow>,
    /// First and last value of the bucket, count.
    extents: Vec<(u64, u64, u64)>,
    /// Milliseconds, count.
    late: Vec<(f64, u64)>,
    /// Displacement, density.
    rd: Vec<(i64, f64)>,
    what_if: Vec<WhatIfRow>,
    by_rate: Vec<RateRow>,
}

/// Seconds, bytes, kind of event, confidence, evidence, extent, late time in ms, frame number.
type EventRow = (
    f64,
    u64,
    &'static str,
    &'static str,
    &'static str,
    Option<u32>,
    Option<f64>,
    u64,
);

/// Block size, coalescing in µs, percent still reordered, extent still left, duplicate ACKs saved, mean added delay
/// in µs.
type WhatIfRow = (u32, f64, f64, u32, u64, f64);

/// Rate in Mbit/s, share of packets reordered, packets, mean extent, mean late time in ms.
type RateRow = (f64, f64, u64, f64, f64);

impl Charts {
    /// Collects the rows.
    pub fn of(flow: &FlowReport) -> Charts {
        let order = &flow.reordering;
        Charts {
            points: points(flow),
            events: events(flow),
            extents: order.extents.buckets().map(with_start).collect(),
            late: late(&order.late_ns),
            rd: order.displacements.density().collect(),
            what_if: what_if(flow),
            by_rate: by_rate(flow),
        }
    }

    /// The charts for which the flow has data, in the order of the page.
    pub fn present(&self) -> Vec<&'static str> {
        [
            ("sequence", !self.points.is_empty()),
            ("extents", !self.extents.is_empty()),
            ("late", !self.late.is_empty()),
            ("rd", self.rd.len() > 1),
            ("what_if", !self.what_if.is_empty()),
            ("by_rate", self.by_rate.len() > 1),
        ]
        .into_iter()
        .filter_map(|(name, present)| present.then_some(name))
        .collect()
    }
}

fn seconds(flow: &FlowReport, at_ns: i64) -> f64 {
    at_ns.saturating_sub(flow.first_ns) as f64 / 1e9
}

fn points(flow: &FlowReport) -> Vec<(f64, u64, u8)> {
    let kind = |kind| match kind {
        PointKind::Data => 0,
        PointKind::Retransmission => 1,
        PointKind::Ack => 2,
    };
    let row = |p: &inorder_detect::Point| (seconds(flow, p.at_ns), p.seq_offset, kind(p.kind));
    flow.points.iter().map(row).collect()
}

/// Every event, or every n-th one if there are more than can be drawn.
fn events(flow: &FlowReport) -> Vec<EventRow> {
    let step = flow.events.len().div_ceil(EVENTS).max(1);
    let row = |event: &Event| {
        (
            seconds(flow, event.at_ns),
            event.seq_offset,
            what(event),
            event.confidence.name(),
            event.evidence.name(),
            event.extent,
            event.late_ns.map(millis),
            event.frame,
        )
    };
    flow.events.iter().step_by(step).map(row).collect()
}

fn what(event: &Event) -> &'static str {
    match (event.confidence, event.kind) {
        (Confidence::Ambiguous, _) => "unclear",
        (_, Kind::Reordered) => "late",
        (_, Kind::Lost) => "lost",
        (_, _) => "refused",
    }
}

/// The first and the last value of the bucket that ends with `last`. Buckets hold one value each below 64, and span
/// 1/32 of an octave above that.
fn with_start((end, count): (u64, u64)) -> (u64, u64, u64) {
    let width = match end {
        0..64 => 1,
        _ => 1u64 << (58 - end.leading_zeros()),
    };
    (end - (width - 1), end, count)
}

fn late(d: &Distribution) -> Vec<(f64, u64)> {
    d.buckets().map(|(ns, n)| (ns as f64 / 1e6, n)).collect()
}

fn what_if(flow: &FlowReport) -> Vec<WhatIfRow> {
    let row = |w: &inorder_detect::WhatIf| {
        (
            w.block_size,
            w.coalesce_ns as f64 / 1e3,
            w.reordered_ratio * 100.0,
            w.max_extent,
            w.dupacks_saved,
            w.mean_added_delay_ns as f64 / 1e3,
        )
    };
    // The chart's axis is the block size, so only SRPIC is drawn; sorters given by name are in the table below the
    // chart.
    let blocks = flow.what_if.iter().filter(|w| w.sorter.is_none());
    blocks.map(row).collect()
}

fn by_rate(flow: &FlowReport) -> Vec<RateRow> {
    let with_packets = flow
        .by_rate
        .iter()
        .filter(|r| r.packets > 0 && r.rate_bps > 0);
    with_packets
        .map(|r| {
            (
                r.rate_bps as f64 / 1e6,
                r.reordered as f64 / r.packets as f64,
                r.packets,
                r.mean_extent,
                r.mean_late_ns / 1e6,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        let mut all = Distribution::default();
        (0..5_000).for_each(|v| all.update(v));
        let buckets: Vec<_> = all.buckets().map(with_start).collect();
        for pair in buckets.windows(2) {
            assert_eq!(pair[0].1 + 1, pair[1].0, "{pair:?}");
        }
        assert_eq!(with_start((u64::MAX, 1)).0, u64::MAX >> 58 << 58);
    }
}
