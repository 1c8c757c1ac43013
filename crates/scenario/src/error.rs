//! Errors in a scenario: what is wrong, where, and what was expected.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The position at which a value was written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Offset in the file, bytes.
    File(usize),
    /// In an override, as given by the user.
    Override(Arc<str>),
    /// No position: a default.
    Default,
}

/// An error before the name and the lines of the file are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The position.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What was expected; may be empty.
    pub expected: String,
    /// The valid name nearest to the given one.
    pub nearest: Option<String>,
}

impl Problem {
    /// An error with what was expected.
    pub fn new(place: &Place, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Problem {
            place: place.clone(),
            what: what.into(),
            expected: expected.into(),
            nearest: None,
        }
    }

    /// What the TOML reader says, in one line.
    pub(crate) fn of_toml(error: &toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        let said = error.message().trim().replace('\n', ", ");
        Problem::new(&Place::File(offset), said, "")
    }

    /// The same error with the one of `names` that is nearest to `given`, if any is near.
    #[must_use]
    pub fn nearest<'n>(mut self, given: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.nearest = inorder_base::names::nearest(given, names).map(str::to_owned);
        self
    }
}

/// One clear line: `file:line:col: what, expected ..., nearest valid name "..."`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Error {
    /// Name of the file.
    pub file: String,
    /// Line and column, both from 1, column in characters; `None` if the error is not in the file.
    pub position: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: Box<Problem>,
}

impl Error {
    /// What the TOML reader says of the `text` of `file`, in one line.
    pub fn of_toml(file: &str, text: &str, error: &toml::de::Error) -> Self {
        Error::new(file, text, Problem::of_toml(error))
    }

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

/// Names and values stand in the line as they were given, but for what would begin another one.
struct OneLine<'a>(&'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c.is_control() {
                true => write!(f, "{}", c.escape_default())?,
                false => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.problem;
        match (&problem.place, self.position) {
            (Place::Override(text), _) => write!(f, "{}: ", OneLine(text))?,
            (_, Some((line, column))) => write!(f, "{}:{line}:{column}: ", OneLine(&self.file))?,
            _ => write!(f, "{}: ", OneLine(&self.file))?,
        }
        write!(f, "{}", OneLine(&problem.what))?;
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
    fn an_override_of_several_lines_is_told_in_one() {
        let place = Place::Override("a\nb = 1".into());
        let error = Error::new("x.toml", "", Problem::new(&place, "no\tkey", ""));
        assert_eq!(error.to_string(), "a\\nb = 1: no\\tkey");
    }

    #[test]
    fn columns_count_characters() {
        let text = "a = 1\nµß = \"x\"\n";
        assert_eq!(position(text, 0), (1, 1));
        assert_eq!(position(text, text.find('=').unwrap()), (1, 3));
        assert_eq!(position(text, text.rfind('=').unwrap()), (2, 4));
        assert_eq!(position(text, 10_000), (3, 1));
    }
}
