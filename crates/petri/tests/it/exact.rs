//! Exact solutions compared with closed forms; `random_nets.rs` compares random nets with a straightforward solver.

use crate::common::cases::check;
use crate::common::runs::{birth_death, mean_of, net};

use inorder_petri::markov::{Chain, Solution};
use inorder_petri::net::{Net, PlaceId, TransitionId};

fn throughput(solution: &Solution<'_>, net: &Net, name: &str) -> f64 {
    solution.throughput(net.transition_named(name).unwrap())
}

fn mean(solution: &Solution<'_>, net: &Net, name: &str) -> f64 {
    solution.mean_tokens(net.place_named(name).unwrap())
}

#[track_caller]
fn same(found: f64, expected: f64, relative: f64) {
    let difference = (found - expected).abs();
    assert!(
        difference <= relative * expected.abs(),
        "found {found}, expected {expected}"
    );
}

/// M/M/c/K: `c` servers of rate 1, at most `room` customers, arrivals with rate `load`.
fn mmck(load: f64, servers: u32, room: u32) -> Net {
    net(&format!(
        "place queue 0 capacity {room}\ntransition arrive exponential rate {load}\n out queue\n\
         transition serve exponential rate 1 servers {servers}\n in queue\n"
    ))
}

#[test]
fn mmck_to_the_last_digits() {
    for (load, servers, room) in [
        (0.5, 1, 4),
        (0.99, 1, 50),
        (3.0, 1, 10),
        (2.5, 3, 20),
        (8.0, 8, 900),
    ] {
        let net = mmck(load, servers, room);
        let chain = Chain::new(&net, 10_000).unwrap();
        let solution = chain.steady_state().unwrap();
        let expected = birth_death(room, |_| load, |n| f64::from(n.min(servers)));
        let found = solution.token_distribution(PlaceId(0));
        for (found, expected) in found.iter().zip(&expected) {
            same(*found, *expected, 1e-10);
        }
        let lost = expected[room as usize];
        same(
            throughput(&solution, &net, "arrive"),
            load * (1.0 - lost),
            1e-11,
        );
        same(
            throughput(&solution, &net, "serve"),
            load * (1.0 - lost),
            1e-11,
        );
        let busy = mean_of(&expected, |n| n.min(f64::from(servers)));
        same(solution.busy_servers(TransitionId(1)), busy, 1e-11);
        same(
            solution.utilisation(TransitionId(1)),
            busy / f64::from(servers),
            1e-11,
        );
        // Little's law: the time in the system.
        let customers = mean_of(&expected, |n| n);
        same(
            solution.sojourn(PlaceId(0)).unwrap(),
            customers / (load * (1.0 - lost)),
            1e-10,
        );
    }
}

#[test]
fn machine_repairman() {
    let net = net("place working 6
        place broken
        transition fail exponential rate 0.1 servers infinite
          in working
          out broken
        transition repair exponential rate 0.5 servers 2
          in broken
          out working");
    let chain = Chain::new(&net, 100).unwrap();
    let solution = chain.steady_state().unwrap();
    let expected = birth_death(6, |n| 0.1 * f64::from(6 - n), |n| 0.5 * f64::from(n.min(2)));
    for (found, expected) in solution
        .token_distribution(PlaceId(1))
        .iter()
        .zip(&expected)
    {
        same(*found, *expected, 1e-13);
    }
}

#[test]
fn closed_tandem_by_convolution() {
    // Three single servers of rates 1, 2, 3 and five customers: J. P. Buzen, "Computational algorithms for
    // closed queueing networks with exponential servers", CACM 16(9), 1973: X(N) = G(N-1) / G(N).
    let net = net("place a 5\nplace b\nplace c
        transition ta exponential rate 1
          in a
          out b
        transition tb exponential rate 2
          in b
          out c
        transition tc exponential rate 3
          in c
          out a");
    let demands = [1.0, 0.5, 1.0 / 3.0];
    let mut g = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for demand in demands {
        for n in 1..g.len() {
            g[n] += demand * g[n - 1];
        }
    }
    let chain = Chain::new(&net, 1000).unwrap();
    let solution = chain.steady_state().unwrap();
    same(throughput(&solution, &net, "tc"), g[4] / g[5], 1e-13);
    let queue = |demand: f64| {
        (1..6)
            .map(|k| demand.powi(k) * g[5 - k as usize] / g[5])
            .sum()
    };
    same(mean(&solution, &net, "b"), queue(0.5), 1e-13);
    assert_eq!(chain.len(), 21);
}

#[test]
fn fork_and_join_takes_the_longest() {
    // The mean of the longest of n exponentials of rate 1 is 1 + 1/2 + ... + 1/n.
    for n in 1..=8_u32 {
        let mut text = "place start 1\n".to_owned();
        let (mut fork, mut join) = (String::new(), String::new());
        for i in 0..n {
            text += &format!(
                "place work{i}\nplace done{i}\ntransition do{i} exponential rate 1\n in work{i}\n out done{i}\n"
            );
            fork += &format!(" out work{i}\n");
            join += &format!(" in done{i}\n");
        }
        text += &format!(
            "transition fork immediate\n in start\n{fork}transition join immediate\n out start\n{join}"
        );
        let net = net(&text);
        let chain = Chain::new(&net, 10_000).unwrap();
        let expected: f64 = (1..=n).map(|k| 1.0 / f64::from(k)).sum();
        let solution = chain.steady_state().unwrap();
        same(1.0 / throughput(&solution, &net, "join"), expected, 1e-12);
    }
}

#[test]
fn erlang_stages_and_enabling_memory() {
    // M/E2/1/1: arrivals are lost while the server is busy; it is busy with probability 1/(1 + 1) for means 1 and 1,
    // for any service distribution.
    let loss = net("place idle 1\nplace busy
        transition arrive exponential rate 1
          in idle
          out busy
        transition serve erlang 2 rate 2
          in busy
          out idle");
    let chain = Chain::new(&loss, 100).unwrap();
    assert_eq!(chain.len(), 3);
    same(
        mean(&chain.steady_state().unwrap(), &loss, "busy"),
        0.5,
        1e-14,
    );
    // Work with two stages of rate 1 restarts whenever an interruption of rate 1 occurs: the interruption wins unless
    // both stages are completed before, with probability 1/4.
    let race = net("place up 1\nplace down
        transition finish erlang 2 rate 1
          in up
          out up
        transition interrupt exponential rate 1
          in up
          out down
        transition resume immediate
          in down
          out up");
    let chain = Chain::new(&race, 100).unwrap();
    let solution = chain.steady_state().unwrap();
    let share = throughput(&solution, &race, "finish")
        / (throughput(&solution, &race, "finish") + throughput(&solution, &race, "interrupt"));
    same(share, 0.25, 1e-14);
}

#[test]
fn immediate_choices_by_priority_and_weight() {
    let net = net("place p 1\nplace q\nplace x\nplace y\nplace z
        transition go exponential rate 7
          in p
          out q
        transition never immediate priority 1 weight 100
          in q
          out x
        transition often immediate priority 2 weight 3
          in q
          out y
        transition seldom immediate priority 2 weight 1
          in q
          out z
        transition bx immediate
          in x
          out p
        transition by exponential rate 7
          in y
          out p
        transition bz exponential rate 7
          in z
          out p");
    let chain = Chain::new(&net, 100).unwrap();
    let solution = chain.steady_state().unwrap();
    assert_eq!(throughput(&solution, &net, "never"), 0.0);
    same(throughput(&solution, &net, "often"), 3.5 * 0.75, 1e-14);
    same(throughput(&solution, &net, "seldom"), 3.5 * 0.25, 1e-14);
}

#[test]
fn transient_of_two_states() {
    // p(t) = b/(a+b) + a/(a+b) e^{-(a+b)t} of staying in the first state.
    let net = net("place up 1\nplace down
        transition fail exponential rate 3
          in up
          out down
        transition repair exponential rate 2
          in down
          out up");
    let chain = Chain::new(&net, 10).unwrap();
    for time in [0.0, 1e-6, 0.1, 0.5, 2.0, 100.0, 1e6] {
        let solution = chain.transient(time).unwrap();
        let expected = 0.4 + 0.6 * libm::exp(-5.0 * time);
        same(mean(&solution, &net, "up"), expected, 1e-12);
    }
    let late = chain.transient(1e300).unwrap_err().to_string();
    assert!(late.contains("which is too often"), "{late}");
    assert_eq!(
        chain.transient(-1.0).unwrap_err().to_string(),
        "time -1; expected a finite number, 0 or above"
    );
}

#[test]
fn nets_without_an_exact_solution_are_refused_with_a_reason() {
    check(include_str!("../cases/no-solution.txt"), "", |text| {
        let result = Chain::new(&net(text), 1000).and_then(|c| c.steady_state().map(|_| ()));
        result.unwrap_err().to_string()
    });
}

#[test]
fn a_deadlock_is_a_steady_state() {
    let net = net("place p 2\nplace q\ntransition t exponential rate 1\nin p\nout q");
    let chain = Chain::new(&net, 10).unwrap();
    assert_eq!(mean(&chain.steady_state().unwrap(), &net, "q"), 2.0);
}

#[test]
fn nothing_arrives_in_a_net_without_transitions_and_nothing_is_not_negative() {
    let net = net("net still\nplace p 1\n");
    let chain = Chain::new(&net, 10).unwrap();
    let solution = chain.steady_state().unwrap();
    let arrivals = solution.arrivals(net.place_named("p").unwrap());
    assert_eq!(format!("{arrivals}"), "0");
}

#[test]
fn iteration_agrees_with_the_product_form() {
    // 1326 states, more than elimination is used for.
    let net = net("place a 50\nplace b\nplace c
        transition ta exponential rate 1
          in a
          out b
        transition tb exponential rate 1.1
          in b
          out c
        transition tc exponential rate 1.2
          in c
          out a");
    let mut g = vec![0.0; 51];
    g[0] = 1.0;
    for demand in [1.0, 1.0 / 1.1, 1.0 / 1.2] {
        for n in 1..g.len() {
            g[n] += demand * g[n - 1];
        }
    }
    let chain = Chain::new(&net, 10_000).unwrap();
    assert_eq!(chain.len(), 51 * 52 / 2);
    same(
        throughput(&chain.steady_state().unwrap(), &net, "ta"),
        g[49] / g[50],
        1e-10,
    );
}
