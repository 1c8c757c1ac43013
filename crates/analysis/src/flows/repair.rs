//! Recoveries: what the sender did about holes, and what it reacted to.

use inorder_report::columns;

use inorder_detect::{Cause, CauseCount, Recovery, RecoveryVerdict};

columns! {
    /// A recovery phase.
    pub RECOVERY: Recovery, |r|
    "start_ns": Instant, "Its first retransmission." => r.start_ns;
    "seq_offset": Count, "Bytes from the flow's first data byte." => r.seq_offset;
    "retransmissions": Small, "Segments sent again." => r.retransmissions;
    "timeout": Flag, "A retransmission time-out started it." => r.timeout;
    "expiries": Small, "How often the retransmission timer expired in it." => r.expiries;
    "verdict": Choice(RecoveryVerdict::NAMES), "Loss: something was lost; spurious: nothing was." => r.verdict.name();
    "cause": Choice(Cause::NAMES), "What the sender reacted to." => r.cause.name();
}

columns! {
    /// What goes back to one cause.
    pub CAUSE_COUNT: CauseCount, |c|
    "cause": Choice(Cause::NAMES), "What the sender reacted to." => c.cause.name();
    "recoveries": Count, "Recovery phases." => c.recoveries;
    "timeouts": Count, "Of these, started by a retransmission time-out." => c.timeouts;
    "expiries": Count, "How often the retransmission timer expired in them." => c.expiries;
    "retransmissions": Count, "Segments sent again in them." => c.retransmissions;
}
