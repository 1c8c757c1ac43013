//! What to do: which action is proposed first, and when none is.

use inorder_analysis::Analysis;
use inorder_analysis::cure::{Action, ActionKind, Cure, Why};
use inorder_detect::{
    Avoidance, Cause, CauseCount, Confidence, FlowReport, Host, Limit, Lost, Shrunk, Vantage,
};
use inorder_limits::{Limit as Held, LimitSet, Limits, Share, Window};

use crate::sample;
use crate::words::says;

/// This number of recoveries for one cause, and the expiries of timers in them.
fn counted(cause: Cause, recoveries: u64, timeouts: u64) -> CauseCount {
    let mut count = CauseCount::new(cause);
    (count.recoveries, count.timeouts) = (recoveries, timeouts);
    count
}

/// The cure for one flow whose sender took late packets for lost `times`, changed by `change`.
fn cure(times: u64, change: impl FnOnce(&mut FlowReport)) -> Cure {
    let mut flow = sample::busy(1, Vantage::Sender, 3);
    flow.limits = Limits::default();
    flow.recoveries.by_cause = vec![counted(Cause::Reordering, times, 0)];
    change(&mut flow);
    let flows = vec![flow];
    Cure::of(&Analysis {
        flows,
        ..Analysis::default()
    })
}

#[test]
fn a_threshold_from_the_95th_percentile_comes_first() {
    let cure = cure(40, |_| ());
    let first = &cure.actions[0];
    assert_eq!(first.kind, ActionKind::WaitLonger);
    assert_eq!(
        first.commands,
        [
            "sysctl -w net.ipv4.tcp_reordering=101 net.ipv4.tcp_max_reordering=300 net.ipv4.tcp_recovery=1",
            "ip route change 192.0.2.17 via GATEWAY dev IF reordering 101",
        ]
    );
    // 0.95 of 0.27 / 0.73, and 0.36 / 0.64.
    assert_eq!(
        first.expectation(),
        "expected to make it 35.1 % to 56.2 % faster"
    );
    assert!(first.sure);
    assert_eq!(cure.reordering_is_not_it, "");
}

#[test]
fn few_reductions_are_chance() {
    assert!(remedies(&cure(2, |_| ())).is_empty());
    let none_for_sure = Lost {
        share: 0.03,
        low: 0.0,
        high: 0.06,
    };
    let cure = cure(40, |f| {
        f.cost.lost = Some(none_for_sure);
        f.cost.restored = 38;
    });
    assert!(remedies(&cure).is_empty());
}

/// What is proposed beside another capture.
fn remedies(cure: &Cure) -> Vec<ActionKind> {
    let kinds = cure.actions.iter().map(|a| a.kind);
    kinds.filter(|kind| *kind != ActionKind::Capture).collect()
}

#[test]
fn what_comes_later_than_a_round_trip_is_nothing_for_rack() {
    let cure = cure(40, |f| {
        f.avoidance = Avoidance {
            dupthresh: Some(400),
            window_ns: Some(60_000_000),
        };
    });
    let wait = &cure.actions[0];
    assert_eq!(wait.kind, ActionKind::WaitLonger);
    // At 94 Mbit/s, 487 packets of 1,448 bytes come in 60 ms.
    let command = "sysctl -w net.ipv4.tcp_reordering=487 net.ipv4.tcp_max_reordering=974 net.ipv4.tcp_recovery=0";
    assert_eq!(wait.commands[0], command);
    says(wait.warning, "switches RACK off for every connection");
    assert!(wait.holds.starts_with("Linux senders before 6.17."));
}

#[test]
fn where_losses_limit_the_cure_says_so() {
    let cure = cure(0, |f| {
        f.recoveries.by_cause = vec![counted(Cause::RandomLoss, 12, 0)];
        f.cost.limit = Limit::Loss;
        f.cost.lost = Some(Lost {
            share: 0.0,
            low: 0.0,
            high: 0.01,
        });
    });
    assert_eq!(cure.actions[0].kind, ActionKind::Control);
    assert_eq!(
        cure.actions[0].expectation(),
        "expected to make it 1.1 to 2.2 times as fast"
    );
}

/// Away from the sender it is unknown whether a queue was full, so no control is proposed, but a look from there.
#[test]
fn losses_without_a_place_call_for_a_capture_at_the_sender() {
    let of = |vantage| {
        cure(0, |f| {
            f.recoveries.by_cause = vec![counted(Cause::Loss, 12, 0)];
            f.cost.limit = Limit::Loss;
            f.vantage.vantage = vantage;
        })
    };
    let kinds =
        |vantage| -> Vec<ActionKind> { of(vantage).actions.iter().map(|a| a.kind).collect() };
    assert_eq!(kinds(Vantage::Receiver), [ActionKind::Capture]);
    let none = of(Vantage::Receiver).none.expect("a reason");
    assert_eq!(none.why, Why::NotKnown);
    assert!(none.text.contains("from a full queue"), "{}", none.text);
    let command = &of(Vantage::Receiver).actions[0].commands[0];
    assert_eq!(
        command,
        "tcpdump -i IF -s 160 -G 60 -W 1 -w sender.pcap 'tcp and host 10.1.0.2 and host 192.0.2.17'"
    );
}

/// The cure for one flow that one limit held for nine tenths of its life.
fn held(limit: Held, change: impl FnOnce(&mut FlowReport)) -> Cure {
    cure(0, |flow| {
        flow.recoveries = Default::default();
        flow.retransmissions = Default::default();
        flow.reordering.reordered = 0;
        (flow.originals.lost, flow.cost.lost) = (0, None);
        flow.cost.goodput_bps = Some(2_000_000);
        let mut limits = Limits::default();
        (limits.begun_ns, limits.ended_ns) = (0, 10_000_000_000);
        limits.line_bps = Some(20_000_000);
        limits.shares = vec![Share {
            limits: LimitSet::of(&[limit]),
            ns: 9_000_000_000,
            confidence: Confidence::Likely,
        }];
        flow.limits = limits;
        change(flow);
    })
}

fn kinds(cure: &Cure) -> Vec<ActionKind> {
    cure.actions.iter().map(|a| a.kind).collect()
}

fn window(change: fn(&mut Window)) -> Cure {
    held(Held::ReceiverWindow, |flow| {
        let mut window = Window {
            largest_bytes: 10_500,
            needed_bytes: Some(105_250),
            ..Window::default()
        };
        change(&mut window);
        flow.limits.window = Some(window);
    })
}

#[test]
fn a_small_window_grows_to_four_times_what_the_path_needs() {
    let cure = window(|_| ());
    assert_eq!(kinds(&cure), [ActionKind::Window]);
    let action = &cure.actions[0];
    assert_eq!(
        action.commands,
        ["sysctl -w net.ipv4.tcp_rmem='4096 131072 421000' net.core.rmem_max=421000"]
    );
    // A line ten times as fast, of which a short flow reaches half.
    assert_eq!(
        action.expectation(),
        "expected to make it 5.0 to 10.0 times as fast"
    );
}

#[test]
fn without_scaling_or_with_a_slow_reader_no_buffer_is_proposed() {
    let unscaled = window(|w| w.unscaled = true);
    assert_eq!(kinds(&unscaled), [ActionKind::Scaling]);
    assert!(
        unscaled.actions[0]
            .holds
            .ends_with("A larger buffer does nothing before that.")
    );
    assert_eq!(
        unscaled.actions[0].expectation(),
        "expected to help, by how much is unknown"
    );
    let slow = window(|w| w.closed_ns = 4_000_000_000);
    assert_eq!(kinds(&slow), [ActionKind::Reader]);
    assert_eq!(slow.actions[0].expectation(), "may help");
}

/// A larger window overflows the queue sooner or later, and without SACK the losses are repaired one in a round trip.
#[test]
fn a_larger_window_comes_with_sack() {
    let without = held(Held::SendBuffer, |f| {
        f.limits.send_buffer_bytes = Some(100_000);
        f.endpoints.sack = false;
    });
    assert_eq!(kinds(&without), [ActionKind::SendBuffer]);
    let command = &without.actions[0].commands[0];
    assert!(command.ends_with(" net.ipv4.tcp_sack=1"), "{command}");
}

#[test]
fn every_limit_that_somebody_can_change_has_its_action() {
    let buffer = held(Held::SendBuffer, |f| {
        f.limits.send_buffer_bytes = Some(100_000);
    });
    assert_eq!(kinds(&buffer), [ActionKind::SendBuffer]);
    assert!(buffer.actions[0].commands[0].contains("net.ipv4.tcp_wmem="));
    assert_eq!(kinds(&held(Held::PathDead, |_| ())), [ActionKind::Outage]);
    let queue = held(Held::Line, |f| {
        f.limits.queueing_ns = Some(90_000_000);
        f.min_rtt_ns = Some(9_000_000);
    });
    assert_eq!(kinds(&queue), [ActionKind::Queue]);
    assert!(queue.actions[0].commands[0].ends_with("fq_codel target 5ms interval 100ms"));
    let short = held(Held::TimerNeeded, |f| {
        f.originals.lost = 12;
        f.recoveries.by_cause = vec![counted(Cause::Loss, 12, 2)];
        f.recoveries.total = 12;
        f.min_rtt_ns = Some(19_000_000);
    });
    assert_eq!(kinds(&short), [ActionKind::Timer]);
    assert!(short.actions[0].commands[0].ends_with("rto_min 38ms"));
}

/// A flow needs a queue of a part of a round trip to keep the line busy: one that is not much longer stays as it is.
#[test]
fn a_queue_is_shortened_to_what_the_line_needs() {
    let far = |queueing_ns| {
        held(Held::Line, |f| {
            f.limits.queueing_ns = Some(queueing_ns);
            f.min_rtt_ns = Some(120_000_000);
        })
    };
    let long = far(150_000_000);
    assert_eq!(
        long.actions[0].commands,
        ["tc qdisc replace dev IF root fq_codel target 60ms interval 240ms"]
    );
    assert!(far(110_000_000).actions.is_empty());
}

/// Fifteen packets of a slow line are a short queue, however long they take.
#[test]
fn a_queue_of_few_packets_is_short() {
    let slow = |packets: i64| {
        held(Held::Line, |f| {
            (f.limits.line_bps, f.cost.goodput_bps) = (Some(500_000), Some(480_000));
            f.limits.queueing_ns = Some(packets * 24_300_000);
            f.min_rtt_ns = Some(9_000_000);
        })
    };
    assert!(slow(15).actions.is_empty());
    assert_eq!(kinds(&slow(17)), [ActionKind::Queue]);
}

/// No other control passes a policer.
#[test]
fn against_a_policer_the_sender_stays_below_its_rate() {
    let cure = held(Held::WindowNeeded, |f| {
        f.recoveries.by_cause = vec![counted(Cause::RandomLoss, 12, 0)];
        f.recoveries.total = 12;
        f.originals.lost = 40;
        f.limits.policed_bps = Some(3_400_000);
    });
    assert_eq!(kinds(&cure), [ActionKind::Shape]);
    // The payload's rate and the headers of full packets.
    assert_eq!(
        cure.actions[0].commands,
        ["tc qdisc replace dev IF root fq maxrate 3554kbit"]
    );
}

/// Ten packets of the first flight were too large, and the sender has made smaller ones since.
#[test]
fn a_path_whose_limit_the_sender_has_learnt_needs_no_action() {
    let told = |data_packets| {
        held(Held::Line, |f| {
            (f.originals.packets, f.path.icmp.too_large, f.path.icmp.mtu) =
                (data_packets, 10, Some(820));
        })
    };
    assert_eq!(kinds(&told(200)), [ActionKind::PathMtu]);
    assert!(!kinds(&told(6_926)).contains(&ActionKind::PathMtu));
}

/// Full segments were lost three times, and arrived once the sender had cut them; the application paused for most of the time.
#[test]
fn a_path_that_swallows_full_segments_without_a_word_needs_a_lower_mss() {
    let told = |too_large| {
        held(Held::Application, |f| {
            f.path.shrunk = Some(Shrunk {
                whole: 1_460,
                cut: 536,
            });
            (f.path.icmp.too_large, f.path.icmp.mtu) = (too_large, Some(1_400));
        })
    };
    let cure = told(0);
    assert_eq!(kinds(&cure), [ActionKind::PathMtu]);
    assert!(cure.actions[0].commands[1].starts_with("ping -M do -s 1472 "));
    // The messages are not lost: they say it.
    let swallowed = |a: &Action| a.evidence.contains("1,460");
    assert!(!told(10).actions.iter().any(swallowed));
}

/// Thirty-five packets in three recoveries: without SACK each takes a round trip.
#[test]
fn many_losses_at_once_are_repaired_one_by_one_without_sack() {
    let losing = |sack, again| {
        held(Held::WindowNeeded, |f| {
            (f.endpoints.sack, f.originals.lost, f.retransmissions.total) = (sack, again, again);
            f.recoveries.total = 3;
        })
    };
    assert_eq!(kinds(&losing(false, 35)), [ActionKind::Sack]);
    assert!(!kinds(&losing(true, 35)).contains(&ActionKind::Sack));
    assert!(!kinds(&losing(false, 4)).contains(&ActionKind::Sack));
}

/// The connection was opened, and nothing of full size came through: no outage, though nothing was acknowledged.
#[test]
fn what_is_too_large_for_a_path_that_does_not_say_so_gets_smaller() {
    let cure = held(Held::PathDead, |f| {
        f.cost.goodput_bps = None;
        f.originals.packets = 10;
        f.retransmissions.total = 5;
    });
    assert_eq!(kinds(&cure), [ActionKind::PathMtu]);
    assert_eq!(
        cure.actions[0].commands[0],
        "sysctl -w net.ipv4.tcp_mtu_probing=1 net.ipv4.tcp_base_mss=536"
    );
    let twice = held(Held::PathDead, |f| f.retransmissions.total = 5);
    assert_eq!(kinds(&twice), [ActionKind::Outage]);
    // A request of 621 bytes is too large for no path.
    let short = held(Held::PathDead, |f| {
        f.cost.goodput_bps = None;
        (f.endpoints.mss, f.originals.bytes) = (621, 621);
        f.retransmissions.total = 5;
    });
    assert!(!kinds(&short).contains(&ActionKind::PathMtu));
}

#[test]
fn who_reset_a_connection_with_data_under_way_is_to_be_found_out() {
    let reset_by = |host| {
        held(Held::Start, |f| {
            f.endpoints.closing.reset_by = Some(host);
            f.originals.undecided = 44;
        })
    };
    let cure = reset_by(Host::Receiver);
    assert_eq!(kinds(&cure), [ActionKind::Reset]);
    assert!(cure.none.is_none());
    let [action] = &cure.actions[..] else {
        panic!("{:?}", cure.actions);
    };
    assert_eq!(
        action.evidence,
        "the reset came in the name of the receiver while 44 packets had not been acknowledged"
    );
    let of_sender = reset_by(Host::Sender);
    assert_ne!(of_sender.actions[0].commands, action.commands);
}

/// Late packets cost nothing in a flow that is limited by the receiver's window: no action is proposed for them.
#[test]
fn what_late_packets_did_not_take_no_action_gives_back() {
    let cure = held(Held::ReceiverWindow, |f| {
        f.recoveries.by_cause = vec![counted(Cause::Reordering, 5, 0)];
        f.recoveries.total = 5;
        f.cost.lost = Some(Lost {
            share: 0.64,
            low: 0.51,
            high: 0.74,
        });
    });
    assert_eq!(kinds(&cure), [ActionKind::Window]);
}

/// The line has room for ten times the goodput, and a dozen losses kept the window small: whether a queue was full does not matter.
#[test]
fn a_window_that_stays_far_below_a_line_with_room_calls_for_another_control() {
    let losing = |change: fn(&mut FlowReport)| {
        let cure = held(Held::WindowNeeded, |f| {
            f.recoveries.by_cause = vec![counted(Cause::Loss, 12, 0)];
            (f.recoveries.total, f.originals.lost) = (12, 12);
            change(f);
        });
        kinds(&cure)
    };
    assert_eq!(losing(|_| ()), [ActionKind::Control]);
    assert_eq!(
        losing(|f| f.limits.line_bps = Some(2_900_000)),
        [ActionKind::Capture]
    );
    assert!(!losing(|f| f.endpoints.sack = false).contains(&ActionKind::Control));
    let late = losing(|f| {
        f.recoveries.by_cause.push(counted(Cause::Reordering, 4, 0));
        f.recoveries.total = 16;
    });
    assert!(!late.contains(&ActionKind::Control));
}

/// Of two segments, acknowledgements wait longer than a reader would take.
#[test]
fn a_window_of_few_segments_is_small_however_little_passed() {
    let tiny = |bytes: u64| {
        held(Held::ReceiverWindow, |f| {
            f.limits.window = Some(Window {
                largest_bytes: bytes,
                ..Window::default()
            });
            (f.endpoints.mss, f.min_rtt_ns, f.cost.goodput_bps) =
                (1460, Some(5_000_000), Some(400_000));
        })
    };
    assert_eq!(kinds(&tiny(2 * 1460)), [ActionKind::Window]);
    assert_eq!(kinds(&tiny(20 * 1460)), [ActionKind::Reader]);
}

/// Ninety packets in nine seconds: what held them for eight round trips and more is worth an action, though little was carried.
#[test]
fn few_packets_that_a_window_held_for_long_are_a_long_transfer() {
    let of = |ns| {
        held(Held::SendBuffer, |f| {
            f.originals.packets = 90;
            f.min_rtt_ns = Some(ns);
            f.limits.send_buffer_bytes = Some(4_000);
        })
    };
    assert_eq!(kinds(&of(100_000_000)), [ActionKind::SendBuffer]);
    assert_eq!(kinds(&of(2_000_000_000)), []);
}

/// No capture tells a full buffer from an application that writes as much: the sender's kernel does.
#[test]
fn whether_a_buffer_was_full_is_a_question_to_the_kernel() {
    let cure = held(Held::Application, |f| {
        f.limits.shares[0].limits = LimitSet::of(&[Held::Application, Held::SendBuffer]);
    });
    assert_eq!(kinds(&cure), [ActionKind::Ask]);
    assert_eq!(cure.none.map(|none| none.why), Some(Why::NotKnown));
    assert_eq!(
        cure.actions[0].commands,
        ["ss -tnmi state established dst 192.0.2.17"]
    );
    assert_eq!(kinds(&held(Held::Application, |_| ())), []);
}

/// After a time-out a sender repeats all there is, with SACK or without.
#[test]
fn what_was_sent_again_after_a_time_out_does_not_ask_for_sack() {
    let cure = held(Held::WindowNeeded, |f| {
        f.recoveries.by_cause = vec![counted(Cause::Loss, 1, 1)];
        (
            f.endpoints.sack,
            f.originals.lost,
            f.retransmissions.total,
            f.recoveries.total,
        ) = (false, 35, 35, 1);
    });
    assert!(cure.actions.is_empty());
    let none = cure.none.expect("a reason");
    assert!(none.text.contains("happened once"), "{}", none.text);
}

/// A dozen losses at a line of which 9 parts in 10 were used: there is nothing to gain.
#[test]
fn a_flow_that_fills_its_line_gets_no_faster() {
    let losing = |bps| {
        held(Held::Line, |f| {
            f.limits.shares[0].ns = 5_000_000_000;
            f.limits.shares.push(Share {
                limits: LimitSet::of(&[Held::WindowNeeded]),
                ns: 4_000_000_000,
                confidence: Confidence::Likely,
            });
            f.recoveries.by_cause = vec![counted(Cause::QueueLoss, 12, 0)];
            (f.recoveries.total, f.originals.lost) = (12, 12);
            f.cost.goodput_bps = Some(bps);
        })
    };
    let full = losing(18_000_000);
    assert!(full.actions.is_empty());
    assert_eq!(full.none.expect("a reason").why, Why::NothingHelps);
    assert_eq!(kinds(&losing(9_000_000)), [ActionKind::Capture]);
}

/// Some of the time the window was small; for most of it the line was full, or the window reduced, and clauses like that are often false.
#[test]
fn what_would_tell_comes_before_what_may_not_be_the_matter() {
    let open = |vantage| {
        held(Held::ReceiverWindow, |f| {
            f.vantage.vantage = vantage;
            let share = |limits: &[Held], ns| Share {
                limits: LimitSet::of(limits),
                ns,
                confidence: Confidence::Likely,
            };
            f.limits.shares = vec![
                share(&[Held::Line, Held::WindowNeeded], 6_000_000_000),
                share(&[Held::ReceiverWindow], 3_000_000_000),
            ];
            f.limits.window = Some(Window {
                largest_bytes: 10_500,
                ..Window::default()
            });
            f.cost.goodput_bps = Some(2_000_000);
        })
    };
    let sender = open(Vantage::Sender);
    assert_eq!(kinds(&sender), [ActionKind::Ask, ActionKind::Window]);
    assert!(sender.actions[0].evidence.contains("`notsent`"));
    let receiver = open(Vantage::Receiver);
    assert_eq!(kinds(&receiver), [ActionKind::Capture, ActionKind::Window]);
    assert!(receiver.none.is_none());
}

/// Four hundred late packets, for twelve of which something was sent again: without SACK such verdicts are often wrong.
#[test]
fn an_action_against_what_the_headline_calls_uncertain_says_so() {
    let of = |sack| {
        cure(4, |f| {
            let mut limits = Limits::default();
            (limits.begun_ns, limits.ended_ns) = (0, 10_000_000_000);
            limits.shares = vec![Share {
                limits: Held::WindowUnneeded.into(),
                ns: 9_000_000_000,
                confidence: Confidence::Likely,
            }];
            limits.unnecessary = vec![(Cause::Reordering, 9_000_000_000)];
            f.limits = limits;
            f.recoveries.total = 4;
            f.endpoints.sack = sack;
            f.reordering.reordered = 400;
            f.retransmissions.spurious = 12;
        })
    };
    let says = |cure: &Cure| -> Vec<bool> {
        let reserve = "may help if a congestion window reduced without need held the transfer back, which is uncertain";
        let all = cure.actions.iter();
        let all = all.filter(|action| {
            !matches!(
                action.kind,
                ActionKind::OneWay | ActionKind::Ask | ActionKind::Capture
            )
        });
        all.map(|action| action.expectation() == reserve && !action.sure)
            .collect()
    };
    let (uncertain, plain) = (of(false), of(true));
    assert!(!says(&uncertain).is_empty() && says(&uncertain).iter().all(|says| *says));
    assert!(says(&plain).iter().all(|says| !*says));
    // The other end shows what arrived.
    assert_eq!(uncertain.actions[0].kind, ActionKind::Capture);
}
