//! Attempts to open connections.

use inorder_report::{Column, Kind, List};

use crate::{Attempt, Attempts, Outcome};
use inorder_report::Name;

type One = Column<Attempt>;

/// An attempt to open a connection that carried no data.
pub static ATTEMPT: &[Column<Attempt>] = &[
    One::new(
        "attempt",
        Kind::Text,
        "`src:port->dst:port`: who sent the SYN, and to whom.",
        |a| format!("{}->{}", a.src, a.dst).into(),
    )
    .shown("connection attempt", 0),
    One::new("overlay", Kind::Small, "As of flows.", |a| a.overlay.into()),
    One::new("first_ns", Kind::Instant, "First SYN.", |a| {
        a.first_ns.into()
    }),
    One::new("last_ns", Kind::Instant, "Last SYN.", |a| a.last_ns.into()),
    One::new("syns", Kind::Count, "SYNs sent.", |a| a.syns.into()).shown("SYNs", 0),
    // Files have both times.
    One::new(
        "duration_ms",
        Kind::Duration,
        "From the first SYN to the last.",
        |a| a.last_ns.saturating_sub(a.first_ns).into(),
    )
    .only(inorder_report::Files::None)
    .shown("over", 0),
    One::new("packets", Kind::Count, "All packets of it.", |a| {
        a.packets.into()
    }),
    One::new(
        "outcome",
        Kind::Choice(Outcome::NAMES),
        "Unanswered; refused (answered with a reset); unreachable (so ICMP says); unfinished: answered, and not taken \
         further; open: the capture ended too soon after its only SYN.",
        |a| a.outcome.name().into(),
    )
    .shown("outcome", 0),
];

type Sum = Column<Attempts>;

/// All of a capture.
pub static ATTEMPTS: &[Column<Attempts>] = &[
    Sum::new(
        "failed",
        Kind::Count,
        "Attempts that failed: the four below.",
        |a| a.failed().into(),
    ),
    Sum::new("unanswered", Kind::Count, "Nothing came back.", |a| {
        a.of(Outcome::Unanswered).into()
    }),
    Sum::new(
        "answered_by_reset",
        Kind::Count,
        "Refused: answered with a reset.",
        |a| a.of(Outcome::Refused).into(),
    ),
    Sum::new(
        "unreachable",
        Kind::Count,
        "ICMP says that the other host cannot be reached.",
        |a| a.of(Outcome::Unreachable).into(),
    ),
    Sum::new(
        "unfinished",
        Kind::Count,
        "The SYN was answered, and its sender went no further.",
        |a| a.of(Outcome::Unfinished).into(),
    ),
    Sum::new(
        "repeated_syns",
        Kind::Count,
        "SYNs sent again in attempts that failed.",
        |a| a.syns_again.into(),
    ),
    Sum::new(
        "open",
        Kind::Count,
        "Attempts whose only SYN was sent too shortly before the end of the capture to have failed.",
        |a| a.of(Outcome::Open).into(),
    ),
    Sum::new(
        "forgotten",
        Kind::Count,
        "Attempts that were not followed to their end, since too many were open at once.",
        |a| a.forgotten.into(),
    ),
    Sum::nested(
        "list",
        "The first of them by time, at most 1,000.",
        &List {
            columns: ATTEMPT,
            of: |a: &Attempts| &a.list,
        },
    ),
];
