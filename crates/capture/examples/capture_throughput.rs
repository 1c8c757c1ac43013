//! Measures frames per second of reading blocks alone, and of reading and parsing.
//!
//! `cargo run --profile quick --example capture_throughput [-- FILE]`; without a file a million
//! header-only frames are made in memory. Every figure is the best of several rounds.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

mod traffic;

use inorder_capture::{Block, Capture, PcapWriter};
use inorder_wire::{Frame, LinkType, Packet};
use std::hint::black_box;
use std::io::Cursor;
use std::path::Path;
use std::time::Instant;
use traffic::{Options, Traffic};

const ROUNDS: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1);
    let made = if file.is_none() { made()? } else { Vec::new() };
    let open = || match &file {
        Some(file) => Capture::open(Path::new(file)),
        None => Capture::from_reader("made", Box::new(Cursor::new(made.clone()))),
    };
    let mut block = Block::default();
    measure("read_block", &open, |capture| {
        let mut frames = 0;
        while capture.read_block(&mut block).unwrap_or(false) {
            frames += block.len() as u64;
        }
        frames
    })?;
    measure("read_block, frames()", &open, |capture| {
        let (mut frames, mut sum) = (0, 0);
        while capture.read_block(&mut block).unwrap_or(false) {
            for frame in block.frames() {
                frames += 1;
                sum += frame.ts_ns ^ i64::from(frame.orig_len);
            }
        }
        black_box(sum);
        frames
    })?;
    measure("read_block, frames(), parse", &open, |capture| {
        let (mut frames, mut sum) = (0, 0u64);
        while capture.read_block(&mut block).unwrap_or(false) {
            for frame in block.frames() {
                frames += 1;
                // By reference: copying the parts costs as much as parsing.
                if let Packet::Tcp(key, _, segment) = &inorder_wire::parse(&frame) {
                    sum ^= u64::from(segment.seq) ^ key.low.addr() as u64;
                    black_box(segment);
                }
            }
        }
        black_box(sum);
        frames
    })?;
    parse_alone(open()?);
    Ok(())
}

fn made() -> std::io::Result<Vec<u8>> {
    let mut traffic = Traffic::new(Options {
        packets: 1_000_000,
        connections: 100,
        displaced: 1.0,
        seed: 1,
        snaplen: 0,
    });
    let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, 128)?;
    while let Some(captured) = traffic.next() {
        writer.write(&Frame {
            ts_ns: captured.ts_ns,
            number: 0,
            link: LinkType::ETHERNET,
            orig_len: captured.orig_len,
            data: captured.data,
        })?;
    }
    Ok(writer.into_inner())
}

/// Runs `work` on a fresh capture in each round and prints the best round.
fn measure<E>(
    name: &str,
    open: &impl Fn() -> Result<Capture, E>,
    mut work: impl FnMut(&mut Capture) -> u64,
) -> Result<(), E> {
    let (mut best, mut frames) = (f64::MAX, 0);
    for _ in 0..ROUNDS {
        let mut capture = open()?;
        let start = Instant::now();
        frames = work(&mut capture);
        best = best.min(start.elapsed().as_secs_f64());
    }
    print(name, frames, best);
    Ok(())
}

fn print(name: &str, frames: u64, seconds: f64) {
    println!(
        "{name:<28} {frames:>9} frames {:>7.1} M/s {:>6.1} ns each",
        frames as f64 / seconds / 1e6,
        seconds * 1e9 / frames as f64
    );
}

/// Parses the frames of the first block repeatedly, without reading.
fn parse_alone(mut capture: Capture) {
    let mut block = Block::default();
    if !capture.read_block(&mut block).unwrap_or(false) {
        return;
    }
    let frames: Vec<Frame<'_>> = block.frames().collect();
    let (mut best, repeat) = (f64::MAX, 2);
    for _ in 0..20 * ROUNDS {
        let start = Instant::now();
        for frame in frames.iter().cycle().take(frames.len() * repeat) {
            black_box(&inorder_wire::parse(frame));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    print("parse alone", (frames.len() * repeat) as u64, best);
}
