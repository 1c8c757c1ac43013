//! Invariants of the window for any sequence of events.

use inorder_tcp::CaState;
use inorder_tcp::Nanos;
use inorder_tcp::congestion::{
    AckEvent, Event, LossEvent, Measured, REGISTRY, RateSample, SentEvent, Start, Window, find,
};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Ack(AckEvent, bool),
    Loss(LossEvent, u32),
    Event(Event),
    Undo,
    Sample(RateSample),
    Sent(SentEvent),
}

/// Mostly realistic values, sometimes impossible ones.
fn wide(usual: u64) -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..usual, 1 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)]
}

/// Times, some of which are negative and therefore impossible.
fn time(usual: u64) -> impl Strategy<Value = Nanos> {
    wide(usual).prop_map(u64::cast_signed)
}

fn narrow(usual: u32) -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..usual, 1 => any::<u32>(), 1 => Just(0), 1 => Just(u32::MAX)]
}

prop_compose! {
    fn ack()(now in time(100_000_000_000), acked in narrow(100), in_flight in narrow(1000),
             rtt in proptest::option::of(time(300_000_000)), srtt in time(300_000_000),
             min_rtt in time(100_000_000), snd_una in wide(10_000_000), snd_nxt in wide(10_000_000),
             mss in narrow(1500), dubious: bool) -> AckEvent {
        AckEvent {
            acked_marked: acked / 3,
            now, acked, in_flight, acked_bytes: u64::from(acked) * u64::from(mss), cwnd_limited: true,
            dubious, rtt, echo_age: rtt, predicted: dubious, srtt, min_rtt, snd_una, snd_nxt, mss,
        }
    }
}

fn state() -> impl Strategy<Value = CaState> {
    prop_oneof![
        Just(CaState::Open),
        Just(CaState::Disorder),
        Just(CaState::Cwr),
        Just(CaState::Recovery),
        Just(CaState::Loss),
    ]
}

prop_compose! {
    fn sample()(now in time(100_000_000_000), state in state(), delivered in wide(1_000_000), lost in wide(10_000),
                counts in (narrow(100), narrow(100), narrow(1000), narrow(1000)),
                measured in proptest::option::of((wide(1000), time(100_000_000), wide(1_000_000), any::<bool>())),
                rtt in proptest::option::of(time(300_000_000)), wait in time(10_000_000), srtt in time(300_000_000),
                mss in narrow(1500), ack_delayed: bool) -> RateSample {
        let mut sample = RateSample::default();
        (sample.now, sample.state, sample.delivered, sample.lost) = (now, state, delivered, lost);
        sample.delivered_at = now;
        sample.newly_delivered = counts.0;
        sample.newly_lost = counts.1;
        sample.prior_in_flight = counts.2;
        sample.in_flight = counts.3;
        sample.measured = measured.map(|(delivered, interval, prior_delivered, app_limited)| Measured {
            delivered, interval, prior_delivered, app_limited,
        });
        sample.rtt = rtt;
        sample.next_departure = now.saturating_add(wait);
        (sample.srtt, sample.mss, sample.ack_delayed) = (srtt, mss, ack_delayed);
        sample
    }
}

prop_compose! {
    fn sent()(now in time(100_000_000_000), in_flight in narrow(1000), payload in narrow(1500), again: bool,
              app_limited: bool) -> SentEvent {
        let mut sent = SentEvent::default();
        (sent.now, sent.in_flight, sent.payload) = (now, in_flight, payload);
        (sent.again, sent.app_limited) = (again, app_limited);
        sent
    }
}

fn step() -> impl Strategy<Value = Step> {
    let event = prop_oneof![
        any::<bool>().prop_map(|predicted| Event::DupAck { predicted }),
        Just(Event::ThresholdAtTimeout),
        Just(Event::RecoveryStart),
        Just(Event::RecoveryEnd),
        Just(Event::Open),
        Just(Event::Timeout),
        Just(Event::Undo),
        time(1_000_000_000).prop_map(|ns| Event::Restart { ns }),
    ];
    let loss = (time(100_000_000_000), narrow(1000), any::<bool>()).prop_map(
        |(now, in_flight, timeout)| LossEvent {
            now,
            in_flight,
            timeout,
        },
    );
    prop_oneof![
        10 => (ack(), any::<bool>()).prop_map(|(ack, grow)| Step::Ack(ack, grow)),
        2 => (loss, narrow(1000)).prop_map(|(loss, cwnd)| Step::Loss(loss, cwnd)),
        2 => event.prop_map(Step::Event),
        1 => Just(Step::Undo),
        5 => sample().prop_map(Step::Sample),
        2 => sent().prop_map(Step::Sent),
    ]
}

fn play(name: &str, start: &Window, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut cc = (find(name).expect("in the registry").build)();
    let mut window = start.clone();
    cc.start(&mut window, &Start::default());
    for step in steps {
        match step {
            Step::Ack(ack, grow) => {
                cc.measure(&mut window, ack);
                if *grow {
                    cc.grow(&mut window, ack);
                }
            }
            Step::Loss(loss, cwnd) => {
                window.ssthresh = window.threshold_after(&mut *cc, loss);
                prop_assert!(window.ssthresh >= 2, "{name}: {window:?}");
                window.cwnd = (*cwnd).max(1);
            }
            Step::Event(event) => cc.event(&mut window, *event, 0),
            Step::Undo => window.cwnd = cc.undo_cwnd(&window),
            Step::Sample(sample) => cc.rate_sample(&mut window, sample),
            Step::Sent(sent) => cc.on_sent(&mut window, sent),
        }
        prop_assert!(window.cwnd >= 1, "{name} after {step:?}: {window:?}");
        cc.trace(&mut |key, value| assert!(value.is_finite(), "{name} {key}"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_sequence_of_events_keeps_a_valid_window(
        cwnd in 1u32..2000,
        clamp in prop_oneof![Just(u32::MAX), 1u32..3000],
        ssthresh in prop_oneof![Just(u32::MAX), 2u32..3000],
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let window = Window { ssthresh, clamp, ..Window::new(cwnd) };
        for entry in REGISTRY {
            play(entry.name, &window, &steps)?;
        }
    }

    /// The straightforward twin: one segment at a time.
    #[test]
    fn additive_increase_is_that_of_single_segments(cwnd in 1u32..500, per in 1u32..500, acks in proptest::collection::vec(1u32..300, 1..50)) {
        let mut window = Window::new(cwnd);
        let (mut grown, mut count) = (cwnd, 0);
        for acked in acks {
            window.additive_increase(per, acked);
            for _ in 0..acked {
                count += 1;
                if count == per {
                    count = 0;
                    grown += 1;
                }
            }
            prop_assert_eq!((window.cwnd, window.count), (grown, count));
        }
    }

    #[test]
    fn slow_start_spends_every_segment_once(cwnd in 1u32..1000, ssthresh in 2u32..1000, acked in 0u32..2000) {
        let mut window = Window::new(cwnd);
        window.ssthresh = ssthresh;
        let left = window.slow_start(acked);
        prop_assert_eq!(window.cwnd - cwnd + left, acked);
        prop_assert!(window.cwnd <= ssthresh.max(cwnd));
    }
}

#[test]
fn names_are_unique_and_lower_case() {
    let mut names: Vec<_> = REGISTRY.iter().map(|entry| entry.name).collect();
    for entry in REGISTRY {
        assert_eq!(entry.name, entry.name.to_lowercase());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), REGISTRY.len());
}
