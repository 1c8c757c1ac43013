//! `inorder corpus`, `campaign` and `population`: what is killed goes on, and ends as if it had not been.

#![cfg(all(feature = "parquet", target_os = "linux"))]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::says;
use crate::common::{Folder, code, complaint, inorder, interrupted, stderr, stdout};

/// 60 runs that take some seconds together.
const SCENARIO: &[u8] = b"
[run]
duration = \"4 s\"
repetitions = 30
[[flow]]
[[forward]]
kind = \"link\"
rate = \"20 Mbit/s\"
[[forward]]
name = \"line\"
kind = \"delay\"
delay = \"5 ms\"
[[reverse]]
kind = \"delay\"
delay = \"5 ms\"
[grid]
\"forward.line.jitter\" = [\"0 ms\", \"1 ms\"]
";

/// Every result by its name.
fn results(root: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut folders) = (BTreeMap::new(), vec![PathBuf::from(root)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "parquet") {
                let bytes = fs::read(&path).unwrap();
                all.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
            }
        }
    }
    all
}

fn tasks(root: &str) -> usize {
    fs::read_dir(Path::new(root).join("tasks")).map_or(0, Iterator::count)
}

#[test]
fn a_campaign_that_is_killed_goes_on_and_prints_what_simulate_prints() {
    let folder = Folder::new("campaign");
    let scenario = folder.file("jitter.toml", SCENARIO);
    let study = folder.path("study");
    let line = ["campaign", "-q", &scenario, "--out", &study, "--threads=1"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(line)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while tasks(&study) < 4 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at = tasks(&study) - 1;
    assert!((3..60).contains(&at), "killed after {at} tasks");

    let undisturbed = folder.path("undisturbed");
    let json = |out: &str| {
        let output = inorder(&["campaign", "--json", &scenario, "--out", out]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        stdout(&output).to_owned()
    };
    let resumed = json(&study);
    assert_eq!(resumed, json(&undisturbed));
    assert_eq!(results(&study), results(&undisturbed));
    assert_eq!(tasks(&study), 61);
    let simulated = inorder(&["simulate", "--json", &scenario]);
    assert_eq!(resumed, stdout(&simulated));
}

#[test]
fn ctrl_c_ends_a_campaign_and_says_how_to_go_on() {
    let folder = Folder::new("campaign-interrupt");
    let scenario = folder.file("jitter.toml", SCENARIO);
    let study = folder.path("study");
    let output = interrupted(&[
        "campaign",
        "--repetitions=100000",
        &scenario,
        "--out",
        &study,
    ]);
    assert_eq!(code(&output), 130);
    says(stderr(&output), "the same command goes on");
    // What is there is whole.
    assert!(Path::new(&study).join("study.json").is_file());
    let other = ["campaign", &scenario, "--out", &study];
    assert!(complaint(&other, 2).contains("asked for something else"));
}

#[test]
fn a_corpus_names_what_is_wrong() {
    let folder = Folder::new("corpus");
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/demo");
    let study = folder.path("study");
    let output = inorder(&["corpus", demo, "--out", &study]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).starts_with("2 captures: "),
        "{}",
        stdout(&output)
    );
    let names: Vec<_> = results(&study).into_keys().collect();
    assert!(
        names.contains(&"flows/task=000000/part.parquet".into()),
        "{names:?}"
    );

    assert!(
        complaint(&["corpus", &folder.path("none"), "--out", &study], 2)
            .contains("no capture here")
    );
    assert!(
        complaint(&["corpus", demo, "--tables=flow", "--out", &study], 2)
            .contains("expected one of flows")
    );
    let file = folder.file("thesis.txt", b"mine");
    assert!(complaint(&["corpus", demo, "--out", &file], 1).contains("thesis.txt"));
    let own = file.trim_end_matches("/thesis.txt");
    assert!(complaint(&["corpus", demo, "--out", own], 2).contains("files of something else"));
}

#[test]
fn a_corpus_with_captures_that_cannot_be_read_says_so_whenever_it_ends() {
    let folder = Folder::new("unread");
    let whole = fs::read("../../testdata/demo/demo-sender.pcap").unwrap();
    let captures = [
        folder.file("whole.pcap", &whole),
        folder.file("half.pcap", &whole[..30_000]),
        folder.file("none.pcap", b"hello"),
    ];
    let study = folder.path("study");
    let line = [
        "corpus",
        &captures[0],
        &captures[1],
        &captures[2],
        "--out",
        &study,
    ];
    for _ in 0..2 {
        let output = inorder(&line);
        assert_eq!(code(&output), 3);
        let told = stderr(&output);
        assert!(told.contains("some captures are damaged"), "{told}");
        assert!(stdout(&output).starts_with("3 captures: "));
    }
    let good = ["corpus", &captures[0], "--out", &folder.path("good")];
    assert_eq!(code(&inorder(&good)), 0);
}

#[test]
fn a_corpus_takes_captures_by_content_and_ends_with_a_result() {
    let folder = Folder::new("contents");
    let captures = folder.path("captures");
    fs::create_dir_all(Path::new(&captures).join("deep")).unwrap();
    let whole = fs::read("../../testdata/demo/demo-sender.pcap").unwrap();
    for name in ["a.dmp", "b.dump", "trace.pcap0", "deep/c.trace"] {
        folder.file(&format!("captures/{name}"), &whole);
    }
    folder.file("captures/half.pcap", &whole[..30_000]);
    folder.file("captures/README.md", b"What these are.");
    let study = folder.path("study");
    for _ in 0..2 {
        let output = inorder(&["corpus", &captures, "--out", &study]);
        assert_eq!(code(&output), 3, "{}", stderr(&output));
        let told = stderr(&output);
        says(told, "1 of 6 files skipped: no capture (");
        assert!(told.contains("README.md"), "{told}");
        let text = stdout(&output);
        assert!(text.starts_with("5 captures: "), "{text}");
        assert!(text.contains("5 captures with 5 flows: of "), "{text}");
        assert!(text.contains("half.pcap: damaged"), "{text}");
        says(
            text,
            "With trouble, or held back by a limit: 5, the most severe first\n 1. ",
        );
        says(text, "deep/c.trace (36.9 % of arrivals late, ");
    }
}

#[test]
fn what_needs_the_python_package_says_so() {
    let folder = Folder::new("no-python");
    let output = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["query", "select 1", &folder.path("study")])
        .env("INORDER_PYTHON", folder.path("no-python-here"))
        .output()
        .unwrap();
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("needs the Python package")
            && stderr(&output).contains("pip install '.[study,cluster]'` in a checkout"),
        "{}",
        stderr(&output)
    );
}
