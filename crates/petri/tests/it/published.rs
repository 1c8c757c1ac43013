//! Published stochastic nets, solved exactly. `cargo test --test it published:: -- --nocapture` prints the table.

use crate::examples::{Condition, EXAMPLES, Example, LARGE, Measure, Origin};
use inorder_petri::markov::{Chain, Solution};
use inorder_petri::net::Net;

fn tokens(solution: &Solution<'_>, net: &Net, terms: &[(f64, &str)]) -> f64 {
    let mean = |name: &str| solution.mean_tokens(net.place_named(name).unwrap());
    terms
        .iter()
        .map(|&(weight, name)| weight * mean(name))
        .sum()
}

fn probability(solution: &Solution<'_>, net: &Net, condition: Condition) -> f64 {
    solution.probability(|m| condition(&|name: &str| m[net.place_named(name).unwrap().0]))
}

/// The name of the measure, and its exact value.
fn measure(chain: &Chain, measure: &Measure) -> (String, f64) {
    let net = chain.net();
    let steady = || chain.steady_state().unwrap();
    let throughput = |name: &str| steady().throughput(net.transition_named(name).unwrap());
    match measure {
        Measure::Throughput(name) => (format!("throughput {name}"), throughput(name)),
        Measure::Tokens(terms) => (
            format!("tokens {}", sum(terms)),
            tokens(&steady(), net, terms),
        ),
        Measure::TokensAt(time, terms) => {
            let at = chain.transient(*time).unwrap();
            (
                format!("tokens {} at {time}", sum(terms)),
                tokens(&at, net, terms),
            )
        }
        Measure::Probability(what, condition) => (
            format!("P({what})"),
            probability(&steady(), net, *condition),
        ),
        Measure::ProbabilityAt(time, what, condition) => {
            let at = chain.transient(*time).unwrap();
            (
                format!("P({what}) at {time}"),
                probability(&at, net, *condition),
            )
        }
        Measure::TimeBefore(name) => (format!("time before {name}"), 1.0 / throughput(name) - 1.0),
        Measure::Markings => (
            "markings".to_owned(),
            (chain.len() + chain.vanishing()) as f64,
        ),
    }
}

fn sum(terms: &[(f64, &str)]) -> String {
    let term =
        |&(weight, name): &(f64, &str)| format!("{}{name}", if weight < 0.0 { "-" } else { "+" });
    let text: String = terms.iter().map(term).collect();
    text.trim_start_matches('+').to_owned()
}

/// Prints the known and the computed values of an example; returns the lines that differ by too much.
fn differences(example: &Example) -> Vec<String> {
    println!(
        "\n{} ({:?}: {})",
        example.name, example.origin, example.source
    );
    let chain = Chain::new(&example.net(), 1_000_000).unwrap();
    let mut wrong = Vec::new();
    for known in example.results {
        let (what, value) = measure(&chain, &known.measure);
        let line = format!("  {what:<36} known {:<20} exact {value:.12}", known.value);
        println!("{line}");
        let differs = (value - known.value).abs() > known.tolerance;
        if differs {
            wrong.push(line);
        }
    }
    wrong
}

#[test]
fn exact_solutions_are_the_published_ones() {
    let wrong: Vec<String> = EXAMPLES.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let published = EXAMPLES
        .iter()
        .filter(|e| e.origin == Origin::Published)
        .count();
    assert!(published >= 10);
}

#[test]
#[ignore = "half a million markings; run with --release"]
fn the_exact_solution_of_the_large_example() {
    assert_eq!(differences(&LARGE), Vec::<String>::new());
}
