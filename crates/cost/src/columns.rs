//! Throughput, and what unnecessary reductions of the window cost.

use inorder_report::{Column, Digits, Kind, List, Maybe};

use crate::{Control, Cost, GoodputBin, Limit, Lost};
use inorder_report::Name;

type Of = Column<Cost>;

/// What is said of the cost.
pub static COST: &[Column<Cost>] = &[
    Of::new(
        "goodput_bps",
        Kind::Rate,
        "Payload that arrived over the time from the first data to the last report of an arrival.",
        |c| c.goodput_bps.into(),
    )
    .optional(),
    Of::new(
        "bottleneck_bps",
        Kind::Rate,
        "Rate of the bottleneck as payload, from packets that followed each other.",
        |c| c.bottleneck_bps.into(),
    )
    .optional(),
    Of::new(
        "limit",
        Kind::Choice(Limit::NAMES),
        "What keeps the flow from being faster; `misled`: unnecessary reductions of the congestion window.",
        |c| c.limit.name().into(),
    ),
    Of::new(
        "control",
        Kind::Choice(Control::NAMES),
        "Congestion control, as far as the sender's behaviour tells.",
        |c| c.control.name().into(),
    ),
    Of::new(
        "control_confidence",
        Kind::Number(Digits::Fixed(2)),
        "How sure that is, 0 to 1.",
        |c| c.control_confidence.into(),
    ),
    Of::new(
        "unnecessary",
        Kind::Count,
        "Recoveries and time-outs that no loss had caused, without probes of the tail.",
        |c| c.unnecessary.into(),
    ),
    Of::new(
        "restored",
        Kind::Count,
        "Of these, those after which the window was what it had been.",
        |c| c.restored.into(),
    ),
    Of::nested(
        "lost",
        "Goodput lost by them.",
        &Maybe {
            columns: LOST,
            of: |c: &Cost| c.lost.as_ref(),
        },
    ),
    Of::new(
        "without_bps",
        Kind::Rate,
        "Goodput that the flow would have reached without them.",
        |c| c.without_bps().into(),
    )
    .optional(),
    Of::new(
        "timeout_ms",
        Kind::Duration,
        "Time without any arrival before unnecessary time-outs.",
        |c| c.timeout_ns.into(),
    ),
    Of::new(
        "recovery_ms",
        Kind::Duration,
        "Time spent in unnecessary recoveries.",
        |c| c.recovery_ns.into(),
    ),
    Of::new(
        "window_closed_ms",
        Kind::Duration,
        "Time during which the receiver's window was closed: it had no room, and the sender had to wait.",
        |c| c.closed_ns.into(),
    ),
    Of::new(
        "wasted_bytes",
        Kind::Bytes,
        "Payload sent again without need.",
        |c| c.wasted_bytes.into(),
    ),
    Of::nested(
        "goodput",
        "Goodput over time, in intervals of one width.",
        &List {
            columns: GOODPUT,
            of: |c: &Cost| &c.goodput,
        },
    ),
];

/// A share of the goodput, with its interval.
pub static LOST: &[Column<Lost>] = &[
    Column::new(
        "share",
        Kind::Share,
        "Of what the flow would have reached, the share that it missed.",
        |l: &Lost| l.share.into(),
    ),
    Column::new("low", Kind::Share, "No less than this.", |l: &Lost| {
        l.low.into()
    }),
    Column::new("high", Kind::Share, "No more than this.", |l: &Lost| {
        l.high.into()
    }),
];

/// Goodput in one interval.
pub static GOODPUT: &[Column<GoodputBin>] = &[
    Column::new(
        "start_ns",
        Kind::Instant,
        "Start of the interval.",
        |b: &GoodputBin| b.start_ns.into(),
    ),
    Column::new(
        "goodput_bps",
        Kind::Rate,
        "Payload that arrived for the first time.",
        |b: &GoodputBin| b.goodput_bps.into(),
    ),
    Column::new(
        "again_bps",
        Kind::Rate,
        "Payload sent again.",
        |b: &GoodputBin| b.again_bps.into(),
    ),
];
