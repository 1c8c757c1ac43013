//! `inorder.simulate`.

use std::io;

use arrow_schema::SchemaRef;
use inorder_report::arrow::TakeBatch;
use inorder_sim::output::{
    Report, run_batches, sample_batches, write_json, write_page, write_table,
};
use inorder_sim::{Campaign, CellResult, Changes, Results, cells, run_cells};
use pyo3::prelude::*;

use crate::errors::{malformed, usage};
use crate::own::{Algorithms, Failure, own};
use crate::result::{Findings, Outcome};
use crate::work;

/// The options of a simulation.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    set: Vec<String>,
    seed: Option<u64>,
    pub repetitions: Option<u64>,
    quick: bool,
    pub samples: bool,
    pub threads: Option<usize>,
}

impl Options {
    /// What they change in the scenario.
    pub(crate) fn changes(&self) -> Changes {
        Changes {
            set: self.set.clone(),
            seed: self.seed,
            quick: self.quick,
            samples: self.samples,
        }
    }

    /// Runs of each cell; 0 for the number in the scenario.
    pub(crate) fn repetitions(&self) -> u64 {
        self.repetitions.unwrap_or(u64::from(self.quick))
    }
}

/// Runs a scenario: TOML, or JSON of the same structure if `is_json`; `name` is its name in messages. The algorithms are classes
/// that the scenario may name.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    text: String,
    name: String,
    is_json: bool,
    options: Options,
    algorithms: Algorithms,
) -> PyResult<Findings> {
    if options.repetitions == Some(0) {
        return Err(usage("repetitions: expected at least 1, found 0"));
    }
    let text = if is_json { toml_of(&text)? } else { text };
    let changes = options.changes();
    let (results, title) = work::run(py, |stop| {
        let failure = Failure::new(stop);
        let own = own(algorithms, &failure);
        let (_, cells) = cells(&text, &name, &changes, &own).map_err(malformed)?;
        let title = cells.first().map(|cell| cell.config.title.clone());
        let campaign = Campaign {
            repetitions: options.repetitions(),
            threads: options.threads.unwrap_or(0),
            progress: &(),
            stop: stop.flag(),
        };
        let results = run_cells(&cells, &campaign, &own, options.samples);
        match failure.take() {
            Some(raised) => Err(raised),
            None => Ok((results.map_err(usage)?, title)),
        }
    })?;
    Ok(Findings::new(Simulated {
        results,
        title: title.unwrap_or_default(),
        name,
    }))
}

/// The results of cells that ran elsewhere.
pub(crate) fn simulated(cells: Vec<CellResult>, title: String, name: String) -> Findings {
    let results = Results {
        cells,
        first_runs: Vec::new(),
    };
    Findings::new(Simulated {
        results,
        title,
        name,
    })
}

/// The text of a scenario that comes as JSON.
#[pyfunction]
pub(crate) fn toml_of_json(json: &str) -> PyResult<String> {
    toml_of(json)
}

/// A dictionary of Python comes as JSON.
pub(crate) fn toml_of(json: &str) -> PyResult<String> {
    let table: Result<toml::Table, _> = serde_json::from_str(json);
    toml::to_string(&table.map_err(malformed)?).map_err(malformed)
}

struct Simulated {
    results: Results,
    title: String,
    name: String,
}

impl Simulated {
    fn report(&self) -> Report<'_> {
        Report {
            file: &self.name,
            title: &self.title,
            cells: &self.results.cells,
            first_runs: &self.results.first_runs,
            is_partial: false,
        }
    }
}

impl Outcome for Simulated {
    fn tables(&self) -> Vec<&'static str> {
        vec!["runs", "samples"]
    }

    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        match name {
            "runs" => run_batches(&self.report(), size, take),
            _ => sample_batches(&self.report(), size, take),
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, &self.report())
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_table(out, &self.report(), None)
    }

    fn html(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_page(out, &self.report())
    }
}
