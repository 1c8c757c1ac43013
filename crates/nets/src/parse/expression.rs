//! Expressions, by precedence.

use super::Parser;
use crate::ast::{Argument, Arm, Expr, ExprKind};
use crate::error::{Checked, Fault};
use crate::lex::Lexeme;
use crate::operator::{Arith, Compare, Operator};
use crate::units;

/// The operators, the weakest first.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[
        ("==", Operator::Compare(Compare::Equal)),
        ("!=", Operator::Compare(Compare::Unequal)),
        ("<=", Operator::Compare(Compare::AtMost)),
        (">=", Operator::Compare(Compare::AtLeast)),
        ("<", Operator::Compare(Compare::Less)),
        (">", Operator::Compare(Compare::Greater)),
    ],
    &[
        ("+", Operator::Arith(Arith::Add)),
        ("-", Operator::Arith(Arith::Subtract)),
    ],
    &[
        ("*", Operator::Arith(Arith::Multiply)),
        ("/", Operator::Arith(Arith::Divide)),
        ("div", Operator::Arith(Arith::Div)),
        ("mod", Operator::Arith(Arith::Mod)),
    ],
];

/// Words that are never the name of something in an expression.
const RESERVED: [&str; 9] = [
    "then", "else", "and", "or", "div", "mod", "with", "end", "of",
];

impl Parser {
    pub(super) fn expr(&mut self) -> Checked<Expr> {
        self.deeper()?;
        let expr = self.level(0)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn level(&mut self, level: usize) -> Checked<Expr> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let at = self.at();
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.one_more_operator()?;
            let right = self.level(level + 1)?;
            let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
            left = Expr { kind, at };
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        let text = match self.peek() {
            Lexeme::Symbol(symbol) => *symbol,
            Lexeme::Word(word) => word.as_str(),
            _ => return None,
        };
        let &(_, operator) = operators.iter().find(|(name, _)| *name == text)?;
        self.advance();
        Some(operator)
    }

    fn unary(&mut self) -> Checked<Expr> {
        let at = self.at();
        let make: fn(Box<Expr>) -> ExprKind = if self.take("-") {
            ExprKind::Negative
        } else if self.take_word("not") {
            ExprKind::Not
        } else {
            return self.postfix();
        };
        self.deeper()?;
        let inner = self.unary()?;
        self.depth -= 1;
        let kind = make(Box::new(inner));
        Ok(Expr { kind, at })
    }

    fn postfix(&mut self) -> Checked<Expr> {
        let mut expr = self.primary()?;
        loop {
            let at = self.at();
            self.one_more_operator()?;
            if self.take("[") {
                let index = self.expr()?;
                self.symbol("]")?;
                let kind = ExprKind::Index(Box::new(expr), Box::new(index));
                expr = Expr { kind, at };
            } else if self.take(".") {
                expr = self.member(expr)?;
            } else {
                self.operators -= 1;
                return Ok(expr);
            }
        }
    }

    /// A field of a token, or a random function of a stream.
    fn member(&mut self, of: Expr) -> Checked<Expr> {
        let name = self.name("the name of a field")?;
        let at = name.at;
        if !self.take("(") {
            let kind = ExprKind::Field(Box::new(of), name);
            return Ok(Expr { kind, at });
        }
        let ExprKind::Name(stream) = of.kind else {
            return Err(Fault::expected(
                of.at,
                "the name of a stream",
                "an expression",
            ));
        };
        let stream = Some(crate::ast::Name {
            text: stream,
            at: of.at,
        });
        let arguments = self.arguments()?;
        let kind = ExprKind::Call {
            stream,
            function: name,
            arguments,
        };
        Ok(Expr { kind, at })
    }

    fn primary(&mut self) -> Checked<Expr> {
        let at = self.at();
        let kind = match self.peek().clone() {
            Lexeme::Int(n) => {
                self.advance();
                match self.unit_behind(n as f64) {
                    Some(quantity) => quantity,
                    None => ExprKind::Int(n),
                }
            }
            Lexeme::Real(x) => {
                self.advance();
                self.unit_behind(x).unwrap_or(ExprKind::Real(x))
            }
            Lexeme::Quoted(name) => {
                self.advance();
                ExprKind::Name(name)
            }
            Lexeme::Symbol("(") => {
                self.advance();
                let inner = self.expr()?;
                self.symbol(")")?;
                return Ok(inner);
            }
            Lexeme::Symbol("{") => self.record_value()?,
            Lexeme::Word(word) if word == "if" => self.choice()?,
            Lexeme::Word(word) if word == "case" => self.case()?,
            Lexeme::Word(word) if !RESERVED.contains(&word.as_str()) => {
                self.advance();
                if self.take("(") {
                    ExprKind::Call {
                        stream: None,
                        function: crate::ast::Name { text: word, at },
                        arguments: self.arguments()?,
                    }
                } else {
                    ExprKind::Name(word)
                }
            }
            other => return Err(Fault::expected(at, "an expression", other.words())),
        };
        Ok(Expr { kind, at })
    }

    /// A unit directly behind a number. Any word that is no keyword of expressions is taken for one: whether the unit
    /// exists is checked when the clock is known.
    fn unit_behind(&mut self, value: f64) -> Option<ExprKind> {
        const KEYWORDS: [&str; 22] = [
            "then", "else", "and", "or", "div", "mod", "with", "below", "if", "for", "from", "to",
            "step", "at", "in", "capacity", "stream", "bytes", "flow", "number", "ends", "warm_up",
        ];
        let Lexeme::Word(word) = self.peek() else {
            return None;
        };
        if KEYWORDS.contains(&word.as_str()) || matches!(word.as_str(), "by" | "fifo" | "random") {
            return None;
        }
        let unit = crate::ast::Name {
            text: word.clone(),
            at: self.at(),
        };
        self.advance();
        let is_second = matches!(self.peek_at(1), Lexeme::Word(word) if word == "s");
        let per_second =
            units::is_data(&unit.text) && *self.peek() == Lexeme::Symbol("/") && is_second;
        self.next += 2 * usize::from(per_second);
        Some(ExprKind::Quantity(value, unit, per_second))
    }

    fn arguments(&mut self) -> Checked<Vec<Argument>> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            if !arguments.is_empty() {
                self.symbol(",")?;
            }
            let value = self.expr()?;
            let weight = match self.take(":") {
                true => Some(self.expr()?),
                false => None,
            };
            arguments.push(Argument { value, weight });
        }
        Ok(arguments)
    }

    /// `{field = value, ...}` or `{token with field = value, ...}`
    fn record_value(&mut self) -> Checked<ExprKind> {
        self.symbol("{")?;
        let is_field = self.peek_at(1) == &Lexeme::Symbol("=");
        let base = match is_field || *self.peek() == Lexeme::Symbol("}") {
            true => None,
            false => {
                let base = self.expr()?;
                self.keyword("with")?;
                Some(Box::new(base))
            }
        };
        let mut fields = Vec::new();
        while !self.take("}") {
            if !fields.is_empty() {
                self.symbol(",")?;
            }
            let name = self.name("the name of a field")?;
            self.symbol("=")?;
            fields.push((name, self.expr()?));
        }
        Ok(ExprKind::Record(base, fields))
    }

    fn choice(&mut self) -> Checked<ExprKind> {
        self.keyword("if")?;
        let on = self.expr()?;
        self.keyword("then")?;
        let then = self.expr()?;
        self.keyword("else")?;
        let otherwise = self.expr()?;
        Ok(ExprKind::If(Box::new([on, then, otherwise])))
    }

    /// `case VALUE {A: X, B: Y, else: Z}`
    fn case(&mut self) -> Checked<ExprKind> {
        self.keyword("case")?;
        let on = self.expr()?;
        self.symbol("{")?;
        let mut arms = Vec::new();
        while !self.take("}") {
            if !arms.is_empty() {
                self.symbol(",")?;
            }
            let value = match self.take_word("else") {
                true => None,
                false => Some(self.expr()?),
            };
            self.symbol(":")?;
            arms.push(Arm {
                on: value,
                value: self.expr()?,
            });
        }
        Ok(ExprKind::Case(Box::new(on), arms))
    }
}
