//! Simulated nets compared with the exact solution and with published numbers. `cargo test --test it
//! simulated:: -- --nocapture` prints the table.

use crate::common::runs::{Length, holds, measured, net};
use crate::examples::{Example, Measure, TABLE, examples};
use inorder_petri::coloured::{Engine, RunError};
use inorder_petri::lower::{ticks_per_unit, to_model};
use inorder_petri::markov::Chain;
use inorder_petri::net::{Net, PlaceId, TransitionId};
use inorder_petri::query::Sum;
use inorder_petri::race::{Memory, Race};
use inorder_petri::statistics::{Estimate, Measures, Replications, Simulation, replicate};

fn race(net: &Net, seed: u64, numbers: &[Sum]) -> Race {
    let mut race = Race::new(net, Memory::Enabling, seed).unwrap();
    race.observe(numbers.to_vec());
    race
}

/// Ten thousand times the slowest mean delay, with the means of these numbers.
fn steady(net: &Net, confidence: f64, numbers: &[Sum]) -> Measures {
    let means = net.transitions.iter().map(|t| t.timing.mean());
    let length = Length {
        ticks_per_unit: ticks_per_unit(net),
        units: 10_000.0 * means.fold(0.0, f64::max),
        confidence,
    };
    measured(race(net, 1, numbers), length)
}

/// The state at one time of two thousand runs.
fn at(net: &Net, time: f64, confidence: f64, numbers: &[Sum]) -> Measures {
    let ticks_per_unit = ticks_per_unit(net);
    let plan = Replications {
        ticks_per_unit,
        warm_up: Some(0),
        end: (time * ticks_per_unit) as u64,
        may_grow: false,
        round: 2000,
        most: 2000,
        precision: 0.0,
        confidence,
    };
    let start = |seed| Ok::<_, RunError>(race(net, seed, numbers));
    replicate(&plan, start, |_, _| true).unwrap().measures
}

/// The estimate of a measure, unless it is no matter of chance.
fn simulated(net: &Net, measure: &Measure) -> Option<Estimate> {
    const CONFIDENCE: f64 = 0.999;
    let numbers = |of: &Sum| vec![of.clone()];
    let rate = |id: &TransitionId| steady(net, CONFIDENCE, &[]).transitions[id.0].throughput;
    Some(match measure {
        Measure::Throughput(transition) => rate(transition),
        Measure::Mean { of, at: None } => steady(net, CONFIDENCE, &numbers(of)).rewards[0],
        Measure::Mean { of, at: Some(time) } => {
            at(net, *time, CONFIDENCE, &numbers(of)).rewards_at_end[0]
        }
        Measure::TimeBefore(transition) => {
            let rate = rate(transition);
            Estimate {
                mean: 1.0 / rate.mean - 1.0,
                half_width: rate.half_width / (rate.mean * rate.mean),
            }
        }
        Measure::Markings => return None,
    })
}

/// Number of known results that were simulated, and those outside their intervals.
fn compare(example: &Example) -> (usize, Vec<String>) {
    let (mut compared, mut outside) = (0, Vec::new());
    for known in &example.results {
        let Some(estimate) = simulated(&example.net, &known.measure) else {
            continue;
        };
        compared += 1;
        let line = format!(
            "{:<28} {:<40} known {:12.6}  simulated {:12.6} +- {:.6}",
            example.name, known.what, known.value, estimate.mean, estimate.half_width
        );
        println!("{line}");
        if (estimate.mean - known.value).abs() > estimate.half_width + known.tolerance {
            outside.push(line);
        }
    }
    (compared, outside)
}

#[test]
fn published_results_lie_in_the_intervals() {
    let compared: Vec<_> = examples(TABLE).iter().map(compare).collect();
    let nets = compared.iter().filter(|(results, _)| *results > 0).count();
    let outside: Vec<_> = compared
        .into_iter()
        .flat_map(|(_, outside)| outside)
        .collect();
    assert!(nets >= 10, "{nets} nets");
    assert!(outside.is_empty(), "{outside:#?}");
}

/// All throughputs, mean tokens and busy servers of all examples compared with the exact chain: about 95 % of the 95
/// % intervals must contain the true value.
#[test]
fn intervals_contain_the_true_value_as_often_as_stated() {
    let (mut held, mut all) = (0, 0);
    for Example { net, .. } in examples(TABLE) {
        let chain = Chain::new(&net, 20_000).unwrap();
        let Ok(exact) = chain.steady_state() else {
            continue;
        };
        let measures = steady(&net, 0.95, &[]);
        let places = measures.places.iter().enumerate();
        let tokens = places.map(|(i, p)| (p.tokens, exact.mean_tokens(PlaceId(i))));
        let rates = measures.transitions.iter().enumerate();
        let rates = rates.map(|(i, t)| (t.throughput, exact.throughput(TransitionId(i))));
        let busy = measures.transitions.iter().enumerate();
        let busy = busy.filter_map(|(i, t)| Some((t.busy?, exact.busy_servers(TransitionId(i)))));
        for (estimate, exact) in tokens.chain(rates).chain(busy) {
            all += 1;
            let slack = 1e-6 * exact;
            held += usize::from((estimate.mean - exact).abs() <= estimate.half_width + slack);
        }
    }
    println!("{held} of {all} intervals hold the exact value");
    // Measures of one net are correlated, so the count varies more than a binomial variate.
    assert!(held * 100 >= all * 90, "{held} of {all}");
}

/// In a net without conflicts about tokens, taking them at the start or at the end gives the same result.
#[test]
fn reservation_agrees_with_the_race_where_nothing_competes() {
    let net = net("place think 5\nplace work\n\
        transition ask exponential rate 0.5 servers infinite\n in think\n out work\n\
        transition answer exponential rate 1\n in work\n out think\n");
    let chain = Chain::new(&net, 100).unwrap();
    let exact = chain.steady_state().unwrap().throughput(TransitionId(1));
    let length = Length {
        ticks_per_unit: ticks_per_unit(&net),
        units: 50_000.0,
        confidence: 0.999,
    };
    let measures = measured(Engine::new(to_model(&net), 1).unwrap(), length);
    holds(
        "reserved: answers",
        measures.transitions[1].throughput,
        exact,
        0.05,
    );
}

#[test]
fn replications_do_not_depend_on_the_number_of_threads() {
    let net = &examples(TABLE)[0].net;
    let results = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| format!("{:?}", at(net, 3.0, 0.95, &[])))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn in_a_deadlock_only_time_advances() {
    let net = net("place left 3\ntransition use exponential rate 1\n in left\n");
    let mut race = race(&net, 1, &[]);
    race.advance(1 << 40).unwrap();
    assert_eq!(race.marking(), [0]);
    assert_eq!(race.firings(TransitionId(0)), 3);
}

#[test]
fn many_tokens_that_fire_at_one_time_are_no_loop() {
    let net = net("place a 1200000\nplace b\ntransition all immediate\n  in a\n  out b\n");
    let mut race = race(&net, 1, &[]);
    race.run_until(1.0).unwrap();
    assert_eq!(race.marking(), [0, 1_200_000]);
}
