//! Measures firings per second of a coloured net on one core.
//!
//! `cargo run --release -p inorder-nets --example nets_throughput -- FILE [NAME=VALUE ...]`
//!
//! Prints one line of JSON: the firings of the run and their rate in processor time, where the system tells it.

#![allow(clippy::disallowed_methods)] // A measurement needs the clock.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use inorder_nets::{Campaign, Program};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("expected the file of a net")?;
    let set = arguments.map(|text| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(format!("expected NAME=VALUE, found {text}")),
    });
    let set = set.collect::<Result<Vec<_>, String>>()?;
    let mut load = |includer: &str, name: &str| {
        let folder = Path::new(includer).parent().unwrap_or(Path::new("."));
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        Ok((path.display().to_string(), text))
    };
    let text = std::fs::read_to_string(&file)?;
    let study = Program::read(&file, &text, &mut load)?.study(&set)?;
    let campaign = Campaign {
        seed: 1,
        repetitions: 1,
        threads: 1,
        progress: &|_| {},
        stop: &AtomicBool::new(false),
    };
    let begin = (seconds(), Instant::now());
    let results = study.run(&campaign)?;
    let taken = seconds().map_or(begin.1.elapsed().as_secs_f64(), |end| {
        end - begin.0.unwrap_or(0.0)
    });
    let firings: u64 = results.iter().map(|cell| cell.firings).sum();
    println!(
        "{{\"net\":\"{}\",\"firings\":{firings},\"per_second\":{:.0}}}",
        study.name(),
        firings as f64 / taken
    );
    Ok(())
}

/// Processor time of all threads of this process in seconds, if the system tells it (Linux, in hundredths of a second).
fn seconds() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name of the program, which may hold blanks: fields 3 and following.
    let fields: Vec<&str> = told.rsplit(')').next()?.split_whitespace().collect();
    let user: f64 = fields.get(11)?.parse().ok()?;
    Some(user / 100.0)
}
