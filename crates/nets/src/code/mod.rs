//! Checked expressions as functions of the tokens bound by a firing.
//!
//! Every part of an expression becomes a closure that calls those of its own parts. Frequent forms (a field, a constant,
//! a field compared with either) are one closure each, so that most guards and arcs call no further one.

pub(crate) mod choices;
mod random;
mod write;

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use inorder_base::random::Random;
use inorder_petri::coloured::Bound;

use crate::error::Span;
use crate::ir::{DrawKind, Found, Node, Op, Rounding, Size, Slot, Ty};
use crate::operator::{Arith, Compare};
use crate::token::Token;

pub(crate) type Int<const N: usize> =
    Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) -> i64 + Send + Sync>;
pub(crate) type Real<const N: usize> =
    Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) -> f64 + Send + Sync>;
pub(crate) type Make<const N: usize> =
    Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) -> Token<N> + Send + Sync>;

/// What a value at run time may do wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wrong {
    /// A value outside of the range of its field.
    Range {
        value: i64,
        low: i64,
        high: i64,
    },
    DivisionByZero,
    /// An index of a list that has this number of cells.
    Index {
        value: i64,
        cells: usize,
    },
    Delay,
    /// A number of tokens or a key below 0 or above 2^32 - 1.
    Count(i64),
    /// Arguments that a random function cannot have: what was expected, and what was found.
    Argument(&'static str, Found),
    /// More values of a random number than are followed where the states of a net are listed.
    Values(u64),
    /// A whole number of more than 64 bits.
    Overflow,
    /// A delay that is above 0, but rounded to whole ticks is not, or hardly.
    Short,
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Range { value, low, high } => {
                write!(f, "expected {low} to {high} for the field, found {value}")
            }
            Self::DivisionByZero => f.write_str("expected a divisor other than 0, found 0"),
            Self::Index { value, cells } => {
                write!(f, "expected an index in 0..{cells}, found {value}")
            }
            Self::Delay => {
                f.write_str("expected a delay of 0 to 4e18 ticks, found a negative or a longer one")
            }
            Self::Count(value) => {
                write!(f, "expected a number from 0 to 4294967295, found {value}")
            }
            Self::Argument(expected, found) => write!(f, "expected {expected}, found {found}"),
            Self::Values(found) => write!(
                f,
                "expected at most {} values, each of which is followed, found {found}; simulate this net instead",
                choices::MAX_VALUES
            ),
            Self::Overflow => f.write_str("expected a whole number of 64 bits, found a larger one"),
            Self::Short => f.write_str(
                "expected a delay of 0 or of at least a tick, a thousandth of the clock's unit, found a shorter one; `clock` \
                 declares another unit",
            ),
        }
    }
}

/// The first error of a run.
#[derive(Default)]
pub(crate) struct Errors(OnceLock<(Span, Wrong)>);

impl Errors {
    #[cold]
    pub(crate) fn tell(&self, at: Span, wrong: Wrong) {
        self.0.get_or_init(|| (at, wrong));
    }

    pub(crate) fn first(&self) -> Option<(Span, Wrong)> {
        self.0.get().copied()
    }
}

/// What all functions of a run share. A run uses one thread at a time, but may move from one to another.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) variables: Arc<[AtomicI64]>,
    pub(crate) streams: Arc<[Mutex<Random>]>,
    pub(crate) errors: Arc<Errors>,
    /// Random choices are made in every way instead of by chance.
    pub(crate) choices: Option<Arc<choices::Choices>>,
}

/// An operand that needs no call.
#[derive(Clone, Copy)]
enum Simple {
    Constant(i64),
    /// A narrow field: index of the token, word.
    Word(usize, usize),
}

fn simple(node: &Node) -> Option<Simple> {
    match node.op {
        Op::Int(n) => Some(Simple::Constant(n)),
        Op::Field(
            token,
            Slot {
                at,
                size: Size::Narrow { .. },
            },
        ) => Some(Simple::Word(token, at)),
        _ => None,
    }
}

impl Shared {
    /// A function for a whole number, a condition (0 or 1) or a value of an enumeration.
    pub(crate) fn int<const N: usize>(&self, node: &Node) -> Int<N> {
        match &node.op {
            &Op::Int(n) => Box::new(move |_, _| n),
            &Op::Field(token, slot) => field(token, slot),
            Op::Colour => Box::new(|b, _| i64::from(b.colour)),
            Op::Variable(first, cells, index, at) => {
                self.variable(*first, *cells, index.as_deref(), *at)
            }
            Op::Whole(rounding, a, at) => self.whole(*rounding, a, *at),
            Op::Not(a) => {
                let a: Int<N> = self.int(a);
                Box::new(move |b, r| a(b, r) ^ 1)
            }
            Op::Arith(arith, a, b, at) => self.arith(*arith, a, b, *at),
            Op::Compare(compare, a, b) if a.is_real() => self.compare_reals(*compare, a, b),
            Op::Compare(compare, a, b) => self.compare(*compare, a, b),
            Op::And(a, b) => {
                let (a, b): (Int<N>, Int<N>) = (self.int(a), self.int(b));
                Box::new(move |t, r| i64::from(a(t, r) != 0 && b(t, r) != 0))
            }
            Op::Or(a, b) => {
                let (a, b): (Int<N>, Int<N>) = (self.int(a), self.int(b));
                Box::new(move |t, r| i64::from(a(t, r) != 0 || b(t, r) != 0))
            }
            Op::If(on, then, otherwise) => {
                let (on, then, otherwise): (Int<N>, Int<N>, Int<N>) =
                    (self.int(on), self.int(then), self.int(otherwise));
                Box::new(move |b, r| {
                    if on(b, r) != 0 {
                        then(b, r)
                    } else {
                        otherwise(b, r)
                    }
                })
            }
            Op::Case(on, arms) => self.case_of_ints(on, arms),
            Op::Draw(draw) => self.draw_int(draw),
            // These are real numbers, which are never asked for as integers.
            Op::Real(_) | Op::Now | Op::Started | Op::ToReal(_) | Op::Negative(_) => {
                Box::new(|_, _| 0)
            }
        }
    }

    /// A rounded number, with an error where it has more than 64 bits.
    fn whole<const N: usize>(&self, rounding: Rounding, a: &Node, at: Span) -> Int<N> {
        let (a, errors): (Real<N>, _) = (self.real(a), Arc::clone(&self.errors));
        Box::new(move |b, r| {
            rounding.of(a(b, r)).unwrap_or_else(|| {
                errors.tell(at, Wrong::Overflow);
                0
            })
        })
    }

    /// A function for a real number; whole numbers are converted.
    pub(crate) fn real<const N: usize>(&self, node: &Node) -> Real<N> {
        if !node.is_real() {
            let of: Int<N> = self.int(node);
            return Box::new(move |b, r| of(b, r) as f64);
        }
        match &node.op {
            &Op::Real(x) => Box::new(move |_, _| x),
            &Op::Field(token, slot) => {
                Box::new(move |b, _| f64::from_bits(b.tokens[token].wide(slot.at).cast_unsigned()))
            }
            Op::Now => Box::new(|b, _| b.now as f64),
            Op::Started => Box::new(|b, _| b.started as f64),
            Op::Variable(first, cells, index, at) => {
                let bits: Int<N> = self.variable(*first, *cells, index.as_deref(), *at);
                Box::new(move |b, r| f64::from_bits(bits(b, r).cast_unsigned()))
            }
            Op::ToReal(a) => self.real(a),
            Op::Negative(a) => {
                let a: Real<N> = self.real(a);
                Box::new(move |b, r| -a(b, r))
            }
            Op::Arith(arith, a, b, _) => self.arith_of_reals(*arith, a, b),
            Op::If(on, then, otherwise) => {
                let on: Int<N> = self.int(on);
                let (then, otherwise): (Real<N>, Real<N>) = (self.real(then), self.real(otherwise));
                Box::new(move |b, r| {
                    if on(b, r) != 0 {
                        then(b, r)
                    } else {
                        otherwise(b, r)
                    }
                })
            }
            Op::Case(on, arms) => self.case_of_reals(on, arms),
            Op::Draw(draw) => self.draw_real(draw),
            // These are not real.
            _ => Box::new(|_, _| 0.0),
        }
    }

    fn variable<const N: usize>(
        &self,
        first: usize,
        cells: usize,
        index: Option<&Node>,
        at: Span,
    ) -> Int<N> {
        let variables = Arc::clone(&self.variables);
        let Some(index) = index else {
            return Box::new(move |_, _| variables[first].load(Relaxed));
        };
        let place = self.cell(cells, index, at);
        Box::new(move |b, r| variables[first + place(b, r)].load(Relaxed))
    }

    /// The cell of a list; outside of the list, the first one and an error.
    pub(crate) fn cell<const N: usize>(
        &self,
        cells: usize,
        index: &Node,
        at: Span,
    ) -> impl Fn(&Bound<'_, Token<N>>, &mut Random) -> usize + use<N> {
        let (index, errors): (Int<N>, _) = (self.int(index), Arc::clone(&self.errors));
        move |b, r| {
            let value = index(b, r);
            match usize::try_from(value) {
                Ok(cell) if cell < cells => cell,
                _ => {
                    errors.tell(at, Wrong::Index { value, cells });
                    0
                }
            }
        }
    }

    fn arith<const N: usize>(&self, arith: Arith, a: &Node, b: &Node, at: Span) -> Int<N> {
        match arith {
            Arith::Add => self.checked(a, b, i64::checked_add, at),
            Arith::Subtract => self.checked(a, b, i64::checked_sub, at),
            Arith::Multiply => self.checked(a, b, i64::checked_mul, at),
            Arith::Min => self.ints(a, b, i64::min),
            Arith::Max => self.ints(a, b, i64::max),
            Arith::Divide | Arith::Div | Arith::Mod => {
                // A constant divisor is not 0, which was checked; a positive one needs no care about signs.
                let of: fn(i64, i64) -> i64 = match arith {
                    Arith::Mod => |a, b| a.rem_euclid(b),
                    _ => |a, b| a.div_euclid(b),
                };
                match b.as_int() {
                    Some(by) if by > 0 => {
                        let a: Int<N> = self.int(a);
                        match arith {
                            Arith::Mod => Box::new(move |t, r| a(t, r).rem_euclid(by)),
                            _ => Box::new(move |t, r| a(t, r).div_euclid(by)),
                        }
                    }
                    _ => self.divided(a, b, of, at),
                }
            }
        }
    }

    fn divided<const N: usize>(
        &self,
        a: &Node,
        b: &Node,
        of: fn(i64, i64) -> i64,
        at: Span,
    ) -> Int<N> {
        let (a, b): (Int<N>, Int<N>) = (self.int(a), self.int(b));
        let errors = Arc::clone(&self.errors);
        Box::new(move |t, r| {
            let (a, b) = (a(t, r), b(t, r));
            match b {
                0 => {
                    errors.tell(at, Wrong::DivisionByZero);
                    0
                }
                -1 if a == i64::MIN => {
                    errors.tell(at, Wrong::Overflow);
                    0
                }
                b => of(a, b),
            }
        })
    }

    /// The same as [`Shared::ints`], with an error where the result has more than 64 bits.
    fn checked<const N: usize>(
        &self,
        a: &Node,
        b: &Node,
        of: impl Fn(i64, i64) -> Option<i64> + Send + Sync + 'static,
        at: Span,
    ) -> Int<N> {
        let errors = Arc::clone(&self.errors);
        self.ints(a, b, move |a, b| {
            of(a, b).unwrap_or_else(|| {
                errors.tell(at, Wrong::Overflow);
                0
            })
        })
    }

    /// A function of two whole numbers, with fewer calls if they are fields or constants.
    fn ints<const N: usize>(
        &self,
        a: &Node,
        b: &Node,
        of: impl Fn(i64, i64) -> i64 + Send + Sync + 'static,
    ) -> Int<N> {
        match (simple(a), simple(b)) {
            (Some(Simple::Word(i, at)), Some(Simple::Constant(n))) => {
                Box::new(move |t, _| of(t.tokens[i].word(at).into(), n))
            }
            (Some(Simple::Word(i, at)), Some(Simple::Word(j, to))) => {
                Box::new(move |t, _| of(t.tokens[i].word(at).into(), t.tokens[j].word(to).into()))
            }
            (_, Some(Simple::Constant(n))) => {
                let a: Int<N> = self.int(a);
                Box::new(move |t, r| of(a(t, r), n))
            }
            (_, Some(Simple::Word(j, to))) => {
                let a: Int<N> = self.int(a);
                Box::new(move |t, r| of(a(t, r), t.tokens[j].word(to).into()))
            }
            _ => {
                let (a, b): (Int<N>, Int<N>) = (self.int(a), self.int(b));
                Box::new(move |t, r| of(a(t, r), b(t, r)))
            }
        }
    }

    fn compare<const N: usize>(&self, compare: Compare, a: &Node, b: &Node) -> Int<N> {
        match compare {
            Compare::Equal => self.ints(a, b, |a, b| i64::from(a == b)),
            Compare::Unequal => self.ints(a, b, |a, b| i64::from(a != b)),
            Compare::Less => self.ints(a, b, |a, b| i64::from(a < b)),
            Compare::AtMost => self.ints(a, b, |a, b| i64::from(a <= b)),
            Compare::Greater => self.ints(a, b, |a, b| i64::from(a > b)),
            Compare::AtLeast => self.ints(a, b, |a, b| i64::from(a >= b)),
        }
    }

    fn compare_reals<const N: usize>(&self, compare: Compare, a: &Node, b: &Node) -> Int<N> {
        let (a, b): (Real<N>, Real<N>) = (self.real(a), self.real(b));
        Box::new(move |t, r| i64::from(compare.holds(&a(t, r), &b(t, r))))
    }

    fn arith_of_reals<const N: usize>(&self, arith: Arith, a: &Node, b: &Node) -> Real<N> {
        if let (Some(x), Arith::Multiply) = (b.as_real(), arith) {
            let a: Real<N> = self.real(a);
            return Box::new(move |t, r| a(t, r) * x);
        }
        let (a, b): (Real<N>, Real<N>) = (self.real(a), self.real(b));
        match arith {
            Arith::Add => Box::new(move |t, r| a(t, r) + b(t, r)),
            Arith::Multiply => Box::new(move |t, r| a(t, r) * b(t, r)),
            _ => Box::new(move |t, r| arith.of_reals(a(t, r), b(t, r))),
        }
    }

    fn case_of_ints<const N: usize>(&self, on: &Node, arms: &[Node]) -> Int<N> {
        let on: Int<N> = self.int(on);
        let last = arms.len().saturating_sub(1);
        let arms: Vec<Int<N>> = arms.iter().map(|arm| self.int(arm)).collect();
        Box::new(move |b, r| {
            let at = usize::try_from(on(b, r)).unwrap_or(last).min(last);
            arms[at](b, r)
        })
    }

    fn case_of_reals<const N: usize>(&self, on: &Node, arms: &[Node]) -> Real<N> {
        let on: Int<N> = self.int(on);
        let last = arms.len().saturating_sub(1);
        let constants: Option<Vec<f64>> = arms.iter().map(Node::as_real).collect();
        if let Some(constants) = constants {
            return Box::new(move |b, r| {
                constants[usize::try_from(on(b, r)).unwrap_or(last).min(last)]
            });
        }
        let arms: Vec<Real<N>> = arms.iter().map(|arm| self.real(arm)).collect();
        Box::new(move |b, r| {
            let at = usize::try_from(on(b, r)).unwrap_or(last).min(last);
            arms[at](b, r)
        })
    }

    /// A number of tokens or a key.
    pub(crate) fn count<const N: usize>(
        &self,
        node: &Node,
        at: Span,
    ) -> impl Fn(&Bound<'_, Token<N>>, &mut Random) -> u32 + use<N> {
        let (of, errors): (Int<N>, _) = (self.int(node), Arc::clone(&self.errors));
        move |b, r| {
            let value = of(b, r);
            u32::try_from(value).unwrap_or_else(|_| {
                errors.tell(at, Wrong::Count(value));
                0
            })
        }
    }

    /// The number of exponential stages of a delay and the mean of their sum; `None` for other delays.
    pub(crate) fn stages<const N: usize>(
        &self,
        kind: &DrawKind,
        at: Span,
    ) -> Option<impl Fn(&Bound<'_, Token<N>>, &mut Random) -> (u32, f64) + use<N>> {
        let (stages, mean): (Int<N>, Real<N>) = match kind {
            DrawKind::Exponential(mean) => (Box::new(|_, _| 1), self.real(mean)),
            DrawKind::Erlang(stages, mean) => (self.int(stages), self.real(mean)),
            _ => return None,
        };
        let errors = Arc::clone(&self.errors);
        Some(move |b: &Bound<'_, Token<N>>, r: &mut Random| {
            let mean = mean(b, r);
            // Without a mean above 0 there is no rate.
            if mean.is_nan() || mean <= 0.0 {
                errors.tell(at, Wrong::Delay);
            }
            (u32::try_from(stages(b, r)).unwrap_or(0).max(1), mean)
        })
    }

    /// A duration in whole ticks.
    pub(crate) fn ticks<const N: usize>(
        &self,
        node: &Node,
        at: Span,
    ) -> impl Fn(&Bound<'_, Token<N>>, &mut Random) -> u64 + use<N> {
        let (of, errors): (Real<N>, _) = (self.real(node), Arc::clone(&self.errors));
        move |b, r| {
            let ticks = of(b, r);
            if !DELAYS.contains(&ticks) {
                errors.tell(at, Wrong::Delay);
            }
            (ticks + 0.5) as u64
        }
    }
}

/// Delays in ticks; a longer one would reach the end of the clock, which counts to 2^64.
pub(crate) const DELAYS: std::ops::Range<f64> = 0.0..4e18;

fn field<const N: usize>(token: usize, slot: Slot) -> Int<N> {
    let at = slot.at;
    match slot.size {
        Size::Narrow { .. } => Box::new(move |b, _| i64::from(b.tokens[token].word(at))),
        Size::Wide => Box::new(move |b, _| b.tokens[token].wide(at)),
    }
}

/// The bits of a constant.
pub(crate) fn bits(node: &Node) -> Option<i64> {
    match (&node.op, node.ty) {
        (Op::Real(x), _) => Some(x.to_bits().cast_signed()),
        (Op::Int(n), Ty::Real(_)) => Some((*n as f64).to_bits().cast_signed()),
        (Op::Int(n), _) => Some(*n),
        _ => None,
    }
}
