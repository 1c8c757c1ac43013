//! Runs and samples in columns.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use parquet::arrow::ArrowWriter;

use super::Report;
use crate::measure::MEASURES;
use crate::result::Sample;

/// Columns by name.
type Columns = Vec<(String, ArrayRef)>;

/// Writes a row a run: axes, seed, measures.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_runs<W: Write + Send>(out: W, report: &Report<'_>) -> io::Result<()> {
    let mut columns = labels(report, |cell| cell.seeds.len());
    let seeds = report
        .cells
        .iter()
        .flat_map(|cell| cell.seeds.iter().copied());
    columns.push((
        "seed".to_owned(),
        Arc::new(UInt64Array::from_iter_values(seeds)),
    ));
    for (at, measure) in MEASURES.iter().enumerate() {
        let of_cell =
            |cell: &'_ crate::CellResult| cell.values.get(at).cloned().unwrap_or_default();
        let values: Float64Array = report.cells.iter().flat_map(of_cell).collect();
        columns.push((measure.name.to_owned(), Arc::new(values)));
    }
    write(out, columns)
}

/// Writes a row a sample of the first run of each cell.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_samples<W: Write + Send>(out: W, report: &Report<'_>) -> io::Result<()> {
    let samples: Vec<Sample> = report
        .first_runs
        .iter()
        .flatten()
        .flat_map(|run| run.samples.iter().copied())
        .collect();
    let lengths: Vec<usize> = report
        .first_runs
        .iter()
        .map(|run| run.as_ref().map_or(0, |run| run.samples.len()))
        .collect();
    let mut at = lengths.iter();
    let mut columns = labels(report, |_| at.next().copied().unwrap_or(0));
    let wide = |of: fn(&Sample) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(samples.iter().map(of)))
    };
    let narrow = |of: fn(&Sample) -> u32| -> ArrayRef {
        Arc::new(UInt32Array::from_iter_values(samples.iter().map(of)))
    };
    let state: ArrayRef = Arc::new(StringArray::from_iter_values(
        samples.iter().map(|s| format!("{:?}", s.state)),
    ));
    let named = [
        ("time_ns", wide(|s| s.time_ns.cast_unsigned())),
        ("flow", narrow(|s| s.flow)),
        ("cwnd", narrow(|s| s.cwnd)),
        ("ssthresh", narrow(|s| s.ssthresh)),
        ("dupthresh", narrow(|s| s.dupthresh)),
        ("pipe", narrow(|s| s.pipe)),
        ("srtt_ns", wide(|s| s.srtt_ns.cast_unsigned())),
        ("state", state),
        ("delivered_bytes", wide(|s| s.delivered_bytes)),
        ("retransmissions", wide(|s| s.retransmissions)),
    ];
    columns.extend(
        named
            .into_iter()
            .map(|(name, array)| (name.to_owned(), array)),
    );
    write(out, columns)
}

/// A column of labels for each axis, each label as often as its cell has rows.
fn labels(report: &Report<'_>, mut rows: impl FnMut(&crate::CellResult) -> usize) -> Columns {
    let counts: Vec<usize> = report.cells.iter().map(&mut rows).collect();
    let column = |(at, axis): (usize, &str)| {
        let repeated = report.cells.iter().zip(&counts).flat_map(|(cell, count)| {
            let label = cell.labels.get(at).map_or("", |(_, label)| label.as_str());
            std::iter::repeat_n(label, *count)
        });
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(repeated));
        (axis.to_owned(), array)
    };
    report.axes().into_iter().enumerate().map(column).collect()
}

fn write<W: Write + Send>(out: W, columns: Columns) -> io::Result<()> {
    let batch = RecordBatch::try_from_iter(columns).map_err(io::Error::other)?;
    let mut writer = ArrowWriter::try_new(out, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}
