//! `inorder watch`: the analysis of an interface, interval by interval, without an end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "parquet")]
use inorder_analysis::Rows;
use inorder_analysis::{headline, table};
use inorder_detect::Config;
use inorder_live::os::{self, Needs, Ring};
use inorder_live::watched::{WATCHED, Watched};
use inorder_pipeline::{Analysis, Analyzer, Error, Filter, Input, Selection, memory};
use inorder_report::json;
use inorder_report::number::{count, plural};

use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::running::{Confining, Outlet, RunningOptions, seconds};
use crate::{interrupt, manners, outputs};

/// Options of `inorder watch`.
#[derive(clap::Args)]
#[command(after_help = "\
Analyses what passes an interface, as `inorder analyze` does with a capture, in intervals: on a terminal a table of \
the worst flows that is replaced after each interval, otherwise a line for each. Each interval is an analysis of its \
own, so memory does not grow; a connection that goes on is analysed in the next one like one whose start was not \
captured. Only the headers are kept. Frames that the kernel dropped because they were not taken fast enough are \
counted and reported. An interface that goes down or is removed is waited for. The privileges are given up once the interface \
is open (it needs CAP_NET_RAW): root becomes another user, that to whom the folder of --parquet belongs.\n\n\
Examples:\n  inorder watch eth0\n  inorder watch eth0 --interval 60 --filter 'port 443' --prometheus 9465\n  \
inorder watch eth0 --interval 300 --parquet out --keep 288")]
pub(crate) struct Args {
    /// The interface
    #[arg(value_name = "IFACE", required_unless_present = "schema")]
    interface: Option<String>,
    /// Seconds of each interval
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds)]
    interval: f64,
    /// Only connections and streams that EXPR selects, as in `inorder analyze --help`
    #[arg(long, value_name = "EXPR")]
    filter: Option<Filter>,
    /// Flows in the table
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Bytes of each frame that are kept
    #[arg(long, value_name = "BYTES", default_value_t = 128, value_parser = clap::value_parser!(u32).range(64..=65_535))]
    snaplen: u32,
    /// MiB of frames that wait in memory while they are not read
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(4..=4096))]
    buffer: u32,
    /// Flows of an interval that are reported one by one; others are summed
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    max_flows: usize,
    /// Memory that the analysis of an interval takes at most, as of `inorder analyze`
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,
    /// Threads that analyse [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(manners::MAX_THREADS)))]
    threads: Option<u16>,
    /// Write the flows of each interval into DIR: flows-00000.parquet, flows-00001.parquet, ...
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Files that --parquet keeps; the oldest one is replaced
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "N", default_value_t = 24, requires = "parquet", value_parser = clap::value_parser!(u64).range(1..=99_999))]
    keep: u64,
    #[command(flatten)]
    confining: Confining,
    #[command(flatten)]
    running: RunningOptions,
}

/// Watches until Ctrl-C.
pub(super) fn run(args: &Args) -> Outcome {
    let options = &args.running;
    let Some(name) = args.interface.as_deref().filter(|_| !options.schema) else {
        options.print_schema("inorder watch", WATCHED)?;
        return Ok(ExitCode::SUCCESS);
    };
    if !(0.1..=86_400.0).contains(&args.interval) {
        return usage!(
            "--interval {}: expected 0.1 to 86400 seconds",
            args.interval
        );
    }
    let (mut outlet, server) = options.outlet("inorder_watch")?;
    let folder = folder(args)?;
    let buffer = (args.buffer as usize) << 20;
    let ring = Ring::open(name, args.snaplen, buffer, manners::notice)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(cores, usize::from);
    // Read before nothing can be read any more.
    let memory = memory::limit(args.memory);
    let needs = Needs {
        threads: true,
        folder: folder.as_deref(),
    };
    let mut server = server;
    let stop = os::confine(args.confining.seccomp, &needs, &mut || {
        if let Some(server) = server.take() {
            server.start();
        }
        interrupt::flag()
    })?;
    manners::notice(&format!("watching {name}; Ctrl-C ends it"));
    let mut watched = Watched::new(name);
    #[cfg(feature = "parquet")]
    let mut files = Files::default();
    let (mut left, interval) = (options.duration_s().unwrap_or(f64::INFINITY), args.interval);
    while left > 0.0 && !stop.load(Ordering::Relaxed) {
        let analysis = analyze(
            (args, threads, memory),
            name,
            &ring,
            interval.min(left),
            stop,
        )?;
        left -= interval;
        watched.add(analysis.frames, analysis.bytes, &analysis.totals());
        watched.missed = ring.missed();
        #[cfg(feature = "parquet")]
        if let Some(folder) = &folder {
            let turn = (watched.intervals - 1) % args.keep;
            let written = write_parquet(folder, &analysis, turn);
            watched.unwritten += u64::from(written.is_err());
            files.report(written);
        }
        outlet.publish(WATCHED, std::slice::from_ref(&watched));
        if !options.json {
            show(args, &outlet, &analysis, &watched)?;
        }
    }
    if options.json {
        outputs::to_stdout(|out| json::write(out, WATCHED, &watched))?;
    }
    Ok(match watched.unwritten {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

/// Whether the files of the intervals can be written. A full disk does not end what runs for months: the disk may have room again.
#[cfg(feature = "parquet")]
#[derive(Default)]
struct Files {
    /// Intervals that could not be written since one could.
    missing: u64,
}

#[cfg(feature = "parquet")]
impl Files {
    /// One line when writing fails for the first time, and one when it works again.
    fn report(&mut self, written: Result<(), CliError>) {
        match written {
            Err(error) => {
                if self.missing == 0 {
                    manners::notice(&format!("{error}; watching goes on"));
                }
                self.missing += 1;
            }
            Ok(()) => {
                let missing = std::mem::take(&mut self.missing);
                if missing > 0 {
                    let intervals = plural(missing, "interval");
                    manners::notice(&format!("files are written again; {intervals} had none"));
                }
            }
        }
    }
}

/// The analysis of the next interval.
fn analyze(
    (args, threads, memory): (&Args, usize, Option<usize>),
    name: &str,
    ring: &Ring,
    seconds: f64,
    stop: &'static AtomicBool,
) -> Result<Analysis, CliError> {
    let selection = Selection {
        filter: args.filter.clone(),
        ..Selection::default()
    };
    let config = Config::default()
        .what_if(false)
        .max_flows(args.max_flows)
        .memory(memory);
    let analyzer = Analyzer::new()
        .config(config)
        .threads(threads)
        .select(selection);
    let capture = ring.capture((seconds * 1e9) as i64, stop);
    match analyzer
        .run(Input::reader(name, capture))
        .map_err(Error::into_parts)
    {
        Ok(analysis) => Ok(analysis),
        Err((Some(analysis), _)) => Ok(analysis),
        Err((None, error)) => Err(error.into()),
    }
}

/// A table on a terminal, a line elsewhere.
fn show(
    args: &Args,
    outlet: &Outlet,
    analysis: &Analysis,
    watched: &Watched,
) -> Result<(), CliError> {
    let sums = format!(
        "{} since the start, {} dropped by the kernel",
        plural(watched.frames, "frame"),
        count(watched.missed)
    );
    if !outlet.is_terminal() {
        return outputs::text(|out| writeln!(out, "{} ({sums})", headline(analysis)));
    }
    outlet.replace(|out| {
        table::write(
            out,
            std::slice::from_ref(analysis),
            &outputs::style(args.top, false),
        )?;
        writeln!(out, "\n{sums}")
    })
}

/// The folder of the files, made if need be, by its whole name.
fn folder(args: &Args) -> Result<Option<PathBuf>, CliError> {
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.parquet {
        outputs::directory(dir)?;
        let whole = dir.canonicalize();
        return whole.map(Some).map_err(CliError::file(dir, "read"));
    }
    let _ = args;
    Ok(None)
}

/// The flows of an interval, in the file whose turn it is.
#[cfg(feature = "parquet")]
fn write_parquet(folder: &std::path::Path, analysis: &Analysis, turn: u64) -> Result<(), CliError> {
    let Some(rows) = Rows::named("flows") else {
        return Ok(());
    };
    let path = folder.join(format!("flows-{turn:05}.parquet"));
    outputs::replace(&path, |file| {
        rows.write_parquet(file, std::slice::from_ref(analysis))
    })
}
