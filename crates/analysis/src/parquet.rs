//! Parquet for data frames: one row for each flow, event, retransmission or recovery; Snappy-compressed.
//!
//! The columns have the same names as in JSON and CSV. Times of day are UTC timestamps in nanoseconds, so their names
//! lose the ending `_ns`; durations are milliseconds in double precision.

use std::io::{self, Write};

use inorder_report::parquet::write;

use crate::columns;
use crate::model::Analysis;

/// Writes one row for each flow.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_flows(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, &columns::flows(), columns::flow_rows(analyses))
}

/// Writes one row for each event.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_events(out: impl Write + Send, analyses: &[Analysis]) -> io::Result<()> {
    write(out, &columns::events(), columns::event_rows(analyses))
}

/// Writes one row for each retransmission.
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

/// Writes one row for each recovery.
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
