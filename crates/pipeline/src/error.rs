//! Why there is no analysis, or none of all that was given.

use inorder_capture::CaptureError;

use crate::Analysis;

/// Why an analysis could not be made, or ends before the capture does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The capture cannot be opened: no such file, or no capture.
    #[error(transparent)]
    Open(CaptureError),
    /// The capture is damaged or could not be read on. What came before is analysed, with a
    /// warning in it: take it with [`Error::into_parts`] unless all or nothing is wanted.
    #[error("{source}")]
    Partial {
        /// The analysis of what was read.
        analysis: Box<Analysis>,
        /// What ended the reading.
        source: CaptureError,
    },
    /// The capture from the other end cannot be read to its end, so nothing can be compared.
    #[error(transparent)]
    Peer(CaptureError),
}

impl Error {
    /// What could be analysed, and what went wrong.
    pub fn into_parts(self) -> (Option<Analysis>, CaptureError) {
        match self {
            Error::Partial { analysis, source } => (Some(*analysis), source),
            Error::Open(error) | Error::Peer(error) => (None, error),
        }
    }
}
