//! Expressions: parsing by precedence, and evaluation.

use std::cmp::Ordering;
use std::fmt;

use super::CodeError;

/// Maximum nesting of parentheses.
const DEPTH: usize = 64;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An integer; also truth values, as in Python.
    Integer(i64),
    /// A fraction.
    Real(f64),
    /// A string.
    Text(String),
    /// `(a, b)`
    Tuple(Vec<Value>),
}

impl Value {
    /// Python's rule for truth.
    pub(crate) fn is_true(&self) -> bool {
        match self {
            Value::Integer(n) => *n != 0,
            Value::Real(x) => *x != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Tuple(values) => !values.is_empty(),
        }
    }

    fn real(&self) -> Option<f64> {
        match self {
            Value::Integer(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            Value::Text(_) | Value::Tuple(_) => None,
        }
    }

    fn order(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
            (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
            _ => self.real()?.partial_cmp(&other.real()?),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(n) => write!(f, "{n}"),
            Value::Real(x) => write!(f, "{x}"),
            Value::Text(text) => f.write_str(text),
            Value::Tuple(values) => {
                let values: Vec<_> = values.iter().map(ToString::to_string).collect();
                write!(f, "({})", values.join(", "))
            }
        }
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A literal.
    Literal(Value),
    /// A name to look up.
    Name(String),
    /// `not x`
    Not(Box<Expression>),
    /// `-x`
    Minus(Box<Expression>),
    /// `x and y`
    And(Box<Expression>, Box<Expression>),
    /// `x or y`
    Or(Box<Expression>, Box<Expression>),
    /// `x < y <= z`: the first operand, then operators with their right-hand sides.
    Comparison(Box<Expression>, Vec<(&'static str, Expression)>),
    /// `(x, y)`
    Tuple(Vec<Expression>),
    /// `x + y` and the like.
    Arithmetic(&'static str, Box<Expression>, Box<Expression>),
}

impl Expression {
    pub(super) fn arithmetic(operator: &'static str, name: &str, right: Self) -> Self {
        Self::Arithmetic(
            operator,
            Box::new(Self::Name(name.to_owned())),
            Box::new(right),
        )
    }

    /// Its value; `name` returns the values of names.
    pub fn value(&self, name: &dyn Fn(&str) -> Option<Value>) -> Result<Value, CodeError> {
        Ok(match self {
            Expression::Literal(value) => value.clone(),
            Expression::Name(text) => {
                name(text).ok_or_else(|| CodeError::UnknownName(text.clone()))?
            }
            Expression::Not(x) => truth(!x.value(name)?.is_true()),
            Expression::Minus(x) => arithmetic("-", &Value::Integer(0), &x.value(name)?)?,
            Expression::And(x, y) => {
                let x = x.value(name)?;
                if x.is_true() { y.value(name)? } else { x }
            }
            Expression::Or(x, y) => {
                let x = x.value(name)?;
                if x.is_true() { x } else { y.value(name)? }
            }
            Expression::Comparison(first, rest) => {
                let mut left = first.value(name)?;
                for (operator, right) in rest {
                    let right = right.value(name)?;
                    if !compares(operator, &left, &right)? {
                        return Ok(truth(false));
                    }
                    left = right;
                }
                truth(true)
            }
            Expression::Tuple(items) => {
                let values: Result<_, _> = items.iter().map(|item| item.value(name)).collect();
                Value::Tuple(values?)
            }
            Expression::Arithmetic(operator, x, y) => {
                arithmetic(operator, &x.value(name)?, &y.value(name)?)?
            }
        })
    }
}

fn truth(value: bool) -> Value {
    Value::Integer(value.into())
}

fn compares(operator: &str, left: &Value, right: &Value) -> Result<bool, CodeError> {
    let order = left.order(right);
    Ok(match operator {
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        _ => {
            let order = order.ok_or(CodeError::NoResult(
                "values of different kinds have no order",
            ))?;
            match operator {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            }
        }
    })
}

/// `'%d of %d' % (a, b)`: each `%` with its letter is replaced by the next value. Widths and precisions are ignored.
fn format(text: &str, values: &Value) -> String {
    let values = match values {
        Value::Tuple(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let mut values = values.iter();
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(value) = values.next() {
            out.push_str(&value.to_string());
        }
        let rest = part.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        out.extend(rest.chars().skip(1));
    }
    out
}

fn arithmetic(operator: &str, x: &Value, y: &Value) -> Result<Value, CodeError> {
    if let (Value::Text(text), "%") = (x, operator) {
        return Ok(Value::Text(format(text, y)));
    }
    if let (Value::Integer(a), Value::Integer(b), true) = (x, y, operator != "/") {
        let result = match operator {
            "+" => a.checked_add(*b),
            "-" => a.checked_sub(*b),
            "*" => a.checked_mul(*b),
            "&" => Some(a & b),
            "|" => Some(a | b),
            // Python rounds towards minus infinity.
            "//" => a
                .checked_div(*b)
                .map(|q| q - i64::from(a % b != 0 && (a < &0) != (b < &0))),
            _ => a.checked_rem(*b).map(|r| {
                if r != 0 && (r < 0) != (*b < 0) {
                    r + b
                } else {
                    r
                }
            }),
        };
        return result
            .map(Value::Integer)
            .ok_or(CodeError::NoResult("division by zero or overflow"));
    }
    if matches!(operator, "&" | "|") {
        return Err(CodeError::NoResult("bits of something that is no integer"));
    }
    let (a, b) = x
        .real()
        .zip(y.real())
        .ok_or(CodeError::NoResult("arithmetic with text"))?;
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "//" => (a / b).floor(),
        _ => a - b * (a / b).floor(),
    };
    if result.is_finite() {
        Ok(Value::Real(result))
    } else {
        Err(CodeError::NoResult("division by zero or overflow"))
    }
}

/// Reads expressions from one statement.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

type Read = Result<Expression, CodeError>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// The text read so far.
    pub(super) fn taken(&self) -> &'a str {
        &self.text[..self.at]
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn unsupported(&mut self) -> CodeError {
        CodeError::Unsupported(self.rest().chars().take(24).collect())
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let found = rest
            .strip_prefix(word)
            .is_some_and(|after| !after.starts_with(is_name));
        if found {
            self.at += word.len();
        }
        found
    }

    fn any(&mut self, tokens: &[&'static str]) -> Option<&'static str> {
        tokens.iter().find(|token| self.take(token)).copied()
    }

    /// Fails unless the text ends here.
    pub(super) fn end(&mut self) -> Result<(), CodeError> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(self.unsupported())
        }
    }

    /// Expressions separated by commas, with or without parentheses around all of them.
    pub(super) fn list(&mut self) -> Result<Vec<Expression>, CodeError> {
        let start = self.at;
        if self.take("(") {
            let list = self.commas()?;
            if self.take(")") && self.rest().is_empty() {
                return Ok(list);
            }
            self.at = start;
        }
        self.commas()
    }

    fn commas(&mut self) -> Result<Vec<Expression>, CodeError> {
        let mut list = vec![self.expression()?];
        while self.take(",") {
            list.push(self.expression()?);
        }
        Ok(list)
    }

    pub(super) fn expression(&mut self) -> Read {
        let mut left = self.conjunction()?;
        while self.take_word("or") {
            left = Expression::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Read {
        let mut left = self.negation()?;
        while self.take_word("and") {
            left = Expression::And(Box::new(left), Box::new(self.negation()?));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Read {
        if self.take_word("not") {
            return self.nested(|reader| reader.negation().map(|x| Expression::Not(Box::new(x))));
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Read {
        let left = self.bits()?;
        let mut rest = Vec::new();
        while let Some(operator) = self.any(&["==", "!=", "<=", ">=", "<", ">"]) {
            rest.push((operator, self.bits()?));
        }
        Ok(if rest.is_empty() {
            left
        } else {
            Expression::Comparison(Box::new(left), rest)
        })
    }

    /// `a | b & c`: in Python `&` binds tighter than `|`, and both bind tighter than comparisons.
    fn bits(&mut self) -> Read {
        let mut left = self.common_bits()?;
        while self.take("|") {
            left = Expression::Arithmetic("|", Box::new(left), Box::new(self.common_bits()?));
        }
        Ok(left)
    }

    fn common_bits(&mut self) -> Read {
        let mut left = self.sum()?;
        while self.take("&") {
            left = Expression::Arithmetic("&", Box::new(left), Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Read {
        let mut left = self.product()?;
        while let Some(operator) = self.any(&["+", "-"]) {
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Read {
        let mut left = self.unary()?;
        while let Some(operator) = self.any(&["*", "//", "/", "%"]) {
            left = Expression::Arithmetic(operator, Box::new(left), Box::new(self.unary()?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read {
        if self.take("-") {
            return self.nested(|reader| reader.unary().map(|x| Expression::Minus(Box::new(x))));
        }
        self.atom()
    }

    fn atom(&mut self) -> Read {
        if self.take("(") {
            return self.brackets();
        }
        let rest = self.rest();
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => self.text_literal(quote),
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if is_name(c) => {
                let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                self.at += length;
                // Calls are not supported.
                if self.rest().starts_with(['(', '.', '[']) {
                    return Err(CodeError::Unsupported(rest.chars().take(24).collect()));
                }
                Ok(Expression::Name(rest[..length].to_owned()))
            }
            _ => Err(self.unsupported()),
        }
    }

    /// Parses what follows `(`: one expression, or a tuple.
    fn brackets(&mut self) -> Read {
        let first = self.nested(Reader::expression)?;
        if self.take(")") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.take(",") {
            if self.rest().starts_with(')') {
                break;
            }
            items.push(self.nested(Reader::expression)?);
        }
        if self.take(")") {
            Ok(Expression::Tuple(items))
        } else {
            Err(self.unsupported())
        }
    }

    fn text_literal(&mut self, quote: char) -> Read {
        let inner = &self.rest()[1..];
        let Some(length) = inner.find(quote) else {
            return Err(self.unsupported());
        };
        self.at += length + 2;
        Ok(Expression::Literal(Value::Text(inner[..length].to_owned())))
    }

    fn number(&mut self) -> Read {
        let rest = self.rest();
        if let Some(digits) = rest.strip_prefix("0x") {
            let length = digits
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(digits.len());
            let Ok(value) = i64::from_str_radix(&digits[..length], 16) else {
                return Err(self.unsupported());
            };
            self.at += 2 + length;
            return Ok(Expression::Literal(Value::Integer(value)));
        }
        let length = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let text = &rest[..length];
        let value = text
            .parse()
            .map(Value::Integer)
            .ok()
            .or_else(|| text.parse().map(Value::Real).ok());
        let Some(value) = value else {
            return Err(self.unsupported());
        };
        self.at += length;
        Ok(Expression::Literal(value))
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        if self.depth >= DEPTH {
            return Err(self.unsupported());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }
}

pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
