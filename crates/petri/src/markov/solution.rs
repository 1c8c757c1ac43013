//! Measures of a net computed from a distribution of markings.

use super::{Balance, Chain};
use crate::net::compiled::Fast;
use crate::net::{ArcKind, PlaceId, Servers, TransitionId};

/// Probabilities of the states of a chain, in the long run or at a given time, and the measures derived from them.
#[derive(Debug, Clone)]
pub struct Solution<'a> {
    chain: &'a Chain,
    probabilities: Vec<f64>,
    throughput: Vec<f64>,
    arrivals: Option<Vec<f64>>,
    balance: Option<Balance>,
}

impl<'a> Solution<'a> {
    pub(super) fn new(chain: &'a Chain, probabilities: Vec<f64>, balance: Option<Balance>) -> Self {
        let (throughput, arrivals) = flows(chain, &probabilities);
        Self {
            chain,
            probabilities,
            throughput,
            arrivals,
            balance,
        }
    }

    /// How well the flows of a steady state balance; `None` for a distribution at a given time.
    pub fn balance(&self) -> Option<Balance> {
        self.balance
    }

    /// The probability of each state of the chain.
    pub fn probabilities(&self) -> &[f64] {
        &self.probabilities
    }

    /// Firings of `transition` per unit of time. For a distribution at a given time: the rate at that time.
    pub fn throughput(&self, transition: TransitionId) -> f64 {
        self.throughput.get(transition.0).copied().unwrap_or(0.0)
    }

    /// The probability that a marking satisfies a condition.
    pub fn probability(&self, condition: impl Fn(&[u32]) -> bool) -> f64 {
        self.expected(|marking| f64::from(u8::from(condition(marking))))
    }

    /// The mean of a function of the marking (a reward rate).
    pub fn expected(&self, reward: impl Fn(&[u32]) -> f64) -> f64 {
        let states = self.probabilities.iter().enumerate();
        states.map(|(i, p)| p * reward(self.chain.marking(i))).sum()
    }

    /// The mean number of tokens in `place`.
    pub fn mean_tokens(&self, place: PlaceId) -> f64 {
        self.expected(|marking| marking.get(place.0).copied().map_or(0.0, f64::from))
    }

    /// The probability of 0, 1, 2, ... tokens in `place`.
    pub fn token_distribution(&self, place: PlaceId) -> Vec<f64> {
        let mut distribution = Vec::new();
        for (i, p) in self.probabilities.iter().enumerate() {
            let tokens = self.chain.marking(i).get(place.0).copied().unwrap_or(0) as usize;
            if distribution.len() <= tokens {
                distribution.resize(tokens + 1, 0.0);
            }
            distribution[tokens] += p;
        }
        distribution
    }

    /// The mean number of busy servers of the timed `transition`; 0 for immediate ones.
    pub fn busy_servers(&self, transition: TransitionId) -> f64 {
        self.timed(transition).map_or(0.0, |t| {
            let graph = &self.chain.graph;
            let busy = |(i, p): (usize, &f64)| {
                let state = graph.states.get(self.chain.tangible[i]);
                if t.is_enabled(state) {
                    p * f64::from(t.busy_servers(state))
                } else {
                    0.0
                }
            };
            self.probabilities.iter().enumerate().map(busy).sum()
        })
    }

    /// The share of servers of the timed `transition` that are busy; for infinite servers, the probability that at
    /// least one is busy.
    pub fn utilisation(&self, transition: TransitionId) -> f64 {
        let servers = self
            .chain
            .net
            .transitions
            .get(transition.0)
            .map(|t| t.servers);
        match servers {
            Some(Servers::Multiple(n)) => self.busy_servers(transition) / f64::from(n),
            _ => self.timed(transition).map_or(0.0, |t| {
                let graph = &self.chain.graph;
                let enabled = |i: usize| t.is_enabled(graph.states.get(self.chain.tangible[i]));
                let states = self.probabilities.iter().enumerate();
                let shares = states.filter(|&(i, _)| enabled(i)).map(|(_, p)| p);
                positive(shares.sum())
            }),
        }
    }

    /// Tokens that arrive in `place` per unit of time.
    pub fn arrivals(&self, place: PlaceId) -> f64 {
        if let Some(arrivals) = &self.arrivals {
            return arrivals.get(place.0).copied().unwrap_or(0.0);
        }
        let transitions = self.chain.net.transitions.iter().zip(&self.throughput);
        let arrivals =
            transitions.map(|(t, x)| x * f64::from(t.multiplicity(ArcKind::Output, place)));
        positive(arrivals.sum())
    }

    /// The mean time a token stays in `place`, by Little's law, for a steady state; `None` if none arrives.
    ///
    /// If a transition takes a token and returns it, this counts as a departure and an arrival.
    pub fn sojourn(&self, place: PlaceId) -> Option<f64> {
        let arrivals = self.arrivals(place);
        (arrivals > 0.0).then(|| self.mean_tokens(place) / arrivals)
    }

    fn timed(&self, transition: TransitionId) -> Option<&Fast> {
        let fast = self.chain.transitions.get(transition.0)?.as_ref()?;
        (!fast.is_immediate()).then_some(fast)
    }
}

/// The sum of nothing is -0.0, which would be printed so.
fn positive(sum: f64) -> f64 {
    0.0 + sum
}

/// Firings per unit of time of every transition, and arrivals in every place where transitions alone do not say them.
fn flows(chain: &Chain, probabilities: &[f64]) -> (Vec<f64>, Option<Vec<f64>>) {
    let graph = &chain.graph;
    let mut throughput = vec![0.0; chain.net.transitions.len()];
    let mut arrivals = vec![0.0; chain.net.places.len()];
    let mut flow = vec![0.0; graph.len()];
    let mut fires = |index: usize, rate: f64| {
        let edge = graph.edges[index];
        if !edge.is_firing() {
            return;
        }
        throughput[edge.transition()] += rate;
        if let (Some(deposits), Some((_, deposit))) = (&chain.deposits, graph.speeds.get(index)) {
            for (place, count) in &deposits[*deposit as usize] {
                arrivals[place.0] += rate * f64::from(*count);
            }
        }
    };
    for (state, p) in probabilities.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        for (index, rate) in chain.timed_edges(state) {
            fires(index, p * rate);
            flow[graph.edges[index].target as usize] += p * rate;
        }
    }
    let vanishing = &chain.vanishing;
    vanishing.each_flow(graph, &chain.transitions, flow, &mut fires);
    (throughput, chain.deposits.is_some().then_some(arrivals))
}
