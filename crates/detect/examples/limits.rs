//! Prints what limited each flow of captures: `limits [--vantage sender|receiver|middle] FILE...`.

use std::path::Path;
use std::process::ExitCode;

use inorder_capture::{Block, Capture};
use inorder_detect::names::Name;
use inorder_detect::{Config, FlowReport, Tracker};
use inorder_wire::{Packet, parse};

fn main() -> ExitCode {
    for file in std::env::args().skip(1) {
        match reports(Path::new(&file)) {
            Ok(flows) => flows.iter().for_each(|flow| print(&file, flow)),
            Err(text) => {
                eprintln!("{file}: {text}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn print(file: &str, flow: &FlowReport) {
    let limits = &flow.limits;
    let shares = limits.shares.iter().map(|share| {
        let percent = share.ns as f64 * 100.0 / limits.life_ns().max(1) as f64;
        format!("{} {percent:.1}", share.limits)
    });
    let shares: Vec<String> = shares.collect();
    let name = Path::new(file)
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    println!(
        "{name}\t{}\t{}\t{:.3} s\t{}",
        flow.flow,
        flow.vantage.vantage.name(),
        limits.life_ns() as f64 / 1e9,
        shares.join(" \u{b7} ")
    );
}

fn reports(path: &Path) -> Result<Vec<FlowReport>, String> {
    let mut capture = Capture::open(path).map_err(|e| e.to_string())?;
    let mut tracker = Tracker::new(Config::default().what_if(false));
    let mut block = Block::default();
    while capture.read_block(&mut block).map_err(|e| e.to_string())? {
        for frame in block.frames() {
            if let Packet::Tcp(key, dir, segment) = &parse(&frame) {
                tracker.push(key, *dir, segment);
            }
        }
    }
    Ok(tracker.finish())
}
