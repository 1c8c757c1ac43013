//! From the text of a scenario to the runs of its campaign, as every program that simulates scenarios does it.

use inorder_scenario::{Cell, Scenario, config};

use crate::build::registries_with;
use crate::campaign::{Campaign, CellResult, Values, run_all_own};
use crate::error::Error;
use crate::measure::values;
use crate::own::Own;
use crate::result::RunResult;

/// Samples of a run that are enough for a chart as wide as a page.
const SAMPLES_PER_RUN: i64 = 500;

/// What is changed in a scenario before it runs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Changes {
    /// Overrides of keys, or of axes of the grid: `flow.count=10`.
    pub set: Vec<String>,
    /// Seed of the first repetition.
    pub seed: Option<u64>,
    /// A first look: a tenth of the duration and of the warm-up. Whoever asks for it also wants one repetition only.
    pub quick: bool,
    /// Samples over time are wanted: a scenario that takes none gets an interval for them.
    pub samples: bool,
}

/// A scenario and its cells after the changes; `file` is its name in messages, `own` has algorithms that it may name.
///
/// # Errors
/// If the scenario or a change of it is wrong.
pub fn cells(
    text: &str,
    file: &str,
    changes: &Changes,
    own: &Own,
) -> Result<(Scenario, Vec<Cell>), inorder_scenario::Error> {
    let mut scenario = Scenario::load(text, file, &registries_with(own))?;
    for assignment in &changes.set {
        scenario.set(assignment)?;
    }
    if let Some(seed) = changes.seed {
        scenario.set(&format!("run.seed={seed}"))?;
    }
    let mut cells = scenario.cells()?;
    for cell in &mut cells {
        shorten(&mut cell.config.run, changes.quick);
        if changes.samples && cell.config.output.trace_interval_ns.is_none() {
            let interval_ns = cell.config.run.duration_ns / SAMPLES_PER_RUN;
            cell.config.output.trace_interval_ns = Some(interval_ns.max(1));
        }
    }
    Ok((scenario, cells))
}

fn shorten(run: &mut config::Run, quick: bool) {
    if quick {
        run.duration_ns = (run.duration_ns / 10).max(1);
        run.warm_up_ns = (run.warm_up_ns / 10).min(run.duration_ns - 1);
    }
}

/// The results of a campaign.
#[derive(Clone, Debug)]
pub struct Results {
    /// The cells with the measures of their runs.
    pub cells: Vec<CellResult>,
    /// The whole first run of each cell, if it was wanted and was completed.
    pub first_runs: Vec<Option<RunResult>>,
}

/// Runs a campaign; keeps the whole first run of each cell if `first_runs`. After an interruption, cells have fewer
/// runs, or none.
///
/// # Errors
/// If a cell cannot run: the first such error.
pub fn run_cells(
    cells: &[Cell],
    campaign: &Campaign<'_>,
    own: &Own,
    first_runs: bool,
) -> Result<Results, Error> {
    let keep = |cell: &Cell, run: RunResult| {
        let measures: Values = (run.seed, values(&run));
        let whole = (first_runs && run.seed == cell.config.run.seed).then_some(run);
        (measures, whole)
    };
    let kept = run_all_own(cells, campaign, own, keep)?;
    let mut results = Results {
        cells: Vec::new(),
        first_runs: Vec::new(),
    };
    for (cell, runs) in cells.iter().zip(kept) {
        let (measures, mut whole): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        results.cells.push(CellResult::new(cell, &measures));
        results
            .first_runs
            .push(whole.iter_mut().find_map(Option::take));
    }
    Ok(results)
}
