//! Output of inorder's analysis: text for people, JSON, CSV, Parquet and one HTML page.
//!
//! Every function takes [`Analysis`] values, each the result for one capture, and writes to anything that implements
//! [`std::io::Write`]:
//!
//! | function | output |
//! |---|---|
//! | [`headline()`] | at most three plain sentences |
//! | [`table::write`] | text for a terminal or a pipe |
//! | [`json::write`] | one JSON object, schema `inorder-analyze/1` |
//! | [`Rows::write_csv`] | CSV: one row for each flow, event, ... |
//! | `Rows::write_parquet` | the same in Parquet (feature `parquet`) |
//! | [`html::write`] | a page with charts that needs no network |
//!
//! ```
//! use inorder_analysis::{Analysis, table};
//!
//! let analysis = Analysis {
//!     file: "empty.pcap".to_owned(),
//!     format: "pcap".to_owned(),
//!     ..Analysis::default()
//! };
//! let mut text = Vec::new();
//! table::write(&mut text, &[analysis], &table::Style::default())?;
//! assert!(text.starts_with(b"empty.pcap  (pcap, 0 frames, 0 B, 0 ns)"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Nothing here infers what happened on the network: this crate only formats results.

#![forbid(unsafe_code)]

mod captures;
mod columns;
pub mod compare;
pub mod cure;
pub mod flows;
pub mod frames;
pub mod glossary;
mod gravity;
mod headline;
pub mod html;
pub mod json;
mod limits;
pub mod measures;
mod model;
mod peer;
mod rows;
mod shares;
pub mod table;
pub mod threshold;
mod what_if;
mod words;

pub use captures::Line;
pub use headline::{About, Claim, Counted, Headline, Held, Nothing, headline};
pub use inorder_detect::{StreamTotals, Totals};
pub use model::{Analysis, StreamReport};
pub use peer::{ExtentAgreement, PeerComparison, PeerCounts, PeerFlow, PeerFound, Score};
pub use rows::Rows;
