//! The words of a query, each with its column.

use super::QueryError;
use crate::text::Mistake;

/// A word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    /// A keyword, or the name of a place or transition.
    Name(String),
    /// A name in double quotes, which is never a keyword.
    Quoted(String),
    Number(f64),
    Symbol(&'static str),
    End,
}

impl Word {
    /// The word as it appears in messages.
    pub(super) fn text(&self) -> String {
        match self {
            Word::Name(name) => name.clone(),
            Word::Quoted(name) => format!("\"{name}\""),
            Word::Number(number) => number.to_string(),
            Word::Symbol(symbol) => (*symbol).to_owned(),
            Word::End => "the end of the query".to_owned(),
        }
    }
}

/// Longer symbols come before those with which they begin.
const SYMBOLS: [&str; 23] = [
    "=>", "==", "!=", "<>", "<=", ">=", "&&", "||", "(", ")", "[", "]", "!", "&", "|", "=", "<",
    ">", "+", "-", "*", "#", ",",
];

/// The words of `text` with the columns at which they begin, counted in characters from 1. The last one is
/// [`Word::End`].
pub(super) fn words(text: &str) -> Result<Vec<(usize, Word)>, QueryError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let column = column_of(text, rest);
        let (word, after) = if first == '"' {
            quoted(&rest[1..]).ok_or_else(|| {
                let found = "the end of the query";
                wrong(column, Mistake::unexpected("a closing quote", found))
            })?
        } else if first.is_ascii_digit() || first == '.' {
            number(rest).map_err(|mistake| wrong(column, mistake))?
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Word::Symbol(symbol), &rest[symbol.len()..])
        } else if is_part_of_name(first) {
            let end = rest.find(|c| !is_part_of_name(c)).unwrap_or(rest.len());
            (Word::Name(rest[..end].to_owned()), &rest[end..])
        } else {
            let expected =
                "a name, a number or an operator (names with other characters in quotes)";
            return Err(wrong(column, Mistake::unexpected(expected, first)));
        };
        words.push((column, word));
        rest = after.trim_start();
    }
    words.push((text.chars().count() + 1, Word::End));
    Ok(words)
}

fn wrong(column: usize, mistake: Mistake) -> QueryError {
    QueryError { column, mistake }
}

/// The column of the first character of `rest`, the end of `text`.
fn column_of(text: &str, rest: &str) -> usize {
    text[..text.len() - rest.len()].chars().count() + 1
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '\'' | '/' | ':' | '@')
}

fn number(rest: &str) -> Result<(Word, &str), Mistake> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
    let (text, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
    match text.parse() {
        Ok(number) if f64::is_finite(number) => Ok((Word::Number(number), after)),
        _ => Err(Mistake::unexpected(
            "a number (a name that begins with a digit in quotes)",
            text,
        )),
    }
}

/// The word before the closing quote, and what follows; a backslash makes the next character part of the word.
fn quoted(rest: &str) -> Option<(Word, &str)> {
    let mut name = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some((Word::Quoted(name), chars.as_str())),
            '\\' => name.push(chars.next()?),
            c => name.push(c),
        }
    }
}
