//! Measures firings per second on one core.
//!
//! `cargo run --release -p inorder-petri --example petri_throughput -- [rounds] [net]`
//!
//! Three coloured nets: a closed ring with one resource (every firing takes time), M/M/4/32, and a simplified network
//! processor with 8 engines of 8 threads that forwards 64-byte packets (command queues, bus, DRAM, SRAM, transmit
//! buffer in strict order). Three plain nets: M/M/1, a crowd of 10,000 tokens with servers of their own, and a switch with
//! 64 ports. Prints one line per net: timed firings and all firings, in millions per second of processor time, the
//! fastest of many short rounds of about 4000 firings, so that other load on the machine has little influence.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

use std::time::Instant;

use inorder_petri::statistics::Simulation;

mod forwarder;
mod plain;
mod small;

/// A net and the number of ticks in a round of about 4000 firings.
pub struct Case {
    name: &'static str,
    net: Box<dyn Simulation>,
    round_ticks: u64,
}

type Failed = Box<dyn std::error::Error>;

type Make = fn() -> Result<Case, Failed>;

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(Ok(2000), |n| n.parse())?;
    let only = arguments.next();
    println!("{:<12} {:>14} {:>14}", "net", "timed M/s", "all M/s");
    let cases: [(&str, Make); 6] = [
        ("ring", || Ok(small::ring()?)),
        ("mmck", || Ok(small::mmck()?)),
        ("forwarder", || Ok(forwarder::case()?)),
        ("queue", plain::queue),
        ("crowd", plain::crowd),
        ("switch", plain::switch),
    ];
    for (name, case) in cases {
        if only.as_deref().is_none_or(|only| only == name) {
            measure(case()?, rounds)?;
        }
    }
    Ok(())
}

fn measure(mut case: Case, rounds: u64) -> Result<(), Failed> {
    let (mut timed, mut all) = (0.0f64, 0.0f64);
    for round in 1..=rounds {
        let (before, end) = (case.firings(), round * case.round_ticks);
        let start = seconds();
        case.net.advance(end)?;
        let seconds = seconds() - start;
        let after = case.firings();
        timed = timed.max((after.0 - before.0) as f64 / seconds);
        all = all.max((after.1 - before.1) as f64 / seconds);
    }
    println!(
        "{:<12} {:>14.2} {:>14.2}",
        case.name,
        timed / 1e6,
        all / 1e6
    );
    Ok(())
}

impl Case {
    /// Number of (timed, all) firings so far.
    fn firings(&self) -> (u64, u64) {
        let (layout, totals) = (self.net.layout(), self.net.totals(0));
        let each = layout.transitions.iter().zip(&totals.transitions);
        let timed = each.filter(|((_, servers), _)| servers.is_some());
        (
            timed.map(|(_, total)| total.firings).sum(),
            totals.firings(),
        )
    }
}

/// Processor time of this thread, or the time of day if there is none, from an arbitrary start.
fn seconds() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    // Linux brings the time up to date when a thread gives way.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ns.map_or_else(
        || START.with(Instant::elapsed).as_secs_f64(),
        |ns| ns * 1e-9,
    )
}
