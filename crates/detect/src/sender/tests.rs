use super::trace::Trace;
use crate::explanation::Explanation;
use crate::result::{Confidence, Kind};

/// Segments 28 to 31, 33, 35 and 37 come in their turn, and their ACKs are lost; the ACK of 39 has no block for the range
/// that ends at 31. What is told of these and of 34, which comes late.
fn behind_missing_acks(without: Option<Explanation>) -> [Option<(Kind, Confidence)>; 2] {
    let mut trace = Trace::new(true, without);
    trace.in_order(0, 0, 20);
    (0..20).for_each(|n| trace.send(40 + n, 20 + n));
    (1..8).for_each(|n| trace.ack(50 + n, 20, &[(21, 21 + n)]));
    trace.lose_acks(7);
    trace.ack(69, 20, &[(39, 40), (37, 38), (35, 36), (33, 34)]);
    trace.ack(70, 20, &[(33, 36), (39, 40), (37, 38)]);
    trace.ack(71, 20, &[(33, 38), (39, 40)]);
    trace.ack(72, 20, &[(33, 40)]);
    trace.send_again(73, 20);
    trace.ack(83, 32, &[(33, 40)]);
    let late = trace.end();
    let told = |n| late.iter().find(|t| t.1 == n).map(|t| (t.0, t.2));
    assert!((29..32).all(|n| told(n) == told(28)));
    [told(28), told(34)]
}

#[test]
fn what_missing_acks_may_have_reported_and_no_later_one_lists_is_not_said_to_be_late() {
    let late = |sure| Some((Kind::Reordered, sure));
    let likely = late(Confidence::Likely);
    assert_eq!(
        behind_missing_acks(None),
        [late(Confidence::Ambiguous), likely]
    );
    let off = Some(Explanation::HiddenRanges);
    assert_eq!(behind_missing_acks(off), [likely, likely]);
}

#[test]
fn data_that_the_end_overtakes_is_late_where_it_comes_and_lost_where_it_does_not() {
    // The last segment and the end of the data are sent; that is SACKed first, and the segment sent again.
    let told = |came_twice: bool| {
        let mut trace = Trace::stamped(None);
        trace.in_order(0, 0, 20);
        trace.send(40, 20);
        trace.sender.note_end();
        trace.sack_end(50, 20, 21);
        trace.send_again(50, 20);
        trace.ack_end(60, 21);
        if came_twice {
            trace.ack_end_again(61, 21, (20, 21));
        }
        trace.end()
    };
    let late = told(true);
    assert_eq!(late.len(), 1, "{late:?}");
    assert_eq!((late[0].0, late[0].1), (Kind::Reordered, 20));
    assert!(
        told(false).iter().all(|t| t.0 == Kind::Lost),
        "{:?}",
        told(false)
    );
}
