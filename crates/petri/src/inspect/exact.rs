//! The exact solution, as plain numbers.

use crate::markov::{Balance, Chain, Solution};
use crate::net::{Place, PlaceId, Transition, TransitionId};

/// The steady state of a net, or its state at a time.
pub struct Exact {
    /// The time; `None` for the long run.
    pub time: Option<f64>,
    /// The unit of time; empty for the own one of a net of plain tokens.
    pub unit: String,
    /// Tangible markings.
    pub states: usize,
    /// Vanishing markings.
    pub vanishing: usize,
    /// How well the flows balance, and how large the error can be; `None` at a time.
    pub balance: Option<Balance>,
    /// In the order of the net.
    pub places: Vec<ExactPlace>,
    /// In the order of the net.
    pub transitions: Vec<ExactTransition>,
}

/// Values of a place.
pub struct ExactPlace {
    /// Its name.
    pub name: String,
    /// Mean number of tokens.
    pub tokens: f64,
    /// Tokens arriving per unit of time.
    pub arrivals: f64,
    /// Mean time a token stays.
    pub sojourn: Option<f64>,
}

/// Values of a transition; `None` for immediate transitions.
pub struct ExactTransition {
    /// Its name.
    pub name: String,
    /// Firings per unit of time.
    pub throughput: f64,
    /// Mean number of firings in progress.
    pub busy: Option<f64>,
    /// Share of its servers that are busy.
    pub utilisation: Option<f64>,
}

impl Exact {
    /// The values at `time`, or in the long run.
    pub(crate) fn new(chain: &Chain, solution: &Solution<'_>, time: Option<f64>) -> Self {
        let net = chain.net();
        let place = |(index, place): (usize, &Place)| {
            let id = PlaceId(index);
            ExactPlace {
                name: place.name.clone(),
                tokens: solution.mean_tokens(id),
                arrivals: solution.arrivals(id),
                // Little's law is of the long run.
                sojourn: time.map_or_else(|| solution.sojourn(id), |_| None),
            }
        };
        let transition = |(index, transition): (usize, &Transition)| {
            let id = TransitionId(index);
            let immediate = transition.timing.is_immediate();
            ExactTransition {
                name: transition.name.clone(),
                throughput: solution.throughput(id),
                busy: (!immediate).then(|| solution.busy_servers(id)),
                utilisation: (!immediate).then(|| solution.utilisation(id)),
            }
        };
        Self {
            time,
            unit: net.unit.clone(),
            states: chain.len(),
            vanishing: chain.vanishing(),
            balance: solution.balance(),
            places: net.places.iter().enumerate().map(place).collect(),
            transitions: net.transitions.iter().enumerate().map(transition).collect(),
        }
    }
}
