//! Computes what the TCP stack would have received behind a network card that sorts its batches.
//!
//! Frames of a capture are gathered into batches as a card with interrupt coalescing would, sorted flow by flow
//! ([`inorder_sort`]), and written in the order and at the time the stack would have got them. No frame is dropped; only
//! order and times change. SRPIC's card is that of Wu, Demar and Crawford (2009), section 3.1.
//!
//! ```
//! use inorder_capture::Capture;
//! use inorder_replay::{Format, Settings, replay};
//!
//! let mut capture = Capture::open("../../testdata/captures/gro-jitter-a.rcv.pcap.gz".as_ref())?;
//! let mut sorted = Vec::new();
//! let done = replay(&mut capture, &mut sorted, Format::Pcap, &Settings::default(), &|| false)?;
//! assert!(done.damage.is_none());
//! assert!(done.summary.after.reordered <= done.summary.before.reordered);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod classify;
mod columns;
mod output;
mod receiver;
mod settings;
mod tally;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

use inorder_capture::{Block, Capture, CaptureError};

#[cfg(feature = "arrow")]
pub use columns::batches;
pub use columns::{SUMMARY, write_text};
pub use output::Format;
pub use settings::Settings;
pub use tally::Summary;

use output::Output;
use receiver::Receiver;

/// What came of a replay.
#[derive(Debug)]
pub struct Done {
    /// The order before and after.
    pub summary: Summary,
    /// What ended the reading early; the frames before it were sorted and written.
    pub damage: Option<CaptureError>,
}

/// Why nothing was replayed, or not everything was written.
#[derive(Debug)]
pub enum Error {
    /// The settings of the sorter contradict each other.
    Settings(inorder_sort::ConfigError),
    /// The output cannot be written.
    Write(io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Settings(error) => error.fmt(f),
            Error::Write(error) => write!(f, "cannot write the sorted capture: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Write(error)
    }
}

/// Reads `capture`, sorts it and writes it to `out`, which should be buffered. `stop` is asked after each block; the
/// frames read until then are sorted and written.
///
/// # Errors
/// If the settings are wrong, or `out` cannot be written.
pub fn replay(
    capture: &mut Capture,
    out: impl Write,
    format: Format,
    settings: &Settings,
    stop: &dyn Fn() -> bool,
) -> Result<Done, Error> {
    let mut receiver = Receiver::new(settings).map_err(Error::Settings)?;
    let mut output = Output::new(out, format, capture.info().snaplen);
    let mut block = Block::default();
    let mut damage = None;
    let mut more = true;
    while more && !stop() {
        // After an error, the block contains the frames before it.
        more = capture.read_block(&mut block).unwrap_or_else(|error| {
            damage = Some(error);
            false
        });
        for frame in block.frames() {
            receiver.arrive(&frame, &mut output)?;
        }
    }
    receiver.finish(&mut output)?;
    output.finish()?;
    Ok(Done {
        summary: receiver.summary(),
        damage,
    })
}
