//! The coupling in numbers, the scheduler, and the whole queue beside the program in RFC 9332.

use super::*;
use crate::stages::twin::{Capable, Numbered, Twin, packets, slow, through};
use inorder_scenario::config::{Framing, Line, QueueLimit};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

/// 8 Mbit/s: a microsecond for each byte.
fn line(limit: QueueLimit) -> Line {
    Line {
        framing: Framing::None,
        buffer: limit.into(),
        ..Line::new(8_000_000)
    }
}

/// The defaults of RFC 9332 appendix A.1 and, for the scheduler, of Linux.
const DUAL: plain::DualPi2 = plain::DualPi2 {
    target_ns: 15 * MS,
    update_ns: 15 * MS,
    alpha: 0.15,
    beta: 3.0,
    coupling: 2.0,
    ramp_from_ns: 800_000,
    ramp_range_ns: 400_000,
    classic_share: 0.1,
};

/// A queue for at most 200 packets.
fn empty() -> DualPi2<Numbered> {
    DualPi2::new(&line(QueueLimit::Packets(200)), &DUAL)
}

/// A queue with many packets of both kinds, and a base probability that does not change.
fn filled(base: f64, capable: Capable) -> (DualPi2<Numbered>, Outbox<Numbered>) {
    let dual = plain::DualPi2 {
        ramp_from_ns: i64::MAX / 2,
        ..DUAL
    };
    let mut queue = DualPi2::new(&Line::new(8_000_000), &dual);
    queue.ticks = Ticks::every(i64::MAX);
    queue.controller.base = base;
    let mut out = Outbox::new();
    let list: Vec<_> = (0..10_000).map(|_| (0, 1000, capable)).collect();
    for (at, packet) in packets(&list) {
        let arrival = Arrival {
            packet,
            frame_bytes: 1000,
            idle: false,
        };
        queue.enqueue(at, arrival, &mut out);
    }
    (queue, out)
}

fn drained(mut queue: DualPi2<Numbered>, out: &mut Outbox<Numbered>) -> (usize, usize) {
    let left: Vec<Numbered> = std::iter::from_fn(|| queue.dequeue(0, out)).collect();
    (
        left.len(),
        left.iter().filter(|packet| packet.marked).count(),
    )
}

/// RFC 9332 section 2.1: p_C = p'^2 and p_CL = k p'. With p' = 0.1, 1 % and 20 %.
#[test]
fn low_latency_is_marked_by_the_square_root() {
    let (queue, mut out) = filled(0.1, Capable::No);
    assert_eq!(drained(queue, &mut out), (9_900, 0));
    assert_eq!(out.counters().dropped_for(Reason::Early), 100);
    let (queue, mut out) = filled(0.1, Capable::Ect0);
    assert_eq!(drained(queue, &mut out), (10_000, 100));
    let (queue, mut out) = filled(0.1, Capable::Ect1);
    let (left, marked) = drained(queue, &mut out);
    assert!(
        left == 10_000 && (1_999..=2_000).contains(&marked),
        "{marked}"
    );
    assert_eq!(out.counters().marked, marked as u64);
}

/// At p' = 1/k, every packet of the L queue is marked and a quarter of both queues dropped (p_Cmax).
#[test]
fn overload_drops_from_both_queues() {
    let (queue, mut out) = filled(0.5, Capable::Ect1);
    let (left, marked) = drained(queue, &mut out);
    assert!(
        (7_499..=7_501).contains(&left) && marked >= left - 1,
        "{left} {marked}"
    );
    let (queue, mut out) = filled(0.5, Capable::Ect0);
    let (left, marked) = drained(queue, &mut out);
    assert!(
        (7_499..=7_501).contains(&left) && marked == 0,
        "{left} {marked}"
    );
}

/// Appendix A.1: alpha 0.15, beta 3, a delay of 25 ms after none.
#[test]
fn the_first_steps_of_the_base_probability() {
    let mut controller = empty().controller;
    controller.update(0.025);
    let first = 0.15 * 0.010 + 3.0 * 0.025;
    assert!((controller.base - first).abs() < 1e-12);
    controller.update(0.025);
    assert!((controller.base - first - 0.15 * 0.010).abs() < 1e-12);
    controller.update(9.0);
    assert_eq!(controller.base, 0.5);
    assert!(controller.is_overloaded());
    controller.update(0.0);
    assert_eq!(controller.base, 0.0);
}

/// The L queue's own ramp: nothing up to 800 us, everything from 1.2 ms on, half at 1 ms; nothing for a lone packet.
#[test]
fn the_ramp_marks_by_the_delay_of_its_own_queue() {
    let (queue, _) = filled(0.0, Capable::Ect1);
    let queue = DualPi2 {
        ramp_from_ns: 800_000,
        ..queue
    };
    let at = |us: u64| queue.ramp(us * 1000);
    assert_eq!(
        (at(800), at(1000), at(1200), at(5000)),
        (0.0, 0.5, 1.0, 1.0)
    );
    assert_eq!(empty().ramp(5 * MS as u64), 0.0);
}

/// While both queues have packets, the C queue gets 10 % of the bytes.
#[test]
fn the_classic_queue_keeps_its_share() {
    let both = (0..2000).flat_map(|_| [(0, 1000, Capable::Ect1), (0, 1000, Capable::No)]);
    let list: Vec<_> = both.collect();
    let dual = plain::DualPi2 {
        alpha: 0.0,
        beta: 0.0,
        ..DUAL
    };
    let line = line(QueueLimit::Unlimited);
    let link = ManagedLink::new(&line, DualPi2::new(&line, &dual));
    let left = through(link, &packets(&list));
    let classic = left[..1000]
        .iter()
        .filter(|(_, p)| p.capable == Capable::No);
    let count = classic.count();
    assert!((99..=102).contains(&count), "{count}");
}

/// RFC 9332 appendix A.1 line by line, with the scheduler as the share of bytes sent so far.
struct Rfc {
    low: Vec<(i64, Numbered)>,
    classic: Vec<(i64, Numbered)>,
    base: f64,
    before: f64,
    low_count: f64,
    low_drops: f64,
    classic_count: f64,
    owed: f64,
}

impl Rfc {
    fn recur(count: &mut f64, likelihood: f64) -> bool {
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }
}

impl Twin for Rfc {
    fn tick(&mut self, now_ns: i64) {
        let head =
            |queue: &Vec<(i64, Numbered)>| queue.first().map_or(0, |(came, _)| now_ns - came);
        let delay = head(&self.low).max(head(&self.classic)) as f64 / 1e9;
        let step = 0.15 * (delay - 0.015) + 3.0 * (delay - self.before);
        self.base = (self.base + step).clamp(0.0, 0.5);
        self.before = delay;
    }

    fn arrive(&mut self, now_ns: i64, packet: Numbered) {
        // The packet being sent is no longer in the queue.
        if self.low.len() + self.classic.len() >= 200 {
            return;
        }
        match packet.capable {
            Capable::Ect1 => self.low.push((now_ns, packet)),
            _ => self.classic.push((now_ns, packet)),
        }
    }

    fn depart(&mut self, now_ns: i64) -> Option<Numbered> {
        let (p_c, p_cl) = (self.base * self.base, 2.0 * self.base);
        loop {
            if self.low.is_empty() && self.classic.is_empty() {
                self.owed = 0.0;
                return None;
            }
            if !self.low.is_empty() && (self.classic.is_empty() || self.owed <= 0.0) {
                let (came, mut packet) = self.low.remove(0);
                let p_l = if p_cl < 1.0 {
                    let above = now_ns - came - 800_000;
                    let own = match above {
                        _ if above <= 0 || self.low.is_empty() => 0.0,
                        _ if above >= 400_000 => 1.0,
                        _ => above as f64 / 400_000.0,
                    };
                    p_cl.max(own)
                } else {
                    if Self::recur(&mut self.low_drops, p_c) {
                        continue;
                    }
                    p_cl
                };
                packet.marked = Self::recur(&mut self.low_count, p_l);
                if !self.classic.is_empty() {
                    self.owed += 0.1 * f64::from(packet.bytes);
                }
                return Some(packet);
            }
            let (_, mut packet) = self.classic.remove(0);
            if Self::recur(&mut self.classic_count, p_c) {
                if packet.capable == Capable::No || p_cl >= 1.0 {
                    continue;
                }
                packet.marked = true;
            }
            if !self.low.is_empty() {
                self.owed -= (1.0 - 0.1) * f64::from(packet.bytes);
            }
            return Some(packet);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_queue_agrees_with_the_program_of_the_rfc(
        phases in prop::collection::vec((3i64..30, 1u32..6, 20usize..400, 0i64..2000, 0u8..4), 1..6),
    ) {
        let mut now = 1;
        let mut list = Vec::new();
        for (gap, thirds, count, silence, kinds) in phases {
            for number in 0..count {
                now += gap * 100_000;
                let capable = match (kinds, number % 3) {
                    (0, _) | (3, 0) => Capable::No,
                    (1, _) | (3, 1) => Capable::Ect0,
                    _ => Capable::Ect1,
                };
                list.push((now, thirds * 300, capable));
            }
            now += silence * MS;
        }
        let rfc = Rfc {
            low: Vec::new(),
            classic: Vec::new(),
            base: 0.0,
            before: 0.0,
            low_count: 0.0,
            low_drops: 0.0,
            classic_count: 0.0,
            owed: 0.0,
        };
        let arrivals = packets(&list);
        let expected = slow(rfc, 15 * MS, 1000, &arrivals);
        prop_assert_eq!(through(ManagedLink::new(&line(QueueLimit::Packets(200)), empty()), &arrivals), expected);
    }
}
