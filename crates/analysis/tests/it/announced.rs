//! Data lost before the capture point, of which the number of a segment without data tells: what is told of it as a whole.

use crate::field::{Told, told};
use crate::frames::{A, ACK, B, Capture, SYN, Segment, client, server};

/// What distinguishes the packets of these hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Marks {
    Both,
    Identifications,
    Timestamps,
    None,
}

/// Where the time to live stands in a packet: no router counts it down here.
const TTL: usize = 8;

/// A chat on a loopback interface, as it is captured there, behind what loses packets: each host has a counter and a clock of its own.
struct Chat {
    capture: Capture,
    marks: Marks,
    ids: [u16; 2],
}

impl Chat {
    fn new(marks: Marks) -> Chat {
        let mut chat = Chat {
            capture: Capture::default(),
            marks,
            ids: [500, 31_000],
        };
        chat.send(0.0, client(A, 0, SYN, 0));
        chat.send(0.02, server(B, A + 1, SYN | ACK, 0));
        chat.send(0.03, client(A + 1, B + 1, ACK, 0));
        chat
    }

    /// What is sent at a time, and captured.
    fn send(&mut self, ms: f64, segment: Segment) {
        self.delay(ms, ms, segment);
    }

    /// What is sent at a time, and lost.
    fn lose(&mut self, ms: f64, segment: Segment) {
        self.mark(ms, segment);
    }

    /// What is sent at a time, and captured later.
    fn delay(&mut self, sent_ms: f64, ms: f64, segment: Segment) {
        let mut packet = self.mark(sent_ms, segment).bytes();
        packet[TTL] = 64;
        self.capture.frame(ms, None, &packet);
    }

    fn mark(&mut self, ms: f64, segment: Segment) -> Segment {
        let id = &mut self.ids[usize::from(segment.from_client)];
        *id += 1;
        let stamp = (70_000 + ms as u32, 1 + ms as u32);
        let (ids, stamps) = match self.marks {
            Marks::Both => (true, true),
            Marks::Identifications => (true, false),
            Marks::Timestamps => (false, true),
            Marks::None => (false, false),
        };
        Segment {
            id: if ids { *id } else { 0 },
            stamp: if stamps { stamp } else { (0, 0) },
            ..segment
        }
    }

    /// The `n`th line of the client and its answer, of 100 bytes each, from `ms` on.
    fn line(&mut self, ms: f64, n: u32) {
        self.send(ms, line(n));
        self.answer(ms + 0.05, n);
    }

    fn answer(&mut self, ms: f64, n: u32) {
        self.send(ms, answer(n));
        self.send(ms + 0.02, bare(n + 1, n + 1));
    }
}

/// The `n`th line, which acknowledges all answers before.
fn line(n: u32) -> Segment {
    client(A + 1 + n * 100, B + 1 + n * 100, ACK, 100)
}

fn answer(n: u32) -> Segment {
    server(B + 1 + n * 100, A + 1 + (n + 1) * 100, ACK, 100)
}

/// An acknowledgement of this number of answers without data, when this number of lines had been sent.
fn bare(lines: u32, answers: u32) -> Segment {
    client(A + 1 + lines * 100, B + 1 + answers * 100, ACK, 0)
}

/// Twelve lines, a second apart. The sixth is lost before the capture; the server says something of its own 30 ms later, and what the client
/// answers shows that it has sent the line. It sends that again when `again_ms` have passed.
fn lossy(marks: Marks, again_ms: f64) -> Chat {
    let mut chat = Chat::new(marks);
    for n in 0..5 {
        chat.line(1_000.0 + 1_000.0 * f64::from(n), n);
    }
    chat.lose(6_000.0, line(5));
    let own = |n: u32, seg: Segment| Segment {
        seq: seg.seq + n * 100,
        ..seg
    };
    let acked = |n: u32, seg: Segment| Segment {
        ack: seg.ack + n * 100,
        ..seg
    };
    chat.send(
        6_030.0,
        Segment {
            ack: A + 501,
            ..answer(5)
        },
    );
    chat.send(6_030.02, bare(6, 6));
    chat.send(6_000.0 + again_ms, acked(1, line(5)));
    for n in 5..12 {
        let ms = 6_000.0 + 1_000.0 * f64::from(n - 5);
        if n > 5 {
            chat.send(ms, acked(1, line(n)));
        }
        let ms = if n == 5 { ms + again_ms } else { ms };
        chat.send(ms + 0.05, own(1, answer(n)));
        chat.send(ms + 0.07, acked(1, bare(n + 1, n + 1)));
    }
    chat
}

#[test]
fn what_a_bare_acknowledgement_shows_to_have_been_sent_before_was_lost_and_sent_again() {
    use Marks::{Both, Identifications, None, Timestamps};
    // A timer of 200 ms, and one that expires 205 ms after the acknowledgement.
    for (marks, again_ms) in [
        (Both, 200.0),
        (Timestamps, 200.0),
        (Identifications, 235.0),
        (None, 235.0),
    ] {
        let (_, text, told) = told(lossy(marks, again_ms).capture.analyse());
        let expected = "lost 1, sent again 1, needed 1";
        assert!(
            told.to_string().starts_with(expected),
            "{marks:?}: {told}: {text}"
        );
        assert!(
            text.contains("1 of 12 packets (8.3 %) was lost"),
            "{marks:?}: {text}"
        );
        assert!(
            !text.contains("the capture does not show why"),
            "{marks:?}: {text}"
        );
    }
}

#[test]
fn what_it_has_overtaken_by_its_marks_is_in_order() {
    for marks in [Marks::Both, Marks::Identifications, Marks::Timestamps] {
        let mut chat = Chat::new(marks);
        for n in 0..5 {
            chat.line(1_000.0 + 1_000.0 * f64::from(n), n);
        }
        chat.delay(6_000.0, 6_210.0, line(5));
        chat.send(
            6_030.0,
            Segment {
                ack: A + 501,
                ..answer(5)
            },
        );
        chat.send(6_030.02, bare(6, 6));
        let (_, text, told) = told(chat.capture.analyse());
        assert_eq!(told, Told::default(), "{marks:?}: {text}");
    }
}
