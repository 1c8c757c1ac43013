//! RACK and the tail loss probe (RFC 8985 sections 6 and 7).

use inorder_tcp::CaState;
use inorder_tcp::config::{LossProbe, MS};

use super::peer::{Peer, config};

fn open(loss: &str) -> Peer {
    Peer::a_round_trip_on("linux-6", "fixed", loss, 20)
}

#[test]
fn without_reordering_seen_three_sacks_suffice() {
    for loss in ["rack", "linux"] {
        let mut peer = open(loss);
        peer.ack(0, &[(1, 2)]);
        peer.ack(0, &[(1, 3)]);
        assert_eq!(peer.state(), CaState::Disorder);
        assert_eq!(peer.ack(0, &[(1, 4)]).first(), Some(&0), "{loss}");
    }
}

/// After a segment was late, a quarter of the round trip must pass before a loss.
#[test]
fn with_reordering_seen_time_decides() {
    for loss in ["rack", "linux"] {
        let mut peer = open(loss);
        peer.ack(0, &[(1, 2), (3, 4)]);
        peer.ack(0, &[(1, 4)]);
        peer.ack(4, &[]);
        assert_eq!(peer.state(), CaState::Open, "{loss}");
        // Segment 4 is missing; many above it arrive together.
        let before = peer.end.counters().sent.retrans_segs;
        peer.ack(4, &[(5, 20)]);
        assert_eq!(peer.end.counters().sent.retrans_segs, before, "{loss}");
        assert_eq!(peer.state(), CaState::Disorder, "{loss}");
        // The window is min_rtt / 4 = 25 ms.
        assert!(!peer.wait(24 * MS).contains(&4), "{loss}");
        assert!(peer.wait(4 * MS).contains(&4), "{loss}");
        assert_eq!(peer.state(), CaState::Recovery, "{loss}");
    }
}

/// RFC 8985 section 6.2 step 4: each round trip with a DSACK widens the window by another quarter.
#[test]
fn dsacks_widen_the_window() {
    for loss in ["rack", "linux"] {
        let mut peer = open(loss);
        // Reordering is seen, then segment 4 is retransmitted spuriously.
        peer.ack(0, &[(1, 2), (3, 4)]);
        peer.ack(4, &[]);
        peer.ack(4, &[(5, 20)]);
        peer.wait(30 * MS);
        assert_eq!(peer.end.counters().sent.retrans_segs, 1, "{loss}");
        // Both copies arrive; the duplicate is reported.
        peer.ack(20, &[]);
        peer.ack(20, &[(4, 5)]);
        assert_eq!(peer.end.counters().dsack.tcp_dsack_recv, 1, "{loss}");
        // In the next flight the first segment is lost: now it has two quarters, 50 ms.
        peer.now += 100 * MS;
        let flight = peer.ack(40, &[]);
        assert_eq!(flight.len(), 20, "{loss}");
        peer.now += 100 * MS;
        peer.ack(40, &[(41, 45)]);
        assert!(!peer.wait(49 * MS).contains(&40), "{loss}");
        assert!(peer.wait(4 * MS).contains(&40), "{loss}");
    }
}

/// A lost retransmission is detected by data sent after it.
#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut peer = open("rack");
    peer.ack(0, &[(1, 4)]);
    assert_eq!(peer.end.counters().sent.retrans_segs, 1);
    peer.now += 10 * MS;
    let new = peer.ack(0, &[(1, 8)]);
    assert!(!new.is_empty());
    peer.now += 100 * MS;
    // Data sent after the retransmission has arrived.
    let last = new[new.len() - 1];
    let again = peer.ack(0, &[(last, last + 1), (1, 8)]);
    assert!(again.contains(&0), "{again:?}");
    assert!(peer.end.counters().recoveries.tcp_lost_retransmit >= 1);
    assert_eq!(peer.end.counters().recoveries.tcp_timeouts, 0);
}

#[test]
fn the_tail_is_probed_before_the_timeout() {
    let mut custom = config("linux-6");
    custom.recovery.loss_probe = LossProbe::Linux;
    let mut peer = Peer::new(&custom, "fixed", "linux");
    assert_eq!(peer.write(3), [0, 1, 2]);
    // Two round trips and two ticks after the last transmission: 202 ms.
    assert_eq!(peer.wait(201 * MS), []);
    assert_eq!(peer.wait(2 * MS), [2]);
    assert_eq!(peer.end.counters().recoveries.tcp_loss_probes, 1);
    // Only the last segment was lost: the probe repaired it, and the window is reduced once.
    peer.now += 100 * MS;
    peer.ack(3, &[]);
    assert_eq!(peer.end.counters().recoveries.tcp_timeouts, 0);
    assert_eq!(peer.state(), CaState::Open);
}

#[test]
fn the_answer_to_a_probe_starts_recovery_of_the_others() {
    let mut custom = config("linux-6");
    custom.recovery.loss_probe = LossProbe::Linux;
    let mut peer = Peer::new(&custom, "fixed", "linux");
    peer.write(4);
    assert_eq!(peer.wait(210 * MS), [3]);
    peer.now += 100 * MS;
    let sent = peer.ack(0, &[(3, 4)]);
    assert_eq!(sent.first(), Some(&0), "{:?}", peer.info());
    assert_eq!(peer.end.counters().recoveries.tcp_timeouts, 0);
}
