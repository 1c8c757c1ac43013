//! Findings from the reachable markings: deadlocks, bounds, dead and live transitions, home states.

use super::boundedness::{Boundedness, boundedness};
use super::components::Components;
use super::{Graph, Moves, Plain};
use crate::net::{Marking, Net, TransitionId};

/// The findings from exploring the markings of a net. Names refer to the net for which the report was created.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Number of markings found.
    pub markings: usize,
    /// Of these, markings in which no time passes.
    pub vanishing: usize,
    /// Number of firings between them.
    pub firings: usize,
    /// True if these are all markings; findings about "never" and "always" are valid only then.
    pub is_complete: bool,
    /// Whether the number of tokens is bounded.
    pub boundedness: Boundedness,
    /// The largest number of tokens found in each place.
    pub most_tokens: Marking,
    /// Markings in which no transition can fire, the nearest first; at most [`Report::SHOWN`].
    pub deadlocks: Vec<Deadlock>,
    /// Number of deadlocks among the markings found.
    pub deadlock_count: usize,
    /// Transitions that never fired.
    pub never_fired: Vec<TransitionId>,
    /// Findings about the long run; `None` if not all markings were found.
    pub long_run: Option<LongRun>,
}

/// A marking in which no transition can fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// The marking.
    pub marking: Marking,
    /// A shortest firing sequence that leads there.
    pub path: Vec<TransitionId>,
}

/// Where a net ends, according to its terminal components: sets of markings that are never left and within which
/// every marking can always be reached again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongRun {
    /// The terminal components.
    pub terminal: Vec<Terminal>,
    /// Transitions that can always fire again.
    pub live: Vec<TransitionId>,
    /// Whether the initial marking can always be reached again.
    pub is_reversible: bool,
}

/// A terminal component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    /// One of its markings.
    pub marking: Marking,
    /// Number of its markings.
    pub markings: usize,
    /// Nothing can fire in it.
    pub is_deadlock: bool,
}

impl Terminal {
    /// With these numbers of markings in the graph, the first of which is `number`.
    pub(crate) fn of(graph: &Graph, number: usize, markings: usize) -> Self {
        Self {
            marking: graph.marking(number).into(),
            markings,
            is_deadlock: graph.enables_nothing(number),
        }
    }

    /// As a way to end for good, in words.
    pub(crate) fn text(&self, net: &Net) -> String {
        let marking = net.marking_text(&self.marking);
        match self.markings {
            _ if self.is_deadlock => format!("deadlock in {marking}"),
            1 => format!("firings that leave {marking} as it is"),
            n => format!("{n} markings around {marking}"),
        }
    }
}

impl LongRun {
    /// Number of markings that can be reached from everywhere (home states); 0 if the net can end in different
    /// components.
    pub fn home_states(&self) -> usize {
        match self.terminal.as_slice() {
            [terminal] => terminal.markings,
            _ => 0,
        }
    }
}

impl Report {
    /// Maximum number of deadlocks listed.
    pub const SHOWN: usize = 10;

    /// Explores up to `limit` markings of `net` and returns the findings.
    pub fn of(net: &Net, limit: usize) -> Self {
        Self::of_graph(&Plain::of(net), &Graph::explore(net, limit))
    }

    /// The findings from `graph`, which was explored by `moves`.
    pub(crate) fn of_graph(moves: &(impl Moves + ?Sized), graph: &Graph) -> Self {
        let net = moves.net();
        let deadlocks = deadlocks(graph);
        Self {
            markings: graph.len(),
            vanishing: (0..graph.len()).filter(|&i| graph.is_vanishing(i)).count(),
            firings: graph.edges(),
            is_complete: graph.is_complete(),
            boundedness: boundedness(moves, graph),
            most_tokens: most_tokens(net, graph),
            deadlock_count: deadlocks.len(),
            deadlocks: deadlocks
                .iter()
                .take(Self::SHOWN)
                .map(|&i| deadlock(graph, i))
                .collect(),
            never_fired: never_fired(net, graph),
            long_run: graph.is_complete().then(|| long_run(net, graph)),
        }
    }
}

fn deadlock(graph: &Graph, number: usize) -> Deadlock {
    Deadlock {
        marking: graph.marking(number).into(),
        path: graph.path_to(number),
    }
}

/// Markings that enable no transition; those whose successors were all left out are not among them.
fn deadlocks(graph: &Graph) -> Vec<usize> {
    (0..graph.len())
        .filter(|&i| graph.enables_nothing(i))
        .collect()
}

pub(crate) fn most_tokens(net: &Net, graph: &Graph) -> Marking {
    let mut most = net.initial_marking();
    for i in 0..graph.len() {
        for (most, &n) in most.iter_mut().zip(graph.marking(i)) {
            *most = n.max(*most);
        }
    }
    most
}

fn never_fired(net: &Net, graph: &Graph) -> Vec<TransitionId> {
    let mut fired = vec![false; net.transitions.len()];
    for edge in &graph.edges {
        fired[edge.transition()] = true;
    }
    (0..fired.len())
        .filter(|&t| !fired[t])
        .map(TransitionId)
        .collect()
}

fn long_run(net: &Net, graph: &Graph) -> LongRun {
    let successor = |node: usize, i: usize| graph.edges_of(node).get(i).map(|e| e.target as usize);
    let components = Components::find(graph.len(), successor);
    let mut is_terminal = vec![true; components.count];
    for node in 0..graph.len() {
        let own = components.of[node];
        let leaves = |edge: &super::graph::Edge| components.of[edge.target as usize] != own;
        is_terminal[own as usize] &= !graph.edges_of(node).iter().any(leaves);
    }
    let members = components.members();
    let terminal: Vec<&Vec<usize>> = members
        .iter()
        .zip(&is_terminal)
        .filter(|(_, t)| **t)
        .map(|(m, _)| m)
        .collect();
    LongRun {
        live: live(net, graph, &terminal),
        is_reversible: components.count == 1,
        terminal: terminal
            .iter()
            .map(|m| Terminal::of(graph, m[0], m.len()))
            .collect(),
    }
}

/// A transition is live if it fires in every terminal component.
fn live(net: &Net, graph: &Graph, terminal: &[&Vec<usize>]) -> Vec<TransitionId> {
    let mut fires_in = vec![0; net.transitions.len()];
    for members in terminal {
        let mut fires = vec![false; net.transitions.len()];
        for edge in members.iter().flat_map(|&node| graph.edges_of(node)) {
            fires[edge.transition()] = true;
        }
        for (count, fires) in fires_in.iter_mut().zip(fires) {
            *count += usize::from(fires);
        }
    }
    let always = |&t: &usize| fires_in[t] == terminal.len();
    (0..fires_in.len())
        .filter(always)
        .map(TransitionId)
        .collect()
}
