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

    /// Warns of all that was not read; an error comes with the analysis of what was.
    pub(crate) fn unless_whole(
        mut analysis: Analysis,
        error: Option<CaptureError>,
        stopped: bool,
    ) -> Result<Analysis, Error> {
        let read = analysis.frames;
        if let Some(error) = &error {
            analysis.warnings.push(format!(
                "{error}; only the {read} frames before were analysed"
            ));
        }
        if stopped {
            analysis.warnings.push(format!(
                "interrupted: only the first {read} frames were analysed"
            ));
        }
        match error {
            None => Ok(analysis),
            Some(source) => Err(Error::Partial {
                analysis: Box::new(analysis),
                source,
            }),
        }
    }
}
