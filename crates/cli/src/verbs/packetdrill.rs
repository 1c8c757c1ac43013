//! `inorder packetdrill`: runs scripts in the packetdrill language against the simulated endpoints.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use inorder_packetdrill::setup::Setup;
use inorder_packetdrill::table::{self, Row, Summary};
use inorder_packetdrill::{Options, run_text};
use inorder_report::escape::printable_lines;
use inorder_tcp::profiles::{self, PROFILES, Profile};

use crate::error::{CliError, ExitCode, Outcome};
use crate::manners;

/// Options of `inorder packetdrill`.
#[derive(clap::Args)]
#[command(after_help = "\
Scripts run in virtual time against the endpoints `inorder simulate` uses; nothing is sent and no \
command of a script is executed: settings of the stack are applied, other commands are reported. \
A script with an unsupported statement counts as unsupported, not as passed.\n\n\
Exit codes: 0 all passed, 1 some failed or could not be read, 2 none failed, but some are unsupported.\n\n\
Examples:\n  inorder packetdrill --verbose crates/packetdrill/scripts/*.pkt\n  \
inorder packetdrill --set net.ipv4.tcp_syn_linear_timeouts=4 *.pkt")]
pub(crate) struct Args {
    /// Scripts
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The profile of the stack with which a script starts
    #[arg(long, value_name = "NAME", default_value = "linux-6",
          value_parser = clap::builder::PossibleValuesParser::new(PROFILES.iter().map(|p| p.name)))]
    profile: String,
    /// A setting that holds before the script's own: of the system (net.ipv4.tcp_ecn=3), or an option of scripts (mtu=9000)
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// Tolerance for times, microseconds, instead of the script's own (4000 if the script sets none)
    #[arg(long, value_name = "US")]
    tolerance_usecs: Option<u64>,
    /// Print every packet, call and value as it happens
    #[arg(long)]
    verbose: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the scripts.
pub(super) fn run(args: &Args) -> Outcome {
    let profile = profile(&args.profile)?;
    let mut trial = Setup::new(profile);
    for (name, value) in &args.set {
        let unsupported = |message| CliError::Usage(format!("--set: {message} is not supported"));
        trial.set(name, value).map_err(unsupported)?;
    }
    let options = Options {
        profile,
        set: &args.set,
        tolerance: args.tolerance_usecs.map(crate::verbs::nanoseconds),
        trace: args.verbose,
    };
    let (rows, unreadable) = rows(&args.files, &options);
    let mut out = io::stdout().lock();
    if args.json {
        let text = table::json(&rows).map_err(io::Error::from)?;
        writeln!(out, "{text}")?;
    } else if !manners::is_quiet() {
        print_traces(&mut out, &rows)?;
        write!(out, "{}", printable_lines(&table::text(&rows)))?;
    }
    Ok(if unreadable {
        ExitCode::FAILURE
    } else {
        ExitCode::from(Summary::of(&rows).exit_status())
    })
}

/// Runs every script. A script that cannot be read is reported and does not stop the others.
fn rows(files: &[PathBuf], options: &Options) -> (Vec<Row>, bool) {
    let mut rows = Vec::new();
    for file in files {
        match row(file, options) {
            Ok(row) => rows.push(row),
            Err(error) => manners::complain(&error),
        }
    }
    let unreadable = rows.len() < files.len();
    (rows, unreadable)
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn profile(name: &str) -> Result<&'static Profile, CliError> {
    profiles::find(name).ok_or_else(|| CliError::Usage(format!("no profile is called {name:?}")))
}

fn row(file: &Path, options: &Options<'_>) -> Result<Row, CliError> {
    let bytes = fs::read(file).map_err(CliError::file(file, "read"))?;
    Ok(Row {
        file: file.display().to_string(),
        outcome: run_text(&String::from_utf8_lossy(&bytes), options),
    })
}

fn print_traces(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    for row in rows.iter().filter(|row| !row.outcome.trace.is_empty()) {
        writeln!(out, "{}\n{}\n", row.file, row.outcome.trace.join("\n"))?;
    }
    Ok(())
}
