//! What a TCP capture says about reordering, loss and needless retransmission.
//!
//! Pure: segments in, [`FlowReport`]s out. Time is what the capture says.

mod arrival;
mod collect;
pub mod columns;
mod config;
mod connection;
mod copies;
#[doc(hidden)]
pub mod fuzz;
pub mod names;
mod order;
pub mod peer;
mod points;
mod rate;
mod recovery;
pub mod result;
mod sender;
mod side;
mod streams;
mod tracker;
mod unwrap;
mod vantage;
mod what_if;

pub use config::Config;
pub use peer::{PeerRecorder, compare};
pub use result::*;
pub use streams::Streams;
pub use tracker::Tracker;
pub use what_if::{DataArrival, sorting_facts, what_if, what_if_named};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
