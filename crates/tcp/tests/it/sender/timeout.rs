//! Retransmission timeout (RFC 6298 section 5), F-RTO (RFC 5682 section 3.1), and giving up.

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::{CaState, Error, State};

use super::peer::{Peer, config};

#[test]
fn a_timeout_retransmits_the_first_segment_and_doubles_the_wait() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    peer.write(5);
    assert_eq!(peer.wait(999 * MS), []);
    assert_eq!(peer.wait(2 * MS), [0]);
    assert_eq!(peer.cwnd(), 1);
    assert_eq!(peer.info().timing.backoff, 1);
    assert_eq!(peer.wait(1990 * MS), []);
    assert_eq!(peer.wait(20 * MS), [0]);
    assert_eq!(peer.info().timing.backoff, 2);
    // Slow start retransmits the rest.
    peer.now += 100 * MS;
    assert_eq!(peer.ack(1, &[]), [1, 2]);
    assert_eq!(peer.ack(2, &[]), [3, 4]);
    peer.ack(5, &[]);
    assert_eq!(peer.state(), CaState::Open);
}

#[test]
fn sacked_segments_are_not_retransmitted() {
    let mut peer = Peer::new(&config("rfc"), "reno", "static");
    peer.write(6);
    peer.now += 100 * MS;
    peer.ack(0, &[(2, 3), (4, 5)]);
    let mut sent = peer.wait(1100 * MS);
    assert_eq!(sent, [0]);
    sent.extend(peer.ack(1, &[(2, 3), (4, 5)]));
    sent.extend(peer.ack(3, &[(4, 5)]));
    assert_eq!(sent, [0, 1, 3, 5]);
}

/// The first acknowledgement after a timeout covers six segments, which an original that came late released. Linux since 3.10 lets
/// the window grow by them (`tcp_process_loss` returns before `tcp_cong_avoid`, which does so in every state but a reduction): to
/// the threshold of five and a part beyond it, all in new data. RFC 5682 section 2.1 step 2.b allows two new segments.
#[test]
fn the_window_grows_while_frto_decides_as_in_linux() {
    for (profile, new) in [("linux-6", 5), ("linux-3.19", 5), ("linux-2.6.24", 2)] {
        let mut linux = config(profile);
        (linux.options.sack, linux.cwnd.initial) = (false, 10);
        let mut peer = Peer::new(&linux, "reno", "static");
        assert_eq!(peer.write(100).len(), 10);
        assert_eq!(peer.wait(350 * MS), [0], "{profile}");
        assert_eq!(peer.state(), CaState::Loss, "{profile}");
        let sent = peer.ack(6, &[]);
        assert_eq!(sent, (10..10 + new).collect::<Vec<_>>(), "{profile}");
    }
}

/// RFC 5682 section 2.1 steps 2 and 3: two new segments instead of retransmissions; acknowledgements of originals show that the timeout was
/// spurious.
#[test]
fn frto_finds_a_spurious_timeout() {
    for sack in [true, false] {
        let mut linux = config("linux-6");
        linux.options.sack = sack;
        let mut peer = Peer::new(&linux, "reno", "linux");
        assert_eq!(peer.write(100).len(), 10);
        assert_eq!(peer.wait(350 * MS), [0]);
        assert_eq!(peer.state(), CaState::Loss);
        // The delayed acknowledgements of the originals arrive.
        assert_eq!(peer.ack(1, &[]), [10, 11], "sack {sack}");
        peer.ack(2, &[]);
        assert_eq!(
            peer.end.counters().undos.tcp_spurious_rtos,
            1,
            "sack {sack}"
        );
        assert_eq!(peer.end.counters().undos.tcp_loss_undo, 1);
        assert_ne!(peer.state(), CaState::Loss);
        assert!(peer.cwnd() >= 10, "{}", peer.cwnd());
        assert_eq!(peer.end.counters().sent.retrans_segs, 1);
    }
}

#[test]
fn frto_confirms_the_loss_if_a_duplicate_follows() {
    let mut peer = Peer::new(&config("linux-6"), "reno", "linux");
    peer.write(100);
    assert_eq!(peer.wait(350 * MS), [0]);
    assert_eq!(peer.ack(1, &[]), [10, 11]);
    // The new data arrives above the hole.
    let sent = peer.ack(1, &[(10, 11)]);
    assert_eq!(sent.first(), Some(&1));
    assert_eq!(peer.end.counters().undos.tcp_spurious_rtos, 0);
    assert_eq!(peer.state(), CaState::Loss);
}

#[test]
fn a_dead_path_ends_the_connection_with_an_error() {
    let mut custom = config("rfc");
    custom.rto.retries = 4;
    let mut peer = Peer::new(&custom, "reno", "static");
    peer.write(1);
    let sent = peer.wait(200 * SECOND);
    assert_eq!(sent, [0, 0, 0, 0]);
    assert_eq!(peer.end.state(), State::Closed);
    assert_eq!(peer.end.error(), Some(Error::TimedOut));
}

/// After a repeated SYN a connection begins with one segment (RFC 5681 section 3.1; Linux, which repeats it after a second, from the second
/// repetition on), and with a time-out of 3 s as long as no round trip is known (RFC 6298 section 5 step (5.7)).
#[test]
fn a_repeated_syn_makes_a_connection_begin_carefully() {
    for (profile, repeats, first, timeout) in [
        ("rfc", 0, 10, SECOND),
        ("rfc", 1, 1, 3 * SECOND),
        ("linux-6", 1, 10, 3 * SECOND),
        ("linux-6", 2, 1, 3 * SECOND),
        ("linux-2.6.24", 2, 3, 3 * SECOND),
        ("ns-3.37", 2, 10, SECOND),
    ] {
        let reno = (inorder_tcp::congestion::find("reno").unwrap().build)();
        let mut peer = Peer::after_syns(&config(profile), reno, "static", repeats);
        let case = format!("{profile}, {repeats}");
        assert_eq!(peer.write(20).len(), first, "{case}");
        let sent = peer.now;
        let due = peer.end.next_timer().expect("data is timed");
        assert_eq!(due - sent, timeout, "{case}");
    }
}

/// SACKs of newer data do not postpone the timeout without end while a retransmission is lost.
#[test]
fn a_lost_retransmission_times_out_though_data_flows() {
    let mut peer = Peer::new(&config("rfc"), "fixed", "static");
    let mut sent = peer.write(1000);
    peer.now += 100 * MS;
    let mut arrived = 1;
    for _ in 0..200 {
        sent = peer.wait(10 * MS);
        if peer.end.counters().recoveries.tcp_timeouts > 0 {
            break;
        }
        arrived += 1;
        peer.ack(0, &[(1, arrived)]);
    }
    assert_eq!(peer.end.counters().recoveries.tcp_timeouts, 1);
    assert_eq!(sent.first(), Some(&0));
    assert!(peer.now < 1500 * MS, "{}", peer.now);
}
