//! What a capture leaves open, and what is uncertain.

use super::*;

#[test]
fn limits_that_cannot_be_told_apart_are_named_together() {
    let set = &[Limit::Application, Limit::SendBuffer];
    let analysis = with(&[(set, 95)], |_| ());
    assert_eq!(
        said(&analysis),
        "No data packet was lost, late or sent again in 1 TCP flow. 10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 Mbit/s (round \
         trip 42.1 ms): for 95 % of the time an idle sending application or a full send buffer held it back \
         (the sender's kernel would tell which)."
    );
}

#[test]
fn a_reduction_of_which_it_is_open_whether_it_was_needed_is_one_clause() {
    let set = &[Limit::WindowNeeded, Limit::WindowUnneeded];
    let analysis = with(&[(set, 47)], |_| ());
    let expected = "for 47 % of the time a congestion window reduced after losses or without need held it back (a capture at the receiver \
                    would tell which)";
    assert!(said(&analysis).contains(expected), "{}", said(&analysis));
}

#[test]
fn what_is_uncertain_is_one_clause_the_longest_first() {
    // What holds a sender up in part often looks like its application or its buffer.
    let own: &[Limit] = &[Limit::Application, Limit::SendBuffer];
    let line: &[Limit] = &[Limit::Line, Limit::WindowNeeded];
    let analysis = with(
        &[(own, 41), (line, 28), (&[Limit::ReceiverWindow], 11)],
        |_| (),
    );
    let expected = "what held it back for 69 % of the time is uncertain, perhaps an idle sending application or a full send buffer \
                    (41 %), and a full line or a congestion window reduced after losses (28 %). The receiver's window held it back for \
                    11 % of the time.";
    assert!(told(&analysis).starts_with(expected), "{}", told(&analysis));
    // Each is a claim of its own.
    let claims = headline(&analysis).claims;
    let held = claims.iter().filter(|claim| claim.kind() == "held");
    assert_eq!(held.count(), 3);
    let one = with(&[(own, 50), (&[Limit::WindowNeeded], 50)], |_| ());
    assert!(
        told(&one).starts_with(
            "what held it back for 50 % of the time is uncertain, perhaps an idle sending application or a full send buffer. "
        ),
        "{}",
        told(&one)
    );
    // What holds it all the time shows itself.
    let analysis = with(&[(own, 98)], |_| ());
    assert!(told(&analysis).starts_with("for 98 % of the time an idle sending application"));
}

#[test]
fn time_outs_among_as_many_recoveries_as_lost_packets_leave_it_open_whether_losses_slowed_it() {
    let of = |recoveries, lost| {
        let parts: &[(&[Limit], i64)] =
            &[(&[Limit::WindowNeeded], 60), (&[Limit::TimerNeeded], 35)];
        told(&with(parts, |flow| {
            recovered(flow, Cause::Loss, recoveries, 1);
            flow.originals.lost = lost;
        }))
    };
    assert!(
        of(4, 5).starts_with("after losses the congestion window was below"),
        "{}",
        of(4, 5)
    );
    let expected = "for 60 % of the time a congestion window reduced after losses or without need held it back (a capture at the \
                    receiver would tell which). It waited for its retransmission timer for 3.50 s (35 % of the time, 1 time-out).";
    assert!(of(4, 4).starts_with(expected), "{}", of(4, 4));
    // Ten verdicts agree by more than chance.
    assert!(of(10, 10).starts_with("after losses the congestion window was below"));
}

#[test]
fn a_request_that_nothing_answered_waited_for_its_timer_without_doubt() {
    let text = lead(&with(
        &[(&[Limit::TimerNeeded, Limit::PathDead], 100)],
        |flow| {
            flow.originals.lost = 1;
            recovered(flow, Cause::Unanswered, 1, 1);
        },
    ));
    assert_eq!(
        text,
        "it waited for its retransmission timer, or the path was dead, for 10.0 s (100 % of the time, 1 time-out)."
    );
}

#[test]
fn what_may_be_the_start_bounds_the_share_of_a_start() {
    let parts: &[(&[Limit], i64)] = &[
        (&[Limit::Handshake], 20),
        (&[Limit::Start], 45),
        (&[Limit::Start, Limit::Line], 35),
    ];
    assert_eq!(
        told(&with(parts, |_| ())),
        "927 kB were too little to leave slow start: 20 % of its time went to opening the connection and 45 to 80 % to the \
         first growth of the window."
    );
}
