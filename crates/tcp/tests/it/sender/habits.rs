//! What senders of other stacks repeat, and how they cut it.

use inorder_tcp::config::{LossProbe, MS};
use inorder_tcp::habits::{AfterTimeout, AtDuplicates, Habits, ProbePart, Repeats};
use inorder_tcp::{Config, Segment};

use super::peer::{MSS, Peer, config};

/// A sender with a habit, and without Nagle's algorithm.
fn with(set: impl FnOnce(&mut Habits)) -> Config {
    let mut sender = config("rfc");
    sender.send.nagle = inorder_tcp::config::Nagle::Off;
    set(&mut sender.habits);
    sender
}

/// First byte, from 0, and length.
fn ranges(segments: &[Segment]) -> Vec<(u32, u32)> {
    let data = segments.iter().filter(|segment| segment.payload > 0);
    data.map(|segment| (segment.seq - 1, segment.payload))
        .collect()
}

/// Waits until the first timer that sends something.
fn next(peer: &mut Peer) -> Vec<(u32, u32)> {
    loop {
        peer.now = peer.end.next_timer().expect("a timer");
        peer.end.on_timer(peer.now);
        let sent = ranges(&peer.segments());
        if !sent.is_empty() {
            return sent;
        }
    }
}

/// Segments 2 and 4 of five are SACKed, and the timer expires.
fn timed_out() -> (Peer, Vec<u32>) {
    let outstanding = with(|h| h.after_timeout = AfterTimeout::Outstanding);
    let mut peer = Peer::new(&outstanding, "reno", "static");
    peer.write(5);
    peer.now += 100 * MS;
    peer.ack(0, &[(2, 3), (4, 5)]);
    let sent = peer.wait(1100 * MS);
    (peer, sent)
}

/// RFC 2018 section 8: what was SACKed may have been discarded.
#[test]
fn a_timeout_may_repeat_what_was_sacked() {
    let (mut peer, mut sent) = timed_out();
    sent.extend(peer.ack(1, &[(2, 3), (4, 5)]));
    sent.extend(peer.ack(3, &[(4, 5)]));
    // The acknowledgements report segments 2 and 4 again, so that those are not repeated a second time.
    assert_eq!(sent, [0, 1, 3]);
    let (mut peer, mut sent) = timed_out();
    sent.extend(peer.ack(1, &[]));
    sent.extend(peer.ack(2, &[]));
    assert_eq!(sent, [0, 1, 2, 3, 4]);
}

#[test]
fn three_duplicates_may_bring_the_whole_window() {
    let mut peer = Peer::new(
        &with(|h| h.at_duplicates = AtDuplicates::Window),
        "fixed",
        "static",
    );
    assert_eq!(peer.write(6).len(), 6);
    peer.now += 100 * MS;
    peer.ack(0, &[(1, 2)]);
    peer.ack(0, &[(1, 3)]);
    assert_eq!(peer.ack(0, &[(1, 4)]), [0, 1, 2, 3, 4, 5]);
}

/// Small segments are repeated as one.
#[test]
fn repeats_may_be_joined() {
    let mut peer = Peer::new(&with(|h| h.repeats = Repeats::Joined), "reno", "static");
    for _ in 0..4 {
        peer.end.write(300);
        peer.out();
    }
    assert_eq!(next(&mut peer), [(0, 900)], "the fourth would not fit");
    assert_eq!(peer.end.counters().sent.retrans_segs, 3);
}

#[test]
fn repeats_may_be_cut_anew() {
    let mut peer = Peer::new(&with(|h| h.repeats = Repeats::Cut(400)), "reno", "static");
    peer.write(2);
    assert_eq!(next(&mut peer), [(0, 400), (400, 400), (800, 200)]);
}

/// A probe of the last bytes begins inside a segment.
#[test]
fn a_probe_may_begin_inside_a_segment() {
    let probing = with(|h| h.probe_part = ProbePart::LastBytes)
        .with(|config| config.recovery.loss_probe = LossProbe::Rfc8985);
    let mut peer = Peer::new(&probing, "reno", "rack");
    peer.write(2);
    peer.end.write(300);
    peer.out();
    assert_eq!(next(&mut peer), [(2 * MSS - 700, MSS)]);
}

#[test]
fn a_copy_may_be_sent_in_advance() {
    let early = with(|h| h.probe_after = Some(10 * MS)).with(|config| {
        config.recovery.loss_probe = LossProbe::Rfc8985;
        config.options.sack = false;
    });
    let mut peer = Peer::new(&early, "reno", "static");
    peer.write(3);
    let sent_at = peer.now;
    assert_eq!(next(&mut peer), [(2 * MSS, MSS)]);
    assert_eq!(peer.now - sent_at, 10 * MS);
}

/// RFC 7323 section 5.4.
#[test]
fn timestamps_may_begin_anywhere() {
    let first = |seed| {
        let stamped = with(|h| h.random_timestamps = true).with(|config| {
            config.options.timestamps = true;
            config.seed = seed;
        });
        let mut peer = Peer::new(&stamped, "reno", "static");
        peer.end.write(1000);
        let sent = peer.segments();
        sent[0].timestamps.expect("the option is in use").val
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}
