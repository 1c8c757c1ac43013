//! A campaign: the runs of a scenario's grid.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use inorder_scenario::Cell;
use inorder_sim::output::{Report, write_runs};
use inorder_sim::{
    CellResult, Changes, MEASURES, NoTap, Own, Values, cells, repetition_seed, run_watched, values,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::Folder;
use crate::tables::TaskRow;
use crate::work::Work;

/// The dataset of runs.
const RUNS: &str = "runs";
/// Tasks of a campaign, unless told otherwise: enough for any number of workers, few enough for the file system.
const TASKS: u64 = 1_000;

/// A scenario and what is changed in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// The text of the scenario.
    pub scenario: String,
    /// The name of its file, for messages.
    pub file: String,
    /// Overrides of keys, or of axes of the grid: `flow.count=10`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Seed of the first repetition of each cell.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Runs of each cell, instead of what the scenario says.
    #[serde(default)]
    pub repetitions: Option<u64>,
    /// A tenth of the duration, one repetition.
    #[serde(default)]
    pub quick: bool,
}

/// A campaign whose scenario was understood.
pub(crate) struct Ready {
    cells: Vec<Cell>,
    /// Number of the first run of each cell, and of all runs.
    starts: Vec<u64>,
    title: String,
    file: String,
}

impl Campaign {
    pub(crate) fn ready(&self) -> Result<Ready, Error> {
        let changes = Changes {
            set: self.set.clone(),
            seed: self.seed,
            quick: self.quick,
            samples: false,
        };
        let (_, cells) =
            cells(&self.scenario, &self.file, &changes, &Own::default()).map_err(Error::usage)?;
        let mut starts = vec![0];
        for cell in &cells {
            let given = self.repetitions.or(self.quick.then_some(1));
            let repetitions = given.unwrap_or(cell.config.run.repetitions);
            starts.push(starts.last().copied().unwrap_or(0) + repetitions);
        }
        Ok(Ready {
            title: cells
                .first()
                .map_or_else(String::new, |cell| cell.config.title.clone()),
            file: self.file.clone(),
            cells,
            starts,
        })
    }
}

impl Ready {
    /// The tasks, each of `per_task` runs; 0 for as many as make about a thousand tasks.
    pub(crate) fn tasks(&self, per_task: u64) -> Vec<Work> {
        let all = self.starts.last().copied().unwrap_or(0);
        let each = match per_task {
            0 => all.div_ceil(TASKS),
            given => given,
        };
        Work::items(all, each)
    }

    pub(crate) fn write_schemas(&self, folder: &Folder) -> Result<(), Error> {
        // Names of axes come from cells, of which one without runs is enough.
        let cells: Vec<CellResult> = self
            .cells
            .iter()
            .take(1)
            .map(|cell| CellResult::new(cell, &[]))
            .collect();
        folder.write_schema(RUNS, |out| write_runs(out, &self.report(&cells)))
    }

    fn report<'a>(&'a self, cells: &'a [CellResult]) -> Report<'a> {
        Report {
            file: &self.file,
            title: &self.title,
            cells,
            first_runs: &[],
            is_partial: false,
        }
    }

    /// Cell and repetition of a run.
    fn place(&self, run: u64) -> Option<(usize, u64)> {
        let cell = self
            .starts
            .partition_point(|&start| start <= run)
            .checked_sub(1)?;
        Some((cell, run - self.starts.get(cell)?))
    }

    /// Makes the runs of a task and writes them.
    pub(crate) fn run(
        &self,
        folder: &Folder,
        task: &str,
        runs: std::ops::Range<u64>,
        stop: &Arc<AtomicBool>,
    ) -> Result<TaskRow, Error> {
        let items = runs.end - runs.start;
        let mut done: Vec<(usize, Vec<Values>)> = Vec::new();
        for number in runs {
            let Some((at, repetition)) = self.place(number) else {
                break;
            };
            let Some(cell) = self.cells.get(at) else {
                break;
            };
            let seed = repetition_seed(cell.config.run.seed, repetition);
            let mut go_on = |_| !stop.load(Ordering::Relaxed);
            let result = run_watched(&cell.config, seed, &mut NoTap, &mut go_on);
            let result = result.map_err(|error| match error {
                inorder_sim::Error::Stopped => Error::Stopped,
                error => Error::usage(format!("{}: {error}", self.file)),
            })?;
            let values = (result.seed, values(&result));
            match done.last_mut() {
                Some((last, list)) if *last == at => list.push(values),
                _ => done.push((at, vec![values])),
            }
        }
        let result = |(at, runs): &(usize, Vec<Values>)| {
            let cell = self.cells.get(*at)?;
            Some(CellResult::new(cell, runs))
        };
        let results: Vec<CellResult> = done.iter().filter_map(result).collect();
        folder.write_part(RUNS, task, |out| write_runs(out, &self.report(&results)))?;
        Ok(TaskRow {
            items,
            ..TaskRow::default()
        })
    }

    /// The results of the runs that `tasks` made, read back: what `inorder simulate` would have had in memory.
    pub(crate) fn read(
        &self,
        folder: &Folder,
        tasks: &[(String, u64)],
    ) -> Result<(String, Vec<CellResult>), Error> {
        let mut runs: Vec<Vec<Values>> = vec![Vec::new(); self.cells.len()];
        for (task, first) in tasks {
            let path = folder.part(RUNS, task);
            for (number, values) in (*first..).zip(read(&path)?) {
                if let Some(list) = self.place(number).and_then(|(cell, _)| runs.get_mut(cell)) {
                    list.push(values);
                }
            }
        }
        let results = self.cells.iter().zip(&runs);
        let results = results
            .map(|(cell, runs)| CellResult::new(cell, runs))
            .collect();
        Ok((self.title.clone(), results))
    }
}

/// Seeds and measures of the runs in a file, in its order.
fn read(path: &Path) -> Result<Vec<Values>, Error> {
    let wrong = |problem: String| Error::usage(format!("{}: {problem}", path.display()));
    let file = File::open(path).map_err(Error::file(path, "read"))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build);
    let mut all = Vec::new();
    for batch in reader.map_err(|error| wrong(error.to_string()))? {
        let batch: RecordBatch = batch.map_err(|error| wrong(error.to_string()))?;
        let column = |name: &str| {
            let found = batch.column_by_name(name).cloned();
            found.ok_or_else(|| wrong(format!("there is no column {name}")))
        };
        let seeds = column("seed")?;
        let measures: Vec<ArrayRef> = MEASURES
            .iter()
            .map(|measure| column(measure.field.name))
            .collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            let seed = seeds
                .as_primitive_opt::<UInt64Type>()
                .map(|seeds| seeds.value(row));
            let seed = seed.ok_or_else(|| wrong("the seeds are no whole numbers".to_owned()))?;
            all.push((
                seed,
                measures.iter().map(|array| number(array, row)).collect(),
            ));
        }
    }
    Ok(all)
}

/// A value of a column of numbers.
fn number(array: &ArrayRef, row: usize) -> Option<f64> {
    if array.is_null(row) {
        return None;
    }
    let array = array.as_ref();
    None.or_else(|| Some(array.as_primitive_opt::<Float64Type>()?.value(row)))
        .or_else(|| Some(array.as_primitive_opt::<UInt64Type>()?.value(row) as f64))
        .or_else(|| Some(array.as_primitive_opt::<Int64Type>()?.value(row) as f64))
        .or_else(|| {
            Some(f64::from(
                array.as_primitive_opt::<UInt32Type>()?.value(row),
            ))
        })
}
