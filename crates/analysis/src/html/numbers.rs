//! The numbers of each chart as tables: they replace the charts on a page that draws none.

use std::io::{self, Write};

use crate::flows::{GOODPUT, RATE_CLASS};
use inorder_detect::Distribution;
use inorder_detect::Reordering;
use inorder_limits::Limits;
use inorder_report::html::Table;
use inorder_report::number::{count, percent, plural, time, time_u64};

use super::data::Chart;
use crate::gravity::Subject;
use crate::limits::labels;

/// Maximum number of rows; JSON has all.
const ROWS: usize = 40;

/// Writes the table of one chart; the time-sequence diagram has none.
pub(super) fn table(out: &mut dyn Write, chart: Chart, subject: &Subject<'_>) -> io::Result<()> {
    let (order, flow) = match subject {
        Subject::Flow(flow) => (&flow.reordering, Some(*flow)),
        Subject::Stream(stream) => (&stream.order, None),
    };
    match (chart, flow) {
        (Chart::Sequence | Chart::When, _) => writeln!(
            out,
            "<p class=dim>The events with their numbers are in the JSON, CSV and Parquet output.</p>"
        ),
        (Chart::Limits, Some(flow)) => limits(out, &flow.limits),
        (Chart::Goodput, Some(flow)) => {
            write!(out, "<div class=scroll tabindex=0>")?;
            Table::new(GOODPUT)
                .at_most(ROWS)
                .write(out, &flow.cost.goodput)?;
            writeln!(out, "</div>")?;
            cut(out, flow.cost.goodput.len())
        }
        (Chart::ByRate, Some(flow)) => {
            write!(out, "<div class=scroll tabindex=0>")?;
            Table::new(RATE_CLASS)
                .at_most(ROWS)
                .write(out, &flow.by_rate)?;
            writeln!(out, "</div>")?;
            cut(out, flow.by_rate.len())
        }
        (Chart::Extents, _) => distribution(out, "extent, packets", &order.extents, count),
        (Chart::Late, _) => distribution(out, "late by", &order.late_ns, time_u64),
        _ => density(out, order),
    }
}

fn limits(out: &mut dyn Write, limits: &Limits) -> io::Result<()> {
    let cells: Vec<_> = limits
        .shares
        .iter()
        .map(|share| [labels(share.limits), time(share.ns)])
        .collect();
    rows(out, &["limit", "time"], &cells)
}

fn distribution(
    out: &mut dyn Write,
    what: &str,
    d: &Distribution,
    show: fn(u64) -> String,
) -> io::Result<()> {
    let cells: Vec<_> = d
        .buckets()
        .map(|(value, n)| [show(value), count(n)])
        .collect();
    rows(out, &[what, "packets"], &cells)
}

fn density(out: &mut dyn Write, order: &Reordering) -> io::Result<()> {
    let cells: Vec<_> = order
        .displacements
        .density()
        .map(|(d, p)| [d.to_string(), percent(p)])
        .collect();
    rows(out, &["displacement, packets", "% of packets"], &cells)
}

/// Rows of a table whose cells hold only text and numbers of our own, so nothing needs escaping. Of too many rows, the
/// ones in the middle are left out: the ends are the extremes.
fn rows(out: &mut dyn Write, titles: &[&str; 2], cells: &[[String; 2]]) -> io::Result<()> {
    write!(out, "<div class=scroll tabindex=0><table><thead><tr>")?;
    for title in titles {
        write!(out, "<th scope=col>{title}</th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")?;
    let ends = ROWS / 2;
    for (at, [left, right]) in cells.iter().enumerate() {
        if cells.len() <= ROWS || at < ends || at >= cells.len() - ends {
            writeln!(out, "<tr><td>{left}</td><td>{right}</td></tr>")?;
        } else if at == ends {
            writeln!(out, "<tr><td>…</td><td>…</td></tr>")?;
        }
    }
    writeln!(out, "</tbody></table></div>")?;
    cut(out, cells.len())
}

/// Says how many rows are not shown.
fn cut(out: &mut dyn Write, all: usize) -> io::Result<()> {
    match all.saturating_sub(ROWS) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "<p class=dim>{} in the JSON output.</p>",
            plural(n, "more row")
        ),
    }
}
