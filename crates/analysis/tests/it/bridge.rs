//! A host behind a bridge that runs on the capturing machine, as a virtual machine has it: its frames of several packets are captured as they
//! are, and once more as the bridge cuts them for the wire.

use inorder_analysis::{Analysis, headline};

use crate::frames::{A, ACK, B, Capture, SYN, Segment, client, server};

const MSS: u16 = 1_448;

/// How the server's packets are numbered.
#[derive(Clone, Copy, PartialEq)]
enum Numbers {
    Counted,
    /// The field is zero in all.
    None,
}

/// A frame of `packets` full packets and each of them again, the first 5 µs later and the others 3 µs apart.
fn twice(capture: &mut Capture, at: f64, whole: Segment, packets: u16) {
    let payload = packets * MSS;
    capture.send_as(at, Segment { payload, ..whole });
    for n in 0..packets {
        let packet = Segment {
            seq: whole.seq + u32::from(n * MSS),
            id: whole.id + if whole.id > 0 { n } else { 0 },
            payload: MSS,
            ..whole
        };
        capture.send_as(at + 0.005 + 0.003 * f64::from(n), packet);
    }
}

/// An answer in frames of 2, 4, 6 ... packets, each a round trip after the one before.
fn answer(numbers: Numbers) -> Analysis {
    let mut capture = Capture::default();
    let mut id = if numbers == Numbers::Counted { 500 } else { 0 };
    capture.send_as(
        0.0,
        Segment {
            id: 1,
            ..client(A, 0, SYN, 0)
        },
    );
    capture.send_as(0.1, server(B, A + 1, SYN | ACK, 0));
    capture.send_as(
        8.0,
        Segment {
            id: 2,
            ..client(A + 1, B + 1, ACK, 0)
        },
    );
    capture.send_as(
        9.0,
        Segment {
            id: 3,
            ..client(A + 1, B + 1, ACK, 100)
        },
    );
    let mut seq = B + 1;
    for n in 1..=6 {
        let at = 10.0 * f64::from(n);
        let whole = server(seq, A + 101, ACK, 0);
        twice(&mut capture, at, Segment { id, ..whole }, 2 * n);
        seq += u32::from(2 * n * MSS);
        // Packets to others bear the number between.
        id += if numbers == Numbers::Counted {
            2 * n + 1
        } else {
            0
        };
        let ack = client(A + 101, seq, ACK, 0);
        capture.send_as(at + 8.0, Segment { id: 10 + n, ..ack });
    }
    capture.analyse()
}

#[test]
fn packets_of_a_frame_that_were_captured_again_behind_a_bridge_are_counted_once() {
    for numbers in [Numbers::Counted, Numbers::None] {
        let analysis = answer(numbers);
        let text = headline(&analysis).to_string();
        let flow = analysis
            .flows
            .iter()
            .max_by_key(|flow| flow.originals.bytes);
        let flow = flow.expect("a flow");
        assert_eq!(flow.retransmissions.total, 0, "{text}");
        assert_eq!(flow.originals.lost, 0, "{text}");
        assert_eq!(flow.originals.packets, 42, "{text}");
        assert_eq!(flow.artefacts.duplicated_frames, 42, "{text}");
    }
}

#[test]
fn what_is_sent_again_out_of_a_frame_of_several_packets_is_a_retransmission() {
    for (id, again_ms) in [(500, 38.0), (0, 38.0)] {
        let mut capture = Capture::default();
        capture.shake(0.0, 8.0);
        let payload = 4 * MSS;
        capture.send_as(
            20.0,
            Segment {
                id,
                ..server(B + 1, A + 1, ACK, payload)
            },
        );
        let hole = Segment {
            sack: (B + 1 + u32::from(MSS), B + 1 + u32::from(payload)),
            ..client(A + 1, B + 1, ACK, 0)
        };
        capture.send(28.0, hole);
        let first = Segment {
            id: if id > 0 { id + 4 } else { 0 },
            ..server(B + 1, A + 1, ACK, MSS)
        };
        capture.send_as(again_ms, first);
        capture.send(46.0, client(A + 1, B + 1 + u32::from(payload), ACK, 0));
        let analysis = capture.analyse();
        assert_eq!(analysis.flows[0].retransmissions.total, 1);
        assert_eq!(analysis.flows[0].artefacts.duplicated_frames, 0);
    }
}
