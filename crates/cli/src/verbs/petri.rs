//! `inorder petri`: simulates, solves and analyses stochastic Petri nets.

use std::path::{Path, PathBuf};

use inorder_petri::draw::{Drawing, dot};
use inorder_petri::invariants::Invariants;
use inorder_petri::markov::Chain;
use inorder_petri::net::Net;
use inorder_petri::reachability::Report;
use inorder_petri::{pnml, race, text};

use inorder_report::json::Json;
use inorder_report::schema;

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome};
use crate::outputs::{self, Comment};

mod columns;
mod exact;
mod simulate;
mod structure;
mod table;
#[cfg(test)]
mod tests;

use columns::DOCUMENT;
use exact::Exact;
use simulate::Simulated;

/// Maximum number of markings for the exact solution.
const EXACT_LIMIT: usize = 2_000_000;

/// Options of `inorder petri`.
#[derive(clap::Args)]
#[command(after_help = "\
A net is a text file or PNML (with timing in toolspecific). The text format, one item per line:\n\
  place NAME [TOKENS] [capacity MOST]\n\
  transition NAME immediate [priority N] [weight W] | exponential rate R | exponential mean M |\n\
      deterministic D | uniform LOW HIGH | erlang STAGES rate R | empirical D[:W]...\n\
      [servers N|infinite]\n\
    in PLACE [N] | out PLACE [N] | inhibit PLACE [N] | read PLACE [N] | reset PLACE\n\
Times are in the net's own unit. Without options the net is simulated until every throughput and mean \
number of tokens is known to 1 %, or until Ctrl-C.")]
pub struct Args {
    /// The net: text, or PNML if it begins with `<`
    #[arg(required_unless_present = "schema")]
    file: Option<PathBuf>,
    /// Simulate (the default without any of the following options)
    #[arg(long)]
    simulate: bool,
    /// Solve the Markov chain exactly; delays must be exponential or Erlang
    #[arg(long)]
    exact: bool,
    /// List the P-invariants and T-invariants
    #[arg(long)]
    invariants: bool,
    /// Explore up to this many markings: deadlocks, bounds, dead transitions
    #[arg(long, value_name = "BOUND")]
    reachability: Option<usize>,
    /// Write the net as a Graphviz drawing
    #[arg(long, value_name = "OUT")]
    dot: Option<PathBuf>,
    /// Write the net as an SVG drawing
    #[arg(long, value_name = "OUT")]
    svg: Option<PathBuf>,
    /// Write the net as PNML
    #[arg(long, value_name = "OUT")]
    pnml: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    simulation: simulate::Options,
}

/// Everything that may be printed.
#[derive(Default)]
struct Findings {
    simulated: Option<Simulated>,
    exact: Option<Exact>,
    invariants: Option<Invariants>,
    reachability: Option<Report>,
}

/// The net and the findings.
struct Document {
    net: Net,
    findings: Findings,
}

/// Reads the net and runs the analyses that the options select.
pub fn run(args: &Args) -> Outcome {
    let (Some(file), false) = (&args.file, args.schema) else {
        let about =
            "What `inorder petri --json` prints; parts that were not requested are left out.";
        outputs::to_stdout(|out| schema::write(out, "inorder petri", about, DOCUMENT))?;
        return Ok(ExitCode::SUCCESS);
    };
    let net = read(file)?;
    draw(args, file, &net)?;
    let findings = examine(args, file, &net)?;
    let document = Document { net, findings };
    if args.json {
        outputs::to_stdout(|out| {
            let json = &mut Json::new(out).with_details(true);
            json.object(&columns::columns(&document), &document)?;
            writeln!(out)
        })?;
    } else {
        outputs::text(|out| table::write(&document.net, &document.findings, out))?;
    }
    let interrupted = document
        .findings
        .simulated
        .is_some_and(|simulated| simulated.was_interrupted);
    Ok(if interrupted {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

fn read(path: &Path) -> Result<Net, CliError> {
    let bytes = std::fs::read(path).map_err(CliError::file(path, "read"))?;
    let name = path.to_string_lossy();
    if bytes.trim_ascii_start().starts_with(b"<") || bytes.starts_with(b"\xef\xbb\xbf<") {
        return pnml::read(&name, &bytes).map_err(|error| {
            malformed(
                path,
                Some(error.line),
                format!("{}{}", error.element, error.mistake),
            )
        });
    }
    let Ok(source) = std::str::from_utf8(&bytes) else {
        let problem = "expected text or PNML, found other bytes";
        return Err(malformed(path, None, problem.to_owned()));
    };
    text::read(&name, source)
        .map_err(|error| malformed(path, Some(error.line), error.mistake.to_string()))
}

/// One line: the file, the line of it if there is one, and what is wrong.
fn malformed(path: &Path, line: Option<u32>, problem: String) -> CliError {
    let place = match line {
        Some(line) if line > 0 => format!("{}:{line}", path.display()),
        _ => path.display().to_string(),
    };
    CliError::Malformed { place, problem }
}

/// Writes the drawings.
fn draw(args: &Args, file: &Path, net: &Net) -> Result<(), CliError> {
    let files = [&args.dot, &args.svg, &args.pnml].into_iter().flatten();
    let files: Vec<&Path> = files.map(PathBuf::as_path).collect();
    outputs::check(&files, &[file])?;
    let write = |path: &Option<PathBuf>, comment: Comment, content: &dyn Fn() -> String| match path
    {
        Some(path) => {
            outputs::to_marked_file(path, comment, |out| out.write_all(content().as_bytes()))
        }
        None => Ok(()),
    };
    write(&args.dot, Comment::Slashes, &|| dot(net))?;
    write(&args.svg, Comment::Xml, &|| Drawing::of(net).svg())?;
    write(&args.pnml, Comment::Xml, &|| pnml::write(net))
}

fn examine(args: &Args, file: &Path, net: &Net) -> Result<Findings, CliError> {
    // The net is well-formed, but the requested analysis does not apply to it.
    let fails =
        |error: &dyn std::fmt::Display| CliError::Usage(format!("{}: {error}", file.display()));
    let mut findings = Findings::default();
    if args.invariants {
        findings.invariants = Some(Invariants::of(net).map_err(|error| fails(&error))?);
    }
    findings.reachability = args.reachability.map(|bound| Report::of(net, bound));
    if args.exact {
        let chain = Chain::new(net, EXACT_LIMIT).map_err(|error| fails(&error))?;
        findings.exact = Some(Exact::new(&chain).map_err(|error| fails(&error))?);
    }
    if args.simulate || !asks_for_something_else(args) {
        let simulated = simulate::run(net, &args.simulation)
            .map_err(|error| malformed(file, None, error.to_string()))?;
        findings.simulated = Some(simulated);
    }
    Ok(findings)
}

fn asks_for_something_else(args: &Args) -> bool {
    let files = [&args.dot, &args.svg, &args.pnml];
    args.exact
        || args.invariants
        || args.reachability.is_some()
        || files.iter().any(|file| file.is_some())
}

impl From<simulate::Memory> for race::Memory {
    fn from(memory: simulate::Memory) -> Self {
        match memory {
            simulate::Memory::Enabling => Self::Enabling,
            simulate::Memory::Age => Self::Age,
            simulate::Memory::Resampling => Self::Resampling,
        }
    }
}
