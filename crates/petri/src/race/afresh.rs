//! The straightforward twin of agenda and clocks: looks at every transition after every firing. Only in tests.

use proptest::prelude::*;

use super::{Memory, Race};
use crate::coloured::RunError;
use crate::net::{Net, Place, PlaceId, Servers, Timing, Transition, TransitionId};

impl Race {
    /// Panics if an immediate transition is enabled, or a timed one does not have a clock for each busy server.
    pub(super) fn compare(&self) {
        let net = self.rules.net();
        for (index, transition) in net.transitions.iter().enumerate() {
            let degree = net.enabling_degree(TransitionId(index), &self.marking);
            if transition.timing.is_immediate() {
                assert_eq!(degree, 0, "{} has not fired", transition.name);
                continue;
            }
            let wanted = transition.servers.limit(degree);
            let clocks = self.clocks.running(index) as u32;
            assert_eq!(clocks, wanted, "clocks of {}", transition.name);
            assert_eq!(self.transitions[index].busy, wanted);
        }
    }
}

/// Kind, place and multiplicity.
type AnArc = (u8, usize, u32);

/// Timing, servers, arcs.
type ATransition = (u8, u8, Vec<AnArc>);

fn a_net() -> impl Strategy<Value = Net> {
    let place = (0u32..5, prop::option::weighted(0.3, 5u32..12));
    let arc = (0u8..10, 0usize..6, 1u32..4);
    let transition = (0u8..6, 0u8..3, prop::collection::vec(arc, 1..5));
    let places = prop::collection::vec(place, 2..6);
    // More than a word of immediate transitions now and then, so that the timed ones begin in another.
    let transitions = prop::collection::vec(transition, 1..80);
    (places, transitions).prop_map(|(places, transitions)| net_of(&places, transitions))
}

fn net_of(places: &[(u32, Option<u32>)], transitions: Vec<ATransition>) -> Net {
    let mut net = Net::new("drawn");
    for (index, &(tokens, capacity)) in places.iter().enumerate() {
        let mut place = Place::new(format!("p{index}"), tokens);
        place.capacity = capacity;
        net.add_place(place);
    }
    for (index, (timing, servers, mut arcs)) in transitions.into_iter().enumerate() {
        // One arc of a kind to a place.
        arcs.iter_mut().for_each(|arc| {
            arc.0 = [0, 0, 0, 0, 1, 1, 1, 2, 3, 4][usize::from(arc.0)];
            arc.1 %= places.len();
        });
        arcs.sort_unstable();
        arcs.dedup_by_key(|arc| (arc.0, arc.1));
        let takes = arcs.iter().any(|arc| arc.0 == 0);
        let timing = match timing {
            // An output alone without time would have no end.
            0 | 1 if takes => Timing::Immediate {
                priority: timing.into(),
                weight: f64::from(index as u32 + 1),
            },
            2 => Timing::Deterministic { delay: 0.7 },
            _ => Timing::exponential(1.0),
        };
        let is_timed = !timing.is_immediate();
        let mut t = Transition::new(format!("t{index}"), timing);
        t.servers = match servers {
            1 if is_timed => Servers::Multiple(2),
            2 if is_timed && takes => Servers::Infinite,
            _ => Servers::Single,
        };
        for (kind, place, count) in arcs {
            let place = PlaceId(place);
            t = match kind {
                0 => t.input(place, count),
                1 => t.output(place, count),
                2 => t.read(place, count),
                3 => t.inhibitor(place, count),
                _ => t.reset(place),
            };
        }
        net.add_transition(t);
        // One that could never fire is refused.
        if net.validate().is_err() {
            net.transitions.pop();
        }
    }
    net
}

/// There are as many servers as tokens, which is more than there can be clocks; a transition without inputs would have one.
#[test]
fn infinitely_many_servers_of_a_full_place_are_all_busy() {
    let text = "place q 4294967295\ntransition s exponential rate 1 servers infinite\n in q\n";
    let net = crate::text::read("full.net", text).expect("a valid net");
    let race = Race::new(&net, Memory::Enabling, 1).expect("a valid net");
    assert_eq!(race.rules.servers(0, &race.marking), u32::MAX as usize);
}

proptest! {
    /// `settle` compares.
    #[test]
    fn agenda_and_clocks_miss_nothing(net in a_net(), seed in any::<u64>(), memory in 0usize..3) {
        let memory = [Memory::Enabling, Memory::Age, Memory::Resampling][memory];
        let mut race = Race::new(&net, memory, seed).expect("a valid net");
        race.set_zero_time_limit(100);
        for _ in 0..100 {
            match race.step(u64::MAX) {
                Ok(true) => {}
                // Some fire for ever without time.
                Ok(false) | Err(RunError::ZeroTimeLoop { .. }) => break,
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
    }
}
