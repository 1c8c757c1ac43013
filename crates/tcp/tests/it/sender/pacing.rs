//! Pacing: bursts at a rate, a loss repaired at that rate, and no data left unsent.

use inorder_tcp::Nanos;
use inorder_tcp::config::{MS, Pacing};

use super::peer::{MSS, Peer, config};

/// A connection with this rate, its first ten segments acknowledged after 100 ms.
fn paced(max_rate: u64) -> (Peer, Vec<u32>) {
    let mut custom = config("linux-6");
    custom.send.pacing = Some(Pacing { max_rate, burst: 2 });
    let mut peer = Peer::new(&custom, "reno", "linux");
    peer.write(100);
    peer.now += 100 * MS;
    let sent = peer.ack(10, &[]);
    (peer, sent)
}

/// What goes out in the next `time`, instant by instant: (ns from now, segments).
fn trickle(peer: &mut Peer, time: Nanos) -> Vec<(Nanos, Vec<u32>)> {
    let start = peer.now;
    let mut instants = Vec::new();
    while let Some(at) = peer.end.next_timer().filter(|&at| at <= start + time) {
        let sent = peer.wait(at - peer.now);
        if !sent.is_empty() {
            instants.push((peer.now - start, sent));
        }
    }
    peer.now = start + time;
    instants
}

/// A window of 20 segments and a round trip of 100 ms: 400,000 bytes per second in slow start.
#[test]
fn bursts_leave_at_the_rate_of_the_window() {
    let (mut peer, sent) = paced(u64::MAX);
    assert_eq!(sent, [10, 11]);
    let expected = [2_500_000, 7_500_000, 12_500_000, 17_500_000];
    let found = trickle(&mut peer, 20 * MS);
    assert_eq!(
        found.iter().map(|(at, _)| *at).collect::<Vec<_>>(),
        expected
    );
    assert!(found.iter().all(|(_, sent)| sent.len() == 2), "{found:?}");
}

/// The first ten segments are free; the bound on the rate holds for the rest whatever the window.
#[test]
fn the_bound_on_the_rate_holds() {
    let (mut peer, _) = paced(50_000);
    let found = trickle(&mut peer, 200 * MS);
    assert_eq!(
        found.iter().map(|(at, _)| at / MS).collect::<Vec<_>>(),
        [20, 60, 100, 140, 180]
    );
}

/// Bursts further apart than the retransmission timeout: waiting for one's time is no closed window, and no probe
/// goes out before.
#[test]
fn waiting_for_its_time_is_no_closed_window() {
    let (mut peer, sent) = paced(2_000);
    // The tenth segment of the first burst takes half a second already.
    assert_eq!(sent, []);
    for next in [10, 12, 14, 16, 18] {
        // The next thing to happen is the next burst.
        let at = peer.end.next_timer().unwrap();
        assert_eq!(peer.wait(at - peer.now), [next, next + 1]);
        peer.now += 100 * MS;
        assert_eq!(peer.ack(next + 2, &[]), []);
    }
    assert_eq!(peer.end.counters().sent.tcp_win_probe, 0);
}

#[test]
fn retransmissions_keep_the_pace() {
    let (mut peer, _) = paced(u64::MAX);
    peer.wait(60 * MS);
    assert_eq!(peer.info().flight.unacked, 20);
    peer.now += 40 * MS;
    // The first goes out at once.
    assert_eq!(peer.ack(10, &[(16, 30)]), [10]);
    let found = trickle(&mut peer, 100 * MS);
    assert!(
        found.iter().all(|(at, sent)| *at > 0 && sent.len() <= 2),
        "{found:?}"
    );
    let again: Vec<u32> = found
        .into_iter()
        .flat_map(|(_, sent)| sent)
        .take(5)
        .collect();
    assert_eq!(again, [11, 12, 13, 14, 15]);
}

/// Without anything to hold back there is no timer of pacing's.
#[test]
fn nothing_held_back_is_no_timer() {
    let (mut peer, _) = paced(u64::MAX);
    peer.wait(60 * MS);
    peer.now += 100 * MS;
    let total = 10 + peer.info().flight.unacked;
    peer.ack(total, &[]);
    peer.wait(100 * MS);
    peer.now += 100 * MS;
    while peer.info().flight.unacked > 0 {
        let next = peer.end.counters().sent.bytes_acked as u32 / MSS + peer.info().flight.unacked;
        peer.ack(next, &[]);
        peer.wait(100 * MS);
    }
    assert_eq!(peer.end.unacknowledged(), 0);
    assert_eq!(peer.end.next_timer(), None);
}
