//! Errors as the user sees them: one line that says what is wrong, where, and what was expected; and exit codes.

use std::io;
use std::path::{Path, PathBuf};

use inorder_capture::CaptureError;

/// The result of a verb.
pub(crate) type Outcome = Result<ExitCode, CliError>;

/// An exit code as a number, which that of the standard library does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ExitCode(pub u8);

impl ExitCode {
    /// Done.
    pub(crate) const SUCCESS: ExitCode = ExitCode(0);
    /// Failed.
    pub(crate) const FAILURE: ExitCode = ExitCode(1);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        ExitCode(code)
    }
}

/// Exit code for wrong usage.
pub(crate) const USAGE: u8 = 2;
/// Exit code if a threshold was exceeded.
pub(crate) const EXCEEDED: u8 = 4;
/// Exit code for damaged input.
pub(crate) const DAMAGED: u8 = 3;
/// Exit code after Ctrl-C: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Options contradict each other or the input.
    #[error("{0}")]
    Usage(String),
    /// The capture cannot be read, or not to its end.
    #[error("{source}{}", hint(source))]
    Capture {
        /// What the reader says.
        #[from]
        source: CaptureError,
    },
    /// A name has no address, or none that can be looked up now.
    #[error("{0}")]
    Address(String),
    /// Something on a live interface failed.
    #[error(transparent)]
    Live(#[from] inorder_live::os::LiveError),
    /// The lab lacks something, or a step of it failed.
    #[error("{0}")]
    Lab(String),
    /// The Python package is needed and missing.
    #[error("{0}")]
    Python(String),
    /// Input other than a capture is malformed.
    #[error("{place}: {problem}")]
    Malformed {
        /// File and line.
        place: String,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// The standard output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// A named file cannot be read or written.
    #[error("{}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The action that failed: `read`, `write`, `create`.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The failure of a verb that was called the wrong way: what is wrong and what was expected, as the arguments of `format!`.
macro_rules! usage {
    ($($message:tt)+) => {
        Err($crate::error::CliError::Usage(format!($($message)+)))
    };
}

pub(crate) use usage;

impl CliError {
    /// A library refuses what the options say.
    #[allow(clippy::needless_pass_by_value, reason = "an argument of map_err")]
    pub(crate) fn usage(error: impl std::fmt::Display) -> CliError {
        CliError::Usage(error.to_string())
    }

    /// Adds the name of the file to an I/O error.
    pub(crate) fn file(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> CliError {
        let path = path.to_owned();
        move |source| CliError::File {
            path,
            action,
            source,
        }
    }

    /// True if the reader of our output closed it (a closed pipe).
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let (CliError::Output(source) | CliError::File { source, .. }) = self else {
            return false;
        };
        source.kind() == io::ErrorKind::BrokenPipe
    }

    /// The exit code for the error.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            CliError::Usage(_) => USAGE,
            error if error.is_interruption() => INTERRUPTED,
            error if error.is_damage() => DAMAGED,
            _ => 1,
        })
    }

    /// True if Ctrl-C ended the waiting for a capture of which nothing had come.
    fn is_interruption(&self) -> bool {
        let CliError::Capture {
            source: CaptureError::Io { source, .. },
        } = self
        else {
            return false;
        };
        source.kind() == io::ErrorKind::Interrupted
    }

    /// True if the input is damaged; everything before the damage was used.
    pub(crate) fn is_damage(&self) -> bool {
        let damaged = |error: &CaptureError| {
            matches!(
                error,
                CaptureError::Damaged { .. } | CaptureError::Decompress { .. }
            )
        };
        match self {
            CliError::Capture { source } => damaged(source),
            CliError::Malformed { .. } => true,
            _ => false,
        }
    }
}

/// What to do about the commonest mistakes: a folder instead of its captures, and the name of an output behind a blank, which makes it
/// an input.
fn hint(error: &CaptureError) -> String {
    let (name, is_folder) = match error {
        CaptureError::NotACapture { name, .. } => (name, false),
        CaptureError::Io { name, source, .. } => match source.kind() {
            io::ErrorKind::IsADirectory => (name, true),
            io::ErrorKind::NotFound => (name, false),
            _ => return String::new(),
        },
        _ => return String::new(),
    };
    if is_folder {
        let name = name.trim_end_matches('/');
        return format!(
            "; expected captures, as {name}/*.pcap, or `inorder corpus {name} --out study`"
        );
    }
    let end = Path::new(name).extension().and_then(|end| end.to_str());
    match end {
        Some(end @ ("json" | "csv")) => {
            format!("; to write that file, join it with an equals sign: --{end}={name}")
        }
        _ => String::new(),
    }
}
