//! `inorder metrics`: the metrics of RFC 4737 and RFC 5236 for numbers read from text.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use inorder_metrics::{
    Arrival, Config, DEFAULT_MAX_HOLES, Distribution, Metrics, Record, RecordParser, Summary,
    Unwrapper,
};

use inorder_report::{csv, json, schema};

use crate::error::{CliError, DAMAGED, ExitCode, Outcome};
use crate::outputs;

mod columns;
mod table;

use columns::REPORT;

/// Options of `inorder metrics`.
#[derive(clap::Args)]
#[command(after_help = "\
Input, one arrival per line: seq[,time_s[,bytes]]. Times are decimal seconds, taken to the \
nanosecond; bytes are payload. Blank lines, `#` comments and a header line are skipped. \
Quantiles in the table are at most 3 % high.\n\n\
Example:\n  printf '%s\\n' 1 2 3 5 6 7 8 4 9 10 | inorder metrics --json")]
pub struct Args {
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
    /// Width of the sequence numbers; 16 and 32 wrap
    #[arg(long, value_parser = ["16", "32", "64"], default_value = "64")]
    bits: String,
    /// Largest n of n-reordering that is counted separately; packets with a larger n are counted there
    #[arg(long, value_name = "N", default_value_t = 1024)]
    n_max: usize,
    /// Number of the first packet sent; smaller ones are ignored [default: taken from the input]
    #[arg(long, value_name = "SEQ")]
    start: Option<u64>,
    /// How many gaps in the numbers to remember; gaps that had to be forgotten are reported
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_HOLES)]
    max_holes: usize,
}

/// Reads all lines and prints the metrics; a malformed line ends the input.
pub fn run(args: &Args) -> Outcome {
    if args.schema {
        let about = "What `inorder metrics --json` prints.";
        outputs::to_stdout(|out| schema::write(out, "inorder metrics", about, REPORT))?;
        return Ok(ExitCode::SUCCESS);
    }
    let bits = args.bits.parse().unwrap_or(64);
    let mut stream = Stream::new(args, bits)?;
    let bad = match args.file.as_deref().filter(|path| *path != Path::new("-")) {
        Some(path) => {
            let file = File::open(path).map_err(CliError::file(path, "open"))?;
            read(BufReader::with_capacity(1 << 20, file), bits, &mut stream)
                .map_err(CliError::file(path, "read"))?
        }
        None => read(io::stdin().lock(), bits, &mut stream)
            .map_err(CliError::file(Path::new("standard input"), "read"))?,
    };
    let report = stream.finish(bad.is_none());
    if args.json {
        outputs::to_stdout(|out| json::write(out, REPORT, &report))?;
    } else if args.csv {
        outputs::to_stdout(|out| csv::write_long(out, REPORT, &report))?;
    } else {
        outputs::text(|out| table::write_table(&report, out))?;
    }
    let Some((line, problem)) = bad else {
        return Ok(ExitCode::SUCCESS);
    };
    let name = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let name = name.map_or_else(|| "standard input".into(), Path::to_string_lossy);
    let place = format!("{name}:{line}");
    eprintln!("inorder: {}", CliError::Malformed { place, problem });
    Ok(ExitCode::from(DAMAGED))
}

/// Reads every line up to the first malformed one; returns the number of that line and what is wrong with it.
fn read(
    mut input: impl BufRead,
    bits: u32,
    stream: &mut Stream,
) -> io::Result<Option<(u64, String)>> {
    let mut parser = RecordParser::new(bits);
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return Ok(Some((number, "expected text, found other bytes".into())));
        };
        match parser.parse(text) {
            Ok(Some(record)) => stream.update(&record),
            Ok(None) => {}
            Err(error) => return Ok(Some((number, error.to_string()))),
        }
    }
    Ok(None)
}

/// The metrics, and the values listed for single packets.
struct Stream {
    metrics: Metrics,
    unwrapper: Unwrapper,
    lists: Lists,
    /// Number of first copies so far, and of those in order since the last reordered one.
    received: u64,
    run: u64,
    dt: u16,
    bt: u16,
}

/// Values for each reordered packet, in order of arrival.
#[derive(Default)]
struct Lists {
    extents: Vec<u64>,
    late_ns: Vec<i64>,
    byte_offsets: Vec<u64>,
    runs: Vec<u64>,
    /// Arrival times of the discontinuities, by position in the order of arrival.
    discontinuities: BTreeMap<u64, i64>,
    timed: bool,
    sized: bool,
}

/// Everything that is printed.
struct Report {
    summary: Summary,
    lists: Lists,
    dt: u16,
    bt: u16,
    complete: bool,
}

impl Stream {
    fn new(args: &Args, bits: u32) -> Result<Self, CliError> {
        let wrong = || CliError::Usage(format!("--start does not fit in {bits} bits"));
        let mut unwrapper = Unwrapper::new(bits).ok_or_else(wrong)?;
        let max = inorder_metrics::MAX_SEQ.min(u64::MAX >> (64 - bits));
        if args.start.is_some_and(|start| start > max) {
            return Err(wrong());
        }
        let config = Config {
            displacement_threshold: args.dt,
            buffer_threshold: args.bt,
            n_max: args.n_max,
            max_holes: args.max_holes,
            start: args.start.map(|start| unwrapper.extend(start)),
        };
        Ok(Stream {
            metrics: Metrics::new(config),
            unwrapper,
            lists: Lists::default(),
            received: 0,
            run: 0,
            dt: args.dt,
            bt: args.bt,
        })
    }

    fn update(&mut self, record: &Record) {
        let time_ns = record.time_ns.unwrap_or(0);
        self.lists.timed |= record.time_ns.is_some();
        self.lists.sized |= record.bytes.is_some();
        let seq = self.unwrapper.extend(record.seq);
        match self.metrics.update(seq, time_ns, record.bytes.unwrap_or(0)) {
            Arrival::InOrder { .. } => {
                self.received += 1;
                self.run += 1;
            }
            Arrival::Reordered(late) => {
                self.received += 1;
                let lists = &mut self.lists;
                lists.extents.push(late.extent);
                lists.late_ns.push(late.late_ns);
                lists.byte_offsets.push(late.byte_offset);
                lists.runs.push(std::mem::take(&mut self.run));
                let position = self.received.saturating_sub(late.extent);
                let time = time_ns.saturating_sub(late.late_ns);
                lists.discontinuities.insert(position, time);
            }
            Arrival::Duplicate | Arrival::Unclassified => {}
        }
    }

    fn finish(self, complete: bool) -> Report {
        let mut summary = self.metrics.finish();
        if !self.lists.timed {
            // Without times, late times are unknown.
            summary.order.late_ns = Distribution::new();
        }
        Report {
            summary,
            lists: self.lists,
            dt: self.dt,
            bt: self.bt,
            complete,
        }
    }
}

impl Lists {
    /// Distances between successive discontinuities, packets and nanoseconds.
    fn gaps(&self) -> (Vec<u64>, Vec<i64>) {
        let next = self.discontinuities.iter().skip(1);
        let pairs = self.discontinuities.iter().zip(next);
        pairs
            .map(|(a, b)| (b.0 - a.0, b.1.saturating_sub(*a.1)))
            .unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::table::write_table;
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn measure(text: &str, options: &[&str]) -> (Report, Option<(u64, String)>) {
        let words = ["metrics"].into_iter().chain(options.iter().copied());
        let args = Command::parse_from(words).args;
        let bits = args.bits.parse().unwrap();
        let mut stream = Stream::new(&args, bits).ok().unwrap();
        let bad = read(text.as_bytes(), bits, &mut stream).unwrap();
        (stream.finish(bad.is_none()), bad)
    }

    fn json(report: &Report) -> serde_json::Value {
        let mut out = Vec::new();
        json::write(&mut out, REPORT, report).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    /// The example of RFC 4737 section 7.1, with times and sizes.
    const LATE: &str = "seq,time_s,bytes\n1,0.068,100\n2,0.088,100\n3,0.108,100\n5,0.148,100\n\
        6,0.168,100\n7,0.188,100\n8,0.208,100\n# now the late one\n4,0.210,100\n\n9,0.228,100\n\
        10,0.248,100\n";

    #[test]
    fn one_late_packet() {
        let (report, bad) = measure(LATE, &[]);
        assert_eq!(bad, None);
        let json = json(&report);
        assert_eq!(json["received"], 10);
        assert_eq!(json["reordered_ratio"], 0.1);
        assert_eq!(json["extents"], serde_json::json!([4]));
        assert_eq!(json["late_ms"], serde_json::json!([62.0]));
        assert_eq!(json["byte_offsets"], serde_json::json!([400]));
        assert_eq!(
            json["n_reordering"],
            serde_json::json!({"1": 1, "2": 1, "3": 1, "4": 1})
        );
        assert_eq!(json["n_reordering_largest"], serde_json::json!({"4": 1}));
        assert_eq!(json["runs"], serde_json::json!([7]));
    }

    #[test]
    fn densities_and_thresholds() {
        let numbers = "1\n4\n2\n5\n3\n6\n7\n8\n";
        let (report, _) = measure(numbers, &["--dt", "4", "--bt", "4"]);
        let json = json(&report);
        let rd = serde_json::json!({"-2": 0.125, "-1": 0.125, "0": 0.5, "1": 0.125, "2": 0.125});
        assert_eq!(json["rd"], rd);
        assert_eq!(
            json["rbd"],
            serde_json::json!({"0": 0.625, "1": 0.25, "2": 0.125})
        );
        assert_eq!(json["late_ms"], serde_json::json!([]));
        assert_eq!(json["run_mean_bytes"], serde_json::Value::Null);
    }

    #[test]
    fn two_discontinuities() {
        let numbers = "1 2 3 6 7 4 5 8 9 10 12 13 11 14 15 16".replace(' ', "\n");
        let (report, _) = measure(&numbers, &[]);
        let json = json(&report);
        assert_eq!(json["gaps"], serde_json::json!([7]));
        assert_eq!(json["runs"], serde_json::json!([5, 0, 5]));
        assert_eq!(json["discontinuities"], report.summary.gaps.count());
    }

    #[test]
    fn lines_before_a_malformed_line_count() {
        let (report, bad) = measure("65535\n0\n65536\n1\n", &["--bits", "16"]);
        let problem = "expected a 16-bit sequence number, 0 to 65535".to_string();
        assert_eq!(bad, Some((3, problem)));
        let json = json(&report);
        assert_eq!(
            (&json["received"], &json["complete"]),
            (&2.into(), &false.into())
        );
        assert_eq!(json["reordered"], 0);
    }

    #[test]
    fn csv_has_one_line_per_value_and_text_is_a_table() {
        for text in ["", "7\n", LATE] {
            let (report, _) = measure(text, &[]);
            let (mut long, mut table) = (Vec::new(), Vec::new());
            csv::write_long(&mut long, REPORT, &report).unwrap();
            write_table(&report, &mut table).unwrap();
            let csv = String::from_utf8(long).unwrap();
            assert!(csv.lines().all(|line| line.split(',').count() == 3));
            assert!(String::from_utf8(table).unwrap().contains("\nentropy "));
            assert!(json(&report)["entropy"].is_number());
        }
    }

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(REPORT), Vec::<String>::new());
    }
}
