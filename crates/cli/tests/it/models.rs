//! `simulate`, `netproc` and `packetdrill` as a user sees them: exit codes, one clear line for each error,
//! files written, Ctrl-C.

use std::fs;

use serde_json::Value;

use crate::common::says;
use crate::common::{self, Folder, code, complaint, inorder, json, stderr, stdout};

/// Two cells with two short runs each.
const SCENARIO: &str = r#"title = "Two paths"
[run]
duration = "300 ms"
repetitions = 2
[[flow]]
size = "200 kB"
[[forward]]
name = "line"
kind = "delay"
delay = "5 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
[grid]
"forward.line.jitter" = ["0 ms", "2 ms"]
"#;

/// True if the file begins and ends as Parquet files do.
fn is_parquet(path: &str) -> bool {
    let bytes = fs::read(path).unwrap();
    bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
}

// inorder simulate

#[test]
fn a_scenario_is_printed_as_a_table_of_its_cells() {
    let folder = Folder::new("simulate");
    let file = folder.file("s.toml", SCENARIO.as_bytes());
    let output = inorder(&["simulate", &file]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("line.jitter") && lines[0].contains("throughput Mbit/s"));
    assert!(lines[1].starts_with("0 ms") && lines[2].starts_with("2 ms"));
    assert_eq!(stderr(&output), "");
    // The output is the same for any number of threads and if the value of an axis is given.
    let one = inorder(&["simulate", "--threads", "1", &file]);
    assert_eq!(one.stdout, output.stdout);
    let set = inorder(&["simulate", "--set", "forward.line.jitter=2 ms", &file]);
    assert_eq!(stdout(&set).lines().count(), 2, "{}", stdout(&set));
}

#[test]
fn every_output_of_a_simulation_is_written() {
    let folder = Folder::new("simulate-outputs");
    let file = folder.file("s.toml", SCENARIO.as_bytes());
    let [json_file, csv, html] = ["a.json", "a.csv", "a.html"].map(|name| folder.path(name));
    let [parquet, captures] = ["parquet", "deep/captures"].map(|name| folder.path(name));
    let output = inorder(&[
        "simulate",
        &format!("--json={json_file}"),
        &format!("--csv={csv}"),
        "--html",
        &html,
        "--parquet",
        &parquet,
        "--pcap",
        &captures,
        &file,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 3, "text is still printed");
    let value: Value = serde_json::from_slice(&fs::read(&json_file).unwrap()).unwrap();
    assert_eq!(value["schema"], "inorder-simulate/1");
    assert_eq!(value["cells"].as_array().unwrap().len(), 2, "{value}");
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 5);
    let page = fs::read_to_string(&html).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>Two paths</title>"));
    assert!(page.contains("<h2>Numbers</h2>"), "the table of all cells");
    for name in ["runs.parquet", "samples.parquet"] {
        assert!(is_parquet(&format!("{parquet}/{name}")), "{name}");
    }
    // The captures are valid, and the truth contains every flow.
    for cell in ["s-000", "s-001"] {
        let capture = format!("{captures}/{cell}.rcv.pcapng");
        let analysed = json(&inorder(&["analyze", "--json", &capture]));
        assert_eq!(analysed["flows"][0]["data_bytes"], 200_000, "{cell}");
        assert!(fs::read_to_string(format!("{captures}/{cell}.truth.json")).is_ok());
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    let folder = Folder::new("simulate-seed");
    let file = folder.file("s.toml", SCENARIO.as_bytes());
    let run = |seed| {
        inorder(&[
            "simulate",
            "--csv",
            "--repetitions=1",
            "--seed",
            seed,
            &file,
        ])
    };
    let (first, again, other) = (run("7"), run("7"), run("8"));
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    assert_eq!(first.stdout, again.stdout);
    assert_ne!(first.stdout, other.stdout);
}

#[test]
fn errors_in_scenarios_are_reported_in_one_line() {
    let folder = Folder::new("simulate-wrong");
    let file = folder.file("s.toml", SCENARIO.as_bytes());
    let missing = folder.path("missing.toml");
    assert!(complaint(&["simulate", &missing], 1).contains(&missing));
    let binary = folder.file("binary.toml", b"\xff\xfe\x00");
    assert!(complaint(&["simulate", &binary], 1).contains(&binary));
    let cut = folder.file("cut.toml", b"[run]\nduration = \"1 s\"\n[[flow");
    assert!(complaint(&["simulate", &cut], 2).contains("cut.toml:3"));
    let wrong = |set: &str| complaint(&["simulate", "--set", set, &file], 2);
    assert!(wrong("flow.sise=3").contains("nearest valid name \"size\""));
    assert!(wrong("forward.line.jitter=banana").contains("expected a time"));
    let both = complaint(&["simulate", "--json", "--csv", &file], 2);
    assert!(both.contains("standard output"), "{both}");
    // Reported before the first run, not after the last.
    for option in ["--html", "--json=", "--csv="] {
        let target = folder.path("no/such/folder/x");
        let output = match option.strip_suffix('=') {
            Some(_) => inorder(&["simulate", &format!("{option}{target}"), &file]),
            None => inorder(&["simulate", option, &target, &file]),
        };
        assert_eq!(code(&output), 1, "{option}");
        assert!(stderr(&output).contains(&target), "{}", stderr(&output));
        assert_eq!(stdout(&output), "", "{option}");
    }
    for option in ["--parquet", "--pcap"] {
        // A file has the name that the folder should get.
        let output = inorder(&["simulate", option, &file, &file]);
        assert_eq!(code(&output), 1, "{option}");
        assert!(stderr(&output).contains("cannot create"), "{option}");
    }
    for arguments in [
        &["simulate"][..],
        &["simulate", "--repetitions", "0", &file],
        &["simulate", "--threads", "many", &file],
    ] {
        assert_eq!(code(&inorder(arguments)), 2, "{arguments:?}");
    }
}

#[test]
fn registries_defaults_and_keys_are_listed() {
    let list = inorder(&["simulate", "--list"]);
    for word in ["cubic", "linux-2.6.24", "periodic", "throughput"] {
        assert!(stdout(&list).contains(word), "{word}");
    }
    let defaults = inorder(&["simulate", "--print-defaults"]);
    assert!(stdout(&defaults).contains("[run]"), "{}", stdout(&defaults));
    assert!(stdout(&inorder(&["simulate", "--print-schema"])).contains("| `duration` |"));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_keeps_the_finished_runs() {
    let folder = Folder::new("simulate-interrupt");
    let file = folder.file("s.toml", SCENARIO.as_bytes());
    let output = common::interrupted(&["simulate", "--json", "--repetitions=1000000", &file]);
    let partial = "interrupted: the results are partial, with ";
    assert!(stderr(&output).contains(partial), "{}", stderr(&output));
    says(stderr(&output), " of 2,000,000 runs");
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let value = json(&output);
    let runs = value["cells"].as_array().unwrap().iter();
    let done: usize = runs
        .map(|cell| cell["runs"].as_array().unwrap().len())
        .sum();
    assert!(done < 1_000_000, "{done}");
}

// inorder netproc

#[test]
fn a_network_processor_is_reported_in_three_formats() {
    let run = |form: &[&str]| {
        let arguments = [&["netproc", "--packets=2000", "--scheme=strided"], form].concat();
        let output = inorder(&arguments);
        assert_eq!(code(&output), 0, "{form:?}: {}", stderr(&output));
        output
    };
    let text = run(&[]);
    assert!(stdout(&text).contains("strided, 8 engines of 8 threads, 1 hop, 1 run"));
    let value = json(&run(&["--json", "--repetitions=3"]));
    assert_eq!(value["repetitions"], 3);
    let throughput = &value["results"][0];
    assert_eq!(throughput["name"], "throughput");
    assert!(throughput["low"].as_f64().unwrap() < throughput["mean"].as_f64().unwrap());
    let csv = run(&["--csv"]);
    let mut lines = stdout(&csv).lines();
    assert_eq!(lines.next(), Some("group,hop,name,unit,mean,low,high"));
    assert!(lines.all(|line| line.matches(',').count() >= 6));
    let folder = Folder::new("netproc");
    let svg = folder.path("time.svg");
    run(&["--svg", &svg]);
    assert!(fs::read_to_string(&svg).unwrap().contains("</svg>"));
}

#[test]
fn a_forwarder_is_reported_in_three_formats() {
    let output = inorder(&[
        "netproc",
        "forwarder",
        "--packets=2000",
        "--order=srpic",
        "--json",
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&output)["results"][0]["unit"], "Mpackets/s");
}

#[test]
fn errors_in_netproc_options_are_reported_in_one_line() {
    let folder = Folder::new("netproc-wrong");
    for (option, part) in [
        ("--scheme=stridet", "did you mean strided?"),
        (
            "--scheme=foo",
            "expected one of contiguous, strided, local, global, its, aisr, aisr-wide, aisr-receive, packet-sort",
        ),
        ("--engines=9", "engines: expected 1 to 8, found 9"),
        ("--threads=0", "threads: expected 1 to 8, found 0"),
        ("--hops=0", "hops:"),
        ("--flows=0", "flows:"),
        ("--packets=0", "packets:"),
        ("--train=nan", "train:"),
        ("--repetitions=0", "repetitions:"),
        ("--packet-bytes=0", "0"),
        ("--packet-bytes=99999", "fewer bytes"),
    ] {
        let message = complaint(&["netproc", option], 2);
        assert!(message.contains(part), "{option}: {message}");
    }
    for (option, part) in [
        ("--cores=0", "cores:"),
        ("--mpps=nan", "offered load:"),
        ("--stall=2", "stall:"),
        ("--packets=0", "packets:"),
        ("--repetitions=0", "repetitions:"),
    ] {
        let message = complaint(&["netproc", "forwarder", option], 2);
        assert!(message.contains(part), "{option}: {message}");
    }
    let broken = folder.file("c.toml", b"sram = \n");
    assert!(complaint(&["netproc", "--calibration", &broken], 2).contains("c.toml"));
    let missing = folder.path("missing.toml");
    assert!(complaint(&["netproc", "--calibration", &missing], 1).contains(&missing));
    let target = folder.path("no/such/folder/x.svg");
    let message = complaint(&["netproc", "--packets=1000000000", "--svg", &target], 1);
    assert!(message.contains(&target), "{message}");
    assert_eq!(code(&inorder(&["netproc", "--packet-bytes", "64:x"])), 2);
    assert_eq!(code(&inorder(&["netproc", "--json", "--csv"])), 2);
}

#[test]
fn schemes_and_constants_are_listed() {
    let schemes = inorder(&["netproc", "--list-schemes"]);
    assert!(stdout(&schemes).contains("contiguous"));
    let constants = inorder(&["netproc", "--list-constants"]);
    assert_eq!(code(&constants), 0);
    assert!(stdout(&constants).lines().count() > 10);
    let folder = Folder::new("constants");
    let own = folder.file("own.toml", b"[sram]\nvalue = 100\n");
    let output = inorder(&["netproc", "--net-constants", "--calibration", &own]);
    let net = stdout(&output);
    assert!(net.contains("constant ixp2400_sram = 100\n"), "{net}");
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_keeps_the_packets_that_were_transmitted() {
    let output = common::interrupted(&["netproc", "--json", "--packets=100000000000"]);
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    assert_eq!(json(&output)["repetitions"], 1);
    for (arguments, expected) in [
        (
            ["netproc", "--packets=100000000000"],
            "interrupted: the results are partial",
        ),
        (
            ["reproduce", "entropy"],
            "interrupted: the results are partial, without the item",
        ),
    ] {
        let output = common::interrupted(&arguments);
        assert_eq!(code(&output), 130, "{arguments:?}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(expected),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert!(
            !stdout(&output).contains(" -0 "),
            "{arguments:?}: {}",
            stdout(&output)
        );
    }
}

// inorder packetdrill

/// A connection that is opened and carries no data.
const OPENS: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 1000 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
";

#[test]
fn verdicts_of_scripts_are_exit_codes() {
    let folder = Folder::new("packetdrill");
    let good = folder.file("good.pkt", OPENS.as_bytes());
    let bad = folder.file("bad.pkt", OPENS.replace("ack 1", "ack 2").as_bytes());
    let strange = format!("{OPENS}+0 sendfile(3, 4) = 5\n");
    let strange = folder.file("strange.pkt", strange.as_bytes());
    let run = |files: &[&str]| inorder(&[&["packetdrill"], files].concat());
    for (files, expected, last) in [
        (&[&good[..]][..], 0, "1 passed, 0 failed, 0 unsupported"),
        (&[&good, &strange], 2, "1 passed, 0 failed, 1 unsupported"),
        (
            &[&strange, &bad, &good],
            1,
            "1 passed, 1 failed, 1 unsupported",
        ),
    ] {
        let output = run(files);
        assert_eq!(code(&output), expected, "{files:?}");
        assert!(
            stdout(&output).ends_with(&format!("{last}\n")),
            "{}",
            stdout(&output)
        );
    }
    let output = run(&[&bad]);
    let expected = "bad.pkt:5: wrong acknowledgement number";
    assert!(stdout(&output).contains(expected), "{}", stdout(&output));
    let value = json(&run(&["--json", &strange]));
    assert_eq!(value["scripts"][0]["verdict"], "unsupported");
    assert_eq!(value["scripts"][0]["findings"][0]["line"], 6);
    let verbose = run(&["--verbose", &good]);
    assert!(stdout(&verbose).contains("0.000000 > S. 0:0(0) ack 1"));
}

#[test]
fn scripts_that_cannot_be_read_do_not_stop_the_others() {
    let folder = Folder::new("packetdrill-wrong");
    let good = folder.file("good.pkt", OPENS.as_bytes());
    let missing = folder.path("missing.pkt");
    let output = inorder(&["packetdrill", &missing, &good]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("1 passed"), "{}", stdout(&output));
    assert!(stderr(&output).contains(&missing), "{}", stderr(&output));
    assert_eq!(stderr(&output).lines().count(), 1);
    // A script without statements has not passed; neither has a file that is not a script.
    for text in ["", "// nothing\n--mtu=1500\n", "0 socket(", "\u{0}"] {
        let file = folder.file("no.pkt", text.as_bytes());
        let output = inorder(&["packetdrill", &file]);
        assert_eq!(code(&output), 1, "{text:?}: {}", stdout(&output));
    }
    assert_eq!(code(&inorder(&["packetdrill"])), 2);
    assert_eq!(code(&inorder(&["packetdrill", "--profile=none", &good])), 2);
}
