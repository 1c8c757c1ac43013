//! What is a list of a flow or of a file in JSON, as tables of their own for CSV and Parquet.

use inorder_detect::columns::{
    ATTEMPT, CAUSE_COUNT, FLOW_ID, FLOW_PLACE, RATE_CLASS, REORDERING, REPLAY_WINDOW, STREAM,
    STREAM_NAME, WHAT_IF,
};
use inorder_detect::{
    Attempt, CauseCount, FlowReport, RateClass, Reordering, ReplayWindow, StreamReport, WhatIf,
};
use inorder_report::{Column, Digits, Sheet, columns};

use super::{FILE_NAME, Row, SKIPPED, rows, sheet};
use crate::model::Analysis;

type Flow<'a, T> = Row<'a, T>;

/// What a sorting receiver would have left.
pub(crate) fn what_ifs<'c, 'a: 'c>() -> Sheet<'c, Flow<'a, WhatIf>> {
    sheet(WHAT_IF)
}

/// These of all flows.
pub(crate) fn what_if_rows(analyses: &[Analysis]) -> impl Iterator<Item = Flow<'_, WhatIf>> {
    rows(analyses, |flow| &flow.what_if)
}

/// Reordering by sending rate.
pub(crate) fn rates<'c, 'a: 'c>() -> Sheet<'c, Flow<'a, RateClass>> {
    sheet(RATE_CLASS)
}

/// The rate classes of all flows.
pub(crate) fn rate_rows(analyses: &[Analysis]) -> impl Iterator<Item = Flow<'_, RateClass>> {
    rows(analyses, |flow| &flow.by_rate)
}

/// Recoveries by cause.
pub(crate) fn causes<'c, 'a: 'c>() -> Sheet<'c, Flow<'a, CauseCount>> {
    sheet(CAUSE_COUNT)
}

/// These of all flows.
pub(crate) fn cause_rows(analyses: &[Analysis]) -> impl Iterator<Item = Flow<'_, CauseCount>> {
    rows(analyses, |flow| &flow.recoveries.by_cause)
}

/// The order at a capture point in the middle.
pub(crate) fn upstream<'c, 'a: 'c>() -> Sheet<'c, Flow<'a, Reordering>> {
    sheet(REORDERING)
}

/// These of all flows that have it.
pub(crate) fn upstream_rows(analyses: &[Analysis]) -> impl Iterator<Item = Flow<'_, Reordering>> {
    rows(analyses, |flow| match &flow.upstream {
        Some(order) => std::slice::from_ref(&**order),
        None => &[],
    })
}

/// An item that belongs to a file, not to a flow.
pub(crate) struct OfFile<'a, T> {
    analysis: &'a Analysis,
    of: &'a T,
}

fn file_sheet<'c, 'a: 'c, T>(columns: &'static [Column<T>]) -> Sheet<'c, OfFile<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &OfFile<'a, T>| row.analysis)
        .with(columns, |row| row.of)
}

fn in_files<'a, T: 'a>(
    analyses: &'a [Analysis],
    part: fn(&'a Analysis) -> &'a [T],
) -> impl Iterator<Item = OfFile<'a, T>> {
    analyses.iter().flat_map(move |analysis| {
        let items = part(analysis).iter();
        items.map(move |of| OfFile { analysis, of })
    })
}

/// Attempts to open connections that carried no data.
pub(crate) fn attempts<'c, 'a: 'c>() -> Sheet<'c, OfFile<'a, Attempt>> {
    file_sheet(ATTEMPT)
}

/// These of all files.
pub(crate) fn attempt_rows(analyses: &[Analysis]) -> impl Iterator<Item = OfFile<'_, Attempt>> {
    in_files(analyses, |analysis| &analysis.attempts.list)
}

/// Streams of other numbered services.
pub(crate) fn streams<'c, 'a: 'c>() -> Sheet<'c, OfFile<'a, StreamReport>> {
    file_sheet(STREAM)
}

/// These of all files.
pub(crate) fn stream_rows(analyses: &[Analysis]) -> impl Iterator<Item = OfFile<'_, StreamReport>> {
    in_files(analyses, |analysis| &analysis.streams)
}

/// Something of a stream.
pub(crate) struct OfStream<'a, T> {
    analysis: &'a Analysis,
    stream: &'a StreamReport,
    of: &'a T,
}

/// What anti-replay windows would have refused of streams.
pub(crate) fn replay_windows<'c, 'a: 'c>() -> Sheet<'c, OfStream<'a, ReplayWindow>> {
    Sheet::new()
        .with(FILE_NAME, |row: &OfStream<'a, ReplayWindow>| row.analysis)
        .with(STREAM_NAME, |row| row.stream)
        .with(REPLAY_WINDOW, |row| row.of)
}

/// These of all streams.
pub(crate) fn replay_window_rows(
    analyses: &[Analysis],
) -> impl Iterator<Item = OfStream<'_, ReplayWindow>> {
    analyses.iter().flat_map(|analysis| {
        analysis.streams.iter().flat_map(move |stream| {
            let replay = stream.replay.iter();
            let rows = replay.flat_map(|replay| &replay.windows);
            rows.map(move |of| OfStream {
                analysis,
                stream,
                of,
            })
        })
    })
}

/// These of streams.
pub(crate) fn stream_what_ifs<'c, 'a: 'c>() -> Sheet<'c, OfStream<'a, WhatIf>> {
    Sheet::new()
        .with(FILE_NAME, |row: &OfStream<'a, WhatIf>| row.analysis)
        .with(STREAM_NAME, |row| row.stream)
        .with(WHAT_IF, |row| row.of)
}

/// These of all streams.
pub(crate) fn stream_what_if_rows(
    analyses: &[Analysis],
) -> impl Iterator<Item = OfStream<'_, WhatIf>> {
    analyses.iter().flat_map(|analysis| {
        analysis.streams.iter().flat_map(move |stream| {
            let rows = stream.what_if.iter();
            rows.map(move |of| OfStream {
                analysis,
                stream,
                of,
            })
        })
    })
}

/// Frames that could not be analysed, by reason.
pub(crate) fn skipped<'c, 'a: 'c>() -> Sheet<'c, OfFile<'a, (String, u64)>> {
    file_sheet(SKIPPED)
}

/// These of all files.
pub(crate) fn skipped_rows(
    analyses: &[Analysis],
) -> impl Iterator<Item = OfFile<'_, (String, u64)>> {
    in_files(analyses, |analysis| &analysis.skipped)
}

/// One bucket of a distribution of a flow.
pub(crate) struct Bucket<'a> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    own: BucketOf,
}

struct BucketOf {
    which: &'static str,
    value: f64,
    count: f64,
}

columns! {
    BUCKET: BucketOf, |b|
    "distribution": Text, "The list in JSON: extents, late_ns, extent_bytes, rd, burst_lengths; those of `upstream` have this before them."
        => b.which;
    "value": Number(Digits::Short), "Last value of the bucket, in the unit of the list." => b.value;
    "count": Number(Digits::Short), "Packets or runs in the bucket; for rd their share." => b.count;
}

/// The distributions.
pub(crate) fn buckets<'c, 'a: 'c>() -> Sheet<'c, Bucket<'a>> {
    Sheet::new()
        .with(FILE_NAME, |row: &Bucket<'a>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(BUCKET, |row| &row.own)
}

/// These of all flows.
pub(crate) fn bucket_rows(analyses: &[Analysis]) -> impl Iterator<Item = Bucket<'_>> {
    analyses.iter().flat_map(move |analysis| {
        let flows = analysis.flows.iter();
        flows.flat_map(move |flow| {
            let own = of_flow(flow).into_iter();
            own.map(move |own| Bucket {
                analysis,
                flow,
                own,
            })
        })
    })
}

fn of_flow(flow: &FlowReport) -> Vec<BucketOf> {
    let mut all = Vec::new();
    let names = ["extents", "late_ns", "extent_bytes", "rd"];
    of_order(&flow.reordering, names, &mut all);
    if let Some(upstream) = &flow.upstream {
        let names = [
            "upstream.extents",
            "upstream.late_ns",
            "upstream.extent_bytes",
            "upstream.rd",
        ];
        of_order(upstream, names, &mut all);
    }
    let lengths = flow.bursts.lengths.buckets();
    all.extend(lengths.map(|(value, count)| bucket("burst_lengths", value as f64, count as f64)));
    all
}

fn of_order(order: &Reordering, names: [&'static str; 4], all: &mut Vec<BucketOf>) {
    let [extents, late, bytes, rd] = names;
    let lists = [
        (extents, &order.extents),
        (late, &order.late_ns),
        (bytes, &order.extent_bytes),
    ];
    for (name, distribution) in lists {
        let buckets = distribution.buckets();
        all.extend(buckets.map(|(value, count)| bucket(name, value as f64, count as f64)));
    }
    let density = order.displacements.density();
    all.extend(density.map(|(value, share)| bucket(rd, value as f64, share)));
}

fn bucket(which: &'static str, value: f64, count: f64) -> BucketOf {
    BucketOf {
        which,
        value,
        count,
    }
}

/// Late packets at one sending rate whose extents lie in one octave.
pub(crate) struct RateExtent<'a> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    own: ExtentsAtRate,
}

struct ExtentsAtRate {
    rate_bps: u64,
    extent_bytes: u64,
    packets: u64,
}

columns! {
    EXTENTS_AT_RATE: ExtentsAtRate, |e|
    "rate_bps": Rate, "Lower bound of the sending rate, averaged over 250 ms; classes are a quarter octave wide."
        => e.rate_bps;
    "extent_bytes": Bytes, "Lower bound of the extent in bytes (RFC 4737 section 4.4); buckets are an octave wide."
        => e.extent_bytes;
    "packets": Count, "Late packets." => e.packets;
}

/// Extents by sending rate.
pub(crate) fn rate_extents<'c, 'a: 'c>() -> Sheet<'c, RateExtent<'a>> {
    Sheet::new()
        .with(FILE_NAME, |row: &RateExtent<'a>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(EXTENTS_AT_RATE, |row| &row.own)
}

/// These of all flows.
pub(crate) fn rate_extent_rows(analyses: &[Analysis]) -> impl Iterator<Item = RateExtent<'_>> {
    analyses.iter().flat_map(|analysis| {
        analysis.flows.iter().flat_map(move |flow| {
            flow.by_rate.iter().flat_map(move |class| {
                let extents = class.extent_bytes.iter();
                extents.map(move |&(extent_bytes, packets)| RateExtent {
                    analysis,
                    flow,
                    own: ExtentsAtRate {
                        rate_bps: class.rate_bps,
                        extent_bytes,
                        packets,
                    },
                })
            })
        })
    })
}
