//! CSV for spreadsheets: one row for each flow, event, retransmission or recovery. The columns have the same names as
//! in JSON.

use std::io::{self, Write};

use inorder_report::csv::write;

use crate::columns;
use crate::model::Analysis;

/// Writes one row for each flow. `out` should be buffered.
///
/// ```
/// let mut out = Vec::new();
/// inorder_analysis::csv::write_flows(&mut out, &[])?;
/// assert!(out.starts_with(b"file,flow,"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If `out` cannot be written.
pub fn write_flows(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    write(&mut out, &columns::flows(), columns::flow_rows(analyses))
}

/// Writes one row for each event.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_events(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    write(&mut out, &columns::events(), columns::event_rows(analyses))
}

/// Writes one row for each retransmission.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_retransmissions(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    write(
        &mut out,
        &columns::retransmissions(),
        columns::retransmission_rows(analyses),
    )
}

/// Writes one row for each recovery.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_recoveries(mut out: impl Write, analyses: &[Analysis]) -> io::Result<()> {
    write(
        &mut out,
        &columns::recoveries(),
        columns::recovery_rows(analyses),
    )
}
