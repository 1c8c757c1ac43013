//! What must be true of every analysis, whatever the capture and whatever the endpoints: held against what the capture
//! shows by itself, for every capture there is and for drawn ones.
//!
//! Every run tries the same drawn captures; `INVARIANT_CASES=20000 cargo test -p inorder-analysis --test it invariants::drawn`
//! tries new ones. Captures outside of the repository are tried where `../shared` has them, or `$INORDER_SHARED`.

mod drawn;
mod known;
#[allow(dead_code)] // Of the truth that it knows nothing is used here.
#[path = "../../../../detect/tests/it/forward/model.rs"]
mod model;
mod outputs;
mod reader;
mod rules;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use inorder_analysis::Analysis;
use inorder_pipeline::{Analyzer, Config, Input, Selection, Sink, Unwatched, consume};
use inorder_wire::{Dir, FlowKey, Numbered, Segment, StreamKey};
use proptest::test_runner::{Config as Runs, RngSeed, TestCaseError, TestError, TestRunner};

use known::KNOWN;
use reader::Reader;
use rules::{Case, Failures};

/// Of a larger capture only the beginning is read: all of them take less than a minute.
const MAX_BYTES: u64 = 1 << 20;
const DRAWN: u32 = 1_500;

impl Sink for Reader {
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.read(key, dir, segment);
    }
    fn numbered(&mut self, _: StreamKey, _: &Numbered) {}
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files below a folder, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut entries: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// Captures with the names by which they are known.
fn captures() -> Vec<(String, PathBuf)> {
    let shared = std::env::var_os("INORDER_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let folders = [
        ("testdata", root().join("testdata")),
        ("../shared/captures", shared.join("captures")),
        ("../shared/cases-turn3", shared.join("cases-turn3")),
    ];
    let mut all = Vec::new();
    for (name, folder) in folders {
        let mut found = Vec::new();
        files(&folder, &mut found);
        if found.is_empty() {
            eprintln!("skipped: no captures in {name}");
        }
        for path in found {
            let inside = path
                .strip_prefix(&folder)
                .expect("below it")
                .to_str()
                .expect("text");
            let kinds = ["pcap", "pcapng", "dmp", "dump", "trace"];
            let plain = inside.strip_suffix(".gz").unwrap_or(inside);
            if kinds
                .iter()
                .any(|kind| plain.ends_with(&format!(".{kind}")))
            {
                all.push((format!("{name}/{inside}"), path));
            }
        }
    }
    all
}

/// The beginning of a file.
fn input(path: &Path) -> Input {
    let file = File::open(path).expect("a file");
    Input::reader("capture", file.take(MAX_BYTES))
}

/// The analysis and what the capture shows; nothing if it is none.
fn analyse(path: &Path) -> Option<(Analysis, Reader)> {
    let config = Config::default().keep_events(true).what_if(false);
    let analysis = match Analyzer::new().config(config).run(input(path)) {
        Ok(whole) => whole,
        Err(error) => error.into_parts().0?,
    };
    let everything = Selection::default();
    let consumed = consume(
        input(path),
        &everything,
        1,
        Arc::new(Unwatched),
        Reader::default,
    );
    Some((analysis, consumed.ok()?.sinks.pop()?))
}

fn check(analysis: &Analysis, reader: &Reader) -> Failures {
    let mut failures = Failures::new();
    outputs::check(analysis, &mut failures);
    let key = |of: &inorder_detect::FlowId| {
        let (key, dir) = FlowKey::new(of.src.into(), of.dst.into(), of.overlay);
        (reader::of_both_ways(&key), dir)
    };
    // Which packets belong to which of several connections is a question of its own.
    let several = analysis.flows.iter().filter(|flow| flow.flow.reuse > 0);
    let several: BTreeSet<FlowKey> = several.map(|flow| key(&flow.flow).0).collect();
    let single = |key: &FlowKey| {
        let ways = reader.ways.get(key);
        ways.is_some_and(|ways| ways.iter().all(|w| w.initial.len() < 2)) && !several.contains(key)
    };
    let mut reported = BTreeSet::new();
    for flow in &analysis.flows {
        let (key, dir) = key(&flow.flow);
        reported.insert((key, dir.index()));
        if single(&key) {
            let way = &reader.ways[&key][dir.index()];
            Case {
                flow,
                way,
                reader,
                failures: &mut failures,
            }
            .check();
        }
    }
    for (key, ways) in reader.ways.iter().filter(|(key, _)| single(key)) {
        for (dir, way) in ways.iter().enumerate() {
            if !way.data.is_empty() && !reported.contains(&(*key, dir)) {
                failures.insert(
                    "every direction with data is reported",
                    format!("{key:?} {dir}"),
                );
            }
        }
    }
    failures
}

/// What differs between the rules that fail and those that are known to.
fn differences(name: &str, failures: &Failures) -> Vec<String> {
    let known: BTreeSet<&str> = KNOWN.iter().filter(|k| k.0 == name).map(|k| k.1).collect();
    let new = failures.iter().filter(|(rule, _)| !known.contains(*rule));
    let new = new.map(|(rule, example)| format!("{name}: not so: {rule}\n    {example}"));
    let mended = known.iter().filter(|rule| !failures.contains_key(*rule));
    let mended = mended.map(|rule| format!("{name}: holds now, remove it from KNOWN: {rule}"));
    new.chain(mended).collect()
}

#[test]
fn every_capture_there_is() {
    let captures = captures();
    assert!(captures.len() > 200, "{} captures", captures.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((name, path)) = captures.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some((analysis, reader)) = analyse(path) else {
                        continue;
                    };
                    let found = differences(name, &check(&analysis, &reader));
                    wrong.lock().unwrap().insert(name, found);
                }
            });
        }
    });
    let wrong: Vec<String> = wrong
        .into_inner()
        .unwrap()
        .into_values()
        .flatten()
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names: BTreeSet<&str> = captures.iter().map(|c| c.0.as_str()).collect();
    for (name, rule) in KNOWN {
        let away = *name == "drawn" || name.starts_with("../shared");
        assert!(
            away || names.contains(name),
            "no such capture: {name}: {rule}"
        );
    }
}

#[test]
fn drawn_captures() {
    let asked = std::env::var("INVARIANT_CASES").ok();
    let asked: Option<u32> = asked.and_then(|n| n.parse().ok());
    let runs = Runs {
        cases: asked.unwrap_or(DRAWN),
        rng_seed: asked.map_or(RngSeed::Fixed(1), |_| RngSeed::Random),
        failure_persistence: None,
        ..Runs::default()
    };
    let all = RefCell::new(Failures::new());
    let tried = TestRunner::new(runs).run(&drawn::captures(), |(path, defects)| {
        let (analysis, reader) = drawn::analyse(&path, &defects);
        let failures = check(&analysis, &reader);
        all.borrow_mut().extend(failures.clone());
        let new = failures
            .iter()
            .find(|(rule, _)| !KNOWN.contains(&("drawn", rule)));
        match new {
            Some((rule, example)) => Err(TestCaseError::fail(format!("{rule}: {example}"))),
            None => Ok(()),
        }
    });
    if let Err(TestError::Fail(why, example)) = tried {
        panic!("{why}\n{example:?}");
    }
    let wrong = differences("drawn", &all.into_inner());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
