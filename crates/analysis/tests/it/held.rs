//! The headline as a function of what held a flow back: each clause is true of constructed limits, and a program can read it.

use inorder_analysis::cure::Cure;
use inorder_analysis::{Analysis, Claim, headline};
use inorder_detect::limits::{Limit, LimitSet, Limits, Share, Window};
use inorder_detect::{Cause, CauseCount, Confidence, FlowReport, Host, Vantage};

use crate::{frames, sample};

const MS: i64 = 1_000_000;

/// Limits over a life of ten seconds, in hundredths of it.
fn limits(shares: &[(&[Limit], i64)]) -> Limits {
    let mut limits = Limits::default();
    limits.begun_ns = sample::START_NS;
    limits.ended_ns = sample::START_NS + 10_000 * MS;
    limits.shares = shares
        .iter()
        .map(|(set, percent)| Share {
            limits: LimitSet::of(set),
            ns: percent * 100 * MS,
            confidence: Confidence::Likely,
        })
        .collect();
    limits
}

/// A capture of one flow of 640 packets over these limits, changed by `change`.
fn with(shares: &[(&[Limit], i64)], change: impl FnOnce(&mut FlowReport)) -> Analysis {
    let mut flow = sample::clean(1);
    flow.limits = limits(shares);
    flow.limits.line_bps = Some(40_000_000);
    change(&mut flow);
    Analysis {
        flows: vec![flow],
        ..Analysis::default()
    }
}

fn said(analysis: &Analysis) -> String {
    headline(analysis).to_string()
}

fn kinds(analysis: &Analysis) -> Vec<&'static str> {
    headline(analysis).claims.iter().map(Claim::kind).collect()
}

fn recovered(flow: &mut FlowReport, cause: Cause, recoveries: u64, timeouts: u64) {
    let mut count = CauseCount::new(cause);
    count.recoveries = recoveries;
    count.timeouts = timeouts;
    count.retransmissions = recoveries;
    flow.recoveries.total += recoveries;
    flow.recoveries.by_cause.push(count);
    flow.retransmissions.total += recoveries;
}

/// The first sentence behind the name and the speed of the flow.
fn lead(analysis: &Analysis) -> String {
    let lead = headline(analysis).lead;
    let (_, lead) = lead.split_once("round trip 42.1 ms): ").expect(&lead);
    lead.to_owned()
}

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
         window of at most 43.0 kB held it back for 94 % of the time; the path needs 210 kB. No packet of it was lost, late \
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

#[test]
fn every_limit_has_its_words() {
    let of = |limit: Limit| {
        lead(&with(&[(&[limit], 90)], |flow| {
            flow.limits.send_buffer_bytes = Some(100_000);
            flow.limits.queueing_ns = Some(80 * MS);
            recovered(flow, Cause::RandomLoss, 7, 4);
            flow.originals.lost = 40;
        }))
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
        assert_eq!(of(limit), words);
    }
    // What is unknown does not come first.
    assert!(of(Limit::Unknown).starts_with("40 of 640 packets (6.2 %) were lost"));
    assert!(of(Limit::Unknown).ends_with("; what held it back for 90 % of the time is unknown."));
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
fn limits_that_cannot_be_told_apart_are_named_together() {
    let set = &[Limit::Application, Limit::SendBuffer];
    let analysis = with(&[(set, 95)], |_| ());
    assert_eq!(
        said(&analysis),
        "No packet was lost, late or sent again in 1 TCP flow; 10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 Mbit/s (round \
         trip 42.1 ms): for 95 % of the time the sending application had nothing to send, or the sender's socket buffer was \
         full (this capture cannot show which)."
    );
}

#[test]
fn a_round_trip_of_nothing_is_not_told() {
    let analysis = with(&[(&[Limit::Application], 95)], |flow| {
        flow.min_rtt_ns = Some(0);
    });
    assert!(
        !said(&analysis).contains("round trip"),
        "{}",
        said(&analysis)
    );
}

#[test]
fn a_reduction_of_which_it_is_open_whether_it_was_needed_is_one_clause() {
    let set = &[Limit::WindowNeeded, Limit::WindowUnneeded];
    let analysis = with(&[(set, 47)], |_| ());
    let expected = "for 47 % of the time the congestion window was reduced, after losses or although nothing had been lost \
                    (this capture cannot show which)";
    assert!(said(&analysis).contains(expected), "{}", said(&analysis));
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
        "No problem in 1 TCP flow: no packet was lost, late or sent again; 10.1.0.2:1->192.0.2.17:5001 moved 927 kB at 8.24 \
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
    assert!(
        lead(&analysis).contains("opening the connection took 9.00 s (90 % of the time)"),
        "{}",
        lead(&analysis)
    );
}

#[test]
fn reductions_are_said_to_follow_losses_only_if_something_was_lost() {
    let of = |change: fn(&mut FlowReport)| {
        lead(&with(
            &[(&[Limit::WindowNeeded], 60), (&[Limit::TimerNeeded], 40)],
            change,
        ))
    };
    let lost = of(|flow| {
        flow.originals.lost = 3;
        recovered(flow, Cause::Loss, 2, 1);
    });
    assert!(
        lost.contains("after losses the congestion window was below"),
        "{lost}"
    );
    assert!(lost.contains("after packets were lost"), "{lost}");
    let discarded = of(|flow| {
        flow.originals.refused = 3;
        recovered(flow, Cause::Refused, 2, 1);
    });
    assert!(
        !discarded.contains("loss") && !discarded.contains("lost"),
        "{discarded}"
    );
    assert!(
        discarded
            .contains("after the receiver had discarded packets the congestion window was below"),
        "{discarded}"
    );
    let marked = of(|flow| flow.ecn_reductions = 3);
    assert!(
        marked.contains("after congestion marks (ECN) the congestion window was below what the path could carry for 60 % of the time \
                         (3 reductions)"),
        "{marked}"
    );
}

#[test]
fn what_was_never_acknowledged_did_not_move() {
    let text = said(&with(&[(&[Limit::PathDead], 95)], |flow| {
        flow.originals.lost = 2;
        recovered(flow, Cause::Unanswered, 1, 1);
    }));
    assert!(
        text.contains("10.1.0.2:1->192.0.2.17:5001 sent 927 kB, not all of which was acknowledged (round trip 42.1 ms): nothing got through"),
        "{text}"
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
    let expected = "The receiver reset the connection before 18 packets were acknowledged";
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

#[test]
fn a_fin_that_was_sent_again_is_said() {
    let of = |acknowledged: bool| {
        said(&with(&[(&[Limit::Application], 100)], |flow| {
            flow.endpoints.closing.fins_again = 2;
            flow.endpoints.closing.waited_ns = 720 * MS;
            flow.endpoints.closing.acknowledged = acknowledged;
        }))
    };
    assert!(
        of(true).contains("The end of the data (FIN) was sent again twice, over 720 ms"),
        "{}",
        of(true)
    );
    assert!(
        of(false).contains("over 720 ms, and never acknowledged"),
        "{}",
        of(false)
    );
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
    assert!(acquitted.contains("eordering is not the problem: 27 packets were late (4.2 %) and took at most 4.3 % of its time"), "{acquitted}");
    let part = said(&held(20, 30));
    assert!(!part.contains("not the problem"), "{part}");
    assert!(
        part.contains("27 of 640 packets (4.2 %) arrived late"),
        "{part}"
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
    assert!(
        blind.contains("hat 3 late packets cost is unknown"),
        "{blind}"
    );
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
    assert!(
        of(0).contains("55 of 672 packets (8.2 %) arrived late; the receiver discarded 32 of them"),
        "{}",
        of(0)
    );
    let outside = of(32);
    assert!(
        outside.contains("23 of 672 packets (3.4 %) arrived late"),
        "{outside}"
    );
    assert!(
        outside.contains("32 of 672 packets (4.8 %) arrived outside the receiver's window"),
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
    assert!(
        text.contains("which cost an unknown part of the goodput"),
        "{text}"
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
    assert!(
        said(&analysis).contains(&format!("{idle}.")),
        "{}",
        said(&analysis)
    );
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
    assert!(
        text.contains("for 3.00 s of this the last segment of an answer"),
        "{text}"
    );
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
fn a_clause_like_those_that_are_often_false_says_that_it_is_uncertain() {
    // Half of the life is left open and half is not: the application may write at its own pace all the time.
    let open: &[Limit] = &[Limit::Application, Limit::Line];
    let analysis = with(&[(open, 50), (&[Limit::SendBuffer], 50)], |_| ());
    assert_eq!(
        lead(&analysis),
        "what held it back for 50 % of the time is uncertain, perhaps the sending application had nothing to send, or the line \
         was full; what held it back for 50 % of the time is uncertain, perhaps the sender's socket buffer was full."
    );
    // What holds it all the time shows itself.
    let analysis = with(&[(&[Limit::SendBuffer], 98)], |_| ());
    assert!(lead(&analysis).starts_with("the sender's socket buffer held it back for 98 %"));
}

#[test]
fn time_outs_among_as_many_recoveries_as_lost_packets_leave_it_uncertain_that_losses_slowed_it() {
    let of = |recoveries, lost| {
        let parts: &[(&[Limit], i64)] =
            &[(&[Limit::WindowNeeded], 60), (&[Limit::Application], 35)];
        lead(&with(parts, |flow| {
            recovered(flow, Cause::Loss, recoveries, 1);
            flow.originals.lost = lost;
        }))
    };
    assert!(
        of(4, 5).starts_with("after losses the congestion window was below"),
        "{}",
        of(4, 5)
    );
    assert!(
        of(4, 4).starts_with(
            "what held it back for 60 % of the time is uncertain, perhaps the window was reduced after losses; "
        ),
        "{}",
        of(4, 4)
    );
    // Ten verdicts agree by more than chance.
    assert!(of(10, 10).starts_with("after losses the congestion window was below"));
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

#[test]
fn what_may_be_the_start_bounds_the_share_of_a_start() {
    let parts: &[(&[Limit], i64)] = &[
        (&[Limit::Handshake], 20),
        (&[Limit::Start], 45),
        (&[Limit::Start, Limit::Line], 35),
    ];
    assert_eq!(
        lead(&with(parts, |_| ())),
        "927 kB were too little to leave slow start: 20 % of its time went to opening the connection and 45 to 80 % to the \
         first growth of the window."
    );
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
    assert!(
        text.contains("the sending application had nothing to send"),
        "{text}"
    );
    assert!(!text.contains("line was full"), "{text}");
}
