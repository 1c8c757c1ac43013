//! The lowest level of the parser: characters with their position.

use super::ParseError;

/// Walks over the text and counts lines.
#[derive(Debug, Clone)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn error(&self, expected: &str) -> ParseError {
        let found: String = self
            .rest()
            .chars()
            .take_while(|&c| c != '\n')
            .take(24)
            .collect();
        ParseError {
            line: self.line(),
            expected: expected.to_owned(),
            found: if found.is_empty() {
                "end of line".to_owned()
            } else {
                format!("`{found}`")
            },
        }
    }

    /// Skips spaces and line ends.
    pub(super) fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips spaces, line ends and comments (`//`, `#`, `/* */`).
    pub(super) fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            self.skip_space();
            if self.rest().starts_with("//") || self.rest().starts_with('#') {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if self.rest().starts_with("/*") {
                let end = self
                    .rest()
                    .find("*/")
                    .ok_or_else(|| self.error("`*/` at the end of the comment"))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Consumes `token` if it is next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Skips spaces and consumes `token`, or fails.
    pub(super) fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        self.skip_space();
        if self.take(token) {
            Ok(())
        } else {
            Err(self.error(&format!("`{token}`")))
        }
    }

    /// The longest run of characters for which `wanted` is true; may be empty.
    pub(super) fn run(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// Everything up to `end`, which is also consumed.
    pub(super) fn until(&mut self, end: &str) -> Result<&'a str, ParseError> {
        let rest = self.rest();
        let length = rest
            .find(end)
            .ok_or_else(|| self.error(&format!("`{end}` further on")))?;
        self.at += length + end.len();
        Ok(&rest[..length])
    }

    /// The rest of the line, without its end.
    pub(super) fn rest_of_line(&mut self) -> &'a str {
        self.run(|c| c != '\n')
    }

    /// A word of letters, digits and underscores.
    pub(super) fn word(&mut self) -> &'a str {
        self.skip_space();
        self.run(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// An unsigned decimal number with 32 bits.
    pub(super) fn number(&mut self) -> Result<u32, ParseError> {
        self.skip_space();
        let before = self.clone();
        self.run(|c| c.is_ascii_digit())
            .parse()
            .map_err(|_| before.error("a number"))
    }
}
