//! What limited a transfer over its life.

use inorder_report::{Column, Kind, List, Maybe, Value};

use crate::limits::{LimitSet, Limits, Share, Stretch, Window};
use crate::{Cause, Confidence};
use inorder_report::Name;

type Of = Column<Limits>;

/// What is said of it.
pub static LIMITS: &[Column<Limits>] = &[
    Of::new(
        "life_ms",
        Kind::Duration,
        "From the first packet of the connection to its last; the shares are of this time.",
        |l| l.life_ns().into(),
    ),
    Of::nested(
        "shares",
        "How long each limit held the transfer, the longest first; together they are its life.",
        &List {
            columns: SHARE,
            of: |l: &Limits| &l.shares,
        },
    ),
    Of::new(
        "at_end_ms",
        Kind::Duration,
        "Of the application's share, the time behind the last new data: all had been sent.",
        |l| l.at_end_ns.into(),
    ),
    Of::new(
        "awaited_ms",
        Kind::Duration,
        "Of the application's share before, the time that ended after data of the other end had come: it waited for that.",
        |l| l.awaited_ns.into(),
    ),
    Of::new(
        "held_short",
        Kind::Count,
        "Ends of answers that waited until all before them was acknowledged, because they were less than a full segment (Nagle's algorithm).",
        |l| l.held_short.times.into(),
    ),
    Of::new(
        "held_short_ms",
        Kind::Duration,
        "How long they waited altogether.",
        |l| l.held_short.ns.into(),
    ),
    Of::nested(
        "unnecessary",
        "Time taken by reductions, recoveries and timers that no loss had caused, by their cause, the most first.",
        &List {
            columns: UNNECESSARY,
            of: |l: &Limits| &l.unnecessary,
        },
    ),
    Of::new(
        "queueing_ms",
        Kind::Duration,
        "Delay that stands in the queue while the transfer sends: the usual round trip above the shortest.",
        |l| l.queueing_ns.into(),
    )
    .optional(),
    Of::new(
        "line_bps",
        Kind::Rate,
        "Rate of the line as payload, where the transfer shows it.",
        |l| l.line_bps.into(),
    )
    .optional(),
    Of::nested(
        "window",
        "The receiver's window against what the path needs.",
        &Maybe {
            columns: WINDOW,
            of: |l: &Limits| l.window.as_ref(),
        },
    ),
    Of::new(
        "send_buffer_bytes",
        Kind::Bytes,
        "Most bytes in flight while the sender's buffer seems to be the limit.",
        |l| l.send_buffer_bytes.into(),
    )
    .optional(),
    Of::new(
        "policed_bps",
        Kind::Rate,
        "Rate of payload that a policer lets pass, at least: whenever it was reached, packets were lost, and no queue delayed those next to them.",
        |l| l.policed_bps.into(),
    )
    .optional(),
    Of::nested(
        "stretches",
        "The life in order and without gaps.",
        &List {
            columns: STRETCH,
            of: |l: &Limits| &l.stretches,
        },
    ),
];

/// Names in outputs, of one limit or of several joined by `+`.
fn names(limits: LimitSet) -> Value<'static> {
    limits.to_string().into()
}

/// How long one limit held a transfer.
pub static SHARE: &[Column<Share>] = &[
    Column::new(
        "limit",
        Kind::Text,
        "The limit; several joined by + where the capture cannot tell which of them it was.",
        |s: &Share| names(s.limits),
    ),
    Column::new("ms", Kind::Duration, "Time altogether.", |s: &Share| {
        s.ns.into()
    }),
    Column::new(
        "confidence",
        Kind::Choice(Confidence::NAMES),
        "How sure it is.",
        |s: &Share| s.confidence.name().into(),
    ),
];

/// Time that one cause took without need.
pub static UNNECESSARY: &[Column<(Cause, i64)>] = &[
    Column::new(
        "cause",
        Kind::Choice(Cause::NAMES),
        "What the sender reacted to.",
        |u: &(Cause, i64)| u.0.name().into(),
    ),
    Column::new(
        "ms",
        Kind::Duration,
        "Time altogether.",
        |u: &(Cause, i64)| u.1.into(),
    ),
];

/// A receiver's window against what the path needs.
pub static WINDOW: &[Column<Window>] = &[
    Column::new(
        "largest_bytes",
        Kind::Bytes,
        "The largest window advertised.",
        |w: &Window| w.largest_bytes.into(),
    ),
    Column::new(
        "needed_bytes",
        Kind::Bytes,
        "The line's rate times the shortest round trip.",
        |w: &Window| w.needed_bytes.into(),
    )
    .optional(),
    Column::new(
        "unscaled",
        Kind::Flag,
        "A SYN offered no window scale, so no window is above 65,535 bytes.",
        |w: &Window| w.unscaled.into(),
    ),
];

/// A stretch of time with one limit.
pub static STRETCH: &[Column<Stretch>] = &[
    Column::new("start_ns", Kind::Instant, "Its start.", |s: &Stretch| {
        s.start_ns.into()
    }),
    Column::new(
        "end_ns",
        Kind::Instant,
        "Start of the next one, or the end of the life.",
        |s: &Stretch| s.end_ns.into(),
    ),
    Column::new(
        "limit",
        Kind::Text,
        "What held the transfer longest in it.",
        |s: &Stretch| names(s.limits),
    ),
];
