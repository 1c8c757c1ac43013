//! What limited a transfer over its life.

use inorder_base::cause::Cause;
use inorder_base::confidence::Confidence;
use inorder_report::{Value, columns};

use crate::{LimitSet, Limits, Share, Stretch, Window};

columns! {
    /// What is said of it.
    pub LIMITS: Limits, |l|
    "life_ms": Duration, "From the first packet of the connection to its last; the shares are of this time."
        => l.life_ns();
    "shares": Rows(SHARE), "How long each limit held the transfer, the longest first; together they are its life."
        => &l.shares;
    "at_end_ms": Duration, "Of the application's share, the time behind the last new data: all had been sent."
        => l.at_end_ns;
    "awaited_ms": Duration, "Of the application's share before, the time that ended after data of the other end had come: it waited for that."
        => l.awaited_ns;
    "held_short": Count, "Ends of answers that waited until all before them was acknowledged, because they were less than a full segment (Nagle's algorithm)."
        => l.held_short.times;
    "held_short_ms": Duration, "How long they waited altogether." => l.held_short.ns;
    "unnecessary": Rows(UNNECESSARY), "Time taken by reductions, recoveries and timers that no loss had caused, by their cause, the most first."
        => &l.unnecessary;
    "queueing_ms": Duration, "Delay that stands in the queue while the transfer sends: the usual round trip above the shortest."
        => l.queueing_ns, optional();
    "line_bps": Rate, "Rate of the line as payload, where the transfer shows it." => l.line_bps, optional();
    "window": Maybe(WINDOW), "The receiver's window against what the path needs." => l.window.as_ref();
    "send_buffer_bytes": Bytes, "Most bytes in flight while the sender's buffer seems to be the limit."
        => l.send_buffer_bytes, optional();
    "policed_bps": Rate, "Rate of payload that a policer lets pass, at least: whenever it was reached, packets were lost, and no queue delayed those next to them."
        => l.policed_bps, optional();
    "stretches": Rows(STRETCH), "The life in order and without gaps." => &l.stretches;
}

/// Names in outputs, of one limit or of several joined by `+`.
fn names(limits: LimitSet) -> Value<'static> {
    limits.to_string().into()
}

columns! {
    /// How long one limit held a transfer.
    pub SHARE: Share, |s|
    "limit": Text, "The limit; several joined by + where the capture cannot tell which of them it was."
        => names(s.limits);
    "ms": Duration, "Time altogether." => s.ns;
    "confidence": Choice(Confidence::NAMES), "How sure it is." => s.confidence.name();
}

columns! {
    /// Time that one cause took without need.
    pub UNNECESSARY: (Cause, i64), |u|
    "cause": Choice(Cause::NAMES), "What the sender reacted to." => u.0.name();
    "ms": Duration, "Time altogether." => u.1;
}

columns! {
    /// A receiver's window against what the path needs.
    pub WINDOW: Window, |w|
    "largest_bytes": Bytes, "The largest window advertised." => w.largest_bytes;
    "needed_bytes": Bytes, "The line's rate times the shortest round trip." => w.needed_bytes, optional();
    "unscaled": Flag, "A SYN offered no window scale, so no window is above 65,535 bytes." => w.unscaled;
}

columns! {
    /// A stretch of time with one limit.
    pub STRETCH: Stretch, |s|
    "start_ns": Instant, "Its start." => s.start_ns;
    "end_ns": Instant, "Start of the next one, or the end of the life." => s.end_ns;
    "limit": Text, "What held the transfer longest in it." => names(s.limits);
}
