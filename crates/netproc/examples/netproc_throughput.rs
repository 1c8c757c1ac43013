//! Measures firings per second on one core.
//!
//! `cargo run --release -p inorder-netproc --example netproc_throughput -- [packets] [hops] [scheme] [bytes,bytes...]`
//!
//! Prints one line of JSON: the firings of the run (timed ones, and all), and the rates of its fastest tenth.
//! Processor time is used where the system provides it, so that other load on the machine has little influence. A
//! tenth is long compared with the bursts in which packets leave.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

use std::time::Instant;

use inorder_netproc::{Config, Length, Traffic, run_while};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let packets = arguments.next().map_or(Ok(100_000), |n| n.parse())?;
    let hops = arguments.next().map_or(Ok(1), |n| n.parse())?;
    let scheme = arguments.next().unwrap_or_else(|| "contiguous".to_owned());
    let lengths = arguments.next().unwrap_or_else(|| "64".to_owned());
    let lengths = lengths.split(',').map(|bytes| {
        let bytes = bytes.parse()?;
        Ok(Length { bytes, share: 1.0 })
    });
    let lengths = lengths.collect::<Result<Vec<_>, std::num::ParseIntError>>()?;
    let traffic = Traffic {
        lengths,
        ..Traffic::default()
    };
    let config = Config {
        packets,
        hops,
        scheme,
        traffic,
        ..Config::default()
    };

    let (mut at, mut left, mut fastest) = (seconds(), 0, 0.0f64);
    let outcome = run_while(&config, |now_left| {
        if left == 0 || now_left - left >= packets / 10 {
            let now = seconds();
            if left > 0 {
                fastest = fastest.max((now_left - left) as f64 / (now - at));
            }
            (at, left) = (now, now_left);
        }
        true
    })?;
    let per_packet = |firings: u64| firings as f64 / packets as f64;
    let (all, timed) = (outcome.firings.all, outcome.firings.timed);
    println!(
        "{{\"packets\":{packets},\"hops\":{hops},\"gbps\":{:.4},\"all\":{all},\"timed\":{timed},\
         \"all_per_second\":{:.0},\"timed_per_second\":{:.0}}}",
        outcome.throughput_gbps,
        fastest * per_packet(all),
        fastest * per_packet(timed)
    );
    Ok(())
}

/// Processor time of this thread, or the time of day if there is none, from an arbitrary start.
fn seconds() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = told.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    ns.map_or_else(
        || START.with(Instant::elapsed).as_secs_f64(),
        |ns| ns * 1e-9,
    )
}
