//! What an analysis hands to whoever prints it: plain data, no behaviour that decides anything.

mod attempt;
mod blind;
mod cause;
mod early;
mod event;
mod flow;
mod icmp;
mod moments;
mod totals;
mod truth;

pub use attempt::{Attempt, Attempts, FastOpen, Handshake, Outcome};
pub use blind::{Blind, BlindFlows, NotSeen};
pub(crate) use cause::Facts;
pub use cause::{Cause, CauseCount};
pub use early::EndedEarly;
pub use event::{
    Bound, Bounds, Confidence, Event, Evidence, Half, Kind, Reason, Retransmission, Verdict,
};
pub use flow::{
    AckPath, Artefacts, Avoidance, Bursts, FlowId, FlowReport, Point, PointKind, RateClass,
    Recoveries, Recovery, Retransmissions, Vantage, VantageBasis, VantageChoice,
};
pub use icmp::{Icmp, Shrunk};
pub use inorder_cost::{Control, Cost, GoodputBin, Limit, Lost, RecoveryVerdict};
pub use inorder_metrics::{Distribution, Reordering};
pub use inorder_streams::{
    Inside, Numbering, Numbers, Pauses, Repeats, Replay, ReplayWindow, Reported, StreamDoubt,
    StreamReport, Subflows, Waits,
};
pub use inorder_whatif::WhatIf;
pub use moments::{AllMoments, Moments};
pub use totals::{StreamTotals, Totals};
pub use truth::FlowTruth;
