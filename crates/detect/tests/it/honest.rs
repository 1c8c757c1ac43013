//! What a capture cannot show is not asserted: small traces, each with one thing that once led to a wrong verdict.

use inorder_detect::{
    Cause, Confidence, FlowReport, Kind, NotSeen, Vantage, VantageBasis, Verdict,
};

use inorder_wire::{Has, Segment, TcpFlags};

use crate::trace::{ISN, LEN, Trace, asserted, in_order};

/// At the receiver, no timestamps, no identifications: segment 2 is lost and comes again 20 ms later.
fn lossy_at_the_receiver(answers: &[i64], ack_us: i64) -> FlowReport {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, answers, ack_us, true);
    for n in [0, 1, 3, 4, 5] {
        trace.data(2_000_000 + i64::from(n) * 100, n, 0);
    }
    trace.ack(2_000_600, 2 * LEN, 60_000, &[(3 * LEN, 6 * LEN)], 0);
    trace.data(2_020_600, 2, 0);
    trace.ack(2_020_700, 6 * LEN, 60_000, &[], 0);
    trace.flow()
}

#[test]
fn a_handshake_slower_than_the_data_makes_no_loss_a_late_packet() {
    // 24 ms for the handshake, 20 ms for the data.
    assert_eq!(asserted(&lossy_at_the_receiver(&[10], 24_010)), []);
}

#[test]
fn a_repeated_syn_ack_says_nothing_of_the_round_trip() {
    assert_eq!(
        asserted(&lossy_at_the_receiver(&[10, 1_000_010], 1_020_010)),
        []
    );
}

#[test]
fn the_next_identification_proves_a_retransmission_though_the_counter_serves_others_too() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    let ids = [7_000, 19_500, 31_000, 45_000, 60_001];
    for (n, id) in [0, 1, 3, 4, 5].into_iter().zip(ids) {
        trace.data(2_000_000 + i64::from(n) * 100, n, id);
    }
    trace.data(2_000_900, 2, 60_002);
    let told = asserted(&trace.flow());
    assert_eq!(told, [(Kind::Lost, Confidence::Certain)]);
}

#[test]
fn where_sack_options_are_cut_off_nothing_is_certain_and_the_flow_is_rough() {
    let mut trace = Trace::new(None);
    trace.handshake(0, &[20_000], 20_010, true);
    for n in 0..40 {
        trace.data(30_000 + i64::from(n) * 100, n, 0);
    }
    for n in 1..10 {
        trace.ack(
            50_000 + i64::from(n) * 100,
            2 * LEN,
            60_000,
            &[],
            Has::OPTIONS_CUT,
        );
    }
    trace.data(51_000, 2, 0);
    trace.ack(71_000, 40 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    assert_eq!(flow.vantage.vantage, Vantage::Sender);
    assert!(flow.rough && flow.blind.has(NotSeen::SackOptions));
    // The ACK of the retransmission is the first to advance, and no duplicate followed.
    assert_eq!(asserted(&flow), [(Kind::Lost, Confidence::Likely)]);
    let r = flow.retransmissions;
    assert_eq!((r.total, r.needed, r.spurious, r.ambiguous), (1, 1, 0, 0));
}

#[test]
fn a_frame_captured_again_milliseconds_later_is_no_retransmission() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    // Every packet passes a second capture point 5 ms later, a hundred packets on.
    for n in 0..1_100u32 {
        trace.data(100_000 + i64::from(n) * 50, n, 1 + n as u16);
        if n >= 200 {
            trace.data(100_010 + i64::from(n) * 50, n - 100, 1 + (n - 100) as u16);
        }
    }
    let flow = trace.flow();
    assert_eq!(flow.retransmissions.total, 0);
    assert_eq!(flow.artefacts.duplicated_frames, 900);
    assert_eq!(flow.originals.packets, 1_100);
}

#[test]
fn a_file_that_holds_its_packets_twice_in_sequence_has_no_retransmissions() {
    // A connection that waits to its end, and longer ones, of which not all packets are remembered.
    for (pairs, again) in [(9, 0..9), (900, 0..900), (900, 880..900)] {
        for numbered in [false, true] {
            for vantage in [None, Some(Vantage::Sender), Some(Vantage::Receiver)] {
                let mut trace = Trace::new(vantage);
                trace.handshake(0, &[20_000], 20_010, true);
                in_order(&mut trace, 0..pairs, numbered);
                // The files overlap, and the second goes on behind the first.
                in_order(&mut trace, again.start..again.end + 5, numbered);
                let flow = trace.flow();
                let case = (pairs, &again, numbered, vantage);
                assert_eq!(flow.retransmissions.total, 0, "{case:?}");
                assert_eq!(flow.originals.packets, u64::from(2 * (pairs + 5)));
                let frames = u64::from(3 * (again.end - again.start));
                assert_eq!(flow.artefacts.duplicated_frames, frames, "{case:?}");
                assert_eq!(flow.artefacts.time_reversals, 0, "{case:?}");
            }
        }
    }
}

#[test]
fn what_was_sent_a_timers_time_apart_and_comes_together_tells_that_the_delay_jumped() {
    let cause = |sent_again: u32, came_us: i64| {
        let mut trace = Trace::new(Some(Vantage::Receiver));
        trace.handshake_with(0, &[10], 24_010, Has::TIMESTAMPS);
        for n in 0..8 {
            trace.stamped(400_000 + i64::from(n), n, 1_100);
        }
        trace.stamped(400_010 + came_us, 0, 1_100 + sent_again);
        trace.ack(400_020 + came_us, 8 * LEN, 60_000, &[], 0);
        let flow = trace.flow();
        assert_eq!(flow.retransmissions.spurious, 1);
        flow.recoveries.list[0].cause
    };
    assert_eq!(cause(244, 0), Cause::DelayJump);
    assert_eq!(cause(244, 244_000), Cause::DelayJump, "after a silence");
    assert_ne!(cause(50, 0), Cause::DelayJump, "too soon for a timer");
}

#[test]
fn duplicate_acks_without_identifications_are_no_frames_captured_twice() {
    // Whether there is a field for them, which is 0.
    for has in [0, Has::TIMESTAMPS, Has::IP_ID | Has::TIMESTAMPS] {
        let mut trace = Trace::new(Some(Vantage::Sender));
        trace.handshake(0, &[20_000], 20_010, true);
        for n in 0..6 {
            trace.data(30_000 + i64::from(n) * 100, n, 0);
        }
        // All alike, within a tick of the receiver's clock.
        for n in 0..4 {
            let (window, blocks) = (60_000, &[(3 * LEN, 6 * LEN)]);
            trace.ack(50_000 + n * 10, 2 * LEN, window, blocks, has);
        }
        trace.data(50_100, 2, 0);
        trace.ack(70_100, 6 * LEN, 60_000, &[], has);
        let flow = trace.flow();
        assert_eq!(flow.artefacts.duplicated_frames, 0, "{has}");
        assert_eq!((flow.originals.packets, flow.retransmissions.total), (6, 1));
    }
}

#[test]
fn frames_captured_twice_are_known_without_identifications() {
    let mut trace = Trace::new(None);
    let (there, back) = (trace.dir, trace.dir.reverse());
    let both = TcpFlags::SYN | TcpFlags::ACK;
    for (dir, at_us, seq, ack, payload_len, flags) in [
        (there, 0, ISN, 0, 0, TcpFlags::SYN),
        (back, 20_000, 0, ISN + 1, 0, both),
        (there, 20_010, ISN + 1, 1, 0, TcpFlags::ACK),
        (there, 30_000, ISN + 1, 1, LEN, TcpFlags::ACK),
        (there, 30_010, ISN + 1 + LEN, 1, LEN, TcpFlags::ACK),
        (back, 50_000, 1, ISN + 1 + 2 * LEN, 0, TcpFlags::ACK),
    ] {
        let seg = Segment {
            seq,
            ack,
            payload_len,
            flags: TcpFlags(flags),
            window: 60_000,
            ..Segment::default()
        };
        trace.push(dir, at_us, seg);
        trace.push(dir, at_us, seg);
    }
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 6);
    assert_eq!((flow.originals.packets, flow.retransmissions.total), (2, 0));
}

#[test]
fn a_packet_of_a_merged_frame_that_the_network_delivers_twice_is_no_retransmission() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    // Each frame is ten packets, merged by the card.
    for n in 0..20 {
        trace.bytes(
            60_000 + i64::from(n) * 1_000,
            n * 10 * LEN,
            10 * LEN,
            100 + n as u16 * 10,
        );
    }
    trace.data(80_000, 183, 283);
    // This one is one: the counter has gone on.
    trace.data(80_100, 184, 300);
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 1);
    assert_eq!(flow.retransmissions.total, 1);
}

#[test]
fn a_packet_of_a_merged_frame_that_is_sent_again_with_its_identification_is_a_retransmission() {
    let mut trace = Trace::new(Some(Vantage::Middle));
    trace.handshake(0, &[20_000], 50_000, true);
    for n in 0..20 {
        let (at_us, from) = (60_000 + i64::from(n) * 1_000, n * 10 * LEN);
        trace.bytes(at_us, from, 10 * LEN, 100 + n as u16 * 10);
        trace.ack(at_us + 20_000, from + 10 * LEN, 60_000, &[], 0);
    }
    trace.bytes(110_000, 200 * LEN, 10 * LEN, 300);
    // Behind this capture point the fourth packet was lost.
    let above = (204 * LEN, 210 * LEN);
    trace.ack(130_000, 203 * LEN, 60_000, &[above], 0);
    trace.data(160_000, 203, 303);
    trace.ack(180_000, 210 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 0);
    assert_eq!(flow.retransmissions.total, 1);
}

#[test]
fn what_the_receiver_asked_for_and_the_capture_lacks_is_not_certain_to_be_late() {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[20_000], 20_010, true);
    let at_us = |n: u32| 30_000 + i64::from(n) * 100;
    // The capture lacks the third packet, which was lost; nothing marks its retransmission.
    let captured = (0..6).filter(|&n| n != 2);
    captured.for_each(|n| trace.data(at_us(n), n, 0));
    for n in 3..6 {
        let above = (3 * LEN, (n + 1) * LEN);
        trace.ack(at_us(n) + 20_000, 2 * LEN, 60_000, &[above], 0);
    }
    trace.data(50_600, 2, 0);
    trace.ack(70_600, 6 * LEN, 60_000, &[], 0);
    assert_eq!(asserted(&trace.flow()), []);
}

#[test]
fn the_retransmission_of_a_lost_tail_that_newer_data_overtakes_is_not_certain_to_be_an_original() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    // Of the segments 0 to 29, with the identifications 1 to 30, these are lost: 18, 20, 22, and the last two.
    let came = (0..28).filter(|n| ![18, 20, 22].contains(n));
    came.for_each(|n| trace.data(100_000 + i64::from(n) * 100, n, 1 + n as u16));
    trace.data(160_000, 18, 31);
    // Two retransmissions change places, and no number of theirs is missing any more.
    trace.data(220_000, 22, 33);
    trace.data(220_100, 20, 32);
    // A round trip later 28 comes again behind the new 30, which left after it.
    trace.data(280_000, 30, 35);
    trace.data(280_100, 28, 34);
    trace.data(340_000, 29, 36);
    trace.ack(340_100, 31 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    let reordered = flow
        .records
        .events
        .iter()
        .filter(|e| e.kind == Kind::Reordered);
    let told: Vec<_> = reordered.map(|e| (e.frame, e.confidence)).collect();
    assert_eq!(told, [(33, Confidence::Ambiguous)]);
    assert_eq!(flow.originals.lost, 4);
}

#[test]
fn a_merged_frame_may_begin_with_packets_that_came_before() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    let at_us = |n: u32| 60_000 + i64::from(n) * 100;
    (0..10).for_each(|n| trace.data(at_us(n), n, 100 + n as u16));
    // The network delivers the last once more, and the card merges the second copy with what follows.
    trace.bytes(at_us(10), 9 * LEN, 3 * LEN, 109);
    // Of these two the last comes again, alone; and then in front of others.
    trace.bytes(at_us(12), 12 * LEN, 2 * LEN, 112);
    trace.data(at_us(13), 13, 113);
    trace.bytes(at_us(14), 13 * LEN, 3 * LEN, 113);
    trace.data(at_us(15), 16, 116);
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 3);
    assert_eq!((flow.retransmissions.total, flow.originals.lost), (0, 0));
    assert_eq!(asserted(&flow), []);
}

#[test]
fn a_byte_that_probes_a_closed_window_is_no_data_until_it_is_taken() {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[20_000], 20_010, true);
    for n in 0..4 {
        trace.data(30_000 + i64::from(n) * 100, n, 0);
    }
    trace.ack(50_500, 4 * LEN, 0, &[], 0);
    // Refused five times, taken the sixth; then the rest.
    for probe in 0..5i64 {
        trace.bytes(300_000 + probe * 200_000, 4 * LEN, 1, 0);
        trace.ack(320_000 + probe * 200_000, 4 * LEN, 0, &[], 0);
    }
    trace.bytes(1_300_000, 4 * LEN, 1, 0);
    trace.ack(1_320_000, 4 * LEN + 1, 60_000, &[], 0);
    trace.bytes(1_320_100, 4 * LEN + 1, LEN - 1, 0);
    trace.ack(1_340_100, 5 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    assert_eq!(flow.retransmissions.total, 0);
    assert_eq!(
        (flow.originals.packets, flow.originals.bytes),
        (6, u64::from(5 * LEN))
    );
    assert_eq!(asserted(&flow), []);
}

#[test]
fn a_capture_of_nothing_but_data_has_no_vantage_point_and_asserts_nothing() {
    let mut trace = Trace::new(None);
    for n in [0, 1, 3, 2, 4] {
        trace.data(i64::from(n) * 100, n, 0);
    }
    let flow = trace.flow();
    assert_eq!(flow.vantage.basis, VantageBasis::Unknown);
    assert!(flow.rough && flow.blind.has(NotSeen::Vantage));
    assert_eq!(asserted(&flow), []);
    assert_eq!(flow.reordering.ambiguous, 1);
}

/// The `n`th segment and an acknowledgement of the other direction's data take turns; of the number of the missing
/// packet nothing tells whether it was either.
#[test]
fn what_vanished_where_both_hosts_send_data_is_no_lost_tail() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10_000], 20_000, true);
    for n in 0..30u32 {
        let (at_us, ip_id) = (100_000 + i64::from(n) * 50_000, 100 + 2 * n as u16);
        let vanished = n == 28;
        if !vanished {
            trace.bytes(at_us, n * LEN, 0, ip_id);
        }
        trace.data(at_us + 40_000, n, ip_id + 1);
        trace.ack(at_us + 40_001, (n + 1) * LEN, 60_000, &[], 0);
    }
    let flow = trace.flow();
    assert_eq!(asserted(&flow), []);
    assert_eq!(flow.originals.lost, 0);
}

#[test]
fn a_syn_repeated_before_anything_is_known_is_no_other_connection() {
    let mut trace = Trace::new(None);
    // The first SYN/ACK is lost; nobody has answered when the SYN comes again.
    trace.handshake(0, &[], 1_000_000, true);
    trace.handshake(1_000_500, &[1_010_500], 1_010_600, true);
    for n in 0..40 {
        trace.data(1_020_000 + i64::from(n) * 100, n, 0);
    }
    trace.ack(1_040_000, 40 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    assert_eq!((flow.flow.reuse, flow.originals.packets), (0, 40));
}

#[test]
fn a_first_frame_captured_twice_leaves_the_identifications_trusted() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    trace.data(100_000, 0, 1);
    trace.data(100_000, 0, 1);
    for n in [1, 2, 4, 5] {
        trace.data(100_000 + i64::from(n) * 100, n, 1 + n as u16);
    }
    trace.data(100_600, 3, 4);
    let flow = trace.flow();
    assert_eq!(flow.artefacts.duplicated_frames, 1);
    assert_eq!(asserted(&flow), [(Kind::Reordered, Confidence::Certain)]);
}

#[test]
fn an_original_that_only_the_receiver_saw_is_not_lost() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    // The capture lacks segment 2; its receiver does not, and the sender repeats it for want of an ACK.
    for n in [0, 1, 3, 4, 5] {
        trace.data(100_000 + i64::from(n) * 100, n, 10 + n as u16);
    }
    trace.ack(100_600, 6 * LEN, 60_000, &[], 0);
    trace.data(350_000, 2, 16);
    let flow = trace.flow();
    assert_eq!(
        (flow.originals.lost, flow.artefacts.missing_segments),
        (0, 1)
    );
    assert_eq!(flow.retransmissions.spurious, 1);
    assert_eq!(asserted(&flow), []);
}

#[test]
fn what_was_captured_behind_its_answers_asserts_nothing() {
    let mut trace = Trace::new(None);
    trace.handshake(0, &[20_000], 20_010, true);
    for n in 0..20u32 {
        let at_us = 30_000 + i64::from(n) * 1_000;
        trace.ack(at_us, (n + 1) * LEN, 60_000, &[], 0);
        trace.data(at_us + 500, n, 0);
    }
    trace.data(60_000, 3, 0);
    let flow = trace.flow();
    assert!(flow.rough && flow.blind.has(NotSeen::Order));
    let r = flow.retransmissions;
    assert_eq!((r.needed, r.spurious, r.ambiguous), (0, 0, 1));
}

/// The receiver's packets are captured `behind_us` late, as its SYN/ACK shows, which comes behind its answer. Of twenty segments, each acknowledged
/// 20 ms later, one is sent again that had arrived. What is said of that retransmission?
fn answers_behind(behind_us: i64) -> (Verdict, Confidence) {
    let mut trace = Trace::new(None);
    trace.handshake(0, &[], 20_000, true);
    let accepts = Segment {
        ack: ISN + 1,
        mss: LEN as u16,
        flags: TcpFlags(TcpFlags::SYN | TcpFlags::ACK),
        has: Has::SACK_PERMITTED,
        window: 60_000,
        ..Segment::default()
    };
    let from_receiver = trace.dir.reverse();
    trace.push(from_receiver, 20_000 + behind_us, accepts);
    for n in 0..20u32 {
        let at_us = 30_000 + i64::from(n) * 30_000;
        trace.data(at_us, n, 0);
        trace.ack(at_us + 20_000 + behind_us, (n + 1) * LEN, 60_000, &[], 0);
    }
    trace.data(700_000, 3, 0);
    let flow = trace.flow();
    assert!(flow.rough && flow.blind.has(NotSeen::Order));
    let [one] = &flow.records.retransmissions[..] else {
        panic!("{:?}", flow.records.retransmissions);
    };
    (one.verdict, one.confidence)
}

#[test]
fn answers_captured_a_small_part_of_a_round_trip_late_leave_what_is_said_likely() {
    assert_eq!(answers_behind(500), (Verdict::Spurious, Confidence::Likely));
    assert_eq!(answers_behind(4_000).0, Verdict::Ambiguous);
}

/// Segments 1 and 2 are lost. The retransmission of 2 is overtaken by a later one of 1, whose timestamp makes it too old
/// (PAWS): the receiver discards it and goes on asking, and only another fills the hole.
#[test]
fn a_retransmission_that_was_refused_fills_nothing() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    let options = Has::SACK_PERMITTED | Has::TIMESTAMPS;
    trace.handshake_with(0, &[10], 50_010, options);
    for (n, tsval) in [(0, 100), (3, 100), (4, 101)] {
        trace.stamped(100_000 + i64::from(n) * 100, n, tsval);
    }
    let above = [(3 * LEN, 5 * LEN)];
    trace.ack(100_500, LEN, 60_000, &above, Has::TIMESTAMPS);
    trace.stamped(160_000, 1, 160);
    trace.ack(160_010, 2 * LEN, 60_000, &above, Has::TIMESTAMPS);
    trace.stamped(160_100, 2, 150);
    trace.ack(160_110, 2 * LEN, 60_000, &above, Has::TIMESTAMPS);
    trace.stamped(420_000, 2, 420);
    trace.ack(420_010, 5 * LEN, 60_000, &[], Has::TIMESTAMPS);
    let flow = trace.flow();
    let r = flow.retransmissions;
    assert_eq!((r.total, r.needed, r.spurious), (3, 3, 0));
    let lost = (Kind::Lost, Confidence::Certain);
    assert_eq!(asserted(&flow), [lost, lost]);
}

#[test]
fn what_was_sent_before_the_capture_began_is_no_first_transmission_when_it_is_sent_again() {
    // The capture begins in a recovery: 10 to 30 have arrived, but for 12 and 15; new data begins at 40.
    let mut trace = Trace::new(Some(Vantage::Sender));
    let some = (13 * LEN, 15 * LEN);
    trace.ack(0, 10 * LEN, 60_000, &[(16 * LEN, 30 * LEN), some], 0);
    trace.data(100, 12, 0);
    trace.data(110, 15, 0);
    for n in 40..44 {
        trace.data(200 + i64::from(n), n, 0);
    }
    trace.ack(20_100, 15 * LEN, 60_000, &[(16 * LEN, 40 * LEN)], 0);
    trace.ack(20_110, 40 * LEN, 60_000, &[], 0);
    trace.ack(20_240, 42 * LEN, 60_000, &[], 0);
    trace.ack(20_242, 44 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    assert_eq!(asserted(&flow), []);
    assert_eq!((flow.originals.packets, flow.reordering.reordered), (4, 0));
}

#[test]
fn what_a_receiver_reports_and_no_frame_brought_came_before_the_capture_began() {
    // Two retransmissions of one tick overtake each other: neither is an original that comes late.
    let mut trace = Trace::new(Some(Vantage::Receiver));
    let stamps = Has::TIMESTAMPS;
    trace.stamped(0, 12, 100);
    let blocks = [(19 * LEN, 30 * LEN), (16 * LEN, 18 * LEN)];
    trace.ack(10, 14 * LEN, 60_000, &blocks, stamps);
    trace.stamped(19_000, 14, 119);
    trace.ack(19_010, 15 * LEN, 60_000, &blocks, stamps);
    trace.stamped(20_000, 18, 120);
    trace.ack(20_010, 15 * LEN, 60_000, &[(16 * LEN, 30 * LEN)], stamps);
    trace.stamped(20_100, 15, 120);
    trace.ack(20_110, 30 * LEN, 60_000, &[], stamps);
    for n in 0..4 {
        trace.stamped(20_200 + i64::from(n), 30 + n, 121);
    }
    let flow = trace.flow();
    assert_eq!(asserted(&flow), []);
    assert_eq!((flow.reordering.reordered, flow.originals.lost), (0, 0));
}

#[test]
fn what_fills_a_range_that_was_forgotten_is_not_said_to_be_spurious() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 50_010, true);
    let segments = 16_390;
    (0..segments).for_each(|n| trace.bytes(100_000 + i64::from(n), n * 20 + 10, 10, 0));
    trace.ack(200_000, 0, 60_000, &[(10, 20)], 0);
    (0..segments).for_each(|n| trace.bytes(300_000 + i64::from(n), n * 20, 10, 0));
    let flow = trace.flow();
    assert!(flow.rough && flow.blind.has(NotSeen::Holes));
    let r = flow.retransmissions;
    assert_eq!((r.spurious, r.ambiguous), (0, 6));
}

/// A sender that keeps identifications, beside it or beside its receiver, at a round trip of 4 ms: of every twenty segments the fifth is lost and
/// comes again a round trip later with the number that it had. Every segment is captured `copies` times, 30 us apart.
fn kept_identifications(vantage: Vantage, copies: i64) -> FlowReport {
    let mut trace = Trace::new(Some(vantage));
    let at_sender = vantage == Vantage::Sender;
    match at_sender {
        true => trace.handshake(0, &[4_000], 4_010, true),
        false => trace.handshake(0, &[10], 4_010, true),
    }
    for round in 0..8 {
        let (at, first) = (10_000 + i64::from(round) * 30_000, round * 20);
        let lost = first + 4;
        // When data passes, and when its acknowledgements do.
        let acks = if at_sender { 4_000 } else { 10 };
        let mut frames = Vec::new();
        for n in first..first + 20 {
            let sent = at + i64::from(n - first) * 100;
            if at_sender || n != lost {
                frames.push((sent, n, None));
            }
            if n > lost {
                frames.push((sent + acks, n, Some((lost * LEN, Some((n + 1) * LEN)))));
            } else if n < lost {
                frames.push((sent + acks, n, Some(((n + 1) * LEN, None))));
            }
        }
        // Three reports later it is sent again.
        let again = at + 800 + if at_sender { acks } else { 4_000 };
        frames.push((again, lost, None));
        frames.push((again + acks + 1, lost, Some(((first + 20) * LEN, None))));
        let mut all: Vec<_> = (0..copies)
            .flat_map(|copy| frames.iter().map(move |f| (f.0 + copy * 30, f.1, f.2)))
            .collect();
        all.sort_by_key(|f| f.0);
        for (at, n, ack) in all {
            match ack {
                None => trace.data(at, n, 100 + n as u16),
                Some((bytes, top)) => {
                    let blocks: Vec<_> =
                        top.map(|top| ((lost + 1) * LEN, top)).into_iter().collect();
                    trace.ack(at, bytes, 60_000, &blocks, 0);
                }
            }
        }
    }
    trace.flow()
}

#[test]
fn what_is_sent_again_with_its_old_identification_is_neither_late_nor_captured_twice() {
    let flow = kept_identifications(Vantage::Sender, 1);
    assert_eq!(flow.retransmissions.total, 8);
    assert!(
        asserted(&flow).iter().all(|e| e.0 == Kind::Lost),
        "{:?}",
        asserted(&flow)
    );
    let flow = kept_identifications(Vantage::Receiver, 1);
    // Until the habit is known, late packets are likelier; nothing is certain.
    let told = asserted(&flow);
    let late = told.iter().filter(|e| e.0 == Kind::Reordered);
    assert!(late.clone().all(|e| e.1 == Confidence::Likely), "{told:?}");
    assert!(late.count() <= 3, "{told:?}");
}

#[test]
fn duplicate_frames_of_a_host_that_keeps_identifications_are_no_retransmissions() {
    let flow = kept_identifications(Vantage::Sender, 2);
    assert_eq!(flow.retransmissions.total, 8);
    assert!(
        asserted(&flow).iter().all(|e| e.0 == Kind::Lost),
        "{:?}",
        asserted(&flow)
    );
}

/// Eight packets are captured, each again 5 ms later with its identification and the time to live of its number; the receiver
/// acknowledges it between the two.
fn again_with_ttl(ttl_of: impl Fn(u32) -> u8) -> FlowReport {
    let mut trace = Trace::new(None);
    let dir = trace.dir;
    trace.handshake(0, &[200], 210, false);
    for n in 0..8 {
        let at_us = 30_000 + i64::from(n) * 20_000;
        for (later_us, ttl) in [(0, 64), (5_000, ttl_of(n))] {
            let seg = Segment {
                seq: ISN + 1 + n * LEN,
                ack: 1,
                payload_len: LEN,
                flags: TcpFlags(TcpFlags::ACK),
                window: 60_000,
                ip_id: 100 + n as u16,
                ttl,
                has: Has::IP_ID,
                ..Segment::default()
            };
            trace.push(dir, at_us + later_us, seg);
            if later_us == 0 {
                // Meanwhile it asks for more, as it does before what is sent again.
                trace.ack(at_us + 1_000, n * LEN, 60_000, &[], 0);
            }
        }
        trace.ack(at_us + 7_000, (n + 1) * LEN, 60_000, &[], 0);
    }
    trace.flow()
}

#[test]
fn what_comes_again_from_behind_a_router_with_its_identification_was_captured_twice() {
    let flow = again_with_ttl(|_| 63);
    assert_eq!(flow.retransmissions.total, 0);
    assert_eq!(flow.artefacts.duplicated_frames, 8);
    // With the same time to live it may come from a host that keeps its identifications.
    let of_the_host = again_with_ttl(|_| 64);
    assert!(of_the_host.artefacts.duplicated_frames < 8);
    // Once that is known, what takes another path is no duplicate frame either.
    let sprayed = again_with_ttl(|n| if n < 7 { 64 } else { 63 });
    assert_eq!(
        sprayed.artefacts.duplicated_frames,
        of_the_host.artefacts.duplicated_frames
    );
}

#[test]
fn a_byte_before_the_first_one_was_not_sent_before() {
    for first in [0, 1] {
        let mut trace = Trace::new(None);
        let dir = trace.dir;
        trace.handshake(0, &[20_000], 20_010, true);
        // A keep-alive with a byte of garbage (RFC 9293 section 3.8.4).
        let garbage = Segment {
            seq: ISN,
            ack: 1,
            payload_len: 1 + first * LEN,
            flags: TcpFlags(TcpFlags::ACK),
            window: 60_000,
            ..Segment::default()
        };
        trace.push(dir, 30_000, garbage);
        for n in first..4 {
            trace.data(60_000 + i64::from(n) * 100, n, 0);
        }
        trace.ack(90_000, 4 * LEN, 60_000, &[], 0);
        let flow = trace.flow();
        assert_eq!(
            (flow.originals.packets, flow.retransmissions.total),
            (4, 0),
            "{first}"
        );
    }
}
