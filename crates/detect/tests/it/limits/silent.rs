//! Silences: what ended them, and what they may have been.

use super::*;

fn control(seq: u32, ack: u32, flags: u8) -> Segment {
    segment!(seq, ack, window: 60_000, flags: TcpFlags(TcpFlags::ACK | flags))
}

/// A flight is lost, and the repetition of its first segment: the second one, 800 ms later, is answered. Chance may have taken the first
/// one, or the path was dead for as long.
#[test]
fn a_timer_whose_repetition_is_lost_may_have_met_a_dead_path() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 12, MSS);
    trace.acknowledge(80, 60_000);
    let (lost, before) = (trace.sent, trace.sent + MSS);
    trace.send(80, 12, MSS);
    for ms in [400, 1_200] {
        trace.data(ms, lost, MSS);
    }
    let all = std::mem::replace(&mut trace.sent, before);
    trace.acknowledge(1_240, 60_000);
    trace.data(1_240, before, MSS);
    trace.sent = all;
    trace.acknowledge(1_280, 60_000);
    assert_eq!(
        at(&trace.report(), [300, 1_000]),
        ["timer-needed+path-dead"; 2]
    );
}

/// Ten segments, of which no acknowledgement comes: that of the first one, sent again, acknowledges all ten. Had it been lost, the others
/// would have made duplicate acknowledgements.
#[test]
fn a_timer_that_is_answered_for_all_at_once_was_not_needed() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 10, MSS);
    trace.acknowledge(80, 60_000);
    let first = trace.sent;
    trace.send(80, 10, MSS);
    trace.data(400, first, MSS);
    trace.acknowledge(440, 60_000);
    trace.send(440, 4, MSS);
    trace.acknowledge(480, 60_000);
    assert_eq!(at(&trace.report(), [300]), ["timer-unneeded"]);
}

/// The same, but two acknowledgements came again without SACK: the first one was lost.
#[test]
fn behind_duplicate_acknowledgements_a_timer_was_needed() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 10, MSS);
    trace.acknowledge(80, 60_000);
    let first = trace.sent;
    trace.send(80, 10, MSS);
    for ms in [120, 121] {
        trace.push(ms, Dir::HighToLow, control(500, first, 0));
    }
    trace.data(400, first, MSS);
    trace.acknowledge(440, 60_000);
    trace.send(440, 4, MSS);
    trace.acknowledge(480, 60_000);
    assert_ne!(at(&trace.report(), [300]), ["timer-unneeded"]);
}

/// The same, but SACK blocks had reported three of them: the first one was missing.
#[test]
fn behind_a_hole_that_was_reported_a_timer_was_needed() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 10, MSS);
    trace.acknowledge(80, 60_000);
    let first = trace.sent;
    trace.send(80, 10, MSS);
    for (ms, arrived) in [(120, 1), (121, 2), (122, 3)] {
        let mut ack = control(500, first, 0);
        (ack.sack[0], ack.sack_len) = ((first + MSS, first + (1 + arrived) * MSS), 1);
        trace.push(ms, Dir::HighToLow, ack);
    }
    trace.data(400, first, MSS);
    trace.acknowledge(440, 60_000);
    trace.send(440, 4, MSS);
    trace.acknowledge(480, 60_000);
    assert_ne!(at(&trace.report(), [300]), ["timer-unneeded"]);
}

/// The sender waits for its timer in vain and resets the connection at 900 ms, which the other end, which closes 30 seconds later, never hears.
#[test]
fn nothing_limits_what_its_sender_has_reset() {
    let mut trace = Trace::new(Vantage::Sender).open();
    trace.send(40, 12, MSS);
    trace.acknowledge(80, 60_000);
    let lost = trace.sent;
    trace.send(80, 4, MSS);
    trace.data(400, lost, MSS);
    let (reset, fin) = (
        control(trace.sent, 500, TcpFlags::RST),
        control(500, lost, TcpFlags::FIN),
    );
    trace.push(900, Dir::LowToHigh, reset);
    trace.push(30_000, Dir::HighToLow, fin);
    let report = trace.report();
    assert_eq!(at(&report, [700]), ["timer-needed+path-dead"]);
    assert_eq!(report.limits.life_ns() / MS, 900);
    // Behind the last data it waited, and was not at its end.
    assert_eq!(report.limits.at_end_ns, 0);
}

/// What the receiver lacks, and a FIN of it that nothing acknowledges, are not what an idle application leaves.
#[test]
fn a_receiver_that_lacks_data_or_is_not_heard_may_be_cut_off() {
    let told = |lacks: bool, fins: &[i64]| {
        let mut trace = Trace::new(Vantage::Receiver).open();
        trace.rounds(40, [10; 5], MSS, 60_000);
        let all = trace.sent;
        if lacks {
            trace.data(260, all + MSS, MSS);
            trace.acknowledge(300, 60_000);
        }
        for ms in fins {
            trace.push(*ms, Dir::HighToLow, control(500, all, TcpFlags::FIN));
        }
        at(&trace.report(), [3_000]).swap_remove(0)
    };
    assert_eq!(told(false, &[6_000]), "application");
    assert_eq!(told(true, &[6_000]), "timer-needed+path-dead");
    assert_eq!(told(false, &[6_000, 6_400]), "application+path-dead");
}
