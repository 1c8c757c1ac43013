//! What a TCP capture says about reordering, loss and needless retransmission.
//!
//! Pure: segments in, [`FlowReport`]s out. Time is what the capture says.

mod arrival;
mod collect;
mod config;
mod connection;
mod copies;
mod order;
mod points;
mod recovery;
pub mod result;
mod sender;
mod side;
mod tracker;
mod unwrap;
mod vantage;

pub use config::Config;
pub use result::*;
pub use tracker::Tracker;
