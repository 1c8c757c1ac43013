//! Simulated nets compared with the exact solution and with published numbers. `cargo test --test it
//! simulated:: -- --nocapture` prints the table.

use crate::examples::{EXAMPLES, Example, Measure};
use inorder_petri::lower;
use inorder_petri::markov::Chain;
use inorder_petri::net::{Net, NetError, PlaceId, Servers, TransitionId};
use inorder_petri::race::{Memory, Race};
use inorder_petri::statistics::{
    Estimate, Measures, Replications, Simulation, Steady, replicate, steady_state,
};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Run(#[from] inorder_petri::coloured::RunError),
}

/// The mean delay of the slowest timed transition.
fn slowest(net: &Net) -> f64 {
    net.transitions
        .iter()
        .map(|t| t.timing.mean())
        .fold(0.0, f64::max)
}

/// Ten thousand times the slowest mean delay.
fn steady(net: &Net, confidence: f64) -> Measures {
    let mut race = Race::new(net, Memory::Enabling, 1).unwrap();
    let ticks_per_unit = race.ticks_per_unit();
    let ticks = slowest(net) * ticks_per_unit;
    let plan = Steady {
        ticks_per_unit,
        warm_up: Some((200.0 * ticks) as u64),
        batch: (50.0 * ticks) as u64,
        end: (10_000.0 * ticks) as u64,
        most_firings: u64::MAX,
        precision: 0.0,
        confidence,
    };
    steady_state(&mut race, &plan, |_, _| true)
        .unwrap()
        .measures
}

/// The state at one time of two thousand runs.
fn at(net: &Net, time: f64, confidence: f64) -> Measures {
    let ticks_per_unit = lower::ticks_per_unit(net);
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
    let start = |seed| Race::new(net, Memory::Enabling, seed).map_err(Error::from);
    replicate(&plan, start, |_, _| true).unwrap().measures
}

/// A weighted sum; the half widths are added, so the interval is too wide rather than too narrow.
fn sum(terms: &[(f64, &str)], of: impl Fn(&str) -> Estimate) -> Estimate {
    let zero = Estimate {
        mean: 0.0,
        half_width: 0.0,
    };
    terms.iter().fold(zero, |sum, &(weight, name)| {
        let term = of(name).scaled(weight);
        Estimate {
            mean: sum.mean + term.mean,
            half_width: sum.half_width + term.half_width,
        }
    })
}

/// The simulated value of a measure that the estimators provide.
fn simulated(net: &Net, long_run: &Measures, measure: &Measure) -> Option<(String, Estimate)> {
    let throughput = |name: &str| long_run.transition(name).unwrap().throughput;
    Some(match measure {
        Measure::Throughput(name) => (format!("throughput {name}"), throughput(name)),
        Measure::Tokens(terms) => {
            let tokens = |name: &str| long_run.place(name).unwrap().tokens;
            (
                format!("tokens {:?}", terms.iter().map(|t| t.1).collect::<Vec<_>>()),
                sum(terms, tokens),
            )
        }
        Measure::TokensAt(time, terms) => {
            let then = at(net, *time, 0.999);
            let tokens = |name: &str| then.place(name).unwrap().tokens_at_end;
            (format!("tokens at {time}"), sum(terms, tokens))
        }
        Measure::TimeBefore(name) => {
            let rate = throughput(name);
            let half_width = rate.half_width / (rate.mean * rate.mean);
            (
                format!("time before {name}"),
                Estimate {
                    mean: 1.0 / rate.mean - 1.0,
                    half_width,
                },
            )
        }
        Measure::Probability(..) | Measure::ProbabilityAt(..) | Measure::Markings => return None,
    })
}

/// Number of known results that were simulated, and those outside their intervals.
fn compare(example: &Example) -> (usize, Vec<String>) {
    let net = example.net();
    let long_run = steady(&net, 0.999);
    let (mut compared, mut outside) = (0, Vec::new());
    for known in example.results {
        let Some((what, estimate)) = simulated(&net, &long_run, &known.measure) else {
            continue;
        };
        compared += 1;
        println!(
            "{:<28} {what:<40} known {:12.6}  simulated {:12.6} +- {:.6}",
            example.name, known.value, estimate.mean, estimate.half_width
        );
        if (estimate.mean - known.value).abs() > estimate.half_width + known.tolerance {
            outside.push(format!(
                "{}: {what}: {estimate:?}, not {}",
                example.name, known.value
            ));
        }
    }
    (compared, outside)
}

#[test]
fn published_results_lie_in_the_intervals() {
    let compared: Vec<_> = EXAMPLES.iter().map(compare).collect();
    let nets = compared.iter().filter(|(results, _)| *results > 0).count();
    let outside: Vec<_> = compared
        .into_iter()
        .flat_map(|(_, outside)| outside)
        .collect();
    println!("{nets} nets");
    assert!(nets >= 10, "{nets} nets");
    assert!(outside.is_empty(), "{outside:#?}");
}

/// All throughputs, mean tokens and busy servers of all examples compared with the exact chain: about 95 % of the 95
/// % intervals must contain the true value.
#[test]
fn intervals_contain_the_true_value_as_often_as_stated() {
    let (mut held, mut all) = (0, 0);
    for example in EXAMPLES {
        let net = example.net();
        let chain = Chain::new(&net, 20_000).unwrap();
        let Ok(exact) = chain.steady_state() else {
            continue;
        };
        let measures = steady(&net, 0.95);
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
    let mut net = Net::new("cycle");
    let think = net.add_place(inorder_petri::net::Place::new("think", 5));
    let work = net.add_place(inorder_petri::net::Place::new("work", 0));
    let timing = inorder_petri::net::Timing::exponential;
    let t = inorder_petri::net::Transition::new("ask", timing(0.5)).servers(Servers::Infinite);
    net.add_transition(t.input(think, 1).output(work, 1));
    let t = inorder_petri::net::Transition::new("answer", timing(1.0));
    net.add_transition(t.input(work, 1).output(think, 1));
    let chain = Chain::new(&net, 100).unwrap();
    let exact = chain.steady_state().unwrap().throughput(TransitionId(1));
    let mut engine = inorder_petri::coloured::Engine::new(lower::to_model(&net), 1).unwrap();
    let ticks_per_unit = lower::ticks_per_unit(&net);
    let plan = Steady {
        ticks_per_unit,
        warm_up: Some((100.0 * ticks_per_unit) as u64),
        batch: (100.0 * ticks_per_unit) as u64,
        end: (50_000.0 * ticks_per_unit) as u64,
        most_firings: u64::MAX,
        precision: 0.0,
        confidence: 0.999,
    };
    let measures = steady_state(&mut engine, &plan, |_, _| true)
        .unwrap()
        .measures;
    assert!(
        measures.transitions[1].throughput.covers(exact),
        "{measures:?}, not {exact}"
    );
}

#[test]
fn replications_do_not_depend_on_the_number_of_threads() {
    let net = EXAMPLES[0].net();
    let results = [1, 2, 5].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| format!("{:?}", at(&net, 3.0, 0.95)))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn in_a_deadlock_only_time_advances() {
    let mut net = Net::new("once");
    let place = net.add_place(inorder_petri::net::Place::new("left", 3));
    let timing = inorder_petri::net::Timing::exponential(1.0);
    net.add_transition(inorder_petri::net::Transition::new("use", timing).input(place, 1));
    let mut race = Race::new(&net, Memory::Enabling, 1).unwrap();
    race.advance(1 << 40).unwrap();
    assert_eq!(race.marking(), [0]);
    assert_eq!(race.firings(TransitionId(0)), 3);
}

#[test]
fn many_tokens_that_fire_at_one_time_are_no_loop() {
    let net = "place a 1200000\nplace b\ntransition all immediate\n  in a\n  out b\n";
    let net = inorder_petri::text::read("many.net", net).unwrap();
    let mut race = Race::new(&net, Memory::Enabling, 1).unwrap();
    race.run_until(1.0).unwrap();
    assert_eq!(race.marking(), [0, 1_200_000]);
}
