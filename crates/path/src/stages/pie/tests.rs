//! The controller step by step and beside Linux's integers; the whole queue beside one that calculates at each time.

use super::*;
use crate::stages::twin::{Capable, Numbered, Twin, packets, slow, through};
use inorder_scenario::config::{Framing, Line, QueueLimit};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

/// A queue of 1,000 packets.
fn line(bits_per_s: u64) -> Line {
    Line {
        framing: Framing::None,
        buffer: QueueLimit::Packets(1000).into(),
        ..Line::new(bits_per_s)
    }
}

/// The defaults of RFC 8033 section 4.2, and Linux's where it has none.
const PIE: plain::Pie = plain::Pie {
    target_ns: 15 * MS,
    update_ns: 15 * MS,
    alpha: 0.125,
    beta: 1.25,
    burst_ns: 150 * MS,
    estimate: DelayEstimate::LastPacket,
    by_bytes: false,
    mark: false,
};

/// 12 Mbit/s: 1500 bytes in a millisecond.
fn queue(pie: &plain::Pie, random: Random) -> Pie<Numbered> {
    Pie::new(&line(12_000_000), pie, random)
}

fn link(pie: &plain::Pie, random: Random) -> PieLink<Numbered> {
    ManagedLink::new(&line(12_000_000), queue(pie, random))
}

fn controller() -> Controller {
    queue(&PIE, Random::new(1, "pie")).controller
}

/// RFC 8033 section 4.2: `alpha * (30 ms - 15 ms) + beta * (30 ms - 0 ms)`, divided by 2048 below one in a million.
#[test]
fn the_first_steps_of_the_probability() {
    let mut controller = controller();
    controller.update(0.030, true);
    let first = (0.125 * 0.015 + 1.25 * 0.030) / 2048.0;
    assert!((controller.probability - first).abs() < 1e-15);
    controller.before_s = 0.030;
    // 1.9e-5 is below one in 10,000: a step without growth is divided by 128.
    controller.update(0.030, true);
    let second = first + 0.125 * 0.015 / 128.0;
    assert!((controller.probability - second).abs() < 1e-15);
}

#[test]
fn large_steps_are_capped_and_long_delays_add_two_percent() {
    let mut controller = controller();
    controller.probability = 0.2;
    controller.update(0.240, true);
    assert!((controller.probability - 0.22).abs() < 1e-12);
    controller.before_s = 0.251;
    controller.update(0.251, true);
    // 0.125 * 236 ms is more than 2 %, too.
    assert!((controller.probability - 0.26).abs() < 1e-12);
}

#[test]
fn without_delay_it_falls_by_a_64th() {
    let mut controller = controller();
    controller.probability = 0.5;
    controller.update(0.0, false);
    let step = -0.125 * 0.015;
    assert!((controller.probability - (0.5 + step) * 63.0 / 64.0).abs() < 1e-12);
    // Not if packets wait: the delay is only too short to be seen.
    controller.probability = 0.5;
    controller.update(0.0, true);
    assert!((controller.probability - (0.5 + step)).abs() < 1e-12);
}

/// Eight packets arrive for seven that can leave: after 150 ms without drops the queue is kept near 15 ms.
#[test]
fn a_steady_overload_is_held_near_the_target() {
    let list: Vec<_> = (0..40_000)
        .map(|n| (n * 875_000, 1500, Capable::No))
        .collect();
    let arrivals = packets(&list);
    let left = through(link(&PIE, Random::new(1, "steady")), &arrivals);
    let wait = |(at, packet): &(i64, Numbered)| at - MS - arrivals[packet.number as usize].0;
    assert!(
        left.iter()
            .take(150)
            .zip(0..)
            .all(|((_, p), n)| p.number == n)
    );
    let late = &left[left.len() / 2..];
    let mean = late.iter().map(wait).sum::<i64>() / late.len() as i64;
    assert!((12 * MS..18 * MS).contains(&mean), "{mean}");
    let share = late.len() as f64 / (late[late.len() - 1].1.number - late[0].1.number) as f64;
    assert!((share - 0.875).abs() < 0.01, "{share}");
}

/// Up to 10 % packets are marked instead of dropped; above that, they are dropped (RFC 8033 section 5.1).
#[test]
fn marks_end_at_ten_percent() {
    let marking = plain::Pie { mark: true, ..PIE };
    let marks = |gap_ns: i64| {
        let list: Vec<_> = (0..40_000)
            .map(|n| (n * gap_ns, 1500, Capable::Ect0))
            .collect();
        let left = through(link(&marking, Random::new(1, "marks")), &packets(&list));
        let late = &left[left.len() / 2..];
        let marked = late.iter().filter(|(_, packet)| packet.marked).count();
        (
            marked,
            late[late.len() - 1].1.number - late[0].1.number + 1 - late.len() as u64,
        )
    };
    // Senders that do not listen need a drop probability of 12.5 %, so that in the end nothing is marked.
    let (marked, dropped) = marks(875_000);
    assert!(marked < 200 && dropped > 1000, "{marked} {dropped}");
}

/// The straightforward twin: probabilities in Linux's integers, everything calculated when it is due.
struct Integers {
    config: plain::Pie,
    probability: u64,
    spread: u128,
    delay: u64,
    before: u64,
    allowance: i64,
    left: Option<i64>,
    queue: Vec<(i64, Numbered)>,
    random: Random,
}

/// Probability 1.
const ONE: u64 = u64::MAX >> 8;

impl Integers {
    fn new(config: &plain::Pie, random: Random) -> Self {
        Integers {
            probability: 0,
            spread: 0,
            delay: 0,
            before: 0,
            allowance: config.burst_ns,
            left: None,
            queue: Vec::new(),
            random,
            config: config.clone(),
        }
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|(_, p)| u64::from(p.bytes)).sum()
    }

    fn update(&mut self, delay: u64, waiting: u64) {
        let scaled = |weight: f64| (weight * ONE as f64 / 1e9) as i128;
        let (mut alpha, mut beta) = (scaled(self.config.alpha), scaled(self.config.beta));
        if self.probability < ONE / 10 {
            (alpha, beta) = (alpha / 2, beta / 2);
            let mut power = 100;
            while power <= 1_000_000 && self.probability < ONE / power {
                (alpha, beta) = (alpha / 4, beta / 4);
                power *= 10;
            }
        }
        let mut delta = alpha * (i128::from(delay) - i128::from(self.config.target_ns))
            + beta * (i128::from(delay) - i128::from(self.before));
        if delta > i128::from(ONE / 50) && self.probability >= ONE / 10 {
            delta = i128::from(ONE / 50);
        }
        if delay > 250_000_000 {
            delta += i128::from(ONE / 50);
        }
        self.probability = (i128::from(self.probability) + delta).clamp(0, ONE.into()) as u64;
        if delay == 0 && self.before == 0 && waiting == 0 {
            self.probability -= self.probability / 64;
        }
        let half = self.config.target_ns as u64 / 2;
        if delay < half && self.before < half && self.probability == 0 {
            self.allowance = self.config.burst_ns;
            self.left = None;
            self.spread = 0;
        }
        self.before = delay;
    }
}

impl Twin for Integers {
    fn tick(&mut self, _: i64) {
        let waiting = self.bytes();
        self.update(self.delay, waiting);
    }

    fn arrive(&mut self, now_ns: i64, mut packet: Numbered) {
        if self.queue.len() >= 1000 {
            self.spread = 0;
            return;
        }
        let half = self.config.target_ns as u64 / 2;
        let spared = self.allowance > 0
            || (self.delay < half && self.probability < ONE / 5)
            || self.bytes() < 2 * 1514;
        let mut strikes = false;
        if !spared {
            self.spread = match self.probability {
                0 => 0,
                own => self.spread + u128::from(own),
            };
            let one = u128::from(ONE);
            strikes = self.spread >= one * 17 / 2
                || (self.spread >= one * 85 / 100
                    && self.random.unit() < self.probability as f64 / ONE as f64);
        }
        if strikes {
            self.spread = 0;
            let marks = self.config.mark && self.probability <= ONE / 10;
            if !(marks && packet.mark_congestion()) {
                return;
            }
        }
        self.queue.push((now_ns, packet));
    }

    fn depart(&mut self, now_ns: i64) -> Option<Numbered> {
        if self.queue.is_empty() {
            return None;
        }
        let (came, packet) = self.queue.remove(0);
        self.delay = match self.queue.is_empty() {
            true => 0,
            false => (now_ns - came) as u64,
        };
        if let Some(left) = self.left {
            self.allowance = (self.allowance - (now_ns - left)).max(0);
        }
        self.left = Some(now_ns);
        Some(packet)
    }
}

proptest! {
    #[test]
    fn the_controller_agrees_with_linux_s_integers(
        delays in prop::collection::vec(prop_oneof![Just(0u64), 0u64..40_000_000, 0u64..400_000_000], 1..300),
    ) {
        let mut twin = Integers::new(&PIE, Random::new(1, "unused"));
        let mut controller = controller();
        for delay in delays {
            twin.update(delay, 1);
            controller.update(delay as f64 / 1e9, true);
            controller.before_s = delay as f64 / 1e9;
            let expected = twin.probability as f64 / ONE as f64;
            prop_assert!((controller.probability - expected).abs() < 1e-6, "{controller:?} {expected}");
            // So that a bound that only one of them has crossed does not tell them apart later.
            controller.probability = expected;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Loads between a half and three times the link's rate, with silences of up to seconds in between.
    #[test]
    fn the_queue_agrees_with_one_that_calculates_at_each_time(
        phases in prop::collection::vec((1i64..21, 1u32..6, 20usize..400, 0i64..3000), 1..6),
        seed in 0u64..1000,
        mark in any::<bool>(),
    ) {
        let mut now = 1;
        let mut list = Vec::new();
        for (gap, thirds, count, silence) in phases {
            for number in 0..count {
                now += gap * 100_000;
                let capable = if number % 3 == 0 { Capable::Ect0 } else { Capable::No };
                list.push((now, thirds * 300, capable));
            }
            now += silence * MS;
        }
        let config = plain::Pie { mark, ..PIE };
        let arrivals = packets(&list);
        let random = Random::new(seed, "pie");
        // 8 Mbit/s: a microsecond for each byte.
        let line = line(8_000_000);
        let link = ManagedLink::new(&line, Pie::new(&line, &config, random.clone()));
        let expected = slow(Integers::new(&config, random), config.update_ns, 1000, &arrivals);
        prop_assert_eq!(through(link, &arrivals), expected);
    }
}

/// Little's law: with 16 KiB measured at 12 Mbit/s, 30,000 bytes wait 20 ms.
#[test]
fn the_departure_rate_measures_the_delay() {
    let by_rate = plain::Pie {
        estimate: DelayEstimate::DepartureRate,
        ..PIE
    };
    let mut pie = queue(&by_rate, Random::new(1, "rate"));
    let mut out = Outbox::new();
    let list: Vec<_> = (0..60).map(|_| (0, 1500, Capable::No)).collect();
    for (at, packet) in packets(&list) {
        let arrival = Arrival {
            packet,
            frame_bytes: 1500,
            idle: false,
        };
        pie.enqueue(at, arrival, &mut out);
    }
    for n in 1..=40 {
        pie.dequeue(n * MS, &mut out);
    }
    assert_eq!(pie.queue.bytes(), 30_000);
    // Eleven packets are the first to reach 16,384 bytes, and the first of them was counted at the start: 10 ms.
    assert!((pie.delay_s() - 0.020).abs() < 0.002, "{}", pie.delay_s());
}
