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
