//! Recoveries: what the sender did about holes.

use inorder_report::{Column, Kind};

use crate::names::Name;
use crate::{Recovery, RecoveryVerdict};

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
        "verdict",
        Kind::Choice(RecoveryVerdict::NAMES),
        "Loss: something was lost; spurious: caused by reordering alone.",
        |r| r.verdict.name().into(),
    ),
];
