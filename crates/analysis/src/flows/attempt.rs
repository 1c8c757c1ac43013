//! Attempts to open connections.

use inorder_report::{Files, columns};
use inorder_wire::Overlay;

use inorder_detect::{Attempt, Attempts, Outcome};

/// From the first SYN to the last, if that is remembered.
fn lasted_ns(attempt: &Attempt) -> Option<i64> {
    let ns = attempt.last_ns.saturating_sub(attempt.first_ns);
    Some(ns).filter(|&ns| ns > 0 || attempt.syns == 1)
}

columns! {
    /// An attempt to open a connection that carried no data.
    pub ATTEMPT: Attempt, |a|
    "attempt": Text, "`src:port->dst:port`: who sent the SYN, and to whom."
        => format!("{}->{}", a.src, a.dst), shown("connection attempt", 0);
    "overlay": Small, "As of flows." => Overlay::number(a.overlay);
    "network": Text, "As of flows." => super::flow_id::network(a.overlay), optional();
    "first_ns": Instant, "First SYN." => a.first_ns;
    "last_ns": Instant, "Last SYN; the first one where several were refused, of which no more is remembered." => a.last_ns;
    "syns": Count, "SYNs sent." => a.syns, shown("SYNs", 0);
    // Files have both times.
    "duration_ms": Duration, "From the first SYN to the last."
        => lasted_ns(a), optional(), only(Files::None), shown("over", 0);
    "packets": Count, "All packets of it." => a.packets;
    "hop_limit": Small, "Time to live or hop limit of its first SYN, as captured." => u64::from(a.hop_limit);
    "outcome": Choice(Outcome::NAMES), "Unanswered; refused (answered with a reset); unreachable (so ICMP says); unfinished: answered, and not taken further; cancelled: answered, and reset by its own sender; open: the capture ended too soon after its only SYN; traced: it was to find a router, as SYNs with hop limits from 1 on show."
        => a.outcome.name(), shown("outcome", 0);
}

columns! {
    /// All of a capture.
    pub ATTEMPTS: Attempts, |a|
    "failed": Count, "Attempts that failed: the five below." => a.failed();
    "unanswered": Count, "Nothing came back." => a.of(Outcome::Unanswered);
    "answered_by_reset": Count, "Refused: answered with a reset." => a.of(Outcome::Refused);
    "unreachable": Count, "ICMP says that the other host cannot be reached." => a.of(Outcome::Unreachable);
    "unfinished": Count, "The SYN was answered, and its sender went no further." => a.of(Outcome::Unfinished);
    "cancelled": Count, "The SYN was answered, and its sender reset that: a scan, or a client that had given up."
        => a.of(Outcome::Cancelled);
    "repeated_syns": Count, "SYNs sent again in attempts that failed." => a.syns_again;
    "open": Count, "Attempts whose only SYN was sent too shortly before the end of the capture to have failed."
        => a.of(Outcome::Open);
    "traced": Count, "SYNs that traced a route, which are no attempts." => a.of(Outcome::Traced);
    "forgotten": Count, "Attempts that were not followed to their end, since too many were open at once."
        => a.forgotten;
    "list": Rows(ATTEMPT), "The first of them by time, at most 1,000." => &a.list;
}
