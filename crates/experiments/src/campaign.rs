//! Runs scenario files of this crate on all processors.

use inorder_scenario::{Cell, Scenario};
use inorder_sim::{Campaign, Own, Progress, RunResult, registries_with, run_all_with};

use crate::setting::{Context, ExperimentError, file};

/// The cells of the scenario called `name`, with the context's seed, after `overrides` (`key=value`) and the context's own.
pub(crate) fn load(
    context: &Context<'_>,
    name: &str,
    overrides: &[String],
) -> Result<Vec<Cell>, ExperimentError> {
    let own = Own::reading(file_beside);
    let mut scenario = Scenario::load(file(name)?, name, &registries_with(&own))?;
    scenario.set(&format!("run.seed={}", context.seed))?;
    for assignment in overrides.iter().chain(context.set) {
        scenario.set(assignment)?;
    }
    Ok(scenario.cells()?)
}

/// The file called `name` beside the scenario `scenario`, both of this crate.
fn file_beside(scenario: &str, name: &str) -> Result<String, String> {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let text = file(&format!("{folder}/{name}")).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::setting::FILES;

    /// Files that belong to a paper but are no scenarios: a paper names them as the choices of its senders and sorters.
    fn choices() -> BTreeSet<String> {
        fn collect(value: &toml::Value, key: &str, found: &mut BTreeSet<String>) {
            match value {
                toml::Value::Table(table) => table.iter().for_each(|(k, v)| collect(v, k, found)),
                toml::Value::Array(list) => list.iter().for_each(|v| collect(v, key, found)),
                toml::Value::String(text) if key == "choices" => {
                    found.insert(text.clone());
                }
                _ => {}
            }
        }
        let mut found = BTreeSet::new();
        for (_, text) in FILES
            .iter()
            .filter(|(path, _)| path.ends_with("paper.toml"))
        {
            let paper: toml::Table = toml::from_str(text).unwrap();
            collect(&toml::Value::Table(paper), "", &mut found);
        }
        found
    }

    /// Every other file is a scenario that runs, also those that no paper names: its first cell, for a moment.
    #[test]
    fn every_scenario_file_runs() {
        let stop = AtomicBool::new(false);
        let context = Context::quick(&stop);
        let others = choices();
        let is_scenario = |path: &&str| {
            let other = path.ends_with("paper.toml") || path.ends_with("population.toml");
            path.ends_with(".toml") && !other && !others.contains(*path)
        };
        let paths: Vec<&str> = FILES
            .iter()
            .map(|(path, _)| *path)
            .filter(is_scenario)
            .collect();
        assert!(paths.contains(&"resequencer/learning.toml"), "{paths:?}");
        for path in paths {
            let cells = load(
                &context,
                path,
                &[
                    "run.duration=\"20 ms\"".into(),
                    "run.warm_up=\"0 s\"".into(),
                ],
            );
            let cells = cells.unwrap_or_else(|error| panic!("{path}: {error}"));
            let first = cells.get(..1).unwrap_or_else(|| panic!("{path}: no cell"));
            let runs = run(&context, first, 1, |_| ());
            assert_eq!(
                runs.unwrap_or_else(|error| panic!("{path}: {error}")),
                [[()]]
            );
        }
    }
}
