//! Streaming reader and writer for packet captures: pcap and pcapng, plain, gzip or zstd.

mod block;
mod check;
mod error;
mod info;
mod pcap;
mod pcapng;
mod reader;
mod source;
mod time;
mod write;

pub use block::Block;
#[doc(hidden)]
pub use check::fuzz_one;
pub use error::{AnnotateError, CaptureError};
pub use info::{Compression, FileInfo, Format, Interface};
pub use reader::Capture;
pub use write::{InterfaceId, PcapNgWriter, PcapWriter, annotate};
