//! Extreme settings, times and packets: no panic, no endless loop, no decreasing times, and no packet without an
//! origin.

use inorder_base::random::Random;
use inorder_path::config::{
    self, Buffer, Charge, CrossSource, Distribution, Framing, GilbertElliott, Lane, Line, Markov,
    OnOff, Pattern, Periodic, Policy, QueueLimit, RateStep, StageKind, Uniform,
};
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

fn share(x: u64) -> f64 {
    x as f64 / u64::MAX as f64
}

fn probability(x: u64) -> Probability {
    Probability::ratio(share(x))
}

fn lane(x: &[u64; 6]) -> Lane {
    Lane {
        link: line(x),
        jitter_ns: ns(x[1]),
        loss: share(x[5]),
    }
}

fn line(x: &[u64; 6]) -> Line {
    let step = |at_ns, bits_per_s| RateStep {
        at_ns: ns(at_ns),
        bits_per_s,
    };
    let limits = [
        QueueLimit::Unlimited,
        QueueLimit::Packets(x[4]),
        QueueLimit::Bytes(x[4]),
        QueueLimit::Bdp(f64::from_bits(x[4])),
    ];
    let framings = [
        Framing::Ethernet,
        Framing::EthernetHeader,
        Framing::Ppp,
        Framing::None,
    ];
    Line {
        bits_per_s: x[1],
        changes: match x[5] % 2 {
            0 => Vec::new(),
            _ => vec![step(x[0], x[1]), step(x[2], x[3])],
        },
        period_ns: Some(ns(x[4])).filter(|p| p % 3 != 0),
        delay_ns: ns(x[3]),
        buffer: Buffer {
            limit: limits[x[2] as usize % 4],
            rtt_ns: Some(ns(x[4])),
        },
        framing: framings[x[5] as usize % 4],
        ..Line::new(x[0])
    }
}

fn delay(x: &[u64; 6]) -> config::Delay {
    config::Delay {
        delay_ns: ns(x[0]),
        jitter_ns: ns(x[1]),
        distribution: Distribution::ALL[x[2] as usize % Distribution::ALL.len()],
        correlation: share(x[3]),
        limit_packets: Some(x[4]).filter(|&n| odd(n)),
    }
}

fn loss(x: &[u64; 6]) -> config::Loss {
    let [a, b, c, d, e, _] = x.map(share);
    match x[5] % 3 {
        0 => config::Loss::Uniform(Uniform {
            probability: a,
            correlation: b,
        }),
        1 => config::Loss::Markov(Markov {
            p13: a,
            p31: Some(b),
            p32: c,
            p23: d,
            p14: e,
        }),
        _ => config::Loss::GilbertElliott(GilbertElliott {
            to_bad: a,
            to_good: Some(b),
            loss_in_bad: c,
            loss_in_good: d,
        }),
    }
}

fn stage(kind: u8, x: &[u64; 6]) -> AnyStage<Probe> {
    let random = Random::new(1, "harm");
    let corrupt = config::Corrupt {
        probability: share(x[1]),
        correlation: share(x[2]),
        discard: odd(x[3]),
    };
    let pattern = [
        Pattern::Constant,
        Pattern::Poisson,
        Pattern::OnOff(OnOff {
            on_ns: ns(x[0]),
            off_ns: ns(x[1]),
            shape: f64::from_bits(x[2]),
        }),
    ];
    let declared = match kind {
        0 => StageKind::Device(config::Device { line: line(x) }),
        1 => return Delay::new(&delay(x), random).into(),
        2 => StageKind::Loss(loss(x)),
        3 => StageKind::Duplicate(config::Duplicate {
            probability: share(x[0]),
            correlation: share(x[1]),
            copy_delay_ns: ns(x[2]),
        }),
        4 => StageKind::Corrupt(corrupt),
        5 => StageKind::Reorder(config::Reorder {
            probability: share(x[5]),
            correlation: share(x[4]),
            gap: x[3] as u32,
            delay_ns: ns(x[0]),
        }),
        6 => StageKind::Late(config::Late {
            probability: share(x[0]),
            correlation: share(x[1]),
            delay_ns: ns(x[2]),
            from_ns: i64::MIN,
            until_ns: None,
        }),
        7 => {
            let netem = NetemConfig {
                delay: delay(x),
                duplicate: probability(x[5]),
                duplicate_correlation: probability(x[2]),
                loss: loss(x),
                corrupt,
                reorder: probability(x[5]),
                reorder_correlation: probability(x[4]),
                gap: x[3] as u32,
                rate_bits_per_s: x[3],
                framing: Framing::Ethernet,
            };
            return Netem::new(&netem, &random).into();
        }
        8 => StageKind::Periodic(Periodic {
            interval_packets: x[2],
            device_queue_packets: Some(1 + x[4] % 100),
            link: line(x),
        }),
        9 => StageKind::Spray(config::Spray {
            lanes: vec![lane(x); x[0] as usize % 4],
            policy: Policy::ALL[x[3] as usize % 4],
            flowlet_gap_ns: ns(x[1]),
        }),
        10 => StageKind::Radio(config::Radio {
            tti_ns: ns(x[0]),
            block_error: share(x[1]),
            block_error_again: share(x[2]),
            retransmission_error: share(x[3]),
            harq_rtt_ns: ns(x[4]),
            harq_retransmissions: x[5] as u32 % 9,
            rlc_delay_ns: Some(ns(x[5])).filter(|_| odd(x[5])),
            in_order: odd(x[3]),
        }),
        11 => StageKind::TokenBucket(config::TokenBucket {
            bits_per_s: x[0],
            burst_bytes: x[1],
            peak_bits_per_s: Some(x[2]).filter(|_| odd(x[5])),
            peak_burst_bytes: x[3],
            charge: Charge::ALL[x[4] as usize % 2],
            buffer: QueueLimit::Packets(x[4]).into(),
            framing: Framing::EthernetHeader,
        }),
        12 => return card(x).into(),
        _ => StageKind::SharedLink(config::SharedLink {
            link: line(x),
            cross: vec![CrossSource {
                pattern: pattern[x[3] as usize % 3].clone(),
                // Higher rates are valid, but a million packets in each case would make the test slow.
                bits_per_s: x[4] % 10_000,
                packet_bytes: x[5] as u32,
            }],
        }),
    };
    AnyStage::declared(&declared, random)
}

fn card(x: &[u64; 6]) -> Nic<Probe> {
    let config = NicConfig {
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
            restarts: odd(x[2]),
        })
        .filter(|_| odd(x[4])),
        ..NicConfig::default()
    };
    let sorter = SorterConfig::of(SORTERS[x[3] as usize % SORTERS.len()]);
    Nic::with_sorter(&config, sorter.build(&Surroundings::ring(64)).unwrap())
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
