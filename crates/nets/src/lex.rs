//! Words, numbers and symbols of a text, with their places.

use crate::error::{Checked, Fault, Span};

/// The smallest part of a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lexeme {
    Word(String),
    Quoted(String),
    Int(i64),
    Real(f64),
    Symbol(&'static str),
    /// The end of a line that is not continued.
    Newline,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) lexeme: Lexeme,
    pub(crate) at: Span,
}

/// Longer symbols come before those that begin them.
const SYMBOLS: [&str; 24] = [
    "..", "+=", "-=", "==", "!=", "<=", ">=", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=",
    "<", ">", "+", "-", "*", "/", "%",
];

/// A line that ends in one of these goes on in the next one.
const CONTINUED_SYMBOLS: [&str; 13] = [
    ",", "=", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "+=",
];
const CONTINUED_WORDS: [&str; 7] = ["then", "and", "or", "not", "div", "mod", "with"];

impl Lexeme {
    /// The text in messages.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Word(word) => word.clone(),
            Self::Quoted(text) => format!("\"{text}\""),
            Self::Int(n) => n.to_string(),
            Self::Real(x) => x.to_string(),
            Self::Symbol(symbol) => (*symbol).to_owned(),
            Self::Newline => "the end of the line".to_owned(),
            Self::End => "the end of the text".to_owned(),
        }
    }

    fn is_continued(&self) -> bool {
        match self {
            Self::Symbol(symbol) => CONTINUED_SYMBOLS.contains(symbol),
            Self::Word(word) => CONTINUED_WORDS.contains(&word.as_str()),
            _ => false,
        }
    }
}

/// Splits a text; the last token is the end.
pub(crate) fn split(text: &str, file: u16) -> Checked<Vec<Token>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut tokens = Vec::new();
    let mut depth = 0usize;
    let mut last = Span {
        file,
        line: 1,
        column: 1,
    };
    for (number, line) in text.lines().enumerate() {
        let number = u32::try_from(number + 1).unwrap_or(u32::MAX);
        let mut line = Line {
            rest: line,
            at: Span {
                file,
                line: number,
                column: 1,
            },
        };
        while let Some(token) = line.next()? {
            match &token.lexeme {
                Lexeme::Symbol("(" | "[" | "{") => depth += 1,
                Lexeme::Symbol(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            tokens.push(token);
        }
        last = line.at;
        let goes_on = tokens
            .last()
            .is_none_or(|t: &Token| t.lexeme.is_continued() || t.lexeme == Lexeme::Newline);
        if depth == 0 && !goes_on {
            tokens.push(Token {
                lexeme: Lexeme::Newline,
                at: line.at,
            });
        }
    }
    tokens.push(Token {
        lexeme: Lexeme::End,
        at: last,
    });
    Ok(tokens)
}

/// The rest of a line.
struct Line<'a> {
    rest: &'a str,
    at: Span,
}

impl<'a> Line<'a> {
    fn next(&mut self) -> Checked<Option<Token>> {
        let blank = self.rest.len() - self.rest.trim_start().len();
        self.skip(blank);
        let at = self.at;
        let Some(first) = self.rest.chars().next().filter(|&c| c != '#') else {
            return Ok(None);
        };
        let lexeme = if first.is_alphabetic() || first == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            Lexeme::Word(self.take_while(is_part).to_owned())
        } else if first.is_ascii_digit() {
            self.number()?
        } else if first == '"' {
            self.quoted()?
        } else {
            self.symbol(first)?
        };
        Ok(Some(Token { lexeme, at }))
    }

    /// Leaves out this number of bytes.
    fn skip(&mut self, bytes: usize) -> &'a str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.at.column = self
            .at
            .column
            .saturating_add(u32::try_from(skipped.chars().count()).unwrap_or(u32::MAX));
        self.rest = rest;
        skipped
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        self.skip(end)
    }

    fn number(&mut self) -> Checked<Lexeme> {
        let at = self.at;
        let bytes = self.rest.as_bytes();
        let is_digit = |i: usize| {
            bytes
                .get(i)
                .is_some_and(|b| b.is_ascii_digit() || *b == b'_')
        };
        let mut end = 0;
        while is_digit(end) {
            end += 1;
        }
        let mut is_real = false;
        if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
            is_real = true;
            end += 1;
            while is_digit(end) {
                end += 1;
            }
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                is_real = true;
                end += 1 + sign;
                while is_digit(end) {
                    end += 1;
                }
            }
        }
        let text = self.skip(end).replace('_', "");
        let number = match is_real {
            true => text
                .parse()
                .ok()
                .filter(|x: &f64| x.is_finite())
                .map(Lexeme::Real),
            false => text.parse().ok().map(Lexeme::Int),
        };
        number.ok_or_else(|| Fault::expected(at, "a number that can be represented", text))
    }

    fn quoted(&mut self) -> Checked<Lexeme> {
        let at = self.at;
        self.skip(1);
        let Some(end) = self.rest.find('"') else {
            return Err(Fault::expected(
                at,
                "a closing quote",
                "the end of the line",
            ));
        };
        let text = self.skip(end).to_owned();
        self.skip(1);
        Ok(Lexeme::Quoted(text))
    }

    fn symbol(&mut self, first: char) -> Checked<Lexeme> {
        match SYMBOLS
            .iter()
            .find(|symbol| self.rest.starts_with(**symbol))
        {
            Some(symbol) => {
                self.skip(symbol.len());
                Ok(Lexeme::Symbol(symbol))
            }
            None => Err(Fault::expected(
                self.at,
                "a word, a number or a symbol",
                first,
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_units_and_continued_lines() {
        let tokens = split("a 0..4 2.5e3 us # note\n\nb = (1,\n 2)\n", 0).unwrap();
        let words: Vec<String> = tokens.iter().map(|t| t.lexeme.words()).collect();
        let end = "the end of the line";
        assert_eq!(
            words,
            [
                "a",
                "0",
                "..",
                "4",
                "2500",
                "us",
                end,
                "b",
                "=",
                "(",
                "1",
                ",",
                "2",
                ")",
                end,
                "the end of the text"
            ]
        );
        assert_eq!((tokens[12].at.line, tokens[12].at.column), (4, 2));
    }

    #[test]
    fn errors_have_a_column() {
        for (text, column) in [("a \"b", 3), ("a ? b", 3), ("x = 99999999999999999999", 5)] {
            assert_eq!(split(text, 0).unwrap_err().at.column, column, "{text}");
        }
    }
}
