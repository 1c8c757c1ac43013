//! Firings a second on one core.
//!
//! `cargo run --release -p inorder-netproc --example netproc_throughput -- [packets] [hops] [scheme] [bytes,bytes...]`
//!
//! One line of JSON: firings of the run, timed and all, and the rates of the fastest stretch of a hundredth of it, so
//! that a busy machine does not count.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

use std::time::Instant;

use inorder_netproc::{Chain, Config, Length, Traffic};

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

    let chain = Chain::new(&config)?;
    let (mut at, mut left, mut fastest) = (Instant::now(), 0, 0.0f64);
    let outcome = chain.run(&config, |packets| {
        let now = Instant::now();
        if left > 0 {
            fastest = fastest.max((packets - left) as f64 / (now - at).as_secs_f64());
        }
        (at, left) = (now, packets);
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
