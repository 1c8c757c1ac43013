//! What can go wrong, one variant for each thing a caller may want to do about it.

use inorder_wire::LinkType;
use std::io;

/// Why a capture, or the rest of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The first bytes are of no capture format known here.
    #[error("{name}: not a capture: expected pcap or pcapng, plain, gzip or zstd; found {found}")]
    NotACapture {
        /// The file.
        name: String,
        /// What it begins with.
        found: String,
    },
    /// A pcap file of frames nobody here can parse.
    #[error(
        "{name}: frames of {link} cannot be read; \
         expected Ethernet, Linux cooked, raw IP, BSD loopback or PPP"
    )]
    UnknownLinkType {
        /// The file.
        name: String,
        /// Its link type.
        link: LinkType,
    },
    /// A record contradicts the format; the frames before it were delivered.
    #[error("{name}: damaged at frame {frame}, byte {offset}: {what}")]
    Damaged {
        /// The file.
        name: String,
        /// 1-based number the damaged frame would have had.
        frame: u64,
        /// Where its record begins, bytes of the uncompressed file.
        offset: u64,
        /// What is wrong and what was expected.
        what: String,
    },
    /// The system could not open or read the file.
    #[error("{name}: cannot read at byte {offset}: {source}")]
    Io {
        /// The file.
        name: String,
        /// Bytes read before.
        offset: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The compressed stream is broken or ends early; the frames before were delivered.
    #[error("{name}: the {compression} data are broken after byte {offset}: {source}")]
    Decompress {
        /// The file.
        name: String,
        /// How the file is compressed.
        compression: crate::Compression,
        /// Uncompressed bytes got before.
        offset: u64,
        /// What the decompressor says.
        source: io::Error,
    },
}

/// Why an annotated copy is not complete.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// The capture could not be read to its end; what came before is in the copy.
    #[error(transparent)]
    Read(#[from] CaptureError),
    /// The copy could not be written.
    #[error("cannot write the annotated capture: {0}")]
    Write(#[from] io::Error),
}
