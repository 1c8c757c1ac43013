//! The mean, the distances of drops and the thresholds; the whole queue beside one that follows the paper's algorithm.

use super::*;
use crate::stages::twin::{Capable, Numbered, Twin, packets, slow, through};
use inorder_scenario::config::{Framing, Line, QueueLimit};
use proptest::prelude::*;

/// 8 Mbit/s: a microsecond for each byte. Thresholds of 15,000 and 45,000 bytes.
fn line() -> Line {
    Line {
        framing: Framing::None,
        buffer: QueueLimit::Bytes(180_000).into(),
        ..Line::new(8_000_000)
    }
}

/// The defaults of Linux's `tc` for this queue.
const RED: plain::Red = plain::Red {
    min_bytes: 15_000,
    max_bytes: 45_000,
    max_probability: 0.02,
    weight: None,
    packet_bytes: 1000,
    adaptive: false,
    gentle: false,
    mark: false,
    hard_drop: false,
};

fn link(red: &plain::Red, random: Random) -> RedLink<Numbered> {
    ManagedLink::new(&line(), Red::new(&line(), red, random))
}

fn detector(config: &plain::Red, seed: u64) -> Detector {
    Red::<Numbered>::new(&line(), config, Random::new(seed, "red")).detector
}

/// Equation 3 of the paper: a burst of 50 packets from an empty queue keeps the mean below 5 with a weight of 0.0042 or
/// less. `tc` takes the power 50 there instead of 51, which leaves 1/512.
#[test]
fn the_usual_weight_is_that_of_tc() {
    // (2 min + max) / 3 packets = 50 packets.
    assert_eq!(weight::usual(5_000, 140_000, 1000), 1.0 / 512.0);
    // `tc qdisc add ... red limit 400000 min 30000 max 90000 avpkt 1000 burst 55`, the example of tc-red(8).
    assert_eq!(weight::usual(30_000, 90_000, 1000), 1.0 / 32.0);
}

#[test]
fn the_mean_follows_slowly_and_decays_while_idle() {
    let mut detector = detector(
        &plain::Red {
            weight: Some(0.002),
            ..RED
        },
        1,
    );
    (0..100).for_each(|_| detector.see(10_000));
    let expected = 10_000.0 * (1.0 - 0.998_f64.powi(100));
    assert!((detector.mean - expected).abs() < 1e-6);
    // 346 packets of silence halve it.
    assert!((detector.decayed(346.2) / expected - 0.5).abs() < 1e-3);
}

/// Section VII of the paper: with probability p, the distances of drops are uniform from 1 to 1/p.
#[test]
fn distances_of_drops_are_uniform() {
    let mut detector = detector(
        &plain::Red {
            max_probability: 0.1,
            ..RED
        },
        3,
    );
    detector.mean = 30_000.0; // half-way: 5 %
    let mut distances = [0u32; 25];
    let mut distance = 0;
    for _ in 0..210_000 {
        distance += 1;
        if detector.judge() == Verdict::Early {
            distances[distance] += 1;
            distance = 0;
        }
    }
    // 20 distances, each as often: 210,000 / 10.5 drops / 20. (The first drop of all has one more.)
    let often = |count: &u32| (850..1150).contains(count);
    assert!(distances[1..=20].iter().all(often), "{distances:?}");
    assert!(distances[22..].iter().all(|count| *count == 0));
}

#[test]
fn above_the_upper_threshold_everything_is_dropped_unless_gentle() {
    let mut strict = detector(&RED, 1);
    strict.mean = 45_000.0;
    assert_eq!(strict.judge(), Verdict::Forced);
    let mut gentle = detector(
        &plain::Red {
            gentle: true,
            max_probability: 0.1,
            ..RED
        },
        1,
    );
    gentle.mean = 67_500.0;
    assert!((gentle.probability().unwrap() - 0.55).abs() < 1e-12);
    gentle.mean = 90_000.0;
    assert_eq!(gentle.judge(), Verdict::Forced);
}

#[test]
fn the_maximum_adapts_to_where_the_mean_is() {
    let mut detector = detector(&RED, 1);
    detector.adapt(40_000.0);
    assert!((detector.max_probability - 0.025).abs() < 1e-12); // by a quarter
    detector.max_probability = 0.3;
    detector.adapt(40_000.0);
    assert!((detector.max_probability - 0.31).abs() < 1e-12); // by 1 % at most
    detector.adapt(30_000.0);
    assert!((detector.max_probability - 0.31).abs() < 1e-12); // in the middle
    detector.adapt(20_000.0);
    assert!((detector.max_probability - 0.279).abs() < 1e-12); // by a tenth
}

/// Marks replace drops, also above the upper threshold, unless `hard_drop` is set.
#[test]
fn marks_replace_drops() {
    let list: Vec<_> = (0..4000)
        .map(|n| (n * 700_000, 1000, Capable::Ect0))
        .collect();
    let left = |mark, hard_drop| {
        let config = plain::Red {
            mark,
            hard_drop,
            weight: Some(0.01),
            ..RED
        };
        let left = through(link(&config, Random::new(1, "marks")), &packets(&list));
        let marked = left.iter().filter(|(_, packet)| packet.marked).count();
        (left.len(), marked)
    };
    let (all, marked) = left(true, false);
    // Only the limit of 180 packets drops.
    assert!(marked > 2500 && all > 2950, "{all} {marked}");
    let (some, marked) = left(true, true);
    assert!(some < 2950 && (1..100).contains(&marked), "{some} {marked}");
    let (none, marked) = left(false, false);
    assert!(none < 2950 && marked == 0, "{none}");
}

/// The paper's algorithm (figure 2), the mean in one formula, adaptation at its times.
struct Paper {
    config: plain::Red,
    weight: f64,
    max_probability: f64,
    mean: f64,
    count: i64,
    draw: f64,
    idle: Option<i64>,
    queue: Vec<Numbered>,
    random: Random,
}

impl Paper {
    fn bytes(&self) -> u64 {
        self.queue.iter().map(|p| u64::from(p.bytes)).sum()
    }

    fn mean_at(&self, now_ns: i64) -> f64 {
        let Some(idle) = self.idle else {
            return self.mean;
        };
        // 8 Mbit/s: a byte each microsecond.
        let bits = (now_ns - idle) as f64 / 1e9 * 8_000_000.0;
        self.mean
            * libm::pow(
                1.0 - self.weight,
                bits / (8.0 * f64::from(self.config.packet_bytes)),
            )
    }
}

impl Twin for Paper {
    fn tick(&mut self, now_ns: i64) {
        if !self.config.adaptive {
            return;
        }
        let mean = self.mean_at(now_ns);
        let (low, high) = (self.config.min_bytes as f64, self.config.max_bytes as f64);
        if mean > low + 3.0 * ((high - low) / 5.0) && self.max_probability <= 0.5 {
            self.max_probability += (self.max_probability / 4.0).min(0.01);
        } else if mean < low + 2.0 * ((high - low) / 5.0) && self.max_probability >= 0.01 {
            self.max_probability *= 0.9;
        }
    }

    fn arrive(&mut self, now_ns: i64, packet: Numbered) {
        self.mean = match self.idle.is_some() {
            true => self.mean_at(now_ns),
            false => self.mean + self.weight * (self.bytes() as f64 - self.mean),
        };
        self.idle = None;
        let (low, high) = (self.config.min_bytes as f64, self.config.max_bytes as f64);
        if self.mean < low {
            self.count = -1;
        } else if self.mean >= high {
            self.count = -1;
            return;
        } else {
            self.count += 1;
            if self.count == 0 {
                self.draw = self.random.unit();
            } else {
                let p = self.max_probability * ((self.mean - low) / (high - low));
                if self.count as f64 * p >= self.draw {
                    self.count = 0;
                    self.draw = self.random.unit();
                    return;
                }
            }
        }
        if self.bytes() + u64::from(packet.bytes) <= 180_000 {
            self.queue.push(packet);
        }
    }

    fn depart(&mut self, now_ns: i64) -> Option<Numbered> {
        if self.queue.is_empty() {
            self.idle = Some(now_ns);
            return None;
        }
        Some(self.queue.remove(0))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_queue_agrees_with_the_algorithm_of_the_paper(
        phases in prop::collection::vec((3i64..30, 1u32..6, 20usize..400, 0i64..3000), 1..6),
        seed in 0u64..1000,
        adaptive in any::<bool>(),
    ) {
        let mut now = 1;
        let mut list = Vec::new();
        for (gap, thirds, count, silence) in phases {
            for _ in 0..count {
                now += gap * 100_000;
                list.push((now, thirds * 300, Capable::No));
            }
            now += silence * 1_000_000;
        }
        let config = plain::Red { adaptive, weight: Some(0.02), max_probability: 0.1, ..RED };
        let arrivals = packets(&list);
        let random = Random::new(seed, "red");
        let paper = Paper {
            max_probability: config.max_probability,
            mean: 0.0,
            count: -1,
            draw: 0.0,
            idle: None,
            queue: Vec::new(),
            random: random.clone(),
            weight: 0.02,
            config: config.clone(),
        };
        let expected = slow(paper, 500_000_000, 1000, &arrivals);
        prop_assert_eq!(through(link(&config, random), &arrivals), expected);
    }
}
