//! What a run has never seen, or seen only once, is bounded or called unknown.

use super::*;

#[test]
fn a_condition_that_always_held_was_never_seen_otherwise() {
    let machine = "place up 1\nplace down\nplace q\ntransition fail exponential rate 1e-8\n in up\n out down\n\
        transition fix exponential rate 1\n in down\n out up\ntransition a exponential rate 0.5\n read up\n out q\n\
        transition s exponential rate 1\n in q\n";
    let wishes = Wishes {
        simulate: true,
        queries: queries(&["P(up = 1)", "P(down = 1)", "E(up)"]),
        simulation: Settings {
            time: Some(100_000.0),
            ..Settings::default()
        },
        ..Wishes::default()
    };
    let document = find(machine, &wishes).unwrap();
    let text = printed(&document);
    assert!(
        text.contains("P(up = 1): never seen otherwise: above 0.99"),
        "{text}"
    );
    let answers = &json(&document)["answers"];
    let half_width = |answer: usize| answers[answer]["half_width"].as_f64().unwrap();
    assert_eq!(answers[0]["mean"], 1.0);
    assert!(
        half_width(0) > 0.0 && half_width(0) == half_width(1),
        "{answers}"
    );
    // In a net that stands still for good it is certain.
    let still = "place p 1\nplace d\ntransition t exponential rate 1\n in p\n out d\n";
    let wishes = Wishes {
        queries: queries(&["P(d = 1)"]),
        ..wishes
    };
    let text = printed(&find(still, &wishes).unwrap());
    assert!(text.contains("P(d = 1): 1\n"), "{text}");
}

/// At time 2 a place is left in all but exp(-8) = 0.0003 of the runs, of which a hundred show none.
#[test]
fn a_place_that_was_empty_at_a_time_in_all_runs_has_a_bound() {
    let wishes = simulating(Settings {
        replications: Some(100),
        time: Some(2.0),
        precision: 0.0,
        at_end: true,
        ..Settings::default()
    });
    let source = "place s 1\nplace d\ntransition t exponential rate 4\n in s\n out d\n";
    let document = find(source, &wishes).unwrap();
    let simulated = document.findings.simulated.unwrap();
    let s = &simulated.measures.places[0];
    assert!(s.tokens.mean > 0.0, "{s:?}");
    assert!(
        s.tokens_at_end.mean == 0.0 && (0.02..0.04).contains(&s.tokens_at_end.half_width),
        "{s:?}"
    );
}

/// Two queues of two runs are often equally long at time 2.
#[test]
fn numbers_of_tokens_that_are_equal_at_a_time_in_two_runs_are_no_exact_ones() {
    let source = "place q\ntransition a exponential rate 1\n out q\ntransition s exponential rate 1\n in q\n";
    let at_two = |seed: u64| {
        let wishes = Wishes {
            simulate: true,
            queries: queries(&["E(q)"]),
            simulation: Settings {
                replications: Some(2),
                time: Some(2.0),
                precision: 0.0,
                at_end: true,
                seed,
                ..Settings::default()
            },
            ..Wishes::default()
        };
        let measures = find(source, &wishes)
            .unwrap()
            .findings
            .simulated
            .unwrap()
            .measures;
        [measures.places[0].tokens_at_end, measures.rewards_at_end[0]]
    };
    let found: Vec<_> = (1..40).flat_map(at_two).filter(|q| q.mean > 0.0).collect();
    assert!(found.iter().any(|q| q.half_width.is_infinite()));
    assert!(found.iter().all(|q| q.half_width > 0.0), "{found:?}");
}

#[test]
fn counts_that_are_equal_in_two_runs_are_no_exact_ones() {
    let source = "place p 1\ntransition t exponential rate 0.4\n in p\n out p\n";
    let of = |runs: u32, seed: u64| {
        let wishes = simulating(Settings {
            replications: Some(runs),
            time: Some(4.0),
            warm_up: Some(0.0),
            seed,
            ..Settings::default()
        });
        let simulated = find(source, &wishes).unwrap().findings.simulated.unwrap();
        simulated.measures.transitions[0].throughput
    };
    let found: Vec<_> = (1..40)
        .map(|seed| of(2, seed))
        .filter(|t| t.mean > 0.0)
        .collect();
    assert!(
        found
            .iter()
            .any(|throughput| throughput.half_width.is_infinite())
    );
    assert!(found.iter().all(|throughput| throughput.half_width > 0.0));
}
