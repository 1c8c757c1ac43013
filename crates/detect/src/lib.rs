//! What a TCP capture says about reordering, loss and spurious retransmission.
//!
//! Pure: segments in, [`FlowReport`]s out. Time is what the capture says.
//!
//! ```
//! use inorder_detect::{Config, Tracker};
//! use inorder_wire::{Endpoint, FlowKey, Segment};
//!
//! let (client, server) = (Endpoint::v4(0x0a00_0001, 40_000), Endpoint::v4(0x0a00_0002, 443));
//! let (key, dir) = FlowKey::new(client, server, 0);
//! let mut tracker = Tracker::new(Config::default());
//! // Bytes 0-99, then 200-299, then the late 100-199, then 300-399, a millisecond apart.
//! for (ts_ns, seq) in [(0, 0), (1_000_000, 200), (2_000_000, 100), (3_000_000, 300)] {
//!     tracker.push(&key, dir, &Segment { ts_ns, seq, payload_len: 100, ..Segment::default() });
//! }
//! for flow in tracker.finish() {
//!     let order = &flow.reordering;
//!     println!("{}: {} late, {} perhaps", flow.flow, order.reordered, order.ambiguous);
//! #   assert_eq!(order.reordered + order.ambiguous, 1);
//! }
//! ```
//!
//! Segments come from `inorder-wire`, which parses frames; `inorder-pipeline` does all of it, from a
//! file to the reports.

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;
#[cfg(test)]
#[macro_use]
extern crate inorder_wire;

mod acceptance;
mod arrival;
mod attempts;
mod budget;
mod cause;
mod choice;
mod collect;
mod complaints;
mod config;
mod connection;
mod copies;
mod embryo;
mod engine_end;
mod explanation;
mod families;
mod flow_table;
#[doc(hidden)]
pub mod fuzz;
mod gravity;
mod habits;
mod hosts;
mod kept;
mod numbering;
mod places;
mod points;
mod prompt;
mod recovery;
mod remembered;
pub mod result;
mod sender;
mod side;
mod stamps;
mod tracker;

pub use acceptance::Acceptance;
pub use choice::FlowChoice;
pub use collect::{Basis, Collected, Collector, Place};
pub use config::Config;
pub use explanation::{Explanation, Explanations};
pub use flow_table::FlowTable;
pub use gravity::{Gravity, Trouble};
pub use habits::{
    AfterTimeout, Assumed, Duplicates, Echo, Habits, Identification, OneAssumption, Repeats, TooOld,
};
pub use numbering::IdCounter;
pub use result::*;
pub use tracker::Tracker;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
