//! Errors of an analysis.

use inorder_capture::CaptureError;

use crate::Analysis;

/// Why there is no analysis, or only one of the first part of the capture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The capture cannot be opened: it does not exist or is not a capture.
    #[error(transparent)]
    Open(CaptureError),
    /// The capture, or the one from the other end, is damaged or reading failed. The frames before that were analysed, with a
    /// warning, and not compared if the damage is in the other one: take the result with [`Error::into_parts`] unless an incomplete result is useless.
    #[error("{source}")]
    Partial {
        /// The analysis of what was read.
        analysis: Box<Analysis>,
        /// What ended the reading.
        source: CaptureError,
    },
    /// The capture from the other end cannot be opened, so nothing can be compared.
    #[error(transparent)]
    Peer(CaptureError),
}

impl Error {
    /// The analysis of what was read, if any, and the error.
    pub fn into_parts(self) -> (Option<Analysis>, CaptureError) {
        match self {
            Error::Partial { analysis, source } => (Some(*analysis), source),
            Error::Open(error) | Error::Peer(error) => (None, error),
        }
    }

    /// The analysis without a comparison, because the capture from the other end is damaged: what it lacks would count as lost.
    pub(crate) fn not_compared(
        done: Result<Analysis, Error>,
        damage: CaptureError,
    ) -> Result<Analysis, Error> {
        let (analysis, error) = match done {
            Ok(analysis) => (Some(analysis), None),
            Err(error) => {
                let (analysis, error) = error.into_parts();
                (analysis, Some(error))
            }
        };
        let Some(mut analysis) = analysis else {
            return Err(Error::Peer(damage));
        };
        analysis
            .warnings
            .push(format!("{damage}; so nothing is compared with it"));
        Err(Error::Partial {
            analysis: Box::new(analysis),
            source: error.unwrap_or(damage),
        })
    }

    /// Returns the analysis if all of the capture was read, otherwise an error that carries it with a warning.
    pub(crate) fn unless_whole(
        mut analysis: Analysis,
        error: Option<CaptureError>,
        stopped: bool,
    ) -> Result<Analysis, Error> {
        let read = analysis.frames;
        if let Some(error) = &error {
            let before = match read {
                0 => "nothing before it could be analysed".to_owned(),
                1 => "only the 1 frame before was analysed".to_owned(),
                n => format!("only the {n} frames before were analysed"),
            };
            analysis.warnings.push(format!("{error}; {before}"));
        }
        if stopped {
            let first = match read {
                0 => "nothing was analysed".to_owned(),
                1 => "only the first frame was analysed".to_owned(),
                n => format!("only the first {n} frames were analysed"),
            };
            analysis.warnings.push(format!("interrupted: {first}"));
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
