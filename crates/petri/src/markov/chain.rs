//! Builds the continuous-time Markov chain of a net.

use super::MarkovError;
use super::links::Links;
use super::vanishing::{Row, Vanishing};
use crate::net::compiled::{Compiled, Fast, Stages};
use crate::net::{Net, PlaceId, Servers, Timing, Transition};
use crate::reachability::boundedness::{Boundedness, boundedness, growth_of_the_latest};
use crate::reachability::report::most_tokens;
use crate::reachability::{Graph, Growth, Moves, Plain};
use inorder_report::number::plural;

/// Greatest rate of leaving a marking: sums of some of them, and their products with shares, can be represented.
const MAX_RATE: f64 = 1e300;

/// Number of markings after which an exploration first looks whether tokens grow without limit; again whenever there are twice as
/// many.
const FIRST_LOOK: usize = 4096;

/// Maximum number of markings that are compared to say what varies most.
const MARKINGS_COMPARED: usize = 100_000;

/// The continuous-time Markov chain of a net's tangible markings.
#[derive(Debug, Clone)]
pub struct Chain {
    pub(super) net: Net,
    pub(super) graph: Graph,
    pub(super) vanishing: Vanishing,
    /// The state of the graph for each state of the chain.
    pub(super) tangible: Vec<usize>,
    /// Every transition's data, by its index in the net.
    pub(super) transitions: Vec<Option<Fast>>,
    /// What each edge deposits, if its transition alone does not say it.
    pub(super) deposits: Option<Vec<Vec<(PlaceId, u32)>>>,
    /// The rates between different states, row by row.
    pub(super) generator: Links,
    /// The initial distribution.
    pub(super) initial: Row,
}

impl Chain {
    /// The chain of `net`, with at most `limit` markings, including vanishing ones.
    pub fn new(net: &Net, limit: usize) -> Result<Self, MarkovError> {
        Self::new_while(net, limit, |_| true)
    }

    /// The chain; it ends with an error when `keep_going` returns false, which is asked during the exploration of the markings and
    /// the elimination of those in which no time passes.
    pub(crate) fn new_while(
        net: &Net,
        limit: usize,
        keep_going: impl FnMut(&Graph) -> bool,
    ) -> Result<Self, MarkovError> {
        net.validate()?;
        net.transitions.iter().try_for_each(check_timing)?;
        let compiled = Compiled::new(net, Stages::Expanded);
        let moves = &mut Plain::compiled(net, &compiled);
        Self::explored(moves, &compiled, limit, keep_going)
    }

    /// The chain of the states to which moves lead.
    pub fn of_moves(
        moves: &mut dyn Moves,
        limit: usize,
        keep_going: impl FnMut(&Graph) -> bool,
    ) -> Result<Self, MarkovError> {
        let compiled = Compiled::new(moves.net(), Stages::Ignored);
        Self::explored(moves, &compiled, limit, keep_going)
    }

    fn explored(
        moves: &mut dyn Moves,
        compiled: &Compiled,
        limit: usize,
        mut keep_going: impl FnMut(&Graph) -> bool,
    ) -> Result<Self, MarkovError> {
        let (mut was_stopped, mut next_look) = (false, FIRST_LOOK);
        let mut growth = None;
        let graph = Graph::of_moves_while(moves, limit, |graph, moves| {
            was_stopped = !keep_going(graph);
            if graph.len() >= next_look {
                next_look = 2 * graph.len();
                growth = growth_of_the_latest(moves, graph);
            }
            !was_stopped && growth.is_none() && moves.not_exponential().is_none()
        })
        .map_err(MarkovError::Moves)?;
        if was_stopped {
            return Err(MarkovError::Stopped {
                markings: graph.len(),
            });
        }
        let net = moves.net().clone();
        if let Some((transition, timing)) = moves.not_exponential() {
            let transition = net.transitions.get(transition.0);
            return Err(MarkovError::NotExponential {
                transition: transition.map_or_else(String::new, |t| t.name.clone()),
                timing,
                line: transition.map_or(0, |t| t.line),
            });
        }
        if !graph.is_complete() {
            return Err(unfinished(moves, &graph, growth, limit));
        }
        if let Some(place) = full(&net, &graph) {
            return Err(MarkovError::Full { place });
        }
        let transitions = by_number(&net, compiled);
        let tangible: Vec<usize> = (0..graph.len())
            .filter(|&i| !graph.is_vanishing(i))
            .collect();
        let vanishing = Vanishing::eliminate(&net, &graph, &transitions, || keep_going(&graph))?;
        let mut chain = Self {
            initial: vanishing.tangible_after(0),
            net,
            graph,
            vanishing,
            tangible,
            transitions,
            deposits: moves.deposits().map(<[_]>::to_vec),
            generator: Links::with_room(0),
        };
        chain.generator = chain.build_generator()?;
        Ok(chain)
    }

    /// Number of states of the chain: tangible markings (with the stages of Erlang delays).
    pub fn len(&self) -> usize {
        self.tangible.len()
    }

    /// Always false: a net without a tangible marking is refused.
    pub fn is_empty(&self) -> bool {
        self.tangible.is_empty()
    }

    /// Number of vanishing markings.
    pub fn vanishing(&self) -> usize {
        self.graph.len() - self.tangible.len()
    }

    /// The tokens of every place in state `state` of the chain.
    ///
    /// # Panics
    ///
    /// If there is no such state.
    pub fn marking(&self, state: usize) -> &[u32] {
        self.graph.marking(self.tangible[state])
    }

    /// The net from which the chain was built.
    pub fn net(&self) -> &Net {
        &self.net
    }

    /// The timed edges of state `state` by their indices in the graph, with their rates.
    pub(super) fn timed_edges(&self, state: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let number = self.tangible[state];
        let tokens = self.graph.states.get(number);
        self.graph.edge_indices(number).filter_map(move |index| {
            let rate = match self.graph.speeds.get(index) {
                Some(&(rate, _)) => rate,
                None => {
                    let transition = self.graph.edges[index].transition();
                    let fast = self.transitions[transition].as_ref()?;
                    fast.speed * f64::from(fast.busy_servers(tokens))
                }
            };
            Some((index, rate))
        })
    }

    fn build_generator(&self) -> Result<Links, MarkovError> {
        let mut generator = Links::with_room(self.len());
        let mut sums = vec![0.0; self.len()];
        for state in 0..self.len() {
            let mut touched = Vec::new();
            let (mut out, mut is_lost) = (0.0, false);
            for (index, rate) in self.timed_edges(state) {
                let target = self.graph.edges[index].target as usize;
                self.vanishing.for_each_tangible(target, |to, p| {
                    // Subnormal numbers have fewer digits.
                    is_lost |= rate > 0.0 && p > 0.0 && rate * p < f64::MIN_POSITIVE;
                    out += rate * p;
                    touched.push(to);
                    sums[to as usize] += rate * p;
                });
            }
            if is_lost || out > MAX_RATE {
                return Err(MarkovError::Rates {
                    marking: self.net.marking_text(self.marking(state)),
                });
            }
            touched.sort_unstable();
            touched.dedup();
            for to in touched {
                let rate = std::mem::take(&mut sums[to as usize]);
                // A return to the same state is not a change of state.
                if to as usize != state && rate > 0.0 {
                    generator.other.push(to);
                    generator.rate.push(rate);
                }
            }
            generator.first.push(generator.other.len());
        }
        Ok(generator)
    }
}

/// Why not all markings were found.
fn unfinished(
    moves: &dyn Moves,
    graph: &Graph,
    growth: Option<Growth>,
    limit: usize,
) -> MarkovError {
    let found = growth.map_or_else(|| boundedness(moves, graph), Boundedness::Unbounded);
    if let Boundedness::Unbounded(growth) = found {
        return MarkovError::Unbounded {
            growth: growth.words(moves.net()),
        };
    }
    let seen = seen(moves, graph);
    match graph.is_too_large() {
        true => MarkovError::TooMuchMemory {
            markings: graph.len(),
            gib: graph.memory_footprint() >> 30,
            seen,
        },
        false => MarkovError::TooManyMarkings { limit, seen },
    }
}

/// What became most in the markings that were found, in words.
fn seen(moves: &dyn Moves, graph: &Graph) -> String {
    let net = moves.net();
    let grown =
        |(place, peak): (usize, u32)| (peak.saturating_sub(net.places[place].tokens), place);
    let most = most_tokens(net, graph)
        .into_vec()
        .into_iter()
        .enumerate()
        .map(grown);
    let most = most.max_by_key(|&(grown, place)| (grown, std::cmp::Reverse(place)));
    let tokens = most.filter(|(grown, _)| *grown > 0).map(|(grown, place)| {
        let place = &net.places[place];
        format!(
            "{} in {}",
            plural(u64::from(place.tokens + grown), "token"),
            place.name
        )
    });
    let every = graph.len().div_ceil(MARKINGS_COMPARED);
    let mut states = (0..graph.len())
        .rev()
        .step_by(every)
        .map(|i| graph.state(i));
    let varied = moves.most_varied(&mut states);
    let seen: Vec<String> = tokens.into_iter().chain(varied).collect();
    match seen.is_empty() {
        true => String::new(),
        false => format!(" (up to {})", seen.join(", and ")),
    }
}

/// A place in which a transition could not put its tokens because they cannot be counted.
fn full(net: &Net, graph: &Graph) -> Option<String> {
    let mut peaks = most_tokens(net, graph).into_vec().into_iter().enumerate();
    let found = peaks.find(|(place, peak)| net.is_full(PlaceId(*place), *peak));
    found.map(|(place, _)| net.places[place].name.clone())
}

fn by_number(net: &Net, compiled: &Compiled) -> Vec<Option<Fast>> {
    let mut transitions = vec![None; net.transitions.len()];
    for fast in &compiled.transitions {
        transitions[fast.number as usize] = Some(fast.clone());
    }
    transitions
}

fn check_timing(t: &Transition) -> Result<(), MarkovError> {
    let timing = match t.timing {
        Timing::Immediate { .. } | Timing::Exponential { .. } => return Ok(()),
        Timing::Erlang { .. } if t.servers == Servers::Single => return Ok(()),
        Timing::Erlang { .. } => "multiple-server Erlang",
        Timing::Deterministic { .. } => "deterministic",
        Timing::Uniform { .. } => "uniform",
        Timing::Drawn(ref drawn) => drawn.family().name,
        Timing::Empirical { .. } => "empirical",
    };
    Err(MarkovError::NotExponential {
        transition: t.name.clone(),
        timing,
        line: t.line,
    })
}
