//! Stochastic nets with known results: the tables `tests/cases/published*.txt`, for checking solvers and simulators.

use inorder_petri::net::{Net, Servers, Timing, TransitionId};
use inorder_petri::query::{Query, Sum};
use inorder_petri::text::read;

/// The nets that every test run can solve.
pub(crate) const TABLE: &str = include_str!("../../cases/published.txt");

/// A net with known results.
pub(crate) struct Example {
    pub name: &'static str,
    pub is_published: bool,
    pub net: Net,
    pub source: &'static str,
    pub results: Vec<Known>,
}

/// A result and how far from it one may be.
pub(crate) struct Known {
    /// What is measured, as the table has it.
    pub what: &'static str,
    pub measure: Measure,
    pub value: f64,
    pub tolerance: f64,
}

/// The measured quantity.
pub(crate) enum Measure {
    /// Firings of a transition per unit of time in the long run.
    Throughput(TransitionId),
    /// The mean of a number in the long run, or at a time after the start.
    Mean { of: Sum, at: Option<f64> },
    /// The mean time between firings of a transition, minus 1: the time before the firing, if the transition takes 1
    /// itself.
    TimeBefore(TransitionId),
    /// Number of reachable markings, including vanishing ones.
    Markings,
}

/// The examples of a table.
pub(crate) fn examples(table: &'static str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    let lines = table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (word, rest) = line.split_once(' ').expect("two words");
        match (word, all.last_mut()) {
            ("example", _) => {
                let (name, origin) = rest.rsplit_once(": ").expect("an origin");
                all.push(Example {
                    name,
                    is_published: origin == "published",
                    net: Net::default(),
                    source: "",
                    results: Vec::new(),
                });
            }
            ("net", Some(example)) => example.net = net(rest),
            ("source", Some(example)) => example.source = rest,
            ("rates", Some(example)) => set_unit_rates(&mut example.net),
            ("place", Some(example)) => {
                let (name, tokens) = rest.split_once(' ').expect("a place and its tokens");
                let place = example.net.place_named(name).expect(name);
                example.net.places[place.0].tokens = tokens.parse().expect("a number");
            }
            (_, Some(example)) => {
                let known = known(&example.net, line);
                example.results.push(known);
            }
            (_, None) => panic!("{line} is of no example"),
        }
    }
    all
}

fn net(name: &str) -> Net {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/published");
    let text = std::fs::read_to_string(format!("{folder}/{name}.net")).expect(name);
    read(name, &text).expect(name)
}

/// All rates and weights are 1, and each transition has one server.
fn set_unit_rates(net: &mut Net) {
    for t in &mut net.transitions {
        t.timing = match t.timing.is_immediate() {
            true => Timing::immediate(),
            false => Timing::exponential(1.0),
        };
        t.servers = Servers::Single;
    }
}

/// `WHAT is VALUE +- TOLERANCE`
fn known(net: &Net, line: &'static str) -> Known {
    let (what, result) = line.split_once(" is ").expect(line);
    let (value, tolerance) = result.split_once(" +- ").expect(line);
    let number = |text: &str| text.parse::<f64>().expect(line);
    Known {
        what,
        measure: measure(net, what),
        value: match value.split_once('/') {
            Some((above, below)) => number(above) / number(below),
            None => number(value),
        },
        tolerance: number(tolerance),
    }
}

fn measure(net: &Net, what: &str) -> Measure {
    let transition = |name: &str| net.transition_named(name).expect(name);
    if what == "markings" {
        return Measure::Markings;
    }
    if let Some(name) = what.strip_prefix("throughput ") {
        return Measure::Throughput(transition(name));
    }
    if let Some(name) = what.strip_prefix("time before ") {
        return Measure::TimeBefore(transition(name));
    }
    let (query, at) = match what.split_once(" at ") {
        Some((query, time)) => (query, Some(time.parse().expect("a time"))),
        None => (what, None),
    };
    match Query::read(query, net).expect(query) {
        Query::Mean(of) => Measure::Mean { of, at },
        Query::Holds(_) => panic!("{query} is no number"),
    }
}
