//! What is measured, for how long, and over which values of parameters.

use super::Parser;
use crate::ast::{ChainDecl, Expr, ExprKind, Kind, OrderDecl, RunDecl, Unit, Values};
use crate::error::Checked;

impl Parser {
    pub(super) fn measure(&mut self) -> Checked<Kind> {
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
    pub(super) fn unit(&mut self) -> Checked<Unit> {
        let at = self.at();
        let first = self.next;
        let value = match self.take("%") {
            true => Expr {
                kind: ExprKind::Real(0.01),
                at,
            },
            false => self.expr()?,
        };
        let text = self.tokens[first..self.next].iter();
        let text = text.map(|token| token.lexeme.words()).collect();
        Ok(Unit { text, value })
    }

    pub(super) fn order(&mut self) -> Checked<OrderDecl> {
        let name = self.name("the name of a measure")?;
        self.keyword("at")?;
        let place = self.name("the name of a place")?;
        self.keyword("number")?;
        let number = self.expr()?;
        let stream = self.optional_pair("stream", "below")?;
        let bytes = self.optional("bytes")?;
        let flow = self.optional_pair("flow", "number")?;
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

    pub(super) fn run(&mut self) -> Checked<RunDecl> {
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

    pub(super) fn chain(&mut self) -> Checked<ChainDecl> {
        let number = self.name("a name for the number of each net")?;
        self.keyword("below")?;
        let count = self.expr()?;
        self.keyword("from")?;
        let from = self.name("the name of a place")?;
        self.keyword("to")?;
        let to = self.name("the name of a place")?;
        Ok(ChainDecl {
            number,
            count,
            from,
            to,
        })
    }

    pub(super) fn sweep(&mut self) -> Checked<Kind> {
        let name = self.name("the name of a parameter")?;
        self.symbol("=")?;
        let values = self.values()?;
        Ok(Kind::Sweep { name, values })
    }

    /// `A, B, C` or `A..B [step S]`.
    pub(super) fn values(&mut self) -> Checked<Values> {
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
}
