//! Whole captures, from frames to the headline: which packets are one connection, how connections open, those that never
//! do, and what ICMP says of lost packets.

use inorder_analysis::{Analysis, headline};
use inorder_detect::{Cause, FastOpen, Outcome};
use inorder_limits::{Limit, Share};

use crate::frames::{A, ACK, B, CLIENT, Capture, ROUTER, RST, SYN, Segment, client, ip, server};
use crate::words::says;

/// A request and its answer of ten packets. Which VLAN a frame is in depends on who sends it.
fn exchange(capture: &mut Capture, at: f64, isn: [u32; 2], vlan: fn(bool) -> Option<u16>) {
    let [a, b] = isn;
    let mut send = |ms: f64, segment: Segment| {
        capture.send_in(at + ms, vlan(segment.from_client), segment);
    };
    send(0.0, client(a, 0, SYN, 0));
    send(40.0, server(b, a + 1, SYN | ACK, 0));
    send(40.1, client(a + 1, b + 1, ACK, 0));
    send(41.0, client(a + 1, b + 1, ACK, 200));
    for n in 0..10 {
        let at = 82.0 + 2.0 * f64::from(n);
        send(at, server(b + 1 + n * 1_400, a + 201, ACK, 1_400));
        send(at + 0.3, client(a + 201, b + 1 + (n + 1) * 1_400, ACK, 0));
    }
}

#[track_caller]
fn clean(analysis: &Analysis, flows: usize) {
    let text = headline(analysis).to_string();
    assert!(
        text.starts_with("No problem in") || text.starts_with("No problem is visible in"),
        "{text}"
    );
    assert_eq!(analysis.flows.len(), flows, "{text}");
    let repeated: u64 = analysis.flows.iter().map(|f| f.retransmissions.total).sum();
    assert_eq!(repeated, 0);
}

#[test]
fn the_same_ports_in_two_vlans_are_two_connections() {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |_| Some(10));
    exchange(&mut capture, 0.7, [700_000_000, 704_000_000], |_| Some(20));
    let analysis = capture.analyse();
    clean(&analysis, 4);
    assert!(analysis.flows.iter().all(|f| f.flow.reuse == 0));
    let text = headline(&analysis).to_string();
    assert!(
        text.contains("(VLAN 20)") && !text.contains("Doubts"),
        "{text}"
    );
}

#[test]
fn equal_numbers_in_two_vlans_are_two_connections_if_the_packets_differ() {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |_| Some(10));
    exchange(&mut capture, 0.7, [A, B], |_| Some(20));
    clean(&capture.analyse(), 4);
}

#[test]
fn directions_in_two_vlans_are_one_connection() {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |from_client| {
        Some(if from_client { 10 } else { 20 })
    });
    let analysis = capture.analyse();
    clean(&analysis, 2);
    // Each direction sees its acknowledgements.
    assert!(
        analysis
            .flows
            .iter()
            .all(|f| !f.blind.any() && f.endpoints.syn_seen)
    );
    // Begun in the middle.
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |from_client| {
        Some(if from_client { 10 } else { 20 })
    });
    capture.frames.drain(..6);
    let analysis = capture.analyse();
    assert_eq!(analysis.flows.len(), 1);
    assert_eq!(analysis.flows[0].originals.packets, 9);
    assert!(analysis.flows[0].vantage.to_receiver_ns.is_some());
}

#[test]
fn frames_with_and_without_a_tag_are_one_connection_captured_twice() {
    let mut once = Capture::default();
    exchange(&mut once, 0.0, [A, B], |_| None);
    let mut capture = Capture::default();
    for (us, frame) in &once.frames {
        let ms = f64::from(*us) / 1_000.0;
        capture.frame(ms, None, &frame[14..]);
        capture.frame(ms + 0.01, Some(10), &frame[14..]);
    }
    let analysis = capture.analyse();
    clean(&analysis, 2);
    let twice: u64 = analysis
        .flows
        .iter()
        .map(|f| f.artefacts.duplicated_frames)
        .sum();
    assert!(twice >= 20, "{twice}");
}

#[test]
fn a_connection_follows_the_syn_ack_that_is_acknowledged() {
    // Two servers behind one address, and the one that answers first is not the one that is acknowledged.
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(39.0, server(555, A + 1, SYN | ACK, 0));
    capture.send(40.0, server(B, A + 1, SYN | ACK, 0));
    capture.send(40.1, client(A + 1, B + 1, ACK, 0));
    capture.send(41.0, client(A + 1, B + 1, ACK, 100));
    for n in 0..8 {
        let at = 80.0 + f64::from(n);
        capture.send(at, server(B + 1 + n * 1_000, A + 101, ACK, 1_000));
        capture.send(at + 0.1, client(A + 101, B + 1 + (n + 1) * 1_000, ACK, 0));
    }
    // The other one again.
    capture.send(1_040.0, server(555, A + 1, SYN | ACK, 0));
    capture.send(1_041.0, client(A + 101, B + 8_001, ACK, 0));
    capture.send(1_080.0, server(B + 8_001, A + 101, ACK, 1_000));
    capture.send(1_081.0, client(A + 101, B + 9_001, ACK, 0));
    let analysis = capture.analyse();
    clean(&analysis, 2);
    let bytes: u64 = analysis.flows.iter().map(|f| f.originals.bytes).sum();
    assert_eq!(bytes, 9_100);
    let text = headline(&analysis).to_string();
    assert!(text.contains("2 SYN-ACKs were not the one"), "{text}");
}

#[test]
fn a_syn_ack_of_another_syn_is_reset_and_changes_nothing() {
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(20.0, server(777, 888, SYN | ACK, 0));
    capture.send(20.1, client(888, 0, RST, 0));
    capture.send(40.0, server(B, A + 1, SYN | ACK, 0));
    capture.send(40.1, client(A + 1, B + 1, ACK, 0));
    capture.send(41.0, client(A + 1, B + 1, ACK, 100));
    capture.send(81.0, server(B + 1, A + 101, ACK, 500));
    let analysis = capture.analyse();
    clean(&analysis, 2);
    assert!(
        analysis
            .flows
            .iter()
            .all(|f| f.endpoints.syn_seen && f.flow.reuse == 0)
    );
}

#[test]
fn a_syn_ack_behind_the_end_of_a_connection_begins_the_next_one() {
    // Neither the first SYN-ACK nor the second SYN was captured.
    const FIN: u8 = 1;
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(40.0, client(A + 1, B + 1, ACK, 300));
    capture.send(80.0, server(B + 1, A + 301, ACK, 400));
    capture.send(80.1, client(A + 301, B + 401, ACK | FIN, 0));
    capture.send(120.0, server(B + 401, A + 302, ACK | FIN, 0));
    capture.send(120.1, client(A + 302, B + 402, ACK, 0));
    let (a, b) = (A + 5_000_000, B + 7_000_000);
    capture.send(90_000.0, server(b, a + 1, SYN | ACK, 0));
    capture.send(90_000.1, client(a + 1, b + 1, ACK, 0));
    capture.send(90_001.0, client(a + 1, b + 1, ACK, 200));
    capture.send(90_041.0, server(b + 1, a + 201, ACK, 700));
    capture.send(90_041.1, client(a + 201, b + 701, ACK, 0));
    let analysis = capture.analyse();
    clean(&analysis, 4);
    let text = headline(&analysis).to_string();
    assert!(!text.contains("opening the connection"), "{text}");
}

#[test]
fn attempts_that_nothing_answers_are_told() {
    let mut capture = Capture::default();
    for n in 0..3 {
        for at in [0.0, 1_000.0, 3_000.0, 7_000.0] {
            let syn = client(A * (u32::from(n) + 1), 0, SYN, 0);
            let port = 40_000 + n;
            capture.send(9_000.0 * f64::from(n) + at, Segment { port, ..syn });
        }
    }
    let analysis = capture.analyse();
    assert_eq!(
        headline(&analysis).to_string(),
        "3 connection attempts from 192.0.2.10 to 198.51.100.20:443 failed: nothing answered, and 9 SYNs were sent again."
    );
    assert_eq!(analysis.attempts.of(Outcome::Unanswered), 3);
}

#[test]
fn attempts_end_in_several_ways() {
    let mut capture = Capture::default();
    let at_port = |port: u16, of: Segment| Segment { port, ..of };
    // Refused; answered and not taken further; unreachable; answered and reset by the client; still open at the end.
    capture.send(0.0, at_port(1, client(A, 0, SYN, 0)));
    capture.send(1.0, at_port(1, server(0, A + 1, RST | ACK, 0)));
    capture.send(2.0, at_port(2, client(A, 0, SYN, 0)));
    capture.send(3.0, at_port(2, server(B, A + 1, SYN | ACK, 0)));
    let syn = at_port(3, client(A, 0, SYN, 0)).bytes();
    capture.frame(4.0, None, &syn);
    capture.frame(5.0, None, &icmp(3, 1, 0, &syn));
    capture.send(6.0, at_port(5, client(A, 0, SYN, 0)));
    capture.send(7.0, at_port(5, server(B, A + 1, SYN | ACK, 0)));
    capture.send(8.0, at_port(5, client(A + 1, 0, RST, 0)));
    capture.send(4_000.0, at_port(4, client(A, 0, SYN, 0)));
    let analysis = capture.analyse();
    let of = |outcome| analysis.attempts.of(outcome);
    assert_eq!(
        [
            Outcome::Refused,
            Outcome::Unfinished,
            Outcome::Unreachable,
            Outcome::Cancelled,
            Outcome::Open
        ]
        .map(of),
        [1; 5]
    );
    let text = headline(&analysis).to_string();
    says(&text, "1 refused with a reset, 1 unreachable, as ICMP says");
    says(&text, "ends too soon after 1 connection attempt");
}

/// Windows tries three times, half a second apart, and then perhaps anew from the same port.
#[test]
fn a_port_that_is_refused_and_tried_anew_makes_two_attempts() {
    let mut capture = Capture::default();
    for (at, isn) in [(0.0, A), (500.0, A), (1_000.0, A), (1_020.0, A + 99)] {
        capture.send(at, client(isn, 0, SYN, 0));
        capture.send(at + 1.0, server(0, isn + 1, RST | ACK, 0));
    }
    capture.send(
        9_000.0,
        Segment {
            port: 9,
            ..client(A, 0, SYN, 0)
        },
    );
    let attempts = capture.analyse().attempts;
    assert_eq!(attempts.of(Outcome::Refused), 2);
    let tried = attempts.list.iter().map(|a| a.syns);
    assert!(tried.eq([3, 1, 1]), "{attempts:?}");
}

#[test]
fn syns_that_were_sent_again_before_one_was_answered_are_told() {
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 0));
    capture.send(1_000.0, client(A, 0, SYN, 0));
    capture.shake(3_000.0, 40.0);
    capture.send(3_041.0, client(A + 1, B + 1, ACK, 100));
    capture.send(3_081.0, server(B + 1, A + 101, ACK, 0));
    let text = headline(&capture.analyse()).to_string();
    says(
        &text,
        "2 SYNs were sent again before the connection was opened, over 3.00 s",
    );
}

/// Keep-alives with a byte, of a connection that was open before the capture began: the first packets of their host are without data, or the
/// other host has acknowledged the byte.
#[test]
fn a_keep_alive_before_all_data_is_no_data() {
    let mut capture = Capture::default();
    capture.send(0.0, server(B, A, ACK, 0));
    for n in 0..3 {
        let at = 45_000.0 * f64::from(n + 1);
        capture.send(at, client(A - 1, B, ACK, 1));
        capture.send(at + 12.0, server(B, A, ACK, 0));
    }
    let analysis = capture.analyse();
    assert_eq!(analysis.flows, []);
    assert_eq!(analysis.attempts.failed(), 0);
}

/// The next byte, to a host that does not have it: as those of a terminal, and of a host that asks whether a window is still closed.
#[test]
fn a_byte_that_the_other_host_lacks_is_data() {
    let mut capture = Capture::default();
    capture.send(0.0, server(B, A, ACK, 0));
    capture.send(45_000.0, client(A, B, ACK, 1));
    capture.send(45_012.0, server(B, A + 1, ACK, 0));
    assert_eq!(capture.analyse().flows.len(), 1);
}

/// A SYN with 400 bytes, of which `taken` are acknowledged; the client goes on behind those.
fn fast_open(taken: u32) -> Analysis {
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, SYN, 400));
    capture.send(30.0, server(B, A + 1 + taken, SYN | ACK, 0));
    capture.send(30.1, client(A + 1 + taken, B + 1, ACK, 400 - taken as u16));
    capture.send(60.2, server(B + 1, A + 401, ACK, 0));
    capture.send(61.0, server(B + 1, A + 401, ACK, 1_400));
    capture.send(61.5, client(A + 401, B + 1_401, ACK, 0));
    capture.analyse()
}

#[test]
fn data_in_a_syn_that_is_not_acknowledged_was_refused_and_not_lost() {
    let analysis = fast_open(0);
    clean(&analysis, 2);
    let flow = &analysis.flows[0];
    assert_eq!(
        (
            flow.originals.bytes,
            flow.originals.lost,
            flow.recoveries.total
        ),
        (400, 0, 0)
    );
    assert_eq!(flow.endpoints.handshake.fast_open, Some(FastOpen::Refused));
    let text = headline(&analysis).to_string();
    assert!(text.contains("data in 1 SYN, which was refused"), "{text}");
}

#[test]
fn data_in_a_syn_that_is_acknowledged_counts() {
    for taken in [100, 400] {
        let analysis = fast_open(taken);
        clean(&analysis, 2);
        let flow = &analysis.flows[0];
        assert_eq!(
            (flow.originals.bytes, flow.endpoints.handshake.fast_open),
            (400, Some(FastOpen::Accepted))
        );
    }
}

/// A router says something of a packet, of which it quotes 28 bytes.
fn icmp(kind: u8, code: u8, mtu: u16, packet: &[u8]) -> Vec<u8> {
    let [high, low] = mtu.to_be_bytes();
    let message = [&[kind, code, 0, 0, 0, 0, high, low][..], &packet[..28]].concat();
    ip(ROUTER, CLIENT, 1, (9, 63), &message)
}

/// Four packets of 1,460 bytes that are sent again in pieces of 1,360 bytes 4 ms later. A router says of each that it was
/// too large; `forged` says that of other numbers.
fn too_large(forged: bool) -> Analysis {
    let mut capture = Capture::default();
    capture.shake(0.0, 60.0);
    for n in 0..4 {
        let at = 61.0 + 0.02 * f64::from(n);
        let packet = client(A + 1 + n * 1_460, B + 1, ACK, 1_460);
        capture.send(at, packet);
        let seq = packet.seq + if forged { 500_000 } else { 0 };
        let quoted = Segment { seq, ..packet }.bytes();
        capture.frame(at + 2.0, None, &icmp(3, 4, 1_400, &quoted));
    }
    for n in 0..5 {
        let at = 65.0 + 0.02 * f64::from(n);
        let (seq, end) = (n * 1_360, 5_840.min((n + 1) * 1_360));
        capture.send(at, client(A + 1 + seq, B + 1, ACK, (end - seq) as u16));
        capture.send(at + 60.0, server(B + 1, A + 1 + end, ACK, 0));
    }
    capture.analyse()
}

#[test]
fn packets_of_which_icmp_says_that_they_were_too_large() {
    let analysis = too_large(false);
    let text = headline(&analysis).to_string();
    let wanted = "All 4 packets were too large for the path (ICMP says so: 1,400 bytes)";
    assert!(text.contains(wanted), "{text}");
    assert!(
        !text.contains("queue") && !text.contains("recovery"),
        "{text}"
    );
    let flow = &analysis.flows[0];
    assert_eq!(
        (
            flow.originals.lost,
            flow.path.icmp.too_large,
            flow.path.icmp.mtu
        ),
        (4, 4, Some(1_400))
    );
    assert_eq!(flow.retransmissions.needed, flow.retransmissions.total);
    assert!(
        flow.recoveries
            .by_cause
            .iter()
            .all(|c| c.cause == Cause::TooLarge)
    );
    let cure = inorder_analysis::cure::Cure::of(&analysis);
    assert!(
        cure.actions[0].commands[0].ends_with("mtu 1400"),
        "{:?}",
        cure.actions
    );
}

#[test]
fn an_icmp_message_about_what_was_never_sent_proves_nothing() {
    let flow = &too_large(true).flows[0];
    assert_eq!((flow.originals.lost, flow.path.icmp.all()), (4, 0));
}

/// A request of 200 bytes, its answer, and what the client sends last, which the server answers with a reset that acknowledges `reset_ack` more bytes.
fn reset_at_the_end(reset_ack: u32) -> Analysis {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |_| None);
    let end = B + 1 + 14_000;
    capture.send(200.0, client(A + 201, end, ACK, 43));
    capture.send(240.0, server(end, A + 201 + reset_ack, RST | ACK, 0));
    capture.analyse()
}

#[test]
fn what_a_reset_acknowledges_was_not_cut_off_by_it() {
    let all = reset_at_the_end(43);
    clean(&all, 2);
    assert!(all.flows.iter().all(|flow| !flow.was_cut_off()));
    let none = reset_at_the_end(0);
    let text = headline(&none).to_string();
    let expected = "The receiver reset the connection before 1 packet was acknowledged";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn where_the_capture_lacks_packets_that_no_packet_was_lost_is_not_known() {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |_| None);
    let lacking = B + 1 + 14_000;
    capture.send(300.0, client(A + 201, lacking + 1_400, ACK, 0));
    for n in 1..4 {
        let at = 300.0 + 10.0 * f64::from(n);
        capture.send(at, server(lacking + n * 1_400, A + 201, ACK, 1_400));
        capture.send(at + 0.3, client(A + 201, lacking + (n + 1) * 1_400, ACK, 0));
    }
    let text = headline(&capture.analyse()).to_string();
    assert!(text.starts_with("No problem is visible"), "{text}");
    assert!(text.contains("lacks 1 acknowledged segment"), "{text}");
}

#[test]
fn behind_attempts_that_failed_the_flow_with_the_worst_trouble_is_named_with_it() {
    let mut capture = Capture::default();
    exchange(&mut capture, 0.0, [A, B], |_| None);
    let end = B + 1 + 14_000;
    capture.send(200.0, client(A + 201, end, ACK, 43));
    capture.send(240.0, server(end, A + 201, RST, 0));
    for (port, n) in (50_000..50_020).zip(0..) {
        let syn = Segment {
            port,
            ..client(A, 0, SYN, 0)
        };
        let refused = Segment {
            port,
            ..server(0, A + 1, RST | ACK, 0)
        };
        capture.send(300.0 + f64::from(n), syn);
        capture.send(300.5 + f64::from(n), refused);
    }
    let text = headline(&capture.analyse()).to_string();
    assert!(text.starts_with("20 connection attempts"), "{text}");
    says(&text, "reset the connection before 1 packet");
}

/// Windows probes the tail with the last full segment's worth of bytes, which begin within a segment. The answer to what is short waits for a
/// delayed acknowledgement, and comes when the probe's may come.
#[test]
fn a_duplicate_of_bytes_on_both_sides_of_the_left_edge_tells_that_all_of_them_came_twice() {
    let mut capture = Capture::default();
    capture.shake(0.0, 16.0);
    capture.send(20.0, client(A + 1, B + 1, ACK, 1_420));
    capture.send(20.1, client(A + 1_421, B + 1, ACK, 1_420));
    capture.send(20.2, client(A + 2_841, B + 1, ACK, 31));
    capture.send(51.0, client(A + 1_452, B + 1, ACK, 1_420));
    capture.send(66.2, server(B + 1, A + 2_841, ACK, 0));
    let twice = Segment {
        sack: (A + 1_452, A + 2_872),
        ..server(B + 1, A + 2_872, ACK, 0)
    };
    capture.send(81.0, twice);
    let analysis = capture.analyse();
    let flow = &analysis.flows[0];
    let order = &flow.reordering;
    let counts = (flow.originals.lost, order.reordered, order.ambiguous);
    assert_eq!(counts, (0, 0, 0), "{}", headline(&analysis));
    let again = flow.retransmissions;
    assert_eq!((again.total, again.spurious), (1, 1));
}

/// Ten requests of a client with its answers, begun in the middle, so that nothing shows whether there is SACK; then one that nothing ever
/// answers and that the timer repeats, until the client gives up.
#[test]
fn what_was_never_acknowledged_needs_no_handshake_to_be_lost() {
    let mut capture = Capture::default();
    for n in 0..10 {
        let at = 100.0 * f64::from(n);
        let (seq, ack) = (A + n * 50, B + n * 100);
        capture.send(at, client(seq, ack, ACK, 50));
        capture.send(at + 2.0, server(ack, seq + 50, ACK, 100));
        capture.send(at + 30.0, client(seq + 50, ack + 100, ACK, 0));
    }
    for at in [1_000.0, 1_400.0, 2_400.0, 4_400.0, 8_400.0, 16_400.0] {
        capture.send(at, client(A + 500, B + 1_000, ACK, 50));
    }
    capture.send(20_000.0, client(A + 550, B + 1_000, ACK | RST, 0));
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let flow = analysis.flows.iter().find(|f| f.retransmissions.total > 0);
    let flow = flow.expect("the requests");
    assert_eq!(
        (flow.retransmissions.needed, flow.originals.lost),
        (5, 1),
        "{text}"
    );
    assert!(text.contains("1 packet was never acknowledged"), "{text}");
    assert!(!text.contains("does not show why"), "{text}");
}

/// A capture where a host on the path (another that answers for the router, say) takes up every packet and sends it on: each is there twice, with one
/// less to live the second time, mostly half a millisecond and sometimes half a second later.
#[test]
fn frames_that_a_router_held_for_long_are_captured_twice_all_the_same() {
    let mut capture = Capture::default();
    let mut twice = |at: f64, held: f64, segment: Segment| {
        let mut packet = segment.bytes();
        capture.frame(at, None, &packet);
        packet[8] -= 1;
        capture.frame(at + held, None, &packet);
    };
    for n in 0..12 {
        let at = 1_000.0 * f64::from(n);
        let held = if n % 4 == 3 { 500.0 } else { 0.5 };
        let id = 300 + n as u16;
        let answer = Segment {
            id,
            ..server(B + n * 200, A, ACK, 200)
        };
        twice(at, held, answer);
        twice(
            at + held + 0.5,
            0.5,
            Segment {
                id,
                ..client(A, B + (n + 1) * 200, ACK, 0)
            },
        );
    }
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    assert_eq!(analysis.flows.len(), 1);
    let flow = &analysis.flows[0];
    assert_eq!(
        (flow.originals.packets, flow.retransmissions.total),
        (12, 0),
        "{text}"
    );
    assert_eq!(
        flow.artefacts.duplicated_frames, 24,
        "of both directions: {text}"
    );
}

/// Of this direction alone there are packets: three bursts of what is sent again, each behind seconds in which new data went on.
#[test]
fn where_the_receiver_is_not_heard_a_recovery_ends_when_its_sender_goes_on() {
    let mut capture = Capture::default();
    let mut next = 0;
    let mut at = 0.0;
    for _ in 0..3 {
        let first = next;
        while next < first + 40 {
            capture.send(at, server(B + next * 1_000, A, ACK, 1_000));
            (next, at) = (next + 1, at + 100.0);
        }
        for n in [next - 3, next - 2] {
            capture.send(at, server(B + n * 1_000, A, ACK, 1_000));
            at += 1.0;
        }
    }
    let analysis = capture.analyse();
    let flow = &analysis.flows[0];
    assert_eq!((flow.retransmissions.total, flow.recoveries.total), (6, 3));
    let recovering = |share: &&Share| share.limits.contains(Limit::RecoveryNeeded);
    let share: f64 = flow
        .limits
        .shares
        .iter()
        .filter(recovering)
        .map(|share| share.ns as f64)
        .sum();
    assert!(
        share <= 0.01 * (flow.last_ns - flow.first_ns) as f64,
        "nothing shows how long: {share} ns"
    );
}
