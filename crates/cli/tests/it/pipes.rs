//! Named pipes, as a shell makes them for `<(command)`: they give their bytes once, and perhaps never.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use crate::common::says;
use crate::common::{self, Folder, code, complaint, inorder, stderr, stdout};

const SENDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);

/// A named pipe into which nobody writes yet.
fn pipe(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    path
}

/// Writes into a pipe as soon as it is read.
fn feed(path: &str, bytes: Vec<u8>) {
    let path = path.to_owned();
    std::thread::spawn(move || fs::write(path, bytes));
}

#[test]
fn ctrl_c_ends_the_waiting_for_a_pipe_into_which_nobody_writes() {
    let folder = Folder::new("nobody");
    let pipe = pipe(&folder, "pipe");
    let (sorted, study) = (folder.path("sorted.pcap"), folder.path("study"));
    for arguments in [
        &["analyze", &pipe][..],
        &["analyze", "--peer", &pipe, SENDER],
        &["sort", &pipe, &sorted],
        &["compare", SENDER, &pipe],
        &["corpus", &pipe, "--out", &study],
        &["analyze", "-"],
        &["sort", "-", &sorted],
    ] {
        let run = common::interrupted_while_waiting(arguments, b"");
        assert_eq!(code(&run), 130, "{arguments:?}: {}", stderr(&run));
        let said = stderr(&run);
        assert!(said.contains("interrupted"), "{arguments:?}: {said}");
        assert!(!said.contains("not a capture"), "{arguments:?}: {said}");
    }
    assert!(!fs::exists(&sorted).unwrap());
}

/// What was not read of the other end would otherwise count as lost.
#[test]
fn what_is_interrupted_is_not_compared() {
    let folder = Folder::new("not-compared");
    let pipe = pipe(&folder, "pipe");
    let run = common::interrupted_while_waiting(&["analyze", "--peer", &pipe, SENDER], b"");
    assert!(stdout(&run).contains("interrupted"), "{}", stdout(&run));
    assert!(!stdout(&run).contains("Compared with"), "{}", stdout(&run));
    let run = common::interrupted_while_waiting(&["compare", SENDER, &pipe], b"");
    assert_eq!(stdout(&run), "");
    says(stderr(&run), "nothing is compared");
}

/// The standard output of CSV and JSON, and of --quiet, has no place for a warning.
#[test]
fn a_result_of_what_was_read_before_ctrl_c_says_so_on_the_standard_error() {
    let capture = fs::read(SENDER).unwrap();
    for arguments in [
        &["analyze", "--csv", "-"][..],
        &["analyze", "-q", "--json", "-"],
        &["sort", "-q", "-", "-"],
    ] {
        let run = common::interrupted_while_waiting(arguments, &capture[..60_000]);
        let said = stderr(&run);
        assert_eq!(code(&run), 130, "{arguments:?}: {said}");
        assert!(
            said.starts_with("inorder: interrupted: only"),
            "{arguments:?}: {said}"
        );
        assert!(!run.stdout.is_empty(), "{arguments:?}");
    }
}

/// As in `inorder compare <(inorder analyze --json a.pcap) <(zcat b.pcap.gz)`.
#[test]
fn two_pipes_are_compared() {
    let folder = Folder::new("two-pipes");
    let result = inorder(&["analyze", "--json", SENDER]);
    let files = inorder(&["compare", SENDER, SENDER]);
    for (name, bytes) in [
        ("json", result.stdout),
        ("capture", fs::read(SENDER).unwrap()),
    ] {
        let (before, after) = (
            pipe(&folder, &format!("{name}-before")),
            pipe(&folder, &format!("{name}-after")),
        );
        feed(&before, bytes.clone());
        feed(&after, bytes);
        let pipes = inorder(&["compare", &before, &after]);
        assert_eq!(code(&pipes), 0, "{name}: {}", stderr(&pipes));
        assert_eq!(stdout(&pipes), stdout(&files), "{name}");
    }
}

#[test]
fn what_is_read_twice_is_no_pipe() {
    let folder = Folder::new("twice");
    let pipe = pipe(&folder, "pipe");
    let said = complaint(&["diff", &pipe, SENDER], 2);
    says(&said, "expected a regular file, not a pipe");
}
