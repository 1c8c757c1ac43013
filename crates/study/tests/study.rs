//! Studies that are interrupted, that go on, and whose captures are damaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use inorder_study::{Campaign, Corpus, Job, Population, Progress, Study, list};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const SCENARIO: &str = r#"
title = "jitter"
[run]
duration = "200 ms"
repetitions = 3
[[flow]]
[[forward]]
kind = "link"
rate = "20 Mbit/s"
[[forward]]
kind = "delay"
delay = "5 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
[grid]
"forward.1.jitter" = ["0 ms", "0.5 ms", "2 ms"]
"#;

const POPULATION: &str = r#"
connections = 12
seed = 3
[[network]]
labels = { operator = "one" }
draw."forward.late.probability" = { uniform = [1, 3], unit = "%" }
draw."forward.0.rate" = { lognormal = 5.0, sigma = 0.3, unit = "Mbit/s" }
[[network]]
labels = { operator = "two" }
draw."forward.late.probability" = { constant = 0, unit = "%" }
draw."forward.0.rate" = { constant = 2.5, unit = "Mbit/s" }
[scenario.run]
duration = "1 s"
[[scenario.flow]]
[[scenario.forward]]
kind = "link"
rate = "10 Mbit/s"
queue = "100 packets"
[[scenario.forward]]
kind = "delay"
delay = "10 ms"
[[scenario.forward]]
name = "late"
kind = "late"
probability = "0 %"
delay = "15 ms"
[[scenario.reverse]]
kind = "delay"
delay = "10 ms"
"#;

fn campaign() -> Job {
    Job::Campaign(Campaign {
        scenario: SCENARIO.to_owned(),
        file: "jitter.toml".to_owned(),
        set: Vec::new(),
        seed: None,
        repetitions: None,
        quick: false,
    })
}

fn go() -> Arc<AtomicBool> {
    Arc::default()
}

/// Every result of a study: the bytes of each file by its name.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_owned();
                    all.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    all
}

fn rows(path: &Path) -> usize {
    let file = fs::File::open(path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    builder
        .build()
        .unwrap()
        .map(|batch| batch.unwrap().num_rows())
        .sum()
}

/// Asks for the end after some tasks.
struct Impatient {
    stop: Arc<AtomicBool>,
    after: usize,
    seen: AtomicUsize,
}

impl Progress for Impatient {
    fn at(&self, done: usize, _all: usize) {
        self.seen.store(done, Ordering::Relaxed);
        if done >= self.after {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn an_interrupted_campaign_goes_on_and_has_the_files_of_an_undisturbed_one() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    let study = Study::begin(&whole, campaign(), Vec::new(), 2).unwrap();
    assert!(study.run(2, &(), &(), &go()).unwrap().is_complete());

    let stop = go();
    let impatient = Impatient {
        stop: stop.clone(),
        after: 2,
        seen: AtomicUsize::new(0),
    };
    let study = Study::begin(&broken, campaign(), Vec::new(), 2).unwrap();
    let tally = study.run(1, &(), &impatient, &stop).unwrap();
    assert_eq!(
        (tally.tasks, tally.done, tally.items, tally.items_done),
        (5, 2, 9, 4)
    );
    // What a killed process leaves half-written.
    fs::write(broken.join("tmp/part-killed"), b"half").unwrap();
    drop(study);

    let study = Study::begin(&broken, campaign(), Vec::new(), 2).unwrap();
    assert_eq!(study.todo(), [2, 3, 4]);
    assert!(study.run(1, &(), &(), &go()).unwrap().is_complete());
    assert_eq!(files(&broken), files(&whole));
    // A task that runs again, as after a scheduler that lost count, leaves the same files.
    study.run_task(1, &(), &go()).unwrap();
    assert_eq!(files(&broken), files(&whole));
}

#[test]
fn results_read_back_are_those_of_a_simulation_in_memory() {
    use inorder_sim::{Changes, Own, cells, run_cells};
    let folder = tempfile::tempdir().unwrap();
    let study = Study::begin(folder.path(), campaign(), Vec::new(), 4).unwrap();
    study.run(2, &(), &(), &go()).unwrap();
    let (title, read) = study.cells().unwrap();
    let (_, cells) = cells(
        SCENARIO,
        "jitter.toml",
        &Changes::default(),
        &Own::default(),
    )
    .unwrap();
    let campaign = inorder_sim::Campaign {
        repetitions: 0,
        threads: 1,
        progress: &(),
        stop: &AtomicBool::new(false),
    };
    let memory = run_cells(&cells, &campaign, &Own::default(), false).unwrap();
    assert_eq!(title, "jitter");
    assert_eq!(read.len(), 3);
    for (read, memory) in read.iter().zip(&memory.cells) {
        assert_eq!(read.labels, memory.labels);
        assert_eq!(read.seeds, memory.seeds);
        assert_eq!(read.values, memory.values);
    }
}

#[test]
fn a_folder_has_one_study_and_one_process_works_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("study");
    let study = Study::begin(&root, campaign(), Vec::new(), 2).unwrap();
    let problem = |job| {
        Study::begin(&root, job, Vec::new(), 2)
            .unwrap_err()
            .to_string()
    };
    assert!(
        problem(campaign()).contains("another process"),
        "{}",
        problem(campaign())
    );
    drop(study);
    let other = Job::Campaign(Campaign {
        seed: Some(7),
        ..match campaign() {
            Job::Campaign(campaign) => campaign,
            _ => unreachable!("it is one"),
        }
    });
    assert!(problem(other).contains("asked for something else"));
    fs::write(folder.path().join("thesis.txt"), b"mine").unwrap();
    let strange = Study::begin(folder.path(), campaign(), Vec::new(), 2);
    assert!(
        strange
            .unwrap_err()
            .to_string()
            .contains("files of something else")
    );
    assert!(
        Study::open(folder.path())
            .unwrap_err()
            .to_string()
            .contains("no study here")
    );
}

#[test]
fn a_population_is_captured_analysed_and_damaged_captures_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (made, study) = (folder.path().join("made"), folder.path().join("study"));
    let population = Population::parse(POPULATION, "population.toml").unwrap();
    let begun = Study::begin(&made, Job::Population(population), Vec::new(), 5).unwrap();
    let tally = begun.run(2, &(), &(), &go()).unwrap();
    assert_eq!((tally.tasks, tally.items_done), (3, 12));
    assert_eq!(rows(&made.join("connections/task=000002/part.parquet")), 2);
    assert!(rows(&made.join("truth/task=000000/part.parquet")) > 0);

    let captures = made.join("captures");
    let places = [captures.to_str().unwrap().to_owned()];
    let third = captures.join("000003.pcapng.zst");
    let bytes = zstd::decode_all(fs::File::open(&third).unwrap()).unwrap();
    fs::remove_file(third).unwrap();
    fs::write(captures.join("000003.pcapng"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(
        captures.join("notes.pcap"),
        b"this is no capture, but its name says so",
    )
    .unwrap();
    let corpus = || Job::Corpus(Corpus::default());
    let begun = Study::begin(&study, corpus(), list(&places).unwrap().captures, 0).unwrap();
    // It changes between the plan and the task.
    fs::write(captures.join("000005.pcapng.zst"), b"something else").unwrap();
    fs::remove_file(captures.join("000006.pcapng.zst")).unwrap();
    let tally = begun.run(1, &(), &(), &go()).unwrap();
    assert!(tally.is_complete());
    assert_eq!(tally.items, 13);
    assert_eq!(rows(&study.join("errors/task=000000/part.parquet")), 4);
    // The nine whole ones, and what came before the damage.
    assert_eq!(rows(&study.join("files/task=000000/part.parquet")), 10);
    drop(begun);

    // The changed capture is refused; a new one becomes a further task.
    let again = Study::begin(&study, corpus(), list(&places).unwrap().captures, 0);
    assert!(
        again
            .unwrap_err()
            .to_string()
            .contains("this capture changed")
    );
    fs::remove_file(captures.join("000005.pcapng.zst")).unwrap();
    fs::copy(
        captures.join("000001.pcapng.zst"),
        captures.join("new.pcapng.zst"),
    )
    .unwrap();
    let begun = Study::begin(&study, corpus(), list(&places).unwrap().captures, 0).unwrap();
    assert_eq!((begun.todo(), begun.tally().items), (vec![1], 14));
}
