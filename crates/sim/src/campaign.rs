//! Many runs on many threads: the results do not depend on how many.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use inorder_scenario::Cell;

use crate::error::Error;
use crate::measure::{MEASURES, values};
use crate::result::RunResult;
use crate::run::{repetition_seed, run_watched};
use crate::statistics::{Estimate, estimate};
use crate::tap::NoTap;

/// Is told how far a campaign is.
pub trait Progress: Sync {
    /// So many runs of all are done, and this share of all simulated time: runs under way count as far as they are.
    fn at(&self, done: usize, all: usize, share: f64);
}

/// Not interested.
impl Progress for () {
    fn at(&self, _done: usize, _all: usize, _share: f64) {}
}

/// How far all threads together are.
struct Tally<'a> {
    campaign: &'a Campaign<'a>,
    runs: usize,
    /// Simulated time of all runs, nanoseconds.
    total_ns: f64,
    done: AtomicUsize,
    /// Simulated time that has passed, milliseconds, so that no campaign overflows it.
    passed_ms: AtomicU64,
}

impl Tally<'_> {
    /// This much more simulated time has passed. May the run go on?
    fn passed(&self, ns: i64) -> bool {
        let ms = ns.unsigned_abs() / 1_000_000;
        let passed = self.passed_ms.fetch_add(ms, Ordering::Relaxed) + ms;
        let share = passed as f64 * 1e6 / self.total_ns;
        let done = self.done.load(Ordering::Relaxed);
        self.campaign.progress.at(done, self.runs, share.min(1.0));
        !self.campaign.stop.load(Ordering::Relaxed)
    }
}

/// How a campaign is run.
pub struct Campaign<'a> {
    /// Runs of each cell; 0: as often as the cell says.
    pub repetitions: u64,
    /// Threads; 0: one for each processor.
    pub threads: usize,
    /// Is told of each run that is done.
    pub progress: &'a dyn Progress,
    /// No further run begins once this is true, and those under way end without a result.
    pub stop: &'a AtomicBool,
}

/// A cell's measures.
#[derive(Clone, Debug)]
pub struct CellResult {
    /// Axis and value.
    pub labels: Vec<(String, String)>,
    /// Seeds of the runs that were made.
    pub seeds: Vec<u64>,
    /// Values of each of [`MEASURES`], a number a run.
    pub values: Vec<Vec<Option<f64>>>,
    /// Mean and interval of each of [`MEASURES`], over the runs that have it.
    pub estimates: Vec<Option<Estimate>>,
    /// Of the intervals.
    pub confidence: f64,
}

impl CellResult {
    /// From the seeds of its runs and the [`values`] of their measures.
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
        }
    }

    /// Mean and interval of the measure called `name`, of the runs that have it.
    pub fn estimate(&self, name: &str) -> Option<Estimate> {
        let at = MEASURES
            .iter()
            .position(|measure| measure.field.name == name)?;
        self.estimate_at(at)
    }

    /// The same by position in [`MEASURES`].
    pub fn estimate_at(&self, at: usize) -> Option<Estimate> {
        self.estimates.get(at).copied().flatten()
    }
}

/// The seed of a run and the value of each measure.
pub type Values = (u64, Vec<Option<f64>>);

/// Runs every cell as often as wanted and gives their measures. Interrupted, cells have fewer
/// repetitions, or none.
///
/// # Errors
/// The first cell that cannot run.
pub fn run_all(cells: &[Cell], campaign: &Campaign<'_>) -> Result<Vec<CellResult>, Error> {
    let runs = run_all_with(cells, campaign, |_, run| (run.seed, values(&run)))?;
    Ok(cells
        .iter()
        .zip(runs)
        .map(|(cell, runs)| CellResult::new(cell, &runs))
        .collect())
}

/// Runs every cell and keeps of each run what `reduce` makes of it: a list a cell, in the order
/// of repetitions.
///
/// # Errors
/// The first cell that cannot run.
pub fn run_all_with<R: Send>(
    cells: &[Cell],
    campaign: &Campaign<'_>,
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
            let outcome = one(cells, cell, repetition, &tally, &reduce);
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

/// Cell and repetition of every run. Repetitions come last: interrupted, every cell has some.
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
    cells: &[Cell],
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
    let result = run_watched(&cell.config, seed, &mut NoTap, &mut go_on);
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
