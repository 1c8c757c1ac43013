//! What an analysis hands to whoever prints it: plain data, no behaviour that decides anything.

mod event;
mod flow;
mod peer;
mod stream;
mod what_if;

pub use event::{Confidence, Event, Evidence, Half, Kind, Reason, Retransmission, Verdict};
pub use flow::{
    AckPath, Artefacts, Avoidance, Bursts, FlowId, FlowReport, Point, PointKind, RateClass,
    Recoveries, Recovery, RecoveryVerdict, Reordering, Retransmissions, Vantage, VantageBasis,
    VantageChoice,
};
pub use inorder_metrics::Distribution;
pub use peer::{
    ClockOffset, ExtentAgreement, FlowTruth, Matched, PeerCounts, PeerFlow, PeerReport, Score,
};
pub use stream::StreamReport;
pub use what_if::WhatIf;
