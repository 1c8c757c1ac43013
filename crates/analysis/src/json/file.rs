//! One capture file, its numbered streams, and the comparison with the other end.

use inorder_detect::FlowId;
use serde::Serialize;

use super::List;
use crate::model::{Analysis, StreamReport};
use crate::names::Name;
use crate::peer::{PeerComparison, PeerCounts, PeerFlow, Score};
use inorder_report::number::millis;

#[derive(Serialize)]
pub struct File<'a> {
    file: &'a str,
    format: &'a str,
    frames: u64,
    bytes: u64,
    first_ns: i64,
    last_ns: i64,
    flows: usize,
    skipped: List<'a, (String, u64), Skipped<'a>>,
    warnings: &'a [String],
    streams: List<'a, StreamReport, Stream<'a>>,
    peer: Option<Peer<'a>>,
}

impl<'a> File<'a> {
    pub fn of(analysis: &'a Analysis) -> Self {
        File {
            file: &analysis.file,
            format: &analysis.format,
            frames: analysis.frames,
            bytes: analysis.bytes,
            first_ns: analysis.first_ns,
            last_ns: analysis.last_ns,
            flows: analysis.flows.len(),
            skipped: List(&analysis.skipped, Skipped::of),
            warnings: &analysis.warnings,
            streams: List(&analysis.streams, Stream::of),
            peer: analysis.peer.as_ref().map(Peer::of),
        }
    }
}

#[derive(Serialize)]
struct Skipped<'a> {
    reason: &'a str,
    count: u64,
}

impl<'a> Skipped<'a> {
    fn of((reason, count): &'a (String, u64)) -> Self {
        Skipped {
            reason,
            count: *count,
        }
    }
}

#[derive(Serialize)]
struct Stream<'a> {
    service: &'a str,
    src: String,
    dst: String,
    id: u32,
    received: u64,
    reordered: u64,
    ratio: f64,
    max_extent: u64,
    mean_extent: f64,
    max_late_ms: f64,
    duplicates: u64,
    missing: u64,
    mean_displacement: f64,
    entropy: f64,
}

impl<'a> Stream<'a> {
    fn of(stream: &'a StreamReport) -> Self {
        Stream {
            service: stream.service.name(),
            src: stream.src.to_string(),
            dst: stream.dst.to_string(),
            id: stream.id,
            received: stream.received,
            reordered: stream.reordered,
            ratio: stream.ratio,
            max_extent: stream.max_extent,
            mean_extent: stream.mean_extent,
            max_late_ms: millis(stream.max_late_ns),
            duplicates: stream.duplicates,
            missing: stream.missing,
            mean_displacement: stream.mean_displacement,
            entropy: stream.entropy,
        }
    }
}

#[derive(Serialize)]
struct Peer<'a> {
    file: &'a str,
    flows: List<'a, PeerFlow, FlowAtBothEnds>,
    only_here: List<'a, FlowId, String>,
    only_there: List<'a, FlowId, String>,
    ambiguous: List<'a, FlowId, String>,
}

impl<'a> Peer<'a> {
    fn of(peer: &'a PeerComparison) -> Self {
        Peer {
            file: &peer.file,
            flows: List(&peer.flows, FlowAtBothEnds::of),
            only_here: List(&peer.only_here, FlowId::to_string),
            only_there: List(&peer.only_there, FlowId::to_string),
            ambiguous: List(&peer.ambiguous, FlowId::to_string),
        }
    }
}

#[derive(Serialize)]
struct FlowAtBothEnds {
    flow: String,
    there: String,
    matched_by: &'static str,
    truth: Counts,
    inferred: Counts,
    reordered: Agreement,
    lost: Agreement,
    spurious: Agreement,
    extents_compared: u64,
    extents_exact: Option<f64>,
    extents_within_one: Option<f64>,
}

impl FlowAtBothEnds {
    fn of(flow: &PeerFlow) -> Self {
        FlowAtBothEnds {
            flow: flow.flow.to_string(),
            there: flow.there.to_string(),
            matched_by: flow.matched.name(),
            truth: Counts::of(&flow.truth),
            inferred: Counts::of(&flow.inferred),
            reordered: Agreement::of(&flow.reordered),
            lost: Agreement::of(&flow.lost),
            spurious: Agreement::of(&flow.spurious),
            extents_compared: flow.extents.compared,
            extents_exact: flow.extents.exact_share(),
            extents_within_one: flow.extents.within_one_share(),
        }
    }
}

#[derive(Serialize)]
struct Counts {
    originals: u64,
    reordered: u64,
    lost: u64,
    spurious: u64,
}

impl Counts {
    fn of(counts: &PeerCounts) -> Self {
        Counts {
            originals: counts.originals,
            reordered: counts.reordered,
            lost: counts.lost,
            spurious: counts.spurious,
        }
    }
}

#[derive(Serialize)]
struct Agreement {
    true_positives: u64,
    false_positives: u64,
    false_negatives: u64,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

impl Agreement {
    fn of(score: &Score) -> Self {
        Agreement {
            true_positives: score.true_positives,
            false_positives: score.false_positives,
            false_negatives: score.false_negatives,
            precision: score.precision(),
            recall: score.recall(),
            f1: score.f1(),
        }
    }
}
