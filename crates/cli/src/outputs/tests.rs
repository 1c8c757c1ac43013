//! No option of any verb harms a capture or replaces a file that inorder did not write.
//!
//! The options come from the definition of the command line: every option that takes a path and is not listed in
//! [`INPUTS`] is taken for an output and tried. A new option cannot be forgotten.

use std::any::TypeId;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory, Parser};

use crate::cli::Cli;
use crate::error::{CliError, ExitCode};
use crate::manners;

/// Options and arguments that name files to read, by verb.
const INPUTS: &[(&str, &[&str])] = &[
    ("analyze", &["files", "peer"]),
    ("campaign", &["file"]),
    ("compare", &["before", "after"]),
    ("diff", &["a", "b"]),
    ("emulate", &["scenario"]),
    ("lab", &["file", "sources"]),
    ("metrics", &["file"]),
    ("netproc", &["calibration"]),
    ("packetdrill", &["files"]),
    ("petri", &["file"]),
    ("population", &["file"]),
    ("qlog", &["files"]),
    ("query", &["studies"]),
    ("simulate", &["file"]),
    ("sort", &["input"]),
    ("summary", &["study", "beside"]),
];

const CAPTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);

const SCENARIO: &str = "[run]\nduration = \"20 ms\"\n[[flow]]\nsize = \"10 kB\"\n[[forward]]\nname = \"line\"\n\
                        kind = \"delay\"\ndelay = \"1 ms\"\n[[reverse]]\nkind = \"delay\"\ndelay = \"1 ms\"\n";

const NET: &str = "net n\nplace p 1\ntransition t exponential rate 1\n in p\n out p\n";

const COLOURED: &str = "coloured net c\nplace p 1\ntransition t\n in p\n delay 1 us\n out p\n\
                        run 10 us\nmeasure busy = busy(t)\n";

const LOG: &str = r#"{"qlog_version":"0.3","traces":[{"events":[
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1}}}]}]}"#;

/// A text of the user.
const FOREIGN: &[u8] = b"Chapter 1\n\nIt was a dark and stormy night.\n";

/// A folder that is deleted when this value is dropped.
struct Folder(PathBuf);

impl Folder {
    /// `test` tells the folders of two tests apart.
    fn new(test: &str) -> Self {
        let name = format!("inorder-outputs-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        fs::copy(CAPTURE, path.join("in.pcap")).unwrap();
        fs::write(path.join("s.toml"), SCENARIO).unwrap();
        fs::write(path.join("n.net"), NET).unwrap();
        fs::write(path.join("c.net"), COLOURED).unwrap();
        fs::write(path.join("log.qlog"), LOG).unwrap();
        Folder(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a verb needs besides the output, which is that of the option `output`.
fn needed(verb: &str, output: &str, folder: &Folder) -> Vec<String> {
    let fixed = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    match verb {
        "analyze" | "sort" => vec![folder.path("in.pcap")],
        "compare" | "diff" => vec![folder.path("in.pcap"), folder.path("in.pcap")],
        "qlog" => vec![folder.path("log.qlog")],
        "campaign" => vec![
            folder.path("s.toml"),
            format!("--out={}", folder.path("study")),
        ],
        "simulate" => vec![folder.path("s.toml")],
        "lab" => vec![folder.path("s.toml"), "--beside-simulation".to_owned()],
        "petri" => vec![folder.path(match output {
            "csv" | "parquet" | "html" => "c.net",
            _ => "n.net",
        })],
        "netproc" => fixed(&["--packets=2000"]),
        "reproduce" => fixed(&["network-processor", "table-1", "--quick"]),
        "man" => Vec::new(),
        other => panic!("{other} writes a file: say here what else it needs"),
    }
}

/// Every argument of every verb that takes a path, with the words that name the verb.
fn paths(command: &Command, verb: &[String]) -> Vec<(Vec<String>, Arg)> {
    let is_path = |arg: &&Arg| arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let own = command.get_arguments().filter(is_path);
    let mut all: Vec<_> = own.map(|arg| (verb.to_vec(), arg.clone())).collect();
    for inner in command.get_subcommands() {
        let words = [verb, &[inner.get_name().to_owned()]].concat();
        all.extend(paths(inner, &words));
    }
    all
}

fn is_input(verb: &[String], arg: &Arg) -> bool {
    let mut of_verb = INPUTS
        .iter()
        .filter(|(name, _)| verb.iter().any(|word| word == name));
    of_verb.any(|(_, inputs)| inputs.contains(&arg.get_id().as_str()))
}

/// Runs a verb that writes to `target`.
fn write(verb: &[String], arg: &Arg, folder: &Folder, target: &str) -> Result<ExitCode, CliError> {
    let output = match arg.get_long() {
        Some(long) => format!("--{long}={target}"),
        None => target.to_owned(),
    };
    let words = ["inorder".to_owned()]
        .into_iter()
        .chain(verb.iter().cloned());
    let words = words
        .chain(needed(&verb[0], arg.get_id().as_str(), folder))
        .chain([output]);
    let words: Vec<String> = words.collect();
    let cli = Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    cli.verb.run(Cli::command)
}

fn is_capture(bytes: &[u8]) -> bool {
    [
        &b"\xd4\xc3\xb2\xa1"[..],
        b"\x4d\x3c\xb2\xa1",
        b"\x0a\x0d\x0d\x0a",
    ]
    .iter()
    .any(|magic| bytes.starts_with(magic))
}

/// The files that an option wrote into the folder or file `target`.
fn written(target: &Path) -> Vec<PathBuf> {
    if target.is_file() {
        return vec![target.to_owned()];
    }
    let entries = fs::read_dir(target)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.collect();
    files.sort();
    files
}

/// For a verb that this test cannot let do its work, because it needs a machine: only puts files of the user in the place
/// of what it would write.
fn try_refusals(verb: &[String], arg: &Arg, folder: &Folder) {
    let target = folder.path("target");
    let inside: &[&str] = match arg.get_id().as_str() {
        "parquet" => &["runs.parquet", "samples.parquet"],
        "pcap" => &["s.snd.pcap", "s.rcv.pcap"],
        _ => &[],
    };
    let files = inside.iter().map(|name| Path::new(&target).join(name));
    let files: Vec<PathBuf> = match inside {
        [] => vec![PathBuf::from(&target)],
        _ => {
            fs::create_dir_all(&target).unwrap();
            files.collect()
        }
    };
    for file in &files {
        for content in [FOREIGN, &fs::read(CAPTURE).unwrap()] {
            fs::write(file, content).unwrap();
            let refused = matches!(write(verb, arg, folder, &target), Err(CliError::Usage(_)));
            assert!(
                refused,
                "{verb:?} {} would replace {}",
                arg.get_id(),
                file.display()
            );
            assert!(fs::read(file).unwrap() == content);
        }
        fs::remove_file(file).unwrap();
    }
    let _ = fs::remove_dir_all(&target);
}

/// Writes once, then puts files of the user in the place of what was written.
fn try_option(verb: &[String], arg: &Arg, folder: &Folder) {
    let name = format!("{} {}", verb.join(" "), arg.get_id());
    let target = folder.path("target");
    let run = || write(verb, arg, folder, &target);
    run().unwrap_or_else(|error| panic!("{name}: {error}"));
    let files = written(Path::new(&target));
    assert!(!files.is_empty(), "{name} wrote nothing");
    let captures = files
        .iter()
        .any(|file| is_capture(&fs::read(file).unwrap()));
    // What we wrote is written again, except captures, which nobody can record again.
    assert_eq!(run().is_ok(), !captures, "{name}, again");
    let capture = fs::read(CAPTURE).unwrap();
    for file in &files {
        let ours = fs::read(file).unwrap();
        for (content, may_force) in [(FOREIGN, true), (&capture, false)] {
            fs::write(file, content).unwrap();
            for force in [false, true] {
                if force && may_force {
                    continue;
                }
                manners::FORCE.set(force);
                let refused = matches!(run(), Err(CliError::Usage(_)));
                manners::FORCE.set(false);
                assert!(refused, "{name} would replace {}", file.display());
                assert!(
                    fs::read(file).unwrap() == content,
                    "{name} replaced {}",
                    file.display()
                );
            }
        }
        if !captures {
            fs::write(file, FOREIGN).unwrap();
            manners::FORCE.set(true);
            let forced = run();
            manners::FORCE.set(false);
            assert!(
                forced.is_ok() && fs::read(file).unwrap() != FOREIGN,
                "{name} --force"
            );
        }
        fs::write(file, ours).unwrap();
    }
    let input = fs::read(folder.path("in.pcap")).unwrap();
    assert!(input == capture, "{name} changed its input");
    let _ = fs::remove_file(&target);
    let _ = fs::remove_dir_all(&target);
}

#[test]
fn no_output_harms_a_capture_or_a_file_that_is_not_ours() {
    let quiet = Cli::try_parse_from(["inorder", "-q", "man"]);
    quiet
        .unwrap_or_else(|error| panic!("{error}"))
        .manners
        .apply();
    let folder = Folder::new("all");
    let all = paths(&Cli::command(), &[]);
    let outputs: Vec<_> = all
        .iter()
        .filter(|(verb, arg)| !is_input(verb, arg))
        .collect();
    // 4 of analyze, parquet left out; a list that suddenly is short means that this test no longer finds them.
    assert!(outputs.len() >= 18, "{outputs:#?}");
    for (verb, arg) in outputs {
        match verb[0].as_str() {
            "lab" => try_refusals(verb, arg, &folder),
            // The folder of a study, to which nothing of the user's belongs: see the next test.
            "campaign" | "corpus" | "population" if arg.get_id() == "out" => {}
            // The Python package writes these.
            "query" | "summary" => {}
            // It needs an interface and privileges before it writes anything. It creates its files as all others do.
            "watch" => {}
            _ => try_option(verb, arg, &folder),
        }
    }
}

#[test]
fn a_study_does_not_begin_in_a_folder_that_has_another_plan() {
    let folder = Folder::new("study");
    fs::create_dir(folder.path("study")).unwrap();
    let plan = folder.path("study/study.json");
    for content in [FOREIGN, &fs::read(CAPTURE).unwrap()] {
        fs::write(&plan, content).unwrap();
        for verb in ["campaign", "corpus"] {
            let input = folder.path(if verb == "corpus" {
                "in.pcap"
            } else {
                "s.toml"
            });
            let out = format!("--out={}", folder.path("study"));
            let cli = Cli::try_parse_from(["inorder", verb, &input, &out])
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(cli.verb.run(Cli::command).is_err(), "{verb}");
            assert!(fs::read(&plan).unwrap() == content, "{verb}");
        }
    }
}

#[test]
fn every_input_exists() {
    let all = paths(&Cli::command(), &[]);
    for (verb, inputs) in INPUTS {
        for input in *inputs {
            let found = all
                .iter()
                .any(|(words, arg)| words[0] == *verb && arg.get_id() == input);
            assert!(found, "{verb} {input}");
        }
    }
}

/// All files are created by this module, so that no other way around these checks exists.
#[test]
fn no_other_module_creates_files() {
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => sources(&path, found),
                false => found.push(path),
            }
        }
    }
    let mut found = Vec::new();
    sources(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")),
        &mut found,
    );
    assert!(found.len() > 40);
    for path in found
        .iter()
        .filter(|path| !path.to_string_lossy().contains("outputs"))
    {
        let text = fs::read_to_string(path).unwrap();
        for way in [
            "File::create",
            "fs::write",
            "OpenOptions",
            "fs::copy",
            "fs::rename",
        ] {
            assert!(!text.contains(way), "{} uses {way}", path.display());
        }
    }
}
