//! Conditions and numbers of one marking, and formulas about all that can follow.

use crate::net::{Net, PlaceId, TransitionId};

/// A number computed from a marking.
#[derive(Debug, Clone, PartialEq)]
pub enum Sum {
    /// A constant.
    Number(f64),
    /// The tokens of a place.
    Tokens(PlaceId),
    /// 1 if the condition holds, 0 otherwise.
    Indicator(Box<Formula>),
    /// `a + b + ...`
    Total(Vec<Sum>),
    /// `-a`
    Negative(Box<Sum>),
    /// `a * b * ...`
    Product(Vec<Sum>),
}

impl Sum {
    /// Its value in `marking` of `net`. A place that the marking does not have holds no tokens.
    pub fn value(&self, net: &Net, marking: &[u32]) -> f64 {
        let of = |sum: &Sum| sum.value(net, marking);
        match self {
            Sum::Number(number) => *number,
            Sum::Tokens(place) => marking.get(place.0).copied().map_or(0.0, f64::from),
            Sum::Indicator(condition) => f64::from(u8::from(condition.holds_in(net, marking))),
            Sum::Total(parts) => parts.iter().map(of).sum(),
            Sum::Negative(part) => -of(part),
            Sum::Product(parts) => parts.iter().map(of).product(),
        }
    }
}

impl Sum {
    /// Whether it asks what is enabled, which markings of a coloured net do not tell.
    pub(crate) fn asks_what_is_enabled(&self) -> bool {
        match self {
            Sum::Number(_) | Sum::Tokens(_) => false,
            Sum::Indicator(condition) => condition.asks_what_is_enabled(),
            Sum::Negative(part) => part.asks_what_is_enabled(),
            Sum::Total(parts) | Sum::Product(parts) => parts.iter().any(Self::asks_what_is_enabled),
        }
    }
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Different,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
}

impl Comparison {
    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::Different => a != b,
            Comparison::Less => a < b,
            Comparison::AtMost => a <= b,
            Comparison::More => a > b,
            Comparison::AtLeast => a >= b,
        }
    }
}

/// Of the firing sequences that begin in a marking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// At least one (`E`).
    Some,
    /// All of them (`A`).
    All,
}

/// A formula of computation tree logic (E. M. Clarke, E. A. Emerson, "Design and synthesis of synchronization
/// skeletons using branching-time temporal logic", 1981). Its paths are infinite, or end in a deadlock.
#[derive(Debug, Clone, PartialEq)]
pub enum Formula {
    /// `true` or `false`
    Constant(bool),
    /// No transition is enabled.
    Deadlock,
    /// A transition is enabled; priorities are ignored.
    Enabled(TransitionId),
    /// A comparison of two numbers.
    Compare(Sum, Comparison, Sum),
    /// `! f`
    Not(Box<Formula>),
    /// `f & g & ...`
    And(Vec<Formula>),
    /// `f | g | ...`
    Or(Vec<Formula>),
    /// `EX f`, `AX f`: after the next firing. Without a next firing, `EX` is false and `AX` is true.
    Next(Paths, Box<Formula>),
    /// `EF f`, `AF f`: now or later.
    Finally(Paths, Box<Formula>),
    /// `EG f`, `AG f`: now and ever after.
    Globally(Paths, Box<Formula>),
    /// `E[f U g]`, `A[f U g]`: `g` now or later, and `f` until then.
    Until(Paths, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// True if a single marking decides the formula.
    pub(crate) fn is_condition(&self) -> bool {
        match self {
            Formula::Constant(_)
            | Formula::Deadlock
            | Formula::Enabled(_)
            | Formula::Compare(..) => true,
            Formula::Not(f) => f.is_condition(),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().all(Formula::is_condition),
            Formula::Next(..)
            | Formula::Finally(..)
            | Formula::Globally(..)
            | Formula::Until(..) => false,
        }
    }

    fn asks_what_is_enabled(&self) -> bool {
        match self {
            Formula::Deadlock | Formula::Enabled(_) => true,
            Formula::Compare(a, _, b) => a.asks_what_is_enabled() || b.asks_what_is_enabled(),
            Formula::Not(f) => f.asks_what_is_enabled(),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().any(Self::asks_what_is_enabled)
            }
            _ => false,
        }
    }

    /// Whether a condition holds in `marking` of `net`; false for a formula that is not a condition.
    pub fn holds_in(&self, net: &Net, marking: &[u32]) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Deadlock => {
                (0..net.transitions.len()).all(|t| !net.is_enabled(TransitionId(t), marking))
            }
            Formula::Enabled(transition) => net.is_enabled(*transition, marking),
            Formula::Compare(a, comparison, b) => {
                comparison.holds(a.value(net, marking), b.value(net, marking))
            }
            Formula::Not(f) => !f.holds_in(net, marking),
            Formula::And(parts) => parts.iter().all(|part| part.holds_in(net, marking)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds_in(net, marking)),
            Formula::Next(..)
            | Formula::Finally(..)
            | Formula::Globally(..)
            | Formula::Until(..) => false,
        }
    }
}
