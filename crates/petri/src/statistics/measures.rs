//! The measures of a net, computed from observations.

use super::simulation::{Layout, Totals};
use inorder_stats::{Estimate, lag_one};

/// The measures of a net: rates per unit of time, times in units.
#[derive(Debug, Clone, PartialEq)]
pub struct Measures {
    /// Measures of the places, in the order of the net.
    pub places: Vec<PlaceMeasures>,
    /// Measures of the transitions, in the order of the net.
    pub transitions: Vec<TransitionMeasures>,
    /// Means over time of the further numbers that were observed, in their order.
    pub rewards: Vec<Estimate>,
    /// Their means at the ends of the observations.
    pub rewards_at_end: Vec<Estimate>,
}

/// The measures of a place.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaceMeasures {
    /// Its name.
    pub name: String,
    /// Mean number of tokens over time.
    pub tokens: Estimate,
    /// Mean number of tokens at the ends of the observations.
    pub tokens_at_end: Estimate,
    /// Tokens that arrive per unit of time; tokens that a transition takes and returns count.
    pub arrivals: Estimate,
    /// Mean time a token stays, by Little's law; `None` if none arrived.
    pub sojourn: Option<Estimate>,
    /// Largest number of tokens at one time, since the start.
    pub peak: u32,
}

/// The measures of a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionMeasures {
    /// Its name.
    pub name: String,
    /// Firings per unit of time.
    pub throughput: Estimate,
    /// Mean number of firings in progress (of running clocks); `None` for an immediate transition.
    pub busy: Option<Estimate>,
    /// Share of its servers that are busy; without a limit, the probability that at least one is. `None` for an
    /// immediate transition.
    pub utilisation: Option<Estimate>,
}

/// The observation of a place in a time interval: means and rates.
#[derive(Debug, Clone, Copy, Default)]
struct PlaceSeen {
    tokens: f64,
    at_end: f64,
    arrivals: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct TransitionSeen {
    throughput: f64,
    busy: f64,
    active: f64,
}

/// The observation of a time interval.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observation {
    places: Vec<PlaceSeen>,
    transitions: Vec<TransitionSeen>,
    rewards: Vec<f64>,
    rewards_at_end: Vec<f64>,
    peaks: Vec<u32>,
}

impl Observation {
    /// The differences between two totals that are `ticks` apart; rates are per `ticks_per_unit` ticks.
    pub(crate) fn between(from: &Totals, to: &Totals, ticks: u64, ticks_per_unit: f64) -> Self {
        let ticks = ticks.max(1) as f64;
        let units = ticks / ticks_per_unit;
        let places = from
            .places
            .iter()
            .zip(&to.places)
            .map(|(from, to)| PlaceSeen {
                tokens: (to.integral - from.integral) as f64 / ticks,
                at_end: f64::from(to.tokens),
                arrivals: (to.arrivals - from.arrivals) as f64 / units,
            });
        let transitions = from
            .transitions
            .iter()
            .zip(&to.transitions)
            .map(|(from, to)| TransitionSeen {
                throughput: (to.firings - from.firings) as f64 / units,
                busy: (to.busy - from.busy) as f64 / ticks,
                active: (to.active - from.active) as f64 / ticks,
            });
        let rewards = from.rewards.iter().zip(&to.rewards);
        Self {
            places: places.collect(),
            transitions: transitions.collect(),
            rewards: rewards.map(|(from, to)| (to - from) / ticks).collect(),
            rewards_at_end: to.rewards_now.clone(),
            peaks: to.places.iter().map(|place| place.peak).collect(),
        }
    }

    /// The observation of this interval and the next one of equal length together.
    pub(crate) fn merged(&self, next: &Self) -> Self {
        let mid = |a: f64, b: f64| 0.5 * (a + b);
        let places = self
            .places
            .iter()
            .zip(&next.places)
            .map(|(a, b)| PlaceSeen {
                tokens: mid(a.tokens, b.tokens),
                at_end: b.at_end,
                arrivals: mid(a.arrivals, b.arrivals),
            });
        let transitions = self
            .transitions
            .iter()
            .zip(&next.transitions)
            .map(|(a, b)| TransitionSeen {
                throughput: mid(a.throughput, b.throughput),
                busy: mid(a.busy, b.busy),
                active: mid(a.active, b.active),
            });
        let rewards = self.rewards.iter().zip(&next.rewards);
        Self {
            places: places.collect(),
            transitions: transitions.collect(),
            rewards: rewards.map(|(a, b)| mid(*a, *b)).collect(),
            rewards_at_end: next.rewards_at_end.clone(),
            peaks: next.peaks.clone(),
        }
    }
}

impl Measures {
    /// Computed from independent observations.
    pub(crate) fn new(layout: &Layout, seen: &[Observation], confidence: f64) -> Self {
        let place = |(index, name): (usize, &String)| place(name, index, seen, confidence);
        let transition = |(index, (name, servers)): (usize, &(String, Option<Option<u32>>))| {
            transition(name, *servers, index, seen, confidence)
        };
        let rewards = |of: fn(&Observation) -> &[f64]| {
            let mean = |index| Estimate::of_mean(seen.iter().map(|o| of(o)[index]), confidence);
            (0..layout.rewards).map(mean).collect()
        };
        Self {
            places: layout.places.iter().enumerate().map(place).collect(),
            transitions: layout
                .transitions
                .iter()
                .enumerate()
                .map(transition)
                .collect(),
            rewards: rewards(|o| &o.rewards),
            rewards_at_end: rewards(|o| &o.rewards_at_end),
        }
    }

    /// The widest relative interval of a throughput, mean number of tokens or further number.
    pub fn worst_relative_error(&self) -> f64 {
        let tokens = self.places.iter().map(|place| place.tokens);
        let rates = self
            .transitions
            .iter()
            .map(|transition| transition.throughput);
        tokens
            .chain(rates)
            .chain(self.rewards.iter().copied())
            .map(|e| e.relative_error())
            .fold(0.0, f64::max)
    }

    /// The measures of the place of that name.
    pub fn place(&self, name: &str) -> Option<&PlaceMeasures> {
        self.places.iter().find(|place| place.name == name)
    }

    /// The measures of the transition of that name.
    pub fn transition(&self, name: &str) -> Option<&TransitionMeasures> {
        self.transitions
            .iter()
            .find(|transition| transition.name == name)
    }
}

fn place(name: &str, index: usize, seen: &[Observation], confidence: f64) -> PlaceMeasures {
    let of = |what: fn(&PlaceSeen) -> f64| {
        Estimate::of_mean(seen.iter().map(|o| what(&o.places[index])), confidence)
    };
    let stays = seen
        .iter()
        .map(|o| (o.places[index].tokens, o.places[index].arrivals));
    PlaceMeasures {
        name: name.to_owned(),
        tokens: of(|p| p.tokens),
        tokens_at_end: of(|p| p.at_end),
        arrivals: of(|p| p.arrivals),
        sojourn: Estimate::of_ratio(stays, confidence),
        peak: seen
            .iter()
            .map(|o| o.peaks[index])
            .max()
            .unwrap_or_default(),
    }
}

fn transition(
    name: &str,
    servers: Option<Option<u32>>,
    index: usize,
    seen: &[Observation],
    confidence: f64,
) -> TransitionMeasures {
    let of = |what: fn(&TransitionSeen) -> f64| {
        Estimate::of_mean(seen.iter().map(|o| what(&o.transitions[index])), confidence)
    };
    TransitionMeasures {
        name: name.to_owned(),
        throughput: of(|t| t.throughput),
        busy: servers.map(|_| of(|t| t.busy)),
        utilisation: servers.map(|limit| match limit {
            Some(servers) => of(|t| t.busy).scaled(1.0 / f64::from(servers.max(1))),
            None => of(|t| t.active),
        }),
    }
}

/// Correlation of each batch with the next one, the largest over tokens, throughputs and further numbers.
pub(crate) fn lag_one_correlation(seen: &[Observation]) -> f64 {
    let Some(first) = seen.first() else {
        return 0.0;
    };
    let places = (0..first.places.len())
        .map(|index| lag_one(seen.iter().map(move |o| o.places[index].tokens)));
    let transitions = (0..first.transitions.len())
        .map(|index| lag_one(seen.iter().map(move |o| o.transitions[index].throughput)));
    let rewards =
        (0..first.rewards.len()).map(|index| lag_one(seen.iter().map(move |o| o.rewards[index])));
    places.chain(transitions).chain(rewards).fold(0.0, f64::max)
}
