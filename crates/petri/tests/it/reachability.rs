//! Reachable markings: known counts, deadlocks, bounds, live transitions, and a straightforward twin.

use crate::common;
use crate::common::runs::{net, philosophers};

use inorder_petri::net::{Net, PlaceId, Timing, TransitionId};
use inorder_petri::reachability::{Boundedness, Graph, Growth, Report};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn names<'a>(net: &'a Net, transitions: &[TransitionId]) -> Vec<&'a str> {
    transitions
        .iter()
        .map(|t| net.transitions[t.0].name.as_str())
        .collect()
}

#[test]
fn philosophers_reach_a_deadlock() {
    // The numbers of markings are companion Pell numbers; 34 and 39202 are also in the Quantitative Verification
    // Benchmark Set.
    for (n, markings) in [(2, 6), (4, 34), (6, 198), (12, 39_202)] {
        let net = philosophers(n);
        let report = Report::of(&net, 100_000);
        assert_eq!((report.markings, report.is_complete), (markings, true));
        assert_eq!(report.deadlock_count, 1);
        let deadlock = &report.deadlocks[0];
        assert_eq!(deadlock.path.len(), n);
        let mut marking = net.initial_marking();
        for &t in &deadlock.path {
            assert!(net.fire(t, &mut marking));
        }
        assert_eq!(marking, deadlock.marking);
        assert!(!(0..net.transitions.len()).any(|t| net.is_enabled(TransitionId(t), &marking)));
        let long_run = report.long_run.unwrap();
        assert_eq!(
            (
                long_run.live.len(),
                long_run.home_states(),
                long_run.is_reversible
            ),
            (0, 1, false)
        );
    }
}

#[test]
fn a_live_net_with_a_dead_transition() {
    let net = net("place p 1\nplace q\nplace r
        transition a exponential rate 1\nin p\nout q
        transition b exponential rate 1\nin q\nout p
        transition c exponential rate 1\nin q 2\nout r");
    let report = Report::of(&net, 100);
    assert_eq!(names(&net, &report.never_fired), ["c"]);
    assert_eq!(report.boundedness, Boundedness::Bounded);
    assert_eq!(*report.most_tokens, [1, 1, 0]);
    let long_run = report.long_run.unwrap();
    assert_eq!(names(&net, &long_run.live), ["a", "b"]);
    assert!(long_run.is_reversible);
}

#[test]
fn two_ways_to_end() {
    let net = net("place start 1\nplace left\nplace right
        transition to_left exponential rate 1\nin start\nout left
        transition to_right exponential rate 1\nin start\nout right
        transition spin exponential rate 1\nin left\nout left");
    let long_run = Report::of(&net, 100).long_run.unwrap();
    assert_eq!((long_run.terminal.len(), long_run.home_states()), (2, 0));
    assert!(long_run.live.is_empty());
}

#[test]
fn unbounded_places_are_listed_with_a_firing_sequence() {
    let net = net(
        "place idle 1\nplace busy\nplace queue\nplace log 0 capacity 3
        transition begin exponential rate 1\nin idle\nout busy
        transition arrive exponential rate 1\nread busy\nout queue
        transition end exponential rate 1\nin busy\nout idle\nout log",
    );
    let report = Report::of(&net, 50);
    assert!(!report.is_complete && report.long_run.is_none());
    let Boundedness::Unbounded(Growth {
        places,
        prefix,
        pump,
    }) = report.boundedness
    else {
        panic!("{:?}", report.boundedness);
    };
    assert_eq!(places, [net.place_named("queue").unwrap()]);
    assert_eq!(
        (names(&net, &prefix), names(&net, &pump)),
        (vec!["begin"], vec!["arrive"])
    );
}

#[test]
fn an_undecided_boundedness_is_reported() {
    // An inhibitor arc limits the queue to three; beyond the limit of markings the answer is unknown.
    let text = "place queue\nplace clock 100
        transition arrive exponential rate 1\nout queue\ninhibit queue 3
        transition tick exponential rate 1\nin clock";
    let net = net(text);
    assert_eq!(Report::of(&net, 10_000).boundedness, Boundedness::Bounded);
    assert!(matches!(
        Report::of(&net, 10).boundedness,
        Boundedness::Unknown { .. }
    ));
}

/// An inhibitor arc, a reset arc and priorities may stop a sequence, but do not where there are more tokens than they ask for.
#[test]
fn growth_beyond_all_conditions_is_found_in_nets_with_inhibitors_and_priorities() {
    let text = "place source 1\nplace queue\nplace spare\nplace alarm
        transition arrive exponential rate 1\nread source\nout spare
        transition pass immediate\nin spare\nout queue
        transition serve exponential rate 1\nin queue 2\ninhibit alarm
        transition warn exponential rate 1\ninhibit queue 3\nout alarm
        transition calm exponential rate 1\nreset alarm\nread queue";
    let net = net(text);
    let report = Report::of(&net, 200);
    let Boundedness::Unbounded(growth) = report.boundedness else {
        panic!("{:?}", report.boundedness);
    };
    assert_eq!(growth.places, [net.place_named("queue").unwrap()]);
    assert_eq!(names(&net, &growth.pump), ["arrive", "pass"]);
    // Below the four tokens that `warn` asks for, it would not be known.
    let passed = names(&net, &growth.prefix);
    assert!(passed.iter().filter(|name| **name == "pass").count() >= 3);
}

#[test]
fn immediate_transitions_come_first() {
    let net = net("place p 1\nplace q
        transition slow exponential rate 1\nin p
        transition low immediate priority 1\nin p
        transition high immediate priority 2\nin p\nout q");
    let report = Report::of(&net, 10);
    assert_eq!(
        (report.markings, report.vanishing, report.firings),
        (2, 1, 1)
    );
    assert_eq!(names(&net, &report.never_fired), ["slow", "low"]);
}

/// The straightforward twin: markings in a set, one transition at a time by the definition.
fn reached(net: &Net, limit: usize) -> Option<BTreeSet<Vec<u32>>> {
    let mut found = BTreeSet::from([net.initial_marking().to_vec()]);
    let mut open = found.iter().cloned().collect::<Vec<_>>();
    while let Some(marking) = open.pop() {
        let level = |t: &TransitionId| match net.transitions[t.0].timing {
            Timing::Immediate { priority, .. } => u64::from(priority) + 1,
            _ => 0,
        };
        let enabled: Vec<TransitionId> = (0..net.transitions.len())
            .map(TransitionId)
            .filter(|&t| net.is_enabled(t, &marking))
            .collect();
        let highest = enabled.iter().map(level).max();
        for t in enabled.iter().filter(|t| Some(level(t)) == highest) {
            let mut after = marking.clone();
            net.fire(*t, &mut after);
            if found.insert(after.clone()) {
                open.push(after);
            }
        }
        if found.len() > limit {
            return None;
        }
    }
    Some(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_same_markings_as_by_definition(net in common::any_net()) {
        let graph = Graph::explore(&net, 2000);
        match reached(&net, 2000) {
            Some(expected) => {
                let found: BTreeSet<Vec<u32>> = (0..graph.len()).map(|i| graph.marking(i).to_vec()).collect();
                prop_assert!(graph.is_complete());
                prop_assert_eq!(found, expected);
                // However few of them are seen, they are not taken for the beginning of more without end.
                for limit in [3, 10, 30, 100] {
                    let seen = Report::of(&net, limit).boundedness;
                    prop_assert!(!matches!(seen, Boundedness::Unbounded(_)), "{:?}", seen);
                }
            }
            None => prop_assert!(!graph.is_complete()),
        }
        for i in 0..graph.len().min(20) {
            let mut marking = net.initial_marking();
            for t in graph.path_to(i) {
                prop_assert!(net.fire(t, &mut marking));
            }
            prop_assert_eq!(&*marking, graph.marking(i));
        }
    }

    #[test]
    fn a_sequence_that_adds_tokens_can_be_repeated(net in common::any_net()) {
        let report = Report::of(&net, 300);
        if let Boundedness::Unbounded(Growth { places, prefix, pump }) = report.boundedness {
            let mut marking = net.initial_marking();
            for t in prefix {
                prop_assert!(net.fire(t, &mut marking));
            }
            for _ in 0..5 {
                let before = marking.clone();
                for &t in &pump {
                    prop_assert!(net.fire(t, &mut marking));
                }
                for (p, (after, before)) in marking.iter().zip(&before).enumerate() {
                    prop_assert_eq!(after > before, places.contains(&PlaceId(p)));
                }
            }
        }
    }
}
