//! Flows told packet by packet.

use inorder_wire::{Dir, Endpoint, FlowKey, Has, Segment, TcpFlags};

use super::compare;
use super::recorder::PeerRecorder;
use super::result::{PeerCounts, PeerFlow, PeerReport};
use inorder_detect::{Config, Kind, Tracker, Vantage, Verdict};

/// Two captures under way; times in microseconds, each by its own clock.
struct Tape {
    key: FlowKey,
    dir: Dir,
    sender: PeerRecorder,
    receiver: PeerRecorder,
    tracker: Tracker,
    frames: [u64; 2],
    /// Receiver's clock minus sender's.
    skew_us: i64,
}

impl Tape {
    fn new(skew_us: i64) -> Self {
        let (key, dir) = FlowKey::new(Endpoint::v4(7, 4_000), Endpoint::v4(3, 80), 0);
        let config = Config::default().keep_events(true);
        let mut tape = Tape {
            key,
            dir,
            sender: PeerRecorder::new(),
            receiver: PeerRecorder::new(),
            tracker: Tracker::new(config),
            frames: [0; 2],
            skew_us,
        };
        let syn = |seq, ack, flags| Segment {
            seq,
            ack,
            mss: 1_460,
            flags: TcpFlags(flags),
            has: Has::SACK_PERMITTED,
            ..Segment::default()
        };
        tape.leaves(0, syn(999, 0, TcpFlags::SYN));
        tape.arrives(500, syn(999, 0, TcpFlags::SYN));
        let answer = syn(0, 1_000, TcpFlags::SYN | TcpFlags::ACK);
        tape.answers(510, 1_010, answer);
        tape
    }

    fn note(&mut self, at_sender: bool, at_us: i64, dir: Dir, seg: Segment) {
        let end = usize::from(!at_sender);
        self.frames[end] += 1;
        let skew = if at_sender { 0 } else { self.skew_us };
        let seg = Segment {
            ts_ns: (at_us + skew) * 1_000,
            frame: self.frames[end],
            ..seg
        };
        let recorder = if at_sender {
            &mut self.sender
        } else {
            &mut self.receiver
        };
        recorder.push(&self.key, dir, &seg);
        if at_sender {
            self.tracker.push(&self.key, dir, &seg);
        }
    }

    fn leaves(&mut self, at_us: i64, seg: Segment) {
        self.note(true, at_us, self.dir, seg);
    }

    fn arrives(&mut self, at_us: i64, seg: Segment) {
        self.note(false, at_us, self.dir, seg);
    }

    /// The receiver's packet leaves there and reaches the sender.
    fn answers(&mut self, left_us: i64, came_us: i64, seg: Segment) {
        let back = self.dir.reverse();
        self.note(false, left_us, back, seg);
        self.note(true, came_us, back, seg);
    }

    fn ack(&mut self, left_us: i64, upto: u32) {
        let seg = Segment {
            seq: 1,
            ack: 1_000 + upto,
            flags: TcpFlags(TcpFlags::ACK),
            ..Segment::default()
        };
        self.answers(left_us, left_us + 500, seg);
    }

    fn report(self) -> PeerReport {
        compare(&self.sender, &self.receiver, &self.tracker.finish())
    }

    fn flow(self) -> PeerFlow {
        let mut report = self.report();
        assert_eq!(report.flows.len(), 1);
        report.flows.remove(0)
    }
}

/// Bytes `from..from + len`, the `id`th packet of its host.
fn bytes(from: u32, len: u32, id: u16) -> Segment {
    Segment {
        seq: 1_000 + from,
        payload_len: len,
        ip_id: id,
        flags: TcpFlags(TcpFlags::ACK),
        ack: 1,
        has: Has::IP_ID,
        ..Segment::default()
    }
}

fn told(flow: &PeerFlow) -> Vec<(Kind, u64, Option<u32>)> {
    let events = flow.truth.events.iter();
    events.map(|e| (e.kind, e.seq_offset, e.extent)).collect()
}

#[test]
fn the_end_of_the_data_overtakes_the_last_packet() {
    let mut tape = Tape::new(-70_000_000);
    let end = Segment {
        flags: TcpFlags(TcpFlags::ACK | TcpFlags::FIN),
        ..bytes(2_000, 0, 12)
    };
    tape.leaves(2_000, bytes(0, 1_000, 10));
    tape.leaves(2_010, bytes(1_000, 1_000, 11));
    tape.leaves(2_020, end);
    tape.arrives(2_500, bytes(0, 1_000, 10));
    tape.arrives(2_520, end);
    tape.arrives(2_600, bytes(1_000, 1_000, 11));
    tape.ack(2_610, 2_001);
    let flow = tape.flow();
    assert_eq!(told(&flow), [(Kind::Reordered, 1_000, Some(1))]);
    assert_eq!(flow.truth.events[0].late_ns, Some(80_000));
    assert_eq!(flow.truth.data_packets, 2, "it carries none");
}

#[test]
fn one_is_late_one_is_lost_and_one_is_sent_twice_for_nothing() {
    let mut tape = Tape::new(-70_000_000);
    for (i, at) in [2_000, 2_010, 2_020, 2_030, 2_040].into_iter().enumerate() {
        tape.leaves(at, bytes(1_000 * i as u32, 1_000, 10 + i as u16));
    }
    tape.arrives(2_500, bytes(0, 1_000, 10));
    // The second (id 11) is overtaken by two, the third (12) is lost.
    tape.arrives(2_530, bytes(3_000, 1_000, 13));
    tape.arrives(2_540, bytes(4_000, 1_000, 14));
    tape.arrives(2_600, bytes(1_000, 1_000, 11));
    // Both are sent again; the second needlessly.
    tape.leaves(3_200, bytes(1_000, 1_000, 15));
    tape.leaves(3_210, bytes(2_000, 1_000, 16));
    tape.arrives(3_700, bytes(1_000, 1_000, 15));
    tape.arrives(3_710, bytes(2_000, 1_000, 16));
    tape.ack(3_720, 5_000);

    let report = tape.report();
    let clock = report.clock.expect("packets both ways");
    assert_eq!(
        (clock.offset_ns, clock.error_ns),
        (-70_000_000_000, 500_000)
    );
    let flow = &report.flows[0];
    assert_eq!(
        (flow.here, flow.one_way_ns),
        (Vantage::Sender, Some(500_000))
    );
    let expected = [(Kind::Lost, 2_000, None), (Kind::Reordered, 1_000, Some(2))];
    assert_eq!(told(flow), expected);
    let late = &flow.truth.events[1];
    assert_eq!(
        (late.late_ns, late.extent_bytes),
        (Some(70_000), Some(2_000))
    );
    // Here the fourth frame, after SYN, answer and first data; there the sixth.
    assert_eq!(
        (late.frame, late.proof_frame, late.at_ns),
        (4, 6, 2_600_000)
    );
    let verdicts: Vec<_> = flow
        .truth
        .retransmission_list
        .iter()
        .map(|r| (r.seq_offset, r.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [(1_000, Verdict::Spurious), (2_000, Verdict::Needed)]
    );
}

#[test]
fn what_took_the_usual_time_is_the_retransmission_though_nothing_tells_it_from_the_lost_original() {
    let mut tape = Tape::new(0);
    let unnumbered = |n: i64| Segment {
        has: 0,
        ..bytes(1_000 * n as u32, 1_000, 0)
    };
    for n in 0..30 {
        tape.leaves(2_000 + 10 * n, unnumbered(n));
        if n != 5 {
            tape.arrives(2_500 + 10 * n + n % 3, unnumbered(n));
        }
    }
    tape.leaves(3_200, unnumbered(5));
    tape.arrives(3_701, unnumbered(5));
    tape.ack(3_720, 30_000);
    let flow = tape.flow();
    assert_eq!(told(&flow), [(Kind::Lost, 5_000, None)]);
    assert_eq!(flow.truth.retransmission_list[0].verdict, Verdict::Needed);
}

#[test]
fn frames_that_both_ends_have_captured_twice_were_not_sent_twice() {
    let mut tape = Tape::new(0);
    // Nothing distinguishes what is sent again but its time.
    let packet = |n: i64| Segment {
        has: 0,
        ..bytes(1_000 * n as u32, 1_000, 0)
    };
    for n in 0..30 {
        tape.leaves(2_000 + 10 * n, packet(n));
        tape.leaves(2_002 + 10 * n, packet(n));
        if n != 4 {
            tape.arrives(2_500 + 10 * n, packet(n));
            tape.arrives(2_503 + 10 * n, packet(n));
        }
    }
    for us in [0, 2] {
        tape.leaves(3_200 + us, packet(4));
    }
    for us in [0, 3] {
        tape.arrives(3_700 + us, packet(4));
    }
    tape.ack(3_720, 30_000);
    let flow = tape.flow();
    assert_eq!(told(&flow), [(Kind::Lost, 4_000, None)]);
    let sent_again = &flow.truth.retransmission_list;
    assert_eq!(
        (sent_again.len(), sent_again[0].verdict),
        (1, Verdict::Needed)
    );
}

#[test]
fn what_is_not_acknowledged_at_the_end_is_undecided() {
    let mut tape = Tape::new(0);
    for i in 0..4u16 {
        tape.leaves(2_000 + i64::from(i), bytes(1_000 * u32::from(i), 1_000, i));
    }
    tape.arrives(2_500, bytes(0, 1_000, 0));
    tape.arrives(2_503, bytes(3_000, 1_000, 3));
    tape.ack(2_510, 1_000);
    tape.leaves(3_100, bytes(1_000, 1_000, 4));
    let flow = tape.flow();
    assert_eq!((flow.truth.losses, flow.truth.undecided), (0, 2));
    let r = flow.truth.retransmissions;
    assert_eq!((r.total, r.ambiguous), (1, 1));
}

#[test]
fn what_is_inferred_of_an_undecided_packet_is_neither_right_nor_wrong() {
    let mut tape = Tape::new(0);
    for i in 0..4u16 {
        tape.leaves(
            2_000 + i64::from(i),
            bytes(1_000 * u32::from(i), 1_000, i + 1),
        );
    }
    tape.arrives(2_500, bytes(0, 1_000, 1));
    tape.arrives(2_503, bytes(3_000, 1_000, 4));
    // The second is lost and sent again; of the third nothing more was captured.
    tape.leaves(3_100, bytes(1_000, 1_000, 5));
    tape.arrives(3_600, bytes(1_000, 1_000, 5));
    tape.ack(3_610, 2_000);
    let (sender, receiver) = (tape.sender, tape.receiver);
    let mut inferred = tape.tracker.finish();
    let lost = compare(&sender, &receiver, &inferred).flows[0].truth.events[0];
    assert_eq!((lost.kind, lost.seq_offset), (Kind::Lost, 1_000));
    let mut next = lost;
    next.seq_offset = 2_000;
    inferred[0].records.events = vec![lost, next];
    let flow = &compare(&sender, &receiver, &inferred).flows[0];
    assert_eq!(flow.truth.undecided_ranges, [(2_000, 3_000)]);
    assert_eq!(
        (flow.lost.true_positives, flow.lost.false_positives),
        (1, 0)
    );
}

#[test]
fn a_super_segment_left_and_single_segments_came_one_of_them_late() {
    let mut tape = Tape::new(0);
    tape.leaves(2_000, bytes(0, 1_460 * 3 + 200, 20));
    for (at, nth) in [(2_500, 0), (2_510, 2), (2_520, 1)] {
        tape.arrives(at, bytes(1_460 * nth, 1_460, 20 + nth as u16));
    }
    tape.arrives(2_530, bytes(1_460 * 3, 200, 23));
    tape.ack(2_540, 1_460 * 3 + 200);
    let flow = tape.flow();
    assert_eq!((flow.truth.data_packets, flow.truth.unmatched), (4, 0));
    assert_eq!(told(&flow), [(Kind::Reordered, 1_460, Some(1))]);
}

#[test]
fn a_path_with_a_smaller_segment_size_than_the_handshake_said_is_found_out() {
    let mut tape = Tape::new(0);
    tape.leaves(2_000, bytes(0, 1_300 * 3, 20));
    tape.leaves(2_001, bytes(3_900, 1_300, 23));
    tape.arrives(2_500, bytes(0, 1_300, 20));
    tape.arrives(2_510, bytes(2_600, 1_300, 22));
    tape.arrives(2_520, bytes(3_900, 1_300, 23));
    tape.arrives(2_530, bytes(1_300, 1_300, 21));
    tape.ack(2_540, 5_200);
    let flow = tape.flow();
    assert_eq!((flow.truth.data_packets, flow.truth.unmatched), (4, 0));
    assert_eq!(told(&flow), [(Kind::Reordered, 1_300, Some(2))]);
}

#[test]
fn a_box_on_the_path_that_cuts_packets_in_two_hides_nothing() {
    let mut tape = Tape::new(0);
    for i in 0..4u16 {
        tape.leaves(2_000 + i64::from(i), bytes(1_000 * u32::from(i), 1_000, i));
    }
    // Packet 1 is lost; packet 0 comes whole, 2 and 3 in halves, its end after that of 3.
    tape.arrives(2_500, bytes(0, 1_000, 0));
    tape.arrives(2_510, bytes(2_000, 500, 100));
    tape.arrives(2_520, bytes(3_000, 500, 102));
    tape.arrives(2_530, bytes(3_500, 500, 103));
    tape.arrives(2_540, bytes(2_500, 500, 101));
    tape.leaves(3_100, bytes(1_000, 1_000, 4));
    tape.arrives(3_600, bytes(1_000, 1_000, 4));
    tape.ack(3_610, 4_000);
    let flow = tape.flow();
    assert_eq!(flow.truth.unmatched, 0);
    let expected = [(Kind::Lost, 1_000, None), (Kind::Reordered, 2_000, Some(1))];
    assert_eq!(told(&flow), expected);
}

#[test]
fn a_translator_that_rewrites_the_identification_is_seen_through() {
    let mut tape = Tape::new(0);
    for i in 0..6u16 {
        tape.leaves(2_000 + i64::from(i), bytes(1_000 * u32::from(i), 1_000, i));
        tape.arrives(
            2_500 + i64::from(i),
            bytes(1_000 * u32::from(i), 1_000, 7_777 - 31 * i),
        );
    }
    tape.ack(2_510, 6_000);
    let flow = tape.flow();
    assert_eq!(
        (flow.truth.unmatched, flow.truth.losses, told(&flow).len()),
        (0, 0, 0)
    );
}

#[test]
fn the_inference_is_scored_and_can_be_replaced_by_the_truth() {
    let mut tape = Tape::new(12);
    for i in 0..4u16 {
        tape.leaves(2_000 + i64::from(i), bytes(1_000 * u32::from(i), 1_000, i));
    }
    tape.arrives(2_500, bytes(0, 1_000, 0));
    tape.ack(2_500, 1_000);
    for (at, i) in [(2_510, 2), (2_520, 3), (2_530, 1)] {
        tape.arrives(at, bytes(1_000 * i, 1_000, i as u16));
        let (upto, block) = match i {
            1 => (4_000, None),
            _ => (1_000, Some((3_000, 4_000 + 1_000 * (i - 2)))),
        };
        let mut ack = Segment {
            seq: 1,
            ack: 1_000 + upto,
            flags: TcpFlags(TcpFlags::ACK),
            ..Segment::default()
        };
        if let Some(block) = block {
            ack.sack[0] = block;
            ack.sack_len = 1;
        }
        tape.answers(at, at + 500, ack);
    }
    let (sender, receiver) = (tape.sender, tape.receiver);
    let reports = tape.tracker.finish();
    let report = compare(&sender, &receiver, &reports);
    let flow = &report.flows[0];
    assert_eq!(told(flow), [(Kind::Reordered, 1_000, Some(2))]);
    let right = (
        flow.reordered.true_positives,
        flow.extents.exact,
        flow.extents_certain.compared,
    );
    assert_eq!(right, (1, 1, 1));
    assert_eq!((flow.reordered.f1(), flow.lost.f1()), (Some(1.0), None));

    let mut blind = reports[0].clone();
    blind.records.events.clear();
    blind.reordering = Default::default();
    let blind_report = compare(&sender, &receiver, std::slice::from_ref(&blind));
    assert_eq!(blind_report.flows[0].reordered.recall(), Some(0.0));
    blind_report.flows[0].truth.replace_in(&mut blind);
    // One late packet is too few for advice.
    assert_eq!(
        (blind.reordering.reordered, blind.avoidance.dupthresh),
        (1, None)
    );
    assert_eq!(blind.records.events.len(), 1);
}

#[test]
fn a_flow_that_one_capture_misses_is_named() {
    let tape = Tape::new(0);
    let (other, dir) = FlowKey::new(Endpoint::v4(7, 4_001), Endpoint::v4(3, 80), 0);
    let (mut sender, receiver) = (tape.sender, tape.receiver);
    sender.push(&other, dir, &bytes(0, 10, 1));
    let here = compare(&sender, &receiver, &[]);
    assert_eq!((here.only_here.len(), here.only_there.len()), (1, 0));
    let there = compare(&receiver, &sender, &[]);
    assert_eq!((there.only_here.len(), there.only_there.len()), (0, 1));
}

#[test]
fn what_paws_discards_is_refused_and_its_retransmission_needed() {
    let mut tape = Tape::new(0);
    let stamped = |from, tsval, id| Segment {
        tsval,
        has: Has::IP_ID | Has::TIMESTAMPS,
        ..bytes(from, 1_000, id)
    };
    let sent = [
        (0, stamped(0, 10, 1)),
        (10, stamped(1_000, 10, 2)),
        (20, stamped(2_000, 11, 3)),
        (30, stamped(3_000, 11, 4)),
        // Both holes again; the first one was lost, the second is late.
        (20_000, stamped(1_000, 30, 5)),
        (20_010, stamped(2_000, 30, 6)),
    ];
    for (at_us, seg) in sent {
        tape.leaves(at_us, seg);
    }
    for (at_us, seg, upto) in [
        (5_000, sent[0].1, 1_000),
        (5_030, sent[3].1, 1_000),
        (25_000, sent[4].1, 2_000),
        // Older than the timestamp that the retransmission brought: still waiting for 2,000.
        (25_010, sent[2].1, 2_000),
        (25_020, sent[5].1, 4_000),
    ] {
        tape.arrives(at_us, seg);
        tape.ack(at_us + 1, upto);
    }
    let flow = tape.flow();
    let late = (Kind::Refused, 2_000, Some(1));
    assert_eq!(told(&flow), [(Kind::Lost, 1_000, None), late]);
    let r = flow.truth.retransmissions;
    assert_eq!((r.needed, r.spurious), (2, 0));
    let counts = PeerCounts::from(&flow.truth);
    assert_eq!((counts.reordered, counts.lost, counts.refused), (0, 1, 1));
}

#[test]
fn what_vanished_before_the_senders_capture_is_neither_late_nor_lost_between_the_captures() {
    let mut tape = Tape::new(0);
    // The third packet was dropped in the sending host; only its retransmission was captured.
    let sent = [
        (0, bytes(0, 1_000, 1)),
        (10, bytes(1_000, 1_000, 2)),
        (30, bytes(3_000, 1_000, 4)),
        (40, bytes(4_000, 1_000, 5)),
        (20_000, bytes(2_000, 1_000, 6)),
    ];
    for ((at_us, seg), upto) in sent.iter().zip([1_000, 2_000, 2_000, 2_000, 5_000]) {
        tape.leaves(*at_us, *seg);
        tape.arrives(at_us + 5_000, *seg);
        tape.ack(at_us + 5_001, upto);
    }
    let flow = tape.flow();
    assert_eq!(told(&flow), []);
    assert_eq!(flow.truth.before_capture, [(2_000, 3_000)]);
    assert_eq!(flow.truth.retransmissions.needed, 1);
}

#[test]
fn what_is_acknowledged_without_having_been_captured_is_not_lost() {
    let mut tape = Tape::new(0);
    let sent = [
        bytes(0, 1_000, 1),
        bytes(1_000, 1_000, 2),
        bytes(2_000, 1_000, 3),
    ];
    for seg in sent {
        tape.leaves(0, seg);
    }
    tape.arrives(5_000, sent[0]);
    tape.arrives(5_020, sent[2]);
    tape.ack(5_030, 3_000);
    let flow = tape.flow();
    assert_eq!(told(&flow), []);
    assert_eq!(flow.truth.not_captured, 1);
}
