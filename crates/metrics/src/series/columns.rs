//! The columns of the metrics in JSON and CSV.

use inorder_report::{Column, Digits, Element, Kind, Part, Value};

use super::SeriesReport;
use crate::{COUNTS, METRICS};

type Of = Column<SeriesReport>;

const REAL: Kind = Kind::Number(Digits::Fixed(4));
const LIST: Kind = Kind::List(Element::Number);
const BY_NUMBER: Kind = Kind::Map(Element::Number);

/// All columns in their order: [`METRICS`], and the values that are lists.
pub static SERIES: &[Of] = &[
    Of::new(
        "complete",
        Kind::Flag,
        "True if no malformed line ended the input.",
        |r| r.complete.into(),
    ),
    Of::nested(
        "counts",
        "Packets received and reordered.",
        &Part {
            columns: COUNTS,
            of: |r: &SeriesReport| &r.summary.order,
        },
    ),
    Of::nested(
        "scalars",
        "The metrics that are single numbers.",
        &Part {
            columns: METRICS,
            of: |r: &SeriesReport| &r.summary.order,
        },
    ),
    Of::new(
        "duplicates",
        Kind::Count,
        "Copies of packets that had arrived before.",
        |r| r.summary.counts.duplicates.into(),
    ),
    Of::new("missing", Kind::Count, "Numbers that never arrived.", |r| {
        r.summary.counts.missing.into()
    }),
    Of::new(
        "unclassified",
        Kind::Count,
        "Packets that arrived in a gap that had been forgotten.",
        |r| r.summary.counts.unclassified.into(),
    ),
    Of::new(
        "holes_given_up",
        Kind::Count,
        "Gaps forgotten because of --max-holes.",
        |r| r.summary.counts.holes_given_up.into(),
    ),
    Of::new(
        "sequence_discontinuities",
        Kind::Count,
        "Packets that skipped a number: at least one sent earlier had not arrived (RFC 4737 section 3.4).",
        |r| r.summary.counts.sequence_discontinuities.into(),
    ),
    Of::new(
        "extents",
        LIST,
        "Extent of each reordered packet (RFC 4737 section 4.2).",
        |r| r.lists.extents.clone().into(),
    )
    .unit("packets"),
    Of::new(
        "late_ms",
        LIST,
        "Late time of each reordered packet (RFC 4737 section 4.3).",
        |r| {
            let late_ns = if r.lists.timed {
                r.lists.late_ns.as_slice()
            } else {
                &[]
            };
            milliseconds(late_ns)
        },
    )
    .unit("ms"),
    Of::new(
        "byte_offsets",
        LIST,
        "Byte offset of each reordered packet (RFC 4737 section 4.4).",
        |r| r.lists.byte_offsets.clone().into(),
    )
    .unit("bytes"),
    Of::new(
        "discontinuities",
        Kind::Count,
        "Reordering discontinuities (RFC 4737 section 4.5).",
        |r| r.lists.discontinuities.len().into(),
    ),
    Of::new(
        "gaps",
        LIST,
        "Packets between successive discontinuities (RFC 4737 section 4.5).",
        |r| r.lists.gaps().0.into(),
    )
    .unit("packets"),
    Of::new(
        "gaps_ms",
        LIST,
        "Time between successive discontinuities.",
        |r| {
            let gaps_ns = if r.lists.timed {
                r.lists.gaps().1
            } else {
                Vec::new()
            };
            milliseconds(&gaps_ns)
        },
    )
    .unit("ms"),
    Of::new(
        "runs",
        LIST,
        "Packets in order before each reordered one (RFC 4737 section 4.6).",
        |r| r.lists.runs.clone().into(),
    )
    .unit("packets"),
    Of::new(
        "run_mean_bytes",
        REAL,
        "Mean length of the runs in bytes.",
        |r| r.if_sized(r.summary.order.runs.mean_bytes()),
    )
    .unit("bytes")
    .optional(),
    Of::new(
        "run_variation_bytes",
        REAL,
        "Variation of the runs in bytes.",
        |r| r.if_sized(r.summary.order.runs.variation_bytes()),
    )
    .optional(),
    Of::new(
        "n_reordering",
        BY_NUMBER,
        "Packets that are n-reordered, by n (RFC 4737 section 5).",
        |r| by_n(&r.summary.order.n_reordering.cumulative()),
    )
    .unit("packets"),
    Of::new(
        "n_reordering_largest",
        BY_NUMBER,
        "Packets by the largest n to which they are n-reordered.",
        |r| by_n(r.summary.order.n_reordering.largest()),
    )
    .unit("packets"),
    Of::new(
        "n_reordering_truncated",
        Kind::Count,
        "Packets with an n beyond --n-max.",
        |r| r.summary.order.n_reordering.truncated().into(),
    ),
    Of::new(
        "dt",
        Kind::Small,
        "Displacement threshold (RFC 5236).",
        |r| u32::from(r.dt).into(),
    )
    .unit("packets"),
    Of::new(
        "rd_packets",
        Kind::Count,
        "Packets counted in the reorder density.",
        |r| r.summary.order.displacements.total().into(),
    ),
    Of::new(
        "rd",
        BY_NUMBER,
        "Reorder density: share by displacement.",
        |r| named(r.summary.order.displacements.density()),
    ),
    Of::new(
        "rd_beyond_early",
        Kind::Count,
        "Packets early by more than the threshold.",
        |r| r.summary.order.displacements.beyond().0.into(),
    ),
    Of::new(
        "rd_beyond_late",
        Kind::Count,
        "Packets late by more than the threshold.",
        |r| r.summary.order.displacements.beyond().1.into(),
    ),
    Of::new(
        "bt",
        Kind::Small,
        "Threshold of the buffer occupancy (RFC 5236).",
        |r| u32::from(r.bt).into(),
    )
    .unit("packets"),
    Of::new(
        "rbd_packets",
        Kind::Count,
        "Packets counted in the buffer-occupancy density.",
        |r| r.summary.occupancy.total().into(),
    ),
    Of::new(
        "rbd",
        BY_NUMBER,
        "Reorder buffer-occupancy density: share by packets held.",
        |r| named(r.summary.occupancy.density()),
    ),
    Of::new("rbd_mean", REAL, "Mean number of packets held.", |r| {
        r.summary.occupancy.mean().into()
    })
    .unit("packets")
    .optional(),
    Of::new(
        "rbd_given_up",
        Kind::Count,
        "Packets the buffer no longer waited for.",
        |r| r.summary.occupancy.given_up().into(),
    ),
];

impl SeriesReport {
    /// A value that is known only if the input has lengths in bytes.
    fn if_sized(&self, value: Option<f64>) -> Value<'static> {
        value.filter(|_| self.lists.sized).into()
    }
}

/// Nanoseconds as milliseconds: exact below 2^53 ns, 104 days.
fn milliseconds(ns: &[i64]) -> Value<'static> {
    let ms = ns.iter().map(|&ns| ns as f64 / 1e6);
    ms.collect::<Vec<f64>>().into()
}

fn named<'a, K: Into<Value<'a>>>(density: impl Iterator<Item = (K, f64)>) -> Value<'a> {
    density.collect::<Vec<_>>().into()
}

/// Non-zero counts, keyed by n = 1, 2, ...
fn by_n(counts: &[u64]) -> Value<'static> {
    let counted = (1u64..).zip(counts.iter().copied());
    let some = counted.filter(|(_, count)| *count > 0);
    some.collect::<Vec<(u64, u64)>>().into()
}
