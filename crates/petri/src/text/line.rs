//! The words of one line.

use std::rc::Rc;

use super::Mistake;
use crate::arithmetic::{self, Values, Wrong};

/// The words of a line, which are consumed one after the other.
#[derive(Debug)]
pub(super) struct Words {
    words: std::vec::IntoIter<Word>,
    /// The parameters that numbers may name.
    parameters: Rc<Values>,
}

/// A kind of number: written out, or an expression of parameters.
pub(super) trait Number: Sized {
    fn of(text: &str, parameters: &Values) -> Result<Self, Wrong>;
}

impl Number for u32 {
    fn of(text: &str, parameters: &Values) -> Result<Self, Wrong> {
        text.parse()
            .or_else(|_| arithmetic::whole(text, parameters))
    }
}

impl Number for f64 {
    fn of(text: &str, parameters: &Values) -> Result<Self, Wrong> {
        text.parse()
            .or_else(|_| arithmetic::value(text, parameters))
    }
}

/// A word, and whether it was quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    pub is_quoted: bool,
}

impl Word {
    /// True if it is this keyword; a quoted word never is.
    pub(super) fn is(&self, keyword: &str) -> bool {
        !self.is_quoted && self.text == keyword
    }
}

impl Words {
    /// Splits `line` into words, without the comment.
    pub(super) fn of(line: &str, parameters: &Rc<Values>) -> Result<Self, Mistake> {
        let mut words = Vec::new();
        let mut rest = line.trim_start();
        while !rest.is_empty() && !rest.starts_with('#') {
            let (word, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted_word(quoted)?,
                None => bare_word(rest),
            };
            words.push(word);
            rest = after.trim_start();
        }
        let words = words.into_iter();
        let parameters = Rc::clone(parameters);
        Ok(Self { words, parameters })
    }

    pub(super) fn next(&mut self) -> Option<Word> {
        self.words.next()
    }

    fn peek(&self) -> Option<&Word> {
        self.words.as_slice().first()
    }

    pub(super) fn next_is(&self, keyword: &str) -> bool {
        self.peek().is_some_and(|word| word.is(keyword))
    }

    /// Consumes the next word if it is `keyword`.
    pub(super) fn take(&mut self, keyword: &str) -> bool {
        let is_next = self.next_is(keyword);
        if is_next {
            self.next();
        }
        is_next
    }

    pub(super) fn is_empty(&self) -> bool {
        self.peek().is_none()
    }

    /// The next word, which is required.
    pub(super) fn expect(&mut self, expected: &str) -> Result<Word, Mistake> {
        self.next()
            .ok_or_else(|| Mistake::unexpected(expected, "the end of the line"))
    }

    /// The next word, which must be the keyword.
    pub(super) fn expect_keyword(&mut self, keyword: &str) -> Result<(), Mistake> {
        let word = self.expect(keyword)?;
        if word.is(keyword) {
            Ok(())
        } else {
            Err(Mistake::unexpected(keyword, word.text))
        }
    }

    /// The next word as a number.
    pub(super) fn number<T: Number>(&mut self, expected: &str) -> Result<T, Mistake> {
        let word = self.expect(expected)?;
        self.number_in(&word.text, expected)
    }

    /// The number that this text is.
    pub(super) fn number_in<T: Number>(&self, text: &str, expected: &str) -> Result<T, Mistake> {
        T::of(text, &self.parameters).map_err(|wrong| match self.parameters.is_empty() {
            true => Mistake::unexpected(expected, text),
            false => Mistake::unexpected(format!("{expected} ({})", wrong.expected), wrong.found),
        })
    }

    /// Whether a word begins with the name of a parameter.
    fn is_of_parameters(&self, word: &Word) -> bool {
        let end = word.text.find(|c| !arithmetic::is_part(c));
        let name = &word.text[..end.unwrap_or(word.text.len())];
        self.parameters.contains_key(name)
    }

    /// A number, or `default` if the line ends or a keyword follows.
    pub(super) fn number_or<T: Number>(
        &mut self,
        default: T,
        expected: &str,
    ) -> Result<T, Mistake> {
        let is_letter = |c: char| c.is_ascii_alphabetic();
        match self.peek() {
            Some(word) if !word.text.starts_with(is_letter) || self.is_of_parameters(word) => {
                self.number(expected)
            }
            _ => Ok(default),
        }
    }

    /// Fails unless the line ends here.
    pub(super) fn end(&mut self, expected: &str) -> Result<(), Mistake> {
        self.next()
            .map_or(Ok(()), |word| Err(Mistake::unexpected(expected, word.text)))
    }
}

fn bare_word(rest: &str) -> (Word, &str) {
    let ends = |c: char| c.is_whitespace() || c == '#' || c == '"';
    let (text, after) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
    let word = Word {
        text: text.to_owned(),
        is_quoted: false,
    };
    (word, after)
}

/// The word before the closing quote, and the rest of the line.
fn quoted_word(rest: &str) -> Result<(Word, &str), Mistake> {
    let mut text = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let is_quoted = true;
                return Ok((Word { text, is_quoted }, chars.as_str()));
            }
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    Err(Mistake::unexpected(
        "a closing quote",
        "the end of the line",
    ))
}
