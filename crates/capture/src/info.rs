//! What the headers of a capture file contain.

use inorder_wire::LinkType;
use std::fmt;

/// The container format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Format {
    /// Classic pcap with timestamps in microseconds.
    PcapMicro,
    /// Classic pcap with timestamps in nanoseconds.
    PcapNano,
    /// pcapng.
    PcapNg,
    /// snoop (RFC 1761), with timestamps in microseconds.
    Snoop,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::PcapMicro => "pcap (microseconds)",
            Format::PcapNano => "pcap (nanoseconds)",
            Format::PcapNg => "pcapng",
            Format::Snoop => "snoop",
        })
    }
}

/// The compression around the format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Compression {
    /// None.
    Plain,
    /// gzip, one member or several.
    Gzip,
    /// Zstandard, one frame or several.
    Zstd,
    /// xz, one stream or several.
    Xz,
    /// bzip2, one stream or several.
    Bzip2,
    /// LZ4, one frame or several.
    Lz4,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bzip2",
            Compression::Lz4 => "lz4",
        })
    }
}

/// An interface on which frames were captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Link type: the protocol with which its frames begin.
    pub link: LinkType,
    /// Maximum number of bytes captured of each frame; 0 for no limit.
    pub snaplen: u32,
    /// Its name (pcapng `if_name`).
    pub name: Option<String>,
    /// Its description (pcapng `if_description`).
    pub description: Option<String>,
}

/// What is known of a capture file up to the current position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileInfo {
    /// The name given on opening.
    pub name: String,
    /// Container format.
    pub format: Format,
    /// Compression around it.
    pub compression: Compression,
    /// Snap length of the file header, or the largest one of the interfaces, bytes; 0 for no limit.
    pub snaplen: u32,
    /// One interface for pcap and snoop; for pcapng the interfaces found so far, over all sections.
    pub interfaces: Vec<Interface>,
}
