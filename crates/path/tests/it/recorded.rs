//! A path with every kind of random number gives the recorded deliveries, exact to the nanosecond.

use inorder_base::random::Random;
use inorder_path::config::{self, CrossSource, Distribution, Line, OnOff, Pattern, Uniform};
use inorder_path::*;

/// FNV-1a over numbers, least significant byte first.
fn fingerprint(numbers: impl Iterator<Item = u64>) -> u64 {
    let bytes = numbers.flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[test]
fn a_path_with_random_numbers_logarithms_and_powers_equals_the_recorded_one() {
    // Recorded on x86-64; `tools/other-machine` runs this on other processors.
    let random = |name| Random::new(7, name);
    let shared = config::SharedLink {
        link: Line::new(20_000_000),
        cross: [
            Pattern::Poisson,
            Pattern::OnOff(OnOff {
                on_ns: 20_000_000,
                off_ns: 50_000_000,
                shape: 1.5,
            }),
        ]
        .map(|pattern| CrossSource {
            pattern,
            bits_per_s: 5_000_000,
            packet_bytes: 1_000,
        })
        .into(),
    };
    let uniform = config::Loss::Uniform(Uniform {
        probability: 0.01,
        correlation: 0.0,
    });
    let jitter = config::Delay {
        distribution: Distribution::Pareto,
        ..config::Delay::normal(5_000_000, 1_000_000)
    };
    let mut line = Timeline::new(Path::new(vec![
        Loss::new(&uniform, random("loss")).into(),
        SharedLink::new(&shared, &random("cross")).into(),
        Delay::new(&jitter, random("jitter")).into(),
    ]));
    for number in 0..5_000 {
        line.push(number as i64 * 500_000, Probe::new(number, 1_500));
    }
    let arrived: Vec<_> = std::iter::from_fn(|| line.pop(i64::MAX)).collect();
    let all = arrived
        .iter()
        .flat_map(|(at, packet)| [at.cast_unsigned(), packet.number]);
    assert_eq!(
        (arrived.len(), fingerprint(all)),
        (4959, 15_108_096_219_888_881_187)
    );
}
