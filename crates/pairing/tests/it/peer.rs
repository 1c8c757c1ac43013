//! Every pair of captures of the recording lab against what the lab's own tool, written apart
//! from this one, says of it (`testdata/lab/truth`).
//!
//! Truth files that do not tell refused originals apart call them reordered, and their
//! retransmissions spurious: there the sums are compared.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use inorder_capture::{Block, Capture};
use inorder_detect::{Config, FlowReport, Kind, Tracker, Vantage};
use inorder_pairing::{FlowTruth, PeerFlow, PeerRecorder, PeerReport, compare};
use inorder_wire::{Packet, parse};
use serde_json::Value;

/// `(kind, offset, length, extent, late time in nanoseconds)`.
type Told = (String, u64, u64, Option<u64>, Option<i64>);

fn read(path: &Path) -> (PeerRecorder, Vec<FlowReport>) {
    let mut capture = Capture::open(path).expect("a capture of the lab");
    let mut recorder = PeerRecorder::new();
    let mut tracker = Tracker::new(Config::default().keep_events(true).what_if(false));
    let mut block = Block::default();
    while capture.read_block(&mut block).expect("a whole capture") {
        for frame in block.frames() {
            if let Packet::Tcp(key, dir, segment) = &parse(&frame) {
                recorder.push(key, *dir, segment);
                tracker.push(key, *dir, segment);
            }
        }
    }
    (recorder, tracker.finish())
}

/// Flow by flow what the lab's tool says: counts by name, and events.
fn lab_truth(path: &Path) -> Vec<(String, BTreeMap<String, u64>, Vec<Told>)> {
    let file = File::open(path).expect("the lab's truth");
    let gz = path.extension().is_some_and(|e| e == "gz");
    let json: Value = if gz {
        serde_json::from_reader(GzDecoder::new(file))
    } else {
        serde_json::from_reader(file)
    }
    .expect("JSON");
    let flows = json["flows"].as_array().cloned().unwrap_or_default();
    flows.iter().map(lab_flow).collect()
}

fn lab_flow(flow: &Value) -> (String, BTreeMap<String, u64>, Vec<Told>) {
    let mut counts = BTreeMap::new();
    for name in [
        "data_packets",
        "reordered",
        "losses",
        "undecided",
        "network_duplicates",
        "unmatched",
    ] {
        counts.insert(name.to_owned(), flow[name].as_u64().expect("a count"));
    }
    if let Some(refused) = flow["refused"].as_u64() {
        counts.insert("refused".to_owned(), refused);
    }
    for (name, n) in flow["retransmissions"].as_object().expect("counts") {
        counts.insert(
            format!("retransmissions {name}"),
            n.as_u64().expect("a count"),
        );
    }
    // A retransmission of what the receiver refused is needed; newer truth files say both.
    let refused = counts.remove("retransmissions refused").unwrap_or(0);
    *counts
        .entry("retransmissions needed".to_owned())
        .or_default() += refused;
    let events = flow["events"].as_array().expect("events");
    let mut told: Vec<Told> = events
        .iter()
        .filter(|e| e["kind"] != "undecided")
        .map(|e| {
            let late = e["late_ms"].as_f64().map(|ms| (ms * 1e6).round() as i64);
            let kind = e["kind"].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| e[name].as_u64();
            let (offset, len) = (number("seq_offset"), number("len"));
            (
                kind,
                offset.unwrap_or(0),
                len.unwrap_or(0),
                number("extent"),
                late,
            )
        })
        .collect();
    told.sort();
    (
        flow["flow"].as_str().unwrap_or_default().to_owned(),
        counts,
        told,
    )
}

/// Folds what was refused into what a truth file without that category calls it.
fn without_refused(counts: &mut BTreeMap<String, u64>, events: &mut [Told]) {
    let refused = counts.remove("refused").unwrap_or(0);
    *counts.entry("reordered".to_owned()).or_default() += refused;
    let spurious = counts.remove("retransmissions spurious").unwrap_or(0);
    counts.remove("retransmissions spurious_original");
    *counts
        .entry("retransmissions needed".to_owned())
        .or_default() += spurious;
    for event in events.iter_mut().filter(|event| event.0 == "refused") {
        event.0 = "reordered".to_owned();
    }
    events.sort();
}

fn counts(truth: &FlowTruth) -> BTreeMap<String, u64> {
    let r = &truth.retransmissions;
    [
        ("data_packets", truth.data_packets),
        ("reordered", truth.reordering.reordered),
        ("losses", truth.losses),
        ("refused", truth.refused),
        ("undecided", truth.undecided),
        ("network_duplicates", truth.network_duplicates),
        ("unmatched", truth.unmatched),
        ("retransmissions total", r.total),
        ("retransmissions needed", r.needed),
        ("retransmissions spurious", r.spurious),
        ("retransmissions spurious_original", truth.spurious_original),
        ("retransmissions undecided", r.ambiguous),
    ]
    .map(|(name, n)| (name.to_owned(), n))
    .into()
}

fn events(truth: &FlowTruth) -> Vec<Told> {
    let mut told: Vec<Told> = truth
        .events
        .iter()
        .map(|e| {
            let kind = match e.kind {
                Kind::Reordered => "reordered",
                Kind::Lost => "lost",
                Kind::Refused => "refused",
                other => panic!("an event of a kind that the lab does not know: {other:?}"),
            };
            let extent = e.extent.map(u64::from);
            (
                kind.to_owned(),
                e.seq_offset,
                u64::from(e.len),
                extent,
                e.late_ns,
            )
        })
        .collect();
    told.sort();
    told
}

/// Where `report` and the lab's truth differ, in words.
fn disagreements(name: &str, report: &PeerReport, lab: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut ours: BTreeMap<String, &FlowTruth> = report
        .flows
        .iter()
        .map(|f| (f.flow.to_string(), &f.truth))
        .collect();
    for (flow, mut lab_counts, mut lab_events) in lab_truth(lab) {
        let Some(truth) = ours.remove(&flow) else {
            found.push(format!("{name} {flow}: missing"));
            continue;
        };
        let (mut own_counts, mut own) = (counts(truth), events(truth));
        if truth.refused > 0 && !lab_counts.contains_key("refused") {
            without_refused(&mut own_counts, &mut own);
            without_refused(&mut lab_counts, &mut lab_events);
        }
        for (what, n) in own_counts {
            let lab_n = lab_counts.get(&what).copied().unwrap_or(0);
            if n != lab_n {
                found.push(format!("{name} {flow}: {what} {n}, lab {lab_n}"));
            }
        }
        if own != lab_events {
            let differ = |a: &[Told], b: &[Told]| {
                a.iter()
                    .filter(|e| !b.contains(e))
                    .take(3)
                    .cloned()
                    .collect::<Vec<_>>()
            };
            let (extra, absent) = (differ(&own, &lab_events), differ(&lab_events, &own));
            found.push(format!("{name} {flow}: events {extra:?}, lab {absent:?}"));
        }
    }
    found.extend(
        ours.keys()
            .map(|flow| format!("{name} {flow}: not in the lab's truth")),
    );
    found
}

/// Pairs of captures in `dir` with their truth.
fn pairs(dir: &Path) -> Vec<(String, [PathBuf; 3])> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).expect("captures") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some((name, gz)) = name
            .strip_suffix(".truth.json.gz")
            .map(|n| (n.to_owned(), ".gz"))
            .or_else(|| Some((name.strip_suffix(".truth.json")?.to_owned(), "")))
        else {
            continue;
        };
        let end = |end: &str| dir.join(format!("{name}.{end}.pcap{gz}"));
        // What is lost before the sender's capture, neither capture shows as sent.
        if end("snd").exists() && !name.starts_with("before-tap") {
            all.push((name.clone(), [end("snd"), end("rcv"), path]));
        }
    }
    all.sort();
    all
}

/// The pairs of the repository; others if a folder is named in `INORDER_CAPTURES`.
fn all_pairs() -> Vec<(String, [PathBuf; 3])> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    match std::env::var_os("INORDER_CAPTURES") {
        Some(folder) => pairs(Path::new(&folder)),
        None => [pairs(&data.join("captures")), pairs(&data.join("kinds"))].concat(),
    }
}

#[test]
fn every_pair_of_the_lab_agrees_with_the_labs_own_truth_whichever_comes_first() {
    let mut found = Vec::new();
    let all = all_pairs();
    assert!(all.len() > 10, "only {} pairs", all.len());
    for (name, [sender, receiver, lab]) in &all {
        let (snd, snd_flows) = read(sender);
        let (rcv, rcv_flows) = read(receiver);
        for (here, there, flows) in [(&snd, &rcv, &snd_flows), (&rcv, &snd, &rcv_flows)] {
            let report = compare(here, there, flows);
            found.extend(disagreements(name, &report, lab));
            assert!(
                report.only_here.is_empty() && report.only_there.is_empty(),
                "{name}"
            );
            summary(name, &report);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// One line to read with `--nocapture`.
fn summary(name: &str, report: &PeerReport) {
    let sum = |f: &dyn Fn(&PeerFlow) -> u64| report.flows.iter().map(f).sum::<u64>();
    let senders = report
        .flows
        .iter()
        .filter(|f| f.here == Vantage::Sender)
        .count();
    println!(
        "{name}: {} flows, {senders} sent from here; reordered {} hits {} wrong {} missed {}; lost {} hits {} \
         wrong {} missed {}; spurious {} hits {} wrong {} missed {}; extents {}/{}/{} certain {}/{}; clock {:?}",
        report.flows.len(),
        sum(&|f| f.truth.reordering.reordered),
        sum(&|f| f.reordered_with_ambiguous.true_positives),
        sum(&|f| f.reordered_with_ambiguous.false_positives),
        sum(&|f| f.reordered_with_ambiguous.false_negatives),
        sum(&|f| f.truth.losses),
        sum(&|f| f.lost_with_ambiguous.true_positives),
        sum(&|f| f.lost_with_ambiguous.false_positives),
        sum(&|f| f.lost_with_ambiguous.false_negatives),
        sum(&|f| f.truth.retransmissions.spurious),
        sum(&|f| f.spurious.true_positives),
        sum(&|f| f.spurious.false_positives),
        sum(&|f| f.spurious.false_negatives),
        sum(&|f| f.extents.exact),
        sum(&|f| f.extents.within_one),
        sum(&|f| f.extents.compared),
        sum(&|f| f.extents_certain.exact),
        sum(&|f| f.extents_certain.compared),
        report.clock,
    );
}
