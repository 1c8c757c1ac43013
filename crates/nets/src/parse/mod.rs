//! Parses a text into statements.

mod cursor;
mod declaration;
mod expression;
mod place;
mod study;
mod transition;

use crate::ast::{Kind, Statement, Values};
use crate::error::{Checked, Fault};
use crate::lex::{Lexeme, Token};
use crate::words::{Entry, STATEMENTS, is_statement};

/// The tokens of a text, which are consumed one after the other.
pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: u32,
    /// Operators of the expression that is read.
    operators: u32,
    include_depth: u8,
}

impl Parser {
    pub(crate) fn new(tokens: Vec<Token>, include_depth: u8) -> Self {
        Self {
            tokens,
            next: 0,
            depth: 0,
            operators: 0,
            include_depth,
        }
    }

    /// The first line of a file: `coloured net NAME`, or `coloured part NAME` for one that is only included.
    pub(crate) fn title(&mut self) -> Checked<String> {
        self.keyword("coloured")?;
        if !self.take_word("part") {
            self.keyword("net")?;
        }
        let name = self.name("the name of the net")?;
        self.end_of_line()?;
        Ok(name.text)
    }

    /// All statements up to the end of the text.
    pub(crate) fn statements(&mut self) -> Checked<Vec<Statement>> {
        let statements = self.block()?;
        match self.peek() {
            Lexeme::End => Ok(statements),
            other => Err(Fault::expected(self.at(), "a statement", other.words())),
        }
    }

    /// The only expression of a text, such as the value of an option.
    pub(crate) fn whole_values(&mut self) -> Checked<Values> {
        let values = self.values()?;
        if *self.peek() == Lexeme::Newline {
            self.advance();
        }
        match self.peek() {
            Lexeme::End => Ok(values),
            other => Err(Fault::expected(
                self.at(),
                "the end of the value",
                other.words(),
            )),
        }
    }

    /// Statements up to the end of the text, `else` or `end`.
    fn block(&mut self) -> Checked<Vec<Statement>> {
        let mut statements = Vec::new();
        loop {
            while *self.peek() == Lexeme::Newline {
                self.advance();
            }
            if *self.peek() == Lexeme::End || self.is_word("else") || self.is_word("end") {
                return Ok(statements);
            }
            let at = self.at();
            self.operators = 0;
            let kind = self.statement()?;
            statements.push(Statement {
                at,
                depth: self.include_depth,
                kind,
            });
        }
    }

    fn statement(&mut self) -> Checked<Kind> {
        let at = self.at();
        let Lexeme::Word(word) = self.peek().clone() else {
            return Err(Fault::expected(at, "a statement", self.peek().words()));
        };
        if !is_statement(&word) {
            let known = STATEMENTS.iter().map(Entry::name);
            return Err(Fault::unknown(at, "a statement", &word, known));
        }
        self.advance();
        let kind = match word.as_str() {
            "include" => Kind::Include(self.quoted("the name of a file in quotes")?),
            "clock" => self.clock()?,
            "parameter" => Kind::Parameter(self.parameter()?),
            "constant" => self.constant()?,
            "enum" => self.enumeration()?,
            "record" => return self.record(),
            "variable" => self.variable()?,
            "stream" => Kind::Stream(self.name("the name of a stream of random numbers")?),
            "function" => self.function()?,
            "action" => return self.action(),
            "alias" => self.alias()?,
            "place" => return self.place(),
            "sink" => self.sink()?,
            "transition" => return self.transition().map(Kind::Transition),
            "measure" => self.measure()?,
            "order" => Kind::Order(self.order()?),
            "run" => Kind::Run(self.run()?),
            "chain" => Kind::Chain(self.chain()?),
            "sweep" => self.sweep()?,
            _ => return self.conditional(),
        };
        self.end_of_line()?;
        Ok(kind)
    }

    fn conditional(&mut self) -> Checked<Kind> {
        self.deeper()?;
        let on = self.expr()?;
        self.end_of_line()?;
        let then = self.block()?;
        let otherwise = match self.take_word("else") {
            true => {
                self.end_of_line()?;
                self.block()?
            }
            false => Vec::new(),
        };
        self.keyword("end")?;
        self.end_of_line()?;
        self.depth -= 1;
        Ok(Kind::If {
            on,
            then,
            otherwise,
        })
    }
}
