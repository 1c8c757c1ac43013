//! The results as programs and tables read them.

use inorder_report::number::plural;
use inorder_report::{Column, Kind};

use crate::WhatIf;

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
    .adapted(|w, _| match &w.sorter {
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
