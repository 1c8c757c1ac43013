//! Parses a text into statements.

mod expression;
mod transition;

use crate::ast::{
    Assign, Do, Expr, FieldDecl, Kind, Name, Order, OrderDecl, Parameter, PlaceDecl, RunDecl,
    Statement, TokenLine, Tokens, Unit, Values,
};
use crate::error::{Checked, Fault, Span};
use crate::lex::{Lexeme, Token};
use crate::words::{STATEMENTS, is_statement};

/// Expressions and blocks may be nested this deep.
const MAX_DEPTH: u32 = 60;

/// Operators of an expression, so that no tree is deeper.
const MAX_OPERATORS: u32 = 250;

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
            let known = STATEMENTS.iter().map(|entry| entry.name);
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
            "sweep" => self.sweep()?,
            _ => return self.conditional(),
        };
        self.end_of_line()?;
        Ok(kind)
    }

    fn clock(&mut self) -> Checked<Kind> {
        let unit = self.name("the unit of time, such as ns or cycle")?;
        let at = match self.take_word("at") {
            true => Some(self.expr()?),
            false => None,
        };
        Ok(Kind::Clock { unit, at })
    }

    fn parameter(&mut self) -> Checked<Parameter> {
        let name = self.name("the name of a parameter")?;
        let of = match self.take(":") {
            true => Some(self.name("a type")?),
            false => None,
        };
        self.symbol("=")?;
        let value = self.expr()?;
        let range = match self.take_word("from") {
            true => {
                let low = self.expr()?;
                self.keyword("to")?;
                Some((low, self.expr()?))
            }
            false => None,
        };
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

    fn constant(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a constant")?;
        self.symbol("=")?;
        let value = self.expr()?;
        Ok(Kind::Constant { name, value })
    }

    fn enumeration(&mut self) -> Checked<Kind> {
        let name = self.name("the name of an enumeration")?;
        self.symbol("=")?;
        let mut values = vec![self.name("a value")?];
        while self.take(",") {
            values.push(self.name("a value")?);
        }
        Ok(Kind::Enum { name, values })
    }

    fn record(&mut self) -> Checked<Kind> {
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

    fn variable(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a variable")?;
        let size = self.index()?;
        self.symbol("=")?;
        let value = self.expr()?;
        Ok(Kind::Variable { name, size, value })
    }

    fn function(&mut self) -> Checked<Kind> {
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

    fn action(&mut self) -> Checked<Kind> {
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
    fn assignment(&mut self) -> Checked<Do> {
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

    fn alias(&mut self) -> Checked<Kind> {
        let name = self.name("a further name of a place")?;
        self.symbol("=")?;
        let place = self.name("the name of a place")?;
        Ok(Kind::Alias { name, place })
    }

    fn sink(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a sink")?;
        self.symbol(":")?;
        let record = self.name("the name of a record")?;
        Ok(Kind::Place(PlaceDecl {
            name,
            capacity: None,
            tokens: Tokens::Sink { record },
        }))
    }

    fn place(&mut self) -> Checked<Kind> {
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
        let by = match self.take_word("by") {
            true => {
                let key = self.expr()?;
                self.keyword("below")?;
                Some((key, self.expr()?))
            }
            false => None,
        };
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

    fn token_line(&mut self) -> Checked<TokenLine> {
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

    fn measure(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a measure")?;
        self.symbol("=")?;
        let value = self.expr()?;
        let unit = match self.take_word("in") {
            true => Some(self.unit()?),
            false => None,
        };
        Ok(Kind::Measure { name, value, unit })
    }

    /// A unit, with its text as it stands.
    fn unit(&mut self) -> Checked<Unit> {
        let at = self.at();
        let first = self.next;
        let value = match self.take("%") {
            true => Expr {
                kind: crate::ast::ExprKind::Real(0.01),
                at,
            },
            false => self.expr()?,
        };
        let text = self.tokens[first..self.next].iter();
        let text = text.map(|token| token.lexeme.words()).collect();
        Ok(Unit { text, value })
    }

    fn order(&mut self) -> Checked<OrderDecl> {
        let name = self.name("the name of a measure")?;
        self.keyword("at")?;
        let place = self.name("the name of a place")?;
        self.keyword("number")?;
        let number = self.expr()?;
        let stream = match self.take_word("stream") {
            true => {
                let key = self.expr()?;
                self.keyword("below")?;
                Some((key, self.expr()?))
            }
            false => None,
        };
        let bytes = self.optional("bytes")?;
        let flow = match self.take_word("flow") {
            true => {
                let flow = self.expr()?;
                self.keyword("number")?;
                Some((flow, self.expr()?))
            }
            false => None,
        };
        let ends = match &flow {
            Some(_) => self.optional("ends")?,
            None => None,
        };
        Ok(OrderDecl {
            name,
            place,
            number,
            stream,
            bytes,
            flow,
            ends,
        })
    }

    fn run(&mut self) -> Checked<RunDecl> {
        let end = self.expr()?;
        let place = match self.take_word("at") {
            true => Some(self.name("the name of a place")?),
            false => None,
        };
        let warm_up = self.optional("warm_up")?;
        Ok(RunDecl {
            end,
            place,
            warm_up,
        })
    }

    fn sweep(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a parameter")?;
        self.symbol("=")?;
        let values = self.values()?;
        Ok(Kind::Sweep { name, values })
    }

    /// `A, B, C` or `A..B [step S]`.
    fn values(&mut self) -> Checked<Values> {
        let from = self.expr()?;
        if self.take("..") {
            let to = self.expr()?;
            let step = self.optional("step")?;
            return Ok(Values::Range { from, to, step });
        }
        let mut list = vec![from];
        while self.take(",") {
            list.push(self.expr()?);
        }
        Ok(Values::List(list))
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

    /// An expression behind a keyword that may be missing.
    fn optional(&mut self, keyword: &str) -> Checked<Option<Expr>> {
        match self.take_word(keyword) {
            true => self.expr().map(Some),
            false => Ok(None),
        }
    }

    /// An expression in brackets, which may be missing.
    fn index(&mut self) -> Checked<Option<Expr>> {
        if !self.take("[") {
            return Ok(None);
        }
        let index = self.expr()?;
        self.symbol("]")?;
        Ok(Some(index))
    }

    fn deeper(&mut self) -> Checked<()> {
        self.depth += 1;
        match self.depth > MAX_DEPTH {
            true => Err(Fault::new(
                self.at(),
                format!("nested more than {MAX_DEPTH} deep"),
            )),
            false => Ok(()),
        }
    }

    fn one_more_operator(&mut self) -> Checked<()> {
        self.operators += 1;
        match self.operators > MAX_OPERATORS {
            true => Err(Fault::new(
                self.at(),
                format!(
                    "an expression with more than {MAX_OPERATORS} operators: divide it by functions or constants"
                ),
            )),
            false => Ok(()),
        }
    }

    fn peek(&self) -> &Lexeme {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Lexeme {
        let token = self.tokens.get(self.next + ahead);
        token.map_or(&Lexeme::End, |token| &token.lexeme)
    }

    fn at(&self) -> Span {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(Span::default(), |token| token.at)
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Lexeme::Word(found) if found == word)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.is_word(word);
        self.next += usize::from(is_it);
        is_it
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let is_it = *self.peek() == Lexeme::Symbol(symbol);
        self.next += usize::from(is_it);
        is_it
    }

    fn keyword(&mut self, word: &str) -> Checked<()> {
        match self.take_word(word) {
            true => Ok(()),
            false => Err(Fault::expected(self.at(), word, self.peek().words())),
        }
    }

    fn symbol(&mut self, symbol: &'static str) -> Checked<()> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(Fault::expected(self.at(), symbol, self.peek().words())),
        }
    }

    fn quoted(&mut self, expected: &str) -> Checked<String> {
        let Lexeme::Quoted(text) = self.peek().clone() else {
            return Err(Fault::expected(self.at(), expected, self.peek().words()));
        };
        self.advance();
        Ok(text)
    }

    /// A word, or any text in quotes.
    fn name(&mut self, expected: &str) -> Checked<Name> {
        let at = self.at();
        let text = match self.peek() {
            Lexeme::Word(word) => word.clone(),
            Lexeme::Quoted(text) if !text.is_empty() => text.clone(),
            other => return Err(Fault::expected(at, expected, other.words())),
        };
        self.advance();
        Ok(Name { text, at })
    }

    fn end_of_line(&mut self) -> Checked<()> {
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
