//! `inorder simulate`: simulates TCP over paths that reorder, from a scenario file.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_scenario::Cell;
use inorder_sim::output::{self, Report};
use inorder_sim::{Captures, CellResult, cost, limits, run_tapped};

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome};
use crate::verbs::runs::{Changes, Outputs, names, prepare_captures, simulated};
use crate::{interrupt, manners, outputs};

mod forecast;
mod list;

/// Options of `inorder simulate`.
#[derive(clap::Args)]
#[command(after_help = "\
A run is a function of the scenario and a seed: the same on every machine, with any number of \
threads. Means are printed with their confidence intervals over the repetitions. Every key of a scenario \
with its unit, default and meaning: --print-schema, also docs/scenario.md.\n\n\
Examples:\n  inorder simulate srpic.toml\n  inorder simulate srpic.toml --set flow.count=10 --html \
srpic.html\n  inorder simulate srpic.toml --pcap captures && inorder analyze captures/*.snd.pcapng")]
pub(crate) struct Args {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml", required_unless_present_any = ["list", "print_defaults", "print_schema", "schema"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    outputs: Outputs,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    /// Write captures of both ends of the first run of each cell into DIR, with the truth about them:
    /// NAME.snd.pcapng, NAME.rcv.pcapng, NAME.truth.json
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// List congestion controls, loss detections, profiles and kinds of path stages
    #[arg(long)]
    list: bool,
    /// Print a scenario with all defaults
    #[arg(long)]
    print_defaults: bool,
    /// Print every key with its unit, default and meaning, in Markdown
    #[arg(long)]
    print_schema: bool,
}

/// Runs the grid and prints the results; after Ctrl-C the results so far are printed.
pub(super) fn run(args: &Args) -> Outcome {
    if args.schema {
        outputs::to_stdout(output::write_schema)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = &args.file else {
        outputs::to_stdout(|out| list::write(out, args.list, args.print_defaults))?;
        return Ok(ExitCode::SUCCESS);
    };
    let (_, cells) = args.changes.cells(file, args.outputs.draws())?;
    prepare(args, file, cells.len())?;
    let stop = interrupt::flag();
    if let Some(text) = forecast::forecast(&cost(&cells, args.changes.repetitions().unwrap_or(0))) {
        manners::notice(&text);
    }
    let results = simulated(&args.changes, &args.outputs, &cells, stop)?;
    let name = file.display().to_string();
    let report = Report {
        file: &name,
        title: cells.first().map_or("", |cell| cell.config.title.as_str()),
        cells: &results.cells,
        first_runs: &results.first_runs,
        is_partial: stop.load(Ordering::Relaxed),
    };
    print(args, &cells, &report)?;
    let interrupted = report.is_partial;
    if interrupted {
        manners::complain(format_args!(
            "interrupted: the results are partial, {}",
            args.changes.runs_done(&cells, runs(&results.cells))
        ));
    }
    if let Some(dir) = &args.pcap {
        capture(dir, file, &cells, stop)?;
    }
    Ok(if interrupted {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Checks the outputs before the first run.
fn prepare(args: &Args, scenario: &Path, cells: usize) -> Result<(), CliError> {
    args.outputs.prepare(scenario)?;
    match &args.pcap {
        Some(dir) => prepare_captures(scenario, cells, dir, capture_files),
        None => Ok(()),
    }
}

/// The number of runs made.
fn runs(cells: &[CellResult]) -> usize {
    cells.iter().map(|cell| cell.seeds.len()).sum()
}

fn print(args: &Args, cells: &[Cell], report: &Report<'_>) -> Result<(), CliError> {
    if !args.outputs.take_stdout() {
        write_text(args, cells, report)?;
    }
    args.outputs.write(report)
}

fn write_text(args: &Args, cells: &[Cell], report: &Report<'_>) -> Result<(), CliError> {
    let width = outputs::style(0, false).width;
    outputs::text(|out| {
        output::write_table(out, report, width)?;
        match &report.is_partial {
            true => writeln!(
                out,
                "\nPartial: interrupted, {}",
                args.changes.runs_done(cells, runs(report.cells))
            ),
            false => Ok(()),
        }
    })
}

/// Runs the first repetition of each cell once more to write its captures and truth.
fn capture(dir: &Path, file: &Path, cells: &[Cell], stop: &AtomicBool) -> Result<(), CliError> {
    for (name, cell) in names(file, cells.len()).zip(cells) {
        if stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        capture_cell(dir, &name, cell)?;
    }
    Ok(())
}

/// Writes the captures of both ends, and the truth about every packet.
fn capture_files(dir: &Path, name: &str) -> [PathBuf; 3] {
    ["snd.pcapng", "rcv.pcapng", "truth.json"].map(|end| dir.join(format!("{name}.{end}")))
}

fn capture_cell(dir: &Path, name: &str, cell: &Cell) -> Result<(), CliError> {
    let [snd, rcv, truth_file] = capture_files(dir, name);
    let config = &cell.config;
    let flows = config.flows.iter().map(|flow| flow.count as usize).sum();
    let buffered = |file| BufWriter::with_capacity(1 << 18, file);
    let (at_sender, sender_draft) = outputs::create(&snd)?;
    let (at_receiver, receiver_draft) = outputs::create(&rcv)?;
    let mut tap = Captures::new(
        buffered(at_sender),
        buffered(at_receiver),
        flows,
        config.output.snap_bytes,
    )
    .map_err(CliError::file(&snd, "write"))?
    .of_run(config, config.run.seed)
    .map_err(CliError::usage)?;
    let result = run_tapped(config, config.run.seed, &mut tap).map_err(CliError::usage)?;
    if config.output.limits {
        let path = dir.join(format!("{name}.limits.csv"));
        outputs::to_file(&path, |out| limits::write(&result.limits, out))?;
    }
    for capture in tap.damaged() {
        let path = |end: &str| dir.join(format!("{name}.{}.{end}", capture.name));
        outputs::to_file(&path("pcapng"), |out| tap.write_damaged(&capture, out))?;
        outputs::to_file(&path("frames.csv"), |out| tap.write_frames(&capture, out))?;
    }
    if tap.has_between() {
        let path = dir.join(format!("{name}.between.csv"));
        outputs::to_file(&path, |out| tap.write_between(out))?;
    }
    let (files, truth) = tap.finish().map_err(CliError::file(&snd, "write"))?;
    let drafts = [(&snd, sender_draft), (&rcv, receiver_draft)];
    for (file, (path, draft)) in files.into_iter().zip(drafts) {
        // Flushed explicitly, because dropping a buffer ignores errors in writing its last bytes.
        let flushed = file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error);
        flushed
            .and_then(|_| draft.keep())
            .map_err(CliError::file(path, "write"))?;
    }
    if let Some(pairs) = truth.pairs() {
        let path = dir.join(format!("{name}.pairs.csv"));
        outputs::to_file(&path, |out| pairs.write(out))?;
    }
    outputs::to_file(&truth_file, |out| truth.write(out))
}
