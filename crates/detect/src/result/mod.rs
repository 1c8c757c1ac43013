//! What an analysis hands to whoever prints it: plain data, no behaviour that decides anything.

/// Adds the fields of another of the type, and keeps the greater one of those that are maxima.
macro_rules! sums {
    ($type:ident: $($field:ident),+ $(; max $($most:ident),+)?) => {
        impl $type {
            /// Adds what was summed elsewhere.
            pub(crate) fn merge(&mut self, other: &Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)+
                $($(self.$most = self.$most.max(other.$most);)+)?
            }
        }
    };
}

mod attempt;
mod blind;
mod cause;
mod closing;
mod early;
mod event;
mod flow;
mod icmp;
mod judged;
mod moments;
mod recoveries;
mod totals;

pub use attempt::{Attempt, Attempts, FastOpen, Handshake, Outcome};
pub use blind::{Blind, BlindFlows, NotSeen};
pub use cause::CauseCount;
pub(crate) use cause::Facts;
pub use closing::{Closing, Host, Silence};
pub use early::EndedEarly;
pub use event::{Bound, Bounds, Event, Evidence, Half, Kind, Reason, Retransmission, Verdict};
pub use flow::{
    AckPath, Artefacts, Bursts, Endpoints, FlowId, FlowReport, Originals, PathFindings, Point,
    PointKind, Records, Retransmissions,
};
pub use icmp::{Icmp, Shrunk, Swallowed};
pub use inorder_base::cause::Cause;
pub use inorder_base::confidence::Confidence;
pub use inorder_base::vantage::Vantage;
pub use inorder_cost::{Control, Cost, GoodputBin, Limit, Lost, RecoveryVerdict};
pub use inorder_metrics::by_rate::RateClass;
pub use inorder_metrics::{Distribution, Reordering};
pub use inorder_streams::{
    Inside, Numbering, Numbers, Pauses, Repeats, Replay, ReplayWindow, Reported, StreamDoubt,
    StreamReport, Subflows, Waits,
};
pub use inorder_vantage::{VantageBasis, VantageChoice};
pub use inorder_whatif::WhatIf;
pub use moments::{AllMoments, Moments};
pub use recoveries::{Avoidance, Recoveries, Recovery};
pub use totals::{Openings, OrderTotals, RecoveryTotals, StreamTotals, Totals};
