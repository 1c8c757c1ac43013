//! Errors in a net in the text format.

use crate::net::{Line, Problem};

/// An error in a file, with its line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}{}: {mistake}", at(*line))]
pub struct TextError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if the error has no line.
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

/// The kinds of errors.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Mistake {
    /// Unexpected text.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
    },
    /// An unknown word, with the nearest valid one.
    #[error("expected {expected}, found {found}{}", hint(nearest.as_deref()))]
    Unknown {
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
        /// The nearest valid word, if one is near.
        nearest: Option<String>,
    },
    /// The net was parsed, but is invalid.
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

    /// An unknown word; one of `valid` was expected.
    pub(crate) fn unknown<'a>(
        expected: impl Into<String>,
        found: &str,
        valid: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            expected: expected.into(),
            found: found.to_owned(),
            nearest: inorder_base::names::nearest(found, valid).map(str::to_owned),
        }
    }
}
