//! Recoveries: what the sender did about holes, and what it reacted to.

use inorder_report::{Column, Kind};

use crate::{Cause, CauseCount, Recovery, RecoveryVerdict};
use inorder_report::Name;

type Of = Column<Recovery>;

/// A recovery phase.
pub static RECOVERY: &[Column<Recovery>] = &[
    Of::new(
        "start_ns",
        Kind::Instant,
        "Its first retransmission.",
        |r| r.start_ns.into(),
    ),
    Of::new(
        "seq_offset",
        Kind::Count,
        "Bytes from the flow's first data byte.",
        |r| r.seq_offset.into(),
    ),
    Of::new(
        "retransmissions",
        Kind::Small,
        "Segments sent again.",
        |r| r.retransmissions.into(),
    ),
    Of::new(
        "timeout",
        Kind::Flag,
        "A retransmission time-out started it.",
        |r| r.timeout.into(),
    ),
    Of::new(
        "expiries",
        Kind::Small,
        "How often the retransmission timer expired in it.",
        |r| r.expiries.into(),
    ),
    Of::new(
        "verdict",
        Kind::Choice(RecoveryVerdict::NAMES),
        "Loss: something was lost; spurious: nothing was.",
        |r| r.verdict.name().into(),
    ),
    Of::new(
        "cause",
        Kind::Choice(Cause::NAMES),
        "What the sender reacted to.",
        |r| r.cause.name().into(),
    ),
];

type Count = Column<CauseCount>;

/// What goes back to one cause.
pub static CAUSE_COUNT: &[Column<CauseCount>] = &[
    Count::new(
        "cause",
        Kind::Choice(Cause::NAMES),
        "What the sender reacted to.",
        |c| c.cause.name().into(),
    ),
    Count::new("recoveries", Kind::Count, "Recovery phases.", |c| {
        c.recoveries.into()
    }),
    Count::new(
        "timeouts",
        Kind::Count,
        "Of these, started by a retransmission time-out.",
        |c| c.timeouts.into(),
    ),
    Count::new(
        "expiries",
        Kind::Count,
        "How often the retransmission timer expired in them.",
        |c| c.expiries.into(),
    ),
    Count::new(
        "retransmissions",
        Kind::Count,
        "Segments sent again in them.",
        |c| c.retransmissions.into(),
    ),
];
