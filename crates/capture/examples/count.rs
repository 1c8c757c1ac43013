//! Counts what `inorder_wire::parse` makes of the frames of capture files.
//!
//! `cargo run --release --example count -- FILE...`

use inorder_capture::{Block, Capture};
use inorder_wire::{Gate, Has, Packet};
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    for file in std::env::args().skip(1) {
        println!("{file}");
        count(Path::new(&file));
    }
}

fn count(path: &Path) {
    let mut capture = match Capture::open(path) {
        Ok(capture) => capture,
        Err(e) => return println!("  refused: {e}"),
    };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut bump = |what: String| *counts.entry(what).or_default() += 1;
    let mut gate = Gate::new();
    let mut block = Block::default();
    loop {
        let more = capture.read_block(&mut block);
        for frame in block.frames() {
            bump("frames".to_string());
            match inorder_wire::parse(&frame) {
                Packet::Tcp(_, _, segment) => {
                    bump("tcp".to_string());
                    for (name, set) in [
                        ("with data", segment.payload_len > 0),
                        ("with SACK", segment.sack_len > 0),
                        ("with timestamps", segment.has(Has::TIMESTAMPS)),
                        ("with cut options", segment.has(Has::OPTIONS_CUT)),
                    ] {
                        if set {
                            bump(format!("tcp {name}"));
                        }
                    }
                }
                Packet::Numbered(key, packet) => gate.push(key, packet, |key, _| {
                    bump(key.service.name().to_string());
                }),
                Packet::FirstFragment(..) | Packet::LaterFragment(_) => {
                    bump("tcp fragments".to_string());
                }
                Packet::Other(other) => bump(format!("other: {other}")),
            }
        }
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => {
                println!("  {e}");
                break;
            }
        }
    }
    println!(
        "  {} in {}",
        capture.info().format,
        capture.info().compression
    );
    for (what, n) in counts {
        println!("  {n:>8} {what}");
    }
}
