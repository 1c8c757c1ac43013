//! Checks expressions: names, types, dimensions; computes what is constant.

mod arithmetic;
mod call;
mod fold;
mod token;

use crate::ast::{Arm, Expr, ExprKind, Name};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Op, TokenNode, TokenOp, Ty};
use crate::names::{Item, MAX_PARTS, Names};
use crate::units::{Dim, NUMBER, NoUnit, TIME};

/// Functions may call each other this deep.
const MAX_CALLS: u32 = 32;

/// Expressions with the functions that they call are at most so deep.
const MAX_DEPTH: u32 = 400;

/// A number or a token.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Number(Node),
    Token(TokenNode),
}

/// What an expression may refer to besides declarations.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// Names of bound tokens with their records; the position is the index of the token.
    pub(crate) tokens: Vec<(String, usize)>,
    /// The record whose fields are names; its token is the first one.
    pub(crate) fields_of: Option<usize>,
    /// Names for values: arguments, keys, variables of initial tokens.
    pub(crate) values: Vec<(String, Value)>,
    pub(crate) may: May,
}

/// What an expression may depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct May {
    pub(crate) draw: bool,
    pub(crate) variables: bool,
    pub(crate) time: bool,
    pub(crate) colour: bool,
}

impl May {
    /// Delays, and what happens at the end of a firing.
    pub(crate) const EVERYTHING: Self = Self {
        draw: true,
        variables: true,
        time: true,
        colour: true,
    };
    /// Guards, keys and counts, which the engine evaluates only when tokens change.
    pub(crate) const TOKENS: Self = Self {
        draw: false,
        variables: false,
        time: false,
        colour: true,
    };
}

impl Scope {
    pub(crate) fn constant() -> Self {
        Self::default()
    }
}

pub(crate) struct Lower<'n, 'p> {
    pub(crate) names: &'n Names<'p>,
    pub(crate) scope: Scope,
    calls: u32,
}

impl<'n, 'p> Lower<'n, 'p> {
    pub(crate) fn new(names: &'n Names<'p>, scope: Scope) -> Self {
        Self {
            names,
            scope,
            calls: 0,
        }
    }

    /// A number, a condition or a value of an enumeration.
    pub(crate) fn number(&self, expr: &Expr) -> Checked<Node> {
        match self.value(expr, None)? {
            Value::Number(node) => Ok(node),
            Value::Token(_) => Err(Fault::expected(expr.at, "a number", "a token")),
        }
    }

    pub(crate) fn int(&self, expr: &Expr) -> Checked<Node> {
        self.of_type(expr, Ty::Int)
    }

    pub(crate) fn condition(&self, expr: &Expr) -> Checked<Node> {
        self.of_type(expr, Ty::Bool)
    }

    pub(crate) fn real(&self, expr: &Expr, dim: Dim) -> Checked<Node> {
        self.of_type(expr, Ty::Real(dim))
    }

    /// A value of this type; whole numbers are also numbers without a unit.
    pub(crate) fn of_type(&self, expr: &Expr, ty: Ty) -> Checked<Node> {
        let node = self.number(expr)?;
        let node = match ty {
            Ty::Real(_) => node.into_real_if_int(),
            _ => node,
        };
        if node.ty == ty {
            return Ok(node);
        }
        let found = match node.is_constant() {
            true => self.names.value_words(&node),
            false => self.names.type_words(node.ty),
        };
        Err(Fault::expected(expr.at, self.names.type_words(ty), found))
    }

    /// Any value; a record without a name is taken for `record`.
    pub(crate) fn value(&self, expr: &Expr, record: Option<usize>) -> Checked<Value> {
        let depth = self.names.depth.get();
        if depth > MAX_DEPTH {
            let problem = format!("functions and operators are nested more than {MAX_DEPTH} deep");
            return Err(Fault::new(expr.at, problem));
        }
        self.names.depth.set(depth + 1);
        let value = self.part(expr, record);
        self.names.depth.set(depth);
        value
    }

    fn part(&self, expr: &Expr, record: Option<usize>) -> Checked<Value> {
        let parts = self.names.parts.get() + 1;
        self.names.parts.set(parts);
        if parts > MAX_PARTS {
            let problem = format!("the expressions have more than {MAX_PARTS} parts");
            return Err(Fault::new(expr.at, problem));
        }
        let number = match &expr.kind {
            ExprKind::Int(n) => Node::int(*n),
            ExprKind::Real(x) => Node::real(*x, NUMBER),
            ExprKind::Quantity(x, unit, per_second) => self.quantity(*x, unit, *per_second)?,
            ExprKind::Name(name) => return self.name(name, expr.at),
            ExprKind::Field(of, field) => self.field(of, field)?,
            ExprKind::Index(of, index) => self.element(of, index)?,
            ExprKind::Call {
                stream,
                function,
                arguments,
            } => return self.call(stream.as_ref(), function, arguments, record),
            ExprKind::Negative(a) => self.negative(a)?,
            ExprKind::Not(a) => fold::not(self.condition(a)?),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, expr.at)?,
            ExprKind::If(parts) => return self.choice(parts, record),
            ExprKind::Case(on, arms) => self.case(on, arms, expr.at)?,
            ExprKind::Record(base, fields) => {
                let token = self.token_value(base.as_deref(), fields, record, expr.at)?;
                return Ok(Value::Token(token));
            }
        };
        Ok(Value::Number(number))
    }

    fn quantity(&self, x: f64, unit: &Name, per_second: bool) -> Checked<Node> {
        let (value, dim) = self.unit(unit)?;
        if !per_second {
            return Ok(Node::real(x * value, dim));
        }
        let second = Name {
            text: "s".to_owned(),
            at: unit.at,
        };
        let (second, time) = self.unit(&second)?;
        Ok(Node::real(x * (value / second), dim.over(time)))
    }

    fn unit(&self, unit: &Name) -> Checked<(f64, Dim)> {
        self.names.clock.unit(&unit.text).map_err(|why| match why {
            NoUnit::Unknown => {
                Fault::unknown(unit.at, "a unit", &unit.text, self.names.clock.units())
            }
            NoUnit::NoSeconds => self.no_seconds(unit.at),
        })
    }

    /// A unit that goes by seconds, in a net whose clock does not.
    fn no_seconds(&self, at: Span) -> Fault {
        let unit = &self.names.clock.unit;
        let problem = format!(
            "the clock does not say how long a {unit} is: expected `clock {unit} at FREQUENCY`"
        );
        Fault::new(at, problem)
    }

    fn name(&self, name: &str, at: Span) -> Checked<Value> {
        let of_scope = self.scope.values.iter().rev().find(|(n, _)| n == name);
        if let Some((_, value)) = of_scope {
            return Ok(value.clone());
        }
        if let Some(index) = self.scope.tokens.iter().position(|(n, _)| n == name) {
            let record = self.scope.tokens[index].1;
            let op = TokenOp::Bound(index);
            return Ok(Value::Token(TokenNode { record, op }));
        }
        if let Some(record) = self.scope.fields_of {
            let fields = &self.names.records[record].fields;
            if let Some(field) = fields.iter().find(|field| field.name == name) {
                let op = Op::Field(0, field.slot);
                return Ok(Value::Number(Node { ty: field.ty, op }));
            }
        }
        self.global(name, at).map(Value::Number)
    }

    fn global(&self, name: &str, at: Span) -> Checked<Node> {
        let time = |op| Node {
            ty: Ty::Real(TIME),
            op,
        };
        match name {
            "true" => return Ok(Node::bool(true)),
            "false" => return Ok(Node::bool(false)),
            "now" if self.scope.may.time => return Ok(time(Op::Now)),
            "started" if self.scope.may.time => return Ok(time(Op::Started)),
            "colour" if self.scope.may.colour => {
                return Ok(Node {
                    ty: Ty::Int,
                    op: Op::Colour,
                });
            }
            _ => {}
        }
        match self.names.item(name) {
            Some(Item::EnumValue(number, value)) => Ok(Node {
                ty: Ty::Enum(*number),
                op: Op::Int(*value),
            }),
            Some(Item::Variable(number)) => self.variable(*number, None, name, at),
            Some(Item::Parameter(parameter)) => self.constant_named(&parameter.name.text, at),
            Some(Item::Constant(_) | Item::Hop) => self.constant_named(name, at),
            Some(item) => {
                let hides = match self.names.clock.unit(name) {
                    Ok(_) => " and hides the unit of this name",
                    Err(_) => "",
                };
                let found = format!("{name}, which is {}{hides}", item.kind());
                Err(Fault::expected(at, "a value", found))
            }
            None => match self.names.clock.unit(name) {
                Ok((value, dim)) => Ok(Node::real(value, dim)),
                Err(NoUnit::NoSeconds) => Err(self.no_seconds(at)),
                Err(NoUnit::Unknown) => Err(self.unknown_name(name, at)),
            },
        }
    }

    fn constant_named(&self, name: &str, at: Span) -> Checked<Node> {
        let known = self.names.known().find(|known| *known == name);
        let value = known
            .map(|known| self.names.value_of(known, at))
            .transpose()?;
        value.flatten().ok_or_else(|| self.unknown_name(name, at))
    }

    fn unknown_name(&self, name: &str, at: Span) -> Fault {
        let expected = match name {
            "now" | "started" => return Fault::new(at, format!("{name} has no value here")),
            "colour" => {
                let problem = "colour has no value here: expected an arc without a key of its own from a place with keys, as `in PLACE`";
                return Fault::new(at, problem);
            }
            _ => "a name that is declared",
        };
        let fields = self.scope.fields_of.into_iter();
        let fields = fields.flat_map(|record| &self.names.records[record].fields);
        let tokens = self.scope.tokens.iter().map(|(name, _)| name.as_str());
        let values = self.scope.values.iter().map(|(name, _)| name.as_str());
        let fields = fields.map(|field| field.name.as_str());
        let mut known: Vec<&str> = tokens.chain(values).chain(fields).collect();
        for name in self.names.known() {
            known.push(name);
        }
        Fault::unknown(at, expected, name, known)
    }

    fn variable(&self, number: usize, index: Option<&Expr>, name: &str, at: Span) -> Checked<Node> {
        if !self.scope.may.variables {
            let problem = format!(
                "the variable {name} may not be used here: only delays and what happens at the end of a firing may depend on variables"
            );
            return Err(Fault::new(at, problem));
        }
        // Types of variables are known when all declarations are read, before any expression that may use them.
        let variable = self.names.variables[number];
        let index = match (variable.is_list, index) {
            (true, Some(index)) => Some(Box::new(self.int(index)?)),
            (false, None) => None,
            (true, None) => return Err(Fault::expected(at, format!("{name}[INDEX]"), name)),
            (false, Some(index)) => {
                return Err(Fault::new(index.at, format!("{name} is not a list")));
            }
        };
        Ok(Node {
            ty: variable.ty,
            op: Op::Variable(variable.first, variable.cells, index, at),
        })
    }

    fn element(&self, of: &Expr, index: &Expr) -> Checked<Node> {
        if let ExprKind::Name(name) = &of.kind
            && let Some(&Item::Variable(number)) = self.names.item(name)
        {
            return self.variable(number, Some(index), name, of.at);
        }
        Err(Fault::expected(
            of.at,
            "a variable that is a list",
            "something else",
        ))
    }

    fn field(&self, of: &Expr, field: &Name) -> Checked<Node> {
        let Value::Token(token) = self.value(of, None)? else {
            return Err(Fault::expected(of.at, "a token", "a number"));
        };
        let record = &self.names.records[token.record];
        let found = record.fields.iter().find(|f| f.name == field.text);
        let Some(found) = found else {
            let known = record.fields.iter().map(|field| field.name.as_str());
            let expected = format!("a field of {}", record.name);
            return Err(Fault::unknown(field.at, &expected, &field.text, known));
        };
        match token::field_of(&token, found) {
            Some(node) => Ok(node),
            None => Err(Fault::expected(
                of.at,
                "the name of a token",
                "another expression",
            )),
        }
    }

    fn choice(&self, parts: &[Expr; 3], record: Option<usize>) -> Checked<Value> {
        let [on, then, otherwise] = parts;
        let on = self.condition(on)?;
        if let Some(known) = on.as_int() {
            // The other part is checked, too, so that it does not break with another parameter.
            let (yes, no) = (self.value(then, record)?, self.value(otherwise, record)?);
            let same_kind = matches!(
                (&yes, &no),
                (Value::Number(_), Value::Number(_)) | (Value::Token(_), Value::Token(_))
            );
            if !same_kind {
                return Err(Fault::new(
                    otherwise.at,
                    "both parts must be numbers, or tokens",
                ));
            }
            return Ok(match (known != 0, yes, no) {
                (true, Value::Number(yes), Value::Number(no)) => Value::Number(if no.is_real() {
                    yes.into_real_if_int()
                } else {
                    yes
                }),
                (false, Value::Number(yes), Value::Number(no)) => Value::Number(if yes.is_real() {
                    no.into_real_if_int()
                } else {
                    no
                }),
                (true, yes, _) => yes,
                (false, _, no) => no,
            });
        }
        if let Value::Token(yes) = self.value(then, record)? {
            let no = self.token(otherwise, yes.record)?;
            let record = yes.record;
            let op = TokenOp::If(Box::new(on), Box::new(yes), Box::new(no));
            return Ok(Value::Token(TokenNode { record, op }));
        }
        let (then, otherwise) = self.alike(then, otherwise)?;
        let ty = then.ty;
        let op = Op::If(Box::new(on), Box::new(then), Box::new(otherwise));
        Ok(Value::Number(Node { ty, op }))
    }

    fn case(&self, on: &Expr, arms: &[Arm], at: Span) -> Checked<Node> {
        /// The values of a case lie in 0..this.
        const MAX_ARMS: i64 = 1024;
        let node = self.number(on)?;
        if !matches!(node.ty, Ty::Int | Ty::Enum(_)) {
            return Err(self.names.mistyped(
                on.at,
                "a whole number or a value of an enumeration",
                node.ty,
            ));
        }
        let mut listed: Vec<Option<Node>> = Vec::new();
        let (mut other, mut ty) = (None, None);
        for arm in arms {
            let value = self.number(&arm.value)?;
            // All numbers are real if one of them is.
            let value = value.into_real_if_int();
            if *ty.get_or_insert(value.ty) != value.ty {
                let found = self.names.type_words(value.ty);
                let expected = ty.map_or(String::new(), |ty| self.names.type_words(ty));
                return Err(Fault::expected(arm.value.at, expected, found));
            }
            let Some(label) = &arm.on else {
                other = Some(value);
                continue;
            };
            let label_node = self.of_type(label, node.ty)?;
            let Some(label_value) = label_node.as_int().filter(|n| (0..MAX_ARMS).contains(n))
            else {
                let expected = format!("a constant in 0..{MAX_ARMS}");
                return Err(Fault::expected(label.at, expected, "another value"));
            };
            let index = label_value as usize;
            if listed.len() <= index {
                listed.resize(index + 1, None);
            }
            listed[index] = Some(value);
        }
        let values = match node.ty {
            Ty::Enum(number) => self.names.enums[number].values.len(),
            _ => usize::MAX,
        };
        let complete = listed.len() == values && listed.iter().all(Option::is_some);
        let Some(other) = other.or(listed.last().cloned().flatten().filter(|_| complete)) else {
            return Err(Fault::new(
                at,
                "the case does not have all values: expected `else: VALUE`",
            ));
        };
        let ty = other.ty;
        let mut arms: Vec<Node> = listed
            .into_iter()
            .map(|arm| arm.unwrap_or_else(|| other.clone()))
            .collect();
        if let Some(known) = node.as_int() {
            let arm = usize::try_from(known).ok().and_then(|n| arms.get(n));
            return Ok(arm.unwrap_or(&other).clone());
        }
        arms.push(other);
        Ok(Node {
            ty,
            op: Op::Case(Box::new(node), arms),
        })
    }
}
