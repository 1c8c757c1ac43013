//! One HTML page that needs no network: the table, and of each cell's first run what happened.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::plot::{Line, Plot};
use super::{Report, write_table};
use crate::campaign::CellResult;
use crate::result::{RunResult, Sample};

const STYLE: &str = include_str!("page.css");

/// Cells shown with charts at most.
const CELLS: usize = 48;
/// Flows drawn at most in one chart.
const FLOWS: usize = 16;

/// What a chart shows of a sample.
type Value = fn(&Sample) -> f64;

/// Writes the page.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_page(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let title = if report.title.is_empty() {
        report.file
    } else {
        report.title
    };
    let mut table = Vec::new();
    write_table(&mut table, report, None)?;
    let mut page = String::new();
    let _ = write!(
        page,
        "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n\
         <style>\n{STYLE}</style>\n<h1>{0}</h1>\n<pre>{1}</pre>\n",
        escaped(title),
        escaped(&String::from_utf8_lossy(&table))
    );
    for (cell, run) in report.cells.iter().zip(report.first_runs).take(CELLS) {
        if let Some(run) = run {
            section(&mut page, cell, run);
        }
    }
    let left = report.cells.len().saturating_sub(CELLS);
    if left > 0 {
        let _ = writeln!(page, "<p>{left} more cells are in the table only.</p>");
    }
    let _ = writeln!(
        page,
        "<footer>Written by inorder {}. Charts show the first run of each cell.</footer>",
        env!("CARGO_PKG_VERSION")
    );
    out.write_all(page.as_bytes())
}

fn section(page: &mut String, cell: &CellResult, run: &RunResult) {
    let labels: Vec<String> = cell
        .labels
        .iter()
        .map(|(axis, label)| format!("{axis} = {label}"))
        .collect();
    let name = if labels.is_empty() {
        "The run".to_owned()
    } else {
        labels.join(", ")
    };
    let _ = writeln!(page, "<details open><summary>{}</summary>", escaped(&name));
    let until_s = run.duration_ns as f64 / 1e9;
    let charts: [(&str, Value); 3] = [
        ("Congestion window, segments", |s| f64::from(s.cwnd)),
        ("Duplicate-ACK threshold, segments", |s| {
            f64::from(s.dupthresh)
        }),
        ("Smoothed round-trip time, ms", |s| s.srtt_ns as f64 / 1e6),
    ];
    let lines = throughput(run);
    Plot::legend(page, &lines);
    Plot {
        title: "Throughput, Mbit/s",
        until_s,
        lines: &lines,
    }
    .svg(page);
    for (title, of) in charts {
        let lines = lines_of(run, of);
        Plot {
            title,
            until_s,
            lines: &lines,
        }
        .svg(page);
    }
    page.push_str("</details>\n");
}

/// The samples of each flow that is drawn.
fn flows(run: &RunResult) -> impl Iterator<Item = (String, Vec<&Sample>)> {
    run.flows
        .iter()
        .take(FLOWS)
        .enumerate()
        .map(|(number, flow)| {
            let samples = run
                .samples
                .iter()
                .filter(move |sample| sample.flow as usize == number);
            (
                format!("{} {}", escaped(&flow.name), flow.number + 1),
                samples.collect(),
            )
        })
}

fn lines_of(run: &RunResult, of: Value) -> Vec<Line> {
    let line = |(name, samples): (String, Vec<&Sample>)| Line {
        name,
        points: samples
            .into_iter()
            .map(|sample| (sample.time_ns as f64 / 1e9, of(sample)))
            .collect(),
        steps: true,
    };
    flows(run).map(line).collect()
}

/// Of each interval between samples.
fn throughput(run: &RunResult) -> Vec<Line> {
    let rate = |pair: &[&Sample]| match pair {
        [a, b] if b.time_ns > a.time_ns => {
            let bits = (b.delivered_bytes - a.delivered_bytes) as f64 * 8.0;
            // Bits a nanosecond are Gbit/s.
            Some((
                b.time_ns as f64 / 1e9,
                bits / (b.time_ns - a.time_ns) as f64 * 1e3,
            ))
        }
        _ => None,
    };
    let line = |(name, samples): (String, Vec<&Sample>)| Line {
        name,
        points: samples.windows(2).filter_map(rate).collect(),
        steps: false,
    };
    flows(run).map(line).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
