//! What is held, for how long, and what passes at once.

use super::driver::{Driver, MS, US};
use inorder_sort::resequence::Gaps;
use inorder_sort::{Kind, Meta, Sorter, SorterConfig, Surroundings};

#[test]
fn in_order_nothing_waits_and_nothing_is_counted() {
    let mut driver = Driver::with_round_trip("resequence", 10 * MS);
    (1..=10).for_each(|seq| driver.data(i64::from(seq), seq));
    let expected: Vec<(i64, u32)> = (1..=10).map(|seq| (i64::from(seq), seq)).collect();
    assert_eq!(driver.up, expected);
    assert_eq!(driver.sorter.gaps(), Gaps::default());
}

#[test]
fn the_first_late_packet_is_waited_for_half_of_a_round_trip() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    for (at_ns, seq) in [(1, 1), (3, 3), (MS, 2), (2 * MS, 5)] {
        driver.data(at_ns, seq);
    }
    driver.wake_until(40 * MS);
    assert_eq!(driver.up[1..3], [(MS, 2), (MS, 3)]);
    // 4 never comes.
    assert_eq!(driver.up[3..], [(22 * MS, 5)]);
}

#[test]
fn without_a_start_the_first_late_packet_is_watched_and_the_next_is_waited_for() {
    let mut driver = Driver::with_round_trip("resequence:start=0us", 40 * MS);
    // 5 comes 1 ms late: what is behind it goes up at once, and 5 late.
    for (at_ns, seq) in [(1, 1), (2, 2), (3, 3), (4, 4), (6, 6), (7, 7), (MS, 5)] {
        driver.data(at_ns, seq);
    }
    assert_eq!(driver.order(), [1, 2, 3, 4, 6, 7, 5]);
    // 8 comes 1 ms late, too: 9 and 10 wait for it.
    for (at_ns, seq) in [(2 * MS, 9), (2 * MS + 1, 10), (3 * MS, 8)] {
        driver.data(at_ns, seq);
    }
    assert_eq!(driver.order()[7..], [8, 9, 10]);
    let gaps = driver.sorter.gaps();
    assert_eq!(
        (gaps.opened, gaps.passed, gaps.filled, gaps.open()),
        (2, 1, 1, 0)
    );
}

/// What the README draws: 5 comes in the second interrupt, 9 never.
#[test]
fn the_readmes_ten_packets() {
    let story = |text: &str| {
        let config: SorterConfig = text.parse().unwrap();
        let mut sorter = config.build::<u32, u32>(&Surroundings::default()).unwrap();
        let mut up = Vec::new();
        let path_is_known = [
            (-40 * MS, Kind::Open, 0),
            (0, Kind::Ack, 1),
            (0, Kind::Data, 1),
        ];
        let late_before = [(US, Kind::Data, 3), (2 * MS, Kind::Data, 2)];
        for (at_ns, kind, seq) in path_is_known.into_iter().chain(late_before) {
            let (flow, len) = (7, u32::from(kind == Kind::Data));
            let meta = Meta {
                flow,
                seq,
                len,
                kind,
            };
            sorter.push(&meta, seq, at_ns, &mut |_| ());
        }
        sorter.flush(2 * MS, &mut |_| ());
        let mut batch = |at_ns, packets: &[u32]| {
            for &n in packets {
                sorter.push(&Meta::data(7, 3 + n, 1), n, at_ns, &mut |n| up.push(n));
            }
            sorter.end_of_batch(at_ns, &mut |n| up.push(n));
            core::mem::take(&mut up)
        };
        let first = batch(3 * MS, &[1, 2, 3, 4, 6]);
        let second = batch(3 * MS + 75 * US, &[7, 5, 8, 10]);
        let mut third = Vec::new();
        while let Some(due_ns) = sorter.next_deadline_ns() {
            sorter.on_deadline(due_ns, &mut |n| third.push(n));
        }
        [first, second, third]
    };
    let rows = ["none", "srpic", "window", "resequence"].map(story);
    let batches = |first: &[u32], second: &[u32], third: &[u32]| {
        [first.to_vec(), second.to_vec(), third.to_vec()]
    };
    assert_eq!(rows[0], batches(&[1, 2, 3, 4, 6], &[7, 5, 8, 10], &[]));
    assert_eq!(rows[1], batches(&[1, 2, 3, 4, 6], &[5, 7, 8, 10], &[]));
    assert_eq!(rows[2], batches(&[1, 2, 3, 4], &[5, 6, 7, 8], &[10]));
    assert_eq!(rows[3], batches(&[1, 2, 3, 4], &[5, 6, 7, 8], &[10]));
}

#[test]
fn a_loss_is_waited_for_once_and_no_longer_than_late_ones_deserve() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, seq) = driver.late_ones(0, 1, 64, MS);
    // `seq` never comes.
    driver.data(at_ns, seq + 1);
    driver.wake_until(at_ns + 40 * MS);
    let &(up_ns, last) = driver.up.last().unwrap();
    assert_eq!(last, seq + 1);
    let held_ns = up_ns - at_ns;
    assert!((MS..2 * MS).contains(&held_ns), "held for {held_ns} ns");
}

#[test]
fn nothing_is_held_on_a_path_that_only_loses() {
    let mut driver = Driver::with_round_trip("resequence", 10 * MS);
    let mut at_ns = 0;
    for loss in 0..100 {
        // Of ten one is lost and comes again after a round trip.
        let from = 1 + loss * 10;
        (1..10).for_each(|i| driver.data(at_ns + i64::from(i), from + i));
        at_ns += 11 * MS;
        driver.data(at_ns, from);
    }
    assert_eq!(driver.up.len(), 1000);
    let gaps = driver.sorter.gaps();
    // The first is waited for, in vain.
    assert_eq!((gaps.timed_out, gaps.passed), (1, 99));
    assert_eq!(driver.sorter.held(), 0);
}

/// A retransmission was sent after what is held, so that a receiver that had seen its timestamp would refuse them.
#[test]
fn a_retransmission_does_not_overtake_what_is_held() {
    let mut driver = Driver::with_round_trip("resequence", 8 * MS);
    // Waiting works here, so that one gap in vain does not end it.
    let (at_ns, seq) = driver.late_ones(0, 1, 64, 2 * MS);
    driver.up.clear();
    // The first and the fourth are lost; the first is given up after some 3 ms and comes again while the fifth waits for the fourth.
    let (lost, after_ns) = (seq, at_ns + 9 * MS);
    for (at_ns, seq) in [
        (at_ns, lost + 1),
        (after_ns, lost + 2),
        (after_ns, lost + 4),
    ] {
        driver.data(at_ns, seq);
    }
    driver.data(after_ns + MS, lost);
    assert_eq!(driver.order(), [lost + 1, lost + 2, lost + 4, lost]);
    let together_ns = after_ns + MS;
    assert_eq!(
        driver.up[2..],
        [(together_ns, lost + 4), (together_ns, lost)]
    );
    assert_eq!(driver.sorter.gaps().flushed, 1);
}

/// What ends the handshake was lost, so that the first packet after the SYN comes much later than after a round trip.
#[test]
fn a_round_trip_that_is_too_long_is_corrected_by_those_of_other_flows() {
    let mut driver = Driver::new("resequence");
    for (flow, rtt_ns) in [(1, 10 * MS), (2, 250 * MS)] {
        let meta = |kind, seq| Meta {
            flow,
            seq,
            len: u32::from(kind == Kind::Data),
            kind,
        };
        for (at_ns, meta) in [(0, meta(Kind::Open, 0)), (rtt_ns, meta(Kind::Data, 1))] {
            driver.sorter.push(&meta, 0, at_ns, &mut |_| ());
        }
    }
    assert_eq!(driver.sorter.hold_ns(2), Some(5 * MS));
}

/// Which of two SYNs is answered is unknown.
#[test]
fn a_repeated_syn_shows_no_round_trip() {
    let mut driver = Driver::new("resequence");
    for (at_ns, kind) in [
        (0, Kind::Open),
        (1000 * MS, Kind::Open),
        (1002 * MS, Kind::Ack),
    ] {
        driver.packet(at_ns, kind, 0, 0);
    }
    // That of `blind`.
    assert_eq!(driver.sorter.hold_ns(7), Some(MS));
}

/// A loss long after the beginning of a tunnel is waited for as shortly as where nothing is known of the way.
#[test]
fn a_tunnel_in_order_does_not_wait_long_for_its_first_loss() {
    let held_ns = |in_order: u32| {
        let mut driver = Driver::new("resequence:tunnel=true");
        (0..in_order).for_each(|seq| driver.data(i64::from(seq), seq));
        driver.data(MS, in_order + 1);
        driver.sorter.next_deadline_ns().map(|due_ns| due_ns - MS)
    };
    assert_eq!(held_ns(1), Some(50 * MS));
    assert_eq!(held_ns(1000), Some(MS));
}

#[test]
fn a_sender_that_resends_late_packets_is_held_longer() {
    let story = |resent: bool| {
        let mut driver = Driver::with_round_trip("resequence:start=0us", 40 * MS);
        let (mut at_ns, mut seq) = (0, 1);
        // The first two come when they are not waited for any more. RACK would wait for them, so that who resends them
        // is strict. The others are later than half of the round trip.
        for late_ms in [4, 9, 25, 25, 25, 25] {
            (at_ns, seq) = driver.late_ones(at_ns, seq, 1, late_ms * MS);
            at_ns += 41 * MS;
            if resent {
                driver.data(at_ns, seq - 4);
            }
            at_ns += 60 * MS;
        }
        driver.sorter.gaps()
    };
    let (strict, tolerant) = (story(true), story(false));
    assert!(strict.filled >= 2, "{strict:?}");
    assert_eq!(tolerant.filled, 0, "{tolerant:?}");
}

#[test]
fn a_new_flow_starts_with_what_its_path_has_shown() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, _) = driver.late_ones(0, 1, 20, MS);
    let mut up = Vec::new();
    for (after_ns, seq) in [(0, 1), (1, 3), (MS, 2)] {
        let meta = Meta::data(99, seq, 1);
        driver
            .sorter
            .push(&meta, seq, at_ns + after_ns, &mut |seq| up.push(seq));
    }
    assert_eq!(up, [1, 2, 3]);
}

#[test]
fn a_fin_goes_behind_what_is_held() {
    let mut driver = Driver::with_round_trip("resequence:start=1ms", 40 * MS);
    driver.data(1, 1);
    driver.data(2, 3);
    assert_eq!(driver.order(), [1]);
    driver.packet(3, Kind::Close, 4, 0);
    assert_eq!(driver.order(), [1, 3, 4]);
}

#[test]
fn one_stray_number_does_not_end_the_sorting_of_a_flow() {
    let mut driver = Driver::with_round_trip("resequence", 40 * MS);
    let (at_ns, seq) = driver.late_ones(0, 1, 20, MS);
    driver.data(at_ns, seq + 1_000_000);
    let mut at_ns = at_ns + 50 * MS;
    for i in 0..1100 {
        driver.data(at_ns + i64::from(i), seq + i);
    }
    at_ns += MS;
    driver.up.clear();
    let next = seq + 1100;
    for (after_ns, seq) in [(0, next + 1), (MS, next)] {
        driver.data(at_ns + after_ns, seq);
    }
    assert_eq!(driver.order(), [next, next + 1]);
}

#[test]
fn in_a_tunnel_the_bound_alone_limits_a_hold() {
    // No handshake, 30 ms late.
    let run = |text: &str| {
        let mut driver = Driver::new(text);
        driver.late_ones(0, 1, 10, 30 * MS);
        driver.sorter.gaps().filled
    };
    assert_eq!(run("resequence"), 0);
    assert!(run("resequence:tunnel=true") >= 8);
}
