//! What receivers and senders leave unsaid: ranges that no block lists, and retransmissions with the identification of their original.

use inorder_detect::{Confidence, Identification, Kind, Vantage, Verdict};

use crate::trace::{LEN, Trace, asserted};

/// A receiver whose acknowledgements have one block and answer several packets.
#[test]
fn what_came_while_one_block_told_of_another_range_may_not_be_late() {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[20_000], 20_010, true);
    for n in 0..24 {
        trace.data(30_000 + i64::from(n) * 100, n, 0);
    }
    let mut ack = |at: i64, upto: u32, (from, to): (u32, u32)| {
        let blocks = [(from * LEN, to * LEN)];
        trace.ack(50_000 + at * 100, upto * LEN, 60_000, &blocks, 0);
    };
    for n in [2, 4, 6, 8, 10] {
        ack(i64::from(n), 1, (n, n + 1));
    }
    ack(18, 1, (14, 18));
    // Of segments 13, 18 and 19, the first may have come before the acknowledgement above, which tells of 14 to 17 alone.
    ack(20, 1, (12, 20));
    trace.ack(52_500, 24 * LEN, 60_000, &[], 0);
    let flow = trace.flow();
    let late = flow
        .records
        .events
        .iter()
        .filter(|e| e.seq_offset == 13 * u64::from(LEN));
    let told: Vec<_> = late.map(|e| (e.kind, e.confidence)).collect();
    assert_eq!(told, [(Kind::Reordered, Confidence::Ambiguous)]);
}

/// A receiver's capture of a host that keeps identifications: five packets come again a round trip later although nobody asked for them.
#[test]
fn what_comes_a_round_trip_later_with_its_old_identification_is_no_duplicate_frame() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 20_010, true);
    for n in 0..2_000u32 {
        let at = 100_000 + i64::from(n) * 100;
        trace.data(at, n, 1 + n as u16);
        if n >= 300 && n % 300 == 0 {
            let old = n - 250;
            trace.data(at + 10, old, 1 + old as u16);
        }
    }
    let flow = trace.flow();
    assert_eq!(
        flow.artefacts.duplicated_frames, 2,
        "as long as they are few"
    );
    assert_eq!(flow.retransmissions.total, 4);
    assert_eq!(
        flow.endpoints.habits.sender_identification,
        Identification::Kept
    );
}

/// The same host, captured from the middle of a connection on, so that nobody knows the round trip: lost packets come 30 ms later.
#[test]
fn without_a_round_trip_an_old_identification_is_no_sign_of_lateness() {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    for n in 0..2_000u32 {
        let at = 100_000 + i64::from(n) * 100;
        if n % 300 != 50 {
            trace.data(at, n, 1 + n as u16);
        }
        if n >= 300 && n % 300 == 0 {
            let lost = n - 250;
            trace.ack(
                at + 5,
                lost * LEN,
                60_000,
                &[((lost + 1) * LEN, n * LEN)],
                0,
            );
            trace.data(at + 5_000, lost, 1 + lost as u16);
            trace.ack(at + 5_005, n * LEN, 60_000, &[], 0);
        }
    }
    let told = asserted(&trace.flow());
    assert!(told.len() <= 2, "{told:?}");
}

/// A capture whose host passes on the sender's data `behind_us` late, so that acknowledgements come before it. Segment 20 is late.
fn data_behind_its_answers(behind_us: i64) -> Vec<(Kind, Confidence)> {
    let mut trace = Trace::new(Some(Vantage::Sender));
    trace.handshake(0, &[1_000], 1_010, true);
    let mut events: Vec<(i64, bool, u32)> = (0..40)
        .flat_map(|n| {
            let at = 10_000 + 1_000 * i64::from(n);
            [(at + behind_us, true, n), (at + 1_000, false, n)]
        })
        .collect();
    events.sort_unstable();
    for (at, is_data, n) in events {
        match (is_data, n) {
            (true, _) => trace.data(at, n, 0),
            (false, 20) => trace.ack(at, 20 * LEN, 60_000, &[(21 * LEN, 22 * LEN)], 0),
            (false, 21) => trace.ack(at, 20 * LEN, 60_000, &[(21 * LEN, 23 * LEN)], 0),
            (false, 22) => trace.ack(at, 23 * LEN, 60_000, &[], 0),
            (false, _) => trace.ack(at, (n + 1) * LEN, 60_000, &[], 0),
        }
    }
    let flow = trace.flow();
    assert_eq!(flow.retransmissions.total, 0);
    let events = flow.records.events.iter();
    events.map(|e| (e.kind, e.confidence)).collect()
}

#[test]
fn data_that_is_passed_on_late_still_tells_which_of_it_came_late() {
    let late = |confidence| vec![(Kind::Reordered, confidence)];
    assert_eq!(data_behind_its_answers(0), late(Confidence::Certain));
    assert_eq!(data_behind_its_answers(1_200), late(Confidence::Likely));
    let two_clocks = data_behind_its_answers(70_000);
    let undecided = |&(_, confidence): &(Kind, Confidence)| confidence == Confidence::Ambiguous;
    assert!(two_clocks.iter().all(undecided), "{two_clocks:?}");
}

/// Beside the receiver, a round trip of 20 ms away, each answer is captured `early_us` before its data. One packet comes twice, and one was lost
/// and comes a round trip later: the verdicts on these two.
fn answered_early(early_us: i64) -> Vec<(Verdict, Confidence)> {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 20_010, true);
    let lost = 40;
    for n in (0..60).filter(|&n| n != lost) {
        let at = 30_000 + i64::from(n) * 10_000;
        let above = [((lost + 1) * LEN, (n + 1) * LEN)];
        match n < lost {
            true => trace.ack(at - early_us, (n + 1) * LEN, 60_000, &[], 0),
            false => trace.ack(at - early_us, lost * LEN, 60_000, &above, 0),
        }
        trace.data(at, n, 1 + n as u16);
    }
    let again = [(650_000, 30, lost * LEN), (670_000, lost, 60 * LEN)];
    for (id, (at, n, acknowledged)) in (70..).zip(again) {
        trace.ack(at - early_us, acknowledged, 60_000, &[], 0);
        trace.data(at, n, id);
    }
    let flow = trace.flow();
    let copies = flow.records.retransmissions.iter();
    copies.map(|r| (r.verdict, r.confidence)).collect()
}

#[test]
fn what_comes_twice_beside_the_receiver_is_needless_whenever_its_answer_was_captured() {
    let needless = (Verdict::Spurious, Confidence::Likely);
    let told = answered_early(200);
    assert_eq!(told, [needless, (Verdict::Needed, Confidence::Likely)]);
    let told = answered_early(4_000);
    assert_eq!(told[0], needless);
    assert_eq!(
        told[1].0,
        Verdict::Ambiguous,
        "more than an eighth of a round trip"
    );
}

/// Data without identifications and timestamps comes to the receiver, a round trip of 20 ms away. The tenth packet comes again `apart_us` later; it
/// filled a hole if it was `missing` before. How often something was sent again, and how many frames were captured or delivered twice.
fn comes_again(apart_us: i64, missing: bool) -> (u64, u64) {
    let mut trace = Trace::new(Some(Vantage::Receiver));
    trace.handshake(0, &[10], 20_010, true);
    let first = |n: u32| 30_000 + i64::from(n) * 100;
    for n in 0..10 {
        trace.data(first(n), n, 0);
        trace.ack(first(n) + 1, (n + 1) * LEN, 60_000, &[], 0);
    }
    // It comes a round trip later than what was sent behind it.
    let came = if missing {
        first(11) + 20_000
    } else {
        first(10)
    };
    if !missing {
        trace.data(came, 10, 0);
        trace.ack(came + 1, 11 * LEN, 60_000, &[], 0);
    }
    trace.data(first(11), 11, 0);
    match missing {
        true => {
            trace.ack(first(11) + 1, 10 * LEN, 60_000, &[(11 * LEN, 12 * LEN)], 0);
            trace.data(came, 10, 0);
        }
        false => trace.ack(first(11) + 1, 12 * LEN, 60_000, &[], 0),
    }
    trace.data(came + apart_us, 10, 0);
    trace.ack(
        came + apart_us + 1,
        12 * LEN,
        60_000,
        &[(10 * LEN, 11 * LEN)],
        0,
    );
    let flow = trace.flow();
    (
        flow.retransmissions.total,
        flow.artefacts.duplicated_frames + flow.path.network_duplicates,
    )
}

#[test]
fn what_comes_again_sooner_than_a_retransmission_where_nothing_was_missing_was_delivered_twice() {
    assert_eq!(comes_again(300, false), (0, 1));
    assert_eq!(comes_again(4_000, false), (0, 1));
    assert_eq!(comes_again(12_000, false), (1, 0), "as copies in advance");
    let (again, twice) = comes_again(300, true);
    assert!(
        again >= 1 && twice == 0,
        "its original, late: {again}, {twice}"
    );
}
