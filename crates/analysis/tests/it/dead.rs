//! A direction in which nothing gets through any more, while the other one works; and ports that are used again.

use inorder_limits::Limit;

use crate::field::{Told, told};
use crate::frames::{A, ACK, B, Capture, Segment, client, server};

/// Next to the client: it has had answers to all that it sent. Then nothing of its own gets through, while the server repeats what it lacks an
/// acknowledgement of.
#[test]
fn a_timer_that_the_other_ends_data_alone_follows_was_not_answered() {
    let mut capture = Capture::default();
    capture.shake(0.0, 40.0);
    for n in 0..20 {
        let ms = 100.0 + 50.0 * f64::from(n);
        capture.send(ms, client(A + 1 + n * 100, B + 1 + n * 100, ACK, 100));
        capture.send(
            ms + 40.0,
            server(B + 1 + n * 100, A + 101 + n * 100, ACK, 100),
        );
        capture.send(
            ms + 40.1,
            client(A + 101 + n * 100, B + 101 + n * 100, ACK, 0),
        );
    }
    // The request and its repetitions, and between them what the server sends and does not get acknowledged.
    for ms in [1_200.0, 1_500.0, 2_100.0, 3_300.0, 5_700.0] {
        capture.send(ms, client(A + 2_001, B + 2_001, ACK, 100));
    }
    for ms in [
        1_210.0, 1_450.0, 1_930.0, 2_890.0, 4_810.0, 8_650.0, 10_400.0,
    ] {
        capture.send(ms, server(B + 2_001, A + 2_001, ACK, 100));
        capture.send(ms + 0.1, client(A + 2_101, B + 2_101, ACK, 0));
    }
    let (analysis, text, told) = told(capture.analyse());
    assert_eq!(
        (told.lost, told.sent_again, told.timeouts),
        (1, 10, 2),
        "{text}"
    );
    let flow = analysis.flows.iter().find(|f| f.flow.src.port() == 40_000);
    let limits = &flow.expect("the client's").limits;
    let waited =
        limits.share_where(|set| set.contains(Limit::TimerNeeded) || set.contains(Limit::PathDead));
    assert!(waited > 0.8, "{waited}: {text}");
    assert!(!text.contains("congestion window was below"), "{text}");
}

/// The middle of a connection, and a minute later that of another one with the same addresses and ports. Neither SYN was captured.
#[test]
fn ports_that_are_used_again_without_a_syn_are_of_another_connection() {
    let mut capture = Capture::default();
    for (at, a, b) in [
        (0.0, A, B),
        (60_000.0, A + 3_000_000_000, B + 1_500_000_000),
    ] {
        for n in 0..20 {
            let ms = at + 50.0 * f64::from(n);
            let (own, other) = (a.wrapping_add(n * 100), b.wrapping_add(n * 1_000));
            capture.send(ms, client(own, other, ACK, 100));
            capture.send(ms + 0.1, server(other, own.wrapping_add(100), ACK, 1_000));
            capture.send(
                ms + 20.0,
                client(own.wrapping_add(100), other.wrapping_add(1_000), ACK, 0),
            );
        }
    }
    let (analysis, text, told) = told(capture.analyse());
    assert_eq!(told, Told::default(), "{text}");
    let reuses: Vec<u32> = analysis.flows.iter().map(|flow| flow.flow.reuse).collect();
    assert_eq!(
        reuses.iter().filter(|reuse| **reuse == 1).count(),
        2,
        "{reuses:?}"
    );
    assert!(!text.contains("lacks"), "{text}");
    assert!(text.starts_with("No p"), "{text}");
}

/// Where the capture lacks what passed in a while, both numbers go on further ahead, and the connection is the same.
#[test]
fn numbers_that_are_ahead_after_a_pause_are_of_the_same_connection() {
    let mut capture = Capture::default();
    for (at, by) in [(0.0, 0), (60_000.0, 10_000_000)] {
        for n in 0..20 {
            let ms = at + 50.0 * f64::from(n);
            let (own, other) = (A + by + n * 100, B + by + n * 1_000);
            capture.send(ms, client(own, other, ACK, 100));
            capture.send(ms + 0.1, server(other, own + 100, ACK, 1_000));
        }
    }
    let analysis = capture.analyse();
    assert!(analysis.flows.iter().all(|flow| flow.flow.reuse == 0));
}

/// Next to the client: two packets of the server change places, and then nothing of the client gets through, so that the server repeats one of
/// them until the end.
#[test]
fn what_was_late_and_is_never_acknowledged_counts_once() {
    let mut capture = Capture::default();
    capture.shake(0.0, 40.0);
    capture.send_as(
        41.0,
        Segment {
            id: 1,
            ..client(A + 1, B + 1, ACK, 100)
        },
    );
    let packet = |n: u32, id: u32| Segment {
        id: 400 + id as u16,
        ..server(B + 1 + n * 100, A + 101, ACK, 100)
    };
    let answer = |n: u32| client(A + 101, B + 101 + n * 100, ACK, 0);
    for n in 0..20 {
        let ms = 82.0 + 50.0 * f64::from(n);
        capture.send_as(ms, packet(n, n));
        capture.send(ms + 0.1, answer(n));
    }
    capture.send_as(1_100.0, packet(21, 21));
    capture.send_as(1_101.0, packet(20, 20));
    for (id, ms) in (22..).zip([1_400.0, 2_000.0, 3_200.0, 5_600.0]) {
        capture.send_as(ms, packet(20, id));
    }
    let (_, text, told) = told(capture.analyse());
    assert_eq!((told.late, told.lost), (1, 0), "{text}");
    assert!(text.contains("never acknowledged"), "{text}");
}

/// Next to the receiver, which is slow, and whose SYN was not captured: its window is closed for 1.8 of each 2 s.
#[test]
fn a_closed_window_is_seen_from_the_receivers_side_though_the_capture_begins_in_the_middle() {
    let mut capture = Capture::default();
    let mut sent = 0;
    for round in 0..4 {
        let at = 2_000.0 * f64::from(round);
        for n in 0..8u16 {
            let ms = at + 40.0 + f64::from(n);
            capture.send(ms, server(B + sent, A, ACK, 1_000));
            sent += 1_000;
            let window = (7 - n) * 1_000;
            capture.send(
                ms + 0.05,
                Segment {
                    window,
                    ..client(A, B + sent, ACK, 0)
                },
            );
        }
        // Probes of the window.
        for ms in [240.0, 640.0, 1_440.0] {
            capture.send(at + ms, server(B + sent - 1, A, ACK, 0));
            let closed = client(A, B + sent, ACK, 0);
            capture.send(
                at + ms + 0.05,
                Segment {
                    window: 0,
                    ..closed
                },
            );
        }
        let opened = client(A, B + sent, ACK, 0);
        capture.send(
            at + 2_000.0,
            Segment {
                window: 8_000,
                ..opened
            },
        );
    }
    capture.send(8_040.0, server(B + sent, A, ACK, 1_000));
    capture.send(8_040.1, client(A, B + sent + 1_000, ACK, 0));
    let (analysis, text, _) = told(capture.analyse());
    let limits = &analysis.flows[0].limits;
    let closed = limits.share_where(|set| set.contains(Limit::ReceiverWindow));
    assert!(closed > 0.8, "{closed}: {text}");
}
