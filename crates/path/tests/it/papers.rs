//! Results that papers report about their paths, reproduced with these paths.

use inorder_base::random::Random;
use inorder_metrics::{Metrics, Summary};
use inorder_path::config::{
    self, CrossSource, Distribution, Framing, GilbertElliott, Line, OnOff, Pattern,
};
use inorder_path::*;

const MS: i64 = 1_000_000;
const US: i64 = 1_000;

/// Sends `packets` packets of `bytes` every `gap_ns` and measures the order of arrival.
fn measure(stages: Vec<AnyStage<Probe>>, packets: u64, bytes: u32, gap_ns: i64) -> Summary {
    let mut line = Timeline::new(Path::new(stages));
    let mut metrics = Metrics::default();
    let mut arrive = |line: &mut Timeline<Probe>, now| {
        while let Some((t, p)) = line.pop(now) {
            metrics.update(p.number + 1, t, p.bytes);
        }
    };
    for number in 0..packets {
        arrive(&mut line, number as i64 * gap_ns);
        line.push(number as i64 * gap_ns, Probe::new(number, bytes));
    }
    arrive(&mut line, i64::MAX);
    metrics.finish()
}

fn no_framing(bits_per_s: u64) -> Line {
    Line {
        framing: Framing::None,
        ..Line::new(bits_per_s)
    }
}

/// Torres and Ribeiro 2020: 65,535 probes of 1518 bytes at 100 Mb/s, 100 ms and a jitter.
fn mean_displacement(distribution: Distribution, jitter_ns: i64) -> f64 {
    let delay = config::Delay {
        distribution,
        limit_packets: Some(5000),
        ..config::Delay::normal(100 * MS, jitter_ns)
    };
    let link = Link::new(&no_framing(100_000_000));
    let netem = Netem::new(&NetemConfig::delay(delay), &Random::new(1, "netem"));
    let summary = measure(vec![link.into(), netem.into()], 65_535, 1518, 121_440);
    assert_eq!(summary.counts.received, 65_535);
    summary.order.displacements.mean_displacement()
}

#[test]
fn mean_displacement_at_a_jitter_of_1_ms() {
    // Printed: 7.1 uniform, 6.6 normal, 5.3 exponential. The first one shows that the paper's uniform jitter had a
    // standard deviation of 1 ms: netem without a table gives 4.1. The exponential table differs from theirs: limited
    // to 4 SD it gives 6.0.
    for (distribution, expected) in [
        (Distribution::UniformUnit, 7.1),
        (Distribution::Normal, 6.6),
        (Distribution::Uniform, 4.1),
        (Distribution::Exponential, 6.0),
    ] {
        let found = mean_displacement(distribution, MS);
        assert!((found - expected).abs() < 0.15, "{distribution:?}: {found}");
    }
}

#[test]
fn mean_displacement_is_linear_in_the_jitter() {
    let one = mean_displacement(Distribution::Normal, MS);
    for times in [2, 5, 8] {
        let ratio = mean_displacement(Distribution::Normal, times * MS) / one;
        assert!(
            (ratio / times as f64 - 1.0).abs() < 0.03,
            "{times}: {ratio}"
        );
    }
}

/// Median extent with 2 % of packets 20 ms late, at a rate in Mbit/s.
fn median_extent(mbit_per_s: u64) -> u64 {
    let link = Link::new(&no_framing(mbit_per_s * 1_000_000));
    let late = config::Late {
        probability: 0.02,
        correlation: 0.0,
        delay_ns: 20 * MS,
        from_ns: 0,
        until_ns: None,
    };
    let late = Late::new(&late, Random::new(1, "late"));
    let gap_ns = 1460 * 8_000 / mbit_per_s as i64 + 1;
    let summary = measure(vec![link.into(), late.into()], 20_000, 1460, gap_ns);
    let ratio = summary.counts.reordered_ratio();
    assert!((ratio - 0.02).abs() < 0.005, "{ratio}");
    // Not the maximum: other late packets that arrive meanwhile also count in an extent.
    summary.order.extents.quantile(0.5).unwrap()
}

#[test]
fn extents_grow_with_the_rate_at_a_constant_reordering_delay() {
    // Schulte and others, V-B: 7500 bytes at 3 Mbit/s, so 5 segments; 10,000 at 4 (they round
    // 6.8 up); 70 Mbit/s: about 120.
    assert_eq!([3, 4, 70].map(median_extent), [5, 6, 119]);
}

/// Share of packets reordered at the stack, 1 Gb/s, with jitter, behind a card.
fn reordered(jitter_ns: i64, nic: &NicConfig) -> f64 {
    let link = || Link::new(&Line::new(1_000_000_000));
    let delay = config::Delay::normal(2_500 * US, jitter_ns);
    let netem = Netem::new(&NetemConfig::delay(delay), &Random::new(1, "netem"));
    let nic = Nic::new(nic).unwrap();
    let stages = vec![link().into(), netem.into(), link().into(), nic.into()];
    measure(stages, 30_000, 1500, 12_304)
        .counts
        .reordered_ratio()
}

#[test]
fn srpic_sorts_within_a_block_and_coalescing_alone_changes_nothing() {
    let (plain, sorter) = (NicConfig::default(), NicConfig::default().with_srpic(32));
    let at_once = NicConfig {
        coalesce: Coalesce::delay(0),
        ..plain
    };
    let mut left = Vec::new();
    for jitter_ns in [5 * US, 25 * US, 50 * US, 250 * US] {
        let (none, held, sorted) = (
            reordered(jitter_ns, &at_once),
            reordered(jitter_ns, &plain),
            reordered(jitter_ns, &sorter),
        );
        assert_eq!(none, held, "waiting alone does not restore the order");
        assert!(sorted < none);
        left.push(sorted / none);
    }
    // The wider the variation, the fewer packets are within one block: 14, 36, 65, 97 % remain reordered.
    assert!(left.is_sorted(), "{left:?}");
    assert!(left[0] < 0.5, "{left:?}");
}

#[test]
fn late_radio_blocks_cause_bursts_of_reordering() {
    let link = Link::new(&Line::new(60_000_000));
    let radio = |in_order| {
        let config = config::Radio {
            tti_ns: MS,
            block_error: 0.02,
            block_error_again: 0.5,
            retransmission_error: 0.1,
            harq_rtt_ns: 8 * MS,
            harq_retransmissions: 4,
            rlc_delay_ns: Some(20 * MS),
            in_order,
        };
        let radio = Radio::new(&config, Random::new(1, "radio"));
        measure(
            vec![link.clone().into(), radio.into()],
            100_000,
            1500,
            205 * US,
        )
    };
    let as_it_comes = radio(false);
    assert!(as_it_comes.counts.reordered > 2_000);
    // A block at 60 Mbit/s is five packets. As the paper reports, the first of them has the extent that follows from
    // the rate, the following ones have smaller ones; late times are those of the retransmissions.
    let extents = &as_it_comes.order.extents;
    assert!((30..60).contains(&extents.quantile(0.5).unwrap()));
    assert_eq!(radio(true).counts.reordered, 0);
}

#[test]
fn a_run_is_the_same_on_every_machine() {
    let loss = config::Loss::GilbertElliott(GilbertElliott {
        to_bad: 0.01,
        to_good: None,
        loss_in_bad: 1.0,
        loss_in_good: 0.0,
    });
    let config = NetemConfig {
        loss,
        duplicate: Probability::ratio(0.01),
        ..NetemConfig::delay(config::Delay {
            distribution: Distribution::ParetoNormal,
            correlation: 0.25,
            ..config::Delay::normal(5 * MS, MS)
        })
    };
    let netem = Netem::new(&config, &Random::new(1, "netem"));
    let cross = SharedLink::new(
        &config::SharedLink {
            link: Line::new(1_000_000_000),
            cross: vec![CrossSource {
                pattern: Pattern::OnOff(OnOff {
                    on_ns: MS,
                    off_ns: 2 * MS,
                    shape: 1.5,
                }),
                bits_per_s: 600_000_000,
                packet_bytes: 700,
            }],
        },
        &Random::new(1, "cross"),
    );
    let nic = Nic::new(&NicConfig::default().with_srpic(32)).unwrap();
    let mut line = Timeline::new(Path::new(vec![cross.into(), netem.into(), nic.into()]));
    (0..20_000).for_each(|n| line.push(n as i64 * 12_304, Probe::new(n, 1500)));
    let hash = std::iter::from_fn(|| line.pop(i64::MAX)).fold(
        0xcbf2_9ce4_8422_2325_u64,
        |hash, (t, p)| {
            (hash ^ t.cast_unsigned() ^ p.number << 40).wrapping_mul(0x0000_0100_0000_01b3)
        },
    );
    // Recorded once: a change here changes every seeded result that uses a path.
    assert_eq!(hash, 16_311_309_301_640_691_555);
}
