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
/// Parts of a run over each of which throughput is averaged.
const GRAIN: i64 = 200;

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
        title: "Throughput (what is delivered in order), Mbit/s",
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
    let left = run.flows.len().saturating_sub(FLOWS);
    if left > 0 {
        let _ = writeln!(page, "<p>{left} more flows are not drawn.</p>");
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

/// Means over a [`GRAIN`]th of the run or an interval between samples, whichever is longer: data
/// held up behind a hole are delivered at one instant, at any rate one likes.
fn throughput(run: &RunResult) -> Vec<Line> {
    let line = |(name, samples): (String, Vec<&Sample>)| Line {
        name,
        points: rates(&samples, run.duration_ns / GRAIN),
        steps: false,
    };
    flows(run).map(line).collect()
}

/// Mbit/s over intervals of at least `least_ns`, with their ends in seconds.
fn rates(samples: &[&Sample], least_ns: i64) -> Vec<(f64, f64)> {
    let Some((&(mut from), rest)) = samples.split_first() else {
        return Vec::new();
    };
    let mut points = Vec::new();
    for &to in rest {
        let ns = to.time_ns.saturating_sub(from.time_ns);
        if ns > 0 && ns >= least_ns {
            let bits = to.delivered_bytes.saturating_sub(from.delivered_bytes) as f64 * 8.0;
            // Bits a nanosecond are Gbit/s.
            points.push((to.time_ns as f64 / 1e9, bits / ns as f64 * 1e3));
            from = to;
        }
    }
    points
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_delivered_at_once_is_spread_over_its_grain() {
        // One sample a millisecond, 1 Mbit each but the third, which comes with the fourth.
        let bytes = [0, 125_000, 250_000, 250_000, 500_000, 625_000];
        let samples: Vec<Sample> = bytes
            .iter()
            .zip(0..)
            .map(|(&delivered_bytes, ms)| Sample {
                time_ns: ms * 1_000_000,
                delivered_bytes,
                ..Sample::default()
            })
            .collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let of = |least_ns| rates(&samples, least_ns).into_iter().map(|p| p.1);
        assert!(of(0).eq([1_000.0, 1_000.0, 0.0, 2_000.0, 1_000.0]));
        assert!(of(2_000_000).eq([1_000.0, 1_000.0]));
        assert!(rates(&[], 0).is_empty());
    }
}
