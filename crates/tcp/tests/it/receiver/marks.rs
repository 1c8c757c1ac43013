//! The echo of congestion marks: repeated until the sender answers (RFC 3168), or exact (RFC 8257 section 3.2).

use inorder_tcp::{Ecn, Endpoint, Flags, Segment};

use super::peer::{MSS, Peer, config};

/// A connection with ECN whose receiver has this congestion control.
fn peer(congestion: &str) -> Peer {
    let config = config("rfc");
    let mut peer = Peer {
        end: Endpoint::with_names(&config, congestion, "static").unwrap(),
        now: 0,
    };
    peer.end.listen();
    let syn = Segment {
        flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR),
        window: u16::MAX,
        mss: Some(MSS as u16),
        ..Segment::default()
    };
    let answer = peer.deliver(&syn);
    assert!(answer[0].flags.has(Flags::ECE));
    peer.deliver(&peer.bare(1, Flags::ACK));
    peer
}

/// Data segment number `at` arrives; the answers as (next expected segment, ECE).
fn arrives(peer: &mut Peer, at: u32, ecn: Ecn) -> Vec<(u32, bool)> {
    let segment = Segment {
        payload: MSS,
        ecn,
        ..peer.bare(1 + at * MSS, Flags::ACK)
    };
    let answers = peer.deliver(&segment).into_iter();
    answers
        .map(|ack| ((ack.ack - 1) / MSS, ack.flags.has(Flags::ECE)))
        .collect()
}

#[test]
fn a_mark_is_echoed_until_the_sender_answers() {
    let mut peer = peer("reno");
    assert_eq!(arrives(&mut peer, 0, Ecn::Capable0), []);
    assert_eq!(arrives(&mut peer, 1, Ecn::Congestion), [(2, true)]);
    assert_eq!(arrives(&mut peer, 2, Ecn::Capable0), []);
    assert_eq!(arrives(&mut peer, 3, Ecn::Capable0), [(4, true)]);
    let cwr = Segment {
        payload: MSS,
        ecn: Ecn::Capable0,
        ..peer.bare(1 + 4 * MSS, Flags::ACK.with(Flags::CWR))
    };
    let answers = peer.deliver(&cwr);
    assert!(answers.iter().all(|ack| !ack.flags.has(Flags::ECE)));
}

#[test]
fn dctcp_echoes_exactly_the_marked_data() {
    let mut peer = peer("dctcp");
    assert_eq!(arrives(&mut peer, 0, Ecn::Capable0), []);
    // What was waiting is acknowledged without the echo, and the marked segment at once with it.
    assert_eq!(
        arrives(&mut peer, 1, Ecn::Congestion),
        [(1, false), (2, true)]
    );
    assert_eq!(arrives(&mut peer, 2, Ecn::Congestion), []);
    assert_eq!(arrives(&mut peer, 3, Ecn::Congestion), [(4, true)]);
    assert_eq!(arrives(&mut peer, 4, Ecn::Capable0), [(5, false)]);
    assert_eq!(arrives(&mut peer, 5, Ecn::Capable0), []);
}

#[test]
fn dctcp_negotiates_ecn_and_its_acknowledgements_can_be_marked() {
    let mut peer = peer("dctcp");
    peer.end.write(10 * u64::from(MSS));
    let out = peer.out();
    assert!(out.iter().all(|segment| segment.ecn == Ecn::Capable0));
    peer.wait(1);
    assert!(!out.is_empty());
    let mut other = Endpoint::with_names(&config("rfc"), "dctcp", "static").unwrap();
    other.connect(0);
    let syn = other.poll_transmit(0).unwrap();
    assert!(syn.flags.has(Flags::SYN.with(Flags::ECE).with(Flags::CWR)));
    assert_eq!(syn.ecn, Ecn::Capable0);
}
