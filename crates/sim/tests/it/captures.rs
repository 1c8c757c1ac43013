//! Simulated captures are well-formed, and the analysis of one of them alone is scored against the truth.

use std::collections::BTreeSet;

use inorder_capture::{Block, Capture};
use inorder_detect::{Config, Event, FlowReport, Kind, Tracker};
use inorder_pairing::{PeerRecorder, PeerReport, compare};
use inorder_scenario::Scenario;
use inorder_sim::{Captures, RunResult, TruthEvent, TruthFlow, registries, run_tapped};
use inorder_wire::{Packet, parse};

struct Recorded {
    result: RunResult,
    files: [Vec<u8>; 2],
    truth: Vec<TruthFlow>,
}

fn record(text: &str) -> Recorded {
    let scenario = Scenario::load(text, "test.toml", &registries()).unwrap();
    let cell = scenario.cells().unwrap().remove(0);
    let flows = cell
        .config
        .flows
        .iter()
        .map(|flow| flow.count as usize)
        .sum();
    let mut tap = Captures::new(Vec::new(), Vec::new(), flows, 128).unwrap();
    let result = run_tapped(&cell.config, 1, &mut tap).unwrap();
    let (files, truth) = tap.finish().unwrap();
    Recorded {
        result,
        files,
        truth: truth.flows(),
    }
}

fn frames(file: &[u8], mut use_it: impl FnMut(&inorder_wire::Frame<'_>)) {
    let reader = Box::new(std::io::Cursor::new(file.to_vec()));
    let mut capture = Capture::from_reader("simulated", reader).unwrap();
    let mut block = Block::default();
    loop {
        let more = capture.read_block(&mut block).unwrap();
        block.frames().for_each(|frame| use_it(&frame));
        if !more {
            return;
        }
    }
}

fn analyse(file: &[u8]) -> Vec<FlowReport> {
    let mut tracker = Tracker::new(Config::default().keep_events(true));
    frames(file, |frame| {
        if let Packet::Tcp(key, dir, segment) = parse(frame) {
            tracker.push(&key, dir, &segment);
        }
    });
    tracker.finish()
}

/// 50 Mbit/s, jitter, 0.5 % loss, jitter for acknowledgements as well.
const JITTER_AND_LOSS: &str = r#"
run.duration = "10 s"
flow = [{ size = "8 MB", sender.loss_detection = "static" }]
[[forward]]
kind = "link"
rate = "50 Mbit/s"
[[forward]]
kind = "delay"
delay = "5 ms"
jitter = "0.4 ms"
[[forward]]
kind = "loss"
probability = "0.5 %"
[[reverse]]
kind = "delay"
delay = "5 ms"
jitter = "0.1 ms"
"#;

/// F1 of the events of a kind: 2 hits / (found + true).
fn f1(truth: &BTreeSet<u64>, found: &BTreeSet<u64>) -> f64 {
    2.0 * truth.intersection(found).count() as f64 / (truth.len() + found.len()).max(1) as f64
}

#[test]
fn an_analysis_of_one_capture_finds_what_the_simulator_did() {
    let recorded = record(JITTER_AND_LOSS);
    let truth = &recorded.truth[0];
    let reordered = truth.events.iter().filter_map(|event| match event {
        TruthEvent::Reordered { offset, .. } => Some(*offset),
        _ => None,
    });
    let reordered: BTreeSet<u64> = reordered.collect();
    let lost = truth.events.iter().filter_map(|event| match event {
        TruthEvent::Lost { offset, .. } => Some(*offset),
        _ => None,
    });
    let lost: BTreeSet<u64> = lost.collect();
    assert!(
        reordered.len() > 500 && lost.len() > 15,
        "{} {}",
        reordered.len(),
        lost.len()
    );
    for (at, file) in ["A", "B"].iter().zip(&recorded.files) {
        let flows = analyse(file);
        assert_eq!(flows.len(), 1);
        let of = |kind: Kind| -> BTreeSet<u64> {
            let events = flows[0]
                .records
                .events
                .iter()
                .filter(|event| event.kind == kind);
            events.map(|event| event.seq_offset).collect()
        };
        let (f1_reordered, f1_lost) = (
            f1(&reordered, &of(Kind::Reordered)),
            f1(&lost, &of(Kind::Lost)),
        );
        println!("{at}: reordered {f1_reordered:.4}, lost {f1_lost:.4}");
        assert!(
            f1_reordered > 0.96 && f1_lost > 0.9,
            "{at}: {f1_reordered} {f1_lost}"
        );
        assert_eq!(flows[0].originals.packets, truth.data_packets, "{at}");
    }
}

#[test]
fn the_counters_agree_with_the_truth() {
    let recorded = record(JITTER_AND_LOSS);
    let (truth, counts) = (&recorded.truth[0], recorded.result.flows[0].counts);
    assert_eq!(truth.reordered, counts.reordered_at_stack);
    assert_eq!(truth.spurious, counts.spurious);
    assert_eq!(truth.needed + truth.spurious, counts.retransmissions);
    assert_eq!(truth.data_packets - truth.losses, counts.at_stack);
    assert!(truth.needed >= truth.losses && truth.spurious > 0);
}

#[test]
fn merging_does_not_change_the_truth() {
    let merged = format!(
        "{JITTER_AND_LOSS}\n[receiver_card]\ncoalesce = \"1 ms\"\nmerge = true\nsorter = \"srpic\""
    );
    let recorded = record(&merged);
    let (truth, counts) = (&recorded.truth[0], recorded.result.flows[0].counts);
    assert!(
        counts.at_stack < truth.data_packets * 9 / 10,
        "something was merged"
    );
    assert_eq!(truth.needed + truth.spurious, counts.retransmissions);
    assert_eq!(truth.undecided, 0);
}

fn internet_sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        u32::from(u16::from_be_bytes([pair[0], low]))
    });
    let sum: u32 = words.sum();
    (sum & 0xffff) + (sum >> 16)
}

#[test]
fn checksums_and_lengths_are_right() {
    let text = "run.duration = \"1 s\"\nflow = [{ size = \"200 kB\" }, { size = \"200 kB\", sender.timestamps = false }]\n\
                probe = [{ rate = \"100 kbit/s\" }]\n[[forward]]\nkind = \"delay\"\ndelay = \"1 ms\"\njitter = \"0.2 ms\"";
    let recorded = record(text);
    let (mut tcp, mut icmp) = (0, 0);
    frames(&recorded.files[1], |frame| {
        let ip = &frame.data[14..];
        assert_eq!(internet_sum(&ip[..20]), 0xffff, "IP header");
        let total = u32::from(u16::from_be_bytes([ip[2], ip[3]]));
        assert_eq!(frame.orig_len, total + 14);
        // The bytes that were not captured are zeros and do not change the sum.
        let mut rest = internet_sum(&ip[20..]);
        if ip[9] == 6 {
            tcp += 1;
            rest += internet_sum(&ip[12..20]) + 6 + total - 20;
        } else {
            icmp += 1;
        }
        let folded = (rest & 0xffff) + (rest >> 16);
        assert_eq!(
            (folded & 0xffff) + (folded >> 16),
            0xffff,
            "checksum of protocol {}",
            ip[9]
        );
    });
    assert!(tcp > 400 && icmp > 5, "{tcp} {icmp}");
}

/// 100 Mbit/s spread over two lanes with 5 and 13 ms and 0.1 % loss: retransmissions overtake originals.
const SPRAYED: &str = r#"
run.duration = "10 s"
flow = [{ size = "20 MB" }]
[[forward]]
kind = "link"
rate = "100 Mbit/s"
[[forward]]
kind = "delay"
delay = "5 ms"
jitter = "8 ms"
[[forward]]
kind = "loss"
probability = "0.2 %"
[[reverse]]
kind = "delay"
delay = "5 ms"
"#;

#[test]
fn packets_refused_by_paws_are_neither_late_nor_lost() {
    let recorded = record(SPRAYED);
    let (truth, counts) = (&recorded.truth[0], recorded.result.flows[0].counts);
    assert_eq!(truth.needed + truth.spurious, counts.retransmissions);
    assert_eq!(truth.spurious, counts.spurious);
    assert!(
        truth.refused > 5 && counts.refused >= truth.refused,
        "{truth:?}"
    );
    let set = |pick: fn(&TruthEvent) -> Option<u64>| -> BTreeSet<u64> {
        truth.events.iter().filter_map(pick).collect()
    };
    let told = [
        set(|event| match event {
            TruthEvent::Reordered { offset, .. } => Some(*offset),
            _ => None,
        }),
        set(|event| match event {
            TruthEvent::Lost { offset, .. } => Some(*offset),
            _ => None,
        }),
        set(|event| match event {
            TruthEvent::Refused { offset, .. } => Some(*offset),
            _ => None,
        }),
    ];
    println!(
        "reordered, lost, refused: {:?}",
        told.each_ref().map(BTreeSet::len)
    );
    let flows = analyse(&recorded.files[1]);
    let both = compare_ends(&recorded.files);
    for (kind, truth) in [Kind::Reordered, Kind::Lost, Kind::Refused]
        .into_iter()
        .zip(told)
    {
        let of = |events: &[Event]| -> BTreeSet<u64> {
            let events = events.iter().filter(|event| event.kind == kind);
            events.map(|event| event.seq_offset).collect()
        };
        let by_both = of(&both.flows[0].truth.events);
        let differ: Vec<_> = by_both.symmetric_difference(&truth).collect();
        assert!(differ.is_empty(), "{kind:?}, by both captures: {differ:?}");
        let alone = f1(&truth, &of(&flows[0].records.events));
        // Of about a hundred refused packets one may be mistaken.
        assert!(
            alone >= 0.99,
            "{kind:?}, by the receiver's capture alone: {alone}"
        );
    }
}

/// Compares both captures.
fn compare_ends(files: &[Vec<u8>; 2]) -> PeerReport {
    let [a, b] = files.each_ref().map(|file| {
        let mut recorder = PeerRecorder::new();
        frames(file, |frame| {
            if let Packet::Tcp(key, dir, segment) = parse(frame) {
                recorder.push(&key, dir, &segment);
            }
        });
        recorder
    });
    compare(&a, &b, &[])
}
