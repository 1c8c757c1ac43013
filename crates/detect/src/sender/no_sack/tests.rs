//! Traces without SACK, and what is said of them.

use inorder_wire::{Has, Segment, TcpFlags};

use super::super::trace::{Told, Trace};
use super::super::{Options, Sender};
use crate::result::{Confidence, Kind};
use inorder_base::sequence::Offsets;

const MS: i64 = 1_000_000;

fn segment(at_ms: i64, tsval: i64, tsecr: i64, ack: i64) -> Segment {
    segment!(
        ts_ns: at_ms * MS, tsval: tsval as u32, tsecr: tsecr as u32, ack: ack as u32 * 1_000,
        flags: TcpFlags(TcpFlags::ACK), has: Has::TIMESTAMPS, window: 500
    )
}

/// Ten segments a millisecond apart, 10 ms from their ACKs; 2 and 5 do not come in their turn
/// and are sent again at 17 and 28. The original of 5 comes at 30, or does not. Retransmissions
/// needed and spurious, and originals refused.
fn play(late: bool) -> (u64, u64, u64) {
    let options = Options {
        sack: Some(false),
        timestamps: true,
        ..Options::default()
    };
    let mut sender = Sender::new(Offsets::new(0), options, true);
    sender.note_rtt(10 * MS);
    let mut steps: Vec<(i64, i64, i64)> = vec![(10, 1, 0), (11, 2, 1)];
    steps.extend([13, 14, 16, 17, 18, 19].map(|at| (at, 2, 1)));
    steps.extend([(27, 5, 17), (38, 10, 28), (70, 12, 60)]);
    if late {
        steps.push((30, 5, 17));
    }
    steps.sort_unstable();
    let sent = (0..10).map(|i| (i, i)).chain([(59, 10), (60, 11)]);
    let mut data: Vec<(i64, i64, bool)> = sent.map(|(at, i)| (at, i, false)).collect();
    data.extend([(17, 2, true), (28, 5, true)]);
    data.sort_unstable();
    let mut data = data.into_iter().peekable();
    for (at, ack, recent) in steps {
        while let Some((at, i, again)) = data.next_if(|d| d.0 < at) {
            let seg = segment(at, 100 + at, 0, 0);
            match again {
                true => sender.retransmitted(&seg, i * 1_000, 1_000),
                false => sender.sent(&seg, i * 1_000, 1_000),
            }
        }
        sender.acknowledged(&segment(at, 0, 100 + recent, ack), false);
    }
    let end = Box::new(sender).finish(0, true);
    let of = &end.data.retransmissions;
    (of.needed, of.spurious, end.data.collector.refusals())
}

#[test]
fn a_duplicate_ack_too_many_is_an_original_that_paws_discarded() {
    assert_eq!(play(true), (2, 0, 1));
    assert_eq!(play(false), (2, 0, 0));
}

/// Twenty segments, one of which comes late: others may come after their retransmissions.
fn one_late() -> Trace {
    let mut trace = Trace::new(false, None);
    trace.in_order(0, 0, 5);
    (5..9).for_each(|n| trace.send(15, n));
    (0..3).for_each(|_| trace.ack(25, 5, &[]));
    trace.ack(26, 9, &[]);
    (9..20).for_each(|n| trace.send(27, n));
    (10..21).for_each(|n| trace.ack(37, n, &[]));
    trace
}

/// What is said of losses.
fn losses(trace: Trace) -> Told {
    let told = trace.end().into_iter();
    told.filter(|t| t.0 == Kind::Lost).collect()
}

/// Of ten segments 20 and 23 are lost. Eight duplicate ACKs make the sender repeat 20, whose acknowledgement reaches up to 23, and then 23:
/// `behind` that two more duplicate ACKs come, without a place.
fn two_holes(behind: bool) -> Told {
    let mut trace = one_late();
    (0..10).for_each(|n| trace.send(40 + n, 20 + n));
    (1..9).for_each(|n| trace.ack(50 + n, 20, &[]));
    trace.send_again(60, 20);
    trace.ack(70, 23, &[]);
    trace.send_again(70, 23);
    (30..34).for_each(|n| trace.send(79, n));
    trace.ack(80, 30, &[]);
    if behind {
        trace.ack(81, 30, &[]);
        trace.ack(82, 30, &[]);
    }
    (31..35).for_each(|n| trace.ack(58 + n, n, &[]));
    trace.in_order(100, 34, 60);
    losses(trace)
}

#[test]
fn duplicate_acks_for_what_lies_above_a_second_hole_leave_no_doubt_about_the_first() {
    let lost = |sure| [(Kind::Lost, 20, sure), (Kind::Lost, 23, sure)];
    assert_eq!(two_holes(false), lost(Confidence::Likely));
    assert_eq!(two_holes(true), lost(Confidence::Ambiguous));
}

/// Segment 20 is lost. Four duplicate ACKs come `after` that many milliseconds, one at a time, where nothing is missing.
fn copied_later(after: i64) -> Told {
    let mut trace = one_late();
    (0..5).for_each(|n| trace.send(40 + n, 20 + n));
    (1..5).for_each(|n| trace.ack(50 + n, 20, &[]));
    trace.send_again(54, 20);
    trace.ack(64, 25, &[]);
    trace.in_order(64 + after, 25, 40);
    for n in 0..4 {
        trace.send(100 + after + 20 * n, 40 + n);
        trace.ack(102 + after + 20 * n, 40 + n, &[]);
        trace.ack(110 + after + 20 * n, 41 + n, &[]);
    }
    losses(trace)
}

#[test]
fn duplicate_acks_long_after_a_retransmission_leave_no_doubt_about_it() {
    let lost = |sure| [(Kind::Lost, 20, sure)];
    assert_eq!(copied_later(2_000), lost(Confidence::Likely));
    assert_eq!(copied_later(20), lost(Confidence::Ambiguous));
}
