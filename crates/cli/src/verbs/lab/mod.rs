//! `inorder lab`: runs scenarios on a real Linux kernel, in User Mode Linux with a virtual clock.

use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use inorder_capture::{Block, Capture, PcapWriter};
use inorder_lab::agreement;
use inorder_lab::beside::SideBySide;
use inorder_lab::campaign::{self, Done};
use inorder_lab::place::{ENGINES, Place, Wanted};
use inorder_lab::plan::Ways;
use inorder_lab::program::guest;
use inorder_lab::report::CAPTURES;
use inorder_scenario::{Cell, Scenario};
use inorder_sim::output::{self, Report};
use inorder_wire::LinkType;

use super::runs::{Changes, Outputs, names, prepare_captures, simulated};
use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome, usage};
use crate::progress::Bar;
use crate::{interrupt, manners, outputs};

mod kernel;
mod module;

/// Options of `inorder lab`.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
The scenarios are those of `inorder simulate`, and so are the results. The kernel is User Mode Linux: an ordinary \
process without privileges, whose clock jumps from event to event, so that a slow or busy machine changes nothing. \
What real Linux cannot do is refused with its place in the file. Random numbers are the kernel's own: runs differ \
from each other, and intervals say by how much. See docs/lab.md.\n\n\
Examples:\n  inorder lab kernel\n  inorder lab path.toml --repetitions 5\n  inorder lab --beside-simulation \
path.toml --html side-by-side.html"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// The scenario file
    #[arg(value_name = "SCENARIO.toml", required = true)]
    file: Option<PathBuf>,
    /// The kernel that runs it: uml (User Mode Linux, whose clock is virtual), uml-package (that of Debian's package
    /// user-mode-linux, in real time), netns (namespaces of this system's own kernel, as root, in real time)
    #[arg(long, value_name = "ENGINE", default_value = "uml", value_parser = engines())]
    engine: Wanted,
    /// Also simulate the scenario, and say whether the two agree within 15 %
    #[arg(long)]
    beside_simulation: bool,
    /// Write the comparison of --beside-simulation to FILE as CSV
    #[arg(long, value_name = "FILE", requires = "beside_simulation")]
    agreement: Option<PathBuf>,
    #[command(flatten)]
    changes: Changes,
    #[command(flatten)]
    outputs: Outputs,
    /// Write captures of both ends of the first run of each cell into DIR: NAME.snd.pcap, NAME.rcv.pcap
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Print what would be set up in each cell, as commands, and run nothing
    #[arg(long)]
    print_commands: bool,
}

/// Names of what a scenario may run on.
fn engines() -> impl TypedValueParser<Value = Wanted> {
    let of = |name: &str| ENGINES.iter().find(|(known, _)| *known == name);
    PossibleValuesParser::new(ENGINES.map(|(name, _)| name))
        .map(move |name| of(&name).map_or(Wanted::Uml, |(_, wanted)| *wanted))
}

#[derive(clap::Subcommand)]
enum Action {
    /// Build the kernel once and keep it in the cache; print its path
    Kernel(kernel::Args),
    /// Build modules for that kernel and keep them beside it
    Module(module::Args),
}

/// Runs the cells and prints the results; after Ctrl-C the results so far are printed.
pub(super) fn run(args: &Args) -> Outcome {
    let file = match (&args.action, &args.file) {
        (Some(Action::Kernel(args)), _) => return kernel::run(args),
        (Some(Action::Module(args)), _) => return module::run(args),
        (None, Some(file)) => file,
        (None, None) => return usage!("expected a scenario"),
    };
    let (scenario, cells) = args.changes.cells(file, args.outputs.draws())?;
    let ways = args.engine.ways().map_err(CliError::Lab)?;
    let checked = args.engine.check(&scenario, &cells, ways);
    checked.map_err(CliError::usage)?;
    if args.print_commands {
        return print_commands(&scenario, &cells, ways);
    }
    prepare(args, file, cells.len())?;
    let stop = interrupt::flag();
    let place = args.engine.place(&cells, ways).map_err(CliError::Lab)?;
    let done = on_linux(args, file, &scenario, &cells, stop, place)?;
    let simulated = match args.beside_simulation {
        true => Some(simulated(&args.changes, &args.outputs, &cells, stop)?),
        false => None,
    };
    print(
        args,
        file,
        &cells,
        &SideBySide::new(&done, simulated.as_ref()),
        stop.load(Ordering::Relaxed),
    )?;
    for failure in &done.failures {
        manners::complain_in_lines(failure);
    }
    if stop.load(Ordering::Relaxed) {
        let made = done.cells.iter().map(|cell| cell.result.seeds.len()).sum();
        manners::complain(format_args!(
            "interrupted: the results are partial, {}",
            args.changes.runs_done(&cells, made)
        ));
        return Ok(ExitCode(INTERRUPTED));
    }
    Ok(if done.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn print_commands(scenario: &Scenario, cells: &[Cell], ways: Ways) -> Outcome {
    outputs::to_stdout(|out| {
        for (number, cell) in cells.iter().enumerate() {
            for (axis, value) in &cell.labels {
                writeln!(out, "# {axis} = {value}")?;
            }
            // Every cell has been planned before.
            let plan = inorder_lab::plan::plan(scenario, number, cell, cell.config.run.seed, ways);
            for command in plan.iter().flat_map(inorder_lab::plan::Plan::commands) {
                writeln!(out, "{command}")?;
            }
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Checks the outputs before the first run.
fn prepare(args: &Args, scenario: &Path, cells: usize) -> Result<(), CliError> {
    args.outputs.prepare(scenario)?;
    if let Some(path) = &args.agreement {
        outputs::check(&[path], &[scenario])?;
    }
    match &args.pcap {
        Some(dir) => prepare_captures(scenario, cells, dir, capture_files),
        None => Ok(()),
    }
}

fn capture_files(dir: &Path, name: &str) -> [PathBuf; 2] {
    ["snd.pcap", "rcv.pcap"].map(|end| dir.join(format!("{name}.{end}")))
}

fn on_linux(
    args: &Args,
    file: &Path,
    scenario: &Scenario,
    cells: &[Cell],
    stop: &AtomicBool,
    place: Place,
) -> Result<Done, CliError> {
    if place.ways() == Ways::Emulated {
        manners::notice(
            "this kernel has no netem (sch_netem): `inorder emulate` stands for the paths",
        );
    }
    let guest = guest().map_err(CliError::Lab)?;
    let bar = Bar::simulated();
    let names: Vec<String> = names(file, cells.len()).collect();
    let keep = |cell: usize, folder: &Path| match (&args.pcap, names.get(cell)) {
        (Some(dir), Some(name)) => keep_captures(dir, name, folder),
        _ => Ok(()),
    };
    let campaign = campaign::Campaign {
        scenario,
        cells,
        place,
        guest: &guest,
        repetitions: args.changes.repetitions().unwrap_or(0),
        threads: args.changes.threads,
        progress: &bar,
        stop,
        keep: &keep,
    };
    campaign::run_all(&campaign).map_err(CliError::Lab)
}

/// Writes the captures of a run where the user wants them.
fn keep_captures(dir: &Path, name: &str, folder: &Path) -> Result<(), String> {
    for (from, to) in CAPTURES.iter().zip(capture_files(dir, name)) {
        copy(&folder.join(from), &to).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), CliError> {
    let mut capture = Capture::open(from)?;
    let (file, draft) = outputs::create(to)?;
    let out = BufWriter::with_capacity(1 << 18, file);
    let mut writer = PcapWriter::new(out, LinkType::ETHERNET, 65_535)?;
    let mut block = Block::default();
    while capture.read_block(&mut block)? {
        for frame in block.frames() {
            writer.write(&frame)?;
        }
    }
    let flushed = writer.into_inner().into_inner();
    flushed
        .map_err(std::io::IntoInnerError::into_error)
        .and_then(|_| draft.keep())
        .map_err(CliError::file(to, "write"))
}

fn print(
    args: &Args,
    file: &Path,
    cells: &[Cell],
    done: &SideBySide,
    is_partial: bool,
) -> Result<(), CliError> {
    let SideBySide {
        results,
        agreements,
    } = done;
    let name = file.display().to_string();
    let report = Report {
        file: &name,
        title: cells.first().map_or("", |cell| cell.config.title.as_str()),
        cells: &results.cells,
        first_runs: &results.first_runs,
        is_partial,
    };
    let width = outputs::style(0, false).width;
    let mut written = outputs::Attempts::default();
    if !args.outputs.take_stdout() {
        written.of(outputs::text(|out| {
            output::write_table(out, &report, width)?;
            if !agreements.is_empty() {
                writeln!(out)?;
                agreement::write_table(out, agreements, width)?;
            }
            Ok(())
        }));
    }
    if let Some(path) = &args.agreement {
        written.of(outputs::to_file(path, |out| {
            agreement::write_csv(out, agreements)
        }));
    }
    written.of(args.outputs.write(&report));
    written.finish()
}
