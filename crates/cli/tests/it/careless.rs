//! What careless users do: joined captures, pipes where files are needed, full disks, times in the wrong order.

use std::fs;
use std::process::Command;

#[cfg(target_os = "linux")]
use crate::common::interrupt;
use crate::common::says;
use crate::common::{self, Folder, code, complaint, inorder, stderr, stdout};

const DEMO: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);

/// A coloured net.
const FORWARDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../netproc/nets/forwarder.net");

#[test]
fn captures_joined_by_cat_end_where_the_second_begins() {
    let folder = Folder::new("cat");
    let demo = fs::read(DEMO).unwrap();
    let joined = folder.file("two.pcap", &[&demo[..], &demo[..]].concat());
    let run = inorder(&["analyze", &joined]);
    assert_eq!(code(&run), 3);
    let problem = stderr(&run);
    says(problem, "another capture file begins here");
    assert_eq!(problem.lines().count(), 1, "{problem}");
    let rows = |capture: &str| -> Vec<String> {
        let run = inorder(&["analyze", "--csv", capture]);
        let rows = stdout(&run).lines().skip(1);
        // The first column is the name of the file.
        rows.map(|row| row.split_once(',').unwrap().1.to_owned())
            .collect()
    };
    assert_eq!(rows(DEMO), rows(&joined));
}

#[test]
fn a_pipe_is_not_annotated() {
    let folder = Folder::new("fifo");
    let pipe = folder.path("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let run = inorder(&["analyze", &pipe, "--annotate", &folder.path("out.pcapng")]);
    assert_eq!(code(&run), 2);
    says(stderr(&run), "expected a regular file");
}

#[test]
fn an_output_that_fails_takes_neither_text_nor_other_files_away() {
    let folder = Folder::new("full");
    let csv = folder.path("flows.csv");
    let run = inorder(&["analyze", DEMO, "--json=/dev/full", &format!("--csv={csv}")]);
    assert_eq!(code(&run), 1);
    assert!(stdout(&run).contains("moved 7.24 MB"));
    says(stderr(&run), "/dev/full: cannot write");
    assert!(fs::read_to_string(csv).unwrap().lines().count() > 1);
}

#[test]
fn every_verb_with_several_outputs_writes_those_that_it_can() {
    let folder = Folder::new("full-verbs");
    let receiver = DEMO.replace("sender", "receiver");
    let page = folder.path("net.html");
    let full = "--csv=/dev/full";
    for (verb, rest) in [
        ("diff", vec![DEMO, &receiver, full]),
        (
            "reproduce",
            vec!["periodic", "figures-10-11", "--quick", full],
        ),
    ] {
        let json = folder.path(&format!("{verb}.json"));
        let run = inorder(&[&[verb], &rest[..], &[&format!("--json={json}")]].concat());
        assert_eq!(code(&run), 1, "{verb}: {}", stderr(&run));
        assert!(stderr(&run).contains("/dev/full: cannot write"), "{verb}");
        assert!(fs::read_to_string(json).unwrap().ends_with("}\n"), "{verb}");
    }
    let page_option = format!("--html={page}");
    let few = ["--set=packets=2000", "--repetitions=2", full, &page_option];
    let run = inorder(&[&["petri", FORWARDER], &few[..]].concat());
    assert_eq!(code(&run), 1, "{}", stderr(&run));
    assert!(stdout(&run).contains("mean"), "{}", stdout(&run));
    assert!(fs::read_to_string(page).unwrap().contains("</html>"));
}

#[test]
fn help_that_cannot_be_written_is_no_success() {
    let run = Command::new("sh")
        .args([
            "-c",
            "\"$0\" help >/dev/full",
            env!("CARGO_BIN_EXE_inorder"),
        ])
        .output()
        .unwrap();
    assert_eq!(code(&run), 1, "{}", stderr(&run));
    assert!(stderr(&run).contains("cannot write"), "{}", stderr(&run));
}

#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    let run = inorder(&["analyze", "--from", "+10s", "--to", "+5s", DEMO]);
    assert_eq!(code(&run), 2);
    says(stderr(&run), "expected --to later than --from");
}

#[test]
fn numbers_with_more_gaps_than_are_remembered_are_counted_with_a_notice() {
    let folder = Folder::new("gaps");
    // Every second number first, then the others.
    let numbers = (0..200).map(|n| 2 * n).chain((0..200).map(|n| 2 * n + 1));
    let text: String = numbers.map(|n| format!("{n}\n")).collect();
    let file = folder.file("n.txt", text.as_bytes());
    let run = inorder(&["metrics", "--max-holes", "100", &file]);
    assert_eq!(code(&run), 0);
    let notice = stderr(&run);
    assert!(notice.contains("gaps that had been forgotten"), "{notice}");
    assert_eq!(stderr(&inorder(&["metrics", &file])), "");
}

#[test]
fn a_folder_for_captures_is_no_file_and_a_filter_selects_something() {
    let folder = Folder::new("kinds");
    let file = folder.file("f", b"");
    let scenario = folder.file("s.toml", b"[[flow]]\nsize = \"10 kB\"\n");
    let run = inorder(&["simulate", "--pcap", &file, &scenario]);
    assert_eq!(code(&run), 1);
    says(stderr(&run), "expected a folder");
    let run = inorder(&["diff", "--filter", "port 9", DEMO, DEMO]);
    assert_eq!(code(&run), 2);
    assert!(stderr(&run).contains("--filter"), "{}", stderr(&run));
}

/// Files of captures appear as a whole: what a killed run had begun is in no one's way.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_simulation_leaves_no_captures() {
    let folder = Folder::new("killed");
    let scenario =
        "[[flow]]\nsize = \"300 MB\"\n[[forward]]\nkind = \"link\"\nrate = \"1 Gbit/s\"\n";
    let scenario = folder.file("s.toml", scenario.as_bytes());
    let captures = folder.path("captures");
    fs::create_dir(&captures).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["simulate", "--quiet", "--pcap", &captures, &scenario])
        .spawn()
        .expect("the command starts");
    let begun = |ended: bool| {
        let names = fs::read_dir(&captures).unwrap().flatten();
        let names = names.filter(|entry| {
            let is_draft = entry.file_name().to_string_lossy().ends_with(".part");
            let bytes = entry.metadata().map_or(0, |file| file.len());
            is_draft != ended && (ended || bytes > 0)
        });
        names.count()
    };
    // The captures are of a second run, behind the first one.
    while begun(false) < 2 && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(begun(true), 0, "a capture that is not whole");
    let scenario = folder.file("s.toml", b"[[flow]]\nsize = \"10 kB\"\n");
    let again = inorder(&["simulate", "--quiet", "--pcap", &captures, &scenario]);
    assert_eq!(code(&again), 0, "{}", stderr(&again));
    assert_eq!(begun(true), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_ctrl_c_leaves_nothing_half_written() {
    let folder = Folder::new("second-ctrl-c");
    let scenario = "[[flow]]\nsize = \"3 GB\"\n[[forward]]\nkind = \"link\"\nrate = \"1 Gbit/s\"\n";
    let scenario = folder.file("s.toml", scenario.as_bytes());
    let captures = folder.path("captures");
    fs::create_dir(&captures).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_inorder"))
        .args(["simulate", "--quiet", "--pcap", &captures, &scenario])
        .spawn()
        .expect("the command starts");
    let drafts = || fs::read_dir(&captures).unwrap().count();
    while drafts() < 2 && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    while run.try_wait().unwrap().is_none() {
        interrupt(&run);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(drafts(), 0);
}

#[test]
fn an_error_is_one_line_whatever_the_name_and_the_text_say() {
    let folder = Folder::new("one-line");
    let broken = folder.file("broken.toml", b"title = 'x'\nconnections = [\n");
    let study = folder.path("study");
    let said = complaint(&["population", &broken, "--out", &study], 2);
    assert!(said.contains("broken.toml:2:"), "{said}");
    complaint(&["analyze", "no\nfile.pcap"], 1);
}

#[test]
fn a_host_that_cannot_be_found_is_no_wrong_usage() {
    let said = complaint(&["probe", "nowhere.invalid"], 1);
    assert!(said.contains("nowhere.invalid"), "{said}");
}

#[test]
fn a_folder_and_the_name_of_an_output_are_no_captures_and_the_way_out_is_said() {
    let folder = Folder::new("no-capture");
    let below = folder.path("captures");
    fs::create_dir(&below).unwrap();
    let said = complaint(&["analyze", &below], 1);
    let expected =
        format!("expected captures, as {below}/*.pcap, or `inorder corpus {below} --out study`");
    assert!(said.contains(&expected), "{said}");
    // `--json FILE` without the equals sign: FILE is taken for a capture, the first time missing, later a result.
    let missing = folder.path("out.json");
    assert!(complaint(&["analyze", "--json", &missing], 1).contains(&format!("--json={missing}")));
    let there = folder.file("flows.csv", b"file,flow\n");
    assert!(complaint(&["analyze", "--csv", &there], 1).contains(&format!("--csv={there}")));
    let packed = folder.file("a.zip", b"PK\x03\x04\x14\0\0\0");
    assert!(complaint(&["analyze", &packed], 1).contains("`unzip -p`"));
}

#[test]
fn what_is_no_list_of_numbers_has_no_metrics() {
    let folder = Folder::new("no-numbers");
    let text = folder.file("text.txt", b"hello, this is text\n");
    let run = inorder(&["metrics", &text]);
    assert_eq!((code(&run), stdout(&run)), (3, ""), "{}", stderr(&run));
    says(stderr(&run), "text.txt:1: expected a sequence number");
}

#[test]
fn what_is_no_log_of_quic_is_named() {
    assert!(
        complaint(&["qlog", DEMO], 3).contains("this is a capture, which `inorder analyze` reads")
    );
}

#[test]
fn a_corpus_of_nothing_has_no_shares() {
    let folder = Folder::new("empty-corpus");
    let text = folder.file("a.pcap", b"hello, this is text\n");
    let run = inorder(&["corpus", &text, "--out", &folder.path("study")]);
    assert_eq!(code(&run), 3, "{}", stderr(&run));
    let said = stdout(&run);
    assert!(said.starts_with("1 capture: "), "{said}");
    assert!(
        said.contains("no packets to judge") && !said.contains('%'),
        "{said}"
    );
}

/// The share of late packets has one denominator, whoever prints it.
#[test]
fn a_corpus_and_an_analysis_say_the_same_share() {
    let folder = Folder::new("same-share");
    let run = inorder(&["corpus", DEMO, "--out", &folder.path("study")]);
    says(stdout(&run), "36.9 % of those that arrived were late");
    assert!(
        stdout(&inorder(&["analyze", DEMO]))
            .contains("4,984 packets that arrived (36.9 %) were late")
    );
}

#[test]
fn a_cut_capture_of_the_other_end_does_not_take_the_analysis_away() {
    let folder = Folder::new("cut-peer");
    let mut bytes = fs::read(DEMO.replace("sender", "receiver")).unwrap();
    bytes.truncate(bytes.len() - 7);
    let cut = folder.file("receiver.pcap", &bytes);
    let run = inorder(&["analyze", DEMO, "--peer", &cut]);
    assert_eq!(code(&run), 3, "{}", stderr(&run));
    says(stderr(&run), "receiver.pcap: damaged at frame");
    assert!(stdout(&run).contains("moved 7.24 MB"), "{}", stdout(&run));
    assert!(
        stdout(&run)
            .replace('\n', " ")
            .contains("so nothing is compared with it"),
        "{}",
        stdout(&run)
    );
}

/// As in `some-program | inorder sort - sorted.pcap`, where the program waits: Ctrl-C ends the reading, and nothing is lost.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_the_waiting_for_a_pipe() {
    let folder = Folder::new("waiting");
    let sorted = folder.path("sorted.pcap");
    let receiver = fs::read(DEMO.replace("sender", "receiver")).unwrap();
    for (arguments, input, expected) in [
        (&["sort", "-", &sorted][..], &receiver[..], "before"),
        (&["metrics", "-"], b"1\n3\n2\n", "received"),
    ] {
        let run = common::interrupted_while_waiting(arguments, input);
        assert_eq!(code(&run), 130, "{arguments:?}: {}", stderr(&run));
        assert!(
            stdout(&run).contains(expected),
            "{arguments:?}: {}",
            stdout(&run)
        );
    }
    let left: Vec<_> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["sorted.pcap"]);
}

/// As after `2>&1 | head -1`: nobody reads the standard error, and that is no reason to end differently.
#[test]
fn an_error_that_cannot_be_printed_has_its_exit_code() {
    for (arguments, expected) in [("analyze no/such/file", 1), ("analyze --nonsense", 2)] {
        let line = format!("\"$0\" {arguments} 2>/dev/full");
        let run = Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_inorder")])
            .output()
            .unwrap();
        assert_eq!(code(&run), expected, "{arguments}");
    }
}

/// The options become a scenario of which the user knows neither lines nor columns.
#[test]
fn an_option_of_a_path_that_is_no_time_is_named_without_a_line() {
    let said = complaint(&["emulate", "a0", "b0", "--delay=10"], 2);
    assert!(
        said.starts_with("inorder: the options: delay: \"10\", expected a time"),
        "{said}"
    );
}

/// A telephone shows 390 pixels; what is wider must not make the whole page so wide.
#[test]
fn every_table_of_a_page_is_in_a_box_in_which_it_scrolls() {
    let folder = Folder::new("boxes");
    let receiver = DEMO.replace("sender", "receiver");
    let page = folder.path("diff.html");
    let run = inorder(&["diff", "-q", DEMO, &receiver, &format!("--html={page}")]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let page = fs::read_to_string(page).unwrap();
    // The scripts behind it have tables in their texts.
    let (page, _) = page.split_once("<footer").unwrap();
    let mut before: Vec<&str> = page.split("<table").collect();
    before.pop();
    assert!(before.len() >= 2);
    for text in before {
        let tag = text.trim_end().rsplit('<').next().unwrap_or_default();
        assert!(tag.starts_with("div class=\"card "), "{tag}");
    }
}

/// The Python package writes these files, and knows no captures; the command looks before it hands over.
#[test]
fn neither_a_query_nor_a_summary_replaces_a_capture() {
    let folder = Folder::new("asked");
    let capture = folder.file("capture.pcap", &fs::read(DEMO).unwrap());
    let study = folder.path("study");
    let (page, csv) = (format!("--html={capture}"), format!("--csv={capture}"));
    for arguments in [
        &["summary", &study, &page, "--force"][..],
        &["query", "select 1", &study, &csv, "--force"],
    ] {
        let said = complaint(arguments, 2);
        assert!(said.contains("is a capture and is not replaced"), "{said}");
    }
}
