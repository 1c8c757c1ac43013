//! The interface of a running net for the estimators.

use crate::coloured::{Engine, RunError, Token};
use crate::schedule::tally::{PlaceTally, TransitionTally};

/// A running net, as used by the estimators.
pub trait Simulation {
    /// Places and transitions.
    fn layout(&self) -> Layout;

    /// Runs until `end`, in ticks. If nothing can happen any more, only time advances.
    fn advance(&mut self, end: u64) -> Result<(), RunError>;

    /// Sums from the start to `now`, the time last advanced to, in ticks.
    fn totals(&self, now: u64) -> Totals;

    /// Whether nothing can happen any more.
    fn stands_still(&self) -> bool;
}

/// The names of a net's places and transitions, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Places.
    pub places: Vec<String>,
    /// Transitions; `None` for an immediate one, otherwise its servers, `Some(None)` for no limit.
    pub transitions: Vec<(String, Option<Option<u32>>)>,
    /// Further numbers whose means are estimated.
    pub rewards: Vec<Reward>,
}

/// What a further number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reward {
    /// 1 while a condition holds, else 0: its mean is a share of the time.
    Condition,
    /// Any number.
    Number,
}

/// Sums over a run, by place and transition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Totals {
    /// Of the places.
    pub places: Vec<PlaceTotal>,
    /// Of the transitions.
    pub transitions: Vec<TransitionTotal>,
    /// Integrals over time of further numbers, in ticks.
    pub rewards: Vec<f64>,
    /// Their current values.
    pub rewards_now: Vec<f64>,
}

impl Totals {
    /// Firings of all transitions.
    pub fn firings(&self) -> u64 {
        self.transitions.iter().map(|t| t.firings).sum()
    }
}

/// Sums over the history of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlaceTotal {
    /// Integral of the number of tokens, tokens times ticks.
    pub integral: i128,
    /// Number of tokens that arrived.
    pub arrivals: u64,
    /// Current number of tokens.
    pub tokens: u32,
    /// Largest number of tokens at one time.
    pub peak: u32,
}

/// Sums over the history of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransitionTotal {
    /// Number of completed firings.
    pub firings: u64,
    /// Integral of the number of firings in progress (of running clocks), in ticks.
    pub busy: i128,
    /// Time with at least one firing in progress, in ticks.
    pub active: i128,
}

impl PlaceTotal {
    /// With `tokens` tokens at `now`.
    pub(crate) fn of(tally: &PlaceTally, tokens: u32, now: u64) -> Self {
        Self {
            integral: integral(tokens, now, tally.moment),
            arrivals: tally.arrivals,
            tokens,
            peak: tally.peak,
        }
    }
}

impl TransitionTotal {
    /// Up to `now`.
    pub(crate) fn of(tally: &TransitionTally, now: u64) -> Self {
        Self {
            firings: tally.firings,
            busy: integral(tally.busy, now, tally.busy_moment),
            active: integral(tally.busy.min(1), now, tally.active_moment),
        }
    }
}

/// The integral up to `now` of a number that is currently `n`.
fn integral(n: u32, now: u64, moment: i128) -> i128 {
    i128::from(n) * i128::from(now) + moment
}

impl<T: Token> Simulation for Engine<T> {
    fn layout(&self) -> Layout {
        Layout {
            places: self.names().places.clone(),
            transitions: self
                .in_order()
                .map(|(name, rule)| (name.clone(), rule.limit()))
                .collect(),
            rewards: Vec::new(),
        }
    }

    fn advance(&mut self, end: u64) -> Result<(), RunError> {
        self.run_until(end, &mut ()).map(|_| ())
    }

    fn stands_still(&self) -> bool {
        self.has_ended()
    }

    fn totals(&self, now: u64) -> Totals {
        let places = self.places();
        let transitions = self.in_order();
        Totals {
            places: places
                .map(|place| PlaceTotal::of(&place.tally, place.len, now))
                .collect(),
            transitions: transitions
                .map(|(_, rule)| TransitionTotal::of(&rule.tally, now))
                .collect(),
            rewards: Vec::new(),
            rewards_now: Vec::new(),
        }
    }
}
