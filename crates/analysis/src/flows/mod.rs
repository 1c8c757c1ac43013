//! What every output says of flows, events and the rest: one list of columns for each.
//!
//! A new fact is its field in the type and its line here; text, JSON and its schema, CSV,
//! Parquet and the page follow ([`inorder_report`]).
//!
//! ```
//! use inorder_analysis::flows;
//! use inorder_report::csv;
//!
//! let mut out = Vec::new();
//! csv::write(&mut out, flows::EVENT, [] as [inorder_detect::Event; 0])?;
//! assert!(out.starts_with(b"kind,confidence,evidence,"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod attempt;
mod early;
mod event;
mod flow;
mod flow_id;
mod reordering;
mod repair;
mod totals;

pub use attempt::{ATTEMPT, ATTEMPTS};
pub use early::ENDED_EARLY;
pub use event::{EVENT, EventRow, RETRANSMISSION, events};
pub use flow::FLOW;
pub use flow_id::{FLOW_ID, FLOW_PLACE, name};
pub use inorder_cost::columns::{COST, GOODPUT, LOST};
pub use inorder_limits::columns::{LIMITS, SHARE, STRETCH, UNNECESSARY, WINDOW};
pub use inorder_streams::columns::{REPLAY_WINDOW, STREAM, STREAM_NAME, stream_name};
pub use inorder_whatif::WHAT_IF;
pub use reordering::{RATE_CLASS, REORDERING};
pub use repair::{CAUSE_COUNT, RECOVERY};
pub use totals::TOTALS;

use inorder_metrics::Distribution;
use inorder_report::Value;

/// A distribution as pairs of value and count.
fn buckets(distribution: &Distribution) -> Value<'static> {
    distribution.buckets().collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_columns_is_sound() {
        let none: [String; 0] = [];
        assert_eq!(inorder_report::problems(FLOW), none);
        assert_eq!(inorder_report::problems(ATTEMPT), none);
        assert_eq!(inorder_report::problems(ATTEMPTS), none);
        assert_eq!(inorder_report::problems(&events()), none);
        assert_eq!(inorder_report::problems(RETRANSMISSION), none);
        assert_eq!(inorder_report::problems(RECOVERY), none);
        assert_eq!(inorder_report::problems(CAUSE_COUNT), none);
        assert_eq!(inorder_report::problems(COST), none);
        assert_eq!(inorder_report::problems(LIMITS), none);
        assert_eq!(inorder_report::problems(REORDERING), none);
        assert_eq!(inorder_report::problems(RATE_CLASS), none);
        assert_eq!(inorder_report::problems(WHAT_IF), none);
        assert_eq!(inorder_report::problems(STREAM), none);
        assert_eq!(inorder_report::problems(REPLAY_WINDOW), none);
        assert_eq!(inorder_report::problems(TOTALS), none);
    }
}
