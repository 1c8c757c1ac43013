//! Simulates scenarios once each, and writes the captures of both ends, those with defects, the truth and what limited the flows:
//! `record FOLDER SCENARIO.toml...`. The same as `inorder simulate --pcap`, which simulates twice and takes longer to build.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use inorder_scenario::Scenario;
use inorder_sim::{Captures, limits, registries, run_tapped};

fn main() -> Result<(), Box<dyn Error>> {
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = files.next().ok_or("record FOLDER SCENARIO.toml...")?;
    files.try_for_each(|file| {
        record(&folder, &file).map_err(|error| format!("{}: {error}", file.display()).into())
    })
}

fn record(folder: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let create = |end: &str| File::create(folder.join(format!("{name}.{end}"))).map(BufWriter::new);
    let scenario = Scenario::load(&std::fs::read_to_string(file)?, &name, &registries())?;
    let cells = scenario.cells()?;
    let config = &cells.first().ok_or("no cell")?.config;
    let flows = config.flows.iter().map(|flow| flow.count as usize).sum();
    let [snd, rcv] = [create("snd.pcapng")?, create("rcv.pcapng")?];
    let seed = config.run.seed;
    let captures = Captures::new(snd, rcv, flows, config.output.snap_bytes)?;
    let mut captures = captures.of_run(config, seed)?;
    let result = run_tapped(config, seed, &mut captures)?;
    if config.output.limits {
        limits::write(&result.limits, &mut create("limits.csv")?)?;
    }
    for capture in captures.damaged() {
        let end = format!("{}.pcapng", capture.name);
        captures.write_damaged(&capture, &mut create(&end)?)?;
    }
    let (_, truth) = captures.finish()?;
    truth.write(&mut create("truth.json")?)?;
    Ok(())
}
