//! The troubles that other tests know, seen from elsewhere: from the other end, without SACK, cut off, begun too late, without times.

use inorder_analysis::{Analysis, headline};
use inorder_detect::FlowReport;

use crate::frames::{
    A, ACK, B, CLIENT, Capture, ROUTER, SYN, Segment, analyse, client, ip, server,
};

const LEN: u32 = 1_400;

fn said(analysis: &Analysis) -> String {
    headline(analysis).to_string()
}

/// The only flow with this number of original packets.
#[track_caller]
fn flow_of(analysis: &Analysis, packets: u64) -> &FlowReport {
    let found = analysis
        .flows
        .iter()
        .find(|f| f.originals.packets == packets);
    found.unwrap_or_else(|| panic!("no flow of {packets} packets: {}", said(analysis)))
}

/// The capture as a file whose frames are cut at `snap` bytes.
fn cut(capture: &Capture, snap: usize) -> Analysis {
    let mut file = [0xa1b2_c3d4u32, 2 | 4 << 16, 0, 0, snap as u32, 1]
        .map(u32::to_le_bytes)
        .concat();
    for (us, frame) in &capture.frames {
        let kept = &frame[..frame.len().min(snap)];
        let record = [
            1_700_000_000 + us / 1_000_000,
            us % 1_000_000,
            kept.len() as u32,
            frame.len() as u32,
        ];
        file.extend(record.map(u32::to_le_bytes).concat());
        file.extend(kept);
    }
    analyse("cut.pcap", file)
}

/// A segment of the server, whose hop count says that it is far away or near.
fn data(n: u32) -> Segment {
    server(B + 1 + n * LEN, A + 1, ACK, LEN as u16)
}

fn ack(upto: u32) -> Segment {
    client(A + 1, B + 1 + upto * LEN, ACK, 0)
}

/// Next to the receiver, without SACK: it lacks three segments when the capture begins, and they come one by one, a round trip apart.
#[test]
fn a_hole_that_was_open_when_the_capture_began_shows_without_sack() {
    let mut capture = Capture::default();
    capture.send(0.0, ack(0));
    for n in 0..5 {
        let at = 0.2 + f64::from(n) * 0.3;
        capture.send(at, data(3 + n));
        capture.send(at + 0.01, ack(0));
    }
    for n in 0..3 {
        let at = 41.0 + f64::from(n) * 40.0;
        capture.send(at, data(n));
        capture.send(at + 0.01, ack(if n < 2 { n + 1 } else { 8 }));
    }
    for n in 8..12 {
        capture.send(160.0 + f64::from(n), data(n));
        capture.send(160.1 + f64::from(n), ack(n + 1));
    }
    let analysis = capture.analyse();
    let text = said(&analysis);
    assert!(!text.starts_with("No problem"), "{text}");
    assert_eq!(analysis.flows[0].retransmissions.total, 3, "{text}");
    assert_eq!(analysis.flows[0].retransmissions.spurious, 0, "{text}");
}

/// Next to the sender, which fills a hole of two segments that was reported before the capture began.
#[test]
fn what_a_sender_repeats_from_before_the_capture_is_sent_again() {
    let mut capture = Capture::default();
    // The server is near to this capture: the hop counts of the harness say the opposite, so the ends change places.
    let data = |n: u32| Segment {
        from_client: true,
        ..client(A + 1 + n * LEN, B + 1, ACK, LEN as u16)
    };
    let ack = |upto: u32, right: u32| {
        let block = (A + 1 + 2 * LEN, A + 1 + right * LEN);
        let sack = if right > 0 { block } else { (0, 0) };
        Segment {
            sack,
            ..server(B + 1, A + 1 + upto * LEN, ACK, 0)
        }
    };
    for n in 0..4 {
        let at = f64::from(n) * 0.3;
        capture.send(at, ack(0, 3 + n));
        capture.send(at + 0.02, data(12 + n));
    }
    capture.send(1.5, data(0));
    capture.send(1.6, data(1));
    for n in 0..6 {
        capture.send(2.0 + f64::from(n) * 0.3, ack(0, 7 + n));
    }
    capture.send(41.5, ack(1, 16));
    capture.send(41.6, ack(16, 0));
    for n in 16..21 {
        let at = 42.0 + f64::from(n) * 0.3;
        capture.send(at, data(n));
        capture.send(at + 40.0, ack(n + 1, 0));
    }
    let analysis = capture.analyse();
    let text = said(&analysis);
    assert!(!text.starts_with("No problem"), "{text}");
    assert_eq!(analysis.flows[0].retransmissions.total, 2, "{text}");
    assert_eq!(analysis.flows[0].retransmissions.spurious, 0, "{text}");
}

/// Next to a client that sends six segments beyond a window which stays closed for long, and sends them again once it opens.
#[test]
fn what_is_sent_beyond_the_window_is_refused_at_the_sender_too() {
    let mut capture = Capture::default();
    let edge = 14;
    let window = |upto: u32| ((edge - upto) * LEN) as u16;
    let ack = |upto: u32, window: u16| Segment {
        window,
        ..server(B + 1, A + 1 + upto * LEN, ACK, 0)
    };
    let data = |n: u32| client(A + 1 + n * LEN, B + 1, ACK, LEN as u16);
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(
        40.0,
        Segment {
            window: window(0),
            ..server(B, A + 1, SYN | ACK, 0)
        },
    );
    capture.send(40.1, client(A + 1, B + 1, ACK, 0));
    for n in 0..20 {
        let at = if n < 10 { 41.0 } else { 81.5 } + f64::from(n) * 0.2;
        capture.send(at, data(n));
        let upto = (n + 1).min(edge);
        if n % 2 == 1 || n >= edge {
            capture.send(at + 40.0, ack(upto, window(upto)));
        }
    }
    capture.send(250.0, ack(edge, 0xffff));
    for n in edge..20 {
        let at = 251.0 + f64::from(n) * 0.2;
        capture.send(at, data(n));
        capture.send(at + 40.0, ack(n + 1, 0xffff));
    }
    let analysis = capture.analyse();
    let text = said(&analysis);
    let flow = flow_of(&analysis, 20);
    assert_eq!(
        (flow.originals.lost, flow.originals.outside_window),
        (0, 6),
        "{text}"
    );
    assert_eq!(
        (flow.retransmissions.needed, flow.retransmissions.spurious),
        (6, 0),
        "{text}"
    );
    assert!(text.contains("outside the receiver's window"), "{text}");
}

/// Next to a client, with no options of any SYN in the file, so that the scale of windows is not known: twice the window closes while
/// three segments are under way, and they are sent again once it opens.
#[test]
fn what_meets_a_closed_window_is_refused_whatever_the_scale() {
    let mut capture = Capture {
        snap: Some(54),
        ..Capture::default()
    };
    capture.shake(0.0, 40.0);
    let ack = |upto: u32, window: u16| Segment {
        window,
        ..server(B + 1, A + 1 + upto * LEN, ACK, 0)
    };
    let data = |n: u32| client(A + 1 + n * LEN, B + 1, ACK, LEN as u16);
    for round in 0..2 {
        let (at, first) = (41.0 + f64::from(round) * 400.0, round * 9);
        let closed = first + 6;
        for n in first..closed {
            capture.send(at + f64::from(n - first), data(n));
            let window = if n + 1 < closed { 500 } else { 0 };
            capture.send(at + f64::from(n - first) + 40.0, ack(n + 1, window));
        }
        for n in closed..closed + 3 {
            let at = at + 50.0 + f64::from(n - closed);
            capture.send(at, data(n));
            capture.send(at + 40.0, ack(closed, 0));
        }
        capture.send(at + 250.0, ack(closed, 500));
        for n in closed..closed + 3 {
            let at = at + 251.0 + f64::from(n - closed);
            capture.send(at, data(n));
            capture.send(at + 40.0, ack(n + 1, 500));
        }
    }
    let analysis = capture.analyse();
    let text = said(&analysis);
    let flow = flow_of(&analysis, 18);
    assert_eq!(
        (flow.originals.lost, flow.originals.outside_window),
        (0, 6),
        "{text}"
    );
    assert_eq!(flow.retransmissions.spurious, 0, "{text}");
}

/// A router says of four segments that they are too large; of its messages the snap length leaves two bytes of their numbers.
#[test]
fn a_message_of_icmp_that_is_cut_still_says_why() {
    let mut capture = Capture::default();
    capture.shake(0.0, 60.0);
    let whole = 1_460u32;
    for n in 0..4 {
        let segment = client(A + 1 + n * whole, B + 1, ACK, whole as u16);
        capture.send(61.0 + f64::from(n) * 0.02, segment);
        let mut body = vec![3, 4, 0, 0, 0, 0, 5, 120];
        body.extend(&segment.bytes()[..28]);
        let message = ip(ROUTER, CLIENT, 1, (500 + n as u16, 63), &body);
        capture.frame(63.0 + f64::from(n) * 0.4, None, &message);
    }
    let pieces: Vec<u32> = (0..4 * whole).step_by(1_360).collect();
    for (at, &from) in (0..).zip(&pieces) {
        let len = 1_360.min(4 * whole - from);
        let at = 65.0 + f64::from(at) * 0.02;
        capture.send(at, client(A + 1 + from, B + 1, ACK, len as u16));
        capture.send(at + 60.0, server(B + 1, A + 1 + from + len, ACK, 0));
    }
    capture.frames.sort_by_key(|(us, _)| *us);
    for snap in [68, 70, 96] {
        let text = said(&cut(&capture, snap));
        assert!(text.contains("too large for the path"), "{snap}: {text}");
    }
}

/// Segment 20 of forty is lost, SACKed around, and sent again; each packet's place in the file is known, and no time.
#[test]
fn without_times_a_retransmission_that_fills_a_hole_is_no_late_packet() {
    let mut capture = Capture::default();
    let stamped = |segment: Segment, stamp| Segment { stamp, ..segment };
    let data = |n: u32, clock: u32| {
        stamped(
            client(A + 1 + n * LEN, B + 1, ACK, LEN as u16),
            (clock, 900),
        )
    };
    let ack = |upto: u32, right: u32, echo: u32| {
        let block = (A + 1 + 21 * LEN, A + 1 + right * LEN);
        let sack = if right > 0 { block } else { (0, 0) };
        stamped(
            Segment {
                sack,
                ..server(B + 1, A + 1 + upto * LEN, ACK, 0)
            },
            (900 + echo, echo),
        )
    };
    capture.send(0.0, stamped(client(A, 0, SYN, 0), (10, 0)));
    capture.send(0.0, stamped(server(B, A + 1, SYN | ACK, 0), (900, 10)));
    capture.send(0.0, stamped(client(A + 1, B + 1, ACK, 0), (50, 900)));
    for n in 0..40 {
        capture.send(0.0, data(n, 100 + n));
        match n {
            0..20 => capture.send(0.0, ack(n + 1, 0, 100 + n)),
            20 => {}
            _ => capture.send(0.0, ack(20, n + 1, 119)),
        }
        if n == 30 {
            capture.send(0.0, data(20, 160));
        }
    }
    capture.send(0.0, ack(40, 0, 160));
    let analysis = capture.analyse();
    let text = said(&analysis);
    let flow = flow_of(&analysis, 40);
    assert_eq!(flow.late(), 0, "{text}");
    assert_eq!(flow.retransmissions.spurious, 0, "{text}");
}

/// Data alone: packets are sent again, and nothing shows whether late ones made the sender do so.
#[test]
fn without_acknowledgements_late_packets_are_not_ruled_out() {
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(40.0, client(A + 1, B + 1, ACK, 0));
    for n in 0..60 {
        let at = 41.0 + f64::from(n);
        capture.send(at, client(A + 1 + n * LEN, B + 1, ACK, LEN as u16));
        if n % 20 == 19 {
            capture.send(
                at + 0.5,
                client(A + 1 + (n - 10) * LEN, B + 1, ACK, LEN as u16),
            );
        }
    }
    let text = said(&capture.analyse());
    assert!(!text.contains("is not the problem"), "{text}");
    assert!(text.contains("out of order is unknown"), "{text}");
}

/// The receiver sees ten packets twice, 1.3 ms apart, without an identification and with equal timestamps, as over IPv6.
#[test]
fn packets_without_identification_that_the_network_delivers_twice_were_not_sent_again() {
    let mut capture = Capture::default();
    let stamped = |segment: Segment, stamp| Segment {
        stamp,
        id: 0,
        ..segment
    };
    capture.send_as(0.0, stamped(client(A, 0, SYN, 0), (10, 0)));
    capture.send_as(40.0, stamped(server(B, A + 1, SYN | ACK, 0), (900, 10)));
    capture.send_as(40.1, stamped(client(A + 1, B + 1, ACK, 0), (50, 900)));
    capture.send_as(41.0, stamped(client(A + 1, B + 1, ACK, 200), (51, 900)));
    for n in 0..100 {
        let at = 82.0 + f64::from(n) * 4.0;
        let packet = stamped(
            server(B + 1 + n * LEN, A + 201, ACK, LEN as u16),
            (950 + 4 * n, 51),
        );
        capture.send_as(at, packet);
        let answer = stamped(
            client(A + 201, B + 1 + (n + 1) * LEN, ACK, 0),
            (90 + 4 * n, 950 + 4 * n),
        );
        capture.send_as(at + 0.05, answer);
        if n % 10 == 9 {
            capture.send_as(at + 1.3, packet);
            let sack = (B + 1 + n * LEN, B + 1 + (n + 1) * LEN);
            capture.send_as(at + 1.35, Segment { sack, ..answer });
        }
    }
    let analysis = capture.analyse();
    let text = said(&analysis);
    let flow = flow_of(&analysis, 100);
    assert_eq!(
        (flow.retransmissions.total, flow.recoveries.total),
        (0, 0),
        "{text}"
    );
}

/// A transfer in order whose beginning the capture lacks: how much there was before is unknown.
#[test]
fn a_transfer_that_was_under_way_is_not_called_too_short() {
    let mut capture = Capture::default();
    let mut n = 0;
    for round in 0..4 {
        for _ in 0..10 << round {
            let at = f64::from(round) * 40.0 + f64::from(n) * 0.01;
            capture.send(at, client(A + 1 + n * LEN, B + 1, ACK, LEN as u16));
            capture.send(at + 39.5, server(B + 1, A + 1 + (n + 1) * LEN, ACK, 0));
            n += 1;
        }
    }
    let text = said(&capture.analyse());
    assert!(!text.contains("too little to leave slow start"), "{text}");
}

/// A client that has asked a few times, and whose keep-alives are answered at first, with or without the last byte in them.
#[test]
fn keep_alives_without_an_answer_are_a_trouble() {
    for (len, answered, sent) in [(0, 2, 9), (1, 2, 9), (0, 9, 9), (0, 8, 9)] {
        let mut capture = Capture::default();
        capture.send(0.0, client(A, 0, SYN, 0));
        capture.send(40.0, server(B, A + 1, SYN | ACK, 0));
        capture.send(40.1, client(A + 1, B + 1, ACK, 0));
        for n in 0..5 {
            let at = 100.0 + f64::from(n) * 50.0;
            capture.send(at, client(A + 1 + n * LEN, B + 1, ACK, LEN as u16));
            capture.send(at + 40.0, server(B + 1, A + 1 + (n + 1) * LEN, ACK, 0));
        }
        for n in 0..sent {
            let at = 60_000.0 + f64::from(n) * 7_000.0;
            capture.send(at, client(A + 5 * LEN, B + 1, ACK, len));
            if n < answered {
                capture.send(at + 40.0, server(B + 1, A + 1 + 5 * LEN, ACK, 0));
            }
        }
        let analysis = capture.analyse();
        let text = said(&analysis);
        let silent =
            text.contains("othing answered the last 7 keep-alives, which were sent over 42.0 s");
        assert_eq!(silent, answered == 2, "{text}");
        assert_eq!(text.starts_with("No problem"), answered != 2, "{text}");
        assert_eq!(analysis.flows[0].retransmissions.total, 0, "{text}");
    }
}

/// A clock that is set forward by an hour while data is under way.
#[test]
fn an_hour_that_did_not_pass_is_no_wait() {
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(40.0, server(B, A + 1, SYN | ACK, 0));
    capture.send(40.1, client(A + 1, B + 1, ACK, 0));
    for n in 0..60 {
        let at = 100.0 + f64::from(n) * 50.0;
        let hour = |after| if n > after { 3_600_000.0 } else { 0.0 };
        capture.send(
            at + hour(30),
            client(A + 1 + n * LEN, B + 1, ACK, LEN as u16),
        );
        let acked = server(B + 1, A + 1 + (n + 1) * LEN, ACK, 0);
        capture.send(at + 40.0 + hour(29), acked);
    }
    let text = said(&capture.analyse());
    assert!(text.starts_with("No problem"), "{text}");
    assert!(
        !text.contains("waited for its retransmission timer"),
        "{text}"
    );
    assert!(
        text.contains("clock leapt forward once, over time that counts nowhere"),
        "{text}"
    );
}
