//! Errors in the file of a net, in any format.

use crate::net::{Line, Net, Problem};

/// An error in the file of a net, with its place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}{}: {element}{mistake}", at(*line))]
pub struct ReadError {
    /// The file.
    pub file: Box<str>,
    /// The line, from 1; 0 if the error has no line.
    pub line: Line,
    /// The element of XML, as `place p1: `; empty in other formats.
    pub element: Box<str>,
    /// What is wrong.
    pub mistake: Mistake,
}

impl ReadError {
    /// Before the name of the file is known.
    pub(crate) fn at(line: Line, mistake: Mistake) -> Self {
        Self::of_element(line, "", mistake)
    }

    /// A mistake in an element of XML.
    pub(crate) fn of_element(line: Line, element: impl Into<Box<str>>, mistake: Mistake) -> Self {
        Self {
            file: "".into(),
            line,
            element: element.into(),
            mistake,
        }
    }

    pub(crate) fn in_file(self, file: &str) -> Self {
        let file = file.into();
        Self { file, ..self }
    }

    /// What is wrong and where in its line, without the file and the line.
    pub fn problem(&self) -> String {
        format!("{}{}", self.element, self.mistake)
    }
}

/// The net if it is valid.
pub(crate) fn validated(net: Net) -> Result<Net, ReadError> {
    match net.validate() {
        Ok(()) => Ok(net),
        Err(error) => Err(ReadError::at(error.line, Mistake::Net(error.problem))),
    }
}

fn at(line: Line) -> String {
    match line {
        0 => String::new(),
        _ => format!(":{line}"),
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

/// Enough of a text to recognise it.
pub(crate) fn beginning(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

impl Mistake {
    pub(crate) fn unexpected(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Unexpected {
            expected: expected.into(),
            found: beginning(&found.into()),
        }
    }

    /// An unknown word; one of `valid` was expected.
    pub(crate) fn unknown<'a>(
        expected: impl Into<String>,
        found: &str,
        valid: impl Iterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown {
            expected: expected.into(),
            found: beginning(found),
            nearest: inorder_base::names::nearest(found, valid).map(str::to_owned),
        }
    }
}
