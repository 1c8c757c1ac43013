//! Errors in the text of a net, with their place.

use std::fmt::Display;

/// A place in the text of a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    /// Index of the file among those that were read.
    pub(crate) file: u16,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
}

/// What is wrong with a net, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}: {problem}", at(*line, *column))]
pub struct NetError {
    /// The file.
    pub file: String,
    /// Line, from 1; 0 if the error has no place.
    pub line: u32,
    /// Column in characters, from 1; 0 if the error has no place.
    pub column: u32,
    /// What is wrong and what was expected.
    pub problem: String,
}

fn at(line: u32, column: u32) -> String {
    match line {
        0 => String::new(),
        _ => format!(":{line}:{column}"),
    }
}

/// An error at a place; the names of files are added at the surface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: Span,
    pub(crate) problem: String,
}

pub(crate) type Checked<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(at: Span, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { at, problem }
    }

    pub(crate) fn expected(at: Span, expected: impl Display, found: impl Display) -> Self {
        Self::new(at, format!("expected {expected}, found {found}"))
    }

    /// An unknown name; the nearest of the `known` ones is suggested.
    pub(crate) fn unknown<'a>(
        at: Span,
        expected: &str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let hint = inorder_base::names::nearest(found, known);
        let hint = hint.map_or_else(String::new, |name| format!("; did you mean {name}?"));
        Self::new(at, format!("expected {expected}, found {found}{hint}"))
    }

    /// The error as users see it.
    pub(crate) fn in_files(self, files: &[String]) -> NetError {
        let file = files.get(usize::from(self.at.file));
        NetError {
            file: file.cloned().unwrap_or_default(),
            line: self.at.line,
            column: self.at.column,
            problem: self.problem,
        }
    }
}
