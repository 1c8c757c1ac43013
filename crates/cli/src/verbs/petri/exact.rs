//! The exact solution, as plain numbers.

use inorder_petri::markov::{Chain, MarkovError};
use inorder_petri::net::{PlaceId, TransitionId};

/// The steady state of a net.
pub struct Exact {
    pub states: usize,
    pub vanishing: usize,
    pub places: Vec<ExactPlace>,
    pub transitions: Vec<ExactTransition>,
}

/// The long run of a place.
pub struct ExactPlace {
    pub tokens: f64,
    pub arrivals: f64,
    pub sojourn: Option<f64>,
}

/// The long run of a transition; `None` for immediate ones.
pub struct ExactTransition {
    pub throughput: f64,
    pub busy: Option<f64>,
    pub utilisation: Option<f64>,
}

impl Exact {
    /// Solves the chain.
    pub fn new(chain: &Chain) -> Result<Self, MarkovError> {
        let solution = chain.steady_state()?;
        let net = chain.net();
        let place = |id| ExactPlace {
            tokens: solution.mean_tokens(id),
            arrivals: solution.arrivals(id),
            sojourn: solution.sojourn(id),
        };
        let transition = |(index, immediate): (usize, bool)| {
            let id = TransitionId(index);
            ExactTransition {
                throughput: solution.throughput(id),
                busy: (!immediate).then(|| solution.busy_servers(id)),
                utilisation: (!immediate).then(|| solution.utilisation(id)),
            }
        };
        let immediate = net.transitions.iter().map(|t| t.timing.is_immediate());
        Ok(Self {
            states: chain.len(),
            vanishing: chain.vanishing(),
            places: (0..net.places.len()).map(PlaceId).map(place).collect(),
            transitions: immediate.enumerate().map(transition).collect(),
        })
    }
}
