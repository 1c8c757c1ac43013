//! Nets for property tests, and what several files of tests need.

pub(crate) mod cases;
pub(crate) mod runs;

use inorder_petri::net::family::FAMILIES;
use inorder_petri::net::{
    Arc, ArcKind, Drawn, Net, Observation, Place, PlaceId, Servers, Timing, Transition,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any net with unique names, valid or not.
pub(crate) fn any_net() -> impl Strategy<Value = Net> {
    let counts = (1usize..6, 0usize..6);
    counts.prop_flat_map(|(places, transitions)| {
        let name = "[ -~é☃]{0,5}";
        let place = (name, 0u32..9, proptest::option::of(0u32..20));
        let transition = (name, timing(), servers(), arcs(places));
        let parts = (name, vec(place, places), vec(transition, transitions));
        parts.prop_map(|(name, places, transitions)| assemble(name, places, transitions))
    })
}

type PlaceParts = (String, u32, Option<u32>);
type TransitionParts = (String, Timing, Servers, Vec<Arc>);

fn assemble(name: String, places: Vec<PlaceParts>, transitions: Vec<TransitionParts>) -> Net {
    let mut net = Net::new(name);
    // In reverse order, so that names equal the ids that a writer assigns to other elements.
    let (place_count, transition_count) = (places.len(), transitions.len());
    for (i, (name, tokens, capacity)) in places.into_iter().enumerate() {
        let mut place = Place::new(format!("{name}p{}", place_count - i), tokens);
        place.capacity = capacity;
        net.add_place(place);
    }
    for (i, (name, timing, servers, arcs)) in transitions.into_iter().enumerate() {
        let mut t =
            Transition::new(format!("{name}t{}", transition_count - i), timing).servers(servers);
        t.arcs = arcs;
        net.add_transition(t);
    }
    net
}

fn arcs(places: usize) -> impl Strategy<Value = Vec<Arc>> {
    let kinds = [
        ArcKind::Input,
        ArcKind::Output,
        ArcKind::Inhibitor,
        ArcKind::Read,
        ArcKind::Reset,
    ];
    let arc = (proptest::sample::select(kinds.to_vec()), 0..places, 1u32..5);
    vec(arc, 0..6).prop_map(|mut arcs| {
        arcs.sort_by_key(|&(kind, place, _)| (kind, place));
        arcs.dedup_by_key(|&mut (kind, place, _)| (kind, place));
        let arc = |(kind, place, n): (ArcKind, usize, u32)| Arc {
            kind,
            place: PlaceId(place),
            multiplicity: if kind == ArcKind::Reset { 1 } else { n },
            line: 0,
        };
        arcs.into_iter().map(arc).collect()
    })
}

fn positive() -> impl Strategy<Value = f64> {
    prop_oneof![1e-9f64..1e9, Just(1.0), Just(0.1), Just(f64::MIN_POSITIVE)]
}

fn timing() -> impl Strategy<Value = Timing> {
    let value = (positive(), positive()).prop_map(|(delay, weight)| Observation { delay, weight });
    prop_oneof![
        (0u32..9, positive()).prop_map(|(p, w)| Timing::weighted(p, w)),
        positive().prop_map(Timing::exponential),
        positive().prop_map(|delay| Timing::Deterministic { delay }),
        (positive(), positive()).prop_map(|(low, high)| Timing::Uniform { low, high }),
        (1u32..9, positive()).prop_map(|(stages, rate)| Timing::Erlang { stages, rate }),
        (0..FAMILIES.len(), vec(positive(), 3)).prop_map(|(family, numbers)| {
            let family = &FAMILIES[family];
            Timing::Drawn(Drawn::new(family, numbers))
        }),
        vec(value, 1..5).prop_map(|values| Timing::Empirical { values }),
    ]
}

fn servers() -> impl Strategy<Value = Servers> {
    prop_oneof![
        Just(Servers::Single),
        (2u32..9).prop_map(Servers::Multiple),
        Just(Servers::Infinite)
    ]
}
