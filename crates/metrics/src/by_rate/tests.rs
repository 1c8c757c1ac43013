//! What is said of rates, beside a twin that looks at everything at the end.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::class::rate_of;
use super::*;

const MS: i64 = 1_000_000;

fn late(extent: u32) -> Late {
    Late {
        extent,
        bytes: u64::from(extent) * 1_000,
        late_ns: i64::from(extent) * MS,
        opener_unsure: false,
        label: 0,
    }
}

#[test]
fn what_an_ack_tells_later_counts_where_the_packet_was_sent() {
    let mut rates = Rates::default();
    // A burst, a round trip of 300 ms, one packet more: the ACKs come in its interval.
    for at in 0..8 {
        rates.sent(at * MS, 1_000);
    }
    rates.sent(300 * MS, 100);
    rates.reordered(2 * MS, Some(&late(3)));
    rates.reordered(5 * MS, Some(&late(1)));
    let told: Vec<_> = rates
        .finish()
        .iter()
        .map(|c| (c.rate_bps, c.packets, c.reordered, c.mean_extent))
        .collect();
    // 400 bytes/s and 32,000 bytes/s, in bits/s, down to the quarter octave.
    assert_eq!(told, [(2_896, 1, 0, 0.0), (220_435, 8, 2, 2.0)]);
}

#[test]
fn extents_are_counted_by_octave_at_the_rate_of_their_packets() {
    let mut rates = Rates::default();
    for interval in 0..2 {
        for at in 0..8 {
            rates.sent(interval * RATE_INTERVAL_NS + at * MS, 1_000);
        }
    }
    rates.reordered(MS, Some(&late(1)));
    rates.reordered(RATE_INTERVAL_NS + MS, Some(&late(1)));
    rates.reordered(RATE_INTERVAL_NS + 2 * MS, Some(&late(5)));
    // Reordered by how much is not known.
    rates.reordered(RATE_INTERVAL_NS + 3 * MS, None);
    rates.sent(4 * RATE_INTERVAL_NS, 1_000_000);
    let extents: Vec<_> = rates.finish().into_iter().map(|c| c.extent_bytes).collect();
    assert_eq!(extents, [vec![(512, 2), (4_096, 1)], vec![]]);
}

#[test]
fn a_reordering_of_long_ago_counts_in_no_class() {
    let mut rates = Rates::default();
    let seconds_18 = 18 * 4;
    for i in 0..seconds_18 {
        rates.sent(i * RATE_INTERVAL_NS, 1_000);
    }
    rates.reordered(0, Some(&late(1)));
    // The clock goes back: the packet of then is still another one.
    rates.sent(1, 1_000);
    rates.reordered(0, Some(&late(1)));
    rates.reordered((seconds_18 - 60) * RATE_INTERVAL_NS, Some(&late(1)));
    let classes = rates.finish();
    assert_eq!((classes[0].packets, classes[0].reordered), (73, 1));
}

#[test]
fn rates_of_classes_are_the_powers_of_two() {
    for class in 0..=259 {
        let rate = libm::exp2(f64::from(class) / 4.0) as u64;
        assert_eq!(rate_of(class), rate, "{class}");
    }
}

#[test]
fn a_class_begins_at_its_rate() {
    for bytes in (1..100_000u64).chain((17..58).map(|octave| 1 << octave)) {
        let rate = bytes * 32;
        let class = class_of(bytes);
        let from = |class: i32| libm::exp2(f64::from(class) / 4.0);
        assert!(from(class) <= rate as f64 && (rate as f64) < from(class + 1));
    }
    // What the logarithm says.
    let logarithm = |rate: u64| libm::floor(libm::log2(rate as f64) * 4.0) as i32;
    for rate in (0..30_000).map(|i| (i * i * i) << 5) {
        assert_eq!(class_of(rate / 32), logarithm(rate.max(1)));
    }
    assert_eq!(class_of(0), 0);
    assert_eq!(class_of(u64::MAX), 256);
}

/// What happens in turn: time passes (or goes back), a packet is sent, one sent before turns
/// out to have been reordered.
#[derive(Clone, Debug)]
enum Step {
    Wait(i64),
    Send(u32),
    Reordered(prop::sample::Index),
}

fn steps(most_ms: i64) -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![4 => 0..most_ms, 1 => -most_ms..0];
    let step = prop_oneof![
        1 => wait.prop_map(|ms| Step::Wait(ms * MS)),
        3 => (1..3_000u32).prop_map(Step::Send),
        2 => any::<prop::sample::Index>().prop_map(Step::Reordered),
    ];
    prop::collection::vec(step, 0..600)
}

/// Sent packets as (time, bytes, reordered), and what the clever structure makes of them.
fn play(steps: &[Step]) -> (Vec<(i64, u32, bool)>, Rates) {
    let (mut now, mut sent, mut rates) = (0, Vec::new(), Rates::default());
    for step in steps {
        match step {
            Step::Wait(ns) => now += ns,
            Step::Send(bytes) => {
                rates.sent(now, *bytes);
                sent.push((now, *bytes, false));
            }
            Step::Reordered(which) if !sent.is_empty() => {
                let (at, _, known) = which.get_mut(&mut sent);
                if !std::mem::replace(known, true) {
                    rates.reordered(*at, Some(&late(2)));
                }
            }
            Step::Reordered(_) => {}
        }
    }
    (sent, rates)
}

/// Looks at everything at the end: (rate, intervals, packets, reordered).
fn dumb(sent: &[(i64, u32, bool)]) -> Vec<(u64, u64, u64, u64)> {
    let mut intervals: BTreeMap<i64, (u64, u64, u64)> = BTreeMap::new();
    for &(at, bytes, reordered) in sent {
        let sum = intervals
            .entry(at.div_euclid(RATE_INTERVAL_NS))
            .or_default();
        sum.0 += u64::from(bytes);
        sum.1 += 1;
        sum.2 += u64::from(reordered);
    }
    let mut classes: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for (bytes, packets, reordered) in intervals.into_values() {
        let rate = libm::exp2(f64::from(class_of(bytes)) / 4.0) as u64;
        let sum = classes.entry(rate).or_default();
        sum.0 += 1;
        sum.1 += packets;
        sum.2 += reordered;
    }
    let flat = classes.into_iter().map(|(r, s)| (r, s.0, s.1, s.2));
    flat.collect()
}

proptest! {
    #[test]
    fn the_classes_are_those_of_the_dumb_twin(steps in steps(100)) {
        let (sent, mut rates) = play(&steps);
        let classes = rates.finish();
        let told: Vec<_> = classes
            .iter()
            .map(|c| (c.rate_bps, c.intervals, c.packets, c.reordered))
            .collect();
        prop_assert_eq!(told, dumb(&sent));
    }

    #[test]
    fn never_more_reordered_than_packets(steps in steps(2_000)) {
        let (sent, mut rates) = play(&steps);
        let bytes = sent.iter().map(|s| u64::from(s.1)).sum();
        prop_assert_eq!(rates.all_sent(), (sent.len() as u64, bytes));
        let classes = rates.finish();
        prop_assert!(classes.iter().all(|c| c.reordered <= c.packets), "{:?}", classes);
        let packets: u64 = classes.iter().map(|c| c.packets).sum();
        prop_assert_eq!(packets, sent.len() as u64);
    }
}
