//! Throughput, and what unnecessary reductions of the window cost.

use inorder_report::{Digits, columns};

use crate::{Control, Cost, GoodputBin, Limit, Lost};

columns! {
    /// What is said of the cost.
    pub COST: Cost, |c|
    "goodput_bps": Rate, "Payload that arrived over the time from the first data to the last report of an arrival."
        => c.goodput_bps, optional();
    "bottleneck_bps": Rate, "Rate of the bottleneck as payload, from packets that followed each other."
        => c.bottleneck_bps, optional();
    "limit": Choice(Limit::NAMES), "What keeps the flow from being faster; `misled`: unnecessary reductions of the congestion window."
        => c.limit.name();
    "control": Choice(Control::NAMES), "Congestion control, as far as the sender's behaviour tells."
        => c.control.name();
    "control_confidence": Number(Digits::Fixed(2)), "How sure that is, 0 to 1." => c.control_confidence;
    "unnecessary": Count, "Recoveries and time-outs that no loss had caused, without probes of the tail."
        => c.unnecessary;
    "restored": Count, "Of these, those after which the window was what it had been." => c.restored;
    "lost": Maybe(LOST), "Goodput lost by them." => c.lost.as_ref();
    "without_bps": Rate, "Goodput that the flow would have reached without them." => c.without_bps(), optional();
    "timeout_ms": Duration, "Time without any arrival before unnecessary time-outs." => c.timeout_ns;
    "recovery_ms": Duration, "Time spent in unnecessary recoveries." => c.recovery_ns;
    "window_closed_ms": Duration, "Time during which the receiver's window was closed: it had no room, and the sender had to wait."
        => c.closed_ns;
    "wasted_bytes": Bytes, "Payload sent again without need." => c.wasted_bytes;
    "goodput": Rows(GOODPUT), "Goodput over time, in intervals of one width." => &c.goodput;
}

columns! {
    /// A share of the goodput, with its interval.
    pub LOST: Lost, |l|
    "share": Share, "Of what the flow would have reached, the share that it missed." => l.share;
    "low": Share, "No less than this." => l.low;
    "high": Share, "No more than this." => l.high;
}

columns! {
    /// Goodput in one interval.
    pub GOODPUT: GoodputBin, |b|
    "start_ns": Instant, "Start of the interval." => b.start_ns;
    "goodput_bps": Rate, "Payload that arrived for the first time." => b.goodput_bps;
    "again_bps": Rate, "Payload sent again." => b.again_bps;
}
