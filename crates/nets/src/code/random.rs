//! Random numbers of expressions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inorder_base::random::Random;
use inorder_petri::coloured::Bound;

use super::choices::{Choices, MAX_VALUES};
use super::{Int, Real, Shared, Wrong};
use crate::ir::{Draw, DrawKind, Node};
use crate::token::Token;

/// A random number from a generator.
type From<const N: usize, T> = Box<dyn Fn(&Bound<'_, Token<N>>, &mut Random) -> T + Send + Sync>;

impl Shared {
    /// Draws from the stream that is named, or from that of the transition.
    fn drawn<const N: usize, T: 'static>(&self, draw: &Draw, from: From<N, T>) -> From<N, T> {
        let Some(stream) = draw.stream else {
            return from;
        };
        let streams = Arc::clone(&self.streams);
        Box::new(move |b, _| {
            // The stream is put back after the draw, whose arguments may draw from it, too.
            let mut random = locked(&streams[stream]).clone();
            let value = from(b, &mut random);
            *locked(&streams[stream]) = random;
            value
        })
    }

    /// A choice that is made in every way.
    fn chosen<const N: usize>(&self, draw: &Draw, choices: &Arc<Choices>) -> Option<Int<N>> {
        let (choices, fit) = (Arc::clone(choices), self.fit(draw));
        Some(match &draw.kind {
            DrawKind::Chance(p) => {
                let p: Real<N> = self.real(p);
                Box::new(move |b, r| {
                    let p = p(b, r);
                    fit([p, p]);
                    i64::from(choices.chance(p))
                })
            }
            DrawKind::Below(n) => {
                let n: Int<N> = self.int(n);
                let (errors, at) = (Arc::clone(&self.errors), draw.at);
                Box::new(move |b, r| {
                    let n = n(b, r);
                    fit([n as f64, n as f64]);
                    let n = u64::try_from(n).unwrap_or(0);
                    if n > MAX_VALUES {
                        errors.tell(at, Wrong::Values(n));
                    }
                    choices.below(n).cast_signed()
                })
            }
            DrawKind::Empirical(values) => {
                let values = self.values(values, Shared::int::<N>);
                Box::new(move |b, r| {
                    let index = choices.one_of(values.iter().map(|(bound, _)| *bound));
                    values[index].1(b, r)
                })
            }
            _ => return None,
        })
    }

    /// Looks whether a random function can have these arguments, unless they are constant and were looked at before.
    fn fit(&self, draw: &Draw) -> impl Fn([f64; 2]) + Send + Sync + use<> {
        let constants = draw.kind.arguments();
        let is_known = constants.is_some_and(|both| both.iter().all(|a| a.as_real().is_some()));
        let (kind, at, errors) = (draw.kind.clone(), draw.at, Arc::clone(&self.errors));
        move |given| {
            if !is_known && let Some((expected, found)) = kind.unfit(given) {
                errors.tell(at, Wrong::Argument(expected, found));
            }
        }
    }

    pub(super) fn draw_int<const N: usize>(&self, draw: &Draw) -> Int<N> {
        if let Some(choices) = &self.choices
            && let Some(chosen) = self.chosen(draw, choices)
        {
            return chosen;
        }
        let fit = self.fit(draw);
        let from: From<N, i64> = match &draw.kind {
            DrawKind::Chance(p) => {
                let p: Real<N> = self.real(p);
                Box::new(move |b, r| {
                    let p = p(b, r);
                    fit([p, p]);
                    i64::from(r.chance(p))
                })
            }
            DrawKind::Below(n) => {
                let n: Int<N> = self.int(n);
                Box::new(move |b, r| {
                    let n = n(b, r);
                    fit([n as f64, n as f64]);
                    r.below(u64::try_from(n).unwrap_or(0)).cast_signed()
                })
            }
            DrawKind::Empirical(values) => {
                let values = self.values(values, Shared::int::<N>);
                Box::new(move |b, r| one(&values, r)(b, r))
            }
            // The others are real.
            _ => Box::new(|_, _| 0),
        };
        self.drawn(draw, from)
    }

    pub(super) fn draw_real<const N: usize>(&self, draw: &Draw) -> Real<N> {
        if let (Some(choices), DrawKind::Empirical(values)) = (&self.choices, &draw.kind) {
            let choices = Arc::clone(choices);
            let values = self.values(values, Shared::real::<N>);
            return Box::new(move |b, r| {
                let index = choices.one_of(values.iter().map(|(bound, _)| *bound));
                values[index].1(b, r)
            });
        }
        let fit = self.fit(draw);
        let from: From<N, f64> = match &draw.kind {
            DrawKind::Exponential(mean) => match mean.as_real() {
                Some(mean) => Box::new(move |_, r| r.exponential() * mean),
                None => {
                    let mean: Real<N> = self.real(mean);
                    Box::new(move |b, r| {
                        let mean = mean(b, r);
                        fit([mean, mean]);
                        r.exponential() * mean
                    })
                }
            },
            DrawKind::Uniform(low, high) => {
                let (low, high): (Real<N>, Real<N>) = (self.real(low), self.real(high));
                Box::new(move |b, r| {
                    let (low, high) = (low(b, r), high(b, r));
                    fit([low, high]);
                    low + (high - low) * r.unit()
                })
            }
            DrawKind::Erlang(stages, mean) => {
                let (stages, mean): (Int<N>, Real<N>) = (self.int(stages), self.real(mean));
                Box::new(move |b, r| {
                    let (stages, mean) = (stages(b, r), mean(b, r));
                    fit([stages as f64, mean]);
                    if stages < 1 {
                        return 0.0;
                    }
                    let sum: f64 = (0..stages).map(|_| r.exponential()).sum();
                    sum / stages as f64 * mean
                })
            }
            DrawKind::Unit => Box::new(|_, r| r.unit()),
            DrawKind::Family(drawn) => {
                let drawn = Arc::clone(drawn);
                Box::new(move |_, r| drawn.sample(r))
            }
            DrawKind::Empirical(values) => {
                let values = self.values(values, Shared::real::<N>);
                Box::new(move |b, r| one(&values, r)(b, r))
            }
            // The others are whole.
            _ => Box::new(|_, _| 0.0),
        };
        self.drawn(draw, from)
    }

    fn values<F>(&self, values: &[(f64, Node)], make: fn(&Shared, &Node) -> F) -> Vec<(f64, F)> {
        let make = |(bound, node): &(f64, Node)| (*bound, make(self, node));
        values.iter().map(make).collect()
    }
}

/// What a lock protects is complete at any time, whatever happened to who held it.
pub(super) fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value whose share of the interval from 0 to 1 a random number hits.
fn one<'v, F>(values: &'v [(f64, F)], random: &mut Random) -> &'v F {
    let at = random.unit();
    let index = values.iter().position(|(bound, _)| at < *bound);
    &values[index.unwrap_or(values.len() - 1)].1
}
