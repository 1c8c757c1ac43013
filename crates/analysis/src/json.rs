//! JSON for programs: one object, schema `inorder-analyze/1`.
//!
//! The columns define names and meanings; `docs/schemas/analyze.schema.json` and [`write_schema`] document all of
//! them. Times of day are integers, nanoseconds since the Unix epoch (`*_ns`): read them with 64 bits. Durations are
//! milliseconds (`*_ms`). The text is streamed to the output and not collected in memory first.

use std::io::{self, Write};

use inorder_report::json::Json;
use inorder_report::schema;

use crate::columns::DOCUMENT;
use crate::model::Analysis;

pub use crate::columns::SCHEMA;

/// Writes the analyses as one JSON object; with `events`, every single event is included.
///
/// `out` should be buffered.
///
/// ```
/// let mut out = Vec::new();
/// inorder_analysis::json::write(&mut out, &[], false)?;
/// assert_eq!(out, b"{\"schema\":\"inorder-analyze/1\",\"files\":[],\"flows\":[]}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If `out` cannot be written.
pub fn write(mut out: impl Write, analyses: &[Analysis], events: bool) -> io::Result<()> {
    let mut json = Json::new(&mut out).with_details(events);
    json.object(DOCUMENT, analyses)?;
    writeln!(out)
}

/// Writes the JSON Schema of what [`write()`] writes.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    schema::write(
        out,
        "inorder analyze",
        "What `inorder analyze --json` prints. Durations (`*_ms`) are milliseconds, times of day \
         (`*_ns`) integers of nanoseconds since the Unix epoch: read them with 64 bits.",
        DOCUMENT,
    )
}
