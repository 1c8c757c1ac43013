//! Makes parts of expressions, computed at once if they are constant.

use crate::error::Span;
use crate::ir::{Node, Op, Ty};
use crate::operator::{Arith, Compare};

pub(super) fn not(a: Node) -> Node {
    match a.as_int() {
        Some(b) => Node::bool(b == 0),
        None => Node {
            ty: Ty::Bool,
            op: Op::Not(Box::new(a)),
        },
    }
}

pub(super) fn and(a: Node, b: Node) -> Node {
    logical(false, Op::And, a, b)
}

pub(super) fn or(a: Node, b: Node) -> Node {
    logical(true, Op::Or, a, b)
}

/// `op` of two conditions, which is `decided` as soon as one of them is.
fn logical(decided: bool, op: fn(Box<Node>, Box<Node>) -> Op, a: Node, b: Node) -> Node {
    match (a.as_int(), b.as_int()) {
        (Some(one), _) | (_, Some(one)) if (one != 0) == decided => Node::bool(decided),
        (Some(_), _) => b,
        (_, Some(_)) => a,
        _ => Node {
            ty: Ty::Bool,
            op: op(Box::new(a), Box::new(b)),
        },
    }
}

/// Of a real number.
pub(super) fn negative(a: Node) -> Node {
    let op = match a.op {
        Op::Real(x) => Op::Real(-x),
        op => Op::Negative(Box::new(Node { ty: a.ty, op })),
    };
    Node { ty: a.ty, op }
}

pub(super) fn compare(compare: Compare, a: Node, b: Node) -> Node {
    match (&a.op, &b.op) {
        (Op::Int(a), Op::Int(b)) => Node::bool(compare.holds(a, b)),
        (Op::Real(a), Op::Real(b)) => Node::bool(compare.holds(a, b)),
        _ => Node {
            ty: Ty::Bool,
            op: Op::Compare(compare, Box::new(a), Box::new(b)),
        },
    }
}

/// Of two integers, or of two real numbers.
pub(super) fn arith(arith: Arith, a: Node, b: Node, ty: Ty, at: Span) -> Node {
    let known = match (&a.op, &b.op) {
        (&Op::Int(a), &Op::Int(b)) => arith.of_ints(a, b).map(Op::Int),
        (&Op::Real(a), &Op::Real(b)) => Some(Op::Real(arith.of_reals(a, b))),
        _ => None,
    };
    let op = known.unwrap_or_else(|| Op::Arith(arith, Box::new(a), Box::new(b), at));
    Node { ty, op }
}
