//! Other limits of sending: Nagle, the peer's window, idle times, bursts.

use inorder_tcp::config::{MS, Nagle, SECOND};
use inorder_tcp::{Flags, Nanos, Segment};

use super::peer::{MSS, Peer, config};

#[test]
fn nagle_keeps_small_segments_back() {
    let mut custom = config("linux-6");
    custom.send.nagle = Nagle::Rfc896;
    let mut peer = Peer::new(&custom, "reno", "linux");
    peer.end.write(u64::from(MSS) + 100);
    assert_eq!(peer.out(), [0]);
    peer.now += 100 * MS;
    assert_eq!(peer.ack(1, &[]), [1]);

    custom.send.nagle = Nagle::Minshall;
    let mut peer = Peer::new(&custom, "reno", "linux");
    peer.end.write(u64::from(MSS) + 100);
    assert_eq!(peer.out(), [0, 1], "no small segment is outstanding yet");
    peer.end.write(100);
    assert_eq!(peer.out(), [], "now one is");

    custom.send.nagle = Nagle::Off;
    let mut peer = Peer::new(&custom, "reno", "linux");
    peer.end.write(100);
    peer.end.write(100);
    assert_eq!(peer.segments().len(), 1);
    peer.end.write(100);
    assert_eq!(peer.segments().len(), 1);
}

fn window(peer: &mut Peer, ack: u32, window: u16) -> Vec<Segment> {
    let segment = Segment {
        seq: 1,
        ack: ack * MSS + 1,
        flags: Flags::ACK,
        window,
        ..Segment::default()
    };
    peer.end.on_segment(peer.now, &segment);
    peer.segments()
}

/// RFC 9293 section 3.8.6.1: a closed window is probed at increasing intervals until it opens.
#[test]
fn a_closed_window_is_probed() {
    let mut peer = Peer::new(&config("linux-6"), "reno", "linux");
    peer.write(5);
    peer.end.write(5 * u64::from(MSS));
    peer.out();
    peer.now += 100 * MS;
    assert!(window(&mut peer, 5, 0).iter().all(|s| s.payload > 0));
    peer.now += 100 * MS;
    window(&mut peer, 10, 0);
    peer.end.write(u64::from(MSS));
    assert_eq!(peer.segments(), []);
    let mut gaps = Vec::new();
    let mut last = peer.now;
    for _ in 0..4 {
        peer.now = peer.end.next_timer().expect("a probe is planned");
        peer.end.on_timer(peer.now);
        let probe = peer.segments();
        assert_eq!(probe.len(), 1);
        assert_eq!(probe[0].seq, 10 * MSS, "one below the expected number");
        gaps.push(peer.now - last);
        last = peer.now;
        window(&mut peer, 10, 0);
    }
    assert!(
        gaps.windows(2).all(|pair| pair[1] >= 2 * pair[0] - MS),
        "{gaps:?}"
    );
    let sent = window(&mut peer, 10, 100);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].payload, MSS);
}

/// RFC 5681 section 4.1.
#[test]
fn the_window_shrinks_while_idle() {
    let mut peer = Peer::new(&config("linux-6"), "reno", "linux");
    for _ in 0..3 {
        let unacked = peer.write(100);
        peer.now += 100 * MS;
        let next = unacked.last().map_or(0, |last| last + 1);
        peer.ack(next, &[]);
        while peer.info().flight.unacked > 0 {
            peer.now += 100 * MS;
            let next =
                peer.end.counters().sent.bytes_acked as u32 / MSS + peer.info().flight.unacked;
            peer.ack(next, &[]);
        }
    }
    let before = peer.cwnd();
    assert!(before > 40);
    peer.now += 20 * SECOND;
    let sent = peer.write(100);
    assert_eq!(sent.len(), 10);
    assert_eq!(peer.cwnd(), 10);
    assert!(peer.info().ssthresh >= before * 3 / 4);
}

/// Thirty acknowledgements of one segment each, a round trip of `rtt` after a burst of thirty: how many segments were
/// sent for each of those that released any.
fn bursts(rtt: Nanos) -> Vec<usize> {
    const WARM: u32 = 80; // Five whole pieces, one segment per round trip: the smoothed time settles.
    let mut custom = config("linux-6");
    custom.send.tso_segments = 16;
    custom.cwnd.initial = 30;
    let mut peer = Peer::new(&custom, "fixed", "linux");
    for segment in 1..=WARM {
        peer.write(1);
        peer.now += rtt;
        peer.ack(segment, &[]);
    }
    peer.write(500);
    peer.now += rtt;
    let sent = (1..=30).map(|ack| peer.ack(WARM + ack, &[]).len());
    sent.filter(|&n| n > 0).collect()
}

/// To a near receiver, released segments accumulate to a third of the window or to the rest of a piece of the queue,
/// until the outstanding data is so recent that no acknowledgement is expected soon.
#[test]
fn bursts_wait_until_they_are_worth_it() {
    assert_eq!(bursts(MS), [2, 10, 6, 10, 2]);
}

/// To a far receiver, the minimum burst is a millisecond at the pacing rate.
#[test]
fn bursts_are_no_larger_than_a_millisecond() {
    let sizes = bursts(100 * MS);
    assert!(sizes[2..].iter().all(|&n| n == 2), "{sizes:?}");
}
