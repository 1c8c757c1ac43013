//! The profiles `ns-3.26` and `ns-3.27` beside runs of those versions with Levasseur's CUBIC, on a bottleneck that reorders
//! periodically. The reference is a table of such runs (`reference/targets/periodic-old-ns3.csv` beside the repository, or
//! below `INORDER_SHARED`); without it the comparison is skipped, and what follows from the versions' source is tested alone.

use std::collections::BTreeMap;
use std::path::Path;

use inorder_scenario::Scenario;
use inorder_sim::{registries, run};

/// Shares of rows that must agree: goodput within 10 %, recoveries within 20 %.
const GOODPUT: (f64, f64) = (0.10, 0.80);
const RECOVERIES: (f64, f64) = (0.20, 0.80);

/// Rows of the table for those who do not have it: version, control, RI, goodput in Mbit/s, recoveries.
const KNOWN: [(&str, &str, u64, f64, f64); 8] = [
    ("3.26", "Cubic", 8, 4.7888, 25.0),
    ("3.26", "Cubic", 80, 4.8745, 4.0),
    ("3.26", "NewReno", 8, 6.2252, 70.0),
    ("3.26", "NewReno", 30, 7.5342, 9.0),
    ("3.27", "Cubic", 8, 4.7748, 18.0),
    ("3.27", "Cubic", 80, 9.0275, 8.0),
    ("3.27", "NewReno", 8, 5.1252, 49.0),
    ("3.27", "NewReno", 30, 8.4131, 7.0),
];

/// Version, control and RI.
type Key = (String, String, u64);

/// Goodput, Mbit/s, and recoveries.
type Row = (f64, f64);

fn scenario() -> Scenario {
    let text = include_str!("../../../../validation/ns3/older.toml");
    Scenario::load(text, "older.toml", &registries()).unwrap()
}

fn ours(wanted: impl Fn(&Key) -> bool) -> BTreeMap<Key, Row> {
    let mut rows = BTreeMap::new();
    for cell in scenario().cells().unwrap() {
        let label = |axis| cell.label(axis).unwrap().to_owned();
        let interval = label("forward.bottleneck.interval").parse().unwrap();
        let key = (label("ns3"), label("control"), interval);
        if !wanted(&key) {
            continue;
        }
        let result = run(&cell.config, 1).unwrap();
        let flow = &result.flows[0];
        let goodput = flow.throughput_bits_per_s() / 1e6;
        rows.insert(key, (goodput, flow.counts.recoveries as f64));
    }
    rows
}

/// The rows of the table: version (the first four characters of its first column), control, RI, goodput, recoveries.
fn theirs(text: &str) -> BTreeMap<Key, Row> {
    let row = |line: &str| {
        let (settings, rest) = line.strip_prefix('"')?.split_once("\",")?;
        let fields: Vec<&str> = rest.split(',').collect();
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        let key = (
            settings[..4].to_owned(),
            fields[0].to_owned(),
            fields[1].parse().unwrap(),
        );
        Some((key, (number(2), number(3))))
    };
    text.lines().filter_map(row).collect()
}

fn near(ours: f64, theirs: f64, within: f64) -> bool {
    (ours - theirs).abs() <= within * theirs
}

#[test]
fn single_rows_are_those_of_the_old_versions() {
    let known = |key: &Key| {
        KNOWN
            .iter()
            .any(|k| (k.0, k.1, k.2) == (&*key.0, &*key.1, key.2))
    };
    let ours = ours(known);
    for (version, control, interval, goodput, recoveries) in KNOWN {
        let key = (version.to_owned(), control.to_owned(), interval);
        let (our_goodput, our_recoveries) = ours[&key];
        assert!(
            near(our_goodput, goodput, GOODPUT.0),
            "{key:?}: {our_goodput}"
        );
        assert!(
            near(our_recoveries, recoveries, RECOVERIES.0),
            "{key:?}: {our_recoveries}"
        );
    }
}

#[test]
fn goodput_and_recoveries_are_those_of_the_old_versions() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned();
    let root = std::env::var("INORDER_SHARED").unwrap_or(beside);
    let path = Path::new(&root).join("reference/targets/periodic-old-ns3.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there (INORDER_SHARED)", path.display());
        return;
    };
    let theirs = theirs(&text);
    let ours = ours(|_| true);
    let (mut goodput, mut recoveries) = (0, 0);
    for (key, theirs) in &theirs {
        let ours = ours[key];
        let good = (
            near(ours.0, theirs.0, GOODPUT.0),
            near(ours.1, theirs.1, RECOVERIES.0),
        );
        goodput += usize::from(good.0);
        recoveries += usize::from(good.1);
        println!(
            "{} {:7} {:3}  {:7.4} {:7.4} {}  {:3} {:3} {}",
            key.0,
            key.1,
            key.2,
            theirs.0,
            ours.0,
            if good.0 { ' ' } else { '*' },
            theirs.1,
            ours.1,
            if good.1 { ' ' } else { '*' }
        );
    }
    let share = |count: usize| count as f64 / theirs.len() as f64;
    println!(
        "goodput within 10 %: {goodput}, recoveries within 20 %: {recoveries}, of {} rows",
        theirs.len()
    );
    assert!(share(goodput) >= GOODPUT.1 && share(recoveries) >= RECOVERIES.1);
}
