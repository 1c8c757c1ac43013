//! Packets per second through a sorter on one core.
//!
//! `cargo run --release --example sort_throughput -- [sorter] [packets per round] [batch] [workload]`
//!
//! A workload is a fixed sequence of arrivals, repeated with advancing sequence numbers. The time covers making the
//! `Meta`, finding the flow (a 40-byte key, hashed and compared in full), sorting, and storing the delivered
//! references one after another, as a driver does for the stack. Reading packet headers is not included. The output
//! has one line per workload: its name, million packets per second (the fastest of many short rounds, to exclude
//! interruptions by other processes), and the percentage of reordered packets before and after.

use std::hint::black_box;
use std::time::Instant;

use inorder_sort::{AnySorter, ConfigError, FourTuple, Meta, Sorter, SorterConfig, Surroundings};

/// Arrivals of one repetition; a multiple of every reasonable batch size.
const LAP: usize = 8192;
const ROUNDS: usize = 200;
/// Number of packets a sorter may hold from one batch to the next.
const MAX_HELD: usize = 4096;
/// Payload bytes per packet.
const LEN: u32 = 1448;

/// A packet: the fields that parsing its headers would give, and its number.
struct Packet {
    flow: FourTuple,
    /// Position in its flow, within one repetition.
    index: u32,
}

struct Workload {
    name: &'static str,
    lap: Vec<Packet>,
    /// Packets a flow sends in one repetition.
    per_flow: u32,
    flows: usize,
}

impl Workload {
    /// Room for all of its flows.
    fn around(&self) -> Surroundings {
        let mut around = Surroundings::default();
        around.flows = around.flows.max(self.flows);
        around
    }
}

fn flow(n: usize) -> FourTuple {
    let host = (n as u32).to_be_bytes();
    FourTuple::v4([10, host[1], host[2], host[3]], 443, [192, 0, 2, 1], 50_000)
}

/// Every tenth packet arrives 1 to 8 places late.
fn one_in_ten_late(count: usize) -> Vec<u32> {
    let mut places: Vec<(usize, u32)> = (0..count as u32)
        .map(|i| {
            let late = if i % 10 == 3 { 1 + i / 10 % 8 } else { 0 };
            // Half a place more than the packet it follows.
            (2 * (i + late) as usize + usize::from(late > 0), i)
        })
        .collect();
    places.sort_unstable();
    places.into_iter().map(|(_, i)| i).collect()
}

fn workloads() -> Vec<Workload> {
    let one = |name, order: Vec<u32>| Workload {
        name,
        lap: order
            .into_iter()
            .map(|index| Packet {
                flow: flow(0),
                index,
            })
            .collect(),
        per_flow: LAP as u32,
        flows: 1,
    };
    let interleaved = |name, flows: usize, per_flow: u32| Workload {
        name,
        lap: (0..per_flow)
            .flat_map(|index| {
                (0..flows).map(move |n| Packet {
                    flow: flow(n),
                    index,
                })
            })
            .collect(),
        per_flow,
        flows,
    };
    vec![
        one("in-order", (0..LAP as u32).collect()),
        one("late-10-percent", one_in_ten_late(LAP)),
        interleaved("flows-8-interleaved", 8, LAP as u32 / 8),
        interleaved("flows-10000-interleaved", 10_000, 2),
    ]
}

/// Sorts `packets` packets and returns the packets per second.
#[allow(clippy::disallowed_methods)] // A benchmark measures real time.
fn round<'p>(mut sorter: Any<'p>, load: &'p Workload, packets: usize, batch: usize) -> f64 {
    let Some(any) = load.lap.first() else {
        return 0.0;
    };
    let mut up = vec![any; batch + MAX_HELD];
    let (mut done, mut base) = (0, 0u32);
    let started = Instant::now();
    while done < packets {
        for arrivals in load.lap.chunks(batch) {
            let meta = |packet: &Packet| {
                let seq = base.wrapping_add(packet.index.wrapping_mul(LEN));
                Meta::data(packet.flow, seq, LEN)
            };
            let now_ns = done as i64;
            black_box(sorter.sort_batch(arrivals, meta, |packet| packet, now_ns, &mut up));
            black_box(&up);
        }
        done += load.lap.len();
        base = base.wrapping_add(load.per_flow.wrapping_mul(LEN));
    }
    done as f64 / started.elapsed().as_secs_f64()
}

/// Percentage of the packets of flow 0 that arrive below the largest number seen so far.
fn reordered<'a>(packets: impl Iterator<Item = &'a Packet>) -> f64 {
    let (mut top, mut late, mut all) = (0, 0, 0);
    for p in packets.filter(|p| p.flow == flow(0)) {
        all += 1;
        late += u32::from(p.index < top);
        top = top.max(p.index);
    }
    100.0 * f64::from(late) / f64::from(all)
}

/// Percentage of reordered packets of one repetition after sorting.
fn reordered_after<'p>(mut sorter: Any<'p>, load: &'p Workload, batch: usize) -> f64 {
    let mut up: Vec<&Packet> = Vec::new();
    for arrivals in load.lap.chunks(batch) {
        for p in arrivals {
            let meta = Meta::data(p.flow, p.index.wrapping_mul(LEN), LEN);
            sorter.push(&meta, p, 0, &mut |p| up.push(p));
        }
        sorter.end_of_batch(0, &mut |p| up.push(p));
    }
    sorter.flush(0, &mut |p| up.push(p));
    reordered(up.into_iter())
}

/// The sorter, given by name and settings, for example `srpic:block_size=32`.
type Any<'p> = AnySorter<FourTuple, &'p Packet>;

fn main() -> Result<(), ConfigError> {
    let mut args = std::env::args().skip(1);
    let config: SorterConfig = args.next().as_deref().unwrap_or("srpic").parse()?;
    let mut numbers = args.by_ref().take(2).map(|a| a.parse::<usize>());
    let packets = numbers.next().and_then(Result::ok).unwrap_or(200_000);
    let batch = numbers.next().and_then(Result::ok).unwrap_or(64).max(1);
    let wanted = args.next();
    let is_wanted = |load: &Workload| wanted.as_ref().is_none_or(|name| name == load.name);
    for load in workloads().into_iter().filter(is_wanted) {
        let mut fastest = 0.0;
        for _ in 0..ROUNDS {
            let rate = round(config.build(&load.around())?, &load, packets, batch);
            fastest = f64::max(fastest, rate);
        }
        println!(
            "{config} {} {:.1} {:.2} {:.2}",
            load.name,
            fastest / 1e6,
            reordered(load.lap.iter()),
            reordered_after(config.build(&load.around())?, &load, batch),
        );
    }
    Ok(())
}
