//! Prints what limited each flow of captures, as CSV: the stretches of its life. `testdata/lab/diagnose --limits` compares them
//! with the truth; building this alone is much quicker than building `inorder`.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use inorder_capture::{Block, Capture};
use inorder_detect::{Config, FlowReport, Tracker};
use inorder_wire::{Packet, parse};

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let done = std::env::args().skip(1).try_for_each(|file| {
        let flows = reports(Path::new(&file)).map_err(|error| format!("{file}: {error}"))?;
        let mut flows = flows.iter();
        flows.try_for_each(|flow| print(&mut out, &file, flow).map_err(|error| error.to_string()))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// A line for each stretch: file, flow, start and end in nanoseconds since the epoch, names of the limits.
fn print(out: &mut dyn Write, file: &str, flow: &FlowReport) -> io::Result<()> {
    for stretch in &flow.limits.stretches {
        let (start_ns, end_ns) = (stretch.start_ns, stretch.end_ns);
        writeln!(
            out,
            "{file},{},{start_ns},{end_ns},{}",
            flow.flow, stretch.limits
        )?;
    }
    Ok(())
}

fn reports(path: &Path) -> Result<Vec<FlowReport>, inorder_capture::CaptureError> {
    let mut capture = Capture::open(path)?;
    let mut tracker = Tracker::new(Config::default().what_if(false));
    let mut block = Block::default();
    while capture.read_block(&mut block)? {
        for frame in block.frames() {
            if let Packet::Tcp(key, direction, segment) = &parse(&frame) {
                tracker.push(key, *direction, segment);
            }
        }
    }
    Ok(tracker.finish())
}
