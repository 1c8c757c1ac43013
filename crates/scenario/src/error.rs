//! What is wrong with a scenario, where, and what would be right.

use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// In the file, so many bytes from its start.
    File(usize),
    /// In an override, as it was given.
    Override(Arc<str>),
    /// Nowhere: a default.
    Default,
}

/// What is wrong, before the file's name and its lines are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What would be right; may be empty.
    pub expected: String,
    /// The valid name most like the one that was given.
    pub nearest: Option<String>,
}

impl Problem {
    /// A problem with what was expected instead.
    pub fn new(place: &Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Problem {
            place: place.clone(),
            what: what.into(),
            expected: expected.into(),
            nearest: None,
        }
    }

    /// The same, naming the one of `names` that is most like `given`, if any is.
    #[must_use]
    pub fn nearest<'n>(mut self, given: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.nearest = inorder_nearest::nearest(given, names).map(str::to_owned);
        self
    }
}

/// One clear line: `file:line:col: what, expected ..., nearest valid name "..."`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Error {
    /// Name of the file.
    pub file: String,
    /// Line and column, both from 1, the column in characters; `None` for what no file says.
    pub position: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: Box<Problem>,
}

impl Error {
    pub(crate) fn new(file: &str, text: &str, problem: Problem) -> Self {
        let position = match problem.place {
            Place::File(offset) => Some(position(text, offset)),
            _ => None,
        };
        Error {
            file: file.to_owned(),
            position,
            problem: Box::new(problem),
        }
    }
}

/// Line and column of a byte.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(start..).unwrap_or("").chars().count() + 1;
    (line, column)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.problem;
        match (&problem.place, self.position) {
            (Place::Override(text), _) => write!(f, "{text}: ")?,
            (_, Some((line, column))) => write!(f, "{}:{line}:{column}: ", self.file)?,
            _ => write!(f, "{}: ", self.file)?,
        }
        f.write_str(&problem.what)?;
        if !problem.expected.is_empty() {
            write!(f, ", expected {}", problem.expected)?;
        }
        if let Some(nearest) = &problem.nearest {
            write!(f, ", nearest valid name \"{nearest}\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let text = "a = 1\nµß = \"x\"\n";
        assert_eq!(position(text, 0), (1, 1));
        assert_eq!(position(text, text.find('=').unwrap()), (1, 3));
        assert_eq!(position(text, text.rfind('=').unwrap()), (2, 4));
        assert_eq!(position(text, 10_000), (3, 1));
    }
}
