//! Invariants compared with known nets and with a search of all small solutions.

use crate::common;

use inorder_petri::invariants::{Explosion, Invariants};
use inorder_petri::net::{ArcKind, Net, Place, Timing, Transition};
use inorder_petri::text::read;
use proptest::prelude::*;

#[test]
fn readers_and_writers() {
    // Murata 1989, fig. 9 and sec. VI: k processes read together or write exclusively.
    let net = read(
        "readers.net",
        "place idle 4
         place reading
         place writing
         place permits 4
         transition read exponential rate 1
           in idle
           in permits
           out reading
         transition write exponential rate 1
           in idle
           in permits 4
           out writing
         transition read_done exponential rate 1
           in reading
           out idle
           out permits
         transition write_done exponential rate 1
           in writing
           out idle
           out permits 4",
    )
    .unwrap();
    let invariants = Invariants::of(&net).unwrap();
    assert_eq!(
        invariants.places_text(&net),
        [
            "idle + reading + writing = 4",
            "reading + 4 writing + permits = 4"
        ]
    );
    assert_eq!(
        invariants.transitions_text(&net),
        ["read + read_done", "write + write_done"]
    );
    assert!(invariants.is_covered_by_places() && invariants.is_covered_by_transitions());
    let writing = net.place_named("writing").unwrap();
    assert_eq!(invariants.bound(writing), Some(1));
}

#[test]
fn uncovered_places_and_transitions_are_listed() {
    let net = read(
        "open.net",
        "place queue
         place log
         transition arrive exponential rate 1
           out queue
         transition serve exponential rate 2
           in queue
           out log
         transition clear exponential rate 1
           reset log",
    )
    .unwrap();
    let invariants = Invariants::of(&net).unwrap();
    assert_eq!(invariants.uncovered_places().len(), 2);
    assert!(invariants.places.is_empty());
    // Arrivals and services leave tokens in the log, and a reset arc takes a variable number.
    assert_eq!(invariants.uncovered_transitions().len(), 3);
}

#[test]
fn explosion_is_reported() {
    // A ring of n pairs of parallel places has 2^n minimal P-invariants.
    let mut net = Net::new("parallel");
    let n = 20;
    let places: Vec<_> = (0..2 * n)
        .map(|i| net.add_place(Place::new(format!("p{i}"), 1)))
        .collect();
    for i in 0..n {
        let next = (i + 1) % n;
        let t = Transition::new(format!("t{i}"), Timing::exponential(1.0));
        let t = t.input(places[2 * i], 1).input(places[2 * i + 1], 1);
        net.add_transition(
            t.output(places[2 * next], 1)
                .output(places[2 * next + 1], 1),
        );
    }
    let error = Invariants::limited(&net, 500).unwrap_err();
    assert!(
        matches!(error, Explosion::TooMany { limit: 500, .. }),
        "{error}"
    );
}

/// Tokens transition `t` adds to place `p`.
fn change(net: &Net, p: usize, t: usize) -> i64 {
    let arcs = net.transitions[t].arcs.iter().filter(|a| a.place.0 == p);
    arcs.map(|a| match a.kind {
        ArcKind::Input => -i64::from(a.multiplicity),
        ArcKind::Output => i64::from(a.multiplicity),
        _ => 0,
    })
    .sum()
}

fn resets(net: &Net, p: usize) -> bool {
    let arcs = net.transitions.iter().flat_map(|t| &t.arcs);
    arcs.into_iter()
        .any(|a| a.kind == ArcKind::Reset && a.place.0 == p)
}

/// All P-invariants with weights up to `MOST`, by trying every combination.
fn tried(net: &Net) -> Vec<Vec<i64>> {
    let n = net.places.len();
    let combination = |mut code: usize| -> Vec<i64> {
        (0..n)
            .map(|_| {
                let digit = code % (MOST + 1);
                code /= MOST + 1;
                digit as i64
            })
            .collect()
    };
    let holds = |y: &Vec<i64>| {
        (0..net.transitions.len())
            .all(|t| (0..n).map(|p| y[p] * change(net, p, t)).sum::<i64>() == 0)
            && (0..n).all(|p| y[p] == 0 || !resets(net, p))
    };
    (1..(MOST + 1).pow(n as u32))
        .map(combination)
        .filter(holds)
        .collect()
}

const MOST: usize = 4;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_minimal_invariants_are_found_and_valid(net in common::any_net()) {
        let found = Invariants::of(&net).unwrap();
        let dense: Vec<Vec<i64>> = found.places.iter().map(|invariant| {
            let mut y = vec![0; net.places.len()];
            for &(p, w) in &invariant.weights {
                y[p.0] = w as i64;
            }
            y
        }).collect();
        let within = |a: &[i64], b: &[i64]| a.iter().zip(b).all(|(a, b)| *a == 0 || *b > 0);
        let tried = tried(&net);
        for y in &tried {
            prop_assert!(dense.iter().any(|d| within(d, y)), "{:?} is missed in {:?}", y, dense);
        }
        for (i, d) in dense.iter().enumerate() {
            if d.iter().all(|&w| w <= MOST as i64) {
                prop_assert!(tried.contains(d), "{:?} is wrong", d);
            }
            for (j, other) in dense.iter().enumerate() {
                prop_assert!(i == j || !within(other, d), "{:?} holds {:?}", d, other);
            }
        }
    }
}
