//! What to do: which action is proposed first, and when none is.

mod sample;

use inorder_analysis::Analysis;
use inorder_analysis::cure::{ActionKind, Cure};
use inorder_detect::{Avoidance, Cause, CauseCount, FlowReport, Limit, Lost, Vantage};

/// The cure for one flow that late packets misled `times`, changed by `change`.
fn cure(times: u64, change: impl FnOnce(&mut FlowReport)) -> Cure {
    let mut flow = sample::busy(1, Vantage::Sender, 3);
    let mut late = CauseCount::new(Cause::Reordering);
    late.recoveries = times;
    flow.recoveries.by_cause = vec![late];
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
            "sysctl -w net.ipv4.tcp_reordering=101 net.ipv4.tcp_max_reordering=300 net.ipv4.tcp_recovery=1"
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
    assert_eq!(cure(2, |_| ()).actions, []);
    let none_for_sure = Lost {
        share: 0.03,
        low: 0.0,
        high: 0.06,
    };
    let cure = cure(40, |f| {
        f.cost.lost = Some(none_for_sure);
        f.cost.restored = 38;
    });
    assert_eq!(cure.actions, []);
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
    assert_eq!(wait.commands, [command]);
}

#[test]
fn where_losses_limit_the_cure_says_so() {
    let cure = cure(0, |f| {
        let mut lost = CauseCount::new(Cause::RandomLoss);
        lost.recoveries = 12;
        f.recoveries.by_cause = vec![lost];
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
        "expected to make it 1.6 to 2.2 times as fast"
    );
    assert!(
        cure.reordering_is_not_it
            .starts_with("Reordering is not the problem here: ")
    );
    assert!(
        cure.reordering_is_not_it
            .ends_with("packets were lost, and the sender rightly slowed down.")
    );
}

/// Away from the sender it cannot be told whether a queue was full, so no control is proposed, but a look from there.
#[test]
fn losses_without_a_place_call_for_a_capture_at_the_sender() {
    let of = |vantage| {
        cure(0, |f| {
            let mut lost = CauseCount::new(Cause::Loss);
            lost.recoveries = 12;
            f.recoveries.by_cause = vec![lost];
            f.cost.limit = Limit::Loss;
            f.vantage.vantage = vantage;
        })
    };
    let kinds =
        |vantage| -> Vec<ActionKind> { of(vantage).actions.iter().map(|a| a.kind).collect() };
    assert_eq!(kinds(Vantage::Receiver), [ActionKind::Capture]);
    assert_eq!(kinds(Vantage::Sender), []);
}
