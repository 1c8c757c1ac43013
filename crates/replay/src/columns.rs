//! The columns of the summary, from which JSON, its schema and the text are made.

use std::io::{self, Write};

use inorder_metrics::{METRICS, Reordering};
use inorder_report::json::Json;
use inorder_report::schema::Schema;
use inorder_report::text::{self, Layout};
use inorder_report::{AnyColumn, Column, Digits, Field, Kind, Nested, Sheet, columns};

use crate::tally::Summary;

const REAL: Digits = Digits::Short;

/// The metrics of [`METRICS`] that are measured at each side. The others need consecutive packet numbers, but TCP
/// numbers bytes.
const MEASURED: [&str; 7] = [
    "reordered_ratio",
    "max_extent",
    "mean_extent",
    "p99_extent",
    "max_late_ms",
    "mean_late_ms",
    "p99_late_ms",
];

columns! {
    /// The summary as `inorder sort --json` prints it.
    pub SUMMARY: Summary, |s|
    "frames": Count, "Frames read." => s.frames;
    "sortable": Count, "Frames that could be sorted." => s.sortable;
    "batches": Count, "Batches the network card delivered." => s.batches;
    "batch_mean": Number(REAL), "Mean number of frames per batch." => rounded(s.batch_mean(), 1e3), unit("frames");
    "batch_max": Count, "Frames in the largest batch." => s.batch_max, unit("frames");
    "before": Nested(BEFORE), "Order in which the frames arrived." => s;
    "after": Nested(AFTER), "Order in which the stack receives the frames." => s;
    "delay_mean_ns": Number(REAL), "Mean delay added to a frame." => rounded(s.delay_mean_ns, 10.0), unit("ns");
    "delay_max_ns": Count, "Largest delay added to a frame." => s.delay_max_ns, unit("ns");
}

/// The order at one side of the sorter, as an object of the JSON document.
struct Side(fn(&Summary) -> &Reordering);

static BEFORE: Side = Side(|s| &s.before);
static AFTER: Side = Side(|s| &s.after);

impl Nested<Summary> for Side {
    fn schema(&self) -> Schema {
        Schema::object(&order())
    }

    fn write(&self, row: &Summary, json: &mut Json<'_>) -> io::Result<()> {
        json.object(&order(), (self.0)(row))
    }
}

columns! {
    /// The counts of one side. The sorter sees sequence numbers only, so a retransmission counts if its original is missing.
    COUNTS: Reordering, |o|
    "received": Count, "First copies of numbered packets." => o.received, shown("received", 0);
    "reordered": Count, "Of these, reordered (RFC 4737 section 3.3)." => o.reordered, shown("reordered", 0);
}

/// The columns of one side.
fn order() -> Vec<Column<Reordering>> {
    let measured = METRICS
        .iter()
        .filter(|column| MEASURED.contains(&column.field.name));
    COUNTS.iter().chain(measured).copied().collect()
}

/// Writes the numbers of the run, a line each, and a table of the order before and after sorting.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_text(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let facts: Vec<&Column<Summary>> = SUMMARY.iter().filter(|c| c.rows().is_none()).collect();
    text::facts(out, &facts, summary, &Layout::default())?;
    writeln!(out)?;
    let sides = [("before", &summary.before), ("after", &summary.after)];
    let sides = sides.map(|(name, order)| NamedSide { name, order });
    text::write(out, &table(&order()), sides, &Layout::default())
}

/// Passes the order before and after sorting as record batches: a row each.
///
/// # Errors
/// If a column has a value that is not of its kind, which is a fault of its declaration.
#[cfg(feature = "arrow")]
pub fn batches(
    summary: &Summary,
    size: usize,
    take: &mut inorder_report::arrow::TakeBatch<'_>,
) -> io::Result<arrow_schema::SchemaRef> {
    use inorder_report::arrow::{Batches, Texts};
    let sides = [("before", &summary.before), ("after", &summary.after)];
    let sides = sides.map(|(name, order)| NamedSide { name, order });
    let order = order();
    Batches::new(&table(&order), sides, Texts::Views, size).pass(take)
}

/// A row of the table.
struct NamedSide<'a> {
    name: &'static str,
    order: &'a Reordering,
}

/// The side, and those of its columns that tables show.
fn table<'c>(order: &'c [Column<Reordering>]) -> Sheet<'c, NamedSide<'c>> {
    let sorting = Field::new("sorting", Kind::Text, "Before or after the sorter.");
    Sheet::new()
        .and(sorting.shown("sorting", 0), |s: &NamedSide<'_>| {
            s.name.into()
        })
        .with(order, |s: &NamedSide<'_>| s.order)
}

/// Rounds to a fraction of one part in `parts`: further digits are rounding errors of the division.
fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}
