//! Captures of the lab, one end of each rewritten as a translator, a firewall or a proxy on the
//! path would have: the same connections are found, and what happened to them is the same.

use std::path::Path;

use inorder_capture::{Block, Capture};
use inorder_pairing::{Matched, PeerFlow, PeerRecorder, PeerReport, compare};
use inorder_wire::{Dir, Endpoint, FlowKey, Has, Packet, Segment, TcpFlags, parse};

type Rewrite<'r> = &'r dyn Fn(FlowKey, Dir, &mut Segment) -> (FlowKey, Dir);

fn read(name: &str, rewrite: Rewrite<'_>) -> PeerRecorder {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
    let mut capture = Capture::open(&path.join(name)).expect("a capture of the lab");
    let mut recorder = PeerRecorder::new();
    let mut block = Block::default();
    while capture.read_block(&mut block).expect("a whole capture") {
        for frame in block.frames() {
            if let Packet::Tcp(key, dir, mut segment) = parse(&frame) {
                let (key, dir) = rewrite(key, dir, &mut segment);
                recorder.push(&key, dir, &segment);
            }
        }
    }
    recorder
}

fn as_it_is(key: FlowKey, dir: Dir, _: &mut Segment) -> (FlowKey, Dir) {
    (key, dir)
}

/// A translator of both sides: other addresses and ports, half of the connections with the lower
/// endpoint where the higher was.
fn nat(key: FlowKey, dir: Dir, _: &mut Segment) -> (FlowKey, Dir) {
    let (src, dst) = key.ends(dir);
    let port = key.low.port ^ key.high.port;
    let other = |end: Endpoint| {
        let first = (end == key.low) == port.is_multiple_of(2);
        let address = if first { 0xcb00_7101 } else { 0xc633_6402 };
        Endpoint::v4(address, end.port ^ 0x2a2a)
    };
    FlowKey::new(other(src), other(dst), key.overlay)
}

/// A firewall that numbers anew, each direction of each connection, and forgets SACK blocks; its
/// addresses are translated, too.
fn renumber(key: FlowKey, dir: Dir, segment: &mut Segment) -> (FlowKey, Dir) {
    let shift = |dir: Dir| {
        let (src, _) = key.ends(dir);
        (u32::from(src.port) + 1).wrapping_mul(0x9e37_79b1)
    };
    segment.seq = segment.seq.wrapping_add(shift(dir));
    if segment.flags.any(TcpFlags::ACK) {
        segment.ack = segment.ack.wrapping_add(shift(dir.reverse()));
    }
    nat(key, dir, segment)
}

/// A middlebox that takes the timestamps out.
fn strip(key: FlowKey, dir: Dir, segment: &mut Segment) -> (FlowKey, Dir) {
    segment.has &= !Has::TIMESTAMPS;
    (segment.tsval, segment.tsecr) = (0, 0);
    nat(key, dir, segment)
}

/// What is told of each flow, in an order that does not depend on names. Clocks are compared by
/// other packets if numbers are rewritten, so times told in the other end's clock are left out.
fn truths(report: &PeerReport) -> Vec<String> {
    let one = |flow: &PeerFlow| {
        let mut truth = flow.truth.clone();
        for event in &mut truth.events {
            event.at_ns = 0;
        }
        truth.events.sort_by_key(|e| (e.seq_offset, e.frame));
        format!("{:?} {truth:?}", flow.here)
    };
    let mut all: Vec<String> = report.flows.iter().map(one).collect();
    all.sort();
    all
}

/// Both ends of `name` with the receiver's rewritten, whichever is `here`: found on `evidence`,
/// with the truth of the untouched captures.
fn check(name: &str, rewrite: Rewrite<'_>, evidence: Matched) {
    let [snd, rcv] = ["snd", "rcv"].map(|end| format!("{name}.{end}.pcap.gz"));
    let (sender, receiver) = (read(&snd, &as_it_is), read(&rcv, &as_it_is));
    let rewritten = read(&rcv, rewrite);
    for (plain, report) in [
        (
            compare(&sender, &receiver, &[]),
            compare(&sender, &rewritten, &[]),
        ),
        (
            compare(&receiver, &sender, &[]),
            compare(&rewritten, &sender, &[]),
        ),
    ] {
        assert!(plain.flows.iter().all(|f| f.matched == Matched::Addresses));
        assert_eq!(report.flows.len(), plain.flows.len(), "{name}");
        let unmatched = [&report.only_here, &report.only_there, &report.ambiguous];
        assert!(unmatched.iter().all(|flows| flows.is_empty()), "{name}");
        assert_eq!(truths(&report), truths(&plain), "{name}");
        for flow in &report.flows {
            assert_eq!(flow.matched, evidence, "{name}");
            assert_ne!(flow.flow, flow.there, "{name}");
        }
    }
}

#[test]
fn translated_addresses_and_ports() {
    for name in [
        "fetch-jitter",
        "flows4-jitter-a",
        "both-late-loss",
        "tso-gro-late20",
    ] {
        check(name, &nat, Matched::Numbers);
    }
}

#[test]
fn sequence_numbers_rewritten_with_timestamps_and_without() {
    for name in [
        "fetch-jitter",
        "both-jitter-s",
        "late20-a-loss",
        "nots-late20-loss",
    ] {
        check(name, &renumber, Matched::Distances);
    }
}

#[test]
fn without_timestamps_the_initial_numbers_decide() {
    // No packets agree in all numbers, so that nothing tells the clocks apart; counts stay.
    let sender = read("late20-a.snd.pcap.gz", &as_it_is);
    let receiver = read("late20-a.rcv.pcap.gz", &strip);
    let report = compare(&sender, &receiver, &[]);
    let matched: Vec<Matched> = report.flows.iter().map(|f| f.matched).collect();
    assert_eq!(matched, [Matched::InitialNumbers]);
    let truth = &report.flows[0].truth;
    let plain = compare(&sender, &read("late20-a.rcv.pcap.gz", &as_it_is), &[]);
    let same = &plain.flows[0].truth;
    assert_eq!(truth.data_packets, same.data_packets);
    assert_eq!(truth.reordering.reordered, same.reordering.reordered);
}

#[test]
fn a_connection_that_could_be_either_of_two_is_left_alone() {
    // Captured on both sides of another translator: every packet twice, under two names.
    let sender = read("late20-a.snd.pcap.gz", &as_it_is);
    let mut twice = read("late20-a.rcv.pcap.gz", &nat);
    twice.absorb(read("late20-a.rcv.pcap.gz", &|key, dir, segment| {
        let (key, dir) = nat(key, dir, segment);
        let (src, dst) = key.ends(dir);
        let next = |end: Endpoint| Endpoint::v6(end.addr() + 7, end.port);
        FlowKey::new(next(src), next(dst), 0)
    }));
    for (here, there) in [(&sender, &twice), (&twice, &sender)] {
        let report = compare(here, there, &[]);
        assert!(report.flows.is_empty());
        assert_eq!(report.ambiguous, report.only_here);
        assert!(!report.only_here.is_empty() && !report.only_there.is_empty());
    }
}

#[test]
fn other_connections_are_other_connections() {
    let here = read("fetch-jitter.snd.pcap.gz", &as_it_is);
    let there = read("fetch-late-loss.rcv.pcap.gz", &nat);
    let report = compare(&here, &there, &[]);
    assert!(report.flows.is_empty() && report.ambiguous.is_empty());
}
