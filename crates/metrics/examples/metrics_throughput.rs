//! Measures packets per second of reorder density alone and of all metrics together, next to a straightforward
//! implementation of all metrics.
//!
//! `cargo run --release -p inorder-metrics --example metrics_throughput [packets]`
//!
//! The straightforward implementation keeps every arrival, a hash set for copies, running maxima for extents and tree
//! sets for RFC 5236. Both must give the same numbers.
#![allow(clippy::disallowed_methods)] // A benchmark reads the clock.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hint::black_box;
use std::time::Instant;

use inorder_metrics::{Config, Displacements, Metrics, ReorderDensity, Summary};

const THRESHOLD: u16 = 200;
const REPEATS: u32 = 5;

/// Numbers 1.. of which `percent` per cent arrive 1 to 20 positions late.
fn stream(packets: u64, percent: u64) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        // xorshift64 (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut due: Vec<(u64, u64)> = (1..=packets)
        .map(|seq| match random() % 100 < percent {
            true => (4 * seq + 4 * (1 + random() % 20) + 1, seq),
            false => (4 * seq, seq),
        })
        .collect();
    due.sort_unstable();
    due.into_iter().map(|(_, seq)| seq).collect()
}

fn measure(arrivals: &[u64]) -> Summary {
    let config = Config {
        displacement_threshold: THRESHOLD,
        buffer_threshold: THRESHOLD,
        ..Config::default()
    };
    let mut metrics = Metrics::new(config);
    for (time, seq) in (0i64..).zip(arrivals) {
        black_box(metrics.update(*seq, 1000 * time, 1500));
    }
    metrics.finish()
}

fn measure_density(arrivals: &[u64]) -> Displacements {
    let mut density = ReorderDensity::new(THRESHOLD);
    for seq in arrivals {
        density.update(black_box(*seq));
    }
    density.finish()
}

/// The numbers that both implementations must agree on.
#[derive(PartialEq, Debug, Default)]
struct Answer {
    reordered: u64,
    extents: u64,
    late_ns: u64,
    byte_offsets: u64,
    n_reordered: u64,
    displaced: u64,
    occupancy: u64,
}

impl Answer {
    fn of(summary: &Summary) -> Answer {
        let order = &summary.order;
        let moved = order.displacements.counts();
        Answer {
            reordered: summary.counts.reordered,
            extents: order.extents.sum() as u64,
            late_ns: order.late_ns.sum() as u64,
            byte_offsets: order.extent_bytes.sum() as u64,
            n_reordered: summary.order.n_reordering.cumulative().iter().sum(),
            displaced: moved.map(|(d, count)| d.unsigned_abs() * count).sum(),
            occupancy: summary.occupancy.counts().map(|(k, count)| k * count).sum(),
        }
    }
}

fn neighbour(arrivals: &[u64]) -> Answer {
    let mut answer = Answer::default();
    let (mut seen, mut kept, mut maxima) = (HashSet::new(), Vec::new(), Vec::new());
    for (time, seq) in (0i64..).zip(arrivals) {
        if !seen.insert(*seq) {
            continue;
        }
        let highest = maxima.last().copied().unwrap_or(0);
        if *seq < highest {
            let j = maxima.partition_point(|max| max < seq);
            let later: &[(u64, i64, u64)] = &kept[j..];
            answer.reordered += 1;
            answer.extents += later.len() as u64;
            answer.late_ns += (1000 * time - later[0].1) as u64;
            let above = later.iter().filter(|p| p.0 > *seq);
            answer.byte_offsets += above.map(|p| p.2).sum::<u64>();
            let n = later.iter().rev().take_while(|p| p.0 > *seq).count();
            answer.n_reordered += n as u64;
        }
        kept.push((*seq, 1000 * time, 1500));
        maxima.push(highest.max(*seq));
    }
    answer.displaced = neighbour_density(arrivals);
    answer.occupancy = neighbour_occupancy(arrivals);
    answer
}

fn neighbour_density(arrivals: &[u64]) -> u64 {
    let dt = i64::from(THRESHOLD);
    let mut input = arrivals.iter().copied();
    let (mut window, mut known) = (VecDeque::new(), BTreeSet::new());
    for seq in input.by_ref().take(usize::from(THRESHOLD) + 1) {
        window.push_back(seq);
        known.insert(seq);
    }
    let (mut index, mut counts) = (0, HashMap::new());
    while let Some(seq) = window.pop_front() {
        index = known.range(index..).next().copied().unwrap_or(index);
        let d = index as i64 - seq as i64;
        if d.abs() <= dt {
            *counts.entry(d).or_insert(0u64) += 1;
            known.remove(&index);
            index += 1;
        } else {
            known.remove(&seq);
        }
        if let Some(next) = input.find(|seq| *seq >= index && !known.contains(seq)) {
            window.push_back(next);
            known.insert(next);
        }
    }
    counts
        .iter()
        .map(|(d, count)| d.unsigned_abs() * count)
        .sum()
}

fn neighbour_occupancy(arrivals: &[u64]) -> u64 {
    let (mut buffer, mut expected, mut sum) = (BTreeSet::new(), 1, 0);
    for &seq in arrivals {
        if seq < expected || !buffer.insert(seq) {
            continue;
        }
        if buffer.len() > usize::from(THRESHOLD) && seq != expected {
            expected = buffer.first().copied().unwrap_or(seq);
        }
        while buffer.remove(&expected) {
            expected += 1;
        }
        sum += buffer.len() as u64;
    }
    sum
}

/// The fastest of a few runs, million packets per second.
fn rate<T>(packets: usize, mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::MAX;
    let mut result = None;
    for _ in 0..REPEATS {
        let start = Instant::now();
        result = Some(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    match result {
        Some(result) => (packets as f64 / best / 1e6, result),
        None => unreachable!("at least one repeat"),
    }
}

fn main() {
    let packets = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(4_000_000);
    println!("{packets} packets, DT = BT = {THRESHOLD}, fastest of {REPEATS}; million packets/s");
    println!(
        "{:<12}{:>8}{:>10}{:>14}{:>8}",
        "displaced", "RD", "metrics", "neighbour", "ratio"
    );
    for percent in [0, 1, 10] {
        let arrivals = stream(packets, percent);
        let (density, displacements) = rate(arrivals.len(), || measure_density(&arrivals));
        let (fast, summary) = rate(arrivals.len(), || measure(&arrivals));
        let (slow, answer) = rate(arrivals.len(), || neighbour(&arrivals));
        assert_eq!(Answer::of(&summary), answer, "both must agree");
        assert_eq!(
            displacements, summary.order.displacements,
            "alone or together"
        );
        println!(
            "{percent:>7} %{density:>11.1}{fast:>10.1}{slow:>14.2}{:>8.1}",
            fast / slow
        );
    }
}
