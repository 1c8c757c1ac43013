//! Linux's adaptive threshold, for every kind of evidence.

use inorder_tcp::CaState;
use inorder_tcp::config::MS;

use super::peer::{Peer, config};

fn open(profile: &str, loss: &str, window: u32) -> Peer {
    Peer::a_round_trip_on(profile, "fixed", loss, window)
}

#[test]
fn a_hole_sacked_late_raises_the_threshold_to_its_distance() {
    for loss in ["linux-2.6.24", "linux-3.19", "linux-norack"] {
        let mut peer = open("linux-2.6.24", loss, 10);
        assert_eq!(peer.reordering(), 3);
        // Segment 2 is late by one: distance 2, which is below the threshold.
        peer.ack(1, &[]);
        peer.ack(1, &[(3, 4)]);
        peer.ack(1, &[(2, 4)]);
        assert_eq!(peer.reordering(), 3, "{loss}");
    }
}

#[test]
fn a_late_segment_counts_the_places_up_to_the_highest_sack() {
    for (loss, expected) in [("linux-2.6.24", 8), ("linux-3.19", 8), ("linux-norack", 8)] {
        let mut peer = open("linux-2.6.24", loss, 20);
        peer.ack(1, &[(2, 3)]);
        peer.ack(1, &[(2, 4)]);
        // Recovery starts with a retransmission of 1; 5 arrives late, below 12: the extent counts 5, 6, ... up to 12.
        peer.ack(1, &[(6, 13), (2, 5)]);
        peer.ack(1, &[(2, 13)]);
        assert_eq!(peer.reordering(), expected, "{loss}");
    }
}

#[test]
fn a_hole_filled_cumulatively_counts_too() {
    let mut peer = open("linux-2.6.24", "linux-2.6.24", 20);
    peer.ack(1, &[(2, 4)]);
    // Nothing was retransmitted yet; 1 arrives with distance 3.
    peer.ack(4, &[]);
    assert_eq!(peer.reordering(), 3);
    assert_eq!(peer.state(), CaState::Open);
    let mut peer = open("linux-2.6.24", "linux-norack", 20);
    peer.ack(1, &[(2, 4)]);
    peer.ack(4, &[]);
    assert_eq!(peer.end.counters().reordering.tcp_sack_reorder, 1);
    assert_eq!(peer.reordering(), 3);
}

#[test]
fn each_version_has_its_bound() {
    for (loss, bound) in [
        ("linux-2.6.24", 127),
        ("linux-3.19", 300),
        ("linux-norack", 300),
        ("linux", 300),
    ] {
        let mut custom = config("linux-2.6.24");
        custom.cwnd.initial = 600;
        let mut peer = Peer::new(&custom, "reno", loss);
        peer.write(1000);
        peer.now += 100 * MS;
        // 1 and 30 are missing; 1 is retransmitted, 30 arrives.
        peer.ack(1, &[(2, 30), (31, 503)]);
        peer.ack(1, &[(2, 503)]);
        assert_eq!(peer.reordering(), bound, "{loss}");
    }
}

#[test]
fn fack_is_given_up_with_the_first_reordering() {
    let mut peer = open("linux-2.6.24", "linux-2.6.24", 20);
    // FACK: a SACK four positions above marks the first segment lost, although it is the only one.
    assert_eq!(peer.ack(0, &[(3, 4)]).first(), Some(&0));
    assert_eq!(peer.state(), CaState::Recovery);

    let mut peer = open("linux-2.6.24", "linux-3.19", 20);
    peer.ack(0, &[(2, 3)]);
    peer.ack(0, &[(1, 3)]);
    peer.ack(3, &[]);
    // 3.19 counted distances 2 and 3: no change, FACK stays on. A larger one turns it off.
    peer.ack(3, &[(5, 9)]);
    peer.ack(3, &[(4, 9)]);
    assert_eq!(peer.reordering(), 5);
    assert_eq!(peer.end.counters().reordering.tcp_fack_reorder, 1);
}

/// Without SACK: more duplicates than the outstanding segments can explain.
#[test]
fn impossible_duplicates_prove_reordering() {
    let mut custom = config("linux-2.6.24");
    custom.options.sack = false;
    custom.cwnd.initial = 6;
    let mut peer = Peer::new(&custom, "fixed", "linux-2.6.24");
    peer.write(6);
    peer.now += 100 * MS;
    for _ in 0..3 {
        peer.duplicate(0);
    }
    assert_eq!(peer.state(), CaState::Recovery);
    for _ in 0..4 {
        peer.duplicate(0);
    }
    assert_eq!(peer.end.counters().reordering.tcp_reno_reorder, 1);
    assert_eq!(peer.reordering(), 6);
}

#[test]
fn a_timeout_resets_the_threshold() {
    let mut peer = open("linux-2.6.24", "linux-2.6.24", 30);
    peer.ack(1, &[(3, 20)]);
    peer.ack(1, &[(2, 20)]);
    assert_eq!(peer.reordering(), 18);
    peer.wait(3000 * MS);
    assert_eq!(peer.state(), CaState::Loss);
    assert_eq!(peer.reordering(), 3);
}
