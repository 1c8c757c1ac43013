//! One flow.

use inorder_detect as detect;
use inorder_detect::{Distribution, FlowReport};
use serde::{Serialize, Serializer};

use super::List;
use super::event::{Events, Retransmission};
use crate::names::Name;
use inorder_report::number::millis;

#[derive(Serialize)]
pub struct Flow<'a> {
    file: &'a str,
    flow: String,
    overlay: u32,
    reuse: u32,
    vantage: &'static str,
    vantage_basis: &'static str,
    to_receiver_ms: Option<f64>,
    to_sender_ms: Option<f64>,
    first_ns: i64,
    last_ns: i64,
    syn_seen: bool,
    sack: bool,
    timestamps: bool,
    mss: u32,
    min_rtt_ms: Option<f64>,
    data_packets: u64,
    data_bytes: u64,
    retransmissions: Retransmissions,
    losses: u64,
    undecided: u64,
    rough: bool,
    reordering: Reordering<'a>,
    upstream: Option<Reordering<'a>>,
    bursts: Bursts<'a>,
    by_rate: List<'a, detect::RateClass, RateClass>,
    recoveries: Recoveries<'a>,
    avoidance: Avoidance,
    ack_path: AckPath,
    artefacts: Artefacts,
    what_if: List<'a, detect::WhatIf, WhatIf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Events<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retransmission_list: Option<List<'a, detect::Retransmission, Retransmission>>,
}

impl<'a> Flow<'a> {
    pub fn of(file: &'a str, flow: &'a FlowReport, events: bool) -> Self {
        let name = flow.flow.to_string();
        Flow {
            file,
            flow: name.clone(),
            overlay: flow.flow.overlay,
            reuse: flow.flow.reuse,
            vantage: flow.vantage.vantage.name(),
            vantage_basis: flow.vantage.basis.name(),
            to_receiver_ms: flow.vantage.to_receiver_ns.map(millis),
            to_sender_ms: flow.vantage.to_sender_ns.map(millis),
            first_ns: flow.first_ns,
            last_ns: flow.last_ns,
            syn_seen: flow.syn_seen,
            sack: flow.sack,
            timestamps: flow.timestamps,
            mss: flow.mss,
            min_rtt_ms: flow.min_rtt_ns.map(millis),
            data_packets: flow.data_packets,
            data_bytes: flow.data_bytes,
            retransmissions: Retransmissions::of(&flow.retransmissions),
            losses: flow.losses,
            undecided: flow.undecided,
            rough: flow.rough,
            reordering: Reordering::of(&flow.reordering),
            upstream: flow.upstream.as_deref().map(Reordering::of),
            bursts: Bursts::of(&flow.bursts),
            by_rate: List(&flow.by_rate, RateClass::of),
            recoveries: Recoveries::of(&flow.recoveries, events),
            avoidance: Avoidance::of(&flow.avoidance),
            ack_path: AckPath::of(&flow.ack_path),
            artefacts: Artefacts::of(&flow.artefacts),
            what_if: List(&flow.what_if, WhatIf::of),
            events: events.then(|| Events {
                flow: name,
                events: &flow.events,
            }),
            retransmission_list: events
                .then(|| List(&flow.retransmission_list[..], Retransmission::of as _)),
        }
    }
}

#[derive(Serialize)]
struct Retransmissions {
    total: u64,
    needed: u64,
    spurious: u64,
    ambiguous: u64,
}

impl Retransmissions {
    fn of(r: &detect::Retransmissions) -> Self {
        Retransmissions {
            total: r.total,
            needed: r.needed,
            spurious: r.spurious,
            ambiguous: r.ambiguous,
        }
    }
}

#[derive(Serialize)]
struct Reordering<'a> {
    arrived: u64,
    reordered: u64,
    ambiguous: u64,
    ratio: f64,
    max_extent: u64,
    mean_extent: f64,
    /// Linux's `reordering` and the aNCR draft count the late packet too.
    linux_metric: Option<u64>,
    max_late_ms: f64,
    mean_late_ms: f64,
    mean_displacement: f64,
    entropy: f64,
    extents: Buckets<'a>,
    late_ns: Buckets<'a>,
    extent_bytes: Buckets<'a>,
    rd: &'a [(i64, f64)],
}

impl<'a> Reordering<'a> {
    fn of(r: &'a detect::Reordering) -> Self {
        let extent = (r.extents.count() > 0).then(|| r.extents.max().unwrap_or(0));
        Reordering {
            arrived: r.arrived,
            reordered: r.reordered,
            ambiguous: r.ambiguous,
            ratio: r.ratio(),
            max_extent: r.extents.max().unwrap_or(0),
            mean_extent: r.extents.mean().unwrap_or(0.0),
            linux_metric: extent.map(|extent| extent.saturating_add(1)),
            max_late_ms: r.late_ns.max().unwrap_or(0) as f64 / 1e6,
            mean_late_ms: r.late_ns.mean().unwrap_or(0.0) / 1e6,
            mean_displacement: r.mean_displacement,
            entropy: r.entropy,
            extents: Buckets(&r.extents),
            late_ns: Buckets(&r.late_ns),
            extent_bytes: Buckets(&r.extent_bytes),
            rd: &r.rd,
        }
    }
}

/// A distribution as `[[value, count], ...]`.
pub struct Buckets<'a>(pub &'a Distribution);

impl Serialize for Buckets<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.0.buckets())
    }
}

#[derive(Serialize)]
struct Bursts<'a> {
    count: u64,
    lengths: Buckets<'a>,
}

impl<'a> Bursts<'a> {
    fn of(bursts: &'a detect::Bursts) -> Self {
        Bursts {
            count: bursts.count,
            lengths: Buckets(&bursts.lengths),
        }
    }
}

#[derive(Serialize)]
struct RateClass {
    rate_bps: u64,
    intervals: u64,
    packets: u64,
    reordered: u64,
    mean_extent: f64,
    mean_late_ms: f64,
}

impl RateClass {
    fn of(class: &detect::RateClass) -> Self {
        RateClass {
            rate_bps: class.rate_bps,
            intervals: class.intervals,
            packets: class.packets,
            reordered: class.reordered,
            mean_extent: class.mean_extent,
            mean_late_ms: class.mean_late_ns / 1e6,
        }
    }
}

#[derive(Serialize)]
struct Recoveries<'a> {
    total: u64,
    spurious: u64,
    ambiguous: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<List<'a, detect::Recovery, Recovery>>,
}

impl<'a> Recoveries<'a> {
    fn of(r: &'a detect::Recoveries, list: bool) -> Self {
        Recoveries {
            total: r.total,
            spurious: r.spurious,
            ambiguous: r.ambiguous,
            list: list.then(|| List(&r.list[..], Recovery::of as _)),
        }
    }
}

#[derive(Serialize)]
struct Recovery {
    start_ns: i64,
    seq_offset: u64,
    retransmissions: u32,
    timeout: bool,
    verdict: &'static str,
}

impl Recovery {
    fn of(r: &detect::Recovery) -> Self {
        Recovery {
            start_ns: r.start_ns,
            seq_offset: r.seq_offset,
            retransmissions: r.retransmissions,
            timeout: r.timeout,
            verdict: r.verdict.name(),
        }
    }
}

#[derive(Serialize)]
struct Avoidance {
    dupthresh: Option<u32>,
    window_ms: Option<f64>,
}

impl Avoidance {
    fn of(a: &detect::Avoidance) -> Self {
        Avoidance {
            dupthresh: a.dupthresh,
            window_ms: a.window_ns.map(millis),
        }
    }
}

#[derive(Serialize)]
struct AckPath {
    acks: u64,
    reordered: u64,
    missing: u64,
}

impl AckPath {
    fn of(a: &detect::AckPath) -> Self {
        AckPath {
            acks: a.acks,
            reordered: a.reordered,
            missing: a.missing,
        }
    }
}

#[derive(Serialize)]
struct Artefacts {
    duplicated_frames: u64,
    swapped_frames: u64,
    missing_segments: u64,
    time_reversals: u64,
}

impl Artefacts {
    fn of(a: &detect::Artefacts) -> Self {
        Artefacts {
            duplicated_frames: a.duplicated_frames,
            swapped_frames: a.swapped_frames,
            missing_segments: a.missing_segments,
            time_reversals: a.time_reversals,
        }
    }
}

#[derive(Serialize)]
struct WhatIf {
    block_size: u32,
    coalesce_ms: f64,
    reordered: u64,
    ratio: f64,
    max_extent: u32,
    dupacks_saved: u64,
    mean_added_delay_ms: f64,
    max_added_delay_ms: f64,
}

impl WhatIf {
    fn of(w: &detect::WhatIf) -> Self {
        WhatIf {
            block_size: w.block_size,
            coalesce_ms: w.coalesce_ns as f64 / 1e6,
            reordered: w.reordered,
            ratio: w.reordered_ratio,
            max_extent: w.max_extent,
            dupacks_saved: w.dupacks_saved,
            mean_added_delay_ms: w.mean_added_delay_ns as f64 / 1e6,
            max_added_delay_ms: w.max_added_delay_ns as f64 / 1e6,
        }
    }
}
