//! Order of arrival: as a whole, by sending rate, and after a sorting receiver.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::{Column, Digits, Element, Files, Kind, Part};

use super::buckets;
use crate::{RateClass, Reordering};

type Of = Column<Reordering>;

/// Order of arrival: what all streams of packets have ([`METRICS`]), and what TCP adds.
pub static REORDERING: &[Column<Reordering>] = &[
    Of::nested(
        "counts",
        "Packets received and reordered.",
        &Part {
            columns: COUNTS,
            of: |r: &Reordering| r,
        },
    ),
    Of::nested(
        "metrics",
        "Metrics of RFC 4737 and RFC 5236.",
        &Part {
            columns: METRICS,
            of: |r: &Reordering| r,
        },
    ),
    Of::new(
        "linux_metric",
        Kind::Count,
        "max_extent + 1: Linux's `reordering` and the aNCR draft count the late packet too.",
        |r| {
            r.extents
                .max()
                .map(|extent| extent.saturating_add(1))
                .into()
        },
    )
    .unit("packets")
    .optional()
    .only(Files::Json),
    Of::new(
        "ambiguous",
        Kind::Count,
        "Undecided events; not counted above.",
        |r| r.ambiguous.into(),
    ),
    Of::new(
        "extents",
        Kind::List(Element::Pair),
        "[extent, packets]; exact below 64, above with 32 buckets an octave (value = last of the bucket).",
        |r| buckets(&r.extents),
    ),
    Of::new(
        "late_ns",
        Kind::List(Element::Pair),
        "[nanoseconds, packets]; buckets as of extents.",
        |r| buckets(&r.late_ns),
    ),
    Of::new(
        "extent_bytes",
        Kind::List(Element::Pair),
        "[bytes, packets] (RFC 4737 section 4.4); buckets as of extents.",
        |r| buckets(&r.extent_bytes),
    ),
    Of::new(
        "rd",
        Kind::List(Element::Pair),
        "[displacement, density] (RFC 5236).",
        |r| r.displacements.density().collect::<Vec<_>>().into(),
    ),
];

type Class = Column<RateClass>;

/// Reordering of what was sent at one rate.
pub static RATE_CLASS: &[Column<RateClass>] = &[
    Class::new(
        "rate_bps",
        Kind::Rate,
        "Lower bound of the sending rate.",
        |c| c.rate_bps.into(),
    )
    .shown("rate from", 0),
    Class::new("intervals", Kind::Count, "Intervals of 250 ms.", |c| {
        c.intervals.into()
    })
    .shown("intervals", 0),
    Class::new("packets", Kind::Count, "Packets sent at this rate.", |c| {
        c.packets.into()
    })
    .shown("packets", 0),
    Class::new("reordered", Kind::Count, "Of these, reordered.", |c| {
        c.reordered.into()
    })
    .in_group("reordered", "packets", 0),
    Class::new("ratio", Kind::Share, "reordered / packets.", |c| {
        (c.reordered as f64 / c.packets.max(1) as f64).into()
    })
    .only(Files::None)
    .in_group("reordered", "%", 0),
    Class::new(
        "mean_extent",
        Kind::Number(Digits::Mean),
        "Mean extent of late packets.",
        |c| c.mean_extent.into(),
    )
    .unit("packets")
    .shown("mean extent", 0),
    Class::new(
        "mean_late_ms",
        Kind::Duration,
        "Mean late time of late packets.",
        |c| c.mean_late_ns.into(),
    )
    .shown("mean late", 0),
    Class::new(
        "extent_bytes",
        Kind::List(Element::Pair),
        "[bytes, packets]: late packets by the octave of their extent in bytes (RFC 4737 section 4.4), from its lower \
         bound.",
        |c| c.extent_bytes.clone().into(),
    ),
];
