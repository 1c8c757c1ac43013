//! Checked expressions, with constants computed.

use std::cmp::Ordering;
use std::sync::Arc;

use inorder_petri::net::Drawn;

use crate::error::Span;
use crate::operator::{Arith, Compare};
use crate::units::Dim;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ty {
    Int,
    Bool,
    /// An enumeration, by its index.
    Enum(usize),
    Real(Dim),
}

/// Where a field is within a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) at: usize,
    pub(crate) size: Size,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// One word: numbers in this range.
    Narrow { low: i64, high: i64 },
    /// Two words: a 64-bit integer, or a real number.
    Wide,
}

/// A checked expression for a number; `op` computes 64-bit integers unless `ty` is real.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) ty: Ty,
    pub(crate) op: Op,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Op {
    Int(i64),
    Real(f64),
    /// The field of a bound token.
    Field(usize, Slot),
    Colour,
    Now,
    Started,
    /// A variable: its first cell, the number of its cells, the index, and the place of the index.
    Variable(usize, usize, Option<Box<Node>>, Span),
    ToReal(Box<Node>),
    /// A real number rounded, with the place of the function for errors of a run.
    Whole(Rounding, Box<Node>, Span),
    /// Of a real number; a whole one is subtracted from 0.
    Negative(Box<Node>),
    Not(Box<Node>),
    Arith(Arith, Box<Node>, Box<Node>, Span),
    Compare(Compare, Box<Node>, Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    If(Box<Node>, Box<Node>, Box<Node>),
    /// The arm at the value of the first node; the last arm is for all other values.
    Case(Box<Node>, Vec<Node>),
    Draw(Box<Draw>),
}

/// A random number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draw {
    pub(crate) kind: DrawKind,
    /// The stream; `None` for that of the transition.
    pub(crate) stream: Option<usize>,
    /// Where its arguments are, for errors of a run.
    pub(crate) at: Span,
}

impl DrawKind {
    /// Its arguments, if they are numbers that it may not have any value of; `None` for the families, whose parameters are
    /// checked when they are read.
    pub(crate) fn arguments(&self) -> Option<[&Node; 2]> {
        match self {
            Self::Exponential(a) | Self::Chance(a) | Self::Below(a) => Some([a, a]),
            Self::Uniform(a, b) | Self::Erlang(a, b) => Some([a, b]),
            Self::Unit | Self::Empirical(_) | Self::Family(_) => None,
        }
    }

    /// What was expected of these arguments, and what was found instead. Times are in ticks here, which nobody has written.
    pub(crate) fn unfit(&self, [a, b]: [f64; 2]) -> Option<(&'static str, Found)> {
        // A probability that is computed, as 1 - 0.9 - 0.1, may be rounded beyond 0.
        const ROUNDING: f64 = 1e-9;
        let probabilities = -ROUNDING..=1.0 + ROUNDING;
        let is_below = |x: f64, least: f64| least.partial_cmp(&x).is_none_or(Ordering::is_gt);
        let number = |expected, found| Some((expected, Found::Number(found)));
        let words = |expected, found| Some((expected, Found::Words(found)));
        match self {
            Self::Chance(_) if !probabilities.contains(&a) => {
                number("a probability from 0 to 1", a)
            }
            Self::Below(_) if is_below(a, 1.0) => number("a whole number above 0", a),
            Self::Uniform(..) if is_below(b, a) => {
                words("a lower bound not above the upper one", "one above it")
            }
            Self::Erlang(..) if is_below(a, 1.0) => number("at least one stage", a),
            Self::Exponential(_) | Self::Erlang(..) if is_below(b, 0.0) => {
                words("a mean of 0 or above", "a negative one")
            }
            _ => None,
        }
    }
}

/// What was found instead of something else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Found {
    Number(f64),
    Words(&'static str),
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Words(words) => words.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DrawKind {
    Exponential(Node),
    Uniform(Node, Node),
    Erlang(Node, Node),
    Unit,
    Chance(Node),
    Below(Node),
    /// Values with the sums of the weights up to them, rising to 1.
    Empirical(Vec<(f64, Node)>),
    Family(Arc<Drawn>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    Floor,
    Ceil,
    Nearest,
}

impl Rounding {
    /// `None` if the whole number has more than 64 bits, or there is none.
    pub(crate) fn of(self, x: f64) -> Option<i64> {
        let whole = match self {
            Self::Floor => libm::floor(x),
            Self::Ceil => libm::ceil(x),
            Self::Nearest => libm::floor(x + 0.5),
        };
        // -2^63 is a number of 64 bits, 2^63 is none; both are floating-point numbers.
        let bound = -(i64::MIN as f64);
        (-bound..bound).contains(&whole).then_some(whole as i64)
    }
}

impl Node {
    pub(crate) fn int(n: i64) -> Self {
        Self {
            ty: Ty::Int,
            op: Op::Int(n),
        }
    }

    pub(crate) fn bool(b: bool) -> Self {
        Self {
            ty: Ty::Bool,
            op: Op::Int(b.into()),
        }
    }

    pub(crate) fn real(x: f64, dim: Dim) -> Self {
        Self {
            ty: Ty::Real(dim),
            op: Op::Real(x),
        }
    }

    pub(crate) fn as_int(&self) -> Option<i64> {
        match self.op {
            Op::Int(n) => Some(n),
            _ => None,
        }
    }

    pub(crate) fn as_real(&self) -> Option<f64> {
        match self.op {
            Op::Real(x) => Some(x),
            Op::Int(n) if self.ty == Ty::Int => Some(n as f64),
            _ => None,
        }
    }

    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.op, Op::Int(_) | Op::Real(_))
    }

    pub(crate) fn is_real(&self) -> bool {
        matches!(self.ty, Ty::Real(_))
    }

    /// The node as a real number.
    pub(crate) fn into_real(self) -> Self {
        match (self.ty, self.as_int()) {
            (Ty::Real(_), _) => self,
            (_, Some(n)) => Self::real(n as f64, crate::units::NUMBER),
            _ => Self {
                ty: Ty::Real(crate::units::NUMBER),
                op: Op::ToReal(Box::new(self)),
            },
        }
    }

    /// Calls `see` for this node and all below it.
    pub(crate) fn walk(&self, see: &mut dyn FnMut(&Op)) {
        see(&self.op);
        match &self.op {
            Op::Variable(_, _, Some(a), _)
            | Op::ToReal(a)
            | Op::Whole(_, a, _)
            | Op::Negative(a)
            | Op::Not(a) => a.walk(see),
            Op::Arith(_, a, b, _) | Op::Compare(_, a, b) | Op::And(a, b) | Op::Or(a, b) => {
                a.walk(see);
                b.walk(see);
            }
            Op::If(a, b, c) => [a, b, c].into_iter().for_each(|n| n.walk(see)),
            Op::Case(on, arms) => {
                on.walk(see);
                arms.iter().for_each(|n| n.walk(see));
            }
            Op::Draw(draw) => match &draw.kind {
                DrawKind::Exponential(a) | DrawKind::Chance(a) | DrawKind::Below(a) => a.walk(see),
                DrawKind::Uniform(a, b) | DrawKind::Erlang(a, b) => {
                    a.walk(see);
                    b.walk(see);
                }
                DrawKind::Empirical(values) => values.iter().for_each(|(_, n)| n.walk(see)),
                DrawKind::Unit | DrawKind::Family(_) => {}
            },
            _ => {}
        }
    }
}

/// A checked expression for a token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TokenNode {
    pub(crate) record: usize,
    pub(crate) op: TokenOp,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenOp {
    /// The token bound at this index.
    Bound(usize),
    /// All fields 0 but these.
    New(Vec<Store>),
    With(Box<TokenNode>, Vec<Store>),
    If(Box<Node>, Box<TokenNode>, Box<TokenNode>),
}

/// A field and its new value, with the place of the value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Store {
    pub(crate) slot: Slot,
    pub(crate) value: Node,
    pub(crate) at: Span,
}

impl Node {
    /// A whole number as a real one; anything else as it is.
    pub(crate) fn into_real_if_int(self) -> Self {
        match self.ty {
            Ty::Int => self.into_real(),
            _ => self,
        }
    }
}
