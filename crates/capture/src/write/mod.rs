//! Writers, and the copy with comments.

mod annotate;
mod pcap;
mod pcapng;

pub use annotate::annotate;
pub use pcap::PcapWriter;
pub use pcapng::{InterfaceId, PcapNgWriter};

use std::io;

/// A value the format cannot hold.
fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
