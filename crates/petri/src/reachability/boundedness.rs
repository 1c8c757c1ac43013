//! Whether the number of tokens is bounded.
//!
//! In a net in which additional tokens never disable a transition (no inhibitor or reset arcs, no priorities), the
//! number of tokens is unbounded exactly if some firing sequence leads from a marking to one that covers it with more
//! tokens: the sequence can be repeated without end (R. Karp and R. Miller, "Parallel program schemata", 1969). Every
//! infinite graph has such a pair on a branch of its spanning tree, so it is sufficient to examine the ancestors of
//! each marking. Capacities are handled by complementary places: the remaining room must not be smaller either.
//!
//! In other nets additional tokens matter, but not where there are enough already: with as many tokens in a place as any
//! arc asks for, all conditions on it have the same result as with more of them. So a sequence that keeps each place to which it
//! adds tokens so full, and changes nothing else, can be repeated without end, too. [`Moves::repeats`] tells either.

use super::{Graph, Moves};
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

/// Maximum number of steps up the spanning tree in the search for such a pair, and of numbers that are compared.
const STEPS: usize = 200_000_000;

/// Number of markings, the last ones that were found, from which [`growth_of_the_latest`] looks back. They are the farthest from the
/// beginning, so that few are enough.
const LATEST: usize = 64;

pub(crate) fn boundedness(moves: &(impl Moves + ?Sized), graph: &Graph) -> Boundedness {
    if graph.is_complete() {
        return Boundedness::Bounded;
    }
    let why = match pump(moves, graph, 0) {
        Some((low, high)) => return Boundedness::Unbounded(growth(graph, low, high)),
        None if graph.is_coloured() => {
            "a coloured net: only all markings could tell, and none repeats an earlier one with more tokens yet"
        }
        None if is_monotone(moves.net()) => {
            "more markings than the bound, and none covers an earlier one yet"
        }
        None => "inhibitor arcs, reset arcs or priorities: only all markings could tell",
    };
    Boundedness::Unknown { why }
}

/// How tokens grow without limit, if the ways to the markings that were found last show it.
pub(crate) fn growth_of_the_latest(moves: &(impl Moves + ?Sized), graph: &Graph) -> Option<Growth> {
    pump(moves, graph, graph.len().saturating_sub(LATEST))?;
    // The nearest such marking is the easiest to understand.
    let (low, high) = pump(moves, graph, 0)?;
    Some(growth(graph, low, high))
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

/// A marking and a later one, from number `from` on, whose way from it can be repeated.
fn pump(moves: &(impl Moves + ?Sized), graph: &Graph, from: usize) -> Option<(usize, usize)> {
    let sums: Vec<u64> = (0..graph.len())
        .map(|i| graph.marking(i).iter().map(|&n| u64::from(n)).sum())
        .collect();
    let net = moves.net();
    let mut steps = 0;
    let mut way = Vec::new();
    for high in from..graph.len() {
        way.clear();
        way.push(graph.state(high));
        let mut at = high;
        while let Some(low) = graph.parent(at) {
            way.push(graph.state(low));
            steps += 1;
            let more = || graph.marking(high).iter().zip(graph.marking(low));
            if sums[low] < sums[high] && more().all(|(high, low)| high >= low) {
                if moves.repeats(&way) {
                    return Some((low, high));
                }
                steps += way.len() * net.places.len() + net.transitions.len();
            }
            if steps > STEPS {
                return None;
            }
            at = low;
        }
    }
    None
}

/// True if a way in a plain net can be repeated: its states from the last one, which has at least as many tokens in every place as
/// the first one, back to that.
pub(crate) fn repeats(net: &Net, way: &[&[u32]]) -> bool {
    let (Some(high), Some(low)) = (way.first(), way.last()) else {
        return false;
    };
    if is_monotone(net) {
        return covers(net, high, low);
    }
    let places = net.places.len();
    let enough = enough(net);
    let is_full = |place: usize| {
        let enough = enough[place];
        enough.is_some_and(|enough| way.iter().all(|state| state[place] >= enough))
    };
    high[places..] == low[places..]
        && (0..places).all(|place| high[place] == low[place] || is_full(place))
}

/// The most tokens that any arc asks for in each place; `None` where more may still matter.
fn enough(net: &Net) -> Vec<Option<u32>> {
    let unlimited = |place: &crate::net::Place| place.capacity.is_none().then_some(0);
    let mut enough: Vec<Option<u32>> = net.places.iter().map(unlimited).collect();
    for arc in net.transitions.iter().flat_map(|t| &t.arcs) {
        let most = &mut enough[arc.place.0];
        *most = match arc.kind {
            ArcKind::Output => *most,
            ArcKind::Reset => None,
            ArcKind::Input | ArcKind::Read | ArcKind::Inhibitor => {
                most.map(|most| most.max(arc.multiplicity))
            }
        };
    }
    enough
}

/// True if there are at least as many tokens in every place, and equally many where room is limited.
fn covers(net: &Net, high: &[u32], low: &[u32]) -> bool {
    let mut places = net.places.iter().zip(high.iter().zip(low));
    places.all(|(place, (high, low))| match place.capacity {
        Some(_) => high == low,
        None => high >= low,
    })
}

fn growth(graph: &Graph, low: usize, high: usize) -> Growth {
    let grows = |&p: &usize| graph.marking(high)[p] > graph.marking(low)[p];
    let mut prefix = graph.path_to(high);
    let pump = prefix.split_off(graph.path_to(low).len());
    Growth {
        places: (0..graph.marking(low).len())
            .filter(grows)
            .map(PlaceId)
            .collect(),
        prefix,
        pump,
    }
}
