//! One token after the other: what comes next, and what must.

use super::Parser;
use crate::ast::{Expr, Name};
use crate::error::{Checked, Fault, Span};
use crate::lex::Lexeme;

/// Expressions and blocks may be nested this deep.
const MAX_DEPTH: u32 = 60;

/// Operators of an expression, so that no tree is deeper.
const MAX_OPERATORS: u32 = 250;

impl Parser {
    /// An expression behind a keyword that may be missing.
    pub(super) fn optional(&mut self, keyword: &str) -> Checked<Option<Expr>> {
        match self.take_word(keyword) {
            true => self.expr().map(Some),
            false => Ok(None),
        }
    }

    /// Two expressions, one behind each keyword, which may both be missing.
    pub(super) fn optional_pair(
        &mut self,
        first: &str,
        second: &str,
    ) -> Checked<Option<(Expr, Expr)>> {
        let Some(one) = self.optional(first)? else {
            return Ok(None);
        };
        self.keyword(second)?;
        Ok(Some((one, self.expr()?)))
    }

    /// An expression in brackets, which may be missing.
    pub(super) fn index(&mut self) -> Checked<Option<Expr>> {
        if !self.take("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.symbol("]")?;
        Ok(Some(index))
    }

    pub(super) fn deeper(&mut self) -> Checked<()> {
        self.depth += 1;
        let problem = || format!("nested more than {MAX_DEPTH} deep");
        self.unless(self.depth > MAX_DEPTH, problem)
    }

    pub(super) fn one_more_operator(&mut self) -> Checked<()> {
        self.operators += 1;
        self.unless(self.operators > MAX_OPERATORS, || {
            format!("an expression with more than {MAX_OPERATORS} operators: divide it by functions or constants")
        })
    }

    fn unless(&self, is_wrong: bool, problem: impl Fn() -> String) -> Checked<()> {
        match is_wrong {
            true => Err(Fault::new(self.at(), problem())),
            false => Ok(()),
        }
    }

    pub(super) fn peek(&self) -> &Lexeme {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &Lexeme {
        let token = self.tokens.get(self.next + ahead);
        token.map_or(&Lexeme::End, |token| &token.lexeme)
    }

    pub(super) fn at(&self) -> Span {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(Span::default(), |token| token.at)
    }

    pub(super) fn advance(&mut self) {
        self.next += 1;
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Lexeme::Word(found) if found == word)
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.is_word(word);
        self.next += usize::from(is_it);
        is_it
    }

    pub(super) fn take(&mut self, symbol: &'static str) -> bool {
        let is_it = *self.peek() == Lexeme::Symbol(symbol);
        self.next += usize::from(is_it);
        is_it
    }

    pub(super) fn keyword(&mut self, word: &str) -> Checked<()> {
        match self.take_word(word) {
            true => Ok(()),
            false => Err(Fault::expected(self.at(), word, self.peek().words())),
        }
    }

    pub(super) fn symbol(&mut self, symbol: &'static str) -> Checked<()> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(Fault::expected(self.at(), symbol, self.peek().words())),
        }
    }

    pub(super) fn quoted(&mut self, expected: &str) -> Checked<String> {
        let Lexeme::Quoted(text) = self.peek().clone() else {
            return Err(Fault::expected(self.at(), expected, self.peek().words()));
        };
        self.advance();
        Ok(text)
    }

    /// A word, or any text in quotes.
    pub(super) fn name(&mut self, expected: &str) -> Checked<Name> {
        let at = self.at();
        let text = match self.peek() {
            Lexeme::Word(word) => word.clone(),
            Lexeme::Quoted(text) if !text.is_empty() => text.clone(),
            other => return Err(Fault::expected(at, expected, other.words())),
        };
        self.advance();
        Ok(Name { text, at })
    }

    pub(super) fn end_of_line(&mut self) -> Checked<()> {
        match self.peek() {
            Lexeme::Newline => {
                self.advance();
                Ok(())
            }
            Lexeme::End => Ok(()),
            other => Err(Fault::expected(
                self.at(),
                "the end of the line",
                other.words(),
            )),
        }
    }
}
