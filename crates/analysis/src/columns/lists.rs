//! What is a list of a flow or of a file in JSON, as tables of their own for CSV and Parquet.

use crate::flows::{FLOW_ID, FLOW_PLACE, STREAM_NAME};
use inorder_detect::{FlowReport, Reordering, StreamReport};
use inorder_report::{Column, Digits, Sheet, columns};

use super::FILE_NAME;
use crate::model::Analysis;

/// An item that belongs to a file, not to a flow.
pub(crate) struct OfFile<'a, T> {
    analysis: &'a Analysis,
    of: &'a T,
}

/// File, then the columns of `T`.
pub(crate) fn file_sheet<'c, 'a: 'c, T>(columns: &'static [Column<T>]) -> Sheet<'c, OfFile<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &OfFile<'a, T>| row.analysis)
        .with(columns, |row| row.of)
}

/// The rows of some part of every file.
pub(crate) fn in_files<'a, T: 'a>(
    analyses: &'a [Analysis],
    part: fn(&'a Analysis) -> &'a [T],
) -> impl Iterator<Item = OfFile<'a, T>> {
    analyses.iter().flat_map(move |analysis| {
        let items = part(analysis).iter();
        items.map(move |of| OfFile { analysis, of })
    })
}

/// Something of a stream.
pub(crate) struct OfStream<'a, T> {
    analysis: &'a Analysis,
    stream: &'a StreamReport,
    of: &'a T,
}

/// File and stream, then the columns of `T`.
pub(crate) fn stream_sheet<'c, 'a: 'c, T>(
    columns: &'static [Column<T>],
) -> Sheet<'c, OfStream<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &OfStream<'a, T>| row.analysis)
        .with(STREAM_NAME, |row| row.stream)
        .with(columns, |row| row.of)
}

/// The rows of some part of every stream.
pub(crate) fn in_streams<'a, T: 'a>(
    analyses: &'a [Analysis],
    part: fn(&'a StreamReport) -> &'a [T],
) -> impl Iterator<Item = OfStream<'a, T>> {
    analyses.iter().flat_map(move |analysis| {
        analysis.streams.iter().flat_map(move |stream| {
            let items = part(stream).iter();
            items.map(move |of| OfStream {
                analysis,
                stream,
                of,
            })
        })
    })
}

/// A row that is made from a flow, with its file and flow.
pub(crate) struct Made<'a, T> {
    analysis: &'a Analysis,
    flow: &'a FlowReport,
    pub(super) own: T,
}

/// File and flow, then the columns of `T`.
pub(crate) fn made_sheet<'c, 'a: 'c, T: 'c>(
    columns: &'static [Column<T>],
) -> Sheet<'c, Made<'a, T>> {
    Sheet::new()
        .with(FILE_NAME, |row: &Made<'a, T>| row.analysis)
        .with(FLOW_ID, |row| &row.flow.flow)
        .with(FLOW_PLACE, |row| &row.flow.flow)
        .with(columns, |row| &row.own)
}

/// The rows that `make` makes from the flows of a file.
pub(super) fn made_from<'a, T: 'a>(
    analysis: &'a Analysis,
    make: fn(&'a FlowReport) -> Vec<T>,
) -> impl Iterator<Item = Made<'a, T>> {
    analysis.flows.iter().flat_map(move |flow| {
        let all = make(flow).into_iter();
        all.map(move |own| Made {
            analysis,
            flow,
            own,
        })
    })
}

/// The rows that `make` makes from every flow.
pub(crate) fn made<'a, T: 'a>(
    analyses: &'a [Analysis],
    make: fn(&'a FlowReport) -> Vec<T>,
) -> impl Iterator<Item = Made<'a, T>> {
    analyses
        .iter()
        .flat_map(move |analysis| made_from(analysis, make))
}

/// One bucket of a distribution of a flow.
pub(crate) struct BucketOf {
    which: &'static str,
    value: f64,
    count: f64,
}

columns! {
    pub(crate) BUCKET: BucketOf, |b|
    "distribution": Text, "The list in JSON: extents, late_ns, extent_bytes, rd, burst_lengths; those of `upstream` have this before them."
        => b.which;
    "value": Number(Digits::Short), "Last value of the bucket, in the unit of the list." => b.value;
    "count": Number(Digits::Short), "Packets or runs in the bucket; for rd their share." => b.count;
}

/// The buckets of all distributions of a flow.
pub(crate) fn buckets(flow: &FlowReport) -> Vec<BucketOf> {
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
pub(crate) struct ExtentsAtRate {
    rate_bps: u64,
    extent_bytes: u64,
    packets: u64,
}

columns! {
    pub(crate) EXTENTS_AT_RATE: ExtentsAtRate, |e|
    "rate_bps": Rate, "Lower bound of the sending rate, averaged over 250 ms; classes are a quarter octave wide."
        => e.rate_bps;
    "extent_bytes": Bytes, "Lower bound of the extent in bytes (RFC 4737 section 4.4); buckets are an octave wide."
        => e.extent_bytes;
    "packets": Count, "Late packets." => e.packets;
}

/// The extents of a flow by sending rate.
pub(crate) fn extents_at_rates(flow: &FlowReport) -> Vec<ExtentsAtRate> {
    let all = flow.by_rate.iter().flat_map(|class| {
        let extents = class.extent_bytes.iter();
        extents.map(|&(extent_bytes, packets)| ExtentsAtRate {
            rate_bps: class.rate_bps,
            extent_bytes,
            packets,
        })
    });
    all.collect()
}
