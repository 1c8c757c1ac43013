use super::trace::Trace;
use crate::result::Kind;

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

/// A packet is lost with its first retransmission, and later one of the last; the end of the data comes behind that.
#[test]
fn what_sacks_the_end_of_the_data_above_a_hole_answers_nothing_else() {
    let told = |with_end: bool| {
        let mut trace = Trace::stamped(None);
        trace.in_order(0, 0, 20);
        (0..5).for_each(|n| trace.send(40 + n, 20 + n));
        (1..5).for_each(|n| trace.sack(50 + n, 20, &[(21, 21 + n)]));
        trace.send_again(54, 20);
        trace.send_again(300, 20);
        trace.ack(310, 25, &[]);
        (0..5).for_each(|n| trace.send(320 + n, 25 + n));
        (1..5).for_each(|n| trace.sack(330 + n, 25, &[(26, 26 + n)]));
        if with_end {
            trace.sender.note_end();
            trace.sack_to_end(335, 25, (26, 30));
        }
        trace.send_again(336, 25);
        match with_end {
            true => trace.ack_end(346, 30),
            false => trace.ack(346, 30, &[]),
        }
        trace.end()
    };
    let kinds: Vec<_> = told(true).iter().map(|t| (t.0, t.1)).collect();
    assert_eq!(kinds, [(Kind::Lost, 20), (Kind::Lost, 25)]);
    assert_eq!(told(true), told(false));
}
