//! What a reduction of the window explains behind it, and what it does not.

use super::*;

/// The segments that had been sent before the last one and all of that are acknowledged, and the last but one `count` are not.
fn without_last(trace: &mut Trace, ms: i64, count: u32) {
    trace.sent -= count * MSS;
    trace.acknowledge(ms, 60_000);
    trace.sent += count * MSS;
}

/// Of a flight of three segments the second is lost, and is sent again when the third is acknowledged twice.
fn lose_one_of_three(trace: &mut Trace, ms: i64) {
    let lost = trace.sent + MSS;
    trace.send(ms, 3, MSS);
    without_last(trace, ms + 40, 2);
    without_last(trace, ms + 41, 2);
    trace.data(ms + 42, lost, MSS);
    trace.acknowledge(ms + 82, 60_000);
}

/// Behind a pause of 400 ms between full segments, which may hide a timer, the flight doubles from one segment.
#[test]
fn behind_a_pause_that_may_hide_a_timer_the_window_may_be_reduced() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    trace.rounds(40, (0..4).map(|n| 3 << n), MSS, 60_000);
    for round in 0..5 {
        trace.send(600 + 40 * round, 1 << round, MSS);
        trace.acknowledge(640 + 40 * round, 60_000);
    }
    let told = at(&trace.report(), [60, 400, 620, 700]);
    let reduced = "start+window-needed";
    assert_eq!(
        told,
        ["start", "application+timer-needed", reduced, reduced]
    );
}

/// The same where the receiver's window was full before the pause.
#[test]
fn a_pause_behind_a_full_window_may_hide_a_timer() {
    let mut trace = Trace::new(Vantage::Receiver).open();
    for ms in [40, 80, 120, 160, 600, 640, 680] {
        trace.send(ms, 3, MSS);
        trace.acknowledge(ms + 40, 3_000);
    }
    assert_eq!(at(&trace.report(), [400]), ["application+timer-needed"]);
}

/// Three segments in each round trip, of which one is lost every 400 ms, for eight seconds.
#[test]
fn a_flight_over_many_reductions_is_no_plateau() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for cycle in 0..20 {
        let ms = 40 + 400 * cycle;
        for round in 0..7 {
            trace.send(ms + 40 * round, 3, MSS);
            trace.acknowledge(ms + 40 + 40 * round, 60_000);
        }
        lose_one_of_three(&mut trace, ms + 280);
    }
    let limits = trace.report().limits;
    let buffer = limits.share_where(|set| set.contains(Limit::SendBuffer));
    assert!(buffer < 0.2, "{:?}", limits.shares);
}

/// A segment every 4 ms, whatever the acknowledgements do, before a loss and for 50 round trips behind it.
#[test]
fn one_rate_behind_a_reduction_is_not_the_windows() {
    let mut trace = Trace::new(Vantage::Sender).open();
    for ms in (40..240).step_by(4) {
        trace.send(ms, 1, MSS);
        trace.acknowledge(ms + 42, 60_000);
    }
    lose_one_of_three(&mut trace, 300);
    for ms in (384..2_400).step_by(4) {
        trace.send(ms, 1, MSS);
        trace.acknowledge(ms + 42, 60_000);
    }
    let told = at(&trace.report(), [800, 1_400, 2_000]);
    assert_eq!(told, ["application+line"; 3]);
}

/// 58 segments in each round trip, in a window of 60: it is nearly full, so that the window may be what holds it, but no buffer is.
#[test]
fn a_plateau_that_nearly_fills_the_receivers_window_is_no_buffers() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.rounds(40, [58; 20], MSS, 60_000);
    let told = at(&trace.report(), [400, 600]);
    assert_eq!(told, ["start+receiver-window"; 2]);
}

/// Nine segments every 80 ms, in a window of ten that would have let a tenth go.
#[test]
fn a_window_with_room_for_a_segment_is_not_full() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.rounds(80, [9; 20], MSS, 10_000);
    let limits = trace.report().limits;
    let held = limits.share_of(Limit::Application.into());
    assert!(held > 0.85, "{:?}", limits.shares);
}
