//! Parquet for data frames: one row a flow, an event, a retransmission or a recovery; Snappy-compressed.
//!
//! Columns are named as in JSON and CSV. Times of day are timestamps in nanoseconds, UTC, and
//! lose the ending `_ns`; durations are milliseconds in double precision.

use std::io::{self, Write};

use inorder_report::parquet::write;

use crate::columns;
use crate::model::Analysis;

/// Writes one row a flow.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_flows(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, &columns::flows(), columns::flow_rows(analyses))
}

/// Writes one row an event.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_events(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, &columns::events(), columns::event_rows(analyses))
}

/// Writes one row a retransmission.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_retransmissions(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(
        out,
        &columns::retransmissions(),
        columns::retransmission_rows(analyses),
    )
}

/// Writes one row a recovery.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_recoveries(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(
        out,
        &columns::recoveries(),
        columns::recovery_rows(analyses),
    )
}
