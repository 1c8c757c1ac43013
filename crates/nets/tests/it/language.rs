//! The language: closed forms, and errors that name their place.

use std::sync::atomic::AtomicBool;

use crate::cases::check;

use inorder_nets::{Campaign, CellResult, NetError, Program, Report, Unsure};
use proptest::prelude::*;

const QUEUE: &str = "coloured net queue
parameter load = 0.5 from 0 to 0.99 \"busy share of the server\"
parameter service = 2 us
record job
  came: time
  size: int 0..9
place source 1
place waiting: job capacity 1000
place server 1
sink out: job
transition arrive
  in source
  delay exponential(service / load)
  out source
  out waiting: {came = now, size = 3}
transition serve
  in job: waiting
  in server
  delay exponential(service)
  out server
  out out: job
run 40000 at out
measure response = mean(out, now - came) in us
measure median = quantile(0.5, out, now - came) in us
measure busy = 1 - tokens(server) in %
measure number = tokens(waiting) + busy(serve)
measure empty = P(tokens(waiting) == 0 and tokens(server) == 1)
measure alone = P(tokens(waiting) == 0 and tokens(server) == 0)
measure beyond = E(max(0, tokens(waiting) - 1))
measure stay_waiting = stay(waiting) in us
measure arrivals = rate(waiting) in kHz
measure sizes = rate(out, size) in kHz
";

fn study(text: &str, set: &[(&str, &str)]) -> Result<Vec<CellResult>, NetError> {
    repeated(text, set, 1, 1)
}

fn repeated(
    text: &str,
    set: &[(&str, &str)],
    repetitions: u32,
    seed: u64,
) -> Result<Vec<CellResult>, NetError> {
    let mut none = |_: &str, name: &str| Err(format!("no file {name}"));
    let set: Vec<_> = set
        .iter()
        .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
        .collect();
    let campaign = Campaign {
        seed,
        repetitions,
        threads: 1,
        progress: &|_| {},
        stop: &AtomicBool::new(false),
    };
    Program::read("a.net", text, &mut none)?
        .study(&set)?
        .run(&campaign)
}

fn value(cell: &CellResult, name: &str) -> f64 {
    let at = cell.rows.iter().position(|row| row.name == name);
    cell.runs[0][at.unwrap_or_else(|| panic!("{name}"))]
}

#[test]
fn a_queue_has_the_measures_of_its_closed_form() {
    let cells = study(QUEUE, &[("load", "0.3, 0.6")]).expect("runs");
    for (cell, load) in cells.iter().zip([0.3, 0.6]) {
        let service = 2.0;
        let response = service / (1.0 - load);
        for (name, exact) in [
            ("response", response),
            // The response is exponential.
            ("median", response * 2.0_f64.ln()),
            ("busy", 100.0 * load),
            ("number", load / (1.0 - load)),
            ("empty", 1.0 - load),
            ("alone", (1.0 - load) * load),
            // The queue without the job in service is geometric.
            ("beyond", load.powi(3) / (1.0 - load)),
            ("stay_waiting", response - service),
            ("arrivals", 1000.0 * load / service),
            ("sizes", 3000.0 * load / service),
        ] {
            let found = value(cell, name);
            // Long queues are rare, so that few of them were seen.
            let tolerance = if name == "beyond" { 0.25 } else { 0.1 };
            assert!(
                (found / exact - 1.0).abs() < tolerance,
                "load {load}, {name}: {found} for {exact}"
            );
        }
    }
    assert_eq!([&cells[0].labels, &cells[1].labels], [&["0.3"], &["0.6"]]);
}

/// By Burke's theorem each queue of a chain is as the first one.
#[test]
fn a_chain_of_queues_has_the_measures_of_its_closed_form() {
    let tokens = QUEUE
        .replace("place source 1", "place source if hop == 0 then 1 else 0")
        .replace(
            "measure response",
            "chain hop below nets from out to waiting\nmeasure response",
        )
        .replace("parameter service", "parameter nets = 1\nparameter service");
    let time = tokens.replace("run 40000 at out", "run 160 ms");
    for text in [&tokens, &time] {
        let alone = study(text, &[]).expect("runs").remove(0);
        let without = study(
            &text.replace("hop == 0", "1 == 1").replace("chain hop", "#"),
            &[],
        );
        assert_eq!(alone.runs, without.expect("runs")[0].runs);
        let chain = study(text, &[("nets", "3")]).expect("runs").remove(0);
        for (group, nets) in [("measures behind hop 1", 1.0), ("measures", 3.0)] {
            let of = |name: &str| {
                let is_it = |row: &inorder_nets::Row| row.group == group && row.name == name;
                chain.runs[0][chain.rows.iter().position(is_it).expect(name)]
            };
            for (name, exact) in [
                ("response", 4.0 * nets),
                ("empty", 0.5),
                ("arrivals", 250.0),
            ] {
                let found = of(name);
                assert!(
                    (found / exact - 1.0).abs() < 0.1,
                    "{group}, {name}: {found} for {exact}"
                );
            }
        }
        assert_eq!(chain.rows.len(), 3 * alone.rows.len());
    }
}

#[test]
fn sweeps_in_the_file_and_ranges() {
    let text = format!("{QUEUE}sweep load = 0.1..0.3 step 0.1\nsweep service = 1 us, 2 us\n");
    let cells = study(&text, &[]).expect("runs");
    let labels: Vec<String> = cells.iter().map(|cell| cell.labels.join(" ")).collect();
    assert_eq!(labels.len(), 6);
    assert_eq!([&labels[0][..], &labels[1]], ["0.1 1000 ns", "0.1 2000 ns"]);
    // An option replaces the sweep.
    assert_eq!(study(&text, &[("load", "0.5")]).expect("runs").len(), 2);
}

#[test]
fn random_numbers_of_other_streams_do_not_change() {
    let other = QUEUE.replace("out out: job", "out out: {job with size = below(9)}");
    let (one, two) = (
        study(QUEUE, &[]).expect("runs"),
        study(&other, &[]).expect("runs"),
    );
    assert_eq!(value(&one[0], "response"), value(&two[0], "response"));
    let sizes = value(&two[0], "sizes") / value(&one[0], "sizes");
    assert!((sizes - 4.0 / 3.0).abs() < 0.03, "{sizes}");
}

/// Two sources by key; the arcs say so or not.
#[test]
fn a_key_that_is_the_colour_is_no_other_than_that_of_all_arcs() {
    let by_key = "coloured net keys
clock s
place source[2] 1
place done[2]
transition arrive
  in source[colour]
  delay exponential(4 s)
  out source[colour]
  out done[colour]
run 1000 s
measure first = tokens(done, 0)
measure second = tokens(done, 1)
";
    let numbers = |text: &str| study(text, &[]).unwrap().remove(0).runs.remove(0);
    let found = numbers(by_key);
    assert!(found.iter().all(|number| *number > 50.0), "{found:?}");
    assert_eq!(
        found,
        numbers(&by_key.replace("in source[colour]", "in source"))
    );
    let nowhere = by_key.replace("in source[colour]", "in source[0]");
    assert_eq!(
        told(&nowhere),
        "a.net:8:14: colour has no value here: expected an arc without a key of its own from a place with keys, as `in PLACE`"
    );
}

/// What is said of a net.
fn told(text: &str) -> String {
    study(text, &[]).map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}

#[test]
fn errors_name_the_place_and_what_was_expected() {
    check(include_str!("../cases/errors.txt"), QUEUE, told);
}

#[test]
fn errors_of_a_run_name_the_place() {
    check(include_str!("../cases/run-errors.txt"), QUEUE, told);
    let set = |name, value| {
        study(QUEUE, &[(name, value)])
            .map(|_| ())
            .map_err(|e| e.to_string())
    };
    let expected = "--set lod:1:1: expected the name of a parameter, found lod; did you mean load?";
    assert_eq!(set("lod", "1"), Err(expected.to_owned()));
    let expected = "--set service:1:1: expected a time, such as 5 us for service, found 3";
    assert_eq!(set("service", "3"), Err(expected.to_owned()));
    let expected = "--set load:1:1: expected 0 to 0.99 for load, found 1.5";
    assert_eq!(set("load", "1.5"), Err(expected.to_owned()));
}

/// Whole numbers never wrap: neither variables that count, nor signs, divisions and rounded numbers.
#[test]
fn every_whole_number_above_64_bits_is_an_error() {
    for (declared, changed, column) in [
        ("9223372036854775807", "v += 1", "6"),
        ("-9223372036854775807", "v -= 2", "6"),
        ("-9223372036854775807 - 1", "v = -v", "11"),
        (
            "-9223372036854775807 - 1",
            "v = v div (0 - below(1) - 1)",
            "10",
        ),
        ("0", "v = floor(1e30 + unit())", "10"),
    ] {
        let text = format!(
            "coloured net wide\nvariable v = {declared}\nplace p 1\ntransition t\n  in p\n  delay 1 us + v * 0 us\n  \
             do {changed}\n  out p\nrun 20 us\n"
        );
        let error = study(&text, &[]).expect_err(changed).to_string();
        let expected =
            format!("a.net:7:{column}: expected a whole number of 64 bits, found a larger one");
        assert_eq!(error, expected, "{changed}");
    }
}

/// What a run does not show has no interval of width 0, nor one from a few values.
#[test]
fn numbers_that_are_not_known_say_so() {
    let more = "measure rare = P(tokens(waiting) > 500)\nmeasure large = mean(out, size > 8)\n\
                measure beyond_all = quantile(0.9999, out, now - came) in us\nmeasure never = rate(lost) in kHz\n\
                sink lost: job\n";
    let text = QUEUE.replace(
        "out out: job\n",
        "out out: job if size_of(job) < 9\n  else lost: job\nfunction size_of(j) = j.size\n",
    );
    let cells = study(&format!("{text}{more}"), &[]).expect("runs");
    let of = |name: &str| {
        let at = cells[0].rows.iter().position(|row| row.name == name);
        cells[0].unsure[0][at.unwrap()]
    };
    assert_eq!(of("response"), None);
    assert_eq!(of("busy"), None);
    assert_eq!(of("rare"), Some(Unsure::NeverSeen(f64::INFINITY)));
    assert_eq!(of("large"), Some(Unsure::NeverSeen(f64::INFINITY)));
    assert_eq!(of("beyond_all"), Some(Unsure::FewTokens));
    // 36,000 tokens at one in 4 us.
    let Some(Unsure::NeverSeen(bound)) = of("never") else {
        panic!("{:?}", of("never"));
    };
    assert!((bound / (3.0 / 144.0) - 1.0).abs() < 0.05, "{bound}");
    let report = Report::new("queue", &[], cells, false);
    let mut out = Vec::new();
    report.write_text(&mut out, None).unwrap();
    let printed = String::from_utf8(out).unwrap();
    for expected in [
        "never seen: rare, large, never;",
        "too few tokens: beyond_all,",
        "never seen: below 0.02",
    ] {
        assert!(printed.contains(expected), "{printed}");
    }
}

/// In 10 us there are 4 firings on average: two runs often have the same number of them.
#[test]
fn counts_that_are_equal_in_two_runs_are_no_exact_ones() {
    let text = "coloured net clicks\nplace p 1\ntransition t\n  in p\n  delay exponential(2.5 us)\n  out p\n\
                run 10 us\nmeasure clicks = rate(t) in MHz\nmeasure busy = busy(t)\n";
    let printed = |repetitions: u32, seed: u64| {
        let cells = repeated(text, &[], repetitions, seed).expect("runs");
        let values: Vec<f64> = cells[0].runs.iter().map(|run| run[0]).collect();
        let are_equal = values[0] > 0.0 && values.iter().all(|value| *value == values[0]);
        let mut out = Vec::new();
        Report::new("clicks", &[], cells, false)
            .write_text(&mut out, None)
            .unwrap();
        (are_equal, String::from_utf8(out).unwrap())
    };
    let found: Vec<(bool, String)> = (1..40).map(|seed| printed(2, seed)).collect();
    assert!(found.iter().any(|(are_equal, _)| *are_equal));
    for (are_equal, printed) in found {
        assert_eq!(
            printed.contains("equal in all runs: clicks;"),
            are_equal,
            "{printed}"
        );
    }
}

#[test]
fn a_queue_that_gets_more_than_it_serves_is_called_unstable() {
    let text = QUEUE
        .replace("capacity 1000", "")
        .replace("to 0.99", "to 9");
    let cells = study(&text, &[("load", "0.9, 1.25")]).expect("runs");
    assert_eq!(cells[0].doubts, Vec::<String>::new());
    let [doubt] = cells[1].doubts.as_slice() else {
        panic!("{:?}", cells[1].doubts);
    };
    assert!(doubt.starts_with("unstable: waiting gets 1.2"), "{doubt}");
}

#[test]
fn an_including_file_replaces_what_it_declares_again() {
    let outer = "coloured net outer\ninclude \"a.net\"\nparameter load = 0.1\n\
        transition serve\n  in job: waiting\n  in server\n  delay 1 us\n  out server\n  out out: job\n";
    let mut load = |_: &str, name: &str| Ok((name.to_owned(), QUEUE.to_owned()));
    let study = Program::read("b.net", outer, &mut load)
        .expect("reads")
        .study(&[])
        .expect("checks");
    let parameters = study.parameters().expect("are there");
    assert_eq!(
        (parameters[0].name.as_str(), parameters[0].value.as_str()),
        ("load", "0.1")
    );
    assert_eq!(study.name(), "outer");
}

#[test]
fn the_reference_is_that_of_the_code() {
    let mut text = Vec::new();
    inorder_nets::write_reference(&mut text).expect("writes");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/nets.md");
    let stored = std::fs::read(file).expect("is there");
    assert!(
        text == stored,
        "stale; cargo run -p inorder -- petri --reference > docs/nets.md"
    );
}

#[test]
fn deep_and_long_texts_are_refused() {
    let deep = format!(
        "coloured net a\nconstant a = {}1{}\n",
        "(".repeat(5_000),
        ")".repeat(5_000)
    );
    let long = format!("coloured net a\nconstant a = 1{}\n", " + 1".repeat(50_000));
    let wide = "coloured net a\nfunction f(x) = x + x + x + x\nfunction g(x) = f(f(f(f(x))))\n\
        constant a = g(g(g(g(1))))\n";
    for text in [&deep, &long, wide] {
        let error = study(text, &[]).expect_err("is refused").to_string();
        assert!(error.starts_with("a.net:"), "{error}");
    }
}

/// Words from which texts are made that are nearly nets.
const WORDS: [&str; 44] = [
    "place",
    "transition",
    "in",
    "out",
    "else",
    "if",
    "end",
    "record",
    "job",
    "delay",
    "guard",
    "measure",
    "mean",
    "P",
    "tokens",
    "waiting",
    "server",
    "size",
    "came",
    "now",
    "+",
    "-",
    "*",
    "/",
    "div",
    "mod",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    "=",
    "==",
    "0",
    "1",
    "9 us",
    "\n",
    "\n",
    "{job with size = 1}",
    "exponential(1 us)",
    "by",
    "run",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever the text is, it is refused or runs; nothing panics.
    #[test]
    fn nothing_panics(
        at in 0usize..QUEUE.len(),
        taken in 0usize..30,
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6),
    ) {
        let to = (at + taken).min(QUEUE.len());
        let text = format!("{}{}{}", &QUEUE[..at], words.join(" "), &QUEUE[to..]);
        inorder_nets::fuzz_one(text.as_bytes());
    }
}

/// A run until a time goes on when nothing can happen any more, and says so.
#[test]
fn a_net_that_stands_still_before_its_time_is_told() {
    let text = "coloured net s\nplace a 1\nplace b\nplace c\ntransition t\n  in a\n  delay 1 s\n  out b\ntransition u\n  \
                in b\n  in c\n  delay 1 s\n  out a\nrun 100 s\nmeasure x = tokens(b)\n";
    let cells = study(text, &[]).expect("runs");
    assert_eq!(
        cells[0].doubts,
        ["stands still before its end: b 1; t waits for a token in a; u waits for a token in c"]
    );
    let goes_on = text.replace("  in c\n", "");
    assert_eq!(
        study(&goes_on, &[]).expect("runs")[0].doubts,
        Vec::<String>::new()
    );
}

/// Runs that end in different ways have no common steady state; one of the ways is not that of all.
#[test]
fn every_way_in_which_a_net_stands_still_is_told_with_its_runs() {
    let transition = |name: &str, mean: u32| {
        format!("transition {name}\n  in a\n  delay exponential({mean} us)\n  out at_{name}\n")
    };
    let text = format!(
        "coloured net s\nplace a 1\nplace at_x\nplace at_y\n{}{}run 1 s\nmeasure x = tokens(at_x)\n",
        transition("x", 1),
        transition("y", 1)
    );
    let cells = repeated(&text, &[], 40, 1).expect("runs");
    let doubts = &cells[0].doubts;
    let runs = |doubt: &String| -> u32 {
        let (_, rest) = doubt.split_once("before its end in ").expect("a number");
        rest.split(' ')
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number")
    };
    assert_eq!(doubts.len(), 2, "{doubts:?}");
    assert_eq!(doubts.iter().map(runs).sum::<u32>(), 40);
    for place in ["at_x", "at_y"] {
        let way =
            format!(" of 40 runs: {place} 1; x waits for a token in a; y waits for a token in a");
        assert_eq!(
            doubts.iter().filter(|d| d.ends_with(&way)).count(),
            1,
            "{doubts:?}"
        );
    }
}

#[test]
fn units_that_a_net_lacks_or_hides_are_named() {
    let queue = QUEUE.replace("coloured net queue\n", "coloured net queue\nclock cycle\n");
    let no_seconds = study(&queue, &[]).expect_err("no seconds").to_string();
    assert_eq!(
        no_seconds,
        "a.net:4:23: the clock does not say how long a cycle is: expected `clock cycle at FREQUENCY`"
    );
    let hidden = QUEUE.replace("place server 1\n", "place server 1\nplace us 1\n");
    let hidden = study(&hidden, &[]).expect_err("hidden").to_string();
    assert!(
        hidden.ends_with(
            "expected a value, found us, which is a place and hides the unit of this name"
        ),
        "{hidden}"
    );
}
