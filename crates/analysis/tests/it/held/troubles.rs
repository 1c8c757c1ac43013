//! What went wrong beside what held a flow back, and whether reordering was the problem.

use super::*;
use crate::words::says;

#[test]
fn what_was_never_acknowledged_did_not_move() {
    let text = said(&with(&[(&[Limit::PathDead], 95)], |flow| {
        flow.originals.lost = 2;
        recovered(flow, Cause::Unanswered, 1, 1);
    }));
    says(
        &text,
        "10.1.0.2:1->192.0.2.17:5001 sent 927 kB, not all of which had been acknowledged at the end (round trip 42.1 ms): nothing got through",
    );
}

/// At the receiver, which lacks what nothing brings any more.
#[test]
fn a_silence_that_nothing_ends_is_a_problem() {
    let text = said(&with(
        &[(&[Limit::TimerNeeded, Limit::PathDead], 95)],
        |flow| flow.originals.unfilled = 7,
    ));
    assert!(
        text.starts_with("10.1.0.2:1->192.0.2.17:5001 moved"),
        "{text}"
    );
    says(
        &text,
        "it waited for its retransmission timer, or the path was dead, for",
    );
}

#[test]
fn a_connection_that_was_reset_with_data_under_way_has_a_problem() {
    let of = |undecided: u64| {
        said(&with(&[(&[Limit::Start], 90)], |flow| {
            flow.endpoints.closing.reset_by = Some(Host::Receiver);
            flow.originals.undecided = undecided;
        }))
    };
    let expected = "The receiver reset the connection before 44 packets were acknowledged";
    assert!(of(44).contains(expected), "{}", of(44));
    assert!(of(0).contains("No problem"), "{}", of(0));
    assert!(of(1).contains("No problem"), "the last of many: {}", of(1));
}

#[test]
fn a_reset_that_came_another_way_is_of_something_on_the_way() {
    let text = said(&with(&[(&[Limit::Start], 90)], |flow| {
        flow.endpoints.closing.reset_by = Some(Host::Receiver);
        flow.endpoints.closing.reset_ttls = Some((64, 50));
        flow.originals.undecided = 44;
    }));
    let expected = "Something on the way reset the connection in the name of the receiver before 44 packets were acknowledged (time to live 64, \
                    that of the receiver's SYN 50)";
    says(&text, expected);
}

#[test]
fn at_the_receiver_what_comes_behind_its_reset_was_cut_off() {
    let of = |behind: u64| {
        said(&with(&[(&[Limit::Start], 90)], |flow| {
            flow.vantage.vantage = Vantage::Receiver;
            flow.originals.undecided = 0;
            flow.endpoints.closing.reset_by = Some(Host::Receiver);
            flow.endpoints.closing.closed_before = true;
            flow.endpoints.closing.behind_reset = behind;
        }))
    };
    let expected = "The receiver closed the connection before 18 packets were acknowledged, and reset it when more data came";
    assert!(of(18).contains(expected), "{}", of(18));
    assert!(of(2).contains("No problem"), "{}", of(2));
}

#[test]
fn what_was_said_to_a_host_that_had_closed_was_not_cut_off() {
    let of = |closed_before: bool| {
        said(&with(&[(&[Limit::Application], 100)], |flow| {
            flow.originals.packets = 1;
            flow.originals.undecided = 1;
            flow.endpoints.closing.reset_by = Some(Host::Receiver);
            flow.endpoints.closing.closed_before = closed_before;
        }))
    };
    assert!(of(false).contains("before 1 packet was"), "{}", of(false));
    assert!(of(true).contains("No problem"), "{}", of(true));
}

/// Two lines of a chat in a connection from before the capture: they came when somebody had written them.
#[test]
fn few_packets_without_a_handshake_show_no_round_trip() {
    let of = |packets: u64| {
        said(&with(&[(&[Limit::Application], 100)], |flow| {
            flow.vantage.vantage = Vantage::Receiver;
            flow.endpoints.syn_seen = false;
            flow.originals.packets = packets;
        }))
    };
    assert!(!of(2).contains("round trip"), "{}", of(2));
    assert!(of(20).contains("round trip"), "{}", of(20));
}

/// A host asks whether a connection from before the capture is still there, with one byte, and it is not.
#[test]
fn a_keep_alive_that_is_answered_with_a_reset_was_not_cut_off() {
    let of = |bytes: u64| {
        said(&with(&[(&[Limit::Application], 100)], |flow| {
            flow.endpoints.syn_seen = false;
            (flow.originals.packets, flow.originals.bytes) = (1, bytes);
            flow.originals.undecided = 1;
            flow.endpoints.closing.reset_by = Some(Host::Receiver);
        }))
    };
    assert!(of(2).contains("before 1 packet was"), "{}", of(2));
    assert!(of(1).contains("No problem"), "{}", of(1));
}

#[test]
fn a_fin_that_was_sent_again_is_said() {
    let of = |acknowledged: bool| {
        said(&with(&[(&[Limit::Application], 100)], |flow| {
            flow.endpoints.closing.fins_again = 2;
            flow.endpoints.closing.waited_ns = 720 * MS;
            flow.endpoints.closing.acknowledged = acknowledged;
        }))
    };
    says(
        of(true),
        "The end of the data (FIN) was sent again twice, over 720 ms",
    );
    says(of(false), "over 720 ms, and never acknowledged");
    assert!(!of(true).contains("No problem"), "{}", of(true));
}

/// Twenty-seven late packets made the sender repeat 27 of 35: that is no acquittal.
fn spurious(flow: &mut FlowReport) {
    flow.reordering.reordered = 27;
    recovered(flow, Cause::RandomLoss, 8, 0);
    recovered(flow, Cause::Reordering, 20, 0);
    flow.originals.lost = 8;
    flow.retransmissions.total = 35;
    flow.retransmissions.spurious = 27;
    flow.retransmissions.needed = 8;
}

#[test]
fn reordering_is_acquitted_only_if_it_took_little_of_the_time() {
    let held = |unneeded: i64, needed: i64| {
        with(
            &[
                (&[Limit::Line], 100 - unneeded - needed),
                (&[Limit::RecoveryNeeded], needed),
                (&[Limit::RecoveryUnneeded], unneeded),
            ],
            |flow| {
                spurious(flow);
                flow.limits.unnecessary = vec![(Cause::Reordering, unneeded * 100 * MS)];
            },
        )
    };
    let acquitted = said(&held(2, 3));
    assert!(acquitted.contains("eordering is not the problem: 27 of the 640 packets that arrived (4.2 %) were late and took at most 4.3 % of its time"), "{acquitted}");
    let part = said(&held(20, 30));
    assert!(!part.contains("not the problem"), "{part}");
    says(
        &part,
        "27 of the 640 packets that arrived (4.2 %) were late",
    );
}

#[test]
fn without_limits_spurious_retransmissions_beside_late_packets_are_no_acquittal() {
    let mut analysis = with(&[], |flow| {
        spurious(flow);
        flow.recoveries
            .by_cause
            .retain(|c| c.cause != Cause::Reordering);
        flow.recoveries.total = 8;
    });
    analysis.flows[0].limits = Limits::default();
    let text = said(&analysis);
    assert!(text.contains("Reordering had a part in it: 27 of 35 retransmissions repeated what had arrived, with 27 late packets"), "{text}");
    // The table counts the same as spurious, and what the receiver discarded stands beside it.
    analysis.flows[0].originals.refused = 2;
    let text = said(&analysis);
    assert!(text.contains("27 of 35 retransmissions repeated what had arrived and 2 what the receiver had discarded, with"), "{text}");
    analysis.flows[0].retransmissions.spurious = 0;
    let text = said(&analysis);
    says(
        &text,
        "2 of 35 retransmissions repeated what the receiver had discarded, with",
    );
}

/// A receiver whose sender fell silent for good saw nothing of what was lost then.
#[test]
fn beside_a_path_that_may_be_dead_nothing_visible_is_not_nothing_lost() {
    let dead = [Limit::Application, Limit::PathDead];
    let analysis = with(&[(&[Limit::Start], 5), (&dead, 95)], |flow| {
        flow.originals.lost = 0;
    });
    let text = said(&analysis);
    assert!(
        !text.contains("No problem in") && !text.contains("No packet was lost"),
        "{text}"
    );
}

#[test]
fn what_is_undecided_or_unseen_forbids_an_acquittal() {
    let of = |change: fn(&mut FlowReport)| {
        said(&with(
            &[(&[Limit::WindowNeeded], 90), (&[Limit::Line], 10)],
            |flow| {
                flow.reordering.reordered = 3;
                recovered(flow, Cause::RandomLoss, 8, 0);
                flow.originals.lost = 8;
                change(flow);
            },
        ))
    };
    assert!(of(|_| ()).contains("eordering is not the problem"));
    assert!(!of(|flow| flow.recoveries.ambiguous = 2).contains("not the problem"));
    let blind = of(|flow| flow.blind = flow.blind.with(inorder_detect::NotSeen::SackOptions));
    says(&blind, "hat 3 late packets cost is unknown");
}

#[test]
fn discarded_packets_count_as_late_and_those_outside_the_window_do_not() {
    let of = |outside: u64| {
        said(&with(&[], |flow| {
            flow.limits = Limits::default();
            flow.reordering.reordered = 23;
            flow.originals.refused = 32;
            flow.originals.outside_window = outside;
            recovered(flow, Cause::Refused, 20, 0);
        }))
    };
    says(
        of(0),
        "55 of the 672 packets that arrived (8.2 %) were late; the receiver discarded 32 of them",
    );
    let outside = of(32);
    says(
        &outside,
        "23 of the 672 packets that arrived (3.4 %) were late",
    );
    assert!(
        outside.contains(
            "32 of the 672 packets that arrived (4.8 %) lay outside the receiver's window"
        ),
        "{outside}"
    );
}

#[test]
fn an_interval_that_says_nothing_is_not_printed() {
    let text = said(&with(&[], |flow| {
        flow.limits = Limits::default();
        spurious(flow);
        flow.originals.lost = 0;
        flow.cost.lost = Some(inorder_detect::Lost {
            share: 0.5,
            low: 0.0,
            high: 0.853,
        });
    }));
    says(&text, "which cost an unknown part of the goodput");
}
