//! Undone reductions: Eifel (RFC 3522 section 3.2, RFC 4015 section 3.1), DSACK (RFC 3708, Linux).

use inorder_tcp::CaState;
use inorder_tcp::config::{MS, Undo, Unstamped};

use super::peer::{Peer, config};

fn open(undo: Undo, timestamps: bool) -> Peer {
    let mut custom = config("linux-6");
    custom.recovery.undo = undo;
    custom.options.timestamps = timestamps;
    custom.recovery.frto = false;
    let mut peer = Peer::new(&custom, "reno", "static");
    peer.write(40);
    peer
}

const NONE: Undo = Undo {
    eifel: false,
    dsack: false,
    rfc4015: false,
    partial_within_recovery: false,
    unstamped: Unstamped::Nothing,
    stamp_outlives_recovery: true,
    hold_marks: true,
};

const EIFEL: Undo = Undo {
    eifel: true,
    ..NONE
};

const DSACK: Undo = Undo {
    dsack: true,
    ..NONE
};

/// Segment 0 is late; it is retransmitted at 200 ms; its original is acknowledged.
fn unnecessary_recovery(peer: &mut Peer) {
    peer.now += 100 * MS;
    peer.ack_echo(0, &[(1, 2)], 100);
    peer.ack_echo(0, &[(1, 3)], 100);
    peer.ack_echo(0, &[(1, 4)], 100);
    assert_eq!(peer.state(), CaState::Recovery);
    assert_eq!(peer.end.counters().sent.retrans_segs, 1);
    peer.now += MS;
}

#[test]
fn an_echo_of_an_older_timestamp_shows_that_the_original_arrived() {
    let mut peer = open(EIFEL, true);
    let before = peer.cwnd();
    unnecessary_recovery(&mut peer);
    // Echo of 100: the original's timestamp, not the retransmission's 200.
    peer.ack_echo(4, &[], 100);
    assert_eq!(peer.end.counters().undos.tcp_partial_undo, 1);
    assert_eq!(peer.end.counters().undos.undone_recoveries, 1);
    assert_ne!(peer.state(), CaState::Recovery);
    assert!(peer.cwnd() >= before);
}

#[test]
fn the_echo_of_the_retransmission_proves_nothing() {
    let mut peer = open(EIFEL, true);
    unnecessary_recovery(&mut peer);
    peer.now += 100 * MS;
    peer.ack_echo(4, &[], 200);
    assert_eq!(peer.end.counters().undos.undone_recoveries, 0);
    assert_eq!(peer.state(), CaState::Recovery);
}

/// Linux 2.6 forgets the time of the first retransmission at a partial undo, and then takes every acknowledgement for one of an
/// original, also one that echoes the retransmission.
#[test]
fn without_the_time_of_a_retransmission_every_acknowledgement_is_an_originals() {
    for (unstamped, undone) in [(Unstamped::Original, 2), (Unstamped::Nothing, 1)] {
        let mut peer = open(
            Undo {
                partial_within_recovery: true,
                unstamped,
                ..EIFEL
            },
            true,
        );
        unnecessary_recovery(&mut peer);
        // The original of segment 0: the window is restored, nothing retransmitted is outstanding.
        peer.ack_echo(1, &[], 100);
        assert_eq!(peer.end.counters().undos.tcp_partial_undo, 1);
        peer.now += MS;
        peer.ack_echo(2, &[], 200);
        assert_eq!(peer.end.counters().undos.tcp_partial_undo, undone);
    }
}

/// Without SACK the original of segment 0 restores the window and marks nothing. Linux 2.6 then takes the first duplicate, and not the third,
/// for the loss of what is the oldest segment now.
#[test]
fn without_sack_a_duplicate_in_recovery_marks_the_oldest_segment() {
    for (duplicates_mark, sent_again) in [(true, 2), (false, 1)] {
        let mut custom = config("linux-6");
        custom.options.sack = false;
        custom.options.timestamps = true;
        custom.recovery.duplicates_mark = duplicates_mark;
        custom.recovery.undo = Undo {
            partial_within_recovery: true,
            ..EIFEL
        };
        let mut peer = Peer::new(&custom, "reno", "static");
        peer.write(40);
        unnecessary_recovery(&mut peer);
        peer.ack_echo(1, &[], 100);
        assert_eq!(peer.end.counters().undos.tcp_partial_undo, 1);
        assert_eq!(peer.state(), CaState::Recovery);
        assert_eq!(peer.end.counters().sent.retrans_segs, 1);
        peer.now += MS;
        peer.ack_echo(1, &[], 100);
        assert_eq!(peer.end.counters().sent.retrans_segs, sent_again);
    }
}

#[test]
fn with_the_switch_off_nothing_is_undone() {
    let mut peer = open(NONE, true);
    unnecessary_recovery(&mut peer);
    peer.ack_echo(4, &[], 100);
    peer.ack_echo(4, &[(0, 1)], 100);
    assert_eq!(peer.end.counters().undos.undone_recoveries, 0);
}

#[test]
fn a_full_acknowledgement_of_originals_undoes_at_the_end() {
    let mut custom = config("linux-6");
    custom.recovery.undo = EIFEL;
    custom.options.timestamps = true;
    let mut peer = Peer::new(&custom, "reno", "static");
    peer.write(4);
    unnecessary_recovery(&mut peer);
    peer.ack_echo(4, &[], 100);
    assert_eq!(peer.end.counters().undos.tcp_full_undo, 1);
    assert_eq!(peer.state(), CaState::Open);
}

#[test]
fn dsacks_for_all_retransmissions_undo() {
    let mut peer = open(DSACK, false);
    let before = peer.cwnd();
    unnecessary_recovery(&mut peer);
    peer.ack(4, &[]);
    assert_eq!(peer.state(), CaState::Recovery);
    assert_eq!(peer.end.counters().undos.undone_recoveries, 0);
    // The retransmission arrives a second time at the receiver.
    peer.ack(4, &[(0, 1)]);
    assert_eq!(peer.end.counters().dsack.tcp_dsack_recv, 1);
    assert_eq!(peer.end.counters().undos.tcp_dsack_undo, 1);
    assert_eq!(peer.state(), CaState::Open);
    assert!(peer.cwnd() >= before);
}

#[test]
fn one_dsack_for_two_retransmissions_does_not() {
    let mut peer = open(DSACK, false);
    peer.now += 100 * MS;
    // 0 and 1 are retransmitted.
    for top in 3..9 {
        peer.ack(0, &[(2, top)]);
    }
    assert_eq!(peer.end.counters().sent.retrans_segs, 2);
    peer.ack(8, &[]);
    peer.ack(8, &[(0, 1)]);
    assert_eq!(peer.end.counters().undos.tcp_dsack_undo, 0);
    peer.ack(8, &[(1, 2)]);
    assert_eq!(peer.end.counters().undos.tcp_dsack_undo, 1);
}

#[test]
fn dsacks_beyond_all_retransmissions_are_ignored() {
    let mut peer = open(DSACK, false);
    peer.now += 100 * MS;
    peer.ack(3, &[]);
    // Nothing was retransmitted: the network duplicated.
    peer.ack(3, &[(0, 1)]);
    assert_eq!(peer.end.counters().dsack.tcp_dsack_ignored_dubious, 1);
}

#[test]
fn a_spurious_timeout_is_undone_by_timestamps() {
    let mut peer = open(EIFEL, true);
    assert_eq!(peer.wait(350 * MS), [0]);
    assert_eq!(peer.state(), CaState::Loss);
    peer.ack_echo(2, &[], 100);
    assert_eq!(peer.end.counters().undos.tcp_loss_undo, 1);
    assert_eq!(peer.state(), CaState::Open);
    assert!(peer.cwnd() >= 10);
}

/// RFC 4015 section 3.2: continue with the outstanding data plus the acknowledged amount, up to the initial window;
/// then the timer adapts.
#[test]
fn rfc_4015_keeps_the_flight_and_adapts_the_timer() {
    let undo = Undo {
        rfc4015: true,
        ..EIFEL
    };
    let mut peer = open(undo, true);
    let timeout = peer.info().timing.rto;
    peer.wait(350 * MS);
    peer.ack_echo(2, &[], 100);
    assert_eq!(peer.end.counters().undos.tcp_loss_undo, 1);
    assert_eq!(peer.cwnd(), 8 + 2);
    peer.now += 300 * MS;
    let unacked = peer.info().flight.unacked;
    let echo = (peer.now / MS) as u32 - 300;
    peer.ack_echo(2 + unacked, &[], echo);
    assert!(
        peer.info().timing.rto > timeout,
        "{} {timeout}",
        peer.info().timing.rto
    );
}

/// Segments 0 and 1 are sent again, then the original of 0 arrives while 1 is still under way. The acknowledgement also
/// shows three segments above 5.
#[test]
fn while_a_partial_undo_waits_nothing_is_marked() {
    let lost = |hold_marks| {
        let undo = Undo {
            hold_marks,
            ..EIFEL
        };
        let mut peer = open(undo, true);
        peer.now += 100 * MS;
        peer.ack_echo(0, &[(2, 3)], 100);
        peer.ack_echo(0, &[(2, 4)], 100);
        peer.ack_echo(0, &[(2, 5)], 100);
        peer.ack_echo(0, &[(6, 7), (2, 5)], 100);
        peer.ack_echo(0, &[(6, 8), (2, 5)], 100);
        assert_eq!(peer.end.counters().sent.retrans_segs, 2);
        assert_eq!(peer.info().flight.lost, 2);
        peer.ack_echo(1, &[(6, 9), (2, 5)], 100);
        let waiting = peer.info().flight.lost;
        peer.ack_echo(1, &[(6, 10), (2, 5)], 100);
        (waiting, peer.info().flight.lost)
    };
    // Segment 1, then 5 with the next acknowledgement that does not advance.
    assert_eq!(lost(true), (1, 2));
    assert_eq!(lost(false), (2, 2));
}
