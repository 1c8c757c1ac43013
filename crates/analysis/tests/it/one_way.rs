//! Captures of which little is known: one direction alone, or data above a hole that is never filled.

use inorder_analysis::headline;
use inorder_detect::{Vantage, Verdict};

use crate::frames::{A, ACK, B, Capture, client, server};

/// Three hundred packets of the server, 10 ms apart, next to the client, of which nothing was captured; every tenth is 5 ms behind the next
/// one. `stamped`: they carry timestamps of milliseconds.
fn one_direction(stamped: bool) -> Capture {
    let mut sent: Vec<(f64, u32)> = (0..300)
        .map(|n| {
            let late = if n % 10 == 4 { 15.0 } else { 0.0 };
            (40.0 + 10.0 * f64::from(n) + late, n)
        })
        .collect();
    sent.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut capture = Capture::default();
    for (at, n) in sent {
        let mut segment = server(B + n * 1_000, A, ACK, 1_000);
        segment.id = if stamped { 0 } else { 500 + n as u16 };
        segment.stamp = if stamped {
            (5_000 + 10 * n, 77)
        } else {
            (0, 0)
        };
        capture.send_as(at, segment);
    }
    capture
}

#[test]
fn where_the_round_trip_is_unknown_nothing_comes_too_late_for_an_original() {
    for stamped in [false, true] {
        let analysis = one_direction(stamped).analyse();
        let text = headline(&analysis).to_string();
        let flow = &analysis.flows[0];
        assert_eq!(flow.retransmissions.total, 0, "{text}");
        // The first one may have been on its way when the capture began.
        assert!(flow.reordering.reordered >= 29, "{text}");
        assert_eq!(flow.originals.packets, 300, "{text}");
    }
}

#[test]
fn what_lies_above_a_hole_that_is_never_filled_cannot_be_acknowledged_and_is_not_lost() {
    let mut capture = Capture::default();
    capture.shake(0.0, 40.0);
    capture.send(41.0, client(A + 1, B + 1, ACK, 200));
    let data = |n: u32| server(B + 1 + n * 1_000, A + 201, ACK, 1_000);
    let answer = |n: u32| client(A + 201, B + 1 + n * 1_000, ACK, 0);
    for n in 0..10 {
        let at = 81.0 + f64::from(n);
        capture.send(at, data(n));
        capture.send(at + 0.1, answer(n + 1));
    }
    // The next one is missing; those behind it come four times, each answered by a duplicate acknowledgement.
    for wait in [0.0, 400.0, 1_200.0, 2_800.0] {
        for n in 11..14 {
            let at = 81.0 + wait + f64::from(n);
            capture.send(at, data(n));
            capture.send(at + 0.1, answer(10));
        }
    }
    capture.send(9_000.0, answer(10));
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let mut flows = analysis.flows.iter();
    let flow = flows.find(|flow| flow.originals.packets > 10);
    let flow = flow.expect("the answer");
    assert_eq!(flow.originals.lost, 0, "{text}");
    assert_eq!(flow.retransmissions.needed, 0, "{text}");
    assert!(!text.contains("never acknowledged"), "{text}");
    let list = &flow.records.retransmissions;
    assert!(list.iter().all(|r| r.verdict != Verdict::Needed), "{text}");
}

/// Without SACK, next to the sender: the eleventh packet never arrives, and the three behind it are answered each time, by duplicate
/// acknowledgements.
#[test]
fn what_a_receiver_answers_and_cannot_name_is_not_lost_at_the_sender_either() {
    let mut capture = Capture::default();
    capture.shake(0.0, 40.0);
    let data = |n: u32| client(A + 1 + n * 1_000, B + 1, ACK, 1_000);
    let answer = |n: u32| server(B + 1, A + 1 + n * 1_000, ACK, 0);
    let mut packets = Vec::new();
    for n in 0..10 {
        let at = 50.0 + f64::from(n);
        packets.extend([(at, data(n)), (at + 40.0, answer(n + 1))]);
    }
    for wait in [0.0, 400.0, 1_200.0, 2_800.0] {
        for n in 10..14 {
            let at = 50.0 + wait + f64::from(n);
            packets.push((at, data(n)));
            if n > 10 {
                packets.push((at + 40.0, answer(10)));
            }
        }
    }
    packets.push((9_000.0, answer(10)));
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (at, packet) in packets {
        capture.send(at, packet);
    }
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let mut flows = analysis.flows.iter();
    let flow = flows.find(|flow| flow.originals.packets > 10);
    let flow = flow.expect("the data");
    assert_eq!(flow.vantage.vantage, Vantage::Sender, "{text}");
    assert_eq!(flow.originals.lost, 1, "{text}");
}
