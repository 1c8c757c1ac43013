//! The command as a user sees it: output, exit codes, messages.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{self, Folder, code, inorder, inorder_fed, json, stderr, stdout};

/// The `n`-th TCP segment of 100 bytes as a raw IPv4 packet. IP identifications count up as they do at a real sender,
/// so that a late original differs from a retransmission.
fn segment(n: u32) -> Vec<u8> {
    let seq = 1_000 + n * 100;
    let mut frame = vec![0x45, 0, 0, 140, 7, n as u8, 0, 0, 64, 6, 0, 0];
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([0x9c, 0x40, 0x13, 0x89]);
    frame.extend(seq.to_be_bytes());
    frame.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    frame.extend([b'x'; 100]);
    frame
}

/// A classic pcap of raw IP packets.
fn pcap(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    common::pcap(101, 1_700_000_000, frames)
}

/// Ten segments, the third of which is four positions late.
fn late() -> Vec<u8> {
    let order = [0, 1, 3, 4, 5, 6, 2, 7, 8, 9];
    pcap(order.map(segment))
}

#[test]
fn a_late_segment_is_reported_in_text_and_json() {
    let folder = Folder::new("late");
    let file = folder.file("late.pcap", &late());
    let text = inorder(&["analyze", "--vantage", "receiver", &file]);
    assert_eq!(code(&text), 0, "{}", stderr(&text));
    assert!(stdout(&text).contains("up to 4.00 ms"), "{}", stdout(&text));
    assert!(!stdout(&text).contains('\x1b'), "plain in a pipe");
    assert_eq!(stderr(&text), "");

    let value = json(&inorder(&[
        "analyze",
        "--vantage=receiver",
        "--events",
        "--json",
        &file,
    ]));
    assert_eq!(value["schema"], "inorder-analyze/1");
    assert_eq!(value["files"][0]["frames"], 10);
    let flow = &value["flows"][0];
    assert_eq!(flow["flow"], "10.0.0.1:40000->10.0.0.2:5001");
    assert_eq!(flow["vantage"], "receiver");
    assert_eq!(flow["data_packets"], 10);
    assert_eq!(flow["reordering"]["reordered"], 1);
    let event = &flow["events"][0];
    assert_eq!(event["kind"], "reordered");
    assert_eq!(event["extent"], 4);
    assert_eq!(event["linux_metric"], 5);
    assert_eq!(event["late_ms"], 4.0);
    assert_eq!(event["seq_offset"], 200);
    assert_eq!(event["frame"], 7);
}

#[test]
fn results_do_not_depend_on_threads() {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/demo");
    let captures: Vec<PathBuf> = fs::read_dir(demo)
        .expect("the demonstration pair")
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|e| e == "pcap" || e == "pcapng")
        })
        .collect();
    assert!(!captures.is_empty());
    for capture in captures {
        let name = capture.to_str().unwrap();
        let run = |threads| inorder(&["analyze", "--events", "--json", "--threads", threads, name]);
        let one = run("1");
        assert_eq!(code(&one), 0, "{}", stderr(&one));
        assert!(!json(&one)["flows"].as_array().unwrap().is_empty());
        for threads in ["2", "5"] {
            assert!(
                run(threads).stdout == one.stdout,
                "{threads} threads differ on {name}"
            );
        }
    }
}

#[test]
fn rows_of_csv_are_those_requested() {
    let folder = Folder::new("rows");
    let file = folder.file("late.pcap", &late());
    let header = |options: &[&str]| {
        let output = inorder(&[&["analyze", "--csv"], options, &[file.as_str()]].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        text.lines().next().unwrap_or_default().to_owned()
    };
    let flows = header(&["--rows", "flows"]);
    assert_eq!(flows, header(&[]));
    let events = header(&["--rows", "events"]);
    assert_eq!(events, header(&["--events"]));
    assert_eq!(
        header(&["--rows", "retransmissions"]),
        "file,flow,overlay,network,reuse,frame,at_ns,seq_offset,len,verdict,confidence,cause"
    );
    assert_eq!(
        header(&["--rows", "recoveries"]),
        "file,flow,overlay,network,reuse,start_ns,seq_offset,retransmissions,timeout,expiries,verdict,cause"
    );
}

#[test]
fn every_output_is_written() {
    let folder = Folder::new("outputs");
    let file = folder.file("late.pcap", &late());
    let [json_file, csv, html, copy] =
        ["a.json", "a.csv", "a.html", "a.pcapng"].map(|n| folder.path(n));
    let parquet = folder.path("parquet");
    let output = inorder(&[
        "analyze",
        "--vantage=receiver",
        &format!("--json={json_file}"),
        &format!("--csv={csv}"),
        "--html",
        &html,
        "--annotate",
        &copy,
        "--parquet",
        &parquet,
        &file,
    ]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output).contains("10.0.0.1:40000->10.0.0.2:5001"),
        "text is still printed"
    );
    let value: Value = serde_json::from_slice(&fs::read(&json_file).unwrap()).unwrap();
    assert_eq!(value["flows"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 2);
    assert!(fs::read_to_string(&html).unwrap().contains("</html>"));
    for table in ["flows", "events", "retransmissions", "recoveries"] {
        let name = &format!("{table}.parquet");
        let bytes = fs::read(Path::new(&parquet).join(name)).unwrap();
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{name}"
        );
    }
    let annotated = fs::read(&copy).unwrap();
    let comment = b"inorder: kind=reordered, confidence=likely, extent=4, late_ms=4, ";
    assert!(annotated.windows(comment.len()).any(|w| w == comment));
    // The copy is a capture again, with the same content.
    let again = json(&inorder(&[
        "analyze",
        "--vantage=receiver",
        "--json",
        &copy,
    ]));
    assert_eq!(
        again["flows"][0]["reordering"],
        value["flows"][0]["reordering"]
    );
}

#[test]
fn several_files_are_analysed_separately_or_joined() {
    let folder = Folder::new("several");
    let half = |numbers: std::ops::Range<u32>| pcap(numbers.map(segment));
    let first = folder.file("0.pcap", &half(0..5));
    let second = folder.file("1.pcap", &half(5..10));
    let apart = json(&inorder(&["analyze", "--json", &first, &second]));
    assert_eq!(apart["files"].as_array().unwrap().len(), 2);
    assert_eq!(apart["flows"].as_array().unwrap().len(), 2);
    let joined = json(&inorder(&["analyze", "--json", "--join", &first, &second]));
    assert_eq!(joined["files"][0]["frames"], 10);
    assert_eq!(joined["flows"][0]["data_packets"], 10);
    let filtered = json(&inorder(&[
        "analyze", "--json", "--flow", ":40001->", &first,
    ]));
    assert!(filtered["flows"].as_array().unwrap().is_empty());
}

#[test]
fn damage_is_code_3_and_the_frames_before_it_are_analysed() {
    let folder = Folder::new("damage");
    let mut bytes = late();
    bytes.truncate(bytes.len() - 7);
    let file = folder.file("cut.pcap", &bytes);
    for threads in ["1", "2"] {
        let output = inorder(&["analyze", "--json", "--threads", threads, &file]);
        assert_eq!(code(&output), 3);
        assert_eq!(json(&output)["files"][0]["frames"], 9);
        assert_eq!(
            json(&output)["files"][0]["warnings"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        let message = stderr(&output);
        assert!(
            message.starts_with("inorder: ") && message.contains("frame 10"),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn unreadable_files_are_code_1_and_do_not_stop_the_others() {
    let folder = Folder::new("unreadable");
    let good = folder.file("good.pcap", &late());
    let bad = folder.file("bad.txt", b"This is no capture at all, but text.\n");
    let missing = folder.path("missing.pcap");
    for wrong in [&bad, &missing] {
        let output = inorder(&["analyze", "--json", wrong, &good]);
        assert_eq!(code(&output), 1);
        assert_eq!(json(&output)["flows"].as_array().unwrap().len(), 1);
        assert_eq!(stderr(&output).lines().count(), 1);
        assert!(
            stderr(&output).contains(wrong.as_str()),
            "{}",
            stderr(&output)
        );
    }
    let output = inorder(&["analyze", &missing]);
    assert_eq!(code(&output), 1);
    assert_eq!(stdout(&output), "");
}

#[test]
fn standard_input_works_and_an_empty_one_is_an_error() {
    let output = inorder_fed(&["analyze", "--json", "-"], &late());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(json(&output)["files"][0]["file"], "standard input");
    assert_eq!(json(&output)["files"][0]["frames"], 10);
    let empty = inorder(&["analyze", "-"]);
    assert_eq!(code(&empty), 1);
    assert!(stderr(&empty).contains("empty"), "{}", stderr(&empty));
}

#[test]
fn wrong_usage_is_code_2() {
    for arguments in [
        &["analyze"][..],
        &["no-such-verb"],
        &["analyze", "--vantage", "nowhere", "a.pcap"],
        &["analyze", "--json", "--csv", "a.pcap"],
        &["analyze", "--annotate", "b.pcapng", "-"],
        &["analyze", "--threads", "0", "a.pcap"],
        &["analyze", "-", "-"],
    ] {
        let output = inorder(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty());
    }
}

#[test]
fn more_threads_than_any_machine_has_are_refused_by_every_verb() {
    let mut verbs = vec!["analyze", "petri", "reproduce", "simulate"];
    if cfg!(feature = "parquet") {
        verbs.extend(["campaign", "corpus", "population"]);
    }
    for verb in verbs {
        for threads in ["1025", "18446744073709551615"] {
            let output = inorder(&[verb, "--threads", threads, "x"]);
            assert_eq!(code(&output), 2, "{verb}: {}", stderr(&output));
            let wanted = "expected a whole number of at most 1024";
            assert!(
                stderr(&output).contains(wanted),
                "{verb}: {}",
                stderr(&output)
            );
        }
        // The maximum itself is taken: only the file is missing.
        let most = inorder(&[verb, "--threads", "1024", "no-such-file"]);
        assert!(
            !stderr(&most).contains("whole number"),
            "{verb}: {}",
            stderr(&most)
        );
    }
}

#[test]
fn files_that_cannot_be_written_are_named() {
    let folder = Folder::new("unwritable");
    let file = folder.file("late.pcap", &late());
    let target = folder.path("no/such/folder/x.html");
    let output = inorder(&["analyze", "--html", &target, &file]);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains(&target), "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0);
    assert_eq!(stderr(&output), "");
}

#[test]
fn completions_and_manual_pages_cover_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = inorder(&["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("analyze"), "{shell}");
    }
    let page = inorder(&["man"]);
    assert!(stdout(&page).contains(".TH inorder 1"), "{}", stdout(&page));
    let folder = Folder::new("man");
    assert_eq!(code(&inorder(&["man", &folder.path("")])), 0);
    let verb = fs::read_to_string(folder.path("inorder-analyze.1")).unwrap();
    assert!(verb.contains("vantage") && verb.contains("annotate"));
    let below = fs::read_to_string(folder.path("inorder-netproc-forwarder.1")).unwrap();
    assert!(below.contains("inorder netproc forwarder"), "{below}");
    let pages: Vec<_> = fs::read_dir(folder.path("")).unwrap().flatten().collect();
    assert!(pages.len() > 20, "{pages:?}");
    for page in pages.iter().map(fs::DirEntry::path) {
        let text = fs::read_to_string(&page).unwrap();
        let has_examples = text.contains(".SH EXAMPLES\n");
        assert!(has_examples || page.ends_with("inorder.1"), "{page:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_reading_and_reports_the_frames_read() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["analyze", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than pipe and buffers hold, so that the command must be running when it is written. The input stays open
    // and stops in the middle of a frame.
    let frames: Vec<Vec<u8>> = (0..30_000).map(|n| segment(n % 200)).collect();
    let bytes = pcap(frames);
    let mut input = child.stdin.take().unwrap();
    input.write_all(&bytes[..bytes.len() - 9]).unwrap();
    common::interrupt(&child);
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(code(&output), 130, "{}", stderr(&output));
    let file = &json(&output)["files"][0];
    assert!(file["frames"].as_u64().unwrap() > 1_000, "{file}");
    assert!(
        file["warnings"][0]
            .as_str()
            .unwrap()
            .starts_with("interrupted"),
        "{file}"
    );
}

#[test]
fn no_output_replaces_an_input_or_a_capture() {
    let folder = Folder::new("kept");
    let bytes = late();
    let input = folder.file("in.pcap", &bytes);
    let other = folder.file("other.pcap", &bytes);
    std::os::unix::fs::symlink(&input, folder.path("link.pcap")).unwrap();
    let (link, new) = (folder.path("link.pcap"), folder.path("new"));
    let scenario = folder.file("s.toml", b"[[flow]]\n");
    let net = folder.file("n.net", b"net n\nplace p 1\n");
    let twice = [format!("--json={new}"), format!("--csv={new}")];
    let cases: &[&[&str]] = &[
        &["analyze", "--html", &input, &input],
        &["analyze", "--html", &other, &input],
        &["analyze", "--html", &link, &input],
        &["analyze", "--annotate", &other, &input],
        &["analyze", &format!("--json={input}"), &input],
        &["analyze", &format!("--csv={other}"), &input],
        &[
            "analyze",
            &format!("--csv={other}"),
            "--peer",
            &other,
            &input,
        ],
        &["analyze", &twice[0], &twice[1], &input],
        &["sort", &input, &input],
        &["sort", &input, &link],
        &["sort", &input, &other],
        &["simulate", &format!("--json={scenario}"), &scenario],
        &["simulate", "--html", &other, &scenario],
        &["petri", "--pnml", &net, &net],
        &["petri", "--svg", &other, &net],
        &["netproc", "--svg", &other],
    ];
    for case in cases {
        let output = inorder(case);
        assert_eq!(code(&output), 2, "{case:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{case:?}");
    }
    for file in [&input, &other] {
        assert_eq!(fs::read(file).unwrap(), bytes, "{file}");
    }
    assert!(!Path::new(&new).exists());
}
