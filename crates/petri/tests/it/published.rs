//! Published stochastic nets, solved exactly. `cargo test --test it published:: -- --nocapture` prints the table.

use crate::examples::{Example, Measure, TABLE, examples};
use inorder_petri::markov::Chain;

fn exact(chain: &Chain, measure: &Measure) -> f64 {
    let steady = || chain.steady_state().unwrap();
    match measure {
        Measure::Throughput(transition) => steady().throughput(*transition),
        Measure::Mean { of, at } => {
            let solution = match at {
                Some(time) => chain.transient(*time).unwrap(),
                None => steady(),
            };
            solution.expected(|marking| of.value(chain.net(), marking))
        }
        Measure::TimeBefore(transition) => 1.0 / steady().throughput(*transition) - 1.0,
        Measure::Markings => (chain.len() + chain.vanishing()) as f64,
    }
}

/// Prints the known and the computed values of an example; returns the lines that differ by too much.
fn differences(example: &Example) -> Vec<String> {
    println!("\n{} ({})", example.name, example.source);
    let chain = Chain::new(&example.net, 1_000_000).unwrap();
    let mut wrong = Vec::new();
    for known in &example.results {
        let value = exact(&chain, &known.measure);
        let line = format!(
            "  {:<36} known {:<20} exact {value:.12}",
            known.what, known.value
        );
        println!("{line}");
        if (value - known.value).abs() > known.tolerance {
            wrong.push(line);
        }
    }
    wrong
}

#[test]
fn exact_solutions_are_the_published_ones() {
    let examples = examples(TABLE);
    let wrong: Vec<String> = examples.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(examples.iter().filter(|e| e.is_published).count() >= 10);
}

#[test]
#[ignore = "half a million markings; run with --release"]
fn the_exact_solution_of_the_large_example() {
    let large = examples(include_str!("../cases/published-large.txt"));
    let wrong: Vec<String> = large.iter().flat_map(differences).collect();
    assert_eq!(wrong, Vec::<String>::new());
}
