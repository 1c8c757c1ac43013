//! Exact solutions compared with a straightforward solver, for random nets.

use inorder_petri::markov::{Chain, MarkovError};
use inorder_petri::net::ArcKind::{Input, Output};
use inorder_petri::net::{Net, Place, PlaceId, Servers, Timing, Transition, TransitionId};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Where a marking leads without time: the straightforward twin of elimination, step by step until little probability
/// is left.
fn settled(net: &Net, marking: Vec<u32>) -> BTreeMap<Vec<u32>, f64> {
    let mut now = BTreeMap::from([(marking, 1.0)]);
    let mut rest: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for _ in 0..20_000 {
        let mut next: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for (marking, p) in now {
            let choices = immediate(net, &marking);
            let total: f64 = choices.iter().map(|c| c.1).sum();
            if choices.is_empty() {
                *rest.entry(marking).or_default() += p;
                continue;
            }
            for (t, weight) in choices {
                let mut after = marking.clone();
                net.fire(t, &mut after);
                *next.entry(after).or_default() += p * weight / total;
            }
        }
        now = next;
        if now.values().sum::<f64>() < 1e-16 {
            break;
        }
    }
    rest
}

/// The immediate transitions that may fire, and their weights.
fn immediate(net: &Net, marking: &[u32]) -> Vec<(TransitionId, f64)> {
    let enabled = (0..net.transitions.len())
        .map(TransitionId)
        .filter(|&t| net.is_enabled(t, marking));
    let level = |t: TransitionId| match net.transitions[t.0].timing {
        Timing::Immediate { priority, weight } => Some((priority, t, weight)),
        _ => None,
    };
    let all: Vec<_> = enabled.filter_map(level).collect();
    let highest = all.iter().map(|x| x.0).max();
    let first = all.into_iter().filter(|x| Some(x.0) == highest);
    first.map(|x| (x.1, x.2)).collect()
}

/// The largest relative difference between the flows into and out of a state: 0 in the steady state.
fn unrest(net: &Net, chain: &Chain, p: &[f64]) -> f64 {
    let mut balance = vec![0.0; p.len()];
    let mut largest: f64 = 1e-300;
    for (i, p) in p.iter().enumerate() {
        for (t, transition) in net.transitions.iter().enumerate() {
            let degree = net.enabling_degree(TransitionId(t), chain.marking(i));
            let Timing::Exponential { rate } = transition.timing else {
                continue;
            };
            let flow = p * rate * f64::from(transition.servers.limit(degree));
            let mut after = chain.marking(i).to_vec();
            if !net.fire(TransitionId(t), &mut after) {
                continue;
            }
            balance[i] -= flow;
            largest = largest.max(flow);
            for (marking, share) in settled(net, after) {
                let to = (0..chain.len()).find(|&j| chain.marking(j) == marking);
                balance[to.unwrap()] += flow * share;
            }
        }
    }
    balance
        .iter()
        .map(|b| b.abs() / largest)
        .fold(0.0, f64::max)
}

/// From, to, tokens taken and added, rate or weight, and kind: 0 to 2 exponential, then priorities.
type Step = (usize, usize, u32, u32, f64, u32);

fn step(name: String, (from, to, take, give, rate, kind): Step) -> Transition {
    let t = match kind {
        0 => Transition::new(name, Timing::exponential(rate)),
        1 => Transition::new(name, Timing::exponential(rate)).servers(Servers::Multiple(2)),
        2 => Transition::new(name, Timing::exponential(rate)).servers(Servers::Infinite),
        n => Transition::new(name, Timing::weighted(n, rate)),
    };
    t.input(PlaceId(from), take).output(PlaceId(to), give)
}

/// A ring of four places in which tokens can always circulate, and further transitions across it. Some transitions
/// take time and some do not; few of these nets end in a deadlock.
fn rings() -> impl Strategy<Value = Net> {
    let across = (0usize..4, 0usize..4, 1u32..3, 0.1f64..10.0, 0u32..5, 0u8..8);
    let ring = proptest::collection::vec((0.1f64..10.0, 0u32..5), 3);
    let tokens = proptest::collection::vec(0u32..3, 4);
    let across = proptest::collection::vec(across, 0..5);
    (ring, across, tokens).prop_map(|(ring, across, tokens)| {
        let mut net = Net::new("ring");
        for (i, n) in tokens.into_iter().enumerate() {
            net.add_place(Place::new(format!("p{i}"), n).capacity(5));
        }
        // The return transition takes time, so that the ring alone is no zero-time loop.
        net.add_transition(step("back".to_owned(), (3, 0, 1, 1, 1.0, 0)));
        for (i, (rate, kind)) in ring.into_iter().enumerate() {
            net.add_transition(step(format!("r{i}"), (i, i + 1, 1, 1, rate, kind)));
        }
        for (i, (from, to, take, rate, kind, odd)) in across.into_iter().enumerate() {
            // One in eight creates or destroys tokens.
            let give = if odd == 0 { 3 - take } else { take };
            net.add_transition(step(format!("t{i}"), (from, to, take, give, rate, kind)));
        }
        net
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn solutions_of_random_chains_are_stationary(net in rings()) {
        // Some nets have zero-time loops, which the structure or the markings reveal.
        let chain = match Chain::new(&net, 5000) {
            Ok(chain) => chain,
            Err(MarkovError::Net(_) | MarkovError::ZeroTimeLoop { .. }) => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        match chain.steady_state() {
            Ok(solution) if chain.len() <= 150 => {
                let p = solution.probabilities();
                prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                prop_assert!(unrest(&net, &chain, p) < 1e-11);
                for place in 0..net.places.len() {
                    let flow = |(t, transition): (usize, &Transition)| {
                        let change = |kind| f64::from(transition.multiplicity(kind, PlaceId(place)));
                        solution.throughput(TransitionId(t)) * (change(Output) - change(Input))
                    };
                    let kept: f64 = net.transitions.iter().enumerate().map(flow).sum();
                    prop_assert!(kept.abs() < 1e-9, "{}", kept);
                }
            }
            Ok(_) | Err(MarkovError::SeveralRecurrentClasses { .. }) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn uniformisation_satisfies_the_forward_equation(net in rings(), time in 0.01f64..3.0) {
        let Ok(chain) = Chain::new(&net, 5000) else {
            return Ok(());
        };
        let whole = chain.transient(time).unwrap();
        prop_assert!((whole.probabilities().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // The number of tokens changes at the rate at which transitions fire (Kolmogorov's forward equation).
        let step = 1e-5 * time;
        let (before, after) = (chain.transient(time - step).unwrap(), chain.transient(time + step).unwrap());
        for p in 0..net.places.len() {
            let slope = (after.mean_tokens(PlaceId(p)) - before.mean_tokens(PlaceId(p))) / (2.0 * step);
            let flow: f64 = net.transitions.iter().enumerate().map(|(t, transition)| {
                let change = |kind| f64::from(transition.multiplicity(kind, PlaceId(p)));
                whole.throughput(TransitionId(t)) * (change(Output) - change(Input))
            }).sum();
            prop_assert!((slope - flow).abs() < 1e-4 * (1.0 + flow.abs()), "{} {}", slope, flow);
        }
    }
}
