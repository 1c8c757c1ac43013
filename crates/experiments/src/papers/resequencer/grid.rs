//! Conditions that the paper's file lists: each path with the senders it matters for.

use inorder_scenario::Cell;
use serde::Deserialize;

use super::compare::{Condition, Roles, tell};
use crate::campaign;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting, file};

/// Settings of the reduction. (Unknown keys pass: serde cannot refuse them beside what is flattened.)
#[derive(Deserialize)]
struct Grid {
    #[serde(flatten)]
    common: Common,
    path: Vec<Path>,
}

/// What the grid and the unseen conditions share.
#[derive(Deserialize)]
pub(super) struct Common {
    /// What every run begins with.
    scenario: String,
    /// The file of [`Choices`].
    choices: String,
    repetitions: u32,
    /// Overrides of a quick run.
    #[serde(default)]
    quick: Vec<String>,
}

/// Senders, sorters, and which sorter is what.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choices {
    pub sender: Vec<Choice>,
    sorter: Vec<Choice>,
    roles: Roles,
}

/// A name and the overrides it stands for.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub name: String,
    pub set: Vec<String>,
}

/// A path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Path {
    name: String,
    set: Vec<String>,
    /// The senders it is run with, by name.
    senders: Vec<String>,
    /// The packets that arrive arrive in order; the others were lost.
    #[serde(default)]
    keeps_order: bool,
    /// Part of a quick run.
    #[serde(default)]
    quick: bool,
}

pub(super) fn grid(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let grid: Grid = setting.read()?;
    let choices = grid.common.choices()?;
    let conditions = grid.conditions(&choices, setting)?;
    grid.common.run(setting.context, &choices, &conditions)
}

impl Grid {
    fn conditions(
        &self,
        choices: &Choices,
        setting: &Setting<'_>,
    ) -> Result<Vec<Condition>, ExperimentError> {
        let quick = setting.context.quick;
        let mut conditions = Vec::new();
        for path in self.path.iter().filter(|path| path.quick || !quick) {
            for name in &path.senders {
                let sender = choices.sender.iter().find(|sender| sender.name == *name);
                let sender = sender.ok_or_else(|| {
                    let what = format!("item {}: no sender is called {name}", setting.item);
                    ExperimentError::data(setting.paper_file, &what)
                })?;
                conditions.push(Condition {
                    name: format!("{}; {}", path.name, sender.name),
                    keeps_order: path.keeps_order,
                    set: path.set.iter().chain(&sender.set).cloned().collect(),
                });
            }
        }
        Ok(conditions)
    }
}

impl Common {
    /// Reads the file of choices.
    pub(super) fn choices(&self) -> Result<Choices, ExperimentError> {
        let read = toml::from_str(file(&self.choices)?);
        read.map_err(|error| ExperimentError::data(&self.choices, &error))
    }

    /// The cells of every condition, one for each sorter.
    pub(super) fn cells(
        &self,
        context: &Context<'_>,
        choices: &Choices,
        conditions: &[Condition],
    ) -> Result<Vec<Cell>, ExperimentError> {
        let quick: &[String] = if context.quick { &self.quick } else { &[] };
        let mut cells = Vec::new();
        for condition in conditions {
            for sorter in &choices.sorter {
                let sets = condition.set.iter().chain(&sorter.set).chain(quick);
                let sets: Vec<String> = sets.cloned().collect();
                cells.extend(campaign::load(context, &self.scenario, &sets)?);
            }
        }
        Ok(cells)
    }

    /// Runs every condition with every sorter, and compares the sorters.
    pub(super) fn run(
        &self,
        context: &Context<'_>,
        choices: &Choices,
        conditions: &[Condition],
    ) -> Result<Quantities, ExperimentError> {
        let cells = self.cells(context, choices, conditions)?;
        let repetitions = context.repetitions_or(self.repetitions);
        let runs = campaign::run(context, &cells, repetitions, inorder_sim::values)?;
        let sorters: Vec<&str> = choices.sorter.iter().map(|sorter| &*sorter.name).collect();
        let of_each = runs.chunks(sorters.len().max(1));
        Ok(tell(conditions, &sorters, of_each, &choices.roles))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::data::PaperFile;

    /// What the paper's file says of paths, senders and sorters makes a scenario each, and no two have one name.
    #[test]
    fn every_condition_is_a_scenario() {
        let paper_file = "resequencer/paper.toml";
        let paper: PaperFile = toml::from_str(file(paper_file).unwrap()).unwrap();
        let stop = AtomicBool::new(false);
        let context = Context {
            quick: false,
            ..Context::quick(&stop)
        };
        let of_grid = |run: &toml::Table| {
            let reduction = run.get("reduction").and_then(toml::Value::as_str);
            reduction == Some("resequencer-grid")
        };
        for item in paper.items.iter().filter(|item| of_grid(&item.run)) {
            let setting = Setting {
                context: &context,
                paper_file,
                item: &item.name,
                run: &item.run,
            };
            let grid: Grid = setting.read().unwrap();
            let choices = grid.common.choices().unwrap();
            let conditions = grid.conditions(&choices, &setting).unwrap();
            let names: BTreeSet<&str> = conditions.iter().map(|c| c.name.as_str()).collect();
            assert_eq!(names.len(), conditions.len());
            let cells = grid.common.cells(&context, &choices, &conditions).unwrap();
            assert_eq!(cells.len(), conditions.len() * choices.sorter.len());
        }
    }
}
