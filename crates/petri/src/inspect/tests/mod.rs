//! From wishes and a net to the output.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text;

use super::*;
use crate::inspect::columns::DOCUMENT;

mod unseen;

const REPAIR: &str = "net repair\nplace working 6\nplace broken\n\
    transition fail exponential rate 0.1 servers infinite\n in working\n out broken\n\
    transition repair exponential mean 2 servers 2\n in broken\n out working\n";

fn find(source: &str, wishes: &Wishes) -> Result<Document, Error> {
    let net = text::read("some.net", source).unwrap();
    examine(net, wishes, &Watch::default())
}

fn json(document: &Document) -> serde_json::Value {
    let mut out = Vec::new();
    document.write_json(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn queries(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn exact() -> Wishes {
    Wishes {
        exact: true,
        ..Wishes::default()
    }
}

fn simulating(simulation: Settings) -> Wishes {
    Wishes {
        simulate: true,
        simulation,
        ..Wishes::default()
    }
}

fn asking(texts: &[&str]) -> Wishes {
    Wishes {
        queries: queries(texts),
        ..Wishes::default()
    }
}

/// M/M/1 at a load of one half.
const QUEUE: &str =
    "place q\ntransition a exponential rate 0.5\n out q\ntransition s exponential rate 1\n in q\n";

fn confident() -> Settings {
    Settings {
        confidence: 0.999,
        ..Settings::default()
    }
}

#[test]
fn the_columns_are_in_order() {
    assert_eq!(inorder_report::problems(DOCUMENT), Vec::<String>::new());
}

#[test]
fn simulation_and_exact_solution_agree_in_json() {
    for (replications, reserve) in [(None, false), (Some(32), false), (None, true)] {
        let wishes = Wishes {
            simulate: true,
            exact: true,
            simulation: Settings {
                replications,
                reserve,
                precision: 0.02,
                ..confident()
            },
            ..Wishes::default()
        };
        let document = find(REPAIR, &wishes).unwrap();
        let found = json(&document);
        for (kind, name, what) in [
            ("places", "broken", "tokens"),
            ("transitions", "repair", "throughput"),
        ] {
            // Tokens that are reserved by a firing in progress are in no place.
            if reserve && kind == "places" {
                continue;
            }
            let exact = found["exact"][kind][name][what].as_f64().unwrap();
            let simulated = &found["simulated"][kind][name][what];
            let off = (simulated["mean"].as_f64().unwrap() - exact).abs();
            assert!(
                off <= simulated["half_width"].as_f64().unwrap(),
                "{replications:?} {reserve} {name}: {found:#}"
            );
        }
    }
}

/// 64 runs tell how many more are needed, and as many are enough.
#[test]
fn what_a_precision_takes_is_said_where_it_was_not_reached() {
    let after = |text: &str, words: &str| -> f64 {
        let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("{text}"));
        let number = rest.split([' ', '\n']).next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{text}"))
    };
    let simulated = |settings: Settings| printed(&find(QUEUE, &simulating(settings)).unwrap());
    let runs = |most: u32| {
        simulated(Settings {
            time: Some(200.0),
            warm_up: Some(50.0),
            replications: Some(most),
            precision: 0.02,
            ..Settings::default()
        })
    };
    let reached = "the wanted precision was reached";
    let few = runs(64);
    let needed = after(&few, "was not reached, which takes about ");
    assert!(few.contains(" runs\n") && needed > 200.0, "{few}");
    assert!(runs(2 * needed as u32).contains(reached));
    let short = simulated(Settings {
        time: Some(2_000.0),
        precision: 0.02,
        ..Settings::default()
    });
    let needed = after(&short, "was not reached, which takes about the time ");
    assert!(needed > 10_000.0, "{short}");
}

/// Philosophers, each of whom eats with both forks beside him.
fn philosophers(count: usize) -> String {
    let mut text = String::new();
    for seat in 0..count {
        let right = (seat + 1) % count;
        text += &format!(
            "place fork{seat} 1\nplace eats{seat}\n\
             transition begin{seat} exponential rate 2\n in fork{seat}\n in fork{right}\n out eats{seat}\n\
             transition end{seat} exponential rate 1\n in eats{seat}\n out fork{seat}\n out fork{right}\n"
        );
    }
    text
}

#[test]
fn every_way_to_a_solution_can_be_stopped() {
    type Stops = fn(Solving) -> bool;
    let row = "place q 0 capacity 400\ntransition a exponential rate 1\n out q\ntransition s exponential rate 1\n in q\n";
    let eliminates: Stops = |solving| matches!(solving, Solving::Eliminating { .. });
    let iterates: Stops = |solving| matches!(solving, Solving::Iterating { .. });
    let jumps: Stops = |solving| matches!(solving, Solving::Jumping { .. });
    for (text, time, stops) in [
        (row.to_owned(), None, eliminates),
        (philosophers(18), None, iterates),
        (row.to_owned(), Some(50.0), jumps),
    ] {
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|progress| {
                if let Progress::Solving { solving, .. } = progress
                    && stops(solving)
                {
                    assert!(
                        !stop.swap(true, Ordering::Relaxed),
                        "it goes on: {solving:?}"
                    );
                }
            },
            stop: &stop,
        };
        let wishes = Wishes {
            exact: true,
            queries: queries(&["P(q = 0)"])
                .into_iter()
                .filter(|_| text == row)
                .collect(),
            simulation: Settings {
                time,
                ..Settings::default()
            },
            ..Wishes::default()
        };
        let net = text::read("some.net", &text).unwrap();
        let found = examine(net, &wishes, &watch).unwrap().findings;
        assert!(found.was_interrupted && found.is_empty(), "{time:?}");
    }
}

/// Seven jobs among six stages without time can be distributed in 792 ways, all in one cycle that only `leave` ends: to eliminate
/// them takes some steps for each, and only every 64th is watched.
#[test]
fn a_cycle_of_vanishing_markings_can_be_stopped() {
    let stages = 6;
    let mut text = "place out\n".to_owned();
    for at in 0..stages {
        let (tokens, next) = (if at == 0 { 7 } else { 0 }, (at + 1) % stages);
        text +=
            &format!("place s{at} {tokens}\ntransition t{at} immediate\n in s{at}\n out s{next}\n");
    }
    text += "transition leave immediate\n in s0 7\n out out\ntransition again exponential rate 1\n in out\n out s0 7\n";
    let (asked, stop) = (Cell::new(0), AtomicBool::new(false));
    let watch = Watch {
        progress: &|progress| {
            assert!(
                matches!(progress, Progress::Explored { .. }),
                "{progress:?}"
            );
            asked.set(asked.get() + 1);
            stop.store(asked.get() == 10, Ordering::Relaxed);
        },
        stop: &stop,
    };
    let net = text::read("cycle.net", &text).unwrap();
    let found = examine(net, &exact(), &watch).unwrap().findings;
    assert!(found.was_interrupted && found.is_empty());
    assert_eq!(asked.get(), 10, "it went on");
}

#[test]
fn structure_is_printed_as_text() {
    let wishes = Wishes {
        invariants: true,
        reachability: Some(100),
        ..Wishes::default()
    };
    let document = find(REPAIR, &wishes).unwrap();
    let out = printed(&document);
    for line in [
        "P-invariant  working + broken = 6",
        "all 7 markings",
        "deadlocks: 0",
        "home states: 7",
    ] {
        assert!(out.contains(line), "{line} is not in\n{out}");
    }
    assert!(!out.contains("simulated"), "{out}");
}

#[test]
fn impossible_requests_are_reported_in_one_line() {
    let clock = "place p 1\ntransition tick deterministic 2\n in p\n out p\n";
    let error = find(clock, &exact()).err().unwrap().to_string();
    assert!(error.starts_with("line 2: transition tick"), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn queries_are_answered_exactly_and_by_simulation_in_the_order_of_the_options() {
    let asked = queries(&[
        "E(2 * broken)",
        "AG working + broken = 6",
        "P(broken >= 2)",
        "EF broken = 2",
    ]);
    let mut wishes = Wishes {
        queries: asked.clone(),
        ..Wishes::default()
    };
    let exact = json(&find(REPAIR, &wishes).unwrap());
    let answers = exact["answers"].as_array().unwrap();
    let texts: Vec<&str> = answers
        .iter()
        .map(|a| a["query"].as_str().unwrap())
        .collect();
    assert_eq!(texts, asked);
    // The machines are independent of each other as long as two repairmen suffice: solved by hand for six machines.
    let weights = exact_weights();
    let total: f64 = weights.iter().sum();
    let mean = weights
        .iter()
        .zip(0..)
        .map(|(w, n)| w * f64::from(n))
        .sum::<f64>()
        / total;
    assert!((answers[0]["mean"].as_f64().unwrap() - 2.0 * mean).abs() < 1e-9);
    assert_eq!(answers[1]["holds"], true);
    let two = weights[2..].iter().sum::<f64>() / total;
    assert!((answers[2]["mean"].as_f64().unwrap() - two).abs() < 1e-9);
    assert_eq!(answers[3]["path"], serde_json::json!(["fail", "fail"]));
    wishes.simulate = true;
    wishes.simulation = confident();
    let simulated = json(&find(REPAIR, &wishes).unwrap());
    for (found, exact) in simulated["answers"].as_array().unwrap().iter().zip(answers) {
        let Some(mean) = exact["mean"].as_f64() else {
            assert_eq!(found, exact);
            continue;
        };
        let off = (found["mean"].as_f64().unwrap() - mean).abs();
        assert!(
            off <= found["half_width"].as_f64().unwrap(),
            "{found} instead of {exact}"
        );
    }
}

/// The steady state of [`REPAIR`] up to a factor: with n machines broken, (6 - n) * 0.1 fail per unit of time, and
/// min(n, 2) * 0.5 are repaired.
fn exact_weights() -> Vec<f64> {
    let mut weights = vec![1.0];
    for n in 1..=6 {
        let fails = 0.1 * f64::from(7 - n);
        let repaired = 0.5 * f64::from(n.min(2));
        weights.push(weights[weights.len() - 1] * fails / repaired);
    }
    weights
}

#[test]
fn the_exact_solution_at_a_time_begins_with_the_initial_marking() {
    let tokens = |time: Option<f64>| {
        let wishes = Wishes {
            exact: true,
            simulation: Settings {
                time,
                ..Settings::default()
            },
            ..Wishes::default()
        };
        let found = json(&find(REPAIR, &wishes).unwrap());
        found["exact"]["places"]["working"]["tokens"]
            .as_f64()
            .unwrap()
    };
    // One machine alone: 6 * (repair + fail * exp(-(fail + repair) t)) / (fail + repair) while both repairmen suffice.
    assert!((tokens(Some(0.001)) - (6.0 - 0.0006)).abs() < 1e-5);
    assert!((tokens(Some(1_000.0)) - tokens(None)).abs() < 1e-9);
}

#[test]
fn a_wrong_query_and_too_many_markings_are_told_in_one_line() {
    let reserved = Settings {
        reserve: true,
        ..Settings::default()
    };
    for (wishes, message) in [
        (
            asking(&["P(workin = 1)"]),
            "query \"P(workin = 1)\": column 3: expected a place, found workin; did you mean working?",
        ),
        (
            Wishes {
                exact: true,
                limit: Some(3),
                ..Wishes::default()
            },
            "more than 3 markings (up to 2 tokens in broken); raise the limit, or give capacities to places in which tokens may become more and more, or simulate \
             this net instead",
        ),
        (
            Wishes {
                queries: queries(&["P(broken = 1)"]),
                simulate: true,
                simulation: reserved,
                ..Wishes::default()
            },
            "P(...) and E(...) are not estimated with `reserve`, which holds tokens outside the places",
        ),
    ] {
        assert_eq!(find(REPAIR, &wishes).err().unwrap().to_string(), message);
    }
    let wishes = Wishes {
        queries: queries(&["EF broken = 6"]),
        limit: Some(3),
        ..Wishes::default()
    };
    let unknown = find(REPAIR, &wishes).unwrap();
    assert_eq!(
        json(&unknown)["answers"][0]["holds"],
        serde_json::Value::Null
    );
}

fn simulated(source: &str, replications: Option<u32>) -> Document {
    let wishes = simulating(Settings {
        replications,
        precision: 0.05,
        ..Settings::default()
    });
    find(source, &wishes).unwrap()
}

fn printed(document: &Document) -> String {
    let mut out = Vec::new();
    document.write_text(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn one_run_of_a_net_with_two_ends_is_not_the_net() {
    let ends = "place a 1\nplace b\nplace c\ntransition x exponential rate 1\n in a\n out b\n\
        transition y exponential rate 3\n in a\n out c\n";
    // A third transition fires for ever in both ends, and the ends differ in a fourth and a fifth.
    let loops = format!(
        "{ends}place o\ntransition at_b exponential rate 1\n in b\n out b\ntransition at_c exponential rate 1\n in c\n out c\n\
         transition always exponential rate 1\n out o\ntransition off exponential rate 3\n in o\n"
    );
    for (source, ways) in [
        (
            ends,
            ["standing still with b 1 in ", "standing still with c 1 in "],
        ),
        (&loops, ["going on without at_b", "going on without at_c"]),
    ] {
        let document = simulated(source, None);
        let text = printed(&document);
        assert!(text.contains("no single steady state"), "{text}");
        assert!(ways.iter().all(|way| text.contains(way)), "{text}");
        assert!(
            text.contains("the wanted precision was not reached"),
            "{text}"
        );
        let found = json(&document);
        assert!(found["simulated"]["places"]["b"]["tokens"]["half_width"].is_null());
        assert_eq!(found["simulated"]["doubts"].as_array().unwrap().len(), 1);
    }
    // Independent runs have a mean over the ends.
    let document = simulated(ends, Some(400));
    let b = json(&document)["simulated"]["places"]["b"]["tokens"].clone();
    let (mean, half) = (
        b["mean"].as_f64().unwrap(),
        b["half_width"].as_f64().unwrap(),
    );
    assert!((mean - 0.25).abs() < 1.5 * half && half < 0.1, "{b}");
}

#[test]
fn a_queue_without_a_steady_state_is_called_unstable() {
    let overloaded = "place q\ntransition a exponential rate 3\n out q\ntransition s exponential rate 2\n in q\n";
    for replications in [None, Some(40)] {
        let text = printed(&simulated(overloaded, replications));
        assert!(text.contains("unstable: q gets "), "{text}");
        assert!(text.contains("interval unknown"), "{text}");
        assert!(!text.contains("precision was reached"), "{text}");
    }
}

#[test]
fn the_exact_solution_comes_with_a_bound() {
    // A queue of 2001 markings in a row beside a switch whose rates are 15 decades smaller.
    let source = "place q 0 capacity 2000\nplace on 1\nplace off\ntransition a exponential rate 0.98e6\n out q\n\
        transition s exponential rate 1e6\n in q\ntransition down exponential rate 2e-9\n in on\n out off\n\
        transition up exponential rate 3e-9\n in off\n out on\n";
    let found = json(&find(source, &exact()).unwrap());
    let (on, error) = (
        &found["exact"]["places"]["on"]["tokens"],
        &found["exact"]["error"],
    );
    assert!((on.as_f64().unwrap() - 0.6).abs() < 1e-12, "{on}");
    assert!(error.as_f64().unwrap() < 1e-6, "{error}");
}

#[test]
fn what_has_not_fired_yet_is_not_in_the_means() {
    // In the long run the token is in b; a run is a tenth of what it takes to get there.
    let leaves = "place a 1\nplace b\ntransition leave exponential rate 1e-7\n in a\n out b\n\
                  transition work exponential rate 1\n read a\ntransition rest exponential rate 1\n read b\n";
    let document = simulated(leaves, None);
    let found = document.findings.simulated.as_ref().unwrap();
    assert!(!found.is_precise);
    let named = ("leave".to_owned(), 1e7);
    assert_eq!(found.doubts.not_fired, [named]);
    let text = printed(&document);
    assert!(
        text.contains("not fired yet: leave, after 10000000 on average"),
        "{text}"
    );
}

/// Customers who give up stop the youngest clock, and not their own: the mean is 1.163 instead of 2 (1 - 1/e).
#[test]
fn which_clock_ends_is_said_where_it_matters() {
    let net = |delay: &str, servers: &str| {
        format!(
            "place q\ntransition a exponential rate 2\n out q\ntransition s {delay} servers {servers}\n in q\n\
             transition leave exponential rate 1 servers infinite\n in q\n"
        )
    };
    let says = |delay, servers| {
        let document = simulated(&net(delay, servers), None);
        assert!(document.findings.simulated.as_ref().unwrap().is_precise);
        printed(&document).contains("of several clocks of s the youngest stops when leave takes")
    };
    assert!(says("deterministic 1", "infinite"));
    assert!(says("deterministic 1", "2"));
    assert!(!says("deterministic 1", "1"));
    assert!(!says("exponential rate 1", "infinite"));
    let reserving = simulating(Settings {
        reserve: true,
        ..Settings::default()
    });
    let document = find(&net("deterministic 1", "infinite"), &reserving);
    assert!(!printed(&document.unwrap()).contains("youngest"));
}

#[test]
fn a_place_that_cannot_hold_more_is_no_queue() {
    let many = "place q 0\ntransition a exponential rate 1\n out q 3000000000\n\
                transition s exponential rate 1\n in q 3000000000\n";
    let error = find(many, &exact()).err().unwrap().to_string();
    assert!(
        error.starts_with("place q cannot hold the tokens of a further firing"),
        "{error}"
    );
    // With a capacity it is what was asked for.
    let limited = many.replace("place q 0", "place q 0 capacity 4000000000");
    assert!(find(&limited, &exact()).is_ok());
}

#[test]
fn rates_that_are_out_of_range_are_refused() {
    let queue = |rate: &str| {
        let many: String = (0..20)
            .map(|n| format!("transition a{n} exponential rate {rate}\n out q\n"))
            .collect();
        format!("place q 0 capacity 5\n{many}transition s exponential rate 1\n in q\n")
    };
    assert!(find(&queue("1e290"), &exact()).is_ok());
    let error = find(&queue("1e299"), &exact()).err().unwrap().to_string();
    assert!(error.contains("out of range"), "{error}");
    let error = text::read("a.net", &queue("1e301"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("from 1e-300 to 1e300"), "{error}");
    let weights = "place a 1\nplace b\nplace c\ntransition x immediate weight 1e-200\n in a\n out b\n\
                   transition y immediate weight 1e200\n in a\n out c\n\
                   transition r exponential rate 1\n in c\n out a\n";
    let error = find(weights, &exact()).err().unwrap().to_string();
    assert!(error.contains("out of range"), "{error}");
}

#[test]
fn small_numbers_have_intervals_and_no_sign() {
    let slow = "place q 0 capacity 5\ntransition a exponential rate 1e-250\n out q\n\
                transition s exponential rate 2e-250\n in q\n";
    let found = simulated(slow, None).findings.simulated.unwrap();
    let q = found.measures.places[0].tokens;
    assert!(found.doubts.is_empty() && (q.mean - 57.0 / 63.0).abs() < q.half_width);
    for transition in &found.measures.transitions {
        let estimate = transition.throughput;
        assert!(estimate.half_width > 0.0, "{estimate:?}");
    }
    let ended = "place p 0\ntransition s exponential rate 1\n in p\n";
    let text = printed(&find(ended, &exact()).unwrap());
    assert!(!text.contains("-0"), "{text}");
}

/// All runs take the likely way, and the markings show the other one.
#[test]
fn an_end_that_no_run_took_is_known_from_the_markings() {
    let source = "place s 1\nplace a\nplace b\nplace c\ntransition l exponential rate 0.001\n in s\n out c\n\
        transition r exponential rate 1\n in s\n out a\ntransition ab exponential rate 1\n in a\n out b\n\
        transition ba exponential rate 1\n in b\n out a\n";
    let document = simulated(source, None);
    let found = document.findings.simulated.as_ref().unwrap();
    assert_eq!(
        found.doubts_in_words(),
        [
            "no single steady state: the net can end in 2 different ways, for good, of which a run shows at most one: deadlock in \
          c 1; 2 markings around a 1"
        ]
    );
    assert!(!found.is_precise);
}

/// Fixed delays give the same throughput in every batch but for rounding, which is no memory of the net.
#[test]
fn rounded_numbers_of_fixed_delays_are_exact() {
    let ring = "place a 1\nplace b\nplace q\ntransition x deterministic 0.1\n in a\n out b\n\
        transition y deterministic 0.2\n in b\n out a\n out q\ntransition s exponential rate 10\n in q\n";
    let document = simulated(ring, None);
    let found = document.findings.simulated.as_ref().unwrap();
    assert_eq!(found.doubts_in_words(), Vec::<String>::new());
    assert!(found.is_precise);
    let x = found.measures.transition("x").unwrap().throughput;
    assert!(
        x.half_width == 0.0 && (x.mean - 10.0 / 3.0).abs() < 1e-9,
        "{x:?}"
    );
}

/// At a time numbers still change, which is no reason to make fewer runs.
#[test]
fn at_a_time_all_runs_are_made() {
    let wishes = simulating(Settings {
        replications: Some(100),
        time: Some(1.0),
        precision: 0.0,
        at_end: true,
        ..Settings::default()
    });
    let decay = "place q 1000\ntransition s exponential rate 1 servers infinite\n in q\n";
    let document = find(decay, &wishes).unwrap();
    assert_eq!(document.findings.simulated.unwrap().observations, 100);
}

/// What stands still for good never fires again: nothing is bounded.
#[test]
fn a_net_that_stands_still_has_nothing_unseen() {
    let source = "place p 3\nplace d\nplace e\ntransition die exponential rate 1 servers infinite\n in p\n out d\n\
        transition never exponential rate 1\n in e\n out d\n";
    let text = printed(&simulated(source, None));
    assert!(
        text.contains("all runs end standing still with d 3"),
        "{text}"
    );
    assert!(!text.contains("never seen"), "{text}");
}

#[test]
fn long_paths_are_counted_and_no_path_is_the_start() {
    let wishes = Wishes {
        reachability: Some(50),
        limit: Some(100),
        queries: queries(&["EF q >= 20", "EF q = 0"]),
        ..Wishes::default()
    };
    let queue = "place q\ntransition a exponential rate 1\n out q\ntransition s exponential rate 1\n in q\n";
    let text = printed(&find(queue, &wishes).unwrap());
    for line in [
        "unbounded: at the start, repeating a adds tokens to q",
        "q 20: after a 20 times\n",
        "no tokens: at the start\n",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn files_of_old_programs_of_greatspn_are_named() {
    let error = read("some.net", b"|0|\n|\nf 0 2 0 2 0 0 0\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "some.net:1: expected a project of GreatSPN (PNPRO) or PNML, found a .net file of its older programs; its editor reads them \
         and saves either"
    );
}

/// A machine that fails once in 1e8: nothing says that it is up for certain.
#[test]
fn a_document_in_utf_16_is_read() {
    let text = "\u{feff}<?xml version=\"1.0\" encoding=\"UTF-16\"?><pnml><net id=\"n\" \
        type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\"><place id=\"p\"/></page></net></pnml>";
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let document: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
        assert_eq!(read("n.pnml", &document).unwrap().places.len(), 1);
    }
}

#[test]
fn one_place_is_not_one_places() {
    let source = "place p 1\ntransition t exponential rate 1\n in p\n out p\n";
    let wishes = Wishes {
        reachability: Some(10),
        ..Wishes::default()
    };
    let text = printed(&find(source, &wishes).unwrap());
    for words in [
        "1 place, 1 transition\n",
        "all 1 marking (0 vanishing), 1 firing\n",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

/// A cycle that is left, but so rarely that time does not go by while anybody waits.
#[test]
fn firings_at_one_time_that_do_not_end_are_named() {
    let loops = "place a 1\nplace b\nplace c\ntransition t exponential rate 1\n in a\n out b\n\
        transition x immediate\n in b\n out c\ntransition y immediate\n in c\n out b\n\
        transition z immediate weight 1e-12\n in c\n out a\n";
    let found = find(loops, &simulating(Settings::default()));
    let message = found
        .err()
        .map_or_else(String::new, |error| error.to_string());
    assert!(
        message.starts_with("a zero-time loop, or a chain too long to wait for: at tick ")
            && message.ends_with("transitions `x`, `y`; expected delays, or fewer tokens"),
        "{message}"
    );
}
