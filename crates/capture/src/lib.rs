//! Streaming reader and writer for packet captures: pcap and pcapng, plain, gzip or zstd.

mod block;
mod error;
mod info;
mod pcap;
mod pcapng;
mod reader;
mod source;
mod time;

pub use block::Block;
pub use error::{AnnotateError, CaptureError};
pub use info::{Compression, FileInfo, Format, Interface};
pub use reader::Capture;
