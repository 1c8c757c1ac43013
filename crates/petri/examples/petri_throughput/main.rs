//! Measures firings per second on one core.
//!
//! `cargo run --release -p inorder-petri --example petri_throughput -- [rounds] [net]`
//!
//! Three coloured nets: a closed ring with one resource (every firing takes time), M/M/4/32, and a simplified network
//! processor with 8 engines of 8 threads that forwards 64-byte packets (command queues, bus, DRAM, SRAM, transmit
//! buffer in strict order). Prints one line per net: timed firings and all firings, in millions per second, the
//! fastest of many short rounds, so that other load on the machine has little influence.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

use std::time::Instant;

use inorder_petri::coloured::{Engine, Token, TransitionId};

mod forwarder;
mod small;

/// A net, its timed transitions, and the number of ticks in a round of about 4000 firings.
pub struct Case<T: Token> {
    name: &'static str,
    engine: Engine<T>,
    timed: Vec<TransitionId>,
    immediate: Vec<TransitionId>,
    round_ticks: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(Ok(2000), |n| n.parse())?;
    let only = arguments.next();
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    println!("{:<12} {:>14} {:>14}", "net", "timed M/s", "all M/s");
    if wanted("ring") {
        measure(small::ring()?, rounds)?;
    }
    if wanted("mmck") {
        measure(small::mmck()?, rounds)?;
    }
    if wanted("forwarder") {
        measure(forwarder::case()?, rounds)?;
    }
    Ok(())
}

fn measure<T: Token>(mut case: Case<T>, rounds: u32) -> Result<(), Box<dyn std::error::Error>> {
    let (mut timed, mut all) = (0.0f64, 0.0f64);
    for _ in 0..rounds {
        let before = case.firings();
        let start = Instant::now();
        case.engine
            .run_until(case.engine.now() + case.round_ticks, &mut ())?;
        let seconds = start.elapsed().as_secs_f64();
        let after = case.firings();
        timed = timed.max((after.0 - before.0) as f64 / seconds);
        all = all.max((after.0 + after.1 - before.0 - before.1) as f64 / seconds);
    }
    println!(
        "{:<12} {:>14.2} {:>14.2}",
        case.name,
        timed / 1e6,
        all / 1e6
    );
    Ok(())
}

impl<T: Token> Case<T> {
    /// Number of (timed, immediate) firings so far.
    fn firings(&self) -> (u64, u64) {
        let sum = |of: &[TransitionId]| of.iter().map(|&t| self.engine.firings(t)).sum();
        (sum(&self.timed), sum(&self.immediate))
    }
}
