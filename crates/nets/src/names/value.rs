//! The values of parameters and constants, and values in words.

use std::fmt::Display;

use super::{Item, Names};
use crate::ast::{Expr, Parameter};
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Op, Ty};
use crate::lower::{Lower, Scope};
use crate::units::{Dim, NUMBER, TICKS_PER_UNIT, TIME};

impl<'p> Names<'p> {
    /// The value of a parameter or constant; computed once.
    pub(crate) fn value_of(&self, name: &'p str, at: Span) -> Checked<Option<Node>> {
        if let Some(node) = self.values.borrow().get(name) {
            return Ok(Some(node.clone()));
        }
        let (expr, parameter) = match self.items.get(name) {
            Some(Item::Constant(expr)) => (*expr, None),
            Some(Item::Parameter(p)) => (self.settings.get(name).unwrap_or(&p.value), Some(*p)),
            Some(Item::Hop) => return Ok(Some(Node::int(self.hop.number.into()))),
            _ => return Ok(None),
        };
        if self.under_way.borrow().contains(&name) {
            return Err(Fault::new(
                at,
                format!("the value of {name} depends on itself"),
            ));
        }
        self.under_way.borrow_mut().push(name);
        let node = self.constant(expr);
        self.under_way.borrow_mut().pop();
        let node = match parameter {
            Some(parameter) => self.checked_parameter(parameter, expr, node?)?,
            None => node?,
        };
        self.values.borrow_mut().insert(name, node.clone());
        Ok(Some(node))
    }

    /// The value of a parameter, if it has the type of the default and is in its range.
    pub(super) fn checked_parameter(
        &self,
        parameter: &Parameter,
        expr: &Expr,
        node: Node,
    ) -> Checked<Node> {
        let default = match std::ptr::eq(expr, &raw const parameter.value) {
            true => node.clone(),
            false => self.constant(&parameter.value)?,
        };
        let node = match default.ty {
            Ty::Real(dim) if dim == NUMBER => node.into_real_if_int(),
            _ => node,
        };
        if node.ty != default.ty {
            let expected = format!(
                "{} for {}",
                self.type_words(default.ty),
                parameter.name.text
            );
            return Err(Fault::expected(expr.at, expected, self.value_words(&node)));
        }
        if let Some(of) = &parameter.of {
            let fits = match (self.items.get(of.text.as_str()), of.text.as_str()) {
                (Some(&Item::Enum(number)), _) => node.ty == Ty::Enum(number),
                (_, "int") => node.ty == Ty::Int,
                (_, "bool") => node.ty == Ty::Bool,
                (_, "time") => node.ty == Ty::Real(TIME),
                (_, "real") => matches!(node.ty, Ty::Real(_)),
                _ => {
                    let known = self.enums.iter().map(|e| e.name);
                    return Err(Fault::unknown(of.at, "a type", &of.text, known));
                }
            };
            if !fits {
                let found = self.type_words(node.ty);
                return Err(Fault::expected(
                    expr.at,
                    format!("a value of {}", of.text),
                    found,
                ));
            }
        }
        if let Some((low, high)) = &parameter.range {
            let bounds = [self.constant(low)?, self.constant(high)?];
            let [low, high] = bounds.each_ref().map(Node::as_real);
            let value = node.as_real();
            if value < low || value > high {
                let [low, high] = bounds.each_ref().map(|bound| self.value_words(bound));
                let expected = format!("{low} to {high} for {}", parameter.name.text);
                return Err(Fault::expected(expr.at, expected, self.value_words(&node)));
            }
        }
        Ok(node)
    }

    /// The value of an expression that uses parameters and constants only.
    pub(crate) fn constant(&self, expr: &Expr) -> Checked<Node> {
        let node = Lower::new(self, Scope::constant()).number(expr)?;
        match node.is_constant() {
            true => Ok(node),
            false => Err(Fault::new(
                expr.at,
                "expected a value that is known before the run",
            )),
        }
    }

    pub(crate) fn int(&self, expr: &Expr) -> Checked<i64> {
        self.constant_of(expr, Ty::Int, "a whole number")
    }

    pub(crate) fn real(&self, expr: &Expr, dim: Dim) -> Checked<f64> {
        let node = self.constant(expr)?.into_real_if_int();
        match (node.ty == Ty::Real(dim), node.as_real()) {
            (true, Some(x)) => Ok(x),
            _ => Err(Fault::expected(expr.at, dim, self.value_words(&node))),
        }
    }

    pub(crate) fn condition(&self, expr: &Expr) -> Checked<bool> {
        Ok(self.constant_of(expr, Ty::Bool, "a condition")? != 0)
    }

    fn constant_of(&self, expr: &Expr, ty: Ty, expected: &str) -> Checked<i64> {
        let node = self.constant(expr)?;
        let value = node.as_int().filter(|_| node.ty == ty);
        value.ok_or_else(|| Fault::expected(expr.at, expected, self.value_words(&node)))
    }

    /// The fault of a value of type `found` where another one is expected.
    pub(crate) fn mistyped(&self, at: Span, expected: impl Display, found: Ty) -> Fault {
        Fault::expected(at, expected, self.type_words(found))
    }

    /// What values of a type are.
    pub(crate) fn type_words(&self, ty: Ty) -> String {
        match ty {
            Ty::Int => "a whole number".to_owned(),
            Ty::Bool => "a condition".to_owned(),
            Ty::Enum(number) => {
                let of = &self.enums[number];
                format!("one of {}", of.values.join(", "))
            }
            Ty::Real(dim) => dim.to_string(),
        }
    }

    /// A value as it could be written.
    pub(crate) fn value_words(&self, node: &Node) -> String {
        match (node.ty, &node.op) {
            (Ty::Bool, Op::Int(b)) => (*b != 0).to_string(),
            (Ty::Enum(number), Op::Int(value)) => {
                let of = self.enums[number].values.get(*value as usize);
                of.copied().unwrap_or_default().to_owned()
            }
            (Ty::Int, Op::Int(n)) => n.to_string(),
            (Ty::Real(TIME), Op::Real(ticks)) => {
                let value = ticks / TICKS_PER_UNIT;
                format!("{value} {}", self.clock.unit)
            }
            (Ty::Real(dim), Op::Real(x)) => self.clock.words(*x, dim),
            (ty, _) => self.type_words(ty),
        }
    }
}
