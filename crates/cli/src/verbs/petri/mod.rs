//! `inorder petri`: simulates, solves and analyses stochastic Petri nets.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use inorder_petri::draw::{Drawing, dot};
use inorder_petri::game::Game;
use inorder_petri::inspect::{
    Document, Error, Progress, Solving, Watch, Wishes, examine, examine_moves,
};
use inorder_petri::net::Net;
use inorder_petri::parameters::Parameters;
use inorder_petri::reachability::{Graph, Moves};
use inorder_petri::{pnml, text};

use crate::error::{CliError, ExitCode, Outcome};
use crate::outputs::{self, Comment};
use crate::progress::Bar;
use crate::{interrupt, manners};

mod coloured;
mod play;
mod simulation;
mod sweep;
mod trace;
mod unused;

/// Options of `inorder petri`.
#[derive(clap::Args)]
#[command(after_help = "\
A net is a text file, PNML (with timing in toolspecific), TINA's .net, a project of GreatSPN (PNPRO) or a net of TAPAAL \
(.tapn) without times. A text that begins with `coloured net` is a \
coloured net: tokens with fields, guards, expressions, parameters, sweeps, measures (docs/nets.md).\n\n\
The text format of other nets, one item per line:\n\
\x20 parameter NAME VALUE\n\
\x20 place NAME [TOKENS] [capacity MOST]\n\
\x20 transition NAME DELAY [servers N|infinite]\n\
\x20   in PLACE [N] | out PLACE [N] | inhibit PLACE [N] | read PLACE [N] | reset PLACE\n\
DELAY is one of\n\
\x20 immediate [priority N] [weight W] | exponential rate R | exponential mean M |\n\
\x20 deterministic D | uniform LOW HIGH | erlang STAGES rate R | empirical D[:W]... |\n\
\x20 normal mean M sd S | lognormal mean M sd S | weibull shape K scale L |\n\
\x20 triangular low A mode B high C\n\
Numbers may be expressions of parameters without spaces, as 2*load, and --set changes the parameters.\n\n\
A timed transition has a clock for each busy server: it starts when the tokens for it are there, and stops when they are \
gone. A clock belongs to no token: if a token leaves, the clock that started last stops (see docs/petri.md).\n\n\
A query is P(CONDITION), a probability; E(NUMBER), a mean; or a formula such as 'EF queue >= 3' or \
'AG !deadlock', with EX AX EF AF EG AG, E[f U g], A[f U g], deadlock, enabled(TRANSITION), ! & | =>, \
comparisons of sums, differences and products of places and numbers.\n\n\
Times are in the net's own unit. Without options the net is simulated until every throughput and mean \
number of tokens is known to 1 %, for 10 million mean delays of the slowest transition or 500 million firings at most, or until \
Ctrl-C.\n\n\
Examples:\n  inorder petri crates/petri/nets/repair.net\n  \
inorder petri --exact --set people=1,2,3 crates/petri/nets/repair.net\n  \
inorder petri --query 'P(broken >= 3)' crates/petri/nets/repair.net")]
pub(crate) struct Args {
    /// The net: text, coloured or not, PNML, a project of GreatSPN or a net of TAPAAL (if it begins with `<`), or a
    /// place/transition net in the format of TINA
    #[arg(required_unless_present_any = ["schema", "reference"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    wanted: Wanted,
    /// Play the token game: fire transitions by hand or by chance, and take them back
    #[arg(long, conflicts_with_all = ["simulate", "exact", "invariants", "reachability", "query", "states", "json"])]
    play: bool,
    /// Write every firing of a simulated run as a line of JSON: its time, transition and the marking after it. The run
    /// ends at --time, by default after 100 mean delays of the slowest transition
    #[arg(long, value_name = "OUT")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    written: Written,
    /// Name of the net to use, in a file with several
    #[arg(long, value_name = "NAME")]
    net: Option<String>,
    /// Leave out elements of this name in PNML, which are of another namespace and would be refused; may be repeated
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    /// The state at these times, exact with --exact or by --replications [default: 1000] runs: 1,2,5 or '0..10 step 0.5'
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["time", "warm_up"])]
    at: Option<String>,
    #[command(flatten)]
    simulation: simulation::Options,
    #[command(flatten)]
    coloured: coloured::Options,
}

/// What is asked about the net.
#[derive(clap::Args)]
struct Wanted {
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
}

/// Files into which the net is written.
#[derive(clap::Args)]
struct Written {
    /// Write the net as a Graphviz drawing
    #[arg(long, value_name = "OUT")]
    dot: Option<PathBuf>,
    /// Write the net as an SVG drawing
    #[arg(long, value_name = "OUT")]
    svg: Option<PathBuf>,
    /// Write the net as PNML
    #[arg(long, value_name = "OUT")]
    pnml: Option<PathBuf>,
    /// Write the net in the text format
    #[arg(long, value_name = "OUT")]
    text: Option<PathBuf>,
}

impl Args {
    /// Parameters with what is wanted of the file.
    fn choices(&self, parameters: Parameters) -> Parameters {
        parameters
            .of_net(self.net.clone())
            .ignoring(self.ignore.iter().cloned())
    }
}

/// Reads the net and runs the analyses that the options select.
pub(super) fn run(args: &Args) -> Outcome {
    if args.coloured.reference {
        outputs::to_stdout(|out| inorder_nets::write_reference(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    let source = args.file.as_deref().map(source).transpose()?;
    if let (Some(file), Some(Source::Coloured(text))) = (&args.file, &source) {
        return coloured::run(args, file, text);
    }
    let (Some(file), Some(source), false) = (&args.file, source, args.schema) else {
        outputs::to_stdout(inorder_petri::inspect::write_schema)?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(option) = args.coloured.of_coloured_nets() {
        let problem =
            format!("{option}: only for coloured nets, whose text begins with `coloured net`");
        return Err(CliError::Usage(problem));
    }
    let plan = sweep::Plan::new(&args.coloured.settings()?, args.at.as_deref())?;
    if !args.coloured.parameters && (plan.has_cells() || args.coloured.has_files()) {
        return sweep::run(args, &plan, file, &source);
    }
    let mut parameters = args.choices(plan.parameters());
    let net = read(file, &source, &mut parameters)?;
    sweep::check_names(&parameters)?;
    if args.coloured.parameters {
        sweep::list(&parameters)?;
        return Ok(ExitCode::SUCCESS);
    }
    unused::refuse(args, &net)?;
    draw(args, file, &net)?;
    if args.play {
        let game = Game::new(&net, args.simulation.seed);
        play::run(game, &mut std::io::stdin().lock(), &mut std::io::stdout())?;
        return Ok(ExitCode::SUCCESS);
    }
    let document = found(args, file, net, None)?;
    let mut written = outputs::Attempts::default();
    if let Some(path) = &args.trace {
        written.of(trace::write(&document.net, &args.simulation, path));
    }
    told(args, &document, written)
}

/// Writes and prints what was found.
fn told(args: &Args, document: &Document, mut written: outputs::Attempts) -> Outcome {
    if document.findings.was_interrupted && document.findings.is_empty() {
        written.finish()?;
        return Ok(interrupted(NO_RESULTS));
    }
    if let Some(path) = &args.wanted.states
        && let Some(graph) = &document.findings.graph
    {
        written.of(write_states(path, &document.net, graph));
    }
    written.of(match args.json {
        true => outputs::to_stdout(|out| document.write_json(out)),
        false => outputs::text(|out| document.write_text(out)),
    });
    written.finish()?;
    Ok(match document.findings.was_interrupted {
        true => interrupted(PARTIAL_RESULTS),
        false => ExitCode::SUCCESS,
    })
}

/// What is said of a job that Ctrl-C ended.
const NO_RESULTS: &str = "there are no results yet";
const PARTIAL_RESULTS: &str = "the results are partial";

/// The exit code of a job that Ctrl-C ended, after a line that says what became of it.
fn interrupted(results: &str) -> ExitCode {
    interrupt::ended(results).unwrap_or(ExitCode::SUCCESS)
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

fn read(path: &Path, source: &Source, parameters: &mut Parameters) -> Result<Net, CliError> {
    let bytes = match source {
        Source::Plain(bytes) => bytes.as_slice(),
        Source::Coloured(text) => text.as_bytes(),
    };
    let read = inorder_petri::inspect::read_with(&path.to_string_lossy(), bytes, parameters);
    read.map_err(|error| malformed(path, Some(error.line), error.problem()))
}

/// One line: the file, the line of it if there is one, and what is wrong.
fn malformed(path: &Path, line: Option<u32>, problem: String) -> CliError {
    let place = in_file(path, line.unwrap_or(0));
    CliError::Malformed { place, problem }
}

/// A file, with the line if it is not 0.
fn in_file(path: &Path, line: u32) -> String {
    match line {
        0 => path.display().to_string(),
        line => format!("{}:{line}", path.display()),
    }
}

/// The files that are written beside the results.
fn files(args: &Args) -> impl Iterator<Item = &PathBuf> {
    let files = [
        &args.written.dot,
        &args.written.svg,
        &args.written.pnml,
        &args.written.text,
        &args.wanted.states,
        &args.trace,
    ];
    files.into_iter().flatten()
}

/// Writes the drawings.
fn draw(args: &Args, file: &Path, net: &Net) -> Result<(), CliError> {
    let files: Vec<&Path> = files(args).map(PathBuf::as_path).collect();
    outputs::check(&files, &[file])?;
    let write = |path: &Option<PathBuf>, comment: Comment, content: &dyn Fn() -> String| match path
    {
        Some(path) => {
            outputs::to_marked_file(path, comment, |out| out.write_all(content().as_bytes()))
        }
        None => Ok(()),
    };
    write(&args.written.dot, Comment::Slashes, &|| dot(net))?;
    write(&args.written.svg, Comment::Xml, &|| Drawing::of(net).svg())?;
    write(&args.written.pnml, Comment::Xml, &|| pnml::write(net))?;
    write(&args.written.text, Comment::Hash, &|| text::print(net))
}

/// What is examined.
enum Subject<'m> {
    Net(Net),
    Moves(&'m mut dyn Moves),
}

/// What the options select, over the whole time or at a time.
fn found(args: &Args, file: &Path, net: Net, at: Option<f64>) -> Result<Document, CliError> {
    found_of(args, file, Subject::Net(net), at)
}

fn found_of(
    args: &Args,
    file: &Path,
    subject: Subject<'_>,
    at: Option<f64>,
) -> Result<Document, CliError> {
    let wishes = Wishes {
        simulate: simulates(args),
        exact: args.wanted.exact,
        invariants: args.wanted.invariants,
        reachability: args.wanted.reachability,
        queries: args.wanted.query.clone(),
        graph: args.wanted.states.is_some(),
        limit: args.wanted.limit,
        simulation: args.simulation.settings(at),
    };
    let bars = Bars::default();
    let watch = Watch {
        progress: &|progress| bars.show(progress),
        stop: interrupt::flag(),
    };
    let found = match subject {
        Subject::Net(net) => examine(net, &wishes, &watch),
        Subject::Moves(moves) => examine_moves(moves, &wishes, &watch),
    };
    found.map_err(|error| match error {
        Error::Query { .. } => CliError::Usage(format!("--{error}")),
        Error::Reserved => CliError::Usage(error.to_string()),
        // The net is well-formed, but the requested analysis does not apply to it.
        Error::NotApplicable { line, problem } => {
            CliError::Usage(format!("{}: {problem}", in_file(file, line)))
        }
        Error::Simulation(error) => malformed(file, None, error.to_string()),
    })
}

/// A bar for each kind of progress, made when it is needed.
#[derive(Default)]
struct Bars(RefCell<Option<Bar>>);

impl Bars {
    fn show(&self, progress: Progress) {
        let mut bar = self.0.borrow_mut();
        let bar = bar.get_or_insert_with(|| match progress {
            Progress::Runs { .. } => Bar::counting("", "runs"),
            _ => Bar::endless(),
        });
        match progress {
            Progress::Explored { markings, bytes } => {
                bar.say(format!("{markings} markings, {} MiB", bytes >> 20));
            }
            Progress::Solving { markings, solving } => {
                bar.say(format!("solving {markings} markings{}", how_far(solving)));
            }
            Progress::Simulated { time, worst } => bar.say(format!(
                "time {time:.6e}, worst interval {:.2} %",
                100.0 * worst
            )),
            Progress::Runs { done, most } => bar.at(u64::from(done), Some(u64::from(most))),
        }
    }
}

/// How far a solution has come.
fn how_far(solving: Solving) -> String {
    match solving {
        Solving::Eliminating { left } => format!(", {left} left to eliminate"),
        Solving::Iterating { cycles } => format!(", iteration {cycles}"),
        Solving::Jumping { done, most } => format!(", change {done} of {most} at most"),
    }
}

/// Writes the reachable markings.
fn write_states(path: &Path, net: &Net, graph: &Graph) -> Result<(), CliError> {
    if !graph.is_complete() {
        manners::complain(format_args!(
            "{}: only {} markings; more exist",
            path.display(),
            graph.len()
        ));
    }
    if path.extension().is_some_and(|end| end == "aut") {
        // The format has no comments, so that this file is replaced only with --force.
        return outputs::to_file(path, |out| graph.write_aut(net, out));
    }
    outputs::to_marked_file(path, Comment::Slashes, |out| graph.write_dot(net, out))
}

/// Whether the net is simulated: if that is asked for, or nothing else.
fn simulates(args: &Args) -> bool {
    let asks_for_something_else = args.wanted.exact
        || !args.wanted.query.is_empty()
        || args.wanted.invariants
        || args.wanted.reachability.is_some()
        || files(args).next().is_some();
    args.wanted.simulate || !asks_for_something_else
}
