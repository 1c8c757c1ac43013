//! What the reader is told of captures of the field whose answer is known: the headline, the counts, the action.
//!
//! The captures beside the repository are held against their answers where they are (`../shared`, or `$INORDER_SHARED`). Others of
//! the same kinds are made here.

use std::path::Path;

use inorder_analysis::cure::Cure;
use inorder_analysis::table::{self, Style};
use inorder_analysis::{Analysis, headline};
use inorder_detect::{Cause, FlowReport, Outcome};

use crate::frames::{self, A, ACK, B, Capture, Segment, analyse, client, server};
use crate::words::says;

/// What is told of all flows together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Told {
    pub(crate) late: u64,
    pub(crate) lost: u64,
    pub(crate) refused: u64,
    pub(crate) sent_again: u64,
    pub(crate) needed: u64,
    pub(crate) spurious: u64,
    pub(crate) timeouts: u64,
    /// Reductions of the window that nothing lost or refused had caused.
    pub(crate) unnecessary: u64,
    pub(crate) captured_twice: u64,
    /// By the network: the receiver had them twice.
    pub(crate) delivered_twice: u64,
}

impl Told {
    fn of(analysis: &Analysis) -> Told {
        let sum = |what: fn(&FlowReport) -> u64| analysis.flows.iter().map(what).sum();
        Told {
            late: sum(|f| f.reordering.reordered),
            lost: sum(|f| f.originals.lost),
            refused: sum(|f| f.originals.refused),
            sent_again: sum(|f| f.retransmissions.total),
            needed: sum(|f| f.retransmissions.needed),
            spurious: sum(|f| f.retransmissions.spurious),
            timeouts: sum(FlowReport::timeouts),
            unnecessary: sum(|f| f.cost.unnecessary),
            captured_twice: sum(|f| f.artefacts.duplicated_frames),
            delivered_twice: sum(|f| f.path.network_duplicates),
        }
    }
}

/// The counts that are not 0.
impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = [
            ("late", self.late),
            ("lost", self.lost),
            ("refused", self.refused),
            ("sent again", self.sent_again),
            ("needed", self.needed),
            ("spurious", self.spurious),
            ("timeouts", self.timeouts),
            ("unnecessary", self.unnecessary),
            ("captured twice", self.captured_twice),
            ("delivered twice", self.delivered_twice),
        ];
        let told = counts.iter().filter(|(_, count)| *count > 0);
        let words: Vec<String> = told
            .map(|(what, count)| format!("{what} {count}"))
            .collect();
        f.write_str(&words.join(", "))
    }
}

/// Captures with known answers, one a line: the counts; numbers and words of the headline, and what it does not say; whether something
/// is proposed.
const CASES: &str = "
attempts-never-answered |  | 3 connection attempts from; 9 SYN | direction |
beyond-the-window | refused 16, sent again 16, needed 16 | 16 | No problem; spurious; lost |
building-control |  |  | never arrived |
fast-open-refused |  | No problem in 2 TCP flows; Fast Open |  |
large-segments-vanish | lost 1, sent again 7, needed 7, timeouts 1 | never acknowledged; 7 times | No problem; spurious; had arrived | acts
mirror-numbers-all-zero | late 1 | 1 of the 8 packets that arrived (12.5 %) was late | more than once |
numbers-used-elsewhere |  | No problem | lacks |
one-request-timer | lost 1, sent again 1, needed 1, timeouts 1 | lost; time-out | No problem |
request-never-answered | lost 1, sent again 5, needed 5, timeouts 1 | never acknowledged; 5 times | No problem; does not show why |
same-ports-in-two-vlans |  | No problem in 4 TCP flows |  |
sent-twice-at-once | sent again 3, spurious 3 | 3; in advance | probe |
stack-again-after-timeout | lost 150, sent again 300, needed 150, spurious 150, timeouts 1 | 150 of 700; lost | discarded; could not be decided | acts
stack-coarse-clock-receiver | lost 3, sent again 3, needed 3 | 3 of 300; lost | captured twice | acts
stack-coarse-clock-sender | lost 3, sent again 3, needed 3 | 3 of 300; lost | captured twice | acts
stack-ack-for-two | late 12 | 12 of the ; were late | lost |
stack-one-counter-receiver | lost 6, sent again 6, needed 6 | 6 of 480; lost | lacks | acts
stack-one-counter-sender | lost 6, sent again 6, needed 6 | 6 of 480; lost | lacks |
stack-random-id-doubled | delivered twice 20 | 20 packets were delivered twice; No data packet of it was lost | spurious; sent 1 packet again | acts
tunnel-packets-fragmented |  | No problem | no whole segment |
tunnel-seen-in-part |  | No problem | never arrived |
voice-mirrored-twice |  | No problem; 60 frames | more than once |
voice-pauses-for-fax |  | 1,700; 34.0 s | 90 |
too-large-for-the-path | lost 4, sent again 5, needed 5 | All 4 packets were too large for the path (ICMP says so: 1,400 bytes) | queue | acts
";

/// What is told of a capture: its headline, and its counts.
pub(crate) fn told(analysis: Analysis) -> (Analysis, String, Told) {
    let (text, told) = (headline(&analysis).to_string(), Told::of(&analysis));
    println!("{}: {text}\n  {told:?}", analysis.file);
    (analysis, text, told)
}

/// A capture beside the repository, if it is there, and what is told of it.
fn shared(name: &str) -> Option<(Analysis, String, Told)> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned();
    let root = std::env::var("INORDER_SHARED").unwrap_or(beside);
    let path = Path::new(&root)
        .join("cases-turn3")
        .join(name)
        .with_extension("pcap");
    let Ok(file) = std::fs::read(&path) else {
        println!("skipped: {} is not there (INORDER_SHARED)", path.display());
        return None;
    };
    Some(told(analyse(name, file)))
}

#[test]
fn captures_of_the_field_are_told_rightly() {
    let mut wrong = Vec::new();
    for line in CASES.trim().lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, counts, says, says_not, ref acts @ ..] = columns[..] else {
            panic!("{line}");
        };
        let Some((analysis, text, told)) = shared(name) else {
            continue;
        };
        let mut note = |what: String| wrong.push(format!("{name}: {what}\n  {text}"));
        if told.to_string() != counts {
            note(format!("{told}, expected {counts}"));
        }
        let each = |words: &'static str| words.split("; ").filter(|words| !words.is_empty());
        let missing = each(says).filter(|words| !text.contains(*words));
        missing.for_each(|words| note(format!("it does not say {words:?}")));
        let said = each(says_not).filter(|words| text.contains(*words));
        said.for_each(|words| note(format!("it says {words:?}")));
        if Cure::of(&analysis).actions.is_empty() == acts.contains(&"acts") {
            note("of the action".to_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_recovery_under_way_is_no_problem_that_is_not_there() {
    let Some((analysis, text, told)) = shared("recovery-under-way") else {
        return;
    };
    assert!(!text.starts_with("No problem"), "{text}");
    assert!(!text.contains("had arrived"), "{text}");
    assert_eq!((told.spurious, told.unnecessary), (0, 0));
    // What fills the hole was sent again, or came late: which of them is not known.
    let flow = &analysis.flows[0];
    assert_eq!((told.sent_again, told.needed, told.late), (4, 0, 0));
    assert_eq!(flow.originals.packets, 7);
}

/// The receiver of this capture says by its SACK blocks that it had two of the twelve before they came: these are in order. The last
/// is answered by an ACK that was due. All others are recognised, and none is called lost.
#[test]
fn originals_that_a_receiver_answers_by_plain_acks_are_late_and_not_lost() {
    let Some((_, text, told)) = shared("stack-too-old-plain-ack") else {
        return;
    };
    assert_eq!((told.late, told.lost, told.needed), (9, 0, 0), "{text}");
    assert_eq!((told.sent_again, told.spurious), (12, 11), "{text}");
}

#[test]
fn every_time_out_of_a_connection_without_sack_is_one() {
    let Some((analysis, lead, told)) = shared("timer-without-sack") else {
        return;
    };
    assert_eq!((told.sent_again, told.timeouts), (3, 2), "two phases");
    let causes = analysis.flows.iter().flat_map(|f| &f.recoveries.by_cause);
    assert!(!{ causes }.any(|c| c.cause == Cause::TailProbe));
    // The client's request, which comes again just before the second repetition, did not prompt that.
    says(&lead, "it waited for its retransmission timer for 9.10 s");
}

#[test]
fn copies_with_the_identification_of_their_original_were_sent_again() {
    let Some((_, text, told)) = shared("same-identification") else {
        return;
    };
    assert_eq!((told.captured_twice, told.spurious), (0, 0), "{text}");
    assert!(told.sent_again >= 5 && told.timeouts >= 1, "{text}");
    assert!(!text.starts_with("No problem"), "{text}");
}

#[test]
fn extents_are_bounds_where_an_ack_reports_several_arrivals() {
    let Some((analysis, ..)) = shared("stack-ack-for-two") else {
        return;
    };
    let flow = &analysis.flows[0];
    assert_eq!((flow.bounds.at_most, flow.bounds.at_least), (12, 0));
    let mut text = Vec::new();
    table::write(&mut text, &[analysis], &Style::default()).expect("memory takes it");
    let text = String::from_utf8(text).expect("text");
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("extent "));
    assert!(line.is_some_and(|line| line.contains("at most")), "{text}");
}

// The same kinds, made here.

/// A connection of which ten packets of the answer come, a millisecond apart, as seen next to the client.
fn answered() -> Capture {
    let mut capture = asked();
    for n in 0..10 {
        let ms = 82.0 + f64::from(n);
        capture.send(ms, server(B + 1 + n * 1_000, A + 101, ACK, 1_000));
        capture.send(ms + 0.1, client(A + 101, B + 1 + (n + 1) * 1_000, ACK, 0));
    }
    capture
}

/// A connection open at 40 ms whose request leaves at 41 ms.
fn asked() -> Capture {
    let mut capture = Capture::default();
    capture.shake(0.0, 40.0);
    capture.send(41.0, client(A + 1, B + 1, ACK, 100));
    capture
}

#[test]
fn a_request_that_nothing_acknowledges_is_repeated_by_the_timer() {
    let mut capture = asked();
    for at in [1_041.0, 3_041.0, 7_041.0, 15_041.0] {
        capture.send(at, client(A + 1, B + 1, ACK, 100));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!(
        told.to_string(),
        "lost 1, sent again 4, needed 4, timeouts 1",
        "{text}"
    );
    assert!(text.contains("never acknowledged"), "{text}");
}

#[test]
fn large_packets_that_are_never_acknowledged_have_not_arrived() {
    // Seen 2 ms before the receiver.
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, frames::SYN, 0));
    capture.send(2.0, server(B, A + 1, frames::SYN | ACK, 0));
    capture.send(190.0, client(A + 1, B + 1, ACK, 0));
    capture.send(191.0, client(A + 1, B + 1, ACK, 40));
    capture.send(193.0, server(B + 1, A + 41, ACK, 0));
    for at in [380.0, 980.0, 2_180.0, 4_580.0, 9_380.0] {
        capture.send(at, client(A + 41, B + 1, ACK, 1_460));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!((told.lost, told.needed, told.spurious), (1, 4, 0), "{text}");
    assert!(text.contains("never acknowledged"), "{text}");
}

#[test]
fn what_lies_beyond_the_window_is_refused_and_not_lost() {
    // Next to the receiver, which does not read: its window ends 10 packets on.
    let mut capture = Capture::default();
    capture.send(0.0, client(A, 0, frames::SYN, 0));
    capture.send(0.1, server(B, A + 1, frames::SYN | ACK, 0));
    capture.send(40.0, client(A + 1, B + 1, ACK, 0));
    let packet = |n: u32| client(A + 1 + n * 1_000, B + 1, ACK, 1_000);
    let answer = |n: u32, window: u16| Segment {
        window,
        ..server(B + 1, A + 1 + n * 1_000, ACK, 0)
    };
    for n in 0..10 {
        let ms = 41.0 + f64::from(n);
        capture.send(ms, packet(n));
        capture.send(ms + 0.05, answer(n + 1, (9 - n as u16) * 1_000));
    }
    for n in 10..16 {
        let ms = 60.0 + f64::from(n);
        capture.send(ms, packet(n));
        capture.send(ms + 0.05, answer(10, 0));
    }
    capture.send(150.0, answer(10, 20_000));
    for n in 10..16 {
        let ms = 180.0 + f64::from(n);
        capture.send(ms, packet(n));
        capture.send(ms + 0.05, answer(n + 1, 20_000));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!(
        (told.refused, told.needed, told.spurious),
        (6, 6, 0),
        "{text}"
    );
    assert_eq!((told.lost, told.unnecessary), (0, 0), "{text}");
}

#[test]
fn within_a_tick_of_a_coarse_clock_a_retransmission_is_no_second_capture() {
    let mut capture = asked();
    capture.frames.clear();
    // Timestamps tick each 100 ms, and nothing is numbered.
    let stamped = |ms: f64, s: Segment| Segment {
        stamp: (77 + (ms / 100.0) as u32, 900),
        ..s
    };
    let mut send = |ms: f64, s: Segment| capture.send_as(ms, stamped(ms, s));
    send(0.0, client(A, 0, frames::SYN, 0));
    send(20.0, server(B, A + 1, frames::SYN | ACK, 0));
    send(20.1, client(A + 1, B + 1, ACK, 0));
    let packet = |n: u32| client(A + 1 + n * 1_000, B + 1, ACK, 1_000);
    let answer = |n: u32, to: u32| Segment {
        sack: match to {
            0 => (0, 0),
            to => (A + 1 + (n + 1) * 1_000, A + 1 + to * 1_000),
        },
        ..server(B + 1, A + 1 + n * 1_000, ACK, 0)
    };
    for n in 0..40 {
        send(30.0 + f64::from(n), packet(n));
    }
    // The eleventh is lost, and sent again 23 ms later.
    for n in 0..10 {
        send(50.0 + f64::from(n), answer(n + 1, 0));
    }
    for n in 11..33 {
        send(50.0 + f64::from(n), answer(10, n + 1));
    }
    send(63.5, packet(10));
    for n in 33..41 {
        send(51.0 + f64::from(n), answer(n, 0));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!((told.sent_again, told.captured_twice), (1, 0), "{text}");
    assert_eq!((told.late, told.spurious), (0, 0), "{text}");
}

#[test]
fn numbers_that_other_connections_have_are_not_missing() {
    // One host counts for all of its connections.
    let mut capture = Capture::default();
    for port in [40_000, 40_001] {
        let isn = u32::from(port) * 10_000;
        let of = |s: Segment| Segment { port, ..s };
        let at = f64::from(port - 40_000) * 0.3;
        capture.send(at, of(client(isn, 0, frames::SYN, 0)));
        capture.send(at + 0.1, of(server(B, isn + 1, frames::SYN | ACK, 0)));
        capture.send(at + 20.0, of(client(isn + 1, B + 1, ACK, 0)));
        for n in 0..60 {
            let ms = at + 21.0 + f64::from(n);
            capture.send(ms, of(client(isn + 1 + n * 1_000, B + 1, ACK, 1_000)));
            capture.send(
                ms + 0.1,
                of(server(B + 1, isn + 1 + (n + 1) * 1_000, ACK, 0)),
            );
        }
    }
    // In the order of time, frames have successive numbers.
    capture.frames.sort_by_key(|(us, _)| *us);
    for (id, (_, frame)) in (500u16..).zip(&mut capture.frames) {
        frame[18..20].copy_from_slice(&id.to_be_bytes());
    }
    let (analysis, text, told) = told(capture.analyse());
    assert_eq!(told, Told::default(), "{text}");
    assert!(text.starts_with("No problem"), "{text}");
    let lacking = analysis.flows.iter().map(|f| f.artefacts.missing_segments);
    assert_eq!(lacking.sum::<u64>(), 0);
}

#[test]
fn a_copy_that_nothing_can_have_asked_for_was_sent_in_advance() {
    let mut capture = answered();
    // The last packet of the answer comes twice, 10 ms apart.
    capture.send(101.0, server(B + 9_001, A + 101, ACK, 1_000));
    capture.send(101.1, client(A + 101, B + 10_001, ACK, 0));
    let (_, text, told) = told(capture.analyse());
    assert_eq!((told.sent_again, told.spurious), (1, 1), "{text}");
    assert!(text.contains("in advance"), "{text}");
}

#[test]
fn a_host_that_keeps_identifications_sends_again_what_comes_much_later() {
    let mut capture = answered();
    for at in [200.0, 800.0, 2_000.0, 4_400.0] {
        capture.send_as(
            at,
            Segment {
                id: 9_999,
                ..server(B + 10_001, A + 101, ACK, 1_000)
            },
        );
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!(told.captured_twice, 0, "{text}");
    assert_eq!((told.sent_again, told.spurious), (3, 0), "{text}");
}

#[test]
fn packets_that_come_twice_with_random_identifications_were_not_sent_again() {
    let mut capture = asked();
    capture.frames.clear();
    let mut id = 7_u16;
    let mut number = || {
        id = id.wrapping_mul(40_503).wrapping_add(12_345) | 1;
        id
    };
    // Next to the receiver.
    capture.send_as(
        0.0,
        Segment {
            id: number(),
            ..client(A, 0, frames::SYN, 0)
        },
    );
    capture.send(0.02, server(B, A + 1, frames::SYN | ACK, 0));
    capture.send_as(
        20.0,
        Segment {
            id: number(),
            ..client(A + 1, B + 1, ACK, 0)
        },
    );
    for n in 0..200 {
        let ms = 21.0 + 0.4 * f64::from(n);
        let packet = Segment {
            id: number(),
            ..client(A + 1 + n * 1_000, B + 1, ACK, 1_000)
        };
        capture.send_as(ms, packet);
        if n % 10 == 3 {
            capture.send_as(ms + 1.3, packet);
        }
        capture.send(ms + 0.02, server(B + 1, A + 1 + (n + 1) * 1_000, ACK, 0));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!(told.to_string(), "captured twice 20", "{text}");
}

#[test]
fn attempts_that_nothing_answers_are_no_question_about_directions() {
    let mut capture = Capture::default();
    for at in [0.0, 1_000.0, 3_000.0] {
        capture.send(at, client(A, 0, frames::SYN, 0));
    }
    let analysis = capture.analyse();
    assert_eq!(analysis.attempts.of(Outcome::Unanswered), 1);
    let text = headline(&analysis).to_string();
    assert!(text.contains("2 SYNs"), "{text}");
}

#[test]
fn what_fills_a_hole_that_was_there_when_the_capture_began_was_needed_or_late() {
    // Next to the receiver, which lacks four packets and says so.
    let mut capture = Capture::default();
    let right = |n: u32| B + 1 + n * 1_000;
    let answer = |n: u32, to: u32| Segment {
        sack: (right(4), right(to)),
        ..client(A, right(n), ACK, 0)
    };
    capture.send(0.0, answer(0, 6));
    for n in 6..9 {
        let ms = f64::from(n) * 0.3;
        capture.send(ms, server(right(n), A, ACK, 1_000));
        capture.send(ms + 0.01, answer(0, n + 1));
    }
    for n in 0..4 {
        let ms = 41.0 + f64::from(n) * 0.2;
        capture.send(ms, server(right(n), A, ACK, 1_000));
        let last = client(A, right(9), ACK, 0);
        capture.send(ms + 0.01, if n < 3 { answer(n + 1, 9) } else { last });
    }
    let (analysis, text, told) = told(capture.analyse());
    assert!(!text.starts_with("No problem"), "{text}");
    assert_eq!((told.spurious, told.unnecessary), (0, 0), "{text}");
    assert!(analysis.flows[0].endpoints.sack, "{text}");
}
