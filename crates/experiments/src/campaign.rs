//! Runs scenario files of this crate on all processors.

use inorder_scenario::{Cell, Scenario};
use inorder_sim::{Campaign, Progress, RunResult, registries, run_all_with};

use crate::setting::{Context, ExperimentError, file};

/// The cells of the scenario called `name`, with the context's seed, after `overrides` (`key=value`).
pub(crate) fn load(
    context: &Context<'_>,
    name: &str,
    overrides: &[String],
) -> Result<Vec<Cell>, ExperimentError> {
    let mut scenario = Scenario::load(file(name)?, name, &registries())?;
    scenario.set(&format!("run.seed={}", context.seed))?;
    for assignment in overrides {
        scenario.set(assignment)?;
    }
    Ok(scenario.cells()?)
}

/// Runs every cell `repetitions` times and keeps the result of `reduce` for each run: one list for each cell.
pub(crate) fn run<R: Send>(
    context: &Context<'_>,
    cells: &[Cell],
    repetitions: u32,
    reduce: impl Fn(&RunResult) -> R + Sync,
) -> Result<Vec<Vec<R>>, ExperimentError> {
    let progress = Told(context.progress);
    let campaign = Campaign {
        repetitions: repetitions.into(),
        threads: context.threads,
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
    fn at(&self, done: usize, all: usize, _share: f64) {
        (self.0)(done, all);
    }
}
