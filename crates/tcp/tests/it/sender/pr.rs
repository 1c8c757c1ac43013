//! TCP-PR: losses are detected by time only.

use inorder_tcp::config::MS;

use super::peer::{Peer, config};

fn open(window: u32) -> Peer {
    let mut custom = config("rfc");
    custom.cwnd.initial = window;
    let mut peer = Peer::new(&custom, "fixed", "tcp-pr");
    peer.write(1000);
    peer
}

#[test]
fn duplicates_are_ignored() {
    let mut peer = open(20);
    peer.now += 100 * MS;
    for top in 2..=19 {
        assert!(!peer.ack(0, &[(1, top)]).contains(&0));
    }
    assert_eq!(peer.end.counters().sent.retrans_segs, 0);
    peer.ack(20, &[]);
    assert!(peer.cwnd() >= 20);
}

/// A segment is lost after three times the greatest round trip; then the window is half of what it was when the
/// segment was sent.
#[test]
fn a_segment_is_lost_when_it_has_waited_three_round_trips() {
    let mut peer = open(20);
    peer.now += 100 * MS;
    peer.ack(0, &[(1, 20)]);
    let sent = peer.wait(199 * MS);
    assert!(!sent.contains(&0), "{sent:?}");
    let sent = peer.wait(2 * MS);
    assert!(
        sent.contains(&0) || peer.info().flight.lost > 0,
        "{sent:?} {:?}",
        peer.info()
    );
    assert_eq!(peer.info().ssthresh, 10);
}

#[test]
fn silence_starts_over_with_one_segment() {
    let mut peer = open(20);
    peer.wait(4000 * MS);
    assert_eq!(peer.cwnd(), 1);
    assert!(peer.end.counters().recoveries.tcp_timeouts >= 1);
    // Sending continues when answers arrive.
    let mut acked = 0;
    for _ in 0..200 {
        peer.wait(1000 * MS);
        if peer.end.counters().sent.retrans_segs > 0 {
            acked += 1;
            peer.ack(acked, &[]);
        }
        if acked > 25 {
            break;
        }
    }
    assert!(acked > 20, "{:?}", peer.info());
}
