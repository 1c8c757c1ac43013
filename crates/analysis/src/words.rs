//! Words for people where files have names.

use inorder_detect::{Cause, CauseCount};
use inorder_report::number::count;

/// Why a sender recovered.
pub(crate) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::QueueLoss => "loss at a full queue",
        Cause::RandomLoss => "loss while no queue was full",
        Cause::Loss => "loss",
        Cause::TooLarge => "packets too large for the path",
        Cause::Unreachable => "an unreachable host",
        Cause::TimeExceeded => "a loop of routers",
        Cause::Refused => "packets that the receiver discarded",
        Cause::Reordering => "late packets",
        Cause::AckReordering => "acknowledgements out of order",
        Cause::TailProbe => "tail loss probes",
        Cause::DelayJump => "a jump of the delay or lost acknowledgements",
        Cause::InAdvance => "duplicates sent in advance",
        Cause::Unanswered => "silence of the receiver or the path",
        _ => "an unknown cause",
    }
}

/// `2 by late packets, 1 by loss`.
pub(crate) fn causes(counts: &[CauseCount]) -> String {
    let said: Vec<String> = counts
        .iter()
        .map(|c| format!("{} by {}", count(c.recoveries), cause(c.cause)))
        .collect();
    said.join(", ")
}
