//! TCP-NCR (RFC 4653) and TCP-aNCR (draft-zimmermann-tcpm-reordering-reaction-02).

use inorder_tcp::CaState;
use inorder_tcp::config::MS;

use super::peer::{Peer, config};

fn open(loss: &str, window: u32) -> Peer {
    Peer::a_round_trip_on("rfc", "reno", loss, window)
}

/// Careful: one new segment for two that left the network; the threshold is two thirds of the flight.
#[test]
fn careful_sends_one_for_two() {
    let mut peer = open("ncr-careful", 24);
    let sent: Vec<usize> = (2..=9).map(|top| peer.ack(0, &[(1, top)]).len()).collect();
    assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0], "{:?}", peer.info());
    assert_eq!(peer.info().flight.unacked, 28);
    assert_eq!(peer.reordering(), 28 * 2 / 3);
    assert_eq!(peer.end.counters().sent.retrans_segs, 0);
}

/// Aggressive: one for one; the threshold is one half of the flight.
#[test]
fn aggressive_sends_one_for_one() {
    let mut peer = open("ncr-aggressive", 24);
    let sent: Vec<usize> = (2..=9).map(|top| peer.ack(0, &[(1, top)]).len()).collect();
    assert_eq!(sent, [1; 8]);
    assert_eq!(peer.info().flight.unacked, 32);
    assert_eq!(peer.reordering(), 16);
}

/// Section 3.2: the late segment arrives; the window is unchanged, and there is no burst.
#[test]
fn disorder_ends_without_a_reduction() {
    let mut peer = open("ncr-aggressive", 24);
    for top in 2..=9 {
        peer.ack(0, &[(1, top)]);
    }
    let sent = peer.ack(9, &[]);
    // T.1: cwnd = min(FS + S, FSprev) = min(23 + 1, 24).
    assert_eq!(sent.len(), 1);
    assert_eq!(peer.cwnd(), 24);
    assert_eq!(peer.info().ssthresh, 24);
    assert_eq!(peer.state(), CaState::Open);
    assert_eq!(peer.end.counters().sent.retrans_segs, 0);
}

/// Section 3.4: a segment that stays missing is retransmitted after about a round trip, and the window is halved
/// relative to the flight at the start of disorder.
#[test]
fn a_loss_is_established_by_a_flight_of_duplicates() {
    for (loss, share) in [("ncr-careful", 2.0 / 3.0), ("ncr-aggressive", 0.5)] {
        let mut peer = open(loss, 24);
        let mut top = 1;
        while peer.end.counters().sent.retrans_segs == 0 {
            top += 1;
            peer.ack(0, &[(1, top)]);
            assert!(top < 100);
        }
        let duplicates = f64::from(top - 1);
        let flight = f64::from(peer.info().flight.unacked);
        assert!(
            (duplicates - share * flight).abs() <= 2.0,
            "{loss} {duplicates} {flight}"
        );
        assert_eq!(peer.info().ssthresh, 12, "{loss}");
        assert_eq!(peer.state(), CaState::Recovery);
    }
}

/// aNCR starts with a low threshold and adapts: after a segment late by 8 of 24, it waits for a third of the window.
#[test]
fn ancr_learns_the_relative_extent() {
    let mut peer = open("ancr-aggressive", 24);
    assert_eq!(peer.ack(0, &[(1, 3)]).len(), 2);
    peer.ack(0, &[(1, 4)]);
    assert_eq!(peer.state(), CaState::Recovery, "threshold 3 at first");
    peer.now += 100 * MS;
    let top = peer.info().flight.unacked;
    peer.ack(top, &[]);
    assert_eq!(peer.state(), CaState::Open);
    // Now segment `top` is late by 2, which is below the threshold and detected without a retransmission.
    let flight = peer.info().flight.unacked;
    peer.ack(top, &[(top + 1, top + 3)]);
    peer.ack(top + 3, &[]);
    assert_eq!(peer.state(), CaState::Open);
    // Three segments of a flight: the next phase waits for the same share.
    let base = top + 3;
    let window = peer.info().flight.unacked;
    assert!(window >= flight.min(12));
    peer.ack(base, &[(base + 1, base + 2)]);
    assert_eq!(peer.reordering(), 3);
}

#[test]
fn ancr_never_lowers_ssthresh_in_disorder() {
    let mut peer = open("ancr-careful", 24);
    peer.ack(0, &[(1, 3)]);
    peer.ack(3, &[]);
    assert_eq!(peer.info().ssthresh, u32::MAX);
    assert_eq!(peer.state(), CaState::Open);
}

/// Between 3 and NCR's bound the threshold follows extent times flight.
#[test]
fn ancr_waits_as_long_as_was_seen() {
    let mut peer = open("ancr-aggressive", 100);
    // Segments 0 and 1 are lost and repaired; meanwhile 30 arrives 20 segments late without a retransmission.
    peer.ack(0, &[(2, 30)]);
    peer.ack(0, &[(31, 50), (2, 30)]);
    peer.ack(0, &[(2, 50)]);
    peer.now += 100 * MS;
    let top = peer.info().flight.unacked;
    peer.ack(top, &[]);
    assert_eq!(peer.state(), CaState::Open);
    let flight = peer.info().flight.unacked;
    peer.ack(top, &[(top + 1, top + 2)]);
    // 20 of 100 segments late: a fifth of the current flight.
    let expected = (0.2 * f64::from(flight)).ceil() as u32;
    assert_eq!(peer.reordering(), expected.max(3), "flight {flight}");
}

/// The threshold that the kernel's module sets: what was seen, over the flight when disorder began. The window grows in disorder, as
/// always in Linux.
#[test]
fn the_threshold_of_ancr_alone_leaves_the_window_to_linux() {
    let mut custom = config("linux-6");
    custom.cwnd.initial = 100;
    let mut peer = Peer::new(&custom, "reno", "ancr-threshold");
    peer.write(1000);
    peer.now += 100 * MS;
    peer.ack(1, &[]);
    // Segments 1 to 4 count as lost, and 1 and 2 are sent again; 4 comes 26 segments late in a flight of 99.
    peer.ack(1, &[(5, 8)]);
    assert_eq!(peer.state(), CaState::Recovery);
    peer.ack(1, &[(4, 30)]);
    assert_eq!(peer.reordering(), 26);
    peer.now += 100 * MS;
    let top = 1 + peer.info().flight.unacked;
    peer.ack(top, &[]);
    let flight = peer.info().flight.unacked;
    peer.ack(top + 1, &[]);
    assert_eq!(peer.state(), CaState::Open);
    let expected = (26.0 / 99.0 * f64::from(flight - 1)).ceil() as u32;
    assert_eq!(peer.reordering(), expected.max(3), "flight {flight}");
    let (before, again) = (peer.cwnd(), peer.end.counters().sent.retrans_segs);
    peer.ack(top + 2, &[(top + 3, top + 4)]);
    assert_eq!(peer.state(), CaState::Disorder);
    peer.ack(top + 5, &[]);
    assert_eq!(peer.state(), CaState::Open);
    assert!(peer.cwnd() >= before, "{before}");
    assert_eq!(peer.end.counters().sent.retrans_segs, again);
}
