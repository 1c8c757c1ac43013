//! Operators: which types and dimensions they join, and to what.

use super::{Lower, fold};
use crate::ast::Expr;
use crate::error::{Checked, Fault, Span};
use crate::ir::{Node, Ty};
use crate::operator::{Arith, Operator};

impl Lower<'_, '_> {
    pub(super) fn negative(&self, a: &Expr) -> Checked<Node> {
        let node = self.number(a)?;
        match node.ty {
            Ty::Real(_) => Ok(fold::negative(node)),
            // The least whole number has no negative one, which a run reports.
            Ty::Int => Ok(fold::arith(
                Arith::Subtract,
                Node::int(0),
                node,
                Ty::Int,
                a.at,
            )),
            ty => Err(self.names.mistyped(a.at, "a number", ty)),
        }
    }

    pub(super) fn binary(&self, operator: Operator, a: &Expr, b: &Expr, at: Span) -> Checked<Node> {
        let compare = match operator {
            Operator::And => return Ok(fold::and(self.condition(a)?, self.condition(b)?)),
            Operator::Or => return Ok(fold::or(self.condition(a)?, self.condition(b)?)),
            Operator::Arith(arith @ (Arith::Multiply | Arith::Divide)) => {
                return self.product(arith, a, b, at);
            }
            Operator::Arith(arith @ (Arith::Div | Arith::Mod)) => {
                return self.whole(arith, a, b, at);
            }
            Operator::Arith(arith) => return self.sum(arith, a, b, at),
            Operator::Compare(compare) => compare,
        };
        let (left, right) = self.alike(a, b)?;
        Ok(fold::compare(compare, left, right))
    }

    /// Two values of one type.
    pub(super) fn alike(&self, a: &Expr, b: &Expr) -> Checked<(Node, Node)> {
        let (mut left, mut right) = (self.number(a)?, self.number(b)?);
        if left.is_real() != right.is_real() {
            (left, right) = (left.into_real_if_int(), right.into_real_if_int());
        }
        match left.ty == right.ty {
            true => Ok((left, right)),
            false => {
                let (expected, found) = (left.ty, right.ty);
                let expected = self.names.type_words(expected);
                Err(self.names.mistyped(b.at, expected, found))
            }
        }
    }

    /// Of two numbers of the same dimension.
    pub(super) fn sum(&self, arith: Arith, a: &Expr, b: &Expr, at: Span) -> Checked<Node> {
        let (left, right) = self.alike(a, b)?;
        if matches!(left.ty, Ty::Bool | Ty::Enum(_)) {
            return Err(self.names.mistyped(a.at, "a number", left.ty));
        }
        let ty = left.ty;
        Ok(fold::arith(arith, left, right, ty, at))
    }

    pub(super) fn product(&self, arith: Arith, a: &Expr, b: &Expr, at: Span) -> Checked<Node> {
        let (left, right) = (self.quantity_of(a)?, self.quantity_of(b)?);
        if arith == Arith::Multiply && left.ty == Ty::Int && right.ty == Ty::Int {
            return Ok(fold::arith(arith, left, right, Ty::Int, at));
        }
        let (left, right) = (left.into_real(), right.into_real());
        let (Ty::Real(of), Ty::Real(by)) = (left.ty, right.ty) else {
            return Err(Fault::expected(at, "numbers", "something else"));
        };
        let dim = match arith {
            Arith::Multiply => of.times(by),
            _ => of.over(by),
        };
        Ok(fold::arith(arith, left, right, Ty::Real(dim), at))
    }

    pub(super) fn quantity_of(&self, expr: &Expr) -> Checked<Node> {
        let node = self.number(expr)?;
        match node.ty {
            Ty::Int | Ty::Real(_) => Ok(node),
            ty => Err(self.names.mistyped(expr.at, "a number", ty)),
        }
    }

    pub(super) fn whole(&self, arith: Arith, a: &Expr, b: &Expr, at: Span) -> Checked<Node> {
        let (left, right) = (self.int(a)?, self.int(b)?);
        if right.as_int() == Some(0) {
            return Err(Fault::expected(b.at, "a divisor other than 0", 0));
        }
        Ok(fold::arith(arith, left, right, Ty::Int, at))
    }
}
