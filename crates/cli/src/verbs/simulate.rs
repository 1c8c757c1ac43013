//! `inorder simulate`: simulates TCP over paths that reorder, from a scenario file.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_scenario::{Cell, Scenario};
use inorder_sim::output::{self, Report};
use inorder_sim::{
    Campaign, Captures, CellResult, RunResult, cost, registries, run_all_with, run_tapped, values,
};

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome};
use crate::progress::Bar;
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
pub struct Args {
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml", required_unless_present_any = ["list", "print_defaults", "print_schema", "schema"])]
    file: Option<PathBuf>,
    /// Override a key of the scenario, or an axis of its grid
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of the first repetition
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Runs of each cell
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repetitions: Option<u64>,
    /// A first look: one repetition with a tenth of the duration and of the warm-up
    #[arg(long)]
    quick: bool,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    /// Print CSV instead of text, or write it to FILE: a row for each run
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Write runs.parquet and samples.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Write an HTML page with window, threshold, round-trip time and throughput over time
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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

/// The result of a run: its measures, and its traces if something is to be drawn.
type Kept = ((u64, Vec<Option<f64>>), Option<RunResult>);

/// Runs the grid and prints the results; after Ctrl-C the results so far are printed.
pub fn run(args: &Args) -> Outcome {
    if args.schema {
        outputs::to_stdout(output::write_schema)?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(file) = &args.file else {
        outputs::to_stdout(|out| list::write(out, args.list, args.print_defaults))?;
        return Ok(ExitCode::SUCCESS);
    };
    let cells = cells(args, file)?;
    prepare(args, file, cells.len())?;
    if let Some(text) = forecast::forecast(&cost(&cells, repetitions(args).unwrap_or(0))) {
        manners::notice(&text);
    }
    let stop = interrupt::flag();
    let kept = simulate(args, &cells, stop)?;
    let results: Vec<CellResult> = cells
        .iter()
        .zip(&kept)
        .map(|(cell, runs)| result(cell, runs))
        .collect();
    let firsts = kept
        .into_iter()
        .map(|runs| runs.into_iter().find_map(|(_, run)| run));
    let firsts: Vec<Option<RunResult>> = firsts.collect();
    let name = file.display().to_string();
    let report = Report {
        file: &name,
        title: cells.first().map_or("", |cell| cell.config.title.as_str()),
        cells: &results,
        first_runs: &firsts,
        is_partial: stop.load(Ordering::Relaxed),
    };
    print(args, &cells, &report)?;
    let interrupted = report.is_partial;
    if interrupted {
        eprintln!(
            "inorder: interrupted: the results are partial, {}",
            runs_done(args, &cells, &results)
        );
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

/// What part of the requested runs the results are of.
fn runs_done(args: &Args, cells: &[Cell], results: &[CellResult]) -> String {
    let wanted = |cell: &Cell| repetitions(args).unwrap_or(cell.config.run.repetitions);
    let wanted: u64 = cells.iter().map(wanted).sum();
    let done: usize = results.iter().map(|cell| cell.seeds.len()).sum();
    format!("of {done} runs out of {wanted}")
}

/// Number of runs of each cell, if the options set it.
fn repetitions(args: &Args) -> Option<u64> {
    args.repetitions.or(args.quick.then_some(1))
}

/// The files of --parquet.
const PARQUET: [&str; 2] = ["runs.parquet", "samples.parquet"];

/// Checks the outputs before the first run.
fn prepare(args: &Args, scenario: &Path, cells: usize) -> Result<(), CliError> {
    let files = [&args.json, &args.csv, &args.html];
    let printed = |path: &&PathBuf| path.as_os_str() == "-";
    if files.into_iter().flatten().filter(printed).count() > 1 {
        let problem = "the standard output takes one of --json, --csv and --html";
        return Err(CliError::Usage(problem.to_owned()));
    }
    let named: Vec<&Path> = files.into_iter().flatten().map(PathBuf::as_path).collect();
    outputs::check(&named, &[scenario])?;
    for dir in [parquet(args), args.pcap.as_ref()].into_iter().flatten() {
        outputs::directory(dir)?;
    }
    if let Some(dir) = parquet(args) {
        outputs::check_in(dir, &PARQUET, &[scenario])?;
    }
    if let Some(dir) = &args.pcap {
        for name in names(scenario, cells) {
            let files = capture_files(dir, &name);
            outputs::check(&files.each_ref().map(PathBuf::as_path), &[scenario])?;
        }
    }
    Ok(())
}

/// The cells of the scenario after the overrides were applied.
fn cells(args: &Args, file: &Path) -> Result<Vec<Cell>, CliError> {
    let bytes = std::fs::read(file).map_err(CliError::file(file, "read"))?;
    let no_text =
        |_| std::io::Error::other("expected a scenario in TOML, found bytes that are no text");
    let text = String::from_utf8(bytes).map_err(no_text);
    let text = text.map_err(CliError::file(file, "read"))?;
    let wrong = |error: inorder_scenario::Error| CliError::Usage(error.to_string());
    let mut scenario =
        Scenario::load(&text, &file.display().to_string(), &registries()).map_err(wrong)?;
    for assignment in &args.set {
        scenario.set(assignment).map_err(wrong)?;
    }
    if let Some(seed) = args.seed {
        scenario.set(&format!("run.seed={seed}")).map_err(wrong)?;
    }
    let mut cells = scenario.cells().map_err(wrong)?;
    let draws = args.html.is_some() || parquet(args).is_some();
    for cell in &mut cells {
        shorten(&mut cell.config.run, args.quick);
        if draws && cell.config.output.trace_interval_ns.is_none() {
            // Enough points for a chart as wide as a page.
            cell.config.output.trace_interval_ns = Some((cell.config.run.duration_ns / 500).max(1));
        }
    }
    Ok(cells)
}

fn shorten(run: &mut inorder_scenario::config::Run, quick: bool) {
    if quick {
        run.duration_ns = (run.duration_ns / 10).max(1);
        run.warm_up_ns = (run.warm_up_ns / 10).min(run.duration_ns - 1);
    }
}

#[cfg(feature = "parquet")]
fn parquet(args: &Args) -> Option<&PathBuf> {
    args.parquet.as_ref()
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Args) -> Option<&PathBuf> {
    None
}

fn simulate(args: &Args, cells: &[Cell], stop: &AtomicBool) -> Result<Vec<Vec<Kept>>, CliError> {
    let draws = args.html.is_some() || parquet(args).is_some();
    let bar = Bar::simulated();
    let campaign = Campaign {
        repetitions: repetitions(args).unwrap_or(0),
        threads: args.threads,
        progress: &bar,
        stop,
    };
    let keep = |cell: &Cell, run: RunResult| {
        let measures = (run.seed, values(&run));
        let whole = (draws && run.seed == cell.config.run.seed).then_some(run);
        (measures, whole)
    };
    run_all_with(cells, &campaign, keep).map_err(|error| CliError::Usage(error.to_string()))
}

fn result(cell: &Cell, runs: &[Kept]) -> CellResult {
    let measures: Vec<_> = runs.iter().map(|(measures, _)| measures.clone()).collect();
    CellResult::new(cell, &measures)
}

fn print(args: &Args, cells: &[Cell], report: &Report<'_>) -> Result<(), CliError> {
    if let Some(path) = &args.json {
        outputs::write_to(path, |out| output::write_json(out, report))?;
    }
    if let Some(path) = &args.csv {
        outputs::write_to(path, |out| output::write_csv(out, report))?;
    }
    if let Some(path) = &args.html {
        outputs::write_to(path, |out| output::write_page(out, report))?;
    }
    write_parquet(args, report)?;
    let taken = [&args.json, &args.csv, &args.html].into_iter().flatten();
    if taken.into_iter().any(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    let width = outputs::style(0, false).width;
    outputs::text(|out| {
        output::write_table(out, report, width)?;
        match &report.is_partial {
            true => writeln!(
                out,
                "\nPartial: interrupted; {}",
                runs_done(args, cells, report.cells)
            ),
            false => Ok(()),
        }
    })
}

#[cfg(feature = "parquet")]
fn write_parquet(args: &Args, report: &Report<'_>) -> Result<(), CliError> {
    let Some(dir) = &args.parquet else {
        return Ok(());
    };
    let create = |name: &str| {
        let path = dir.join(name);
        outputs::create(&path).map(|file| (path, file))
    };
    let (path, file) = create(PARQUET[0])?;
    output::write_runs(file, report).map_err(CliError::file(&path, "write"))?;
    let (path, file) = create(PARQUET[1])?;
    output::write_samples(file, report).map_err(CliError::file(&path, "write"))
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Args, _: &Report<'_>) -> Result<(), CliError> {
    Ok(())
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

/// The base name of each cell's captures: the name of the scenario file, with a number if there are several cells.
fn names(scenario: &Path, cells: usize) -> impl Iterator<Item = String> {
    let stem = scenario.file_stem().map_or_else(
        || "scenario".into(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    (0..cells).map(move |number| match cells {
        1 => stem.clone(),
        _ => format!("{stem}-{number:03}"),
    })
}

/// Writes the captures of both ends, and the truth about every packet.
fn capture_files(dir: &Path, name: &str) -> [PathBuf; 3] {
    ["snd.pcapng", "rcv.pcapng", "truth.json"].map(|end| dir.join(format!("{name}.{end}")))
}

fn capture_cell(dir: &Path, name: &str, cell: &Cell) -> Result<(), CliError> {
    let create = |path: &Path| -> Result<BufWriter<std::fs::File>, CliError> {
        Ok(BufWriter::with_capacity(1 << 18, outputs::create(path)?))
    };
    let [snd, rcv, truth_file] = capture_files(dir, name);
    let config = &cell.config;
    let flows = config.flows.iter().map(|flow| flow.count as usize).sum();
    let mut tap = Captures::new(
        create(&snd)?,
        create(&rcv)?,
        flows,
        config.output.snap_bytes,
    )
    .map_err(CliError::file(&snd, "write"))?;
    run_tapped(config, config.run.seed, &mut tap)
        .map_err(|error| CliError::Usage(error.to_string()))?;
    let (files, truth) = tap.finish().map_err(CliError::file(&snd, "write"))?;
    for (file, path) in files.into_iter().zip([&snd, &rcv]) {
        // Flushed explicitly, because dropping a buffer ignores errors in writing its last bytes.
        file.into_inner()
            .map_err(|error| CliError::file(path, "write")(error.into_error()))?;
    }
    outputs::to_file(&truth_file, |out| truth.write(out))
}
