//! What held a flow back, in words: one limit after the other.

use super::*;
use crate::frames;
use crate::words::{omits, says};

#[test]
fn a_small_window_of_the_receiver_is_a_problem_although_nothing_was_lost() {
    let analysis = with(
        &[(&[Limit::ReceiverWindow], 94), (&[Limit::Handshake], 6)],
        |flow| {
            flow.limits.window = Some(Window {
                largest_bytes: 43_000,
                needed_bytes: Some(159_000),
                ..Window::default()
            });
        },
    );
    assert_eq!(
        said(&analysis),
        "10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 Mbit/s (round trip 42.1 ms): the receiver's \
         window of at most 43.0 kB held it back for 94 % of the time; the path needs 210 kB. No data packet of it was lost, late \
         or sent again."
    );
    assert_eq!(kinds(&analysis), ["moved", "held", "clean"]);
}

#[test]
fn a_window_without_scaling_and_a_slow_reader_are_named() {
    let window = |change: fn(&mut Window)| {
        lead(&with(&[(&[Limit::ReceiverWindow], 87)], |flow| {
            let mut window = Window {
                largest_bytes: 65_535,
                ..Window::default()
            };
            change(&mut window);
            flow.limits.window = Some(window);
            flow.cost.goodput_bps = Some(12_000_000);
        }))
    };
    assert_eq!(
        window(|w| w.unscaled = true),
        "the receiver's window of at most 65.5 kB, which cannot exceed 65,535 bytes without window scaling, held it back for \
         87 % of the time."
    );
    assert_eq!(
        window(|w| w.closed_ns = 5_650 * MS),
        "the receiving application read too slowly: the receiver's window was full for 87 % of the time and closed for 5.65 s."
    );
}

/// While it held the sender, a window that grows with the transfer was the largest so far.
#[test]
fn a_window_that_grew_since_is_no_slow_reader() {
    let said = |largest_ns: i64| {
        lead(&with(&[(&[Limit::ReceiverWindow], 87)], |flow| {
            flow.limits.window = Some(Window {
                largest_bytes: 200_000,
                largest_ns,
                ..Window::default()
            });
            flow.cost.goodput_bps = Some(12_000_000);
        }))
    };
    assert_eq!(
        said(0),
        "the receiving application read too slowly: the receiver's window was full for 87 % of the time."
    );
    assert_eq!(
        said(10_000_000 * MS),
        "the receiver's window of at most 200 kB held it back for 87 % of the time."
    );
}

#[test]
fn every_limit_has_its_words() {
    let with_limit = |limit: Limit| {
        with(&[(&[limit], 90)], |flow| {
            flow.limits.send_buffer_bytes = Some(100_000);
            flow.limits.queueing_ns = Some(80 * MS);
            recovered(flow, Cause::RandomLoss, 7, 4);
            flow.originals.lost = 40;
        })
    };
    let expected = [
        (
            Limit::SendBuffer,
            "the sender's socket buffer of about 100 kB held it back for 90 % of the time, though both windows had room.",
        ),
        (
            Limit::Application,
            "the sending application had nothing to send for 90 % of the time.",
        ),
        (
            Limit::Line,
            "the line of 40.0 Mbit/s was full for 90 % of the time, and its queue delayed packets by 80.0 ms.",
        ),
        (
            Limit::WindowNeeded,
            "after losses the congestion window was below what the path could carry for 90 % of the time (7 reductions).",
        ),
        (
            Limit::TimerNeeded,
            "it waited for its retransmission timer for 9.00 s (90 % of the time, 4 time-outs) after packets were lost.",
        ),
        (
            Limit::PathDead,
            "nothing got through for 9.00 s (90 % of the time): the path or the other host was dead.",
        ),
    ];
    for (limit, words) in expected {
        assert_eq!(lead(&with_limit(limit)), words);
    }
    // What is unknown does not come first.
    let unknown = with_limit(Limit::Unknown);
    assert!(lead(&unknown).starts_with("40 of 640 packets (6.2 %) were lost"));
    assert!(told(&unknown).contains(". What held it back for 90 % of the time is unknown."));
}

#[test]
fn a_policer_is_named_for_what_its_losses_did() {
    let analysis = with(
        &[(&[Limit::WindowNeeded], 80), (&[Limit::RecoveryNeeded], 14)],
        |flow| {
            flow.limits.policed_bps = Some(3_400_000);
            recovered(flow, Cause::RandomLoss, 7, 0);
            flow.originals.lost = 40;
        },
    );
    assert_eq!(
        lead(&analysis),
        "a policer that lets 3.40 Mbit/s or more pass and drops the rest held the congestion window down for 94 % of the \
         time (7 reductions)."
    );
    assert!(said(&analysis).contains(" 40 of 640 packets (6.2 %) were lost"));
}

#[test]
fn a_round_trip_of_nothing_is_not_told() {
    let analysis = with(&[(&[Limit::Application], 95)], |flow| {
        flow.min_rtt_ns = Some(0);
    });
    omits(said(&analysis), "round trip");
}

#[test]
fn a_short_transfer_is_limited_by_its_start_and_has_no_problem() {
    let mut analysis = with(
        &[
            (&[Limit::Handshake], 41),
            (&[Limit::Application], 30),
            (&[Limit::Start], 29),
        ],
        |_| (),
    );
    analysis.flows[0].limits.at_end_ns = 3_000 * MS;
    assert_eq!(
        said(&analysis),
        "No problem in 1 TCP flow: no data packet was lost, late or sent again. 10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 \
         Mbit/s (round trip 42.1 ms): 927 kB were too little to leave slow start: 41 % of its time went to \
         opening the connection and 29 % to the first growth of the window."
    );
}

#[test]
fn a_start_that_took_less_than_the_end_does_not_hide_it() {
    let of = |start: i64| {
        let mut analysis = with(
            &[
                (&[Limit::Application], 100 - 2 * start),
                (&[Limit::Handshake], start),
                (&[Limit::Start], start),
            ],
            |_| (),
        );
        analysis.flows[0].limits.at_end_ns = (100 - 2 * start) * 100 * MS;
        kinds(&analysis)
    };
    assert_eq!(of(45), ["no-problem", "moved", "short"]);
    assert_eq!(of(10), ["no-problem", "moved", "short", "ended"]);
    assert_eq!(of(1), ["no-problem", "moved", "ended"]);
}

#[test]
fn a_lost_syn_says_nothing_of_how_much_there_was_to_send() {
    let analysis = with(
        &[(&[Limit::Handshake], 90), (&[Limit::Start], 10)],
        |flow| {
            (
                flow.endpoints.handshake.syns_again,
                flow.endpoints.handshake.waited_ns,
            ) = (1, 1_000 * MS);
        },
    );
    says(
        lead(&analysis),
        "opening the connection took 9.00 s (90 % of the time)",
    );
}

#[test]
fn reductions_are_said_to_follow_losses_only_if_something_was_lost() {
    let of = |change: fn(&mut FlowReport)| {
        told(&with(
            &[(&[Limit::WindowNeeded], 60), (&[Limit::TimerNeeded], 40)],
            change,
        ))
    };
    let lost = of(|flow| {
        flow.originals.lost = 3;
        recovered(flow, Cause::Loss, 2, 1);
    });
    says(&lost, "after losses the congestion window was below");
    assert!(lost.contains("after packets were lost"), "{lost}");
    let discarded = of(|flow| {
        flow.originals.refused = 3;
        recovered(flow, Cause::Refused, 2, 1);
    });
    assert!(
        !discarded.contains("loss") && !discarded.contains("lost"),
        "{discarded}"
    );
    says(
        &discarded,
        "after the receiver had discarded packets the congestion window was below",
    );
    let marked = of(|flow| flow.ecn_reductions = 3);
    assert!(
        marked.contains("after congestion marks (ECN) the congestion window was below what the path could carry for 60 % of the time \
                         (3 reductions)"),
        "{marked}"
    );
}

#[test]
fn what_waits_for_the_other_end_is_told_and_has_an_action_only_then() {
    let shares: &[(&[Limit], i64)] = &[(&[Limit::Application], 90), (&[Limit::Handshake], 10)];
    let mut analysis = with(shares, |_| {});
    let mut requests = sample::clean(1);
    requests.flow = analysis.flows[0].flow;
    std::mem::swap(&mut requests.flow.src, &mut requests.flow.dst);
    requests.originals.packets = 40;
    requests.originals.bytes = 4_000;
    analysis.flows.push(requests);
    let idle = "the sending application had nothing to send for 90 % of the time";
    says(said(&analysis), &format!("{idle}."));
    let proposed = |analysis: &Analysis| !Cure::of(analysis).actions.is_empty();
    assert!(!proposed(&analysis));
    analysis.flows[0].limits.awaited_ns = 6_000 * MS;
    let waits = format!("{idle}, mostly while it waited for data from the other end");
    assert!(said(&analysis).contains(&waits), "{}", said(&analysis));
    assert!(proposed(&analysis));
}

#[test]
fn time_after_all_was_sent_is_no_limit_but_is_told() {
    let seen_from = |vantage| {
        let shares: &[(&[Limit], i64)] = &[(&[Limit::Application], 95), (&[Limit::Handshake], 5)];
        let analysis = with(shares, |flow| {
            flow.limits.at_end_ns = 8_000 * MS;
            flow.vantage.vantage = vantage;
        });
        said(&analysis)
    };
    let said = seen_from(Vantage::Sender);
    let sent = "all data had been sent 8.00 s before the end (80 % of the time)";
    assert!(said.contains(sent), "{said}");
    // What is lost on its way to the receiver is not seen there.
    let said = seen_from(Vantage::Receiver);
    let came = "no data came in the last 8.00 s (80 % of the time)";
    assert!(said.contains(came), "{said}");
}

#[test]
fn ends_of_answers_that_wait_for_acknowledgements_are_told_and_have_an_action() {
    let shares: &[(&[Limit], i64)] = &[(&[Limit::Application], 90), (&[Limit::Handshake], 10)];
    let with_ends = |times, ns| {
        with(shares, |flow| {
            flow.limits.held_short.times = times;
            flow.limits.held_short.ns = ns;
        })
    };
    let often = with_ends(20, 3_000 * MS);
    let text = said(&often);
    says(&text, "for 3.00 s of this the last segment of an answer");
    assert!(text.contains("20 times: Nagle's algorithm"), "{text}");
    assert!(!text.contains("No problem"), "{text}");
    let actions = Cure::of(&often).actions;
    assert!(
        actions
            .iter()
            .any(|action| action.kind.name() == "no-delay")
    );
    // Twice is no habit, and a tenth of a second of ten seconds is not worth a word.
    for rare in [with_ends(2, 3_000 * MS), with_ends(20, 100 * MS)] {
        assert!(!said(&rare).contains("Nagle"), "{}", said(&rare));
        assert!(Cure::of(&rare).actions.is_empty());
    }
}

#[test]
fn the_rate_of_a_line_that_was_full_for_a_short_time_is_told_if_trains_of_packets_agree() {
    let path = |percent, trains| {
        let said = said(&with(
            &[
                (&[Limit::Line], percent),
                (&[Limit::Application], 100 - percent),
            ],
            |flow| flow.cost.bottleneck_bps = trains,
        ));
        said.contains("(line 40.0 Mbit/s, round trip")
    };
    assert!(path(20, Some(41_000_000)) && path(20, Some(39_000_000)));
    assert!(!path(20, Some(60_000_000)) && !path(20, None));
    assert!(path(40, Some(60_000_000)) && path(40, None));
}

/// Seen next to the receiver, an application says a few bytes every second, which arrive within a fraction of a millisecond.
#[test]
fn what_comes_at_long_and_equal_intervals_does_not_fill_a_line() {
    let mut capture = frames::Capture::default();
    capture.shake(0.0, 0.4);
    capture.send(
        0.6,
        frames::client(frames::A + 1, frames::B + 1, frames::ACK, 30),
    );
    for n in 0..30 {
        let at = 1_000.0 * f64::from(n + 1);
        let (seq, ack) = (frames::B + 1 + n * 60, frames::A + 31);
        capture.send(at, frames::server(seq, ack, frames::ACK, 60));
        capture.send(at + 0.1, frames::client(ack, seq + 60, frames::ACK, 0));
    }
    let text = said(&capture.analyse());
    says(&text, "the sending application had nothing to send");
    assert!(!text.contains("line was full"), "{text}");
}
