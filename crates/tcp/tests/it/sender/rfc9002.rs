//! QUIC's loss detection (RFC 9002 section 6.1) in a TCP sender.

use inorder_tcp::CaState;
use inorder_tcp::config::MS;

use super::peer::{Peer, config};

/// 20 segments sent at 100 ms, with a round trip of 100 ms so far.
fn open(loss: &str) -> Peer {
    Peer::a_round_trip_on("linux-6", "fixed", loss, 20)
}

/// Section 6.1.1: "packets sent before the largest acknowledged packet by at least kPacketThreshold", which is 3.
#[test]
fn three_later_transmissions_are_needed() {
    for loss in ["rfc9002", "rfc9002-adaptive"] {
        let mut peer = open(loss);
        peer.ack(0, &[(1, 3)]);
        assert_eq!(peer.state(), CaState::Disorder, "{loss}");
        assert_eq!(peer.ack(0, &[(1, 4)]).first(), Some(&0), "{loss}");
        assert_eq!(peer.state(), CaState::Recovery, "{loss}");
    }
}

/// The distance counts, not how many were acknowledged: one acknowledgement of the fourth is enough.
#[test]
fn the_largest_acknowledged_counts() {
    let mut peer = open("rfc9002");
    let sent = peer.ack(0, &[(3, 4)]);
    assert!(sent.contains(&0), "{sent:?}");
    assert!(!sent.contains(&1), "{sent:?}");
}

/// Section 6.1.2: 9/8 of max(smoothed_rtt, latest_rtt) after it was sent: 112.5 ms, of which 100 ms have passed.
#[test]
fn otherwise_nine_eighths_of_a_round_trip() {
    let mut peer = open("rfc9002");
    peer.ack(0, &[(1, 2)]);
    assert!(!peer.wait(12 * MS).contains(&0));
    assert!(peer.wait(MS).contains(&0));
    assert_eq!(peer.state(), CaState::Recovery);
}

/// No window adapts: after one segment was late, the next is taken for lost as soon.
#[test]
fn reordering_changes_nothing() {
    let mut peer = open("rfc9002");
    peer.ack(0, &[(1, 2)]);
    peer.ack(2, &[]);
    assert_eq!(peer.state(), CaState::Open);
    assert_eq!(peer.ack(2, &[(3, 6)]).first(), Some(&2));
}

/// A late original, as the echoed timestamp shows, makes the adaptive threshold larger than its distance.
#[test]
fn the_adaptive_threshold_grows_after_a_spurious_loss() {
    let story = |loss| {
        let mut custom = config("linux-6");
        custom.cwnd.initial = 20;
        custom.options.timestamps = true;
        let mut peer = Peer::new(&custom, "fixed", loss);
        peer.end.write(1_000_000);
        let sent = peer.segments()[0].timestamps.unwrap().val;
        peer.now += 100 * MS;
        peer.ack_echo(0, &[(1, 6)], sent);
        assert_eq!(peer.end.counters().sent.retrans_segs, 1, "{loss}");
        peer.now += 10 * MS;
        peer.ack_echo(6, &[], sent);
        peer.reordering()
    };
    assert_eq!(story("rfc9002"), 3);
    assert!(story("rfc9002-adaptive") >= 6);
}

/// A retransmission has a number of its own (section 6.1: packet numbers are not reused), so its loss is detected by what
/// was sent after it.
#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut peer = open("rfc9002");
    peer.ack(0, &[(1, 4)]);
    assert_eq!(peer.end.counters().sent.retrans_segs, 1);
    let new = peer.ack(0, &[(1, 9)]);
    assert!(new.len() >= 3, "{new:?}");
    peer.now += 100 * MS;
    let last = new[new.len() - 1];
    let again = peer.ack(0, &[(1, 9), (last, last + 1)]);
    assert!(again.contains(&0), "{again:?}");
    assert_eq!(peer.end.counters().recoveries.tcp_timeouts, 0);
}
