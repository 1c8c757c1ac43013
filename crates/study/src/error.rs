//! Why a study cannot begin or go on. A capture that cannot be read is no error: it is a row of the table `errors`.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for contradicts itself or what is in the folder.
    #[error("{0}")]
    Usage(String),
    /// A file of the study, or a folder of captures, cannot be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What failed: `read`, `write`, `create`.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The work was asked to stop; the task left nothing behind.
    #[error("interrupted")]
    Stopped,
}

impl Error {
    /// Adds the name of the file to an I/O error.
    pub(crate) fn file(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::File {
            path,
            action,
            source,
        }
    }

    /// Something was asked for that does not exist or cannot be.
    pub(crate) fn usage(problem: impl std::fmt::Display) -> Error {
        Error::Usage(problem.to_string())
    }
}
