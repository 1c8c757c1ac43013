//! Whether the number of tokens is bounded.
//!
//! In a net in which additional tokens never disable a transition (no inhibitor or reset arcs, no priorities), the
//! number of tokens is unbounded exactly if some firing sequence leads from a marking to one that covers it with more
//! tokens: the sequence can be repeated without end (R. Karp and R. Miller, "Parallel program schemata", 1969). Every
//! infinite graph has such a pair on a branch of its spanning tree, so it is sufficient to examine the ancestors of
//! each marking. Capacities are handled by complementary places: the remaining room must not be smaller either.

use super::Graph;
use crate::net::{ArcKind, Net, PlaceId, Timing, TransitionId};

/// Whether the number of tokens is bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundedness {
    /// All markings were found; the report's `most_tokens` is the bound of each place.
    Bounded,
    /// The number of tokens can grow without limit.
    Unbounded(Growth),
    /// The limit of markings was reached before an answer was found.
    Unknown {
        /// Why there is no answer.
        why: &'static str,
    },
}

/// How the number of tokens can grow without limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Growth {
    /// Places whose tokens grow.
    pub places: Vec<PlaceId>,
    /// A firing sequence from the initial marking.
    pub prefix: Vec<TransitionId>,
    /// A sequence that can be repeated after it and adds tokens each time.
    pub pump: Vec<TransitionId>,
}

/// Maximum number of steps up the spanning tree in the search for such a pair.
const STEPS: usize = 200_000_000;

pub(crate) fn boundedness(net: &Net, graph: &Graph) -> Boundedness {
    if graph.is_complete() {
        return Boundedness::Bounded;
    }
    if graph.is_coloured() {
        let why = "a coloured net: only all markings could tell";
        return Boundedness::Unknown { why };
    }
    if !is_monotone(net) {
        let why = "inhibitor arcs, reset arcs or priorities: only all markings could tell";
        return Boundedness::Unknown { why };
    }
    match pump(net, graph) {
        Some((low, high)) => unbounded(graph, low, high),
        None => Boundedness::Unknown {
            why: "more markings than the bound, and none covers an earlier one yet",
        },
    }
}

/// True if additional tokens never disable a transition.
fn is_monotone(net: &Net) -> bool {
    let priority = |timing: &Timing| match timing {
        Timing::Immediate { priority, .. } => Some(*priority),
        _ => None,
    };
    let mut priorities = net.transitions.iter().map(|t| priority(&t.timing));
    let first = priorities.next();
    let of_one_priority = priorities.all(|p| Some(p) == first);
    let harms = |kind| matches!(kind, ArcKind::Inhibitor | ArcKind::Reset);
    of_one_priority
        && !net
            .transitions
            .iter()
            .any(|t| t.arcs.iter().any(|a| harms(a.kind)))
}

/// A marking and a later one on the path from it that covers it.
fn pump(net: &Net, graph: &Graph) -> Option<(usize, usize)> {
    let sums: Vec<u64> = (0..graph.len())
        .map(|i| graph.marking(i).iter().map(|&n| u64::from(n)).sum())
        .collect();
    let mut steps = 0;
    for high in 0..graph.len() {
        let mut at = high;
        while let Some(low) = graph.parent(at) {
            steps += 1;
            if steps > STEPS {
                return None;
            }
            if sums[low] < sums[high] && covers(net, graph.marking(high), graph.marking(low)) {
                return Some((low, high));
            }
            at = low;
        }
    }
    None
}

/// True if there are at least as many tokens in every place, and equally many where room is limited.
fn covers(net: &Net, high: &[u32], low: &[u32]) -> bool {
    let mut places = net.places.iter().zip(high.iter().zip(low));
    places.all(|(place, (high, low))| match place.capacity {
        Some(_) => high == low,
        None => high >= low,
    })
}

fn unbounded(graph: &Graph, low: usize, high: usize) -> Boundedness {
    let grows = |&p: &usize| graph.marking(high)[p] > graph.marking(low)[p];
    let mut prefix = graph.path_to(high);
    let pump = prefix.split_off(graph.path_to(low).len());
    Boundedness::Unbounded(Growth {
        places: (0..graph.marking(low).len())
            .filter(grows)
            .map(PlaceId)
            .collect(),
        prefix,
        pump,
    })
}
