//! What can be wrong with a net in text.

use crate::net::{Line, Problem};

/// A mistake in a file and where it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}{}: {mistake}", at(*line))]
pub struct TextError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 when no line is at fault.
    pub line: Line,
    /// What is wrong.
    pub mistake: Mistake,
}

fn at(line: Line) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(":{line}")
    }
}

/// What is wrong in a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Mistake {
    /// Something else was to come.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What was to come.
        expected: String,
        /// What came.
        found: String,
    },
    /// A word that means nothing here; with the nearest that would.
    #[error("expected {expected}, found {found}{}", hint(nearest.as_deref()))]
    Unknown {
        /// What was to come.
        expected: String,
        /// What came.
        found: String,
        /// The nearest valid word, when one is near.
        nearest: Option<String>,
    },
    /// The net was read, and cannot mean anything.
    #[error(transparent)]
    Net(Problem),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

impl Mistake {
    pub(crate) fn unexpected(expected: impl Into<String>, found: impl Into<String>) -> Self {
        let (expected, found) = (expected.into(), found.into());
        Self::Unexpected { expected, found }
    }

    /// An unknown word where one of `valid` was to come.
    pub(crate) fn unknown<'a>(
        expected: impl Into<String>,
        found: &str,
        valid: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            expected: expected.into(),
            found: found.to_owned(),
            nearest: inorder_nearest::nearest(found, valid).map(str::to_owned),
        }
    }
}
