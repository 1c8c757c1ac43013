//! Scenario files of this crate, run on all processors.

use inorder_scenario::{Cell, Scenario};
use inorder_sim::{Campaign, Progress, RunResult, registries, run_all_with};

use super::{Context, ExperimentError};

/// A scenario file embedded in the crate.
#[derive(Debug, Clone, Copy)]
pub(super) struct File {
    /// Its path below `experiments/`, for messages.
    pub(super) name: &'static str,
    /// What it says.
    pub(super) text: &'static str,
}

/// The cells of `file` with the context's seed, after `overrides` (`key=value`).
pub(super) fn cells(
    context: &Context<'_>,
    file: File,
    overrides: &[&str],
) -> Result<Vec<Cell>, ExperimentError> {
    let mut scenario = Scenario::load(file.text, file.name, &registries())?;
    scenario.set(&format!("run.seed={}", context.seed))?;
    for assignment in overrides {
        scenario.set(assignment)?;
    }
    Ok(scenario.cells()?)
}

/// Runs every cell `repetitions` times and keeps what `reduce` makes of each run: a list a cell.
pub(super) fn run<R: Send>(
    context: &Context<'_>,
    cells: &[Cell],
    repetitions: u32,
    reduce: impl Fn(&RunResult) -> R + Sync,
) -> Result<Vec<Vec<R>>, ExperimentError> {
    let progress = Told(context.progress);
    let campaign = Campaign {
        repetitions: repetitions.into(),
        threads: 0,
        progress: &progress,
        stop: context.stop,
    };
    let runs = run_all_with(cells, &campaign, |_, run| reduce(&run))?;
    let complete = runs.iter().all(|cell| cell.len() == repetitions as usize);
    if complete {
        Ok(runs)
    } else {
        Err(ExperimentError::Stopped)
    }
}

struct Told<'a>(&'a (dyn Fn(usize, usize) + Sync));

impl Progress for Told<'_> {
    fn at(&self, done: usize, all: usize) {
        (self.0)(done, all);
    }
}
