//! Errors, one variant for each case that a caller may want to handle differently.

use inorder_wire::LinkType;
use std::io;

/// Why a capture, or the rest of it, cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The first bytes do not belong to a known capture format.
    #[error(
        "{name}: not a capture: expected pcap, pcapng or snoop, plain or compressed (gzip, zstd, xz, bzip2, lz4); found {found}"
    )]
    NotACapture {
        /// The file.
        name: String,
        /// A description of the first bytes.
        found: String,
    },
    /// A pcap file with frames of a link type that cannot be parsed.
    #[error(
        "{name}: frames of {link} cannot be read; \
         expected one that is read, such as Ethernet, Linux cooked, raw IP, PPP or IEEE 802.11"
    )]
    UnknownLinkType {
        /// The file.
        name: String,
        /// Its link type.
        link: LinkType,
    },
    /// A record violates the format; the frames before it were delivered.
    #[error("{name}: damaged at frame {frame}, byte {offset}: {what}")]
    Damaged {
        /// The file.
        name: String,
        /// 1-based number that the damaged frame would have had.
        frame: u64,
        /// Offset of its record, bytes of the uncompressed file.
        offset: u64,
        /// What is wrong and what was expected.
        what: String,
    },
    /// The system could not open or read the file.
    #[error("{name}: cannot read{}: {source}", place(*offset))]
    Io {
        /// The file.
        name: String,
        /// Bytes read before the error.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The compressed stream is damaged or ends early; the frames before that were delivered.
    #[error("{name}: the {compression} data are broken after byte {offset}: {source}")]
    Decompress {
        /// The file.
        name: String,
        /// How the file is compressed.
        compression: crate::Compression,
        /// Uncompressed bytes read before the error.
        offset: u64,
        /// The decompressor's error.
        source: io::Error,
    },
}

/// Why an annotated copy is incomplete.
#[derive(Debug, thiserror::Error)]
pub enum AnnotateError {
    /// The capture could not be read to its end; what came before is in the copy.
    #[error(transparent)]
    Read(#[from] CaptureError),
    /// The copy could not be written.
    #[error("cannot write the annotated capture: {0}")]
    Write(#[from] io::Error),
}

/// Where reading failed; nothing for a file that cannot even be opened.
fn place(offset: u64) -> String {
    match offset {
        0 => String::new(),
        n => format!(" at byte {n}"),
    }
}
