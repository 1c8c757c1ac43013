//! Errors of the libraries as Python exceptions: the only place where they are mapped. The message is the one line
//! that the command prints.

use std::fmt::Display;
use std::io;
use std::path::Path;

use inorder_capture::CaptureError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The classes of `inorder/errors.py`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    /// Options contradict each other, or have values that do not exist.
    Usage,
    /// A file cannot be opened or read.
    Unreadable,
    /// The file is no capture, or one whose frames cannot be read.
    NotACapture,
    /// The input is damaged; everything before the damage was used.
    Damaged,
    /// Input other than a capture is malformed.
    Malformed,
    /// The lab lacks something, or a step of it failed.
    Lab,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Usage => "UsageError",
            Class::Unreadable => "UnreadableError",
            Class::NotACapture => "NotACaptureError",
            Class::Damaged => "DamagedError",
            Class::Malformed => "MalformedError",
            Class::Lab => "LabError",
        }
    }
}

/// An exception with one line.
pub(crate) fn raise(class: Class, line: impl Display) -> PyErr {
    let line = line.to_string();
    Python::attach(|py| {
        let errors = py.import("inorder.errors");
        match errors.and_then(|module| module.getattr(class.name())) {
            Ok(class) => match class.cast_into::<PyType>() {
                Ok(class) => PyErr::from_type(class, line),
                Err(error) => error.into(),
            },
            Err(error) => error,
        }
    })
}

/// Wrong options.
pub(crate) fn usage(error: impl Display) -> PyErr {
    raise(Class::Usage, error)
}

/// Input other than a capture is malformed.
pub(crate) fn malformed(error: impl Display) -> PyErr {
    raise(Class::Malformed, error)
}

/// The lab lacks something, or a step of it failed.
pub(crate) fn lab(error: impl Display) -> PyErr {
    raise(Class::Lab, error)
}

/// The value with this name; `what` is what it is the name of.
pub(crate) fn one_of<T: Copy>(what: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        usage(format!(
            "{what}: expected one of {}, found {name}",
            names.join(", ")
        ))
    })
}

/// A file that cannot be opened, created, read or written; `action` says which.
pub(crate) fn file(path: &Path, action: &str, error: &io::Error) -> PyErr {
    let line = format!("{}: cannot {action}: {error}", path.display());
    raise(Class::Unreadable, line)
}

/// A capture that cannot be read, or not to its end.
pub(crate) fn capture(error: &CaptureError) -> PyErr {
    let class = match error {
        CaptureError::NotACapture { .. } | CaptureError::UnknownLinkType { .. } => {
            Class::NotACapture
        }
        CaptureError::Damaged { .. } | CaptureError::Decompress { .. } => Class::Damaged,
        CaptureError::Io { .. } => Class::Unreadable,
    };
    raise(class, error)
}

/// A column whose values are not of its kind: a fault of this package, not of the user.
pub(crate) fn fault(error: io::Error) -> PyErr {
    error.into()
}
