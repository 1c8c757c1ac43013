//! The end of the data, a FIN that is a packet of its own: it takes a sequence number, so it can overtake data.

use inorder_analysis::headline;

use crate::frames::{A, ACK, B, Capture, Segment, client, server};

/// End of the data.
const FIN: u8 = 1;

/// The server's answer of three packets, of which the end of the data (FIN) overtakes the last one, next to the client. With `again`, that one
/// is sent a second time only.
fn overtaken_by_the_end(capture: &mut Capture, again: bool) {
    let of = |n: u32, len| Segment {
        id: 500 + n as u16,
        ..server(B + 1 + n * 1_000, A + 201, ACK, len)
    };
    capture.shake(0.0, 40.0);
    capture.send(41.0, client(A + 1, B + 1, ACK, 200));
    for n in 0..2 {
        capture.send_as(81.0 + f64::from(n), of(n, 1_000));
        capture.send(
            81.1 + f64::from(n),
            client(A + 201, B + 1 + (n + 1) * 1_000, ACK, 0),
        );
    }
    let end = Segment {
        flags: ACK | FIN,
        ..of(3, 0)
    };
    capture.send_as(84.0, end);
    let block = (B + 3_001, B + 3_002);
    capture.send(
        84.1,
        Segment {
            sack: block,
            ..client(A + 201, B + 2_001, ACK, 0)
        },
    );
    let at = if again { 125.0 } else { 84.9 };
    let id = if again { 504 } else { 502 };
    capture.send_as(at, Segment { id, ..of(2, 1_000) });
    capture.send(at + 0.1, client(A + 201, B + 3_002, ACK, 0));
    capture.send(at + 0.2, client(A + 201, B + 3_002, ACK | FIN, 0));
    capture.send_as(
        at + 40.2,
        Segment {
            seq: B + 3_002,
            ack: A + 202,
            id: 505,
            ..of(0, 0)
        },
    );
}

#[test]
fn what_the_end_of_the_data_overtakes_is_late_at_the_receiver() {
    let mut capture = Capture::default();
    overtaken_by_the_end(&mut capture, false);
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let flow = analysis.flows.iter().find(|f| f.originals.packets == 3);
    let flow = flow.expect("the answer");
    assert_eq!(flow.reordering.reordered, 1, "{text}");
    assert_eq!(
        flow.reordering.extents.max(),
        Some(1),
        "one packet overtook it"
    );
    assert_eq!(flow.retransmissions.total, 0, "{text}");
    // Begun with the end of the data.
    let mut capture = Capture::default();
    overtaken_by_the_end(&mut capture, false);
    capture.frames.drain(..8);
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let flow = &analysis.flows[0];
    assert_eq!(flow.reordering.reordered, 1, "{text}");
    assert_eq!(
        (flow.originals.packets, flow.retransmissions.total),
        (1, 0),
        "{text}"
    );
}

/// As before, of a connection of which nothing else was captured, and later than the receiver can have been heard: identifications that follow each
/// other tell that the last packet was sent before the end, and not again.
#[test]
fn what_comes_once_and_left_before_the_end_was_not_sent_again() {
    let mut capture = Capture::default();
    overtaken_by_the_end(&mut capture, false);
    capture.frames.drain(..8);
    for (us, _) in &mut capture.frames[2..] {
        *us += 2_000;
    }
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    assert_eq!(analysis.flows[0].retransmissions.total, 0, "{text}");
}

#[test]
fn what_the_end_of_the_data_shows_to_be_missing_was_lost() {
    let mut capture = Capture::default();
    overtaken_by_the_end(&mut capture, true);
    let analysis = capture.analyse();
    let text = headline(&analysis).to_string();
    let flow = analysis.flows.iter().find(|f| f.originals.lost == 1);
    let flow = flow.expect("the answer");
    assert_eq!(flow.reordering.reordered, 0, "{text}");
    assert_eq!(
        (flow.retransmissions.total, flow.retransmissions.needed),
        (1, 1),
        "{text}"
    );
}
