//! The published experiments on packet reordering, run again.
//!
//! A paper is a list of tables and figures; each runs scenarios and gives
//! [`Findings`]: claims that held or failed, and printed numbers beside ours.
//!
//! ```
//! use inorder_experiments::{Claim, Estimate};
//!
//! let ours = Estimate { mean: 2.1, half_width: 0.2 };
//! let claim = Claim::within("table-4/gain", "SRPIC doubles throughput", 2.0, ours, 0.1);
//! assert!(claim.held);
//! ```

mod claim;
pub mod papers;
pub mod printed;

mod estimate;

pub use claim::{Claim, Comparison, Findings};
pub use estimate::Estimate;
pub use papers::{Context, ExperimentError, Item, PAPERS, Paper, find};
