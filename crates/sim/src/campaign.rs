//! Runs many simulations on many threads; the results do not depend on the number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use inorder_scenario::Cell;

use crate::engine::Engine;
use crate::error::Error;
use crate::measure::{MEASURES, values};
use crate::own::Own;
use crate::result::RunResult;
use crate::run::{repetition_seed, run_own};
use crate::statistics::{Estimate, estimate};
use crate::tap::NoTap;

/// Receives the progress of a campaign.
pub trait Progress: Sync {
    /// `done` of `all` runs are complete, and `share` of all simulated time has passed, including that of unfinished
    /// runs.
    fn at(&self, done: usize, all: usize, share: f64);
}

/// Ignores the progress.
impl Progress for () {
    fn at(&self, _done: usize, _all: usize, _share: f64) {}
}

/// The progress of all threads together.
struct Tally<'a> {
    campaign: &'a Campaign<'a>,
    runs: usize,
    /// Simulated time of all runs, nanoseconds.
    total_ns: f64,
    done: AtomicUsize,
    /// Simulated time that has passed; in milliseconds, so that no campaign overflows it.
    passed_ms: AtomicU64,
}

impl Tally<'_> {
    /// Adds simulated time; returns whether the run may continue.
    fn passed(&self, ns: i64) -> bool {
        let ms = ns.unsigned_abs() / 1_000_000;
        let passed = self.passed_ms.fetch_add(ms, Ordering::Relaxed) + ms;
        let share = passed as f64 * 1e6 / self.total_ns;
        let done = self.done.load(Ordering::Relaxed);
        self.campaign.progress.at(done, self.runs, share.min(1.0));
        !self.campaign.stop.load(Ordering::Relaxed)
    }
}

/// How to run a campaign.
pub struct Campaign<'a> {
    /// Number of runs of each cell; 0 for the number in the scenario.
    pub repetitions: u64,
    /// Number of threads; 0 for one per processor.
    pub threads: usize,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// As soon as this is true, no further run starts, and unfinished runs end without a result.
    pub stop: &'a AtomicBool,
}

/// The measures of a cell.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// The value on each axis.
    pub labels: Vec<(String, String)>,
    /// Seeds of the completed runs.
    pub seeds: Vec<u64>,
    /// The values of each of [`MEASURES`], one for each run.
    pub values: Vec<Vec<Option<f64>>>,
    /// Mean and interval of each of [`MEASURES`], over the runs that have a value.
    pub estimates: Vec<Option<Estimate>>,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// What carried out the runs.
    pub engine: Arc<Engine>,
}

impl CellResult {
    /// Created from the seeds of its runs and the [`values`] of their measures.
    pub fn new(cell: &Cell, runs: &[Values]) -> Self {
        let column = |at: usize| {
            runs.iter()
                .map(move |(_, values)| values.get(at).copied().flatten())
        };
        let values: Vec<Vec<_>> = (0..MEASURES.len()).map(|at| column(at).collect()).collect();
        let confidence = cell.config.run.confidence;
        let estimate = |values: &Vec<Option<f64>>| {
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            estimate(&present, confidence)
        };
        CellResult {
            labels: cell.labels.clone(),
            seeds: runs.iter().map(|(seed, _)| *seed).collect(),
            estimates: values.iter().map(estimate).collect(),
            values,
            confidence,
            engine: Engine::simulation(),
        }
    }

    /// The same of runs that `engine` carried out.
    #[must_use]
    pub fn of_engine(self, engine: Arc<Engine>) -> Self {
        CellResult { engine, ..self }
    }

    /// Mean and interval of the measure called `name`, over the runs that have a value.
    pub fn estimate(&self, name: &str) -> Option<Estimate> {
        let at = MEASURES
            .iter()
            .position(|measure| measure.field.name == name)?;
        self.estimate_at(at)
    }

    /// The same, by position in [`MEASURES`].
    pub fn estimate_at(&self, at: usize) -> Option<Estimate> {
        self.estimates.get(at).copied().flatten()
    }
}

/// The seed of a run and the value of each measure.
pub type Values = (u64, Vec<Option<f64>>);

/// Runs every cell as often as configured and returns the measures. After an interruption, cells have fewer
/// repetitions, or none.
///
/// # Errors
/// If a cell cannot run: the first such error.
pub fn run_all(cells: &[Cell], campaign: &Campaign<'_>) -> Result<Vec<CellResult>, Error> {
    let runs = run_all_with(cells, campaign, |_, run| (run.seed, values(&run)))?;
    Ok(cells
        .iter()
        .zip(runs)
        .map(|(cell, runs)| CellResult::new(cell, &runs))
        .collect())
}

/// Runs every cell and keeps the result of `reduce` for each run: one list for each cell, in the order of
/// repetitions.
///
/// # Errors
/// If a cell cannot run: the first such error.
pub fn run_all_with<R: Send>(
    cells: &[Cell],
    campaign: &Campaign<'_>,
    reduce: impl Fn(&Cell, RunResult) -> R + Sync,
) -> Result<Vec<Vec<R>>, Error> {
    run_all_own(cells, campaign, &Own::default(), reduce)
}

/// The same with a program's own algorithms.
///
/// # Errors
/// As for [`run_all_with`].
pub(crate) fn run_all_own<R: Send>(
    cells: &[Cell],
    campaign: &Campaign<'_>,
    own: &Own,
    reduce: impl Fn(&Cell, RunResult) -> R + Sync,
) -> Result<Vec<Vec<R>>, Error> {
    let tasks = tasks(cells, campaign.repetitions);
    let done: Mutex<Vec<Option<Result<R, Error>>>> = Mutex::new(Vec::new());
    lock(&done).resize_with(tasks.len(), || None);
    let next = AtomicUsize::new(0);
    let durations = tasks.iter().filter_map(|(cell, _)| cells.get(*cell));
    let tally = Tally {
        campaign,
        runs: tasks.len(),
        total_ns: durations
            .map(|cell| cell.config.run.duration_ns as f64)
            .sum(),
        done: AtomicUsize::new(0),
        passed_ms: AtomicU64::new(0),
    };
    let work = || {
        while !campaign.stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(cell, repetition)) = tasks.get(number) else {
                return;
            };
            let outcome = one((cells, own), cell, repetition, &tally, &reduce);
            if let Some(place) = lock(&done).get_mut(number) {
                *place = outcome;
            }
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads(campaign.threads))
            .map(|_| scope.spawn(work))
            .collect();
        work();
        drop(others);
    });
    let done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    collect(cells.len(), &tasks, done)
}

/// Cell and repetition of every run. Repetitions vary slowest, so that after an interruption every cell has some.
fn tasks(cells: &[Cell], repetitions: u64) -> Vec<(usize, u64)> {
    let wanted = |cell: &Cell| match repetitions {
        0 => cell.config.run.repetitions,
        given => given,
    };
    let most = cells.iter().map(wanted).max().unwrap_or(0);
    let round = |repetition| {
        let numbered = cells.iter().enumerate();
        let due = numbered.filter(move |(_, cell)| repetition < wanted(cell));
        due.map(move |(number, _)| (number, repetition))
    };
    (0..most).flat_map(round).collect()
}

fn one<R>(
    (cells, own): (&[Cell], &Own),
    cell: usize,
    repetition: u64,
    tally: &Tally<'_>,
    reduce: &(impl Fn(&Cell, RunResult) -> R + Sync),
) -> Option<Result<R, Error>> {
    let cell = cells.get(cell)?;
    let seed = repetition_seed(cell.config.run.seed, repetition);
    let mut reported_ns = 0;
    let mut go_on = |now_ns: i64| {
        let passed_ns = now_ns - reported_ns;
        reported_ns = now_ns;
        tally.passed(passed_ns)
    };
    let result = run_own(&cell.config, seed, own, &mut NoTap, &mut go_on);
    if matches!(result, Err(Error::Stopped)) {
        return None;
    }
    tally.done.fetch_add(1, Ordering::Relaxed);
    tally.passed(cell.config.run.duration_ns - reported_ns);
    Some(result.map(|result| reduce(cell, result)))
}

fn collect<R>(
    cells: usize,
    tasks: &[(usize, u64)],
    done: Vec<Option<Result<R, Error>>>,
) -> Result<Vec<Vec<R>>, Error> {
    let mut results: Vec<Vec<R>> = Vec::new();
    results.resize_with(cells, Vec::new);
    for (&(cell, _), outcome) in tasks.iter().zip(done) {
        if let (Some(outcome), Some(list)) = (outcome, results.get_mut(cell)) {
            list.push(outcome?);
        }
    }
    Ok(results)
}

fn threads(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        wanted => wanted,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
