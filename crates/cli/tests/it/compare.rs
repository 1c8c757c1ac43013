//! `inorder compare`: two analyses or two simulations, before and after a change.

use serde_json::Value;

use crate::common::{Folder, code, complaint, inorder, json, stderr, stdout};

const SCENARIO: &str = r#"
[run]
duration = "300 ms"
[[flow]]
size = "200 kB"
count = 6
[[forward]]
name = "line"
kind = "delay"
delay = "5 ms"
jitter = "JITTER"
[[reverse]]
kind = "delay"
delay = "5 ms"
"#;

/// Simulates six flows with this jitter; returns the capture at the sender and the JSON of the simulation.
fn simulated(folder: &Folder, name: &str, jitter: &str) -> (String, String) {
    let scenario = folder.file(
        &format!("{name}.toml"),
        SCENARIO.replace("JITTER", jitter).as_bytes(),
    );
    let document = folder.path(&format!("{name}.json"));
    let output = inorder(&[
        "simulate",
        "-q",
        "--repetitions",
        "3",
        &format!("--json={document}"),
        "--pcap",
        &folder.path(""),
        &scenario,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    (folder.path(&format!("{name}.rcv.pcapng")), document)
}

fn verdict<'v>(document: &'v Value, measure: &str) -> &'v str {
    let mut changes = document["changes"].as_array().expect("changes").iter();
    let change = changes.find(|change| change["measure"] == measure);
    change.expect(measure)["verdict"]
        .as_str()
        .expect("a verdict")
}

#[test]
fn captures_and_their_documents_before_and_after_a_change() {
    let folder = Folder::new("compare");
    let (before, before_runs) = simulated(&folder, "before", "4 ms");
    let (after, after_runs) = simulated(&folder, "after", "0 ms");

    let captures = json(&inorder(&["compare", "--json", &before, &after]));
    assert_eq!(captures["units"], "flows");
    assert_eq!(verdict(&captures, "late"), "better");
    let text = inorder(&["compare", &before, &after]);
    assert!(
        stdout(&text).starts_with("Better: late ("),
        "{}",
        stdout(&text)
    );

    // The documents of the same captures say the same.
    let documents = [(&before, "a.json"), (&after, "b.json")].map(|(capture, name)| {
        let path = folder.path(name);
        let output = inorder(&["analyze", "-q", &format!("--json={path}"), capture]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        path
    });
    let compared = json(&inorder(&[
        "compare",
        "--json",
        &documents[0],
        &documents[1],
    ]));
    assert_eq!(compared["changes"], captures["changes"]);
    let back = json(&inorder(&[
        "compare",
        "--json",
        &documents[1],
        &documents[0],
    ]));
    assert_eq!(verdict(&back, "late"), "worse");
    let csv = inorder(&["compare", "--csv", &documents[0], &documents[1]]);
    let rows = compared["changes"].as_array().unwrap().len();
    assert_eq!(stdout(&csv).lines().count(), rows + 1);

    // A part with one flow has no interval.
    let one = json(&inorder(&[
        "compare",
        "--json",
        "--filter",
        "port 40000",
        &before,
        &after,
    ]));
    assert!(
        ["too-little-data", "undecided"].contains(&verdict(&one, "late")),
        "{one}"
    );

    let runs = json(&inorder(&["compare", "--json", &before_runs, &after_runs]));
    assert_eq!(runs["units"], "runs");
    assert_eq!(runs["changes"][0]["before_units"], 3);
    let same = json(&inorder(&["compare", "--json", &before_runs, &before_runs]));
    assert_eq!(verdict(&same, "throughput"), "equal");
    let text = complaint(&["compare", &before_runs, &documents[0]], 2);
    assert!(text.contains("expected two of the same kind"), "{text}");
}

#[test]
fn what_cannot_be_compared_is_said_in_one_line() {
    let folder = Folder::new("incomparable");
    let other = folder.file("other.json", b"{\"schema\":\"x\"}");
    let text = folder.file("text.txt", b"no capture\n");
    for (file, expected) in [
        (&other, "its schema is x"),
        (
            &text,
            "expected a capture (pcap, pcapng or snoop, plain or compressed) or the JSON of analyze or simulate; found text",
        ),
    ] {
        assert!(complaint(&["compare", file, file], 3).contains(expected));
    }
    assert!(complaint(&["compare", "-", &text], 2).contains("not the standard input"));
    let missing = folder.path("missing.json");
    assert!(complaint(&["compare", &missing, &missing], 1).contains(&missing));
}

/// A capture of which the last frame is cut, as tcpdump leaves it when it is killed.
#[test]
fn of_a_cut_capture_what_came_before_is_compared() {
    let folder = Folder::new("cut");
    let (whole, _) = simulated(&folder, "whole", "1 ms");
    let mut bytes = std::fs::read(&whole).unwrap();
    bytes.truncate(bytes.len() / 2);
    let cut = folder.file("cut.pcapng", &bytes);
    let whole = whole.as_str();
    for verb in ["compare", "diff"] {
        let output = inorder(&[verb, &cut, whole]);
        assert_eq!(code(&output), 3, "{verb}: {}", stderr(&output));
        assert!(stderr(&output).contains("damaged at frame"), "{verb}");
        assert_eq!(
            stderr(&output).lines().count(),
            1,
            "{verb}: {}",
            stderr(&output)
        );
        assert!(
            stdout(&output).contains("late"),
            "{verb}: {}",
            stdout(&output)
        );
    }
    let below = folder.path("below");
    std::fs::create_dir(&below).unwrap();
    std::fs::copy(&cut, format!("{below}/cut.pcapng")).unwrap();
    assert_eq!(code(&inorder(&["compare", &below, &below])), 3);
}

#[test]
fn one_transfer_on_a_side_is_too_little_and_the_way_out_is_said() {
    let demo = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/demo/demo-sender.pcap"
    );
    let output = inorder(&["compare", demo, demo]);
    let expected = "1 flow before and 1 flow after, and an interval needs two on each side: capture several transfers";
    let text = stdout(&output).replace('\n', " ");
    assert!(text.contains(expected), "{text}");
}
