//! The inference held against the simulator's own endpoints: whatever a path does to packets, what is said of it
//! from the receiver's side is exact, and what is said to be certain from the sender's side is true.
//!
//! Every run tries the same 1,000 paths, so that a change is judged by the same ones as the one before it and a run fails
//! for a reason of its own. `FORWARD_CASES=100000 cargo test -p inorder-detect --test it forward::` tries new ones.

pub(crate) mod model;

use std::collections::BTreeMap;

use inorder_detect::{Confidence, Config, Event, FlowReport, Kind, Tracker, Vantage, Verdict};
use inorder_tcp::Side;
use inorder_wire::{Endpoint, FlowKey, Segment};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use model::{Path, Trace, Truth};

fn cases() -> ProptestConfig {
    let asked = std::env::var("FORWARD_CASES").ok();
    let asked: Option<u32> = asked.and_then(|n| n.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(1_000),
        rng_seed: asked.map_or(RngSeed::Fixed(1), |_| RngSeed::Random),
        ..ProptestConfig::default()
    }
}

/// What is said of the data, from client to server.
fn analyse(capture: &[(Side, Segment)], vantage: Vantage) -> Option<FlowReport> {
    let client = Endpoint::v4(0x0a00_0001, 40_000);
    let server = Endpoint::v4(0x0a00_0002, 443);
    let config = Config::default()
        .vantage(Some(vantage))
        .keep_events(true)
        .what_if(false);
    let mut tracker = Tracker::new(config);
    for (from, seg) in capture {
        let (src, dst) = match from {
            Side::Client => (client, server),
            Side::Server => (server, client),
        };
        let (key, dir) = FlowKey::new(src, dst, 0);
        tracker.push(&key, dir, seg);
    }
    let mut flows = tracker.finish().into_iter();
    flows.find(|f| f.flow.src == client.socket_addr())
}

/// Counts and lists say the same.
fn agree(flow: &FlowReport) -> Result<(), TestCaseError> {
    let told = |kind, ambiguous: bool| {
        let of_kind =
            |e: &&Event| e.kind == kind && (e.confidence == Confidence::Ambiguous) == ambiguous;
        flow.records.events.iter().filter(of_kind).count() as u64
    };
    prop_assert_eq!(told(Kind::Lost, false), flow.originals.lost);
    prop_assert!(
        told(Kind::Refused, false) <= flow.originals.refused,
        "some have no name"
    );
    prop_assert_eq!(told(Kind::Reordered, false), flow.reordering.reordered);
    let with = |verdict| {
        let all = flow.records.retransmissions.iter();
        all.filter(|r| r.verdict == verdict).count() as u64
    };
    let counts = flow.retransmissions;
    prop_assert_eq!(counts.total, flow.records.retransmissions.len() as u64);
    prop_assert_eq!(with(Verdict::Needed), counts.needed);
    prop_assert_eq!(with(Verdict::Spurious), counts.spurious);
    prop_assert_eq!(with(Verdict::Ambiguous), counts.ambiguous);
    Ok(())
}

fn is_so(event: &Event, truth: &BTreeMap<i64, Truth>) -> bool {
    let what = truth.get(&(event.seq_offset as i64));
    match event.kind {
        Kind::Reordered => matches!(what, Some(Truth::Reordered { .. })),
        Kind::Lost => matches!(what, Some(Truth::Lost { .. })),
        _ => what == Some(&Truth::Refused),
    }
}

fn told(flow: &FlowReport, kind: Kind) -> impl Iterator<Item = &Event> {
    let told = move |e: &&Event| e.kind == kind && e.confidence != Confidence::Ambiguous;
    flow.records.events.iter().filter(told)
}

fn at_the_receiver(path: &Path) -> Result<(), TestCaseError> {
    let trace = Trace::of(path);
    let capture = &trace.at_receiver;
    let Some(flow) = analyse(capture, Vantage::Receiver) else {
        return Ok(());
    };
    agree(&flow)?;
    let Some(truth) = trace.truth(capture).filter(|_| !trace.was_reset()) else {
        return Ok(());
    };
    // What is ambiguous asserts nothing: without a counter of packets a coarse clock may leave open which copy came,
    // and where a number is missing a late packet may be what was lost.
    let open = |at: i64| {
        let there = |e: &Event| e.seq_offset as i64 == at && e.confidence == Confidence::Ambiguous;
        flow.records.events.iter().any(there)
    };
    // The extent is as sure as the event.
    let sure = |e: &Event| e.confidence == Confidence::Certain;
    let late: BTreeMap<i64, Option<u32>> = told(&flow, Kind::Reordered)
        .map(|e| (e.seq_offset as i64, e.extent.filter(|_| sure(e))))
        .collect();
    let unmeasured = |at: i64| late.get(&at) == Some(&None);
    let truly_late: BTreeMap<i64, Option<u32>> = truth
        .iter()
        .filter(|(at, _)| !open(**at))
        .filter_map(|(&at, t)| match t {
            Truth::Reordered { extent } => Some((at, Some(*extent).filter(|_| !unmeasured(at)))),
            _ => None,
        })
        .collect();
    prop_assert_eq!(late, truly_late, "reordered");
    for event in told(&flow, Kind::Lost).chain(told(&flow, Kind::Refused)) {
        prop_assert!(is_so(event, &truth), "{:?}", event);
    }
    for (&at, what) in &truth {
        let kind = match what {
            Truth::Lost { gap: true } => Kind::Lost,
            Truth::Refused => Kind::Refused,
            _ => continue,
        };
        let found = told(&flow, kind).any(|e| e.seq_offset as i64 == at);
        prop_assert!(found || open(at), "{} was {:?}", at, what);
    }
    Ok(())
}

fn at_the_sender(path: &Path) -> Result<(), TestCaseError> {
    let trace = Trace::of(path);
    let capture = &trace.at_sender;
    let Some(flow) = analyse(capture, Vantage::Sender) else {
        return Ok(());
    };
    agree(&flow)?;
    let Some(truth) = trace.truth(capture).filter(|_| !trace.was_reset()) else {
        return Ok(());
    };
    let certain = flow
        .records
        .events
        .iter()
        .filter(|e| e.confidence == Confidence::Certain);
    for event in certain.filter(|e| !trace.doubled.contains(&(e.seq_offset as i64))) {
        prop_assert!(is_so(event, &truth), "{:?}", event);
    }
    Ok(())
}

/// A path that loses everything for a while: the flight, then one repetition after the other, until one comes through.
#[test]
fn the_timer_expired_as_often_as_the_sender_counts() {
    for lost in 0..=6 {
        let path = Path {
            profile: "linux-6",
            sack: true,
            dsack: true,
            timestamps: true,
            ip_id: true,
            delay_us: 20_000,
            kilobytes: 100,
            data: (10..30 + lost).map(|n| (n, model::Fate::Drop)).collect(),
            acks: BTreeMap::new(),
        };
        let trace = Trace::of(&path);
        let flow = analyse(&trace.at_sender, Vantage::Sender).expect("it carries data");
        assert!(trace.expiries >= lost, "{lost}: {}", trace.expiries);
        assert_eq!(flow.expiries(), trace.expiries, "{lost}");
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Where the identification or the timestamp tells original from retransmission.
    #[test]
    fn at_the_receiver_every_original_is_told_as_it_was(path in Path::any()) {
        if path.ip_id || path.timestamps {
            at_the_receiver(&path)?;
        }
    }

    #[test]
    fn at_the_sender_what_is_certain_is_true(path in Path::any()) {
        at_the_sender(&path)?;
    }
}
