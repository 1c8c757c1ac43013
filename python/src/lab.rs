//! `inorder.lab`.

use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use inorder_lab::agreement::AGREEMENT;
use inorder_lab::beside::SideBySide;
use inorder_lab::campaign::{self, Campaign};
use inorder_lab::place::ENGINES;
use inorder_lab::program;
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::columns;
use inorder_sim::output::{
    Report, run_batches, sample_batches, write_json, write_page, write_table,
};
use inorder_sim::{Own, cells, run_cells};
use pyo3::prelude::*;

use crate::errors::{lab as lacks, malformed, one_of, usage};
use crate::input::text_beside;
use crate::result::{Findings, Outcome};
use crate::simulate::{Options, toml_of};
use crate::work;

/// Runs a scenario on real Linux: TOML, or JSON of the same structure if `is_json`; `name` is its name in messages. `guest` is the
/// program `inorder-guest`, which is looked for if it is missing.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one for each argument in Python")]
pub(crate) fn lab(
    py: Python<'_>,
    text: String,
    name: String,
    is_json: bool,
    options: Options,
    engine: &str,
    guest: Option<PathBuf>,
    beside_simulation: bool,
) -> PyResult<Findings> {
    if options.repetitions == Some(0) {
        return Err(usage("repetitions: expected at least 1, found 0"));
    }
    let wanted = one_of("engine", engine, &ENGINES)?;
    let text = if is_json { toml_of(&text)? } else { text };
    let changes = options.changes();
    let ran = work::run(py, |stop| {
        let cells = cells(&text, &name, &changes, &Own::reading(text_beside));
        let (scenario, cells) = cells.map_err(malformed)?;
        let ways = wanted.ways().map_err(lacks)?;
        wanted.check(&scenario, &cells, ways).map_err(usage)?;
        let place = wanted.place(&cells, ways).map_err(lacks)?;
        let guest = guest.map_or_else(program::guest, Ok).map_err(lacks)?;
        let (repetitions, threads) = (options.repetitions(), options.threads.unwrap_or(0));
        let campaign = Campaign {
            scenario: &scenario,
            cells: &cells,
            place,
            guest: &guest,
            repetitions,
            threads,
            progress: &(),
            stop: stop.flag(),
            keep: &|_: usize, _: &Path| Ok(()),
        };
        let done = campaign::run_all(&campaign).map_err(lacks)?;
        let simulated = match beside_simulation {
            true => {
                let campaign = inorder_sim::Campaign {
                    repetitions,
                    threads,
                    progress: &(),
                    stop: stop.flag(),
                };
                let own = Own::default();
                Some(run_cells(&cells, &campaign, &own, options.samples).map_err(usage)?)
            }
            false => None,
        };
        Ok(OnLinux {
            title: cells
                .first()
                .map(|cell| cell.config.title.clone())
                .unwrap_or_default(),
            side_by_side: SideBySide::new(&done, simulated.as_ref()),
            failures: done.failures,
            name,
        })
    })?;
    Ok(Findings::new(ran))
}

struct OnLinux {
    title: String,
    name: String,
    side_by_side: SideBySide,
    failures: Vec<String>,
}

columns! {
    FAILURES: String, |failure|
    "why": Text, "The run that has no result, and why." => failure;
}

impl OnLinux {
    fn report(&self) -> Report<'_> {
        let results = &self.side_by_side.results;
        Report {
            file: &self.name,
            title: &self.title,
            cells: &results.cells,
            first_runs: &results.first_runs,
            is_partial: false,
        }
    }
}

impl Outcome for OnLinux {
    fn tables(&self) -> Vec<&'static str> {
        vec!["runs", "samples", "agreement", "failures"]
    }

    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        let agreements = &self.side_by_side.agreements;
        match name {
            "runs" => run_batches(&self.report(), size, take),
            "samples" => sample_batches(&self.report(), size, take),
            "agreement" => Batches::new(AGREEMENT, agreements, Texts::Views, size).pass(take),
            _ => Batches::new(FAILURES, &self.failures, Texts::Views, size).pass(take),
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, &self.report())
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_table(out, &self.report(), None)?;
        let agreements = &self.side_by_side.agreements;
        if agreements.is_empty() {
            return Ok(());
        }
        out.push(b'\n');
        inorder_lab::agreement::write_table(out, agreements, None)
    }

    fn html(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_page(out, &self.report())
    }
}
