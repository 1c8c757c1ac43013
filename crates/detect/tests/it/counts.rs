//! Numbers that belong to the flow and not to the capture: small traces in which some of it did not come by.

use inorder_detect::{Cause, Config, FlowReport, Kind, Tracker, Vantage, Verdict};
use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

const MS: i64 = 1_000_000;
const ISN: u32 = 1_000;
const LEN: u32 = 1_000;
const OPTIONS: u8 = Has::SACK_PERMITTED | Has::TIMESTAMPS;

/// The `n`th segment of the data.
fn segment(n: u32) -> Segment {
    Segment {
        seq: ISN + 1 + n * LEN,
        ack: 1,
        payload_len: LEN,
        has: Has::TIMESTAMPS,
        flags: TcpFlags(TcpFlags::ACK),
        window: 60_000,
        ..Segment::default()
    }
}

/// One connection with SACK and timestamps of a millisecond as a capture has it; the `n`th segment has `LEN` bytes.
struct Trace {
    key: FlowKey,
    dir: Dir,
    tracker: Tracker,
    frame: u64,
}

impl Trace {
    /// The SYN and its answer, 10 ms later, have these flags beside their own; the sender answers that as late.
    fn new(vantage: Vantage, flags: (u8, u8)) -> Self {
        Trace::taking(LEN, vantage, flags)
    }

    /// The same; both hosts take segments of this many bytes.
    fn taking(most: u32, vantage: Vantage, (syn, syn_ack): (u8, u8)) -> Self {
        let (key, dir) = FlowKey::new(Endpoint::v4(9, 10), Endpoint::v4(2, 20), 0);
        let config = Config::default()
            .vantage(Some(vantage))
            .keep_events(true)
            .what_if(false);
        let mut trace = Trace {
            key,
            dir,
            tracker: Tracker::new(config),
            frame: 0,
        };
        let hello = |flags: u8, seq, ack| Segment {
            seq,
            ack,
            mss: (most + 12) as u16,
            flags: TcpFlags(TcpFlags::SYN | flags),
            has: OPTIONS,
            ..Segment::default()
        };
        trace.push(dir, 0, hello(syn, ISN, 0));
        trace.push(
            dir.reverse(),
            10,
            hello(TcpFlags::ACK | syn_ack, 0, ISN + 1),
        );
        trace.acknowledge(dir, 20, (ISN + 1, 1), &[]);
        trace
    }

    fn push(&mut self, dir: Dir, at_ms: i64, seg: Segment) {
        self.frame += 1;
        let seg = Segment {
            ts_ns: at_ms * MS,
            frame: self.frame,
            window: 60_000,
            tsval: 1 + at_ms as u32,
            ..seg
        };
        self.tracker.push(&self.key, dir, &seg);
    }

    fn data(&mut self, at_ms: i64, n: u32) {
        self.flagged(at_ms, n, 0);
    }

    fn flagged(&mut self, at_ms: i64, n: u32, flags: u8) {
        let seg = Segment {
            flags: TcpFlags(TcpFlags::ACK | flags),
            ..segment(n)
        };
        self.push(self.dir, at_ms, seg);
    }

    fn acknowledge(&mut self, dir: Dir, at_ms: i64, (seq, ack): (u32, u32), sack: &[(u32, u32)]) {
        let mut seg = Segment {
            seq,
            ack,
            has: Has::TIMESTAMPS,
            flags: TcpFlags(TcpFlags::ACK),
            sack_len: sack.len() as u8,
            ..Segment::default()
        };
        seg.sack[..sack.len()].copy_from_slice(sack);
        self.push(dir, at_ms, seg);
    }

    /// The receiver has the segments below `n`, and some above.
    fn ack(&mut self, at_ms: i64, n: u32, above: &[(u32, u32)]) {
        let number = |n: u32| ISN + 1 + n * LEN;
        let blocks: Vec<_> = above.iter().map(|b| (number(b.0), number(b.1))).collect();
        self.acknowledge(self.dir.reverse(), at_ms, (1, number(n)), &blocks);
    }

    fn end(self) -> FlowReport {
        self.tracker
            .finish()
            .into_iter()
            .next()
            .expect("data was sent")
    }
}

/// Segment 1 is lost before the capture point and comes again a round trip after the receiver has asked for it.
fn lost_before(vantage: Vantage) -> FlowReport {
    let mut trace = Trace::new(vantage, (0, 0));
    trace.data(30, 0);
    (2..8).for_each(|n| trace.data(30 + i64::from(n), n));
    trace.ack(40, 1, &[]);
    (2..8).for_each(|n| trace.ack(40 + i64::from(n), 1, &[(2, n + 1)]));
    trace.data(55, 1);
    trace.ack(65, 8, &[]);
    (8..12).for_each(|n| trace.data(70 + i64::from(n), n));
    trace.ack(92, 12, &[]);
    trace.end()
}

/// A sender's packets may be shorter than what the receiver takes, and those that it sends again shorter still.
#[test]
fn a_packet_that_comes_again_in_two_is_one_that_was_lost() {
    let mut trace = Trace::taking(LEN + 400, Vantage::Receiver, (0, 0));
    let missing = segment(1);
    for n in (0..8).filter(|n| *n != 1) {
        trace.data(30 + i64::from(n), n);
    }
    trace.ack(40, 1, &[(2, 8)]);
    for (at_ms, from, len) in [(55, 0, 600), (56, 600, 400)] {
        let part = Segment {
            seq: missing.seq + from,
            payload_len: len,
            ..missing
        };
        trace.push(trace.dir, at_ms, part);
    }
    trace.ack(57, 8, &[]);
    let flow = trace.end();
    assert_eq!((flow.originals.lost, flow.originals.packets), (1, 8));
    assert_eq!(flow.retransmissions.total, 2);
}

#[test]
fn what_a_receiver_got_by_a_retransmission_was_moved() {
    let flow = lost_before(Vantage::Receiver);
    assert_eq!((flow.originals.lost, flow.originals.packets), (1, 12));
    assert_eq!(flow.originals.bytes, 12_000);
}

#[test]
fn what_was_lost_before_a_capture_point_on_the_path_is_a_loss() {
    let flow = lost_before(Vantage::Middle);
    assert_eq!((flow.originals.lost, flow.originals.lost_upstream), (1, 1));
    assert_eq!((flow.originals.packets, flow.originals.bytes), (12, 12_000));
    let again = flow.retransmissions;
    assert_eq!((again.total, again.needed, again.ambiguous), (1, 1, 0));
    assert_eq!(flow.records.retransmissions[0].verdict, Verdict::Needed);
    assert_eq!(flow.recoveries.by_cause[0].cause, Cause::Loss);
    let kinds: Vec<(Kind, u64)> = flow
        .records
        .events
        .iter()
        .map(|e| (e.kind, e.seq_offset))
        .collect();
    assert_eq!(kinds, [(Kind::Lost, 1_000)]);
}

#[test]
fn a_retransmission_that_the_receiver_had_no_use_for_replaces_no_loss_before_the_capture_point() {
    let mut trace = Trace::new(Vantage::Middle, (0, 0));
    trace.data(30, 0);
    (2..8).for_each(|n| trace.data(30 + i64::from(n), n));
    (2..8).for_each(|n| trace.ack(40 + i64::from(n), 1, &[(2, n + 1)]));
    trace.data(55, 1);
    // The original, which the capture lacks, came late; the retransmission is reported as a duplicate.
    trace.ack(56, 8, &[]);
    trace.ack(65, 8, &[(1, 2)]);
    (8..12).for_each(|n| trace.data(70 + i64::from(n), n));
    trace.ack(92, 12, &[]);
    let flow = trace.end();
    assert_eq!((flow.originals.lost, flow.retransmissions.needed), (0, 0));
}

#[test]
fn a_capture_beside_the_sender_lacks_what_was_acknowledged_and_never_came_by() {
    let mut trace = Trace::new(Vantage::Sender, (0, 0));
    trace.data(20, 0);
    trace.data(21, 2);
    trace.ack(40, 3, &[]);
    let flow = trace.end();
    assert_eq!(flow.artefacts.missing_segments, 1);
    assert_eq!((flow.originals.lost, flow.retransmissions.total), (0, 0));
}

#[test]
fn a_sender_says_that_it_reduced_its_window_for_a_congestion_mark() {
    let reductions = |syn, syn_ack| {
        let mut trace = Trace::new(Vantage::Sender, (syn, syn_ack));
        (0..4).for_each(|n| trace.data(20 + i64::from(n), n));
        trace.ack(40, 4, &[]);
        trace.flagged(41, 4, TcpFlags::CWR);
        trace.data(42, 5);
        trace.ack(60, 6, &[]);
        trace.end().ecn_reductions
    };
    let both = TcpFlags::ECE | TcpFlags::CWR;
    assert_eq!(reductions(both, TcpFlags::ECE), 1);
    assert_eq!(reductions(both, 0), 0, "refused");
    assert_eq!(reductions(both, TcpFlags::CWR), 0, "AccECN: a counter");
}

/// Segment 1 comes twice within 4 ms, identical in every byte; `reported` says that the receiver reports the second one.
fn came_twice(reported: bool) -> FlowReport {
    let mut trace = Trace::new(Vantage::Receiver, (0, 0));
    let dir = trace.dir;
    let numbered = |n: u32| Segment {
        ip_id: 100 + n as u16,
        has: Has::TIMESTAMPS | Has::IP_ID,
        ..segment(n)
    };
    (0..4).for_each(|n| trace.push(dir, 30 + i64::from(n), numbered(n)));
    trace.ack(34, 4, &[]);
    trace.frame += 1;
    let second = Segment {
        ts_ns: 35 * MS,
        frame: trace.frame,
        tsval: 32,
        ..numbered(1)
    };
    trace.tracker.push(&trace.key, dir, &second);
    if reported {
        trace.ack(36, 4, &[(1, 2)]);
    }
    (4..8).for_each(|n| trace.push(dir, 40 + i64::from(n), numbered(n)));
    trace.ack(50, 8, &[]);
    trace.end()
}

#[test]
fn a_frame_that_its_receiver_got_twice_was_not_captured_twice() {
    let numbers = |flow: FlowReport| {
        (
            flow.path.network_duplicates,
            flow.artefacts.duplicated_frames,
        )
    };
    assert_eq!(numbers(came_twice(true)), (1, 0));
    assert_eq!(numbers(came_twice(false)), (0, 1));
}
