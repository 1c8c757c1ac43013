//! `inorder petri` of a coloured net: parameters, sweeps, repetitions, and where the results go.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use inorder_nets::{Campaign, NetError, Program, Report, Study, write_schema};
use inorder_petri::game::Game;
use inorder_report::number::plural;

use super::Args;
use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::outputs;
use crate::progress::Bar;
use crate::{interrupt, manners};

/// Options of nets with parameters; some are of coloured nets only.
#[derive(clap::Args)]
#[group(id = "coloured-options")]
pub(super) struct Options {
    /// Set a parameter, or sweep it: engines=16, engines=1,2,4 or 'load=0.1..0.9 step 0.2'
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// List the parameters with their values
    #[arg(long)]
    pub parameters: bool,
    /// Print the reference of the language of coloured nets, in Markdown
    #[arg(long)]
    pub reference: bool,
    /// Coloured net: independent runs of each cell [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: Option<u32>,
    /// Coloured net: threads [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = manners::threads)]
    threads: Option<usize>,
    /// Print CSV instead of text, or write it to FILE: a row for each number of each cell
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Write the rows of --csv as a Parquet file
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Write a page with a chart of each measure over the cells
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Options {
    /// The first option that was given and that only coloured nets have.
    pub(super) fn of_coloured_nets(&self) -> Option<&'static str> {
        let all = [
            ("--repetitions", self.repetitions.is_some()),
            ("--threads", self.threads.is_some()),
        ];
        all.into_iter()
            .find_map(|(name, given)| given.then_some(name))
    }

    /// Whether the numbers go into files or onto a page.
    pub(super) fn has_files(&self) -> bool {
        self.csv.is_some() || self.html.is_some() || self.parquet_file().is_some()
    }

    /// The files that are written.
    pub(super) fn files(&self, json: bool) -> Result<Vec<&Path>, CliError> {
        let json = json.then(|| Path::new("-"));
        let mut files = outputs::json_and_csv(json, self.csv.as_deref())?;
        files.extend(self.html.as_deref());
        files.extend(self.parquet_file());
        Ok(files)
    }

    #[cfg(feature = "parquet")]
    fn parquet_file(&self) -> Option<&Path> {
        self.parquet.as_deref()
    }

    #[cfg(not(feature = "parquet"))]
    #[expect(
        clippy::unused_self,
        reason = "without the feature there is no such option"
    )]
    fn parquet_file(&self) -> Option<&Path> {
        None
    }

    /// Pairs of a name and its values.
    pub(super) fn settings(&self) -> Result<Vec<(String, String)>, CliError> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), value.to_owned()))
            }
            _ => usage!("--set: expected NAME=VALUE, found {text}"),
        };
        self.set.iter().map(pair).collect()
    }
}

/// Reads and runs a coloured net.
pub(super) fn run(args: &Args, file: &Path, text: &str) -> Outcome {
    if args.schema {
        outputs::to_stdout(write_schema)?;
        return Ok(ExitCode::SUCCESS);
    }
    refuse(args)?;
    let options = &args.coloured;
    outputs::check(&options.files(args.json)?, &[file])?;
    let program = Program::read(&file.to_string_lossy(), text, &mut load).map_err(malformed)?;
    let study = program.study(&options.settings()?).map_err(malformed)?;
    if options.parameters {
        outputs::to_stdout(|out| {
            let all = study.parameters().map_err(std::io::Error::other)?;
            all.iter().try_for_each(|p| {
                writeln!(
                    out,
                    "{:<28} {:<16} {:<32} {}",
                    p.name, p.value, p.expected, p.about
                )
            })
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    if is_open(args) {
        return open(args, file, &study);
    }
    let (results, interrupted) = simulate(args, &study)?;
    write(
        args,
        &Report::new(study.name(), study.axes(), results, interrupted),
    )?;
    Ok(match interrupted {
        true => super::interrupted(super::PARTIAL_RESULTS),
        false => ExitCode::SUCCESS,
    })
}

/// Whether something else is wanted than runs.
fn is_open(args: &Args) -> bool {
    let files = [
        &args.written.dot,
        &args.written.svg,
        &args.wanted.states,
        &args.trace,
    ];
    args.wanted.exact
        || args.play
        || args.wanted.reachability.is_some()
        || !args.wanted.query.is_empty()
        || files.into_iter().any(Option::is_some)
}

/// Drawings, the token game, traces, and what follows from the states.
fn open(args: &Args, file: &Path, study: &Study) -> Outcome {
    if study.len() > 1 {
        let problem =
            "this is of one net, and parameters have several values; --set NAME=VALUE chooses one";
        return Err(CliError::Usage(problem.to_owned()));
    }
    super::draw(args, file, &study.picture().map_err(malformed)?)?;
    if let Some(path) = &args.trace {
        super::trace::write_coloured(study, &args.simulation, path)?;
    }
    if args.play {
        let game = Game::of_moves(study.states().map_err(malformed)?, args.simulation.seed);
        let game = game.map_err(|problem| super::malformed(file, None, problem))?;
        super::play::run(game, &mut std::io::stdin().lock(), &mut std::io::stdout())?;
        return Ok(ExitCode::SUCCESS);
    }
    let wants_states = args.wanted.exact
        || args.wanted.reachability.is_some()
        || !args.wanted.query.is_empty()
        || args.wanted.states.is_some();
    if !wants_states {
        return Ok(ExitCode::SUCCESS);
    }
    let mut states = study.states().map_err(malformed)?;
    let document = super::found_of(args, file, super::Subject::Moves(states.as_mut()), None)?;
    super::told(args, &document, outputs::Attempts::default())
}

/// Refuses options of plain nets.
fn refuse(args: &Args) -> Result<(), CliError> {
    let options = [
        ("--invariants", args.wanted.invariants),
        ("--pnml", args.written.pnml.is_some()),
        ("--text", args.written.text.is_some()),
        ("--net", args.net.is_some()),
        ("--ignore", !args.ignore.is_empty()),
        ("--at", args.at.is_some()),
    ];
    let own = options
        .into_iter()
        .find_map(|(name, given)| given.then_some(name));
    let timed = args.wanted.exact || !args.wanted.query.is_empty() || args.trace.is_some();
    let of_runs = |name: &&str| !(timed && *name == "--time");
    if let Some(name) = own.or_else(|| args.simulation.given().find(of_runs)) {
        return usage!(
            "{name}: only for place/transition nets; a coloured net says itself how long it runs and what is measured, \
             and --set changes its parameters"
        );
    }
    if args.wanted.limit.is_some()
        && !(args.wanted.exact || !args.wanted.query.is_empty() || args.wanted.states.is_some())
    {
        return usage!("--limit: only with --exact, --query or --states");
    }
    if args.wanted.simulate && is_open(args) {
        let problem =
            "--simulate: a coloured net is simulated without options, and not together with these";
        return Err(CliError::Usage(problem.to_owned()));
    }
    if is_open(args) && (args.coloured.has_files() || args.coloured.repetitions.is_some()) {
        return usage!("--csv, --html, --parquet, --repetitions: only for the numbers of runs");
    }
    Ok(())
}

/// An included file: its name is relative to the file that includes it.
fn load(includer: &str, name: &str) -> Result<(String, String), String> {
    let path = match Path::new(includer).parent() {
        Some(folder) => folder.join(name),
        None => PathBuf::from(name),
    };
    let text = crate::read_named(&path).map_err(|error| error.to_string())?;
    Ok((path.to_string_lossy().into_owned(), text))
}

pub(super) fn malformed(error: NetError) -> CliError {
    let place = match error.line {
        0 => error.file,
        line => format!("{}:{line}:{}", error.file, error.column),
    };
    CliError::Malformed {
        place,
        problem: error.problem,
    }
}

fn simulate(args: &Args, study: &Study) -> Result<(Vec<inorder_nets::CellResult>, bool), CliError> {
    let repetitions = args.coloured.repetitions.unwrap_or(1);
    let runs = study.len() as u64 * u64::from(repetitions);
    let stop = interrupt::flag();
    if runs > 1 {
        let cells = plural(study.len() as u64, "cell");
        manners::notice(&format!("{cells}, {}", plural(runs, "run")));
    }
    let (bar, done) = (Bar::simulated(), AtomicU64::new(0));
    let campaign = Campaign {
        seed: args.simulation.seed,
        repetitions,
        threads: args.coloured.threads.unwrap_or(0),
        progress: &|more| {
            let done = done.fetch_add(more, Ordering::Relaxed) + more;
            bar.say(format!("{}/{runs} runs", done / 1000));
            bar.at(done, Some(1000 * runs));
        },
        stop,
    };
    let results = study.run(&campaign).map_err(malformed);
    drop(bar);
    Ok((results?, stop.load(Ordering::Relaxed)))
}

/// Writes the numbers where the options say.
pub(super) fn write(args: &Args, report: &Report) -> Result<(), CliError> {
    let options = &args.coloured;
    let mut written = outputs::Attempts::default();
    if let Some(path) = &options.html {
        written.of(outputs::write_to(path, |out| report.write_page(out)));
    }
    #[cfg(feature = "parquet")]
    if let Some(path) = &options.parquet {
        written.of(outputs::replace(path, |file| report.write_parquet(file)));
    }
    if args.json {
        written.of(outputs::to_stdout(|out| report.write_json(out)));
    }
    if let Some(path) = &options.csv {
        written.of(outputs::write_to(path, |out| report.write_csv(out)));
    }
    let printed = options
        .csv
        .iter()
        .chain(&options.html)
        .any(|path| path.as_os_str() == "-");
    if !args.json && printed {
        // A table for programs has no room for sentences.
        report.doubts().for_each(|doubt| manners::notice(&doubt));
    }
    if !args.json && !printed {
        let width = outputs::style(0, false).width;
        written.of(outputs::text(|out| report.write_text(out, width)));
    }
    written.finish()
}
