//! Parquet for data frames: one row a flow, or one row an event; Snappy-compressed.
//!
//! Columns are named as in JSON and CSV. Times of day are timestamps in nanoseconds, UTC, and
//! lose the ending `_ns`; durations are milliseconds in double precision.

mod columns;
mod events;
mod flows;

use std::io::{self, Write};

use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::model::Analysis;

/// Rows gathered before they are handed to the writer.
const BATCH: usize = 1 << 16;

/// Writes one row a flow.
pub fn write_flows(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, flows::batches(analyses))
}

/// Writes one row an event.
pub fn write_events(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, events::batches(analyses))
}

/// Writes batches of one schema; there is at least one, if empty.
fn write(
    out: impl Write + Send,
    mut batches: impl Iterator<Item = io::Result<RecordBatch>>,
) -> io::Result<()> {
    let Some(first) = batches.next().transpose()? else {
        return Ok(());
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("inorder ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer =
        ArrowWriter::try_new(out, first.schema(), Some(properties)).map_err(io::Error::other)?;
    writer.write(&first).map_err(io::Error::other)?;
    for batch in batches {
        writer.write(&batch?).map_err(io::Error::other)?;
    }
    writer.close().map_err(io::Error::other)?;
    Ok(())
}

/// Cuts rows into batches and makes at least one.
fn in_batches<'a, R: 'a>(
    mut rows: impl Iterator<Item = R> + 'a,
    batch: fn(&[R]) -> io::Result<RecordBatch>,
) -> impl Iterator<Item = io::Result<RecordBatch>> + 'a {
    let mut first = true;
    std::iter::from_fn(move || {
        let chunk: Vec<R> = rows.by_ref().take(BATCH).collect();
        let wanted = first || !chunk.is_empty();
        first = false;
        wanted.then(|| batch(&chunk))
    })
}
