//! Streaming reader and writer for packet captures: pcap, pcapng and snoop, plain or compressed (gzip, zstd, xz, bzip2, lz4).
//!
//! ```
//! use inorder_capture::{Block, Capture, PcapWriter};
//! use inorder_wire::{Frame, LinkType};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, 96)?;
//! let frame = Frame {
//!     ts_ns: 1_700_000_000_123_456_789,
//!     number: 1,
//!     link: LinkType::ETHERNET,
//!     orig_len: 1514,
//!     data: &[0; 96],
//! };
//! writer.write(&frame)?;
//! let bytes = writer.into_inner();
//!
//! let mut capture = Capture::from_reader("example", Box::new(std::io::Cursor::new(bytes)))?;
//! let mut block = Block::default();
//! while capture.read_block(&mut block)? {
//!     for read in block.frames() {
//!         assert_eq!((read.ts_ns, read.orig_len), (frame.ts_ns, 1514));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Parsing the bytes of a frame is the task of `inorder-wire`.

// Files that need it say so at their head.
#![deny(unsafe_code)]

mod block;
mod check;
mod error;
mod info;
mod pcap;
mod pcapng;
mod reader;
mod snoop;
mod source;
mod time;
mod write;

pub use block::Block;
#[doc(hidden)]
pub use block::soon;
#[doc(hidden)]
pub use check::fuzz_one;
pub use error::{AnnotateError, CaptureError};
pub use info::{Compression, FileInfo, Format, Interface};
pub use reader::Capture;
pub use source::decompress;
pub use time::TIMES_NS;
pub use write::{InterfaceId, PcapNgWriter, PcapWriter, annotate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
