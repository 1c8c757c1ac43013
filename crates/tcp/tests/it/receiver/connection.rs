//! Opening and closing (RFC 9293 section 3.5, 3.6, 3.10), and blind attacks (RFC 5961).

use inorder_tcp::config::{MS, SECOND};
use inorder_tcp::{Config, Endpoint, Error, Flags, Pair, Segment, Side, State};

use super::peer::{Peer, config};

fn pair(config: &Config) -> Pair {
    let end = || Endpoint::with_names(config, "reno", "static").unwrap();
    Pair::new(end(), end(), 10 * MS)
}

#[test]
fn both_may_open_at_once() {
    let mut pair = pair(&config("rfc"));
    pair.client.connect(0);
    pair.server.connect(0);
    pair.flush(Side::Client);
    pair.flush(Side::Server);
    pair.run_until(SECOND);
    assert_eq!(pair.client.state(), State::Established);
    assert_eq!(pair.server.state(), State::Established);
    pair.client.write(5000);
    pair.flush(Side::Client);
    pair.run_until(2 * SECOND);
    assert_eq!(pair.server.counters().received.bytes_received, 5000);
}

#[test]
fn a_lost_syn_is_sent_again_after_a_second() {
    for lost in [Side::Client, Side::Server] {
        let mut pair = pair(&config("rfc")).with_fate(move |departure, copies| {
            if departure.from != lost || departure.index > 0 {
                copies.push(0);
            }
        });
        pair.open();
        pair.run_until(1015 * MS);
        assert_ne!(pair.client.state(), State::Established);
        pair.run_until(1100 * MS);
        assert_eq!(pair.client.state(), State::Established, "{lost:?}");
        assert_eq!(pair.server.state(), State::Established, "{lost:?}");
    }
}

#[test]
fn without_a_listener_the_connection_is_refused() {
    let mut pair = pair(&config("rfc"));
    pair.client.connect(0);
    pair.flush(Side::Client);
    pair.run_until(SECOND);
    assert_eq!(pair.client.error(), Some(Error::Refused));
    assert_eq!(pair.client.state(), State::Closed);
}

#[test]
fn without_a_peer_the_connection_times_out() {
    let mut pair = pair(&config("rfc")).with_fate(|_, _| {});
    pair.open();
    pair.run_until(1000 * SECOND);
    assert_eq!(pair.client.error(), Some(Error::TimedOut));
}

#[test]
fn options_count_only_if_both_offer_them() {
    let mut pair = pair(&config("rfc"));
    let mut other = config("rfc");
    other.options.sack = false;
    other.options.timestamps = true;
    other.options.window_scale = None;
    pair.server = Endpoint::with_names(&other, "reno", "static").unwrap();
    pair.open();
    pair.run_until(SECOND);
    let mut seen = Vec::new();
    pair.client.write(1000);
    while let Some(segment) = pair.client.poll_transmit(SECOND) {
        seen.push(segment);
    }
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].timestamps, None);
    assert_eq!(seen[0].window, u16::MAX, "not scaled");
}

#[test]
fn closing_goes_through_every_state() {
    let mut pair = pair(&config("rfc"));
    pair.open();
    pair.run_until(100 * MS);
    pair.client.close();
    pair.flush(Side::Client);
    assert_eq!(pair.client.state(), State::FinWait1);
    pair.run_until(115 * MS);
    assert_eq!(pair.server.state(), State::CloseWait);
    pair.run_until(400 * MS);
    assert_eq!(pair.client.state(), State::FinWait2);
    // The other direction remains open.
    pair.server.write(3000);
    pair.flush(Side::Server);
    pair.run_until(800 * MS);
    assert_eq!(pair.client.counters().received.bytes_received, 3000);
    pair.server.close();
    pair.flush(Side::Server);
    assert_eq!(pair.server.state(), State::LastAck);
    pair.run_until(900 * MS);
    assert_eq!(pair.server.state(), State::Closed);
    assert_eq!(pair.client.state(), State::TimeWait);
    pair.run_until(70 * SECOND);
    assert_eq!(pair.client.state(), State::Closed);
    assert_eq!((pair.client.error(), pair.server.error()), (None, None));
}

#[test]
fn both_may_close_at_once() {
    let mut pair = pair(&config("rfc"));
    pair.open();
    pair.run_until(100 * MS);
    for side in [Side::Client, Side::Server] {
        pair.endpoint(side).close();
        pair.flush(side);
    }
    pair.run_until(115 * MS);
    assert_eq!(pair.client.state(), State::Closing);
    pair.run_until(200 * MS);
    assert_eq!(pair.client.state(), State::TimeWait);
    assert_eq!(pair.server.state(), State::TimeWait);
}

#[test]
fn aborting_resets_the_peer() {
    let mut pair = pair(&config("rfc"));
    pair.open();
    pair.run_until(100 * MS);
    pair.client.abort();
    pair.flush(Side::Client);
    pair.run_until(SECOND);
    assert_eq!(pair.client.error(), Some(Error::Aborted));
    assert_eq!(pair.server.error(), Some(Error::Reset));
}

/// RFC 5961 section 3.2.
#[test]
fn a_reset_must_be_exact() {
    let mut peer = Peer::new(&config("linux-6"));
    let near = peer.bare(500, Flags::RST);
    assert_eq!(peer.deliver(&near).len(), 1, "challenged");
    assert_eq!(peer.end.counters().acks.tcp_challenge_ack, 1);
    assert_eq!(peer.end.state(), State::Established);
    let far = peer.bare(0x8000_0000, Flags::RST);
    assert_eq!(peer.deliver(&far), []);
    let exact = peer.bare(1, Flags::RST);
    assert_eq!(peer.deliver(&exact), []);
    assert_eq!(peer.end.error(), Some(Error::Reset));

    let mut peer = Peer::new(&config("linux-6").with(|config| config.acks.challenge = false));
    let near = peer.bare(500, Flags::RST);
    peer.deliver(&near);
    assert_eq!(peer.end.error(), Some(Error::Reset));
}

/// RFC 5961 section 4.2, and RFC 9293 section 3.10.7.4 for an acknowledgement of data that was never sent, which Linux
/// does not answer.
#[test]
fn a_stray_syn_or_acknowledgement_is_harmless() {
    for (profile, answers) in [("linux-6", 0), ("rfc", 1)] {
        let mut peer = Peer::new(&config(profile));
        let syn = peer.bare(5, Flags::SYN);
        assert_eq!(peer.deliver(&syn).len(), 1);
        let ahead = Segment {
            ack: 9999,
            ..peer.bare(1, Flags::ACK)
        };
        assert_eq!(peer.deliver(&ahead).len(), answers, "{profile}");
        assert_eq!(peer.end.state(), State::Established);
    }
}

#[test]
fn a_fin_out_of_order_waits_for_the_data_before_it() {
    let mut peer = Peer::new(&config("rfc"));
    let fin = Segment {
        payload: 1000,
        ..peer.bare(1001, Flags::ACK.with(Flags::FIN))
    };
    peer.deliver(&fin);
    assert_eq!(peer.end.state(), State::Established);
    let answer = peer.data(0, 1);
    assert_eq!(answer.last().map(|segment| segment.ack), Some(2002));
    assert_eq!(peer.end.state(), State::CloseWait);
    assert!(peer.end.peer_closed());
}

/// A FIN has a number, and above a gap it is answered as data is. Linux reports it in the block, as `tcp_data_queue_ofo` does: a
/// probe of the tail may be nothing but a FIN.
#[test]
fn a_fin_alone_above_a_gap_is_acknowledged_at_once() {
    for (profile, blocks) in [("rfc", vec![]), ("linux-6", vec![(1001, 1002)])] {
        let mut peer = Peer::new(&config(profile));
        let fin = peer.bare(1001, Flags::ACK.with(Flags::FIN));
        for _ in 0..2 {
            let answer = peer.deliver(&fin);
            let [answer] = answer.as_slice() else {
                panic!("{profile}: {answer:?}");
            };
            assert_eq!(answer.ack, 1, "{profile}");
            assert_eq!(answer.sack.as_slice(), blocks, "{profile}");
        }
        let answer = peer.data(0, 1);
        let last = answer.last().expect("an acknowledgement");
        assert_eq!(last.ack, 1002, "{profile}");
        assert!(last.sack.as_slice().is_empty(), "{profile}");
        assert_eq!(peer.end.state(), State::CloseWait);
    }
}

/// In CLOSE-WAIT data is discarded, also data above the end of the stream, and answered with an acknowledgement
/// (RFC 9293 section 3.10.7.4, seventh step).
#[test]
fn data_across_the_fin_that_was_taken_is_discarded() {
    let mut peer = Peer::new(&config("rfc"));
    let fin = Segment {
        payload: 1000,
        ..peer.bare(1, Flags::ACK.with(Flags::FIN))
    };
    peer.deliver(&fin);
    assert_eq!(peer.end.state(), State::CloseWait);
    let across = Segment {
        payload: 2000,
        ..peer.bare(1, Flags::ACK)
    };
    let answer = peer.deliver(&across);
    assert_eq!(answer.last().map(|segment| segment.ack), Some(1002));
    assert_eq!(peer.end.counters().received.bytes_received, 1000);
    assert_eq!(
        peer.end.readable(),
        0,
        "an application that reads at once has read everything"
    );
}

/// Data above the end of the stream contradicts it. What came first counts.
#[test]
fn a_fin_below_data_that_has_arrived_is_ignored() {
    let mut peer = Peer::new(&config("rfc"));
    peer.data(1, 4);
    let fin = Segment {
        payload: 1000,
        ..peer.bare(1001, Flags::ACK.with(Flags::FIN))
    };
    peer.deliver(&fin);
    let answer = peer.data(0, 1);
    assert_eq!(answer.last().map(|segment| segment.ack), Some(4001));
    peer.data(4, 5);
    assert_eq!(peer.end.state(), State::Established);
    assert_eq!(peer.end.counters().received.bytes_received, 5000);
}
