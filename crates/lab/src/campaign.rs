//! Runs the cells of a scenario as often as it says, several machines at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use inorder_live::emulator::Seen;
use inorder_scenario::{Cell, Config, Scenario};
use inorder_sim::{CellResult, Engine, Progress, RunResult, Values, repetition_seed};
use tempfile::TempDir;

use crate::host;
use crate::leftovers;
use crate::place::Place;
use crate::plan::{Plan, WIRE, plan};
use crate::report::{PLAN, REPORT, Report, StageReport};
use crate::results::{measured, result};
use crate::root::Root;
use crate::uml::{Machine, MachineError};

/// Prefix of the folders for runs; the number of the process follows.
const FOLDER: &str = "inorder-lab-";

/// How to run a campaign.
pub struct Campaign<'a> {
    /// The scenario, for the places of errors.
    pub scenario: &'a Scenario,
    /// Its cells.
    pub cells: &'a [Cell],
    /// Where they run.
    pub place: Place,
    /// The guest's program.
    pub guest: &'a Path,
    /// Number of runs of each cell; 0 for the number in the scenario.
    pub repetitions: u64,
    /// Number of machines at once; 0 for one per processor.
    pub threads: usize,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// As soon as this is true, no further run starts, and machines are ended without a result.
    pub stop: &'a AtomicBool,
    /// Gets the folder of the first run of each cell with its captures, before it is removed.
    pub keep: &'a (dyn Fn(usize, &Path) -> Result<(), String> + Sync),
}

/// The runs of a cell.
pub struct CellRuns {
    /// The measures over all runs.
    pub result: CellResult,
    /// The first run.
    pub first: Option<RunResult>,
}

/// What became of a campaign.
pub struct Done {
    /// The cells.
    pub cells: Vec<CellRuns>,
    /// Runs that have no result, and why.
    pub failures: Vec<String>,
}

/// A run to be made.
struct Task {
    cell: usize,
    repetition: u64,
    seed: u64,
    plan: Plan,
}

/// A run that was made.
type Made = Result<(Values, Option<RunResult>, Arc<Engine>), String>;

/// What the threads share.
struct Shared<'a> {
    campaign: &'a Campaign<'a>,
    tasks: Vec<Task>,
    made: Mutex<Vec<Option<Made>>>,
    next: AtomicUsize,
    done: AtomicUsize,
    passed_ns: AtomicU64,
    folder: TempDir,
    root: PathBuf,
}

/// Runs every cell as often as wanted.
///
/// # Errors
/// If the campaign cannot start.
pub fn run_all(campaign: &Campaign<'_>) -> Result<Done, String> {
    leftovers::remove(&std::env::temp_dir(), FOLDER);
    let folder = tempfile::Builder::new()
        .prefix(&format!("{FOLDER}{}-", std::process::id()))
        .tempdir();
    let folder = folder.map_err(|error| format!("a folder for the runs: {error}"))?;
    let root = folder.path().join("root.cpio");
    if campaign.place.boots() {
        pack(campaign.guest, &root)?;
    }
    let tasks = tasks(campaign)?;
    let shared = Shared {
        campaign,
        made: Mutex::new((0..tasks.len()).map(|_| None).collect()),
        tasks,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        passed_ns: AtomicU64::new(0),
        folder,
        root,
    };
    std::thread::scope(|scope| {
        for _ in 0..threads(campaign.threads).min(shared.tasks.len()) {
            scope.spawn(|| work(&shared));
        }
    });
    Ok(collect(shared))
}

fn pack(guest: &Path, root: &Path) -> Result<(), String> {
    let packed = Root::new(guest).and_then(|files| {
        let mut out = std::io::BufWriter::new(std::fs::File::create(root)?);
        files.write(&mut out)?;
        out.into_inner()
            .map_err(std::io::IntoInnerError::into_error)?
            .sync_all()
    });
    packed.map_err(|error| format!("packing the guest's root: {error}"))
}

/// All runs. Repetitions vary slowest, so that after an interruption every cell has some.
fn tasks(campaign: &Campaign<'_>) -> Result<Vec<Task>, String> {
    let wanted = |cell: &Cell| match campaign.repetitions {
        0 => cell.config.run.repetitions,
        given => given,
    };
    let most = campaign.cells.iter().map(wanted).max().unwrap_or(0);
    let mut tasks = Vec::new();
    for repetition in 0..most {
        for (number, cell) in campaign
            .cells
            .iter()
            .enumerate()
            .filter(|(_, cell)| repetition < wanted(cell))
        {
            let seed = repetition_seed(cell.config.run.seed, repetition);
            let mut plan = plan(campaign.scenario, number, cell, seed, campaign.place.ways())
                .map_err(|error| error.to_string())?;
            campaign.place.add_modules(&mut plan);
            tasks.push(Task {
                cell: number,
                repetition,
                seed,
                plan,
            });
        }
    }
    Ok(tasks)
}

fn threads(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        wanted => wanted,
    }
}

fn work(shared: &Shared<'_>) {
    while !shared.campaign.stop.load(Ordering::Relaxed) {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = shared.tasks.get(number) else {
            return;
        };
        let made = one(shared, number, task);
        shared.done.fetch_add(1, Ordering::Relaxed);
        shared.passed(0);
        if let Some(place) = lock(&shared.made).get_mut(number) {
            *place = made;
        }
    }
}

impl Shared<'_> {
    /// Adds virtual time that has passed.
    fn passed(&self, ns: u64) {
        let passed = self.passed_ns.fetch_add(ns, Ordering::Relaxed) + ns;
        let all: f64 = self
            .tasks
            .iter()
            .map(|task| task.plan.duration_ns as f64)
            .sum();
        let done = self.done.load(Ordering::Relaxed);
        self.campaign.progress.at(
            done,
            self.tasks.len(),
            (passed as f64 / all.max(1.0)).min(1.0),
        );
    }
}

/// Makes one run; nothing if the user stopped it.
fn one(shared: &Shared<'_>, number: usize, task: &Task) -> Option<Made> {
    let folder = shared.folder.path().join(format!("run-{number}"));
    let made = try_one(shared, task, &folder);
    // What is left goes with the campaign's folder.
    let _ = std::fs::remove_dir_all(&folder);
    match made {
        Err(Failed::Stopped) => None,
        Err(Failed::Why(why)) => {
            let cell = shared.campaign.cells.get(task.cell);
            let labels = cell.map(|cell| {
                cell.labels
                    .iter()
                    .map(|(axis, value)| format!("{axis} = {value}"))
                    .collect::<Vec<_>>()
            });
            let labels = labels.unwrap_or_default().join(", ");
            Some(Err(format!(
                "run {} of the cell ({labels}): {why}",
                task.repetition + 1
            )))
        }
        Ok(made) => Some(Ok(made)),
    }
}

/// Why a run has no result.
enum Failed {
    Stopped,
    Why(String),
}

impl Failed {
    /// What went wrong, and with what.
    fn with(what: &str, error: &dyn std::fmt::Display) -> Self {
        Failed::Why(format!("{what}: {error}"))
    }
}

fn try_one(
    shared: &Shared<'_>,
    task: &Task,
    folder: &Path,
) -> Result<(Values, Option<RunResult>, Arc<Engine>), Failed> {
    let campaign = shared.campaign;
    let Some(cell) = campaign.cells.get(task.cell) else {
        return Err(Failed::Why("no such cell".to_owned()));
    };
    prepare(campaign, task, folder)?;
    let (seen, kernel_config) = carry_out(shared, task, &cell.config, folder)?;
    let report = report(folder, &seen)?;
    let run = result(folder, &cell.config, &task.plan, &report, task.seed)
        .map_err(|error| Failed::with("its captures", &error))?;
    let is_first = task.repetition == 0;
    if is_first {
        (campaign.keep)(task.cell, folder).map_err(Failed::Why)?;
    }
    let engine = Engine {
        kernel: report.kernel.clone(),
        config: kernel_config,
        commands: task.plan.commands(),
        ..campaign.place.engine()
    };
    Ok((
        (task.seed, measured(&run, &task.plan)),
        is_first.then_some(run),
        Arc::new(engine),
    ))
}

/// The folder of a run, with what the guest reads in it.
fn prepare(campaign: &Campaign<'_>, task: &Task, folder: &Path) -> Result<(), Failed> {
    std::fs::create_dir(folder).map_err(|error| Failed::with("its folder", &error))?;
    let text = serde_json::to_vec(&task.plan).map_err(|error| Failed::with("its plan", &error))?;
    std::fs::write(folder.join(PLAN), text).map_err(|error| Failed::with("its plan", &error))?;
    for name in &task.plan.modules {
        copy_module(&campaign.place.module(task.cell, name), name, folder).map_err(Failed::Why)?;
    }
    Ok(())
}

/// Lets the guest carry out its plan. What an emulator saw of each direction, where one stood for netem, and the configuration of the
/// kernel, where the lab built it.
fn carry_out(
    shared: &Shared<'_>,
    task: &Task,
    config: &Config,
    folder: &Path,
) -> Result<(Vec<Seen>, String), Failed> {
    let campaign = shared.campaign;
    let mut last_ns = 0;
    let mut progress = |now_ns: i64| {
        shared.passed((now_ns - last_ns).max(0).unsigned_abs());
        last_ns = now_ns.max(last_ns);
    };
    let mut boot = |kernel: PathBuf, is_virtual| {
        let machine = Machine {
            guest: campaign.guest.to_owned(),
            kernel,
            root: shared.root.clone(),
            is_virtual,
        };
        machine.run(folder, campaign.stop, &mut progress)
    };
    let mut kernel_config = String::new();
    let ran = match &campaign.place {
        Place::Uml(kernels) => {
            let Some(kernel) = kernels.get(task.cell) else {
                return Err(Failed::Why("no such cell".to_owned()));
            };
            kernel_config.clone_from(&kernel.config);
            boot(kernel.executable(), true).map(|()| None)
        }
        Place::Package(package) => boot(package.executable.clone(), false).map(|()| None),
        Place::Host(_) => {
            let emulated = task.plan.emulated.then_some((config, task.seed));
            host::run(
                campaign.guest,
                folder,
                emulated,
                campaign.stop,
                &mut progress,
            )
        }
    };
    match ran {
        Ok(seen) => Ok((seen.into_iter().flatten().collect(), kernel_config)),
        Err(MachineError::Stopped) => Err(Failed::Stopped),
        Err(error) => Err(Failed::Why(error.to_string())),
    }
}

/// The guest's report, with what an emulator `seen` beside it dropped.
fn report(folder: &Path, seen: &[Seen]) -> Result<Report, Failed> {
    let text =
        std::fs::read(folder.join(REPORT)).map_err(|error| Failed::with("its report", &error))?;
    let other_build = |error| {
        let what =
            "inorder-guest is of another build than inorder, expected both from the same one";
        Failed::Why(format!("its report: {error}: {what}"))
    };
    let mut report: Report = serde_json::from_slice(&text).map_err(other_build)?;
    let (wire, ends) = WIRE;
    for (end, seen) in ends.into_iter().zip(seen) {
        report.stages.push(StageReport {
            namespace: wire.to_owned(),
            device: end.to_owned(),
            drops: seen.dropped + seen.refused + seen.missed + seen.unsent,
            marks: seen.marked,
        });
    }
    match report.capture_drops {
        0 => Ok(report),
        lost => Err(Failed::Why(format!("its captures lost {lost} packets"))),
    }
}

/// Copies a module of the kernel to where the guest finds it.
fn copy_module(module: &Path, name: &str, folder: &Path) -> Result<(), String> {
    let copied = std::fs::copy(module, folder.join(format!("{name}.ko")));
    copied.map(drop).map_err(|error| {
        format!(
            "{}: {error}; expected the module that `inorder lab module` builds from the folder kernel/",
            module.display()
        )
    })
}

fn collect(shared: Shared<'_>) -> Done {
    let made = shared
        .made
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let mut runs: Vec<Vec<Values>> = shared.campaign.cells.iter().map(|_| Vec::new()).collect();
    let mut firsts: Vec<Option<RunResult>> = shared.campaign.cells.iter().map(|_| None).collect();
    let mut engines: Vec<Option<Arc<Engine>>> =
        shared.campaign.cells.iter().map(|_| None).collect();
    let mut failures = Vec::new();
    for (task, made) in shared.tasks.iter().zip(made) {
        match made {
            Some(Ok((values, first, engine))) => {
                runs[task.cell].push(values);
                firsts[task.cell] = firsts[task.cell].take().or(first);
                engines[task.cell].get_or_insert(engine);
            }
            Some(Err(why)) => failures.push(why),
            None => {}
        }
    }
    let cells = shared
        .campaign
        .cells
        .iter()
        .zip(runs)
        .zip(firsts.into_iter().zip(engines));
    let cells = cells.map(|((cell, runs), (first, engine))| {
        let result = CellResult::new(cell, &runs);
        let unused = || shared.campaign.place.engine();
        CellRuns {
            result: result.of_engine(engine.unwrap_or_else(|| Arc::new(unused()))),
            first,
        }
    });
    Done {
        cells: cells.collect(),
        failures,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
