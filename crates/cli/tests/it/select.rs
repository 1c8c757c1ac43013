//! What `--filter`, `--flow`, `--from`, `--to` and `--threshold` do, as a user or a script sees it.

use std::fs;
use std::process::Command;

use crate::common::says;
use crate::common::{Folder, code, complaint, inorder, json, stderr, stdout};

const SENDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);
const RECEIVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-receiver.pcap"
);

fn flows(options: &[&str]) -> usize {
    let output = inorder(&[&["analyze", "--json"], options, &[SENDER]].concat());
    json(&output)["flows"].as_array().expect("flows").len()
}

#[test]
fn a_filter_selects_flows_and_counts_what_it_leaves_out() {
    assert_eq!(flows(&["--filter", "tcp and dst port 5001"]), 1);
    let text = inorder(&["analyze", "--from", "+100ms", "--to", "200ms", SENDER]);
    assert_eq!(code(&text), 0, "{}", stderr(&text));
    says(stdout(&text), "of 9,928 frames");
    let part = json(&inorder(&["analyze", "--json", "--from", "+100ms", SENDER]));
    let file = &part["files"][0];
    let frames = file["frames"].as_u64().unwrap() + file["left_out"].as_u64().unwrap();
    assert_eq!(frames, 9_928);
    assert_eq!(part["flows"][0]["syn_seen"], false);
}

#[test]
fn a_selection_of_nothing_says_what_there_is() {
    let text = complaint(&["analyze", "--flow", "zzz", SENDER], 1);
    says(&text, "there are 10.0.1.1:47138->10.0.3.2:5001");
    let text = complaint(&["analyze", "--filter", "port 1", SENDER], 1);
    assert!(text.contains("0 frames of 9,928 frames selected"), "{text}");
    // Programs still get their document.
    assert_eq!(flows(&["--flow", "zzz"]), 0);
}

#[test]
fn the_other_end_honours_the_filter() {
    let peers = |filter: &str| {
        let output = inorder(&[
            "analyze", "--json", "--filter", filter, "--peer", RECEIVER, SENDER,
        ]);
        let document = json(&output);
        document["files"][0]["peer"]["flows"]
            .as_array()
            .expect("flows")
            .len()
    };
    assert_eq!((peers("port 5001"), peers("port 1")), (1, 0));
}

/// A step of a continuous integration: fails if the capture is worse than allowed.
const CI: &str = r#"
if "$INORDER" analyze -q --threshold "$LIMITS" "$CAPTURE"; then echo fine
elif [ $? = 4 ]; then echo worse; else echo broken; fi
"#;

#[test]
fn a_script_distinguishes_fine_from_worse_from_broken() {
    let run = |limits: &str, capture: &str| {
        let output = Command::new("sh")
            .args(["-c", CI])
            .envs([
                ("INORDER", env!("CARGO_BIN_EXE_inorder")),
                ("LIMITS", limits),
                ("CAPTURE", capture),
            ])
            .output()
            .expect("a shell");
        (stdout(&output).to_owned(), stderr(&output).to_owned())
    };
    assert_eq!(
        run("late=40%,spurious=5%,flow.max_extent=20", SENDER),
        ("fine\n".to_owned(), String::new())
    );
    let (said, lines) = run(
        "late=1%,spurious=0.5%,flow.max_extent=5,lost=20,rate_bps=1000",
        SENDER,
    );
    assert_eq!(said, "worse\n");
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(
        lines[0].ends_with("threshold late=1% exceeded: 36.9 % (1,839 of 4,984 packets)"),
        "{}",
        lines[0]
    );
    assert!(
        lines[2].ends_with("exceeded: 10.0.1.1:47138->10.0.3.2:5001 with 11"),
        "{}",
        lines[2]
    );
    // Where nothing is late there is no late time to exceed the bound.
    let clean = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/captures/clean.rcv.pcap.gz"
    );
    assert_eq!(run("late_ms=1,flow.late_ms=1,late=0", clean).0, "fine\n");
    assert_eq!(run("late=1%", "no-such.pcap").0, "broken\n");
    // A capture without anything to judge is no success.
    let folder = Folder::new("empty");
    let header = &fs::read(SENDER).unwrap()[..24];
    let empty = folder.file("empty.pcap", header);
    assert_eq!(run("late=1%", &empty).0, "broken\n");
}

#[test]
fn wrong_selections_and_thresholds_are_one_line_that_helps() {
    for (options, expected) in [
        (&["--filter", "prot 80"][..], "did you mean `port`?"),
        (
            &["--filter", "(tcp"],
            "character 1: this `(` is never closed",
        ),
        (
            &["--from", "yesterday"],
            "expected a time with an offset such as 2024-05-01T12:00:00Z",
        ),
        (
            &["--threshold", "late"],
            "`late` has no value, expected NAME=VALUE such as late=1%",
        ),
        (&["--threshold", "lat=1%"], "did you mean late?"),
        (
            &["--threshold", "max_extent=4"],
            "expected flow.max_extent=VALUE",
        ),
        (&["--threshold", "late_ms=4%"], "late_ms is no share"),
        (
            &["--csv", "--rows", "event"],
            "a similar value exists: 'events'",
        ),
    ] {
        let text = complaint(&[&["analyze"], options, &[SENDER]].concat(), 2);
        assert!(text.contains(expected), "{options:?}: {text}");
    }
}

#[test]
fn sort_leaves_alone_what_the_filter_does_not_select() {
    let folder = Folder::new("sort-filter");
    let sorted = |filter: &[&str], name: &str| {
        let output = folder.path(name);
        let arguments = [&["sort", "--json"], filter, &[RECEIVER, &output]].concat();
        json(&inorder(&arguments))
    };
    let reordered = |summary: &serde_json::Value| summary["after"]["reordered"].as_u64();
    let (all, none) = (
        sorted(&[], "all.pcap"),
        sorted(&["--filter", "port 1"], "none.pcap"),
    );
    assert!(reordered(&all) != reordered(&none), "{all} {none}");
    assert_eq!(sorted(&["--filter", "port 5001"], "again.pcap"), all);
}
