//! The commands in the documents do what the documents say: each is run as it stands, in a folder with files of the
//! names that it uses. Of those that need a network interface or another host, the options are checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::Folder;

/// Verbs that need more than files: an interface, another host, a kernel, the Python package (whose tests run these).
const LIVE: [&str; 8] = [
    "emulate", "lab", "live", "probe", "query", "reflect", "summary", "watch",
];

/// A scenario that takes no time to simulate.
const SCENARIO: &str = "
[run]
duration = \"300 ms\"
[[flow]]
[[forward]]
kind = \"link\"
rate = \"10 Mbit/s\"
delay = \"5 ms\"
queue = \"50 packets\"
";

/// A log of one end.
const LOG: &str = r#"{"qlog_version":"0.3","traces":[{"vantage_point":{"type":"END"},"events":[
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1}}}]}]}"#;

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

/// Every document that shows commands.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut all = vec![
        root.join("README.md"),
        root.join("crates/cli/README.md"),
        root.join("tools/wireshark/README.md"),
    ];
    for folder in ["docs", "docs/concepts", "docs/evidence", "docs/tutorials"] {
        let docs = fs::read_dir(root.join(folder)).unwrap();
        let docs = docs.map(|entry| entry.unwrap().path());
        all.extend(docs.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    all.sort();
    all
}

/// The lines of code blocks that call the command, without comments; of `tables`, what stands in code there, too.
fn commands(document: &str, tables: bool) -> Vec<String> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if line.starts_with('|') {
            let spans = line.split('`').skip(1).step_by(2);
            let whole = spans.filter(|span| span.starts_with("inorder "));
            found.extend(whole.filter(|_| tables).map(str::to_owned));
            continue;
        }
        if !is_fenced && !line.starts_with("    ") {
            continue;
        }
        let line = line.split("  #").next().unwrap_or_default();
        for command in line.split("&&").map(str::trim) {
            if command.starts_with("inorder ") || command.contains("| inorder ") {
                found.push(command.to_owned());
            }
        }
    }
    found
}

/// A folder with the files that documents name: captures, their results, numbers, and the project's own folders.
fn prepared(name: &str) -> Folder {
    let folder = Folder::new(name);
    let root = root();
    let demo = root.join("testdata/demo");
    for (name, capture) in [
        ("trace.pcap", "demo-sender.pcap"),
        ("trace.pcapng", "demo-sender.pcap"),
        ("trace.pcap.gz", "demo-sender.pcap"),
        ("trace.pcap0", "demo-sender.pcap"),
        ("trace.pcap1", "demo-receiver.pcap"),
        ("sender.pcap", "demo-sender.pcap"),
        ("before.pcap", "demo-sender.pcap"),
        ("receiver.pcap", "demo-receiver.pcap"),
        ("after.pcap", "demo-receiver.pcap"),
        ("tunnel.pcap", "demo-receiver.pcap"),
    ] {
        fs::copy(demo.join(capture), folder.path(name)).unwrap();
    }
    fs::write(folder.path("arrivals.csv"), "1,0.1\n3,0.2\n2,0.3\n4,0.4\n").unwrap();
    fs::write(folder.path("path.toml"), SCENARIO).unwrap();
    fs::create_dir(folder.path("captures")).unwrap();
    fs::copy(
        demo.join("demo-sender.pcap"),
        folder.path("captures/a.pcap"),
    )
    .unwrap();
    for (day, end) in [("monday", "sender"), ("tuesday", "receiver")] {
        fs::create_dir(folder.path(day)).unwrap();
        let capture = demo.join(format!("demo-{end}.pcap"));
        fs::copy(capture, folder.path(&format!("{day}/a.pcap"))).unwrap();
    }
    for end in ["client", "server"] {
        fs::write(folder.path(&format!("{end}.qlog")), LOG.replace("END", end)).unwrap();
    }
    for shared in ["crates", "experiments", "testdata", "tools"] {
        std::os::unix::fs::symlink(root.join(shared), folder.path(shared)).unwrap();
    }
    for name in ["before", "after"] {
        let command = format!("inorder analyze -q --json={name}.json {name}.pcap");
        assert!(run(&command, &folder).status.success(), "{command}");
    }
    // Stands for what a run on real Linux would have written.
    let command = "inorder simulate -q path.toml --json=linux.json";
    assert!(run(command, &folder).status.success(), "{command}");
    folder
}

/// Runs a line in a shell that finds the command.
fn run(line: &str, folder: &Folder) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_inorder")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(folder.path(""))
        .env("PATH", format!("{}:{path}", program.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The words up to the verb, and whether the line needs a network.
fn is_live(line: &str) -> bool {
    let verb = line
        .strip_prefix("inorder ")
        .and_then(|rest| rest.split(' ').next());
    verb.is_some_and(|verb| LIVE.contains(&verb))
        || line.contains("tcpdump")
        || line.contains("--scheduler")
}

/// With `--help` behind the options, they are parsed and nothing is done.
fn only_parsed(line: &str) -> String {
    let own = line.rsplit('|').next().unwrap_or(line).trim();
    format!("{own} --help")
}

#[test]
fn every_command_in_a_document_works() {
    let folder = prepared("documents");
    let mut count = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        // Tables of other documents have parts of commands.
        let tables = document == root().join("README.md");
        for line in commands(&text, tables) {
            let line = if is_live(&line) {
                only_parsed(&line)
            } else {
                line
            };
            let output = run(&line, &folder);
            let error = String::from_utf8_lossy(&output.stderr);
            let fine = match output.status.code() {
                Some(0) => true,
                // The demonstration does not have every address and port of the examples.
                Some(1) => line.contains("--filter") && error.contains("--filter"),
                Some(4) => line.contains("--threshold"),
                _ => false,
            };
            assert!(
                fine,
                "{}: {line}\n{:?}\n{error}",
                document.display(),
                output.status
            );
            count += 1;
        }
    }
    assert!(count > 30, "only {count} commands were found");
}

/// The first thing that a stranger compares with what he sees.
#[test]
fn the_readme_shows_what_the_program_prints() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let begin = text
        .find("    10.0.1.1:47138->10.0.3.2:5001 moved")
        .unwrap();
    let lines = text[begin..].lines();
    let block = lines.take_while(|line| line.is_empty() || line.starts_with("    "));
    let block: Vec<&str> = block
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    let output = run(
        "inorder analyze testdata/demo/demo-sender.pcap",
        &prepared("readme"),
    );
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains(block.join("\n").trim_end()),
        "README.md shows another output of `inorder analyze testdata/demo/demo-sender.pcap` than this:\n{printed}"
    );
}

/// Its reader has the demonstration captures and nothing else, so every command must find something in them.
#[test]
fn the_tutorial_on_diagnosis_works_on_the_demonstration_captures() {
    let folder = prepared("diagnose");
    let text = fs::read_to_string(root().join("docs/tutorials/diagnose.md")).unwrap();
    assert!(text.contains("cp testdata/demo/demo-sender.pcap trace.pcap"));
    for line in commands(&text, false).iter().filter(|line| !is_live(line)) {
        let output = run(line, &folder);
        let is_fine = match line.contains("--threshold") {
            true => output.status.code() == Some(4),
            false => output.status.success(),
        };
        assert!(
            is_fine,
            "{line}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
