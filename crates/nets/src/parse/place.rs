//! Places with their order, keys, capacity and initial tokens.

use super::Parser;
use crate::ast::{Kind, Order, PlaceDecl, TokenLine, Tokens};
use crate::error::Checked;
use crate::lex::Lexeme;

impl Parser {
    pub(super) fn alias(&mut self) -> Checked<Kind> {
        let name = self.name("a further name of a place")?;
        self.symbol("=")?;
        let place = self.name("the name of a place")?;
        Ok(Kind::Alias { name, place })
    }

    pub(super) fn sink(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a sink")?;
        self.symbol(":")?;
        let record = self.name("the name of a record")?;
        Ok(Kind::Place(PlaceDecl {
            name,
            capacity: None,
            tokens: Tokens::Sink { record },
        }))
    }

    pub(super) fn place(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a place")?;
        let keys = self.index()?;
        if keys.is_some() || !self.take(":") {
            let count = match self.peek() {
                Lexeme::Newline | Lexeme::End => None,
                _ if self.is_word("capacity") => None,
                _ => Some(self.expr()?),
            };
            let capacity = self.optional("capacity")?;
            self.end_of_line()?;
            let tokens = Tokens::Plain { keys, count };
            return Ok(Kind::Place(PlaceDecl {
                name,
                capacity,
                tokens,
            }));
        }
        let record = self.name("the name of a record")?;
        let order = if self.take_word("random") {
            Order::Random
        } else if self.take_word("least") {
            Order::Least(self.expr()?)
        } else {
            self.take_word("fifo");
            Order::Fifo
        };
        let by = self.optional_pair("by", "below")?;
        let capacity = self.optional("capacity")?;
        self.end_of_line()?;
        let mut initial = Vec::new();
        while self.take_word("token") {
            initial.push(self.token_line()?);
        }
        Ok(Kind::Place(PlaceDecl {
            name,
            capacity,
            tokens: Tokens::Typed {
                record,
                order,
                by,
                initial,
            },
        }))
    }

    pub(super) fn token_line(&mut self) -> Checked<TokenLine> {
        let value = self.expr()?;
        let mut each = Vec::new();
        if self.take_word("for") {
            loop {
                let name = self.name("a variable")?;
                self.keyword("in")?;
                let low = self.expr()?;
                self.symbol("..")?;
                let high = self.expr()?;
                each.push((name, low, high));
                if !self.take(",") {
                    break;
                }
            }
        }
        let only_if = self.optional("if")?;
        self.end_of_line()?;
        Ok(TokenLine {
            value,
            each,
            only_if,
        })
    }
}
