//! Results of a campaign: defines the columns and their order. `inorder_report` writes them as tables, JSON, CSV,
//! Parquet and pages.

mod cells;
mod json;
mod page;
mod runs;

use crate::campaign::CellResult;
use crate::result::RunResult;

pub use cells::write_table;
pub use json::{write_json, write_schema};
pub use page::write_page;
pub use runs::write_csv;
#[cfg(feature = "arrow")]
pub use runs::{run_batches, sample_batches};
#[cfg(feature = "parquet")]
pub use runs::{write_runs, write_samples};

/// The axis on which cells of several engines differ. It has its own column, so tables need none for the engine.
pub const RUNS_ON: &str = "runs_on";

/// The results of a campaign.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Name of the scenario's file.
    pub file: &'a str,
    /// Its title; may be empty.
    pub title: &'a str,
    /// Cells with their runs.
    pub cells: &'a [CellResult],
    /// The complete first run of each cell, if it was kept.
    pub first_runs: &'a [Option<RunResult>],
    /// True if the campaign was interrupted: cells may have fewer runs than requested.
    pub is_partial: bool,
}

impl<'a> Report<'a> {
    /// Names of the axes.
    fn axes(&self) -> impl Iterator<Item = &'a str> {
        let labels = self.cells.first().map(|cell| cell.labels.as_slice());
        let labels = labels.unwrap_or_default().iter();
        labels.map(|(axis, _)| axis.as_str())
    }
}

/// The value of a cell on axis number `axis`.
fn label(cell: &CellResult, axis: usize) -> &str {
    cell.labels
        .get(axis)
        .map_or("", |(_, label)| label.as_str())
}

/// The part of a dotted key that is sufficient in headings: `jitter.delay` for `forward.jitter.delay`.
fn heading(axis: &str) -> String {
    let parts: Vec<&str> = axis.split('.').filter(|part| *part != "*").collect();
    parts
        .get(parts.len().saturating_sub(2)..)
        .unwrap_or_default()
        .join(".")
}
