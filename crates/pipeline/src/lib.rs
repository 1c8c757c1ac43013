//! From a capture to what it says of each connection.
//!
//! ```
//! use inorder_pipeline::Analyzer;
//!
//! # let path = "../../testdata/captures/tso-gro-late20.rcv.pcap.gz";
//! let analysis = Analyzer::new().threads(2).run(path)?;
//!
//! println!("{} ({}): {} frames", analysis.file, analysis.format, analysis.frames);
//! for flow in &analysis.flows {
//!     println!(
//!         "{}: {} of {} packets late, {} lost, {} spurious retransmissions",
//!         flow.flow,
//!         flow.reordering.reordered,
//!         flow.reordering.received,
//!         flow.originals.lost,
//!         flow.retransmissions.spurious,
//!     );
//! }
//! # assert!(analysis.flows.iter().any(|flow| flow.reordering.reordered > 0));
//! # Ok::<(), inorder_pipeline::Error>(())
//! ```
//!
//! Bytes come out of files, the standard input, or any reader ([`Input`]); they are cut into blocks, parsed into segments, handed to the trackers of
//! `inorder-detect` and collected in one [`Analysis`]. It is the same, bit for bit, for any number
//! of threads and any way for the bytes to come.
//!
//! A damaged capture is analysed up to the damage: [`Error::Partial`] carries both. Whoever wants
//! something else of the packets than reports of flows writes a [`Sink`] and calls [`consume`].
//!
//! The feature `zstd`, on by default, reads captures in Zstandard; it needs a C compiler for the target.

#![forbid(unsafe_code)]

mod analysis;
mod analyzer;
mod detector;
mod engine;
mod error;
pub mod memory;
mod peer;
mod selection;
mod source;
mod tunnels;
mod watch;

pub use analysis::Analysis;
pub use analyzer::Analyzer;
pub use engine::{Consumed, Frames, Sink, Tally, consume};
pub use error::Error;
pub use inorder_capture::CaptureError;
pub use inorder_detect::Config;
pub use inorder_filter::{Filter, FilterError};
pub use inorder_streams::QuicCounts;
pub use peer::{PeerComparison, PeerFlow, PeerFound};
pub use selection::{Moment, Selection};
pub use source::{Below, Input, Pipe, is_pipe, open};
pub use watch::{Unwatched, Watch};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
