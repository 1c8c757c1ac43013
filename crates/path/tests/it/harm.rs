//! Extreme settings, times and packets: no panic, no endless loop, no decreasing times, and no packet without an
//! origin.

use inorder_base::random::Random;
use inorder_path::*;
use inorder_sort::{SORTERS, SorterConfig, Surroundings};
use proptest::prelude::*;

fn extreme() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![
            0,
            1,
            2,
            7,
            1 << 20,
            1 << 33,
            1 << 62,
            (1 << 63) - 1,
            1 << 63,
            u64::MAX - 1,
            u64::MAX
        ]),
        any::<u64>(),
    ]
}

/// Negative in half of the cases.
fn ns(x: u64) -> i64 {
    x.cast_signed()
}

fn odd(x: u64) -> bool {
    x & 1 == 1
}

fn probability(x: u64) -> Probability {
    Probability::ratio(x as f64 / u64::MAX as f64)
}

fn lane(x: &[u64; 6]) -> LaneConfig {
    LaneConfig {
        jitter_ns: ns(x[1]),
        loss: probability(x[5]),
        ..link(x).into()
    }
}

fn link(x: &[u64; 6]) -> LinkConfig {
    let step = |at_ns, bits_per_s| Step {
        at_ns: ns(at_ns),
        bits_per_s,
    };
    let steps = Steps {
        steps: vec![step(x[0], x[1]), step(x[2], x[3])],
        period_ns: Some(ns(x[4])).filter(|p| p % 3 != 0),
    };
    let limits = [
        Limit::Unlimited,
        Limit::Packets(x[4]),
        Limit::Bytes(x[4]),
        Limit::Bdp { rtt_ns: ns(x[4]) },
    ];
    LinkConfig {
        rate: match x[5] % 2 {
            0 => Rate::Constant(x[0]),
            _ => Rate::Steps(steps),
        },
        propagation_ns: ns(x[3]),
        queue: limits[x[2] as usize % 4],
        framing: Framing {
            overhead_bytes: x[1] as u32,
            min_bytes: x[5] as u32,
        },
    }
}

fn delay(x: &[u64; 6]) -> DelayConfig {
    DelayConfig {
        delay_ns: ns(x[0]),
        jitter_ns: ns(x[1]),
        distribution: DISTRIBUTIONS[x[2] as usize % DISTRIBUTIONS.len()].1.clone(),
        correlation: probability(x[3]),
        limit_packets: Some(x[4] as usize).filter(|&n| odd(n as u64)),
    }
}

fn loss(x: &[u64; 6]) -> LossConfig {
    let [a, b, c, d, e, _] = x.map(probability);
    match x[5] % 3 {
        0 => LossConfig::Uniform {
            probability: a,
            correlation: b,
        },
        1 => LossConfig::Markov(Markov {
            p13: a,
            p31: b,
            p32: c,
            p23: d,
            p14: e,
        }),
        _ => LossConfig::GilbertElliott(GilbertElliott {
            to_bad: a,
            to_good: b,
            loss_in_bad: c,
            loss_in_good: d,
        }),
    }
}

fn stage(kind: u8, x: &[u64; 6]) -> AnyStage<Probe> {
    let random = Random::new(1, "harm");
    let reorder = ReorderConfig {
        probability: probability(x[5]),
        correlation: probability(x[4]),
        gap: x[3] as u32,
    };
    let corrupt = CorruptConfig {
        probability: probability(x[1]),
        correlation: probability(x[2]),
        discard: odd(x[3]),
    };
    let pattern = [
        Pattern::Constant,
        Pattern::Poisson,
        Pattern::OnOffPareto {
            on_ns: ns(x[0]),
            off_ns: ns(x[1]),
            shape: f64::from_bits(x[2]),
        },
    ];
    let policy = [
        SprayPolicy::Random,
        SprayPolicy::RoundRobin,
        SprayPolicy::Flow,
        SprayPolicy::Flowlet { gap_ns: ns(x[1]) },
    ];
    match kind {
        0 => Link::new(&link(x)).into(),
        1 => Delay::new(&delay(x), random).into(),
        2 => Loss::new(&loss(x), random).into(),
        3 => Duplicate::new(
            &DuplicateConfig {
                probability: probability(x[0]),
                correlation: probability(x[1]),
                copy_delay_ns: ns(x[2]),
            },
            random,
        )
        .into(),
        4 => Corrupt::new(&corrupt, random).into(),
        5 => Reorder::new(&reorder, &delay(x), random).into(),
        6 => Late::new(
            &LateConfig {
                probability: probability(x[0]),
                correlation: probability(x[1]),
                delay_ns: ns(x[2]),
            },
            random,
        )
        .into(),
        7 => Netem::new(
            &NetemConfig {
                delay: delay(x),
                duplicate: probability(x[5]),
                duplicate_correlation: probability(x[2]),
                loss: loss(x),
                corrupt,
                reorder,
                rate_bits_per_s: x[3],
                framing: Framing::ETHERNET,
            },
            &random,
        )
        .into(),
        8 => PeriodicReorder::new(&PeriodicConfig {
            reorder_interval_packets: x[2] as usize,
            device_queue_packets: 1 + x[4] as usize % 100,
            link: link(x),
        })
        .into(),
        9 => Spray::new(
            &SprayConfig {
                lanes: vec![lane(x); x[0] as usize % 4],
                policy: policy[x[3] as usize % 4],
            },
            random,
        )
        .into(),
        10 => Radio::new(
            &RadioConfig {
                tti_ns: ns(x[0]),
                block_error: probability(x[1]),
                block_error_again: probability(x[2]),
                retransmission_error: probability(x[3]),
                harq_rtt_ns: ns(x[4]),
                harq_retransmissions: x[5] as u32 % 9,
                rlc_delay_ns: Some(ns(x[5])).filter(|_| odd(x[5])),
                in_order: odd(x[3]),
            },
            random,
        )
        .into(),
        11 => TokenBucket::new(&TokenBucketConfig {
            rate_bits_per_s: x[0],
            burst_bytes: x[1],
            peak: Some((x[2], x[3])).filter(|_| odd(x[5])),
            charge: [Charge::Before, Charge::After][x[4] as usize % 2],
            queue: Limit::Packets(x[4]),
            framing: Framing::ETHERNET_HEADER,
        })
        .into(),
        12 => Nic::with_sorter(
            &NicConfig {
                ring_packets: x[0] as usize,
                coalesce: Coalesce {
                    delay_ns: ns(x[1]),
                    frames: Some(x[2] as usize).filter(|&n| odd(n as u64)),
                    gap_ns: ns(x[3]),
                },
                service_ns: ns(x[4]),
                sort_ns: ns(x[5]),
                merge: Some(MergeConfig {
                    max_bytes: x[1] as u32,
                    max_frames: x[2] as u32,
                    max_flows: x[3] as usize % 9,
                })
                .filter(|_| odd(x[4])),
                ..NicConfig::default()
            },
            SorterConfig::of(SORTERS[x[3] as usize % SORTERS.len()])
                .build(&Surroundings::ring(64))
                .unwrap(),
        )
        .into(),
        _ => SharedLink::new(
            &SharedLinkConfig {
                link: link(x),
                sources: vec![CrossTraffic {
                    pattern: pattern[x[3] as usize % 3],
                    // Higher rates are valid, but a million packets in each case would make the test slow.
                    bits_per_s: x[4] % 10_000,
                    packet_bytes: x[5] as u32,
                }],
            },
            &random,
        )
        .into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn extreme_settings_are_harmless(
        stages in prop::collection::vec((0u8..14, prop::array::uniform6(extreme())), 1..4),
        mut times in prop::collection::vec(extreme().prop_map(ns), 1..30),
        sizes in prop::collection::vec(any::<u32>(), 30),
    ) {
        times.sort_unstable();
        let path = Path::new(stages.iter().map(|(kind, x)| stage(*kind, x)).collect());
        let mut line = Timeline::new(path);
        for (number, (&t, &bytes)) in times.iter().zip(&sizes).enumerate() {
            line.push(t, Probe::of_flow(bytes % 4, number as u64, bytes));
        }
        let mut last = i64::MIN;
        while let Some((t, packet)) = line.pop(i64::MAX) {
            prop_assert!(t >= last && t >= times[packet.number as usize]);
            last = t;
        }
        for counters in line.counters() {
            prop_assert!(counters.sent + counters.dropped() <= counters.arrived + counters.duplicated);
        }
    }
}
