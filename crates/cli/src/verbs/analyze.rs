//! `inorder analyze`: what a capture says about reordering, loss and spurious retransmission.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::ValueEnum;
use inorder_analysis::{Analysis, csv, html, json, table};
use inorder_capture::{AnnotateError, Capture, CaptureError};
use inorder_detect::{Config, Vantage};
use inorder_pipeline::{Analyzer, Input};
use inorder_sort::SorterConfig;

use crate::error::{CliError, DAMAGED, INTERRUPTED, Outcome};
use crate::progress::Reading;
use crate::{annotations, interrupt, outputs};

/// Options of `inorder analyze`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:\n  inorder analyze trace.pcapng\n  inorder analyze --events --json trace.pcapng > \
trace.json\n  tcpdump -w - tcp | inorder analyze --html order.html -")]
pub struct Args {
    /// Captures (pcap, pcapng, plain, gzip or zstd), each analysed on its own; `-` for the
    /// standard input
    #[arg(required_unless_present = "schema", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Take the files, in the order given, as one rotated capture
    #[arg(long)]
    join: bool,
    /// Where the captures were made, seen from the sender of the data
    #[arg(long, value_enum, default_value_t = VantageArg::Auto)]
    vantage: VantageArg,
    /// Keep and print every single event
    #[arg(long)]
    events: bool,
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE: a row for each flow, with --events for
    /// each event, or as --rows says
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// What the rows of --csv are
    #[arg(long, value_enum, requires = "csv")]
    rows: Option<Rows>,
    /// Write flows.parquet, events.parquet, retransmissions.parquet and recoveries.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Write a page with charts that opens without a network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a pcapng copy of the capture with a comment at each event
    #[arg(long, value_name = "OUT.pcapng")]
    annotate: Option<PathBuf>,
    /// The same traffic captured at the other end: shows what really happened, and which of this capture's
    /// conclusions are right
    #[arg(long, value_name = "OTHER")]
    peer: Option<PathBuf>,
    /// Flows shown at most in text and with charts
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Do not compute how much reordering a sorting receiver would have left
    #[arg(long)]
    no_what_if: bool,
    /// Compute it for this sorter as well, given by name and settings as in window:hold=300us; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "no_what_if")]
    sorter: Vec<SorterConfig>,
    /// Only flows and streams whose `src:port->dst:port` contains TEXT
    #[arg(long, value_name = "TEXT")]
    flow: Option<String>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    /// Flows
    Flows,
    /// Late and lost packets
    Events,
    /// Retransmissions, each with its verdict
    Retransmissions,
    /// Recovery phases
    Recoveries,
}

impl Args {
    /// What a row of the CSV output is.
    fn rows(&self) -> Rows {
        self.rows.unwrap_or(match self.events {
            true => Rows::Events,
            false => Rows::Flows,
        })
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum VantageArg {
    /// Infer it for each connection
    Auto,
    /// At or next to the sender
    Sender,
    /// At or next to the receiver
    Receiver,
    /// On the path between them
    Middle,
}

impl VantageArg {
    fn forced(self) -> Option<Vantage> {
        match self {
            VantageArg::Auto => None,
            VantageArg::Sender => Some(Vantage::Sender),
            VantageArg::Receiver => Some(Vantage::Receiver),
            VantageArg::Middle => Some(Vantage::Middle),
        }
    }
}

/// Analyses all files, then prints the results. A file that cannot be read does not stop the others.
pub fn run(args: &Args) -> Outcome {
    if args.schema {
        outputs::to_stdout(|out| json::write_schema(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    check(args)?;
    outputs::check(&written(args), &read(args))?;
    let stop = interrupt::flag();
    let (analyses, errors) = analyze_all(args, stop);
    for error in &errors {
        eprintln!("inorder: {error}");
    }
    if !analyses.is_empty() {
        print(args, &analyses)?;
        annotate(args, &analyses)?;
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(exit_code(&errors))
}

/// Rejects options that contradict each other.
fn check(args: &Args) -> Result<(), CliError> {
    let is_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let problem = if is_stdout(&args.json) && is_stdout(&args.csv) {
        "--json and --csv cannot both go to the standard output; give one a file: --json=FILE"
    } else if args.annotate.is_some() && (args.files.len() != 1 || args.files[0] == Path::new("-"))
    {
        "--annotate needs exactly one capture, in a file"
    } else if args
        .files
        .iter()
        .filter(|file| *file == Path::new("-"))
        .count()
        > 1
    {
        "the standard input can be read only once"
    } else if args.peer.is_some() && args.files.len() != 1 && !args.join {
        "--peer needs exactly one capture to compare with (or --join)"
    } else if args.threads == Some(0) {
        "--threads needs at least 1"
    } else {
        return Ok(());
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// Files that the options name as outputs.
fn written(args: &Args) -> Vec<&Path> {
    let files = [&args.json, &args.csv, &args.html, &args.annotate];
    files.into_iter().flatten().map(PathBuf::as_path).collect()
}

/// Files that are read.
fn read(args: &Args) -> Vec<&Path> {
    let files = args.files.iter().chain(&args.peer);
    files.map(PathBuf::as_path).collect()
}

/// The analyses, and the errors.
fn analyze_all(args: &Args, stop: &'static AtomicBool) -> (Vec<Analysis>, Vec<CliError>) {
    let groups: Vec<&[PathBuf]> = match args.join {
        true => vec![&args.files],
        false => args.files.chunks(1).collect(),
    };
    let (mut analyses, mut errors) = (Vec::new(), Vec::new());
    for files in groups {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (analysis, error) = analyze(args, files, stop);
        analyses.extend(analysis);
        errors.extend(error.map(CliError::from));
    }
    for analysis in &mut analyses {
        keep_only(args.flow.as_deref(), analysis);
    }
    (analyses, errors)
}

/// Analyses one capture; returns what could be analysed, and the error if there was one.
fn analyze(
    args: &Args,
    files: &[PathBuf],
    stop: &'static AtomicBool,
) -> (Option<Analysis>, Option<CaptureError>) {
    let analyzer = Analyzer::new()
        .config(config(args))
        .threads(threads(args))
        .watch(Arc::new(Reading::new(stop)));
    let capture = Input::files(files);
    let analysis = match &args.peer {
        Some(peer) => analyzer.compare(capture, peer),
        None => analyzer.run(capture),
    };
    match analysis.map_err(inorder_pipeline::Error::into_parts) {
        Ok(analysis) => (Some(analysis), None),
        Err((analysis, error)) => (analysis, Some(error)),
    }
}

fn threads(args: &Args) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    args.threads.unwrap_or_else(cores)
}

fn config(args: &Args) -> Config {
    #[cfg(feature = "parquet")]
    let parquet = args.parquet.is_some();
    #[cfg(not(feature = "parquet"))]
    let parquet = false;
    let events = args.events
        || args.rows() != Rows::Flows
        || args.peer.is_some()
        || args.html.is_some()
        || args.annotate.is_some()
        || parquet;
    Config::default()
        .vantage(args.vantage.forced())
        .keep_events(events)
        .keep_points(args.html.is_some())
        .what_if(!args.no_what_if)
        .sorters(args.sorter.clone())
}

fn keep_only(filter: Option<&str>, analysis: &mut Analysis) {
    if let Some(text) = filter {
        analysis
            .flows
            .retain(|flow| flow.flow.to_string().contains(text));
        analysis
            .streams
            .retain(|stream| format!("{}->{}", stream.src, stream.dst).contains(text));
    }
}

fn print(args: &Args, analyses: &[Analysis]) -> Result<(), CliError> {
    if let Some(path) = &args.json {
        outputs::write_to(path, |out| json::write(out, analyses, args.events))?;
    }
    if let Some(path) = &args.csv {
        outputs::write_to(path, |out| match args.rows() {
            Rows::Flows => csv::write_flows(out, analyses),
            Rows::Events => csv::write_events(out, analyses),
            Rows::Retransmissions => csv::write_retransmissions(out, analyses),
            Rows::Recoveries => csv::write_recoveries(out, analyses),
        })?;
    }
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.parquet {
        outputs::parquet(dir, analyses)?;
    }
    if let Some(path) = &args.html {
        let page = html::Page {
            top: args.top,
            charts: true,
        };
        outputs::write_to(path, |out| html::write(out, analyses, &page))?;
    }
    let taken = [&args.json, &args.csv, &args.html];
    if taken
        .iter()
        .any(|path| path.as_deref() == Some(Path::new("-")))
    {
        return Ok(());
    }
    let style = outputs::style(args.top, args.events);
    outputs::to_stdout(|out| table::write(out, analyses, &style))
}

/// Copies the capture with comments at its events.
fn annotate(args: &Args, analyses: &[Analysis]) -> Result<(), CliError> {
    let (Some(copy), [analysis], [file]) = (&args.annotate, analyses, args.files.as_slice()) else {
        return Ok(());
    };
    let comments = annotations::of(&analysis.flows);
    let mut capture = Capture::open(file)?;
    let mut damage = None;
    outputs::to_file(copy, |out| {
        let comment = |frame: u64| comments.get(&frame).map(String::as_str);
        match inorder_capture::annotate(&mut capture, out, comment) {
            Ok(_) => Ok(()),
            Err(AnnotateError::Write(error)) => Err(error),
            // Already reported: the analysis met the same damage, and the copy contains the frames before it.
            Err(AnnotateError::Read(error)) => {
                damage = Some(error);
                Ok(())
            }
        }
    })?;
    match damage {
        Some(error @ CaptureError::Io { .. }) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The exit code: zero without errors; damaged input counts only if no worse error happened.
fn exit_code(errors: &[CliError]) -> ExitCode {
    if errors.iter().any(|error| !error.is_damage()) {
        ExitCode::FAILURE
    } else if errors.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(DAMAGED)
    }
}
