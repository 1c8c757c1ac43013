//! `inorder petri`: simulates, solves and analyses stochastic Petri nets.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use inorder_petri::draw::{Drawing, dot};
use inorder_petri::invariants::Invariants;
use inorder_petri::markov::{Chain, MarkovError};
use inorder_petri::net::Net;
use inorder_petri::query::Sum;
use inorder_petri::reachability::{Graph, Report};
use inorder_petri::{pnml, race, text, tina};

use inorder_report::json::Json;
use inorder_report::schema;

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome};
use crate::interrupt;
use crate::outputs::{self, Comment};
use crate::progress::Bar;

mod coloured;
mod columns;
mod exact;
mod play;
mod queries;
mod simulate;
mod structure;
mod table;
#[cfg(test)]
mod tests;
mod trace;

use columns::DOCUMENT;
use exact::Exact;
use queries::{Answer, Asked};
use simulate::Simulated;

/// Maximum number of markings that are explored, unless `--limit` says otherwise.
const MAX_MARKINGS: usize = 2_000_000;

/// Options of `inorder petri`.
#[derive(clap::Args)]
#[command(after_help = "\
A net is a text file, PNML (with timing in toolspecific), TINA's .net, a project of GreatSPN (PNPRO) or a net of TAPAAL \
(.tapn) without times. A text that begins with `coloured net` is a \
coloured net: tokens with fields, guards, expressions, parameters, sweeps, measures (docs/nets.md).\n\
The text format of other nets, one item per line:\n\
  place NAME [TOKENS] [capacity MOST]\n\
  transition NAME immediate [priority N] [weight W] | exponential rate R | exponential mean M |\n\
      deterministic D | uniform LOW HIGH | erlang STAGES rate R | empirical D[:W]... |\n\
      normal mean M sd S | lognormal mean M sd S | weibull shape K scale L | triangular low A mode B high C\n\
      [servers N|infinite]\n\
    in PLACE [N] | out PLACE [N] | inhibit PLACE [N] | read PLACE [N] | reset PLACE\n\
A query is P(CONDITION), a probability; E(NUMBER), a mean; or a formula such as 'EF queue >= 3' or \
'AG !deadlock', with EX AX EF AF EG AG, E[f U g], A[f U g], deadlock, enabled(TRANSITION), ! & | =>, \
comparisons of sums, differences and products of places and numbers.\n\
Times are in the net's own unit. Without options the net is simulated until every throughput and mean \
number of tokens is known to 1 %, or until Ctrl-C.")]
pub struct Args {
    /// The net: text, coloured or not, PNML, a project of GreatSPN or a net of TAPAAL (if it begins with `<`), or a
    /// place/transition net in the format of TINA
    #[arg(required_unless_present_any = ["schema", "reference"])]
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
    /// Answer a query: exact, or by simulation with --simulate; may be repeated
    #[arg(long, value_name = "QUERY")]
    query: Vec<String>,
    /// Write the reachable markings and the firings between them for Graphviz, or in the Aldebaran format if OUT ends
    /// in .aut
    #[arg(long, value_name = "OUT")]
    states: Option<PathBuf>,
    /// Explore at most this many markings for --exact, --query and --states [default: 2000000]; keep at most this many
    /// intermediate solutions for --invariants [default: 20000]
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    /// Play the token game: fire transitions by hand or by chance, and take them back
    #[arg(long, conflicts_with_all = ["simulate", "exact", "invariants", "reachability", "query", "states", "json"])]
    play: bool,
    /// Write every firing of a simulated run as a line of JSON: its time, transition and the marking after it. The run
    /// ends at --time, by default after 100 mean delays of the slowest transition
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
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
    #[command(flatten)]
    coloured: coloured::Options,
}

/// Everything that may be printed.
#[derive(Default)]
struct Findings {
    simulated: Option<Simulated>,
    exact: Option<Exact>,
    invariants: Option<Invariants>,
    reachability: Option<Report>,
    answers: Vec<Answer>,
    was_interrupted: bool,
}

/// The net and the findings.
struct Document {
    net: Net,
    findings: Findings,
}

/// Reads the net and runs the analyses that the options select.
pub fn run(args: &Args) -> Outcome {
    if args.coloured.reference {
        outputs::to_stdout(|out| inorder_nets::write_reference(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let source = args.file.as_deref().map(source).transpose()?;
    if let (Some(file), Some(Source::Coloured(text))) = (&args.file, &source) {
        return coloured::run(args, file, text);
    }
    let (Some(file), Some(source), false) = (&args.file, source, args.schema) else {
        let about =
            "What `inorder petri --json` prints; parts that were not requested are left out.";
        outputs::to_stdout(|out| schema::write(out, "inorder petri", about, DOCUMENT))?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(option) = args.coloured.given() {
        let problem =
            format!("{option}: only for coloured nets, whose text begins with `coloured net`");
        return Err(CliError::Usage(problem));
    }
    let net = read(file, &source)?;
    draw(args, file, &net)?;
    if args.play {
        let seed = args.simulation.seed;
        play::run(
            &net,
            seed,
            &mut std::io::stdin().lock(),
            &mut std::io::stdout(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
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
    Ok(if document.findings.was_interrupted {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

/// A file, by its format.
enum Source {
    Coloured(String),
    Plain(Vec<u8>),
}

fn source(path: &Path) -> Result<Source, CliError> {
    let bytes = std::fs::read(path).map_err(CliError::file(path, "read"))?;
    Ok(match std::str::from_utf8(&bytes) {
        Ok(text) if inorder_nets::is_coloured(text) => Source::Coloured(text.to_owned()),
        _ => Source::Plain(bytes),
    })
}

fn read(path: &Path, source: &Source) -> Result<Net, CliError> {
    let bytes = match source {
        Source::Plain(bytes) => bytes.as_slice(),
        Source::Coloured(text) => text.as_bytes(),
    };
    let name = path.to_string_lossy();
    if bytes.trim_ascii_start().starts_with(b"<") || bytes.starts_with(b"\xef\xbb\xbf<") {
        return pnml::read(&name, bytes).map_err(|error| {
            malformed(
                path,
                Some(error.line),
                format!("{}{}", error.element, error.mistake),
            )
        });
    }
    let Ok(source) = std::str::from_utf8(bytes) else {
        let problem = "expected text or PNML, found other bytes";
        return Err(malformed(path, None, problem.to_owned()));
    };
    let read = match tina::is_tina(source) {
        true => tina::read,
        false => text::read,
    };
    read(&name, source)
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
    let files = [&args.dot, &args.svg, &args.pnml, &args.states, &args.trace];
    let files = files.into_iter().flatten();
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
    let asked = queries::read(&args.query, net)?;
    check_queries(args, &asked)?;
    let mut findings = Findings::default();
    if args.invariants {
        let limit = args.limit.unwrap_or(Invariants::LIMIT);
        findings.invariants = Some(Invariants::limited(net, limit).map_err(|error| fails(&error))?);
    }
    if let Some(bound) = args.reachability {
        findings.reachability = Some(Report::of_graph(net, &explore(net, bound)));
    }
    examine_markings(args, net, &asked, &mut findings)?;
    let are_numbers_exact = !args.simulate && queries::numbers(&asked).next().is_some();
    if args.exact || are_numbers_exact {
        solve(args, net, &asked, &mut findings).map_err(|error| fails(&error))?;
    }
    if args.simulate || !asks_for_something_else(args) {
        let rewards: Vec<Sum> = queries::numbers(&asked)
            .map(|(_, sum)| sum.clone())
            .collect();
        let simulated = simulate::run(net, &args.simulation, &rewards)
            .map_err(|error| malformed(file, None, error.to_string()))?;
        let means = simulated.measures.rewards.iter().copied();
        let answers = queries::numbers(&asked).zip(means);
        findings
            .answers
            .extend(answers.map(|((text, _), mean)| queries::estimated(text, mean)));
        findings.simulated = Some(simulated);
    }
    if let Some(path) = &args.trace {
        trace::write(net, &args.simulation, path)?;
    }
    let place = |answer: &Answer| args.query.iter().position(|query| *query == answer.query);
    findings.answers.sort_by_key(place);
    findings.was_interrupted = interrupt::flag().load(Ordering::Relaxed);
    Ok(findings)
}

/// Refuses queries that the other options leave without an answer.
fn check_queries(args: &Args, asked: &[Asked]) -> Result<(), CliError> {
    if args.simulate && args.simulation.reserve && queries::numbers(asked).next().is_some() {
        let problem = "P(...) and E(...) are not estimated with --reserve, which holds tokens outside the places";
        return Err(CliError::Usage(problem.to_owned()));
    }
    Ok(())
}

/// What needs the reachable markings: formulas, and the file of them.
fn examine_markings(
    args: &Args,
    net: &Net,
    asked: &[Asked],
    findings: &mut Findings,
) -> Result<(), CliError> {
    if args.states.is_none() && queries::formulas(asked).next().is_none() {
        return Ok(());
    }
    let graph = explore(net, args.limit.unwrap_or(MAX_MARKINGS));
    let answers = queries::formulas(asked)
        .map(|(text, formula)| queries::checked(text, formula, net, &graph));
    findings.answers.extend(answers);
    let Some(path) = &args.states else {
        return Ok(());
    };
    if !graph.is_complete() {
        eprintln!(
            "inorder: {}: only {} markings; more exist",
            path.display(),
            graph.len()
        );
    }
    if path.extension().is_some_and(|end| end == "aut") {
        // The format has no comments, so that this file is replaced only with --force.
        return outputs::to_file(path, |out| graph.write_aut(net, out));
    }
    outputs::to_marked_file(path, Comment::Slashes, |out| graph.write_dot(net, out))
}

/// The exact solution in the long run, or at the time that was given.
fn solve(
    args: &Args,
    net: &Net,
    asked: &[Asked],
    findings: &mut Findings,
) -> Result<(), MarkovError> {
    let bar = Bar::endless();
    let limit = args.limit.unwrap_or(MAX_MARKINGS);
    let chain = Chain::new_while(net, limit, |graph| watch(&bar, graph))?;
    bar.say(format!("solving {} markings", chain.len()));
    let time = args.simulation.time;
    let solution = match time {
        Some(time) => chain.transient(time)?,
        None => chain.steady_state()?,
    };
    let answers =
        queries::numbers(asked).map(|(text, sum)| queries::solved(text, sum, net, &solution));
    if !args.simulate {
        findings.answers.extend(answers);
    }
    if args.exact {
        findings.exact = Some(Exact::new(&chain, &solution, time));
    }
    Ok(())
}

/// The reachable markings; Ctrl-C ends the exploration.
fn explore(net: &Net, limit: usize) -> Graph {
    let bar = Bar::endless();
    Graph::explore_while(net, limit, |graph| watch(&bar, graph))
}

/// Tells how far the exploration got, and whether to go on.
fn watch(bar: &Bar, graph: &Graph) -> bool {
    let mebibytes = graph.memory_footprint() >> 20;
    bar.say(format!("{} markings, {mebibytes} MiB", graph.len()));
    !interrupt::flag().load(Ordering::Relaxed)
}

fn asks_for_something_else(args: &Args) -> bool {
    let files = [&args.dot, &args.svg, &args.pnml, &args.states, &args.trace];
    args.exact
        || !args.query.is_empty()
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
