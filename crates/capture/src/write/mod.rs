//! Writers for pcap and pcapng, and the annotated copy.

mod annotate;
mod pcap;
mod pcapng;

pub use annotate::annotate;
pub use pcap::PcapWriter;
pub use pcapng::{InterfaceId, PcapNgWriter};

use std::io;

/// An error for a value that the format cannot represent.
fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}
