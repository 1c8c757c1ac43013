//! Connections as a capture point sees them, and where it then is.

use super::Position;
use crate::choice::{VantageBasis, VantageChoice};
use crate::host::Host;
use inorder_base::vantage::Vantage;
use inorder_wire::{Dir, Has, Segment, TcpFlags};

fn packet(ms: i64, seq: u32, ack: u32, flags: u8) -> Segment {
    Segment {
        ts_ns: ms * 1_000_000,
        seq,
        ack,
        flags: TcpFlags(flags),
        ..Segment::default()
    }
}

/// SYN at 0, SYN-ACK after `there`, ACK after `back` more, as the capture point sees them.
fn handshake(there: i64, back: i64) -> Position {
    let mut p = Position::default();
    p.observe(Dir::LowToHigh, &packet(0, 99, 0, TcpFlags::SYN));
    let both = TcpFlags::SYN | TcpFlags::ACK;
    p.observe(Dir::HighToLow, &packet(there, 499, 100, both));
    p.observe(
        Dir::LowToHigh,
        &packet(there + back, 100, 500, TcpFlags::ACK),
    );
    p
}

#[test]
fn the_handshake_tells() {
    for (there, back, vantage) in [
        (10, 0, Vantage::Sender),
        (0, 10, Vantage::Receiver),
        (5, 6, Vantage::Middle),
    ] {
        let choice = handshake(there, back).choose(Dir::LowToHigh, None, true);
        assert_eq!(
            (choice.vantage, choice.basis),
            (vantage, VantageBasis::Handshake)
        );
    }
}

const NS_PER_US: i64 = 1_000;

fn data(us: i64, seq: u32, len: u32) -> Segment {
    Segment {
        ts_ns: us * NS_PER_US,
        payload_len: len,
        ..packet(0, seq, 500, TcpFlags::ACK)
    }
}

/// An ACK that comes `us` after the handshake began; above a hole with what is SACKed there.
fn ack(us: i64, ack: u32, sacked: Option<(u32, u32)>) -> Segment {
    let mut seg = Segment {
        ts_ns: us * NS_PER_US,
        ..packet(0, 500, ack, TcpFlags::ACK)
    };
    (seg.sack[0], seg.sack_len) = (sacked.unwrap_or_default(), u8::from(sacked.is_some()));
    seg
}

/// Captured at the sender in one room with the receiver, whose first ACK waited for a processor.
fn slow_at_first() -> Position {
    let mut p = Position::default();
    let both = TcpFlags::SYN | TcpFlags::ACK;
    p.observe(Dir::LowToHigh, &packet(0, 99, 0, TcpFlags::SYN));
    let answer = Segment {
        ts_ns: 499 * NS_PER_US,
        ..packet(0, 499, 100, both)
    };
    p.observe(Dir::HighToLow, &answer);
    p.observe(Dir::LowToHigh, &packet(3, 100, 500, TcpFlags::ACK));
    p
}

#[test]
fn one_slow_answer_of_a_host_in_the_same_room_says_nothing() {
    let mut p = slow_at_first();
    for n in 0..40 {
        let (us, seq) = (4_000 + 600 * n, 100 + 100 * n as u32);
        assert!(!p.settled());
        p.observe(Dir::LowToHigh, &data(us, seq, 100));
        p.observe(Dir::HighToLow, &ack(us + 499, seq + 100, None));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_eq!(choice.vantage, Vantage::Sender);
}

/// 3 ms from the sender and 8 ms from the receiver, without timestamps: the handshake alone times the sender. Its data follows each
/// acknowledgement `after_us` later.
fn by_data(after_us: i64) -> Position {
    let mut p = handshake(8, 3);
    for n in 0..40 {
        let (us, seq) = (20_000 + 20_000 * n, 100 + 100 * n as u32);
        p.observe(Dir::HighToLow, &ack(us, seq, None));
        p.observe(Dir::LowToHigh, &data(us + after_us, seq, 100));
    }
    p
}

#[test]
fn a_sender_whose_data_never_follows_sooner_than_it_answered_the_handshake_is_as_far() {
    for (after_us, vantage) in [(3_200, Vantage::Middle), (200, Vantage::Sender)] {
        let choice = by_data(after_us).choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, vantage, "{after_us} us");
    }
}

#[test]
fn what_was_captured_and_the_receiver_lacks_was_lost_behind_the_capture_point() {
    let mut p = slow_at_first();
    for n in 0..3 {
        let (us, seq) = (4_000 + 600 * n, 100 + 200 * n as u32);
        p.observe(Dir::LowToHigh, &data(us, seq, 100));
        p.observe(Dir::LowToHigh, &data(us + 10, seq + 100, 100));
        let sacked = Some((seq + 100, seq + 200));
        p.observe(Dir::HighToLow, &ack(us + 80, seq, sacked));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_eq!(
        (choice.vantage, choice.basis),
        (Vantage::Sender, VantageBasis::Missing)
    );
}

#[test]
fn what_was_not_captured_and_the_receiver_lacks_was_lost_before_the_capture_point() {
    let mut p = handshake(1, 0);
    for n in 0..3 {
        let (us, seq) = (2_000 + 600 * n, 100 + 200 * n as u32);
        p.observe(Dir::LowToHigh, &data(us + 10, seq + 100, 100));
        let sacked = Some((seq + 100, seq + 200));
        p.observe(Dir::HighToLow, &ack(us + 80, seq, sacked));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_ne!(choice.vantage, Vantage::Sender);
    assert_eq!(choice.basis, VantageBasis::Missing);
}

/// Ten times: `lost` of the three packets that are sent do not come by, the receiver lacks the first of these, and it comes later.
fn lose(p: &mut Position, lost: std::ops::Range<u32>) {
    for n in 0..10 {
        let (us, seq) = (20_000 + 20_000 * n, 100 + 400 * n as u32);
        let packets = (0..4).filter(|nth| !lost.contains(nth));
        for nth in packets {
            p.observe(Dir::LowToHigh, &data(us, seq + 100 * nth, 100));
        }
        let first = seq + 100 * lost.start;
        p.observe(
            Dir::HighToLow,
            &ack(us + 11_000, first, Some((seq + 300, seq + 400))),
        );
        p.observe(Dir::LowToHigh, &data(us + 11_010, first, 100));
        p.observe(Dir::HighToLow, &ack(us + 18_000, seq + 400, None));
    }
}

#[test]
fn what_a_host_that_answers_at_once_and_has_passed_no_router_did_not_show_is_the_captures() {
    for (far_ms, vantage) in [(11, Vantage::Sender), (1, Vantage::Middle)] {
        let mut p = handshake(far_ms, 0);
        lose(&mut p, 1..2);
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, vantage, "{far_ms} ms to the other host");
    }
}

#[test]
fn what_lies_between_two_gaps_came_by() {
    let mut p = by_data(3_200);
    let before = p.hosts.map(|host| host.gaps.holes_between);
    // The first and third of five are not captured, and the receiver lacks the second.
    p.observe(Dir::LowToHigh, &data(900_000, 4_200, 100));
    p.observe(Dir::LowToHigh, &data(900_010, 4_400, 100));
    p.observe(Dir::HighToLow, &ack(908_000, 4_200, Some((4_300, 4_500))));
    assert_eq!(p.hosts.map(|host| host.gaps.holes_between), before);
}

#[test]
fn where_one_host_alone_answers_and_all_that_it_lacks_was_captured_the_other_is_near() {
    let mut p = Position::default();
    for n in 0..10 {
        let (us, seq) = (20_000 * n, 100 + 400 * n as u32);
        (0..4).for_each(|nth| p.observe(Dir::LowToHigh, &data(us, seq + 100 * nth, 100)));
        p.observe(
            Dir::HighToLow,
            &ack(us + 11_000, seq + 100, Some((seq + 200, seq + 400))),
        );
        p.observe(Dir::HighToLow, &ack(us + 18_000, seq + 400, None));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_eq!(
        (choice.vantage, choice.basis),
        (Vantage::Sender, VantageBasis::Missing)
    );
}

/// At the sender, by a capture that lacks one frame in three: five of twenty were lost as well.
#[test]
fn where_the_capture_lacks_frames_what_it_did_not_see_tells_no_place() {
    let mut p = handshake(10, 0);
    for n in 0..20 {
        let (us, seq) = (20_000 + 20_000 * n, 100 + 300 * n as u32);
        p.observe(Dir::LowToHigh, &data(us, seq, 100));
        p.observe(Dir::LowToHigh, &data(us + 10, seq + 200, 100));
        if n % 4 == 0 {
            let sacked = Some((seq + 200, seq + 300));
            p.observe(Dir::HighToLow, &ack(us + 10_000, seq + 100, sacked));
        }
        p.observe(Dir::HighToLow, &ack(us + 11_000, seq + 300, None));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_eq!(choice.vantage, Vantage::Sender);
}

#[test]
fn what_lies_between_the_first_packets_of_a_capture_that_begins_in_a_recovery_was_sent_before() {
    let mut p = Position::default();
    // One packet is sent again, and new data far above it.
    p.observe(Dir::LowToHigh, &data(0, 1_000, 100));
    p.observe(Dir::LowToHigh, &data(10, 5_000, 100));
    for n in 0..20 {
        let (us, lacking) = (10_000 + 1_000 * n, 1_100 + 100 * n as u32);
        let sacked = Some((4_000, 5_100));
        p.observe(Dir::HighToLow, &ack(us, lacking, sacked));
        p.observe(Dir::LowToHigh, &data(us + 10, lacking, 100));
    }
    let choice = p.choose(Dir::LowToHigh, None, true);
    assert_ne!(choice.basis, VantageBasis::Missing);
}

/// In the file each packet that the sender gets stands behind what it answers to that, but for `in_order`.
fn swapped(in_order: bool) -> VantageChoice {
    let both = TcpFlags::SYN | TcpFlags::ACK;
    let mut p = Position::default();
    p.observe(Dir::LowToHigh, &packet(0, 99, 0, TcpFlags::SYN));
    let hello = packet(10, 499, 100, both);
    if in_order {
        p.observe(Dir::HighToLow, &hello);
    }
    p.observe(Dir::LowToHigh, &data(10_000, 100, 100));
    if !in_order {
        p.observe(Dir::HighToLow, &hello);
    }
    // The next data comes as late as the receiver's next acknowledgement.
    for n in 0..20 {
        let (us, seq) = (14_000 + 10_000 * n, 200 + 100 * n as u32);
        p.observe(Dir::LowToHigh, &data(us, seq, 100));
        p.observe(Dir::HighToLow, &ack(us + 9_000, seq + 100, None));
    }
    p.choose(Dir::LowToHigh, None, true)
}

#[test]
fn what_answers_before_it_was_asked_is_next_to_the_capture_point() {
    assert_eq!(swapped(true).vantage, Vantage::Sender);
    assert_eq!(swapped(false).vantage, Vantage::Sender);
}

#[test]
fn tens_of_milliseconds_are_not_next_to_an_end() {
    for (there, back) in [(130, 32), (32, 130)] {
        let choice = handshake(there, back).choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, Vantage::Middle);
    }
}

#[test]
fn a_forced_vantage_is_taken_and_the_round_trips_still_told() {
    let choice = handshake(10, 0).choose(Dir::LowToHigh, Some(Vantage::Middle), true);
    assert_eq!(choice.vantage, Vantage::Middle);
    assert_eq!(
        (choice.to_receiver_ns, choice.to_sender_ns),
        (Some(10_000_000), Some(0))
    );
}

/// A transfer with timestamps between a sender that is `near_ms` away and a receiver that is `far_ms` away: both answer many times.
fn many_answers(near_ms: i64, far_ms: i64, ttl: [u8; 2]) -> Position {
    let stamped = |ms: i64, (seq, ack, flags): (u32, u32, u8), (tsval, tsecr): (u32, u32)| {
        let mut seg = packet(ms, seq, ack, flags);
        seg.has |= Has::TIMESTAMPS;
        (seg.tsval, seg.tsecr) = (tsval, tsecr);
        seg
    };
    let mut p = Position::default();
    let mut pass = |dir: Dir, mut seg: Segment| {
        seg.ttl = ttl[dir.index()];
        p.observe(dir, &seg);
    };
    let both = TcpFlags::SYN | TcpFlags::ACK;
    pass(Dir::LowToHigh, stamped(0, (99, 0, TcpFlags::SYN), (1, 0)));
    pass(Dir::HighToLow, stamped(far_ms, (499, 100, both), (1, 1)));
    let mut now = far_ms + near_ms;
    for n in 0..40 {
        let seq = 100 + 100 * n;
        let mut sent = stamped(now, (seq, 500, TcpFlags::ACK), (2 + n, 1 + n));
        sent.payload_len = 100;
        pass(Dir::LowToHigh, sent);
        let answer = (500, seq + 100, TcpFlags::ACK);
        pass(
            Dir::HighToLow,
            stamped(now + far_ms, answer, (2 + n, 2 + n)),
        );
        now += far_ms + near_ms;
    }
    p
}

#[test]
fn a_host_none_of_whose_many_answers_was_soon_is_elsewhere() {
    let cases = [
        // No router on either side: a cloud, or a tunnel.
        (4, 22, [64, 64], Vantage::Middle),
        (6, 6, [64, 64], Vantage::Middle),
        // Routers on the other side alone: no reason to take 15 ms for nothing.
        (15, 42, [64, 57], Vantage::Middle),
        (0, 22, [64, 57], Vantage::Sender),
        (42, 0, [57, 64], Vantage::Receiver),
    ];
    for (near_ms, far_ms, ttl, vantage) in cases {
        let p = many_answers(near_ms, far_ms, ttl);
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_eq!(
            choice.vantage, vantage,
            "{near_ms} and {far_ms} ms, {ttl:?}"
        );
    }
}

/// A client without a router before it, which sends requests of 100 bytes and delays each acknowledgement by `delay_ms`, and a server that
/// is 2 ms away behind routers. The handshake was not captured.
fn delayed(delay_ms: i64, exchanges: u32) -> Position {
    let mut p = Position::default();
    for n in 0..exchanges {
        let now = 1_000 * i64::from(n);
        let (seq, ack) = (100 + 100 * n, 500 + 100 * n);
        let bytes = |seg: Segment, payload_len, ttl| Segment {
            payload_len,
            ttl,
            ..seg
        };
        p.observe(
            Dir::LowToHigh,
            &bytes(packet(now, seq, ack, TcpFlags::ACK), 100, 128),
        );
        let answer = packet(now + 2, ack, seq + 100, TcpFlags::ACK);
        p.observe(Dir::HighToLow, &bytes(answer, 100, 57));
        let late = packet(now + 2 + delay_ms, seq + 100, ack + 100, TcpFlags::ACK);
        p.observe(Dir::LowToHigh, &bytes(late, 0, 128));
    }
    p
}

#[test]
fn a_few_delayed_acknowledgements_do_not_make_a_host_distant() {
    for (delay_ms, exchanges, vantage) in [
        (46, 3, Vantage::Sender),
        (46, 40, Vantage::Middle),
        (12, 3, Vantage::Middle),
    ] {
        let choice = delayed(delay_ms, exchanges).choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, vantage, "{delay_ms} ms, {exchanges} times");
    }
}

#[test]
fn a_sender_whose_only_answer_took_as_long_as_a_path_is_not_next_to_the_capture_point() {
    for (there, back, vantage) in [(6, 5, Vantage::Middle), (8, 1, Vantage::Sender)] {
        let mut p = handshake(there, back);
        for n in 0..40 {
            let (us, seq) = (20_000 + 10_000 * n, 100 + 100 * n as u32);
            p.observe(Dir::LowToHigh, &data(us, seq, 100));
            p.observe(Dir::HighToLow, &ack(us + there * 1_000, seq + 100, None));
        }
        let choice = p.choose(Dir::LowToHigh, None, true);
        assert_eq!(choice.vantage, vantage, "{there} and {back} ms");
    }
}

#[test]
fn a_host_behind_a_router_is_not_beside_the_capture_point_unless_that_takes_no_time() {
    let place = |ttl: u8, back_us: i64| {
        let from = |us: i64, seq: u32, ack: u32, flags: u8| Segment {
            ts_ns: us * NS_PER_US,
            ttl,
            ..packet(0, seq, ack, flags)
        };
        let mut p = Position::default();
        p.observe(Dir::LowToHigh, &from(0, 99, 0, TcpFlags::SYN));
        let both = TcpFlags::SYN | TcpFlags::ACK;
        let answer = Segment {
            ttl: 50,
            ..packet(20, 499, 100, both)
        };
        p.observe(Dir::HighToLow, &answer);
        let acks = from(20_000 + back_us, 100, 500, TcpFlags::ACK);
        p.observe(Dir::LowToHigh, &acks);
        p.choose(Dir::LowToHigh, None, true).vantage
    };
    assert_eq!(place(64, 350), Vantage::Sender);
    assert_eq!(place(63, 40), Vantage::Sender, "a container");
    assert_eq!(place(63, 350), Vantage::Middle);
}

/// Keep-alives come every five minutes; an answer came once.
#[test]
fn what_comes_minutes_later_is_no_answer() {
    let mut host = Host::default();
    host.sample(300_000_000_000);
    assert_eq!((host.pace.timed, host.pace.answer_ns), (0, None));
    host.sample(40_000_000);
    assert_eq!(host.pace.answer_ns, Some(40_000_000));
}
