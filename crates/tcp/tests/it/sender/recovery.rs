//! Fast retransmit and fast recovery: RFC 5681 section 3.2, RFC 6582 section 3.2, RFC 6675 section 5, RFC 6937, RFC 3042, and
//! rate halving.

use inorder_tcp::CaState;
use inorder_tcp::config::{LimitedTransmit, MS, Reduction};

use super::peer::{Peer, config};

#[test]
fn the_third_duplicate_sends_the_missing_segment_again() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    assert_eq!(peer.write(4), [0, 1, 2, 3]);
    peer.now += 100 * MS;
    assert_eq!(peer.ack(0, &[(1, 2)]), []);
    assert_eq!(peer.ack(0, &[(1, 3)]), []);
    assert_eq!(peer.state(), CaState::Disorder);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0]);
    assert_eq!(peer.state(), CaState::Recovery);
    peer.now += 100 * MS;
    assert_eq!(peer.ack(4, &[]), []);
    assert_eq!(peer.state(), CaState::Open);
    assert_eq!(peer.end.counters().recoveries.tcp_sack_recovery, 1);
    assert_eq!(peer.end.counters().sent.tcp_fast_retrans, 1);
}

#[test]
fn rfc_3042_lets_two_new_segments_out() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    assert_eq!(peer.write(30).len(), 10);
    peer.now += 100 * MS;
    assert_eq!(peer.ack(0, &[(1, 2)]), [10]);
    assert_eq!(peer.ack(0, &[(1, 3)]), [11]);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0]);

    let mut off = config("rfc");
    off.recovery.limited_transmit = LimitedTransmit::Off;
    let mut peer = Peer::new(&off, "reno", "static");
    peer.write(30);
    assert_eq!(peer.ack(0, &[(1, 2)]), []);
    assert_eq!(peer.ack(0, &[(1, 3)]), []);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0]);
}

/// RFC 6675 section 5 step (4.2): `cwnd = ssthresh` at once; new data once the pipe has drained below it.
#[test]
fn the_pipe_drains_before_new_data_follows() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    peer.write(40);
    peer.now += 100 * MS;
    peer.ack(0, &[(1, 2)]);
    peer.ack(0, &[(1, 3)]);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0]);
    // 12 outstanding: half is 6 (or 5 of a window of 10). Pipe: 12 - 3 SACKed - 1 lost + 1 again = 9.
    let threshold = peer.info().ssthresh;
    assert_eq!(peer.cwnd(), threshold);
    assert_eq!(peer.info().flight.pipe, 9);
    let mut top = 4;
    while peer.info().flight.pipe > threshold {
        top += 1;
        assert_eq!(
            peer.ack(0, &[(1, top)]),
            [],
            "pipe {}",
            peer.info().flight.pipe
        );
    }
    assert_eq!(peer.ack(0, &[(1, top + 1)]), [12]);
}

/// RFC 6675 section 4, NextSeg: two holes, the lost one first, then new data.
#[test]
fn two_holes_are_repaired_in_one_recovery() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    peer.write(10);
    peer.now += 100 * MS;
    peer.ack(0, &[(1, 2)]);
    peer.ack(0, &[(1, 3)]);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0]);
    // Segment 4 is also missing.
    let mut sent = Vec::new();
    for top in 6..=10 {
        sent.extend(peer.ack(0, &[(5, top), (1, 4)]));
    }
    assert_eq!(sent, [4]);
    peer.now += 100 * MS;
    peer.ack(4, &[(5, 10)]);
    assert_eq!(peer.state(), CaState::Recovery);
    peer.ack(10, &[]);
    assert_eq!(peer.state(), CaState::Open);
    assert_eq!(peer.end.counters().sent.retrans_segs, 2);
}

/// RFC 6582 section 3.2: inflation by duplicates; a partial acknowledgement retransmits the next hole.
#[test]
fn newreno_repairs_one_hole_per_round_trip() {
    let mut rfc = config("rfc");
    rfc.options.sack = false;
    let mut peer = Peer::new(&rfc, "reno", "static");
    assert_eq!(peer.write(30).len(), 10);
    peer.now += 100 * MS;
    assert_eq!(peer.duplicate(0), [10]);
    assert_eq!(peer.duplicate(0), [11]);
    assert_eq!(peer.duplicate(0), [0]);
    assert_eq!(peer.state(), CaState::Recovery);
    let threshold = peer.info().ssthresh;
    assert_eq!(peer.cwnd(), threshold);
    // The window is inflated to ssthresh + duplicates; new data follows when that exceeds the outstanding segments
    // (12).
    let mut duplicates = 3;
    let mut sent = Vec::new();
    while sent.is_empty() {
        duplicates += 1;
        sent = peer.duplicate(0);
    }
    assert_eq!(threshold + duplicates, 13);
    assert_eq!(sent, [12]);
    // A partial acknowledgement: segment 5 was also lost.
    peer.now += 100 * MS;
    let sent = peer.ack(5, &[]);
    assert_eq!(sent.first(), Some(&5));
    assert_eq!(peer.state(), CaState::Recovery);
    // Full acknowledgement.
    peer.now += 100 * MS;
    peer.ack(12, &[]);
    peer.ack(13, &[]);
    assert_eq!(peer.state(), CaState::Open);
    assert!(peer.cwnd() <= threshold);
}

fn sends_after_one_loss(reduction: Reduction) -> Vec<usize> {
    let mut custom = config("rfc");
    custom.cwnd.reduction = reduction;
    custom.recovery.limited_transmit = LimitedTransmit::Pipe;
    custom.cwnd.initial = 20;
    let mut peer = Peer::new(&custom, "reno", "static");
    peer.write(100);
    peer.now += 100 * MS;
    // One acknowledgement for each of the 19 segments that arrive.
    (2..=20).map(|top| peer.ack(0, &[(1, top)]).len()).collect()
}

/// RFC 6937 in Linux, relative to the window: with a threshold of one half, one segment for every second
/// acknowledgement, evenly.
#[test]
fn proportional_reduction_spreads_what_is_sent() {
    let sent = sends_after_one_loss(Reduction::PrrLinux);
    // Two by limited transmit, the retransmission, then every other acknowledgement.
    assert_eq!(
        sent,
        [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    );
    // The RFC's RecoverFS includes the two segments of limited transmit: 10 for 22.
    let sent = sends_after_one_loss(Reduction::PrrSlowStart);
    assert_eq!(
        sent,
        [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1]
    );
    assert_eq!(sends_after_one_loss(Reduction::PrrConservative), sent);
}

/// RFC 6675 section 5 step (C): 19 in flight after the retransmission; the next segment is sent when fewer than 10 are.
#[test]
fn an_immediate_reduction_pauses_then_follows_the_clock() {
    let sent = sends_after_one_loss(Reduction::Immediate);
    assert_eq!(
        sent,
        [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]
    );
}

#[test]
fn rate_halving_sends_for_every_second_acknowledgement() {
    let sent = sends_after_one_loss(Reduction::RateHalving);
    let total: usize = sent[3..].iter().sum();
    assert_eq!(&sent[..3], [1, 1, 1]);
    assert_eq!(total, 8, "{sent:?}");
    assert!(
        sent[3..].windows(2).all(|pair| pair[0] + pair[1] == 1),
        "{sent:?}"
    );
}

/// Below the threshold PRR-SSRB catches up by one more per acknowledgement; PRR-CRB only replaces what left.
#[test]
fn the_bounds_differ_when_much_is_lost() {
    let run = |reduction| {
        let mut custom = config("rfc");
        custom.cwnd.reduction = reduction;
        custom.cwnd.initial = 20;
        let mut peer = Peer::new(&custom, "reno", "static");
        peer.write(100);
        peer.now += 100 * MS;
        // The first 14 are lost, 6 arrive.
        (15..=20)
            .map(|top| peer.ack(0, &[(14, top)]).len())
            .sum::<usize>()
    };
    let (crb, ssrb) = (
        run(Reduction::PrrConservative),
        run(Reduction::PrrSlowStart),
    );
    assert!(crb < ssrb, "{crb} {ssrb}");
}

/// Linux counts what a DSACK reports as delivered: proportional reduction lets out as much more.
#[test]
fn a_segment_reported_as_a_duplicate_counts_as_delivered() {
    let sent = |duplicates_deliver| {
        let mut custom = config("linux-6");
        custom.cwnd.duplicates_deliver = duplicates_deliver;
        custom.cwnd.initial = 20;
        let mut peer = Peer::new(&custom, "reno", "static");
        peer.write(100);
        peer.now += 100 * MS;
        for top in 2..=4 {
            peer.ack(0, &[(1, top)]);
        }
        assert_eq!(peer.end.counters().sent.retrans_segs, 1);
        [&[(1, 2), (1, 4)][..], &[(1, 5)]].map(|sack| peer.ack(0, sack).len())
    };
    // With a threshold of half the window, one segment for two delivered.
    assert_eq!(sent(true), [0, 1]);
    assert_eq!(sent(false), [0, 0]);
}

fn without_sack() -> Peer {
    let mut linux = config("linux-6");
    linux.options.sack = false;
    linux.options.timestamps = false;
    let mut peer = Peer::new(&linux, "reno", "static");
    assert_eq!(peer.write(30).len(), 10);
    peer.now += 100 * MS;
    peer
}

/// RFC 5681 section 2: an acknowledgement that enlarges the window is not a duplicate, although it repeats the
/// number.
#[test]
fn an_acknowledgement_with_a_larger_window_is_not_a_duplicate() {
    let mut peer = without_sack();
    peer.ack_window(1, 50_000);
    for window in [51_000, 52_000, 53_000, 54_000] {
        peer.ack_window(1, window);
    }
    assert_eq!(peer.info().flight.sacked, 0);
    for _ in 0..3 {
        peer.ack_window(1, 54_000);
    }
    assert_eq!(peer.state(), CaState::Recovery);
    assert_eq!(peer.end.counters().acks.dup_acks_in, 7);
}

/// RFC 6582 section 6: the state outlasts the full acknowledgement, until something sent later is acknowledged. What duplicates
/// answer meanwhile was sent before: they let nothing out, although the reduction is undone and its threshold far away (Linux).
#[test]
fn duplicates_behind_the_full_acknowledgement_let_nothing_out() {
    let mut linux = config("linux-6");
    linux.options.sack = false;
    linux.options.timestamps = true;
    let mut peer = Peer::new(&linux, "reno", "static");
    assert_eq!(peer.write(10).len(), 10);
    let originals = 100;
    peer.now += 100 * MS;
    for _ in 0..3 {
        peer.ack_echo(0, &[], originals);
    }
    assert_eq!(peer.state(), CaState::Recovery);
    peer.now += 10 * MS;
    peer.ack_echo(10, &[], originals);
    assert_eq!(peer.end.counters().undos.tcp_full_undo, 1);
    assert_eq!(peer.state(), CaState::Recovery);
    let sent = peer.write(30).len() as u32;
    assert!(sent > 0);
    for _ in 0..5 {
        assert_eq!(peer.ack_echo(10, &[], originals), []);
    }
    assert_eq!(peer.info().flight.pipe, sent);
    peer.now += 90 * MS;
    assert_ne!(peer.ack_echo(11, &[], 210), []);
    assert_eq!(peer.state(), CaState::Open);
}

/// Without SACK a duplicate represents a segment that arrived; at least one of the outstanding segments has not.
/// Additional duplicates answer copies, and release nothing new.
#[test]
fn duplicates_count_at_most_the_segments_that_can_have_arrived() {
    let mut peer = without_sack();
    let sent: usize = (0..40).map(|_| peer.duplicate(0).len()).sum();
    let info = peer.info();
    assert_eq!(info.flight.sacked, info.flight.unacked - 1);
    assert!(sent < 25, "{sent} segments for 40 duplicates");
    assert_eq!(peer.duplicate(0), []);
}
