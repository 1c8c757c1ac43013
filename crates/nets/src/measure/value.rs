//! Numbers computed from what was counted.

use inorder_petri::coloured::PlaceId;

use crate::operator::{Arith, Operator};

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Leaf {
    /// Of the transition with this index.
    Firings(usize),
    Busy(usize),
    Arrivals(PlaceId),
    Tokens(PlaceId),
    WithKey(PlaceId, u32),
    Peak(PlaceId),
    /// Time after the warm-up.
    Ticks,
    /// Of the collector with this index.
    Sum(usize),
    Mean(usize),
    Quantile(usize, f64),
    Gauge(usize),
}

/// An expression; conditions are 0 or 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Measure {
    Number(f64),
    Leaf(Leaf),
    Negative(Box<Self>),
    Not(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
    If(Box<[Self; 3]>),
}

impl Measure {
    /// Looks at everything that it counts.
    pub(crate) fn walk(&self, see: &mut dyn FnMut(Leaf)) {
        match self {
            Self::Number(_) => {}
            Self::Leaf(of) => see(*of),
            Self::Negative(a) | Self::Not(a) => a.walk(see),
            Self::Binary(_, a, b) => [a, b].into_iter().for_each(|part| part.walk(see)),
            Self::If(parts) => parts.iter().for_each(|part| part.walk(see)),
        }
    }

    /// Whether it is a number of firings or of tokens per time.
    pub(crate) fn is_rate(&self) -> bool {
        let Self::Binary(Operator::Arith(Arith::Divide), count, time) = self else {
            return false;
        };
        let is_count = matches!(**count, Self::Leaf(Leaf::Firings(_) | Leaf::Arrivals(_)));
        is_count && **time == Self::Leaf(Leaf::Ticks)
    }

    pub(crate) fn value(&self, leaf: &dyn Fn(Leaf) -> f64) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Leaf(of) => leaf(*of),
            Self::Negative(a) => -a.value(leaf),
            Self::Not(a) => 1.0 - a.value(leaf),
            Self::Binary(operator, a, b) => binary(*operator, a.value(leaf), b.value(leaf)),
            Self::If(parts) => {
                let [on, then, otherwise] = parts.as_ref();
                if on.value(leaf) != 0.0 {
                    then.value(leaf)
                } else {
                    otherwise.value(leaf)
                }
            }
        }
    }
}

fn binary(operator: Operator, a: f64, b: f64) -> f64 {
    let holds = match operator {
        Operator::Arith(arith) => return arith.of_reals(a, b),
        Operator::Compare(compare) => compare.holds(&a, &b),
        Operator::And => a != 0.0 && b != 0.0,
        Operator::Or => a != 0.0 || b != 0.0,
    };
    f64::from(u8::from(holds))
}
