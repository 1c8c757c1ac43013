//! What a capture leaves open, and what a sign of growth or of its absence decides.

use super::*;

/// One segment, and an acknowledgement that is ten round trips late: a window at its start, which had allowed no more.
#[test]
fn one_late_acknowledgement_is_no_plateau() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 1, MSS);
    for round in 0..5 {
        let ms = 440 + 40 * round;
        trace.acknowledge(ms, 60_000);
        trace.send(ms, 2 << round, MSS);
    }
    assert_eq!(at(&trace.report(), [200, 500]), ["start"; 2]);
}

/// A window of six segments that is full in each round trip, and a queue of 15 ms that the data waits in: the receiver sees the
/// answer to what opened the window later by this.
#[test]
fn the_answer_to_an_open_window_may_be_held_up_on_its_way() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    for round in 0..20 {
        let queue_ms = if round == 0 { 0 } else { 15 };
        trace.send(40 + 55 * round + queue_ms, 6, MSS);
        trace.acknowledge(95 + 55 * round, 6_000);
    }
    let report = trace.report();
    let held = report.limits.share_of(Limit::ReceiverWindow.into());
    assert!(held > 0.85, "{:?}", report.limits.shares);
}

/// A window that grew to sixteen segments, and then four to six in each round trip, though nothing reduced it: it would have allowed more.
#[test]
fn a_window_that_is_not_reduced_allows_what_it_allowed_before() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.rounds(40, (0..5).map(|n| 1 << n), MSS, 60_000);
    for round in 0..5 {
        trace.send(240 + 40 * round, 4 + round as u32 % 3, MSS);
        trace.acknowledge(280 + 40 * round, 60_000);
    }
    let report = trace.report();
    assert_eq!(
        at(&report, [180, 300, 380]),
        [
            "start",
            "application+send-buffer",
            "application+send-buffer"
        ]
    );
}

/// Segments come ever closer together while the flight doubles: at the receiver, the last rows look like those of a busy line, but a
/// line that is busy carries no more than before.
#[test]
fn data_of_a_busy_line_comes_no_faster_than_before() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    for round in 0..6 {
        let (count, ms) = (2i64 << round, 40 + 40 * round);
        for nth in 0..count {
            trace.send(ms + 40 * nth / count, 1, MSS);
            trace.acknowledge(ms + 40 + 40 * nth / count, 60_000);
        }
    }
    let report = trace.report();
    assert_eq!(at(&report, [100, 180, 250]), ["start"; 3]);
}

/// A segment leaves each millisecond, for as long as fifteen round trips, and nothing waits behind the capture point: the sender's own interface
/// may let no more pass.
#[test]
fn a_sender_that_fills_its_own_line_shows_no_queue() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for ms in 40..640 {
        trace.send(ms, 1, MSS);
        trace.acknowledge(ms + 40, 60_000);
    }
    let report = trace.report();
    assert_eq!(at(&report, [300, 500]), ["application+line"; 2]);
}

/// Three segments every 90 ms, and every second time three more that the acknowledgement releases, as a small buffer of the socket would. The
/// same buffer may have made the pauses, so they are not the application's for sure.
#[test]
fn one_application_has_one_habit() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    let either = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);
    for round in 0..30 {
        trace.send(40 + 90 * round, 3, MSS);
        trace.acknowledge(80 + 90 * round, 60_000);
        if round % 2 == 0 {
            trace.send(80 + 90 * round, 3, MSS);
            trace.acknowledge(120 + 90 * round, 60_000);
        }
    }
    let report = trace.report();
    assert!(
        report.limits.share_of(either) > 0.8,
        "{:?}",
        report.limits.shares
    );
}

/// A segment that had arrived is sent again after 300 ms: its acknowledgement may have been lost, or all of them. Only the sender's side shows that
/// none came.
#[test]
fn a_wait_for_lost_acknowledgements_may_be_a_dead_path_away_from_the_sender() {
    for vantage in BOTH {
        let mut trace = Trace::new(vantage).open();
        for round in 0..10 {
            trace.send(40 + 40 * round, 4, MSS);
            if round < 9 {
                trace.acknowledge(80 + 40 * round, 60_000);
            }
        }
        let first = trace.sent - 4 * MSS;
        if vantage == Vantage::Receiver {
            trace.acknowledge(440, 60_000);
        }
        trace.data(800, first, MSS);
        trace.acknowledge(840, 60_000);
        trace.send(840, 4, MSS);
        trace.acknowledge(880, 60_000);
        let report = trace.report();
        let told = at(&report, [600]);
        match vantage {
            Vantage::Receiver => assert_eq!(told, ["timer-unneeded+path-dead"]),
            _ => assert!(!told[0].contains("path-dead"), "{told:?}"),
        }
    }
}

/// A receiver offers more with each acknowledgement, as long as its application reads; another one's window shrinks, because it does not.
#[test]
fn a_window_that_grows_is_the_largest_so_far_while_it_holds_the_sender() {
    let held_by = |windows: [u32; 6]| {
        let mut trace = Trace::new(Vantage::Sender).open();
        trace.packets[1].1.window = windows[0] as u16;
        for (n, pair) in (0..).zip(windows.windows(2)) {
            trace.send(40 + 40 * n, pair[0] / MSS, MSS);
            trace.acknowledge(80 + 40 * n, pair[1] as u16);
        }
        let report = trace.report();
        let shares = report.limits.shares.iter();
        let full = shares.filter(|s| s.limits.only() == Some(Limit::ReceiverWindow));
        let full: i64 = full.map(|s| s.ns).sum();
        assert!(full > 100 * MS, "{:?}", report.limits.shares);
        (report.limits.window.unwrap().largest_ns, full)
    };
    let (largest_ns, full_ns) = held_by([4_000, 8_000, 12_000, 16_000, 20_000, 24_000]);
    assert!(largest_ns > full_ns / 2, "{largest_ns} of {full_ns}");
    let (largest_ns, full_ns) = held_by([12_000, 4_000, 3_000, 3_000, 3_000, 3_000]);
    assert!(largest_ns <= full_ns / 2, "{largest_ns} of {full_ns}");
}

/// The capture begins in the connection, next to the sender. What was sent is acknowledged only after it was sent again, so how far the
/// receiver is does not show.
#[test]
fn how_near_the_sender_is_is_no_round_trip_of_its_data() {
    let mut trace = Trace::new(Vantage::Sender);
    for n in 0..3 {
        trace.ask(100 * n);
        let answer = segment!(seq: 0, ack: 500 + trace.asked, flags: TcpFlags(TcpFlags::ACK));
        trace.push(100 * n, Dir::LowToHigh, answer);
    }
    trace.data(400, 0, MSS);
    trace.data(1_000, 0, MSS);
    trace.sent = MSS;
    trace.acknowledge(1_040, 60_000);
    let reports = reports(&trace.packets);
    let report = reports.iter().find(|r| r.flow.src.port() == 1_000).unwrap();
    assert_eq!(report.vantage.vantage, Vantage::Sender);
    assert_eq!(
        (report.vantage.to_receiver_ns, report.min_rtt_ns),
        (None, None)
    );
}

/// The capture begins in a silence, next to the receiver, which has said what it has. What comes first then is not the next byte: one packet
/// overtook another.
#[test]
fn the_first_data_that_is_captured_may_have_overtaken_some() {
    let late = |silence_ms: i64| {
        let mut trace = Trace::new(Vantage::Receiver);
        trace.acknowledge(WAY_MS, 60_000);
        trace.data(silence_ms, 46, 31);
        trace.data(silence_ms + 1, 0, 46);
        trace.sent = 77;
        trace.acknowledge(silence_ms + 2 + 2 * WAY_MS, 60_000);
        for (dir, seg) in &mut trace.packets {
            seg.ttl = if *dir == Dir::LowToHigh { 55 } else { 64 };
        }
        let report = trace.report();
        assert_eq!(report.vantage.vantage, Vantage::Receiver);
        let order = &report.reordering;
        (report.originals.packets, order.reordered + order.ambiguous)
    };
    assert_eq!(late(2_000), (2, 1));
    // It may have had them, and not acknowledged them yet.
    assert_eq!(late(200), (1, 0));
}
