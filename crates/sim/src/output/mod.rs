//! Results as text for people, JSON, CSV, Parquet and a page: plain data in, bytes out.

mod csv;
mod json;
mod number;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod plot;
mod table;

use crate::campaign::CellResult;
use crate::result::RunResult;

pub use csv::write_csv;
pub use json::write_json;
pub use page::write_page;
#[cfg(feature = "parquet")]
pub use parquet::{write_runs, write_samples};
pub use table::write_table;

/// What a campaign gave.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// Name of the scenario's file.
    pub file: &'a str,
    /// Its title; may be empty.
    pub title: &'a str,
    /// Cells, each with its runs.
    pub cells: &'a [CellResult],
    /// Of each cell the first run as a whole, where it was kept.
    pub first_runs: &'a [Option<RunResult>],
}

impl Report<'_> {
    /// Names of the axes.
    fn axes(&self) -> Vec<&str> {
        let first = self.cells.first();
        first.map_or_else(Vec::new, |cell| {
            cell.labels.iter().map(|(axis, _)| axis.as_str()).collect()
        })
    }
}

/// The part of a dotted key that tells axes apart, for headings: `forward.jitter.delay` as
/// `jitter.delay`.
fn heading(axis: &str) -> String {
    let parts: Vec<&str> = axis.split('.').filter(|part| *part != "*").collect();
    parts
        .get(parts.len().saturating_sub(2)..)
        .unwrap_or_default()
        .join(".")
}
