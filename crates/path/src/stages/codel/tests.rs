//! The control law drop by drop, and the whole link compared with the program in RFC 8289.

use super::*;
use crate::{Path, Probe, Timeline};
use inorder_scenario::config::{Framing, Line, QueueLimit};
use proptest::prelude::*;
use std::collections::VecDeque;

const MS: i64 = 1_000_000;

/// 1500 bytes in a millisecond.
fn line(limit: QueueLimit) -> Line {
    Line {
        buffer: limit.into(),
        framing: Framing::None,
        ..Line::new(12_000_000)
    }
}

/// The defaults of RFC 8289 section 4.3.
const CODEL: plain::Codel = plain::Codel {
    target_ns: 5 * MS,
    interval_ns: 100 * MS,
    mark: true,
};

fn link<P: Packet>(limit: QueueLimit, codel: &plain::Codel) -> CodelLink<P> {
    let line = line(limit);
    ManagedLink::new(&line, Codel::new(&line, codel))
}

/// A packet that may support marking.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Marked {
    number: u64,
    capable: bool,
    marked: bool,
}

impl Packet for Marked {
    type Flow = u32;
    fn wire_bytes(&self) -> u32 {
        1500
    }
    fn flow(&self) -> u32 {
        0
    }
    fn mark_congestion(&mut self) -> bool {
        self.marked = self.capable;
        self.capable
    }
}

/// Sends one packet at each of these times; returns what arrives, and when.
fn through(link: CodelLink<Marked>, times: &[i64], capable: bool) -> Vec<(i64, Marked)> {
    let mut line = Timeline::new(Path::new(vec![link.into()]));
    for (number, &at) in times.iter().enumerate() {
        let packet = Marked {
            number: number as u64,
            capable,
            marked: false,
        };
        line.push(at, packet);
    }
    std::iter::from_fn(|| line.pop(i64::MAX)).collect()
}

/// The departure times at which a packet was dropped before: the gaps in the numbers that arrive.
fn drops(arrived: &[(i64, Marked)]) -> Vec<i64> {
    arrived
        .windows(2)
        .filter(|pair| pair[1].1.number != pair[0].1.number + 1)
        .map(|pair| pair[0].0)
        .collect()
}

/// Five packets in four milliseconds, without end: the queue stays above the target from 25 ms on.
#[test]
fn the_rate_of_drops_increases_while_the_queue_stands() {
    let times: Vec<i64> = (0..1000).map(|n| n * 800_000).collect();
    let arrived = through(link(QueueLimit::Unlimited, &CODEL), &times, false);
    let drops = drops(&arrived);
    // The first packet that waited 5 ms left at 26 ms, and 100 ms later the first is dropped.
    let first = drops[0];
    assert!((120 * MS..135 * MS).contains(&first), "{first}");
    // Then after 100 ms, 71 ms, 58 ms, ...: interval / sqrt(n), on the grid of departures.
    let law = |n: f64| (100.0 / n.sqrt() * MS as f64) as i64;
    let mut expected = first;
    for (n, &at) in drops.iter().enumerate().skip(1).take(8) {
        expected += law(n as f64);
        assert!(
            (expected - 2 * MS..=expected + 2 * MS).contains(&at),
            "{n}: {at} {expected}"
        );
    }
}

/// A burst that drains within 50 ms is not affected.
#[test]
fn a_burst_shorter_than_the_interval_passes() {
    let times = vec![0; 50];
    let arrived = through(link(QueueLimit::Unlimited, &CODEL), &times, false);
    assert_eq!(arrived.len(), 50);
}

/// A full queue drops new packets, like any queue.
#[test]
fn a_full_queue_drops_arrivals() {
    let arrived = through(link(QueueLimit::Packets(10), &CODEL), &[0; 50], false);
    assert_eq!(arrived.len(), 11);
}

/// Packets that can be marked are marked where they would have been dropped, and none is lost.
#[test]
fn marks_replace_drops() {
    let times: Vec<i64> = (0..1000).map(|n| n * 800_000).collect();
    let without = through(link(QueueLimit::Unlimited, &CODEL), &times, false);
    let marking = through(link(QueueLimit::Unlimited, &CODEL), &times, true);
    assert_eq!(marking.len(), 1000);
    let first = marking
        .iter()
        .find(|(_, packet)| packet.marked)
        .map(|(at, _)| *at);
    assert!(first.is_some_and(|at| (at - drops(&without)[0]).abs() <= 2 * MS));
    let never = plain::Codel {
        mark: false,
        ..CODEL
    };
    let never = through(link(QueueLimit::Unlimited, &never), &times, true);
    assert_eq!(never.len(), without.len());
}

/// After the load ends the queue becomes empty, and the next load starts with the rate of drops that was right
/// before.
#[test]
fn the_rate_of_drops_is_remembered() {
    let overload = |from: i64| (0..2000).map(move |n| from + n * 800_000);
    let times: Vec<i64> = overload(0).chain(overload(2100 * MS)).collect();
    let arrived = through(link(QueueLimit::Unlimited, &CODEL), &times, false);
    let drops = drops(&arrived);
    let again: Vec<i64> = drops.into_iter().filter(|&at| at > 2100 * MS).collect();
    // The first two drops under the second load are closer than the interval.
    assert!(again[1] - again[0] < 60 * MS, "{:?}", &again[..4]);
}

/// RFC 8289 section 5, line by line, for a queue that is asked for a packet whenever the link is free.
struct Rfc {
    queue: VecDeque<(i64, u64, u32)>,
    bytes: u64,
    largest: u32,
    first_above: i64,
    drop_next: i64,
    count: u32,
    last_count: u32,
    dropping: bool,
    dropped: Vec<u64>,
}

impl Rfc {
    fn do_dequeue(&mut self, now: i64) -> (Option<u64>, bool) {
        let Some((came, number, bytes)) = self.queue.pop_front() else {
            self.first_above = 0;
            return (None, false);
        };
        self.bytes -= u64::from(bytes);
        let mut ok = false;
        if now - came < 5 * MS || self.bytes <= u64::from(self.largest) {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + 100 * MS;
        } else if now >= self.first_above {
            ok = true;
        }
        (Some(number), ok)
    }

    fn law(t: i64, count: u32) -> i64 {
        t + (100.0 * MS as f64 / f64::from(count).sqrt()) as i64
    }

    fn dequeue(&mut self, now: i64) -> Option<u64> {
        let (mut packet, mut ok) = self.do_dequeue(now);
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(packet);
                self.count += 1;
                (packet, ok) = self.do_dequeue(now);
                if ok {
                    self.drop_next = Self::law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            self.dropped.extend(packet);
            (packet, _) = self.do_dequeue(now);
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 1600 * MS {
                self.count = delta;
            }
            self.drop_next = Self::law(now, self.count);
            self.last_count = self.count;
        }
        packet
    }

    /// Packet numbers in the order of departure, and the dropped ones.
    fn run(arrivals: &[(i64, u32)]) -> (Vec<(i64, u64)>, Vec<u64>) {
        let mut rfc = Rfc {
            queue: VecDeque::new(),
            bytes: 0,
            largest: 0,
            first_above: 0,
            drop_next: 0,
            count: 0,
            last_count: 0,
            dropping: false,
            dropped: Vec::new(),
        };
        let (mut sent, mut free, mut next) = (Vec::new(), 0, 0);
        loop {
            let arrival = arrivals.get(next).map(|&(at, _)| at);
            // The link takes a packet as soon as it is free and a packet is waiting, before arrivals at the same
            // time.
            if !rfc.queue.is_empty() && arrival.is_none_or(|at| free <= at) {
                let sizes: Vec<(u64, u32)> = rfc.queue.iter().map(|&(_, n, b)| (n, b)).collect();
                if let Some(number) = rfc.dequeue(free) {
                    let bytes = sizes
                        .iter()
                        .find(|&&(n, _)| n == number)
                        .map_or(0, |&(_, b)| b);
                    // 12 Mbit/s: 2000 ns for three bytes.
                    free += i64::from(bytes) * 2000 / 3;
                    sent.push((free, number));
                }
                continue;
            }
            let Some(&(at, bytes)) = arrivals.get(next) else {
                return (sent, rfc.dropped);
            };
            free = free.max(at);
            rfc.largest = rfc.largest.max(bytes);
            rfc.bytes += u64::from(bytes);
            rfc.queue.push_back((at, next as u64, bytes));
            next += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_queue_agrees_with_the_program_of_the_rfc(
        phases in proptest::collection::vec((1i64..40, 1u32..4, 20usize..600), 1..6),
    ) {
        let mut now = 1;
        let mut arrivals = Vec::new();
        for (gap, thirds, packets) in phases {
            for _ in 0..packets {
                // Times are multiples of the service time, so that both clocks agree to the nanosecond.
                now += gap * 100_000;
                arrivals.push((now, thirds * 300));
            }
        }
        let mut line = Timeline::new(Path::new(vec![
            link(QueueLimit::Unlimited, &CODEL).into(),
        ]));
        for (number, &(at, bytes)) in arrivals.iter().enumerate() {
            line.push(at, Probe::new(number as u64, bytes));
        }
        let left: Vec<(i64, u64)> =
            std::iter::from_fn(|| line.pop(i64::MAX)).map(|(at, p)| (at, p.number)).collect();
        let (expected, dropped) = Rfc::run(&arrivals);
        prop_assert_eq!(left.len() + dropped.len(), arrivals.len());
        prop_assert_eq!(left, expected);
    }
}
