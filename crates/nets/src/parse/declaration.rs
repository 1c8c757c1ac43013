//! Parameters, constants, types, variables, functions and actions.

use super::Parser;
use crate::ast::{Assign, Do, FieldDecl, Kind, Parameter};
use crate::error::{Checked, Fault};
use crate::lex::Lexeme;

impl Parser {
    pub(super) fn clock(&mut self) -> Checked<Kind> {
        let unit = self.name("the unit of time, such as ns or cycle")?;
        let at = self.optional("at")?;
        Ok(Kind::Clock { unit, at })
    }

    pub(super) fn parameter(&mut self) -> Checked<Parameter> {
        let name = self.name("the name of a parameter")?;
        let of = match self.take(":") {
            true => Some(self.name("a type")?),
            false => None,
        };
        self.symbol("=")?;
        let value = self.expr()?;
        let range = self.optional_pair("from", "to")?;
        let about = match self.peek() {
            Lexeme::Quoted(_) => self.quoted("")?,
            _ => String::new(),
        };
        Ok(Parameter {
            name,
            of,
            value,
            range,
            about,
        })
    }

    pub(super) fn constant(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a constant")?;
        self.symbol("=")?;
        let value = self.expr()?;
        Ok(Kind::Constant { name, value })
    }

    pub(super) fn enumeration(&mut self) -> Checked<Kind> {
        let name = self.name("the name of an enumeration")?;
        self.symbol("=")?;
        let mut values = vec![self.name("a value")?];
        while self.take(",") {
            values.push(self.name("a value")?);
        }
        Ok(Kind::Enum { name, values })
    }

    pub(super) fn record(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a record")?;
        self.end_of_line()?;
        let mut fields = Vec::new();
        while matches!(self.peek(), Lexeme::Word(_)) && self.peek_at(1) == &Lexeme::Symbol(":") {
            let name = self.name("the name of a field")?;
            self.symbol(":")?;
            let of = self.name("a type: int, bool, time, real or an enumeration")?;
            let range = match self.peek() {
                Lexeme::Newline | Lexeme::End => None,
                _ => {
                    let low = self.expr()?;
                    self.symbol("..")?;
                    Some((low, self.expr()?))
                }
            };
            self.end_of_line()?;
            fields.push(FieldDecl { name, of, range });
        }
        Ok(Kind::Record { name, fields })
    }

    pub(super) fn variable(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a variable")?;
        let size = self.index()?;
        self.symbol("=")?;
        let value = self.expr()?;
        Ok(Kind::Variable { name, size, value })
    }

    pub(super) fn function(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a function")?;
        self.symbol("(")?;
        let mut parameters = Vec::new();
        while !self.take(")") {
            if !parameters.is_empty() {
                self.symbol(",")?;
            }
            parameters.push(self.name("the name of an argument")?);
        }
        self.symbol("=")?;
        let body = self.expr()?;
        Ok(Kind::Function {
            name,
            parameters,
            body,
        })
    }

    pub(super) fn action(&mut self) -> Checked<Kind> {
        let name = self.name("the name of an action")?;
        self.end_of_line()?;
        let mut lines = Vec::new();
        while self.take_word("do") {
            lines.push(self.assignment()?);
            self.end_of_line()?;
        }
        Ok(Kind::Action { name, lines })
    }

    /// What follows `do`.
    pub(super) fn assignment(&mut self) -> Checked<Do> {
        let name = self.name("a variable or an action")?;
        if matches!(self.peek(), Lexeme::Newline | Lexeme::End) {
            return Ok(Do::Action(name));
        }
        let index = self.index()?;
        let how = match self.peek() {
            Lexeme::Symbol("=") => Assign::Set,
            Lexeme::Symbol("+=") => Assign::Add,
            Lexeme::Symbol("-=") => Assign::Subtract,
            other => return Err(Fault::expected(self.at(), "=, += or -=", other.words())),
        };
        self.advance();
        let value = self.expr()?;
        Ok(Do::Assign {
            name,
            index,
            how,
            value,
        })
    }
}
