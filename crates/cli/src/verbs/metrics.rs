//! `inorder metrics`: the metrics of RFC 4737 and RFC 5236 for numbers read from text.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use inorder_metrics::{Config, DEFAULT_MAX_HOLES, SERIES, Series, SeriesReport, write_text};

use inorder_pipeline::memory;
use inorder_report::number::count;
use inorder_report::{csv, json, schema};

use crate::error::{CliError, DAMAGED, ExitCode, Outcome};
use crate::{interrupt, manners, outputs};

/// Options of `inorder metrics`.
#[derive(clap::Args)]
#[command(after_help = "\
Input, one arrival per line: seq[,time_s[,bytes]]. Times are decimal seconds, taken to the \
nanosecond; bytes are payload. A header line such as time_ms,port,seq,bytes names other columns, of which those of the \
number, the time (in s, ms, us or ns) and the bytes are read. Fields may stand between commas, semicolons, tabs or spaces. \
Blank lines and `#` comments are skipped. \
Quantiles in the table are at most 3 % high.\n\n\
Examples:\n  printf '%s\\n' 1 2 3 5 6 7 8 4 9 10 | inorder metrics --json")]
pub(crate) struct Args {
    /// Text with one arrival per line; `-` or nothing for the standard input
    file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    /// Print lines of metric,key,value
    #[arg(long)]
    csv: bool,
    /// Displacement threshold of reorder density: packets displaced by more are counted as lost
    #[arg(long, value_name = "PACKETS", default_value_t = 200)]
    dt: u16,
    /// Threshold of reorder buffer-occupancy density: packets the buffer holds
    #[arg(long, value_name = "PACKETS", default_value_t = 200)]
    bt: u16,
    /// Width of the sequence numbers, 8 to 64; those below 64 wrap
    #[arg(long, value_parser = clap::value_parser!(u32).range(8..=64), default_value = "64")]
    bits: u32,
    /// Largest n of n-reordering that is counted separately; packets with a larger n are counted there
    #[arg(long, value_name = "N", default_value_t = 1024)]
    n_max: usize,
    /// Number of the first packet sent; smaller ones are ignored [default: taken from the input]
    #[arg(long, value_name = "SEQ")]
    start: Option<u64>,
    /// How many gaps in the numbers to remember; gaps that had to be forgotten are reported
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_HOLES)]
    max_holes: usize,
    /// Memory that the lists of single packets take at most, as in 512M or 4G, or unlimited; later packets are only counted
    /// [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,
}

/// Reads all lines and prints the metrics; a malformed line ends the input.
pub(super) fn run(args: &Args) -> Outcome {
    if args.schema {
        let about = "What `inorder metrics --json` prints.";
        outputs::to_stdout(|out| schema::write(out, "inorder metrics", about, SERIES))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = Config {
        displacement_threshold: args.dt,
        buffer_threshold: args.bt,
        n_max: args.n_max,
        max_holes: args.max_holes,
        start: args.start,
    };
    let mut series = Series::new(args.bits, config)
        .map_err(|error| CliError::Usage(format!("--{error}")))?
        .within(memory::limit(args.memory));
    let bad = match args.file.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let file = File::open(path).map_err(CliError::file(path, "open"))?;
            series
                .read(BufReader::with_capacity(1 << 20, file))
                .map_err(CliError::file(path, "read"))?
        }
        None => series
            .read(BufReader::new(interrupt::stdin()))
            .map_err(CliError::file(Path::new("standard input"), "read"))?,
    };
    let report = series.finish(bad.is_none());
    let name = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let name = name.map_or_else(|| "standard input".into(), Path::to_string_lossy);
    let malformed = bad.map(|(line, problem)| CliError::Malformed {
        place: format!("{name}:{line}"),
        problem,
    });
    // Of nothing there is no metric: a page of zeros would hide that the input is something else.
    if report.received() == 0 {
        if let Some(code) = interrupt::ended("no number had come") {
            return Ok(code);
        }
        return Err(malformed.unwrap_or_else(|| CliError::Malformed {
            place: name.into_owned(),
            problem: "no arrivals; expected lines of seq[,time_s[,bytes]]".to_owned(),
        }));
    }
    if args.json {
        outputs::to_stdout(|out| json::write(out, SERIES, &report))?;
    } else if args.csv {
        outputs::to_stdout(|out| csv::write_long(out, SERIES, &report))?;
    } else {
        outputs::text(|out| write_text(out, &report))?;
    }
    if let Some(lacking) = lacking(args, &report) {
        manners::notice(&lacking);
    }
    if report.left_out_of_lists() > 0 {
        manners::notice(&format!(
            "the memory was used up (--memory): no list of single packets has the last {} that were reordered",
            count(report.left_out_of_lists())
        ));
    }
    let Some(malformed) = malformed else {
        let interrupted = interrupt::ended("only the numbers that were read before are counted");
        return Ok(interrupted.unwrap_or(ExitCode::SUCCESS));
    };
    manners::complain(malformed);
    Ok(ExitCode::from(DAMAGED))
}

/// Which packets no count of late packets has.
fn lacking(args: &Args, report: &SeriesReport) -> Option<String> {
    let lacking = report.unclassified();
    let (packets, were) = match lacking {
        1 => ("packet", "was"),
        _ => ("packets", "were"),
    };
    let forgotten = format!(
        "more than {} gaps were open at once (--max-holes)",
        args.max_holes
    );
    match (lacking, report.holes_given_up(), args.start) {
        (0, ..) => None,
        (_, 0, Some(start)) => Some(format!(
            "{lacking} {packets} numbered below --start {start} {were} ignored"
        )),
        (_, _, Some(start)) => Some(format!(
            "no count of late packets has {lacking} {packets}, which are numbered below --start {start} or arrived in gaps that had \
             been forgotten: {forgotten}"
        )),
        (_, _, None) => Some(format!(
            "{lacking} {packets} arrived in gaps that had been forgotten, and no count of late packets has them: {forgotten}"
        )),
    }
}
