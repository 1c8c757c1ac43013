//! The operators of expressions and what they compute, for the text as well as for what is made of it.

/// An operator between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Arith(Arith),
    Compare(Compare),
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arith {
    Add,
    Subtract,
    Multiply,
    /// Only of real numbers.
    Divide,
    /// Only of integers.
    Div,
    /// Only of integers.
    Mod,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Arith {
    pub(crate) fn of_ints(self, a: i64, b: i64) -> Option<i64> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => None,
            Self::Div => a.checked_div_euclid(b),
            Self::Mod => a.checked_rem_euclid(b),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
        }
    }

    pub(crate) fn of_reals(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Div => libm::floor(a / b),
            Self::Mod => a - b * libm::floor(a / b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

impl Compare {
    pub(crate) fn holds<T: PartialOrd>(self, a: &T, b: &T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Unequal => a != b,
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::Greater => a > b,
            Self::AtLeast => a >= b,
        }
    }
}
