//! The top of the page: what the file is, the main numbers, the table of all flows.

use std::io::{self, Write};

use inorder_detect::FlowReport;
use inorder_detect::columns::{FLOW, FLOW_ID};
use inorder_report::Sheet;
use inorder_report::html::Table;

use crate::gravity::has_problems;
use crate::model::Analysis;
use crate::totals::Totals;
use inorder_report::escape::Text;
use inorder_report::number::{bytes, count, percent, plural, time, time_u64};

/// Maximum number of rows of the table: browsers become slow beyond this.
const ROWS: usize = 5_000;

/// The line below the title; for the second and later files it starts with a heading.
pub fn meta(out: &mut dyn Write, analysis: &Analysis, number: usize) -> io::Result<()> {
    if number > 0 {
        write!(out, "<hr>")?;
    }
    writeln!(
        out,
        "<p class=dim><span class=mono>{}</span> · {} · {} · {} · {}</p>",
        Text(&analysis.file),
        Text(&analysis.format),
        crate::table::frames(analysis),
        bytes(analysis.bytes),
        time(analysis.duration_ns()),
    )
}

/// The main numbers in large print.
pub fn tiles(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    let t = Totals::of(analysis);
    if t.flows == 0 {
        return Ok(());
    }
    let share = t.reordered as f64 / t.arrived.max(1) as f64;
    let mood = |bad: u64| if bad > 0 { "bad" } else { "good" };
    writeln!(out, "<div class=tiles>")?;
    for (class, value, label) in [
        (
            "",
            count(t.flows),
            format!(
                "{}, {} with late packets",
                if t.flows == 1 { "flow" } else { "flows" },
                count(t.reordered_flows)
            ),
        ),
        (
            mood(t.reordered),
            format!("{} %", percent(share)),
            format!("{} late", plural(t.reordered, "packet")),
        ),
        (
            "",
            time_u64(t.max_late_ns),
            format!("latest by time; extent {}", count(t.max_extent)),
        ),
        (
            mood(t.spurious),
            count(t.spurious),
            format!(
                "spurious of {}",
                plural(t.retransmissions, "retransmission")
            ),
        ),
        (
            mood(t.spurious_recoveries),
            count(t.spurious_recoveries),
            format!(
                "of {} unnecessary",
                plural(t.recoveries, "window reduction")
            ),
        ),
        ("", count(t.losses), "packets lost".to_owned()),
    ] {
        writeln!(
            out,
            "<div class=\"tile {class}\"><b>{value}</b><span>{label}</span></div>"
        )?;
    }
    writeln!(out, "</div>")
}

/// A flow and the identifier of its section, if it has one.
pub struct Listed<'a> {
    /// The flow.
    pub flow: &'a FlowReport,
    /// Its section.
    pub section: Option<String>,
}

/// The table of all flows.
pub fn table(out: &mut dyn Write, flows: &[Listed<'_>]) -> io::Result<()> {
    if flows.is_empty() {
        return Ok(());
    }
    let columns = Sheet::new()
        .with(FLOW_ID, |row: &Listed<'_>| &row.flow.flow)
        .with(FLOW, |row| row.flow);
    let table = Table::new(&columns)
        .at_most(ROWS)
        .class(|row| if has_problems(row.flow) { "" } else { "quiet" })
        .link(|row| row.section.clone());
    writeln!(out, "<h2>Flows</h2>\n<div class=\"card flows names\">")?;
    table.write(out, flows)?;
    writeln!(out, "</div>")?;
    match flows.len().saturating_sub(ROWS) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "<p class=dim>{} more are in the JSON and CSV output.</p>",
            plural(n, "flow")
        ),
    }
}
