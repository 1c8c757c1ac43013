//! Zero-time loops that the structure of a net proves.
//!
//! Only certain cases are refused here. Cycles of immediate transitions with an exit are valid (they end with
//! probability one), and those that depend on the marking are found when the reachable markings are explored.

use super::{ArcKind, Net, NetError, PlaceId, Problem, Transition};

/// The zero-time loop that the structure of the net proves, if there is one.
pub(super) fn zero_time_loop(net: &Net) -> Option<NetError> {
    source(net).or_else(|| trap(net))
}

/// An immediate transition that needs no token and cannot be disabled.
fn source(net: &Net) -> Option<NetError> {
    let endless = |t: &&Transition| {
        t.timing.is_immediate() && !is_guarded(net, t) && t.arcs_of(ArcKind::Input).next().is_none()
    };
    let t = net.transitions.iter().find(endless)?;
    let problem = Problem::ZeroTimeLoop {
        transitions: vec![t.name.clone()],
        places: Vec::new(),
    };
    Some(NetError {
        line: t.line,
        problem,
    })
}

/// True if conditions other than input tokens decide whether the transition is enabled.
fn is_guarded(net: &Net, t: &Transition) -> bool {
    t.arcs.iter().any(|arc| match arc.kind {
        ArcKind::Inhibitor | ArcKind::Read | ArcKind::Reset => true,
        ArcKind::Output => net.places[arc.place.0].capacity.is_some(),
        ArcKind::Input => false,
    })
}

/// A set of places such that every consumer is immediate, needs one token of the set and nothing else, and returns a
/// token to the set. Once marked, the set stays marked (it is a trap), and one of its transitions can always fire
/// without time. The greatest such set is found by removing places until nothing changes.
fn trap(net: &Net) -> Option<NetError> {
    let mut inside: Vec<bool> = (0..net.places.len())
        .map(|p| all_consumers(net, PlaceId(p), |t| is_simple(net, t)))
        .collect();
    loop {
        let kept: Vec<bool> = (0..inside.len())
            .map(|p| inside[p] && all_consumers(net, PlaceId(p), |t| gives_to(t, &inside)))
            .collect();
        if kept == inside {
            break;
        }
        inside = kept;
    }
    is_ever_marked(net, &inside).then(|| loop_error(net, &inside))
}

fn consumers(net: &Net, place: PlaceId) -> impl Iterator<Item = &Transition> {
    net.transitions
        .iter()
        .filter(move |t| t.multiplicity(ArcKind::Input, place) > 0)
}

fn all_consumers(net: &Net, place: PlaceId, check: impl Fn(&Transition) -> bool) -> bool {
    consumers(net, place).next().is_some()
        && consumers(net, place).all(check)
        && !net
            .transitions
            .iter()
            .any(|t| t.multiplicity(ArcKind::Reset, place) > 0)
}

fn is_simple(net: &Net, t: &Transition) -> bool {
    let mut inputs = t.arcs_of(ArcKind::Input);
    t.timing.is_immediate()
        && !is_guarded(net, t)
        && inputs.next().is_some_and(|arc| arc.multiplicity == 1)
        && inputs.next().is_none()
}

fn gives_to(t: &Transition, inside: &[bool]) -> bool {
    t.arcs_of(ArcKind::Output).any(|arc| inside[arc.place.0])
}

/// True if there is an initial token or a transition that adds one.
fn is_ever_marked(net: &Net, inside: &[bool]) -> bool {
    let at_start = net
        .places
        .iter()
        .zip(inside)
        .any(|(p, &inside)| inside && p.tokens > 0);
    at_start
        || net
            .transitions
            .iter()
            .any(|t| gives_to(t, inside) && !takes_from(t, inside))
}

fn takes_from(t: &Transition, inside: &[bool]) -> bool {
    t.arcs_of(ArcKind::Input).any(|arc| inside[arc.place.0])
}

fn loop_error(net: &Net, inside: &[bool]) -> NetError {
    let members = || net.transitions.iter().filter(|t| takes_from(t, inside));
    let places = net.places.iter().zip(inside).filter(|(_, inside)| **inside);
    NetError {
        line: members().map(|t| t.line).next().unwrap_or(0),
        problem: Problem::ZeroTimeLoop {
            transitions: members().map(|t| t.name.clone()).collect(),
            places: places.map(|(p, _)| p.name.clone()).collect(),
        },
    }
}
