//! `petri` as a user sees it: exit codes, one clear line for each error, files written, Ctrl-C.

use std::fs;
use std::process::Output;

use crate::common::says;
use crate::common::{self, Folder, code, complaint, inorder, json, stderr, stdout};

/// A machine that fails and is repaired: it works half of the time.
const NET: &str = "net machine
place up 1
place down
transition breaks exponential rate 2
  in up
  out down
transition mends exponential rate 2
  in down
  out up
";

#[test]
fn a_net_is_simulated_solved_and_analysed() {
    let folder = Folder::new("petri");
    let file = folder.file("machine.net", NET.as_bytes());
    let output = inorder(&[
        "petri",
        "--simulate",
        "--exact",
        "--invariants",
        "--reachability=10",
        "--json",
        &file,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let value = json(&output);
    let exact = value["exact"]["places"]["up"]["tokens"].as_f64().unwrap();
    assert!((exact - 0.5).abs() < 1e-12, "{exact}");
    let simulated = &value["simulated"]["places"]["up"]["tokens"];
    let mean = simulated["mean"].as_f64().unwrap();
    assert!((mean - exact).abs() < 0.05, "{mean}");
    assert_eq!(value["simulated"]["interrupted"], false);
    let text = inorder(&["petri", "--invariants", &file]);
    assert!(stdout(&text).contains("up + down = 1"), "{}", stdout(&text));
}

/// CSV has no room for sentences: what speaks against its numbers is on the standard error.
#[test]
fn what_speaks_against_numbers_in_csv_is_told_beside_them() {
    let folder = Folder::new("petri-doubts");
    let queue = "place q\ntransition a exponential rate 2\n out q\ntransition s exponential rate 1\n in q\n";
    let file = folder.file("overloaded.net", queue.as_bytes());
    let output = inorder(&["petri", "--csv", "--time=5000", &file]);
    assert!(
        stdout(&output).starts_with("runs,group,name"),
        "{}",
        stdout(&output)
    );
    says(stderr(&output), "unstable: q gets");
    let quiet = inorder(&["-q", "petri", "--csv", "--time=5000", &file]);
    assert_eq!((stdout(&quiet), stderr(&quiet)), (stdout(&output), ""));
}

/// The numbers of CSV: the value of the axis, the name, the mean and the ends of the interval.
fn cells(output: &Output) -> Vec<(f64, String, [f64; 3])> {
    let text = stdout(output);
    let number = |text: &str| text.parse().unwrap_or(f64::NAN);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let ends = [5, 6, 7].map(|at| number(fields[at]));
        (number(fields[0]), fields[3].to_owned(), ends)
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn a_plain_net_is_solved_over_values_of_a_parameter() {
    let folder = Folder::new("petri-sweep");
    let queue = "net queue\nparameter load 0.9\nparameter room 3\nplace jobs\nplace free room\n\
        transition arrive exponential rate 2*load\n in free\n out jobs\n\
        transition serve exponential rate 2\n in jobs\n out free\n";
    let file = folder.file("queue.net", queue.as_bytes());
    let output = inorder(&[
        "petri",
        "--exact",
        "--set=load=0.5..1.5 step 0.5",
        "--csv",
        &file,
    ]);
    let table = inorder(&["petri", "--exact", "--set=load=0.5,1", &file]);
    assert!(!stdout(&table).contains("runs"), "{}", stdout(&table));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = cells(&output);
    for load in [0.5f64, 1.0, 1.5] {
        // M/M/1/3: the probability of n jobs is proportional to load^n.
        let weights = [0, 1, 2, 3].map(|n| load.powi(n));
        let mean = (0..4)
            .map(|n| f64::from(n) * weights[n as usize])
            .sum::<f64>()
            / weights.iter().sum::<f64>();
        let row = found
            .iter()
            .find(|(at, name, _)| *at == load && name == "jobs tokens");
        let (_, _, [solved, ..]) = row.expect("a row of the cell");
        assert!((solved - mean).abs() < 1e-6, "{solved} instead of {mean}");
    }
    let listed = inorder(&["petri", "--parameters", "--set=room=5", &file]);
    let listed = stdout(&listed);
    assert_eq!(
        listed.split_whitespace().collect::<Vec<_>>(),
        ["load", "0.9", "room", "5"]
    );
    let one = inorder(&["petri", "--exact", "--json", "--set=room=1", &file]);
    let jobs = json(&one)["exact"]["places"]["jobs"]["tokens"]
        .as_f64()
        .unwrap();
    assert!((jobs - 0.9 / 1.9).abs() < 1e-9, "{jobs}");
    for (options, message) in [
        (
            ["--exact", "--set=lod=1,2"],
            "found lod; did you mean load?",
        ),
        (
            ["--exact", "--set=load=1,x"],
            "--set load: expected a number",
        ),
        (
            ["--svg=x.svg", "--set=load=1,2"],
            "--svg: not with several values",
        ),
        (
            ["--exact", "--at=5..1"],
            "--at: expected a number, several as",
        ),
    ] {
        let found = complaint(&["petri", options[0], options[1], &file], 2);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn the_state_over_time_is_solved_and_simulated() {
    let folder = Folder::new("petri-at");
    let file = folder.file("machine.net", NET.as_bytes());
    let solved = cells(&inorder(&[
        "petri",
        "--exact",
        "--at=0,0.1,0.5",
        "--csv",
        &file,
    ]));
    let simulated = inorder(&[
        "petri",
        "--simulate",
        "--at=0,0.1,0.5",
        "--query=P(up = 1)",
        "--confidence=0.999",
        "--replications=2000",
        "--csv",
        &file,
    ]);
    assert_eq!(code(&simulated), 0, "{}", stderr(&simulated));
    let simulated = cells(&simulated);
    for time in [0.0, 0.1, 0.5] {
        // Both transitions have rate 2.
        let up = 0.5 + 0.5 * f64::exp(-4.0 * time);
        let of = |rows: &[(f64, String, [f64; 3])], name: &str| {
            let row = rows
                .iter()
                .find(|(at, found, _)| *at == time && found == name);
            row.expect("a row of the time").2
        };
        assert!((of(&solved, "up tokens")[0] - up).abs() < 1e-6);
        for name in ["up tokens", "P(up = 1)"] {
            let [_, low, high] = of(&simulated, name);
            assert!(
                low - 1e-9 <= up && up <= high + 1e-9,
                "{name} at {time}: {low} to {high}, not {up}"
            );
        }
    }
}

#[test]
fn a_net_is_drawn_and_read_back_from_pnml() {
    let folder = Folder::new("petri-files");
    let file = folder.file("machine.net", NET.as_bytes());
    let [dot, svg, pnml] = ["m.dot", "m.svg", "m.pnml"].map(|name| folder.path(name));
    let output = inorder(&[
        "petri", "--dot", &dot, "--svg", &svg, "--pnml", &pnml, &file,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(fs::read_to_string(&dot).unwrap().starts_with("digraph"));
    assert!(fs::read_to_string(&svg).unwrap().contains("</svg>"));
    let solved = |path: &str| json(&inorder(&["petri", "--exact", "--json", path]));
    assert_eq!(solved(&pnml)["exact"], solved(&file)["exact"]);
}

#[test]
fn errors_in_nets_are_reported_in_one_line() {
    let folder = Folder::new("petri-wrong");
    let damaged = |name: &str, bytes: &[u8]| {
        let file = folder.file(name, bytes);
        complaint(&["petri", &file], 3)
    };
    let message = damaged(
        "a.net",
        b"net a\nplace p 1\ntransition t exponental rate 2\n",
    );
    assert!(message.contains("a.net:3") && message.contains("did you mean exponential?"));
    assert!(damaged("b.pnml", b"<pnml><net>").contains("b.pnml:1"));
    assert!(damaged("c.net", b"\x80\x81").contains("expected text or PNML"));
    assert!(damaged("empty.net", b"# nothing\n").contains("expected places and transitions"));
    let page = b"<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
                 type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"p\"/></net></pnml>";
    assert!(damaged("empty.pnml", page).contains("expected places and transitions"));
    let looped = b"place p 1\ntransition t immediate\n  in p\n  out p\n";
    assert!(damaged("d.net", looped).contains("zero-time loop"));
    let fixed = folder.file(
        "e.net",
        b"place p 1\ntransition t deterministic 2\n  in p\n  out p\n",
    );
    assert!(complaint(&["petri", "--exact", &fixed], 2).contains("no exact solution"));
    let missing = folder.path("missing.net");
    assert!(complaint(&["petri", &missing], 1).contains(&missing));
    let target = folder.path("no/such/folder/x.dot");
    assert!(complaint(&["petri", "--dot", &target, &fixed], 1).contains(&target));
    for option in [
        "--time=-1",
        "--confidence=2",
        "--replications=1",
        "--precision=x",
    ] {
        assert_eq!(code(&inorder(&["petri", option, &fixed])), 2, "{option}");
    }
}

#[test]
fn options_without_effect_are_refused_in_one_line() {
    let folder = Folder::new("petri-unused");
    let file = folder.file("machine.net", NET.as_bytes());
    let refused = |options: &[&str], expected: &str| {
        let words = [&["petri"], options, &[&file]].concat();
        let found = complaint(&words, 2);
        assert!(found.contains(expected), "{options:?}: {found}");
    };
    for option in [
        "--replications=9",
        "--warm-up=1",
        "--precision=0.1",
        "--confidence=0.9",
        "--memory=age",
        "--reserve",
    ] {
        let name = option.split('=').next().unwrap_or(option);
        for asked in [
            "--exact",
            "--query=P(up = 1)",
            "--query=EF down = 1",
            "--invariants",
            "--reachability=9",
            "--play",
        ] {
            refused(&[asked, option], &format!("{name}: only for simulations"));
        }
    }
    refused(
        &["--invariants", "--time=3"],
        "--time: the end of a simulation or the time of",
    );
    refused(&["--query=EF down = 1", "--time=3"], "--time: the end of");
    refused(&["--query=EF down = 1", "--at=3,4"], "--at: the end of");
    refused(&["--simulate", "--limit=9"], "--limit: only with --exact");
    refused(
        &["--reachability=9", "--limit=9"],
        "--limit: only with --exact",
    );
    refused(
        &["--simulate", "--at=1,2", "--precision=0.1"],
        "--precision: not with --at",
    );
    let trace = format!("--trace={}", folder.path("trace.jsonl"));
    refused(&[&trace, "--reserve"], "--reserve: not with --trace");
    refused(
        &[&trace, "--replications=9"],
        "--replications: not with --trace",
    );
    for options in [
        ["--exact", "--time=3", "--simulate", "--replications=9"],
        ["--query=P(up = 1)", "--time=3", "--limit=9", "--json"],
        [&trace, "--time=3", "--memory=age", "--json"],
    ] {
        let output = inorder(&[&["petri"], &options[..], &[&file]].concat());
        assert_eq!(code(&output), 0, "{options:?}: {}", stderr(&output));
    }
}

#[test]
fn a_net_without_an_exact_solution_is_refused_with_its_line() {
    let folder = Folder::new("petri-fixed");
    let fixed = NET.replacen("exponential rate 2", "deterministic 2", 1);
    let file = folder.file("fixed.net", fixed.as_bytes());
    let found = complaint(&["petri", "--exact", &file], 2);
    let expected = "fixed.net:4: transition breaks: a deterministic delay has no exact solution";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn times_that_cannot_be_simulated_or_solved_are_refused() {
    let folder = Folder::new("petri-times");
    let file = folder.file("machine.net", NET.as_bytes());
    let stiff = NET
        .replacen("rate 2", "rate 1e15", 1)
        .replace("rate 2", "rate 1e-15");
    let stiff = folder.file("stiff.net", stiff.as_bytes());
    let trace = format!("--trace={}", folder.path("trace.jsonl"));
    for (options, net, exit, expected) in [
        (
            &["--simulate", "--time=1e-9"][..],
            &file,
            3,
            "time 1e-9: expected 0 or 1e-7 to 1.8",
        ),
        (
            &["--simulate", "--time=10"],
            &stiff,
            3,
            "time 10: expected 0 or",
        ),
        (
            &["--simulate", "--replications=2", "--time=10"],
            &stiff,
            3,
            "time 10: expected 0 or",
        ),
        (&[&trace, "--time=1e-9"], &file, 3, "time 1e-9: expected"),
        (
            &["--simulate", "--time=9", "--warm-up=9"],
            &file,
            3,
            "warm-up 9: expected a time before the end of the run, 9",
        ),
        (&["--exact", "--time=1e20"], &stiff, 2, "which is too often"),
        (
            &["--simulate", "--at=-1,2"],
            &file,
            2,
            "--at: expected times not below 0, found -1",
        ),
    ] {
        let words = [&["petri"], options, &[net]].concat();
        let found = complaint(&words, exit);
        assert!(found.contains(expected), "{options:?}: {found}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_keeps_the_estimate_so_far() {
    let folder = Folder::new("petri-interrupt");
    let file = folder.file("machine.net", NET.as_bytes());
    let output = common::interrupted(&["petri", "--json", "--precision=0", "--time=1e12", &file]);
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert_eq!(json(&output)["simulated"]["interrupted"], true);
}

/// There is nothing of an exact solution before its end.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_an_exact_solution_with_one_line() {
    let folder = Folder::new("petri-interrupt-exact");
    // 200 tokens in a ring of twelve places have 10^18 markings.
    let places = (1..12).map(|n| format!("place p{n}\n"));
    let moves = (0..12).map(|n| {
        let next = (n + 1) % 12;
        format!("transition t{n} exponential rate 1\n in p{n}\n out p{next}\n")
    });
    let ring: String = std::iter::once("place p0 200\n".to_owned())
        .chain(places)
        .chain(moves)
        .collect();
    let file = folder.file("ring.net", ring.as_bytes());
    for options in [["--exact", "--json"], ["--query=P(p0 = 0)", "--exact"]] {
        let words = [&["petri", "--limit=2000000000", &file], &options[..]].concat();
        let output = common::interrupted(&words);
        assert_eq!(code(&output), 130, "{}", stderr(&output));
        let said = "inorder: interrupted: there are no results yet\n";
        assert_eq!((stdout(&output), stderr(&output)), ("", said));
    }
}

/// A queue with room for two whose jobs carry the time at which they came.
const COLOURED: &str = "coloured net queue
record job
  came: time
place source 1
place waiting: job capacity 1
place server 1
sink out: job
transition arrive
  in source
  delay exponential(1 us)
  out source
  out waiting: {came = now}
transition serve
  in j: waiting
  in server
  delay exponential(1 us)
  out server
  out out: j
run 1000 at out
measure response = mean(out, now - came) in us
";

#[test]
fn a_coloured_net_is_solved_explored_asked_drawn_traced_and_played() {
    let folder = Folder::new("petri-coloured");
    let file = folder.file("queue.net", COLOURED.as_bytes());
    let [dot, svg, trace, aut] =
        ["q.dot", "q.svg", "q.jsonl", "q.aut"].map(|name| folder.path(name));
    let asked = [
        "--query=P(serve.busy = 1)",
        "--query=EF waiting = 1",
        "--reachability=100",
    ];
    let files = [
        "--dot", &dot, "--svg", &svg, "--states", &aut, "--trace", &trace,
    ];
    let words = [
        &["petri", "--exact", "--json"],
        &asked[..],
        &files[..],
        &[&file],
    ]
    .concat();
    let output = inorder(&words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let found = json(&output);
    // Nobody, one in service, one more waits: rates are equal, and so are the probabilities.
    let busy = found["exact"]["places"]["serve.busy"]["tokens"]
        .as_f64()
        .unwrap();
    assert!((busy - 2.0 / 3.0).abs() < 1e-12, "{busy}");
    let out = found["exact"]["places"]["out"]["arrivals"]
        .as_f64()
        .unwrap();
    assert!((1000.0 * out - 2.0 / 3.0).abs() < 1e-12, "{out}");
    assert!(stdout(&inorder(&["petri", asked[1], &file])).contains("EF waiting = 1: true"));
    assert!(fs::read_to_string(&dot).unwrap().starts_with("digraph"));
    assert!(fs::read_to_string(&svg).unwrap().contains("serve"));
    assert!(fs::read_to_string(&aut).unwrap().contains("serve.starts"));
    let traced = fs::read_to_string(&trace).unwrap();
    assert!(traced.lines().count() > 2000, "{}", traced.lines().count());
    let first: serde_json::Value = serde_json::from_str(traced.lines().next().unwrap()).unwrap();
    assert_eq!(first["time"], 0.0);
    assert_eq!(first["transition"], "arrive.starts");
    assert_eq!(first["marking"]["arrive.busy"], 1);
    let played = common::inorder_fed(&["petri", "--play", &file], b"\n\n?\n+ 5\nb 7\nq\n");
    says(stdout(&played), "step 1: server 1, arrive.busy");
}

#[test]
fn what_a_coloured_net_cannot_be_asked_is_told_in_one_line() {
    let folder = Folder::new("petri-coloured-refused");
    let file = folder.file("queue.net", COLOURED.as_bytes());
    let refused = |options: &[&str], file: &str, status: i32, expected: &str| {
        let found = complaint(&[&["petri"], options, &[file]].concat(), status);
        assert!(found.contains(expected), "{options:?}: {found}");
    };
    refused(
        &["--invariants"],
        &file,
        2,
        "--invariants: only for place/transition nets",
    );
    refused(
        &["--query=P(deadlock)"],
        &file,
        2,
        "what is enabled in a coloured net",
    );
    refused(
        &["--exact", "--repetitions=3"],
        &file,
        2,
        "only for the numbers of runs",
    );
    let fixed = COLOURED.replace(
        "in server\n  delay exponential(1 us)",
        "in server\n  delay 1 us",
    );
    let fixed = folder.file("fixed.net", fixed.as_bytes());
    refused(
        &["--exact"],
        &fixed,
        2,
        "transition serve: a deterministic delay has no exact solution",
    );
    let timed = COLOURED.replace("in server\n", "in server\n  guard j.came > 1 us\n");
    let timed = folder.file("timed.net", timed.as_bytes());
    refused(&["--reachability=9"], &timed, 3, "timed.net:12:");
}

#[test]
fn a_rare_event_is_estimated_on_a_level() {
    let folder = Folder::new("petri-rare");
    let net = "place q 0 capacity 20\ntransition a exponential rate 1\n out q\n\
               transition s exponential rate 4\n in q\n";
    let file = folder.file("rare.net", net.as_bytes());
    let asked = [
        "petri",
        "--simulate",
        "--query=P(q = 20)",
        "--level=q",
        "--precision=0.3",
    ];
    let output = inorder(&[&asked[..], &["--json", &file]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer = &json(&output)["answers"][0];
    let (mean, half_width) = (
        answer["mean"].as_f64().unwrap(),
        answer["half_width"].as_f64().unwrap(),
    );
    // 0.75 / 4^20 or so.
    let exact = 0.75 * 0.25_f64.powi(20);
    assert!(
        (mean - exact).abs() < 2.0 * half_width && half_width < 0.5 * mean,
        "{mean} {half_width}"
    );
    let text = inorder(&[&asked[..], &[&file]].concat());
    says(
        stdout(&text),
        "importance splitting where the level reaches",
    );
}
