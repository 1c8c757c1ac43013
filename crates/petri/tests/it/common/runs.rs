//! Nets as text, what is asked of them, and estimates that must hold a known value.

use inorder_petri::net::Net;
use inorder_petri::query::{Formula, Query, Sum};
use inorder_petri::race::{Memory, Race};
use inorder_petri::statistics::{Estimate, Measures, Simulation, Steady, steady_state};
use inorder_petri::text;

pub(crate) fn net(text: &str) -> Net {
    text::read("test.net", text).expect("a net")
}

/// The number that a query asks for.
#[track_caller]
pub(crate) fn sum(net: &Net, query: &str) -> Sum {
    match Query::read(query, net).expect(query) {
        Query::Mean(sum) => sum,
        Query::Holds(_) => panic!("{query} is a formula"),
    }
}

/// The formula that a query asks about.
#[track_caller]
pub(crate) fn formula(net: &Net, query: &str) -> Formula {
    match Query::read(query, net).expect(query) {
        Query::Holds(formula) => formula,
        Query::Mean(_) => panic!("{query} is a number"),
    }
}

/// How long to simulate, in units of time: a twentieth is the warm-up. Nothing ends a run early.
#[derive(Clone, Copy)]
pub(crate) struct Length {
    pub ticks_per_unit: f64,
    pub units: f64,
    pub confidence: f64,
}

/// The estimates of a run.
pub(crate) fn measured(mut simulation: impl Simulation, length: Length) -> Measures {
    let ticks = |units: f64| (units * length.ticks_per_unit) as u64;
    let plan = Steady {
        ticks_per_unit: length.ticks_per_unit,
        warm_up: Some(ticks(0.05 * length.units)),
        batch: ticks(length.units / 40.0),
        end: ticks(length.units),
        most_firings: u64::MAX,
        precision: 0.0,
        confidence: length.confidence,
    };
    let result = steady_state(&mut simulation, &plan, |_, _| true);
    result.expect("a run").measures
}

/// A run of a plain net with intervals of 99.9 %, which also estimates these numbers.
pub(crate) fn raced(net: &Net, memory: Memory, units: f64, numbers: Vec<Sum>) -> Measures {
    let mut race = Race::new(net, memory, 1).expect("a valid net");
    race.observe(numbers);
    let length = Length {
        ticks_per_unit: race.ticks_per_unit(),
        units,
        confidence: 0.999,
    };
    measured(race, length)
}

/// Whether the interval of an estimate holds a value and is, as a share of it, narrower than `most`.
#[track_caller]
pub(crate) fn holds(what: &str, estimate: Estimate, exact: f64, most: f64) {
    let Estimate { mean, half_width } = estimate;
    println!("{what:<44} exact {exact:9.5}  simulated {mean:9.5} +- {half_width:.5}");
    assert!(estimate.covers(exact), "{what}: {estimate:?}, not {exact}");
    let error = estimate.relative_error();
    assert!(error < most, "{what}: an interval of {error} shows little");
}

/// Probabilities of 0 to `last` customers where the rates of births and deaths depend on their number.
pub(crate) fn birth_death(
    last: u32,
    birth: impl Fn(u32) -> f64,
    death: impl Fn(u32) -> f64,
) -> Vec<f64> {
    let mut weights = vec![1.0];
    for n in 1..=last {
        weights.push(weights[n as usize - 1] * birth(n - 1) / death(n));
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The mean of a function of the number of customers.
pub(crate) fn mean_of(probabilities: &[f64], of: impl Fn(f64) -> f64) -> f64 {
    let numbers = probabilities.iter().zip(0_u32..);
    numbers.map(|(p, n)| of(f64::from(n)) * p).sum()
}

/// Mean number of customers in an M/G/1 queue, from the first two moments of the service (Pollaczek and Khinchine; Kleinrock,
/// "Queueing Systems" I, 5.63).
pub(crate) fn pollaczek_khinchine(rate: f64, mean: f64, second: f64) -> f64 {
    let load = rate * mean;
    load + rate * rate * second / (2.0 * (1.0 - load))
}

/// A queue with these arrivals and this service.
pub(crate) fn single_server(arrivals: &str, service: &str) -> String {
    format!(
        "place queue\ntransition arrive {arrivals}\n out queue\ntransition serve {service}\n in queue\n"
    )
}

/// `n` philosophers who take the fork beside them first, then that of the next.
pub(crate) fn philosophers(n: usize) -> Net {
    let mut lines = String::new();
    for i in 0..n {
        let right = (i + 1) % n;
        lines += &format!(
            "place fork{i} 1\nplace think{i} 1\nplace left{i}\nplace eat{i}\n\
             transition take{i} exponential rate 1\n in think{i}\n in fork{i}\n out left{i}\n\
             transition begin{i} exponential rate 1\n in left{i}\n in fork{right}\n out eat{i}\n\
             transition end{i} exponential rate 1\n in eat{i}\n out think{i}\n out fork{i}\n out fork{right}\n"
        );
    }
    net(&lines)
}
