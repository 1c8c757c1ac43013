//! Order of arrival: as a whole, by sending rate, and after a sorting receiver.

use inorder_metrics::{COUNTS, METRICS};
use inorder_report::number::plural;
use inorder_report::{Column, Digits, Element, Files, Kind, Part};

use super::buckets;
use crate::{RateClass, Reordering, WhatIf};

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

type If = Column<WhatIf>;

/// What a sorting receiver would have left.
pub static WHAT_IF: &[Column<WhatIf>] = &[
    If::new(
        "sorter",
        Kind::Text,
        "The sorter, with its settings where they are not at their defaults.",
        |w| w.name().into(),
    ),
    If::new(
        "block_size",
        Kind::Small,
        "Largest sorting block of SRPIC.",
        |w| w.sorter.is_none().then_some(w.block_size).into(),
    )
    .unit("packets")
    .optional()
    .shown("if sorted in blocks of", 0)
    .adapted(|w, _| match w.sorter {
        Some(sorter) => sorter.to_string(),
        None => plural(u64::from(w.block_size), "packet"),
    }),
    If::new(
        "coalesce_ms",
        Kind::Duration,
        "Interrupt coalescing delay.",
        |w| w.coalesce_ns.into(),
    )
    .shown("coalescing", 0),
    If::new("reordered", Kind::Count, "Reordered packets left.", |w| {
        w.reordered.into()
    })
    .in_group("still reordered", "packets", 0),
    If::new(
        "reordered_ratio",
        Kind::Share,
        "Reordered packets left, share of all.",
        |w| w.reordered_ratio.into(),
    )
    .in_group("still reordered", "%", 0),
    If::new("max_extent", Kind::Small, "Greatest extent left.", |w| {
        w.max_extent.into()
    })
    .unit("packets")
    .shown("max extent", 2),
    If::new(
        "dupacks_saved",
        Kind::Count,
        "Duplicate ACKs that sorting would have saved.",
        |w| w.dupacks_saved.into(),
    )
    .in_group("duplicate ACKs", "saved", 1),
    If::new(
        "mean_added_delay_ms",
        Kind::Duration,
        "Mean time a packet waited, for the end of its batch or for what was missing before it.",
        |w| w.mean_added_delay_ns.into(),
    )
    .in_group("added delay", "mean", 0),
    If::new(
        "p50_added_delay_ms",
        Kind::Duration,
        "Time that half of the packets did not exceed; of SRPIC by block size to a 32nd of the coalescing time.",
        |w| w.p50_added_delay_ns.into(),
    )
    .optional()
    .in_group("added delay", "p50", 3),
    If::new(
        "p99_added_delay_ms",
        Kind::Duration,
        "Time that 99 % of the packets did not exceed; of SRPIC by block size to a 32nd of the coalescing time.",
        |w| w.p99_added_delay_ns.into(),
    )
    .optional()
    .in_group("added delay", "p99", 1),
    If::new(
        "max_added_delay_ms",
        Kind::Duration,
        "Greatest such time.",
        |w| w.max_added_delay_ns.into(),
    )
    .in_group("added delay", "max", 2),
    If::new(
        "bound_ms",
        Kind::Duration,
        "How long the sorter would hold a packet at the end of the flow, by what it had learnt.",
        |w| w.bound_ns.into(),
    )
    .optional()
    .shown("hold", 2),
];
