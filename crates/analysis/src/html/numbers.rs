//! The numbers of each chart as tables; they replace the charts on a page without chart libraries.

use std::io::{self, Write};

use inorder_detect::columns::{RATE_CLASS, WHAT_IF};
use inorder_detect::{Distribution, FlowReport};
use inorder_report::Column;
use inorder_report::html::Table;

use inorder_report::number::{count, time_u64};

/// Maximum number of rows of a distribution that are shown.
const ROWS: usize = 200;

/// Title of a chart, and whether the chart takes the whole width.
pub fn title(chart: &str) -> (&'static str, bool) {
    match chart {
        "sequence" => ("Time and sequence (drag to move, wheel to zoom)", true),
        "extents" => ("Reordering extent (RFC 4737)", false),
        "late" => ("Late time (RFC 4737)", false),
        "rd" => ("Reorder density (RFC 5236)", false),
        "what_if" => ("If a receiver had sorted: still reordered, %", false),
        _ => ("Reordering and sending rate", false),
    }
}

/// Writes the table of one chart; the time-sequence diagram has none.
pub fn table(out: &mut dyn Write, chart: &str, flow: &FlowReport) -> io::Result<()> {
    let order = &flow.reordering;
    match chart {
        "sequence" => write!(
            out,
            "<p class=dim>{} points; events with their numbers are in the JSON, CSV and Parquet \
             output.</p>",
            count(flow.points.len() as u64)
        ),
        "extents" => distribution(out, "extent, packets", &order.extents, count),
        "late" => distribution(out, "late by", &order.late_ns, time_u64),
        "rd" => rows(
            out,
            &["displacement", "density"],
            order
                .displacements
                .density()
                .map(|(d, p)| vec![d.to_string(), format!("{p:.6}")]),
        ),
        "what_if" => listed(out, WHAT_IF, &flow.what_if),
        _ => listed(out, RATE_CLASS, &flow.by_rate),
    }
}

fn distribution(
    out: &mut dyn Write,
    what: &str,
    d: &Distribution,
    show: fn(u64) -> String,
) -> io::Result<()> {
    let cells = d.buckets().map(|(value, n)| vec![show(value), count(n)]);
    rows(out, &[what, "packets"], cells)
}

fn listed<T>(out: &mut dyn Write, columns: &[Column<T>], rows: &[T]) -> io::Result<()> {
    write!(out, "<div class=scroll>")?;
    Table::new(columns).at_most(ROWS).write(out, rows)?;
    writeln!(out, "</div>")
}

/// Rows of a table whose cells hold only text and numbers of our own, so nothing needs escaping.
fn rows(
    out: &mut dyn Write,
    titles: &[&str],
    cells: impl Iterator<Item = Vec<String>>,
) -> io::Result<()> {
    write!(out, "<div class=scroll><table><thead><tr>")?;
    for title in titles {
        write!(out, "<th>{title}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    for row in cells.take(ROWS) {
        writeln!(out, "<tr><td>{}</td></tr>", row.join("</td><td>"))?;
    }
    writeln!(out, "</tbody></table></div>")
}
