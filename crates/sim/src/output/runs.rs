//! Tables with one row for each run or each sample, for data frames.

use std::io::{self, Write};

#[cfg(feature = "arrow")]
use arrow_schema::SchemaRef;
#[cfg(feature = "arrow")]
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::{Field, Kind, Sheet, csv};

use super::{Report, label};
use crate::campaign::CellResult;
use crate::engine::ENGINE;
use crate::measure::MEASURES;
#[cfg(any(feature = "parquet", feature = "arrow"))]
use crate::samples::{SAMPLES, Sample};

/// One run of a cell.
pub(super) struct Run<'a> {
    cell: &'a CellResult,
    /// Its number within the cell.
    number: usize,
}

impl Run<'_> {
    /// Its seed.
    pub(super) fn seed(&self) -> Option<u64> {
        self.cell.seeds.get(self.number).copied()
    }

    /// Its value of the measure at this index of [`MEASURES`].
    fn value(&self, measure: usize) -> Option<f64> {
        let values = self.cell.values.get(measure)?;
        values.get(self.number).copied().flatten()
    }
}

/// Writes axes, seed and all measures of each run as CSV; missing values are empty.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    csv::write(out, &sheet(report), rows(report))
}

/// The same in Parquet.
///
/// # Errors
/// If `out` cannot be written.
#[cfg(feature = "parquet")]
pub fn write_runs<W: Write + Send>(out: W, report: &Report<'_>) -> io::Result<()> {
    inorder_report::parquet::write(out, &sheet(report), rows(report))
}

/// Writes one row for each sample of the first run of each cell, in Parquet.
///
/// # Errors
/// If `out` cannot be written.
#[cfg(feature = "parquet")]
pub fn write_samples<W: Write + Send>(out: W, report: &Report<'_>) -> io::Result<()> {
    inorder_report::parquet::write(out, &sample_sheet(report), sample_rows(report))
}

/// Passes the runs as record batches of at most `size` rows: the rows of [`write_csv`].
///
/// # Errors
/// If a column has a value that is not of its kind, which is a fault of its declaration.
#[cfg(feature = "arrow")]
pub fn run_batches(
    report: &Report<'_>,
    size: usize,
    take: &mut TakeBatch<'_>,
) -> io::Result<SchemaRef> {
    Batches::new(&sheet(report), rows(report), Texts::Views, size).pass(take)
}

/// The same of the samples of the first run of each cell.
///
/// # Errors
/// As for [`run_batches`].
#[cfg(feature = "arrow")]
pub fn sample_batches(
    report: &Report<'_>,
    size: usize,
    take: &mut TakeBatch<'_>,
) -> io::Result<SchemaRef> {
    let sheet = sample_sheet(report);
    Batches::new(&sheet, sample_rows(report), Texts::Views, size).pass(take)
}

/// A sample with its place in the grid.
#[cfg(any(feature = "parquet", feature = "arrow"))]
struct SampleRow<'a> {
    cell: &'a CellResult,
    sample: &'a Sample,
}

#[cfg(any(feature = "parquet", feature = "arrow"))]
fn sample_sheet<'a>(report: &Report<'a>) -> Sheet<'a, SampleRow<'a>> {
    with_labels(report, |row: &SampleRow<'_>| row.cell)
        .with(SAMPLES, |row: &SampleRow<'_>| row.sample)
}

#[cfg(any(feature = "parquet", feature = "arrow"))]
fn sample_rows<'a>(report: &Report<'a>) -> impl Iterator<Item = SampleRow<'a>> {
    let cells = report.cells.iter().zip(report.first_runs);
    cells.flat_map(|(cell, run)| {
        let samples = run.iter().flat_map(|run| &run.samples);
        samples.map(move |sample| SampleRow { cell, sample })
    })
}

/// The runs of a cell.
pub(super) fn of_cell(cell: &CellResult) -> impl Iterator<Item = Run<'_>> {
    (0..cell.seeds.len()).map(move |number| Run { cell, number })
}

fn rows<'a>(report: &Report<'a>) -> impl Iterator<Item = Run<'a>> {
    report.cells.iter().flat_map(of_cell)
}

fn sheet<'a>(report: &Report<'a>) -> Sheet<'a, Run<'a>> {
    let seed = Field::new("seed", Kind::Count, "Seed of the run.");
    let labels = with_labels(report, |run: &Run<'a>| run.cell);
    let sheet = labels.and(seed, |run: &Run<'a>| run.seed().into());
    with_measures(sheet).with(ENGINE, |run: &Run<'a>| &*run.cell.engine)
}

/// Adds a column for each measure.
pub(super) fn with_measures<'c, 'a: 'c>(sheet: Sheet<'c, Run<'a>>) -> Sheet<'c, Run<'a>> {
    let measures = MEASURES.iter().enumerate();
    measures.fold(sheet, |sheet, (at, measure)| {
        sheet.and(measure.field, move |run: &Run<'a>| run.value(at).into())
    })
}

/// A column for each axis; `cell` returns the cell of a row.
fn with_labels<'a, R: 'a>(
    report: &Report<'a>,
    cell: for<'r> fn(&'r R) -> &'r CellResult,
) -> Sheet<'a, R> {
    let axes = report.axes().enumerate();
    axes.fold(Sheet::new(), |sheet, (at, axis)| {
        let field = Field::new(axis, Kind::Text, "Place in the grid.");
        sheet.and(field, move |row: &R| label(cell(row), at).into())
    })
}
