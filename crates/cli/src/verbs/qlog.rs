//! `inorder qlog`: what QUIC took for lost and was delivered, and what that cost.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use inorder_capture::Capture;
use inorder_pipeline::memory;
use inorder_qlog::{
    CONNECTION, Connection, Document, LOSS, LossRow, RESULT, Report, Room, join, read_within,
    remove_repeated,
};
use inorder_report::csv;
use inorder_report::number::{count, plural};
use inorder_report::text::{self, Layout, paragraph};

use crate::error::{CliError, DAMAGED, ExitCode, Outcome};
use crate::{manners, outputs};

/// Options of `inorder qlog`.
#[derive(clap::Args)]
#[command(after_help = "\
Logs are JSON, JSON-SEQ or newline-delimited JSON of any draft from 00 on, as quic-go, quiche, quinn, picoquic, aioquic \
and others write them. A packet that was declared lost was delivered if an acknowledgement came for it, or if the log \
of the other end has it: give both, and connections are joined by their identifier. The cost is \
what could have been sent in addition in the same time without the needless reductions.\n\n\
Rows of --csv: connections, losses.\n\n\
Examples:\n  inorder qlog server.sqlog\n  inorder qlog --csv=losses.csv --rows losses client.qlog server.qlog")]
pub(crate) struct Args {
    /// Logs of one end or both, plain or compressed; `-` for the standard input
    #[arg(required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// What the rows of --csv are
    #[arg(long, value_name = "ROWS", value_parser = ["connections", "losses"], default_value = "connections")]
    rows: String,
    /// Write connections.parquet and losses.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Memory that the logs take at most, as in 512M or 4G, or unlimited; what comes behind is not read [default: a quarter of the
    /// machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,
    /// List every packet that was declared lost
    #[arg(long)]
    losses: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
}

#[cfg(feature = "parquet")]
const TABLES: [&str; 2] = ["connections.parquet", "losses.parquet"];

/// Reads all logs and prints what they say; of a damaged one, what came before the damage.
pub(super) fn run(args: &Args) -> Outcome {
    if args.schema {
        outputs::to_stdout(|out| RESULT.write_schema(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = outputs::json_and_csv(args.json.as_deref(), args.csv.as_deref())?;
    let inputs: Vec<_> = args.files.iter().map(PathBuf::as_path).collect();
    outputs::check(&files, &inputs)?;
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.parquet {
        outputs::check_in(directory, &TABLES, &inputs)?;
    }
    let Logs {
        connections,
        repeated,
        unread,
        damage,
    } = read_all(args)?;
    let reports: Vec<Report> = connections.iter().map(Connection::report).collect();
    let mut warnings = warnings(&connections, &reports);
    warnings.extend(unread);
    if repeated > 0 {
        warnings.push(format!(
            "connections that the logs have twice, packet by packet: {repeated}; they are counted once"
        ));
    }
    let found = Document {
        files: args
            .files
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        warnings,
        connections: reports,
    };
    print(args, &found)?;
    Ok(match damage {
        None => ExitCode::SUCCESS,
        Some(error) => {
            manners::complain(&error);
            ExitCode::from(DAMAGED)
        }
    })
}

/// What a file is that is no log: captures of QUIC are what people have beside logs.
fn not_a_log(path: &Path) -> Option<&'static str> {
    // What came out of a pipe does not come again.
    if inorder_pipeline::is_pipe(path) {
        return None;
    }
    Capture::open(path)
        .is_ok()
        .then_some("this is a capture, which `inorder analyze` reads; expected a qlog file")
}

/// The log, decompressed where it is compressed; `-` is the standard input.
fn open(path: &Path) -> Result<impl Read, CliError> {
    let raw: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else if path.is_dir() {
        let is_folder = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(CliError::file(path, "read")(is_folder));
    } else {
        Box::new(File::open(path).map_err(CliError::file(path, "open"))?)
    };
    inorder_capture::decompress(raw).map_err(CliError::file(path, "read"))
}

/// What is in all logs.
struct Logs {
    connections: Vec<Connection>,
    /// How many more of them were left out, since an earlier one says the same.
    repeated: usize,
    /// What was not read because the memory was used up.
    unread: Option<String>,
    /// The first damage.
    damage: Option<CliError>,
}

/// Reads all logs as far as the memory allows.
fn read_all(args: &Args) -> Result<Logs, CliError> {
    let (mut connections, mut damage, mut unread) = (Vec::new(), None, None);
    let mut room = Room::new(memory::limit(args.memory));
    for (i, path) in args.files.iter().enumerate() {
        let is_stdin = path == Path::new("-");
        let of_file = match read_within(open(path)?, &mut room) {
            Ok(of_file) => of_file,
            Err(error) => {
                let other = Some(path)
                    .filter(|_| !is_stdin)
                    .and_then(|path| not_a_log(path));
                let problem = CliError::Malformed {
                    place: match is_stdin {
                        true => "standard input".to_owned(),
                        false => path.display().to_string(),
                    },
                    problem: other.map_or(error.problem, str::to_owned),
                };
                if error.connections.is_empty() {
                    return Err(problem);
                }
                damage.get_or_insert(problem);
                error.connections
            }
        };
        connections.extend(of_file);
        if room.is_used_up() {
            unread = Some(unread_behind(path, args.files.len() - i - 1));
            break;
        }
    }
    let repeated = remove_repeated(&mut connections);
    join(&mut connections);
    Ok(Logs {
        connections,
        repeated,
        unread,
        damage,
    })
}

/// The memory was used up within this file, which this many others follow.
fn unread_behind(path: &Path, others: usize) -> String {
    let others = match others {
        0 => String::new(),
        others => format!(", nor {} behind it", plural(others as u64, "log")),
    };
    format!(
        "the memory was used up (--memory) within {}: the rest of it was not read{others}",
        path.display()
    )
}

fn warnings(connections: &[Connection], reports: &[Report]) -> Vec<String> {
    let mut warnings = Vec::new();
    if connections.is_empty() {
        warnings.push("the logs have no packet of a connection".to_owned());
    }
    let blind = connections.iter().filter(|c| !c.knows_deliveries()).count();
    if blind > 0 {
        warnings.push(format!(
            "connections without acknowledgements in their logs (quinn writes none): {blind}; what was delivered is only \
             known with the log of the other end"
        ));
    }
    let uncertain = reports.iter().filter(|r| r.arrivals.missing.is_none());
    let uncertain = uncertain.count();
    if uncertain > 0 {
        warnings.push(format!(
            "ends that miss numbers which the sender may have skipped on purpose (RFC 9000 section 21.4): {uncertain}; how many \
             were sent is only known with the log of the other end"
        ));
    }
    let unreadable: u64 = connections.iter().map(Connection::unreadable).sum();
    if unreadable > 0 {
        warnings.push(format!(
            "{} with members of types that no draft of qlog has: what they say is left out",
            plural(unreadable, "event")
        ));
    }
    let unknown: u64 = reports.iter().map(|report| report.declared.unknown).sum();
    if unknown > 0 {
        warnings.push(format!(
            "packets that were declared lost whose sending the logs lack: {}; they are not counted",
            count(unknown)
        ));
    }
    warnings
}

fn print(args: &Args, found: &Document) -> Result<(), CliError> {
    let losses: Vec<&LossRow> = found.connections.iter().flat_map(|c| &c.losses).collect();
    let mut written = outputs::Attempts::default();
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.parquet {
        written.of(outputs::directory(directory));
        let [connections, rows] = TABLES.map(|name| directory.join(name));
        written.of(outputs::to_parquet(
            &connections,
            CONNECTION,
            &found.connections,
        ));
        let all: Vec<LossRow> = losses.iter().map(|loss| (*loss).clone()).collect();
        written.of(outputs::to_parquet(&rows, LOSS, &all));
    }
    if let Some(path) = &args.json {
        written.of(outputs::write_to(path, |out| RESULT.write_json(out, found)));
    }
    if let Some(path) = &args.csv {
        written.of(outputs::write_to(path, |out| match args.rows.as_str() {
            "losses" => csv::write(out, LOSS, losses.iter().copied()),
            _ => csv::write(out, CONNECTION, &found.connections),
        }));
    }
    let files = [&args.json, &args.csv];
    if files
        .iter()
        .any(|path| path.as_deref().is_some_and(|path| path.as_os_str() == "-"))
    {
        return written.finish();
    }
    let style = outputs::style(0, false);
    let layout = Layout::default().width(style.width).bold(style.colour);
    written.of(outputs::text(|out| {
        if let Some(headline) = found.headline() {
            paragraph(out, &headline, "", style.width)?;
            writeln!(out)?;
        }
        text::write(out, CONNECTION, &found.connections, &layout)?;
        if args.losses && !losses.is_empty() {
            writeln!(out)?;
            text::write(out, LOSS, losses.iter().copied(), &layout)?;
        }
        for warning in &found.warnings {
            writeln!(out)?;
            paragraph(out, &format!("Note: {warning}."), "", style.width)?;
        }
        Ok(())
    }));
    written.finish()
}
