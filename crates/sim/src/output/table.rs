//! A row a cell: its place in the grid, then means with their intervals.

use std::io::{self, Write};

use super::number::short;
use super::{Report, heading};
use crate::measure::{MEASURES, Measure};

/// Measures in the order in which they are given up when the table is too wide, the last first.
const IMPORTANCE: &[&str] = &[
    "throughput",
    "retransmissions",
    "duplicate_acks",
    "recoveries",
    "spurious",
    "mean_displacement",
    "entropy",
    "probes_reordered",
    "response",
    "completion",
    "reordered_at_stack",
    "rtt",
    "timeouts",
    "undone",
    "broken",
    "dropped",
    "probes_received",
    "probe_delay",
    "fairness",
    "reordered_at_card",
];

/// Writes the table, within `width` characters if given, by leaving out columns.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_table(
    out: &mut dyn Write,
    report: &Report<'_>,
    width: Option<usize>,
) -> io::Result<()> {
    let mut measures = chosen(report);
    loop {
        let rows = rows(report, &measures);
        let widths = widths(&rows);
        let total: usize = widths.iter().map(|width| width + 2).sum();
        if width.is_none_or(|width| total <= width + 2) || measures.len() <= 1 {
            return write_rows(out, &rows, &widths, report.axes().len());
        }
        measures.pop();
    }
}

/// Measures that some cell has, and that are not nothing everywhere.
fn chosen(report: &Report<'_>) -> Vec<(usize, &'static Measure)> {
    let by_name = |name: &&str| MEASURES.iter().enumerate().find(|(_, m)| m.name == *name);
    let worth = |(at, measure): &(usize, &Measure)| {
        let means = report.cells.iter().filter_map(|cell| cell.estimate_at(*at));
        let mut means = means.map(|estimate| estimate.mean);
        match measure.name {
            // What every table of TCP should say, though it be nothing.
            "retransmissions" | "duplicate_acks" | "recoveries" => means.next().is_some(),
            _ => means.any(|mean| mean != 0.0),
        }
    };
    IMPORTANCE
        .iter()
        .filter_map(by_name)
        .filter(worth)
        .collect()
}

fn rows(report: &Report<'_>, measures: &[(usize, &Measure)]) -> Vec<Vec<String>> {
    let mut shown = measures.to_vec();
    shown.sort_by_key(|(at, _)| *at);
    let axes = report.axes().into_iter().map(heading);
    let titles = shown.iter().map(|(_, measure)| title(measure));
    let head = axes.chain(["runs".to_owned()]).chain(titles).collect();
    let body = report.cells.iter().map(|cell| {
        let labels = cell.labels.iter().map(|(_, label)| label.clone());
        let values = shown.iter().map(|(at, _)| value(cell.estimate_at(*at)));
        labels
            .chain([cell.seeds.len().to_string()])
            .chain(values)
            .collect()
    });
    std::iter::once(head).chain(body).collect()
}

fn title(measure: &Measure) -> String {
    match measure.unit {
        "" => measure.heading.to_owned(),
        unit => format!("{} {unit}", measure.heading),
    }
}

fn value(estimate: Option<crate::Estimate>) -> String {
    match estimate {
        None => "-".to_owned(),
        Some(estimate) => match estimate.half {
            Some(half) if half > 0.0 => format!("{} ±{}", short(estimate.mean), short(half)),
            _ => short(estimate.mean),
        },
    }
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    let longest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(longest).collect()
}

/// Labels to the left, numbers to the right of their columns.
fn write_rows(
    out: &mut dyn Write,
    rows: &[Vec<String>],
    widths: &[usize],
    labels: usize,
) -> io::Result<()> {
    for row in rows {
        let mut line = String::new();
        for (at, (text, width)) in row.iter().zip(widths).enumerate() {
            let gap = if at == 0 { "" } else { "  " };
            let cell = match at < labels {
                true => format!("{gap}{text:<width$}"),
                false => format!("{gap}{text:>width$}"),
            };
            line.push_str(&cell);
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
