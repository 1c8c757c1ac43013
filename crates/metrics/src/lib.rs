//! Packet reordering metrics of RFC 4737 and RFC 5236, streaming.
//!
//! Every metric is a type of its own that takes packets one by one (`new`, `update`, `finish`) or run by run. There
//! is no allocation per packet, and memory is bounded; packets beyond the bounds are counted. [`Metrics`] computes
//! all metrics together; a packet in order costs about a nanosecond. All metrics that are single numbers are listed
//! in [`METRICS`], from which every output is made.
//!
//! | metric | source | type |
//! |---|---|---|
//! | reordered, ratio, sequence discontinuity | RFC 4737 sections 3 and 4.1 | [`Order`] |
//! | extent, late time, byte offset | RFC 4737 sections 4.2 to 4.4 | [`Order`], [`Reordering`] |
//! | gaps between reordering discontinuities | RFC 4737 section 4.5 | [`Gaps`] |
//! | reordering-free runs | RFC 4737 section 4.6 | [`Runs`] |
//! | bursts of reordered packets | counterpart of 4.6 | [`Bursts`] |
//! | n-reordering | RFC 4737 section 5 | [`NReordering`] |
//! | reorder density RD | RFC 5236 section 3.6 | [`ReorderDensity`] |
//! | reorder buffer-occupancy density RBD | RFC 5236 section 3.11 | [`BufferDensity`] |
//! | mean displacement, entropy, lateness, ... | derived from RD (RFC 5236 section 9) | [`Displacements`] |
//!
//! Times are integer nanoseconds. Sequence numbers count packets from any start up to [`MAX_SEQ`]; [`Unwrapper`]
//! converts the wrapping numbers of a protocol to these.
//!
//! ```
//! use inorder_metrics::{Config, Metrics};
//!
//! let mut metrics = Metrics::new(Config::default());
//! for (position, seq) in [1, 6, 7, 2, 3, 4, 5, 8].into_iter().enumerate() {
//!     metrics.update(seq, 1_000_000 * position as i64, 1500);
//! }
//! let summary = metrics.finish();
//! assert_eq!(summary.counts.reordered, 4);
//! assert_eq!(summary.order.displacements.mean_displacement(), 2.0);
//! assert!((summary.order.displacements.entropy() - 1.04).abs() < 0.001);
//! ```

#![forbid(unsafe_code)]

#[macro_use]
extern crate inorder_base;

mod bound;
mod buffer_density;
mod bursts;
pub mod by_bytes;
pub mod by_rate;
mod columns;
mod density_window;
mod displacement;
mod gaps;
mod holes;
mod missing;
mod n_reordering;
mod order;
mod receiver;
mod record;
mod reorder_density;
mod reordering;
mod runs;
mod series;
mod summary;

pub use bound::MAX_SEQ;
pub use buffer_density::{BufferDensity, Occupancy};
pub use bursts::Bursts;
pub use columns::{Unit, parse_seconds};
pub use displacement::Displacements;
pub use gaps::{Discontinuity, Gaps};
pub use inorder_base::sequence::Unwrapper;
pub use inorder_base::stats::Distribution;
pub use n_reordering::NReordering;
pub use order::{Arrival, DEFAULT_MAX_HOLES, Order, OrderCounts, Reordered};
pub use receiver::{Lanes, RECEIVED, Readings, Receivers};
pub use record::{Record, RecordError, RecordParser};
pub use reorder_density::ReorderDensity;
pub use reordering::{COUNTS, DEFAULT_N_MAX, DEFAULT_THRESHOLD, METRICS, Reordering, Tally};
pub use runs::Runs;
pub use series::{DoesNotFit, SERIES, Series, SeriesReport, write_text};
pub use summary::{Config, Metrics, Summary};
