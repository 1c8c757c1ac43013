//! The page: measures compared over the grid, and charts over time for the first run of each cell.

use std::io::{self, Write};

use inorder_report::html::Table;
use inorder_report::html::comparison::{self, Cell, Comparison, Estimated, Measure, Panel, Traces};
use inorder_report::{Rank, number::plural};

use super::cells::Headings;
use super::{Report, heading};
use crate::campaign::CellResult;
use crate::measure::MEASURES;
use crate::result::RunResult;
use crate::samples::Sample;

/// Maximum number of cells with charts over time.
const CELLS: usize = 48;
/// Maximum number of flows drawn in one chart.
const FLOWS: usize = 16;
/// Number of parts of a run over each of which throughput is averaged.
const GRAIN: i64 = 200;
/// Maximum number of points of all charts together, so that the page stays small enough to open.
const POINTS: usize = 200_000;
/// Maximum number of points of one line; a chart is not wider.
const POINTS_OF_LINE: usize = 600;
/// Minimum number of points of one line.
const LEAST_POINTS_OF_LINE: usize = 100;

/// A chart over time: heading, unit, whether a value holds until the next point, and the points of one flow in a run
/// of the given duration in nanoseconds.
type Trace = (
    &'static str,
    &'static str,
    bool,
    fn(&[&Sample], i64) -> Vec<(f64, f64)>,
);

/// Number of entries at the end of [`TRACES`] that are of the receiver's sorter.
const TRACES_OF_SORTER: usize = 2;

static TRACES: [Trace; 6] = [
    (
        "Throughput: new data arriving",
        "Mbit/s",
        false,
        |samples, duration_ns| rates(samples, duration_ns / GRAIN),
    ),
    ("Congestion window", "segments", true, |samples, _| {
        states(samples, |s| f64::from(s.cwnd))
    }),
    ("Duplicate-ACK threshold", "segments", true, |samples, _| {
        states(samples, |s| f64::from(s.dupthresh))
    }),
    ("Smoothed round-trip time", "ms", true, |samples, _| {
        states(samples, |s| s.srtt_ns as f64 / 1e6)
    }),
    (
        "Longest hold of the receiver's sorter",
        "ms",
        true,
        |samples, _| holding(samples, |s| s.hold_ns as f64 / 1e6),
    ),
    (
        "Packets held by the receiver's sorter",
        "packets",
        true,
        |samples, _| holding(samples, |s| f64::from(s.held)),
    ),
];

/// A number of the sorter's at each sample, zeros included; nothing if it is zero throughout, as without such a sorter.
fn holding(samples: &[&Sample], of: fn(&Sample) -> f64) -> Vec<(f64, f64)> {
    if samples.iter().all(|sample| of(sample) == 0.0) {
        return Vec::new();
    }
    let point = |sample: &&Sample| (sample.time_ns as f64 / 1e9, of(sample));
    samples.iter().map(point).collect()
}

/// Writes the page.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_page(out: &mut dyn Write, report: &Report<'_>) -> io::Result<()> {
    let page = Comparison {
        title: if report.title.is_empty() {
            report.file
        } else {
            report.title
        },
        about: about(report),
        warning: report.is_partial.then_some(
            "The campaign was interrupted: cells have fewer runs than requested, or none.",
        ),
        axes: report.axes().map(heading).collect(),
        cells: report.cells.iter().map(cell).collect(),
        measures: measures(report.cells),
        traces: traces(report),
    };
    let headings = Headings::of(report);
    let sheet = headings.sheet();
    comparison::write(out, &page, |out| {
        Table::new(&sheet).write(out, report.cells)
    })
}

/// The line below the title.
fn about(report: &Report<'_>) -> String {
    let runs: usize = report.cells.iter().map(|cell| cell.seeds.len()).sum();
    let cells = plural(report.cells.len() as u64, "cell");
    let confidence = report.cells.first().map_or(0.95, |cell| cell.confidence);
    format!(
        "{} · {cells}, {} · intervals of {} % confidence",
        report.file,
        plural(runs as u64, "run"),
        confidence * 100.0
    )
}

fn cell(cell: &CellResult) -> Cell {
    let labels = cell.labels.iter().map(|(_, label)| label.clone());
    Cell {
        labels: labels.collect(),
        runs: cell.seeds.len(),
    }
}

/// The measures with a rank, the most important first.
fn measures(cells: &[CellResult]) -> Vec<Measure> {
    let ranked = |(at, measure): (usize, &'static crate::Measure)| match measure.field.rank {
        Rank::Shown(rank) => Some((rank, at, measure.field)),
        Rank::Hidden => None,
    };
    let mut ranked: Vec<_> = MEASURES.iter().enumerate().filter_map(ranked).collect();
    ranked.sort_by_key(|(rank, ..)| *rank);
    let of_cell = |cell: &CellResult, at: usize| {
        let estimate = cell.estimate_at(at)?;
        Some(Estimated {
            mean: estimate.mean,
            half: estimate.half,
            runs: cell.values.get(at)?.iter().flatten().copied().collect(),
        })
    };
    let measure = |(_, at, field): (u8, usize, inorder_report::Field<'static>)| Measure {
        heading: field.heading.into(),
        unit: field.unit.into(),
        about: field.about.into(),
        cells: cells.iter().map(|cell| of_cell(cell, at)).collect(),
    };
    ranked.into_iter().map(measure).collect()
}

fn traces(report: &Report<'_>) -> Traces {
    let runs = report.first_runs.iter().take(CELLS);
    let lines: usize = runs
        .clone()
        .flatten()
        .map(|run| run.flows.len().min(FLOWS))
        .sum();
    let drawn = drawn(report);
    let most = POINTS / (lines * drawn.len()).max(1);
    let most = most.clamp(LEAST_POINTS_OF_LINE, POINTS_OF_LINE);
    let panel = |&(heading, unit, steps, _): &Trace| Panel {
        heading,
        unit,
        steps,
    };
    let longest = runs.clone().flatten().map(|run| run.duration_ns).max();
    Traces {
        duration_s: longest.unwrap_or(0) as f64 / 1e9,
        panels: drawn.iter().map(panel).collect(),
        cells: runs
            .map(|run| run.as_ref().and_then(|run| of_run(run, drawn, most)))
            .collect(),
    }
}

/// The charts that are drawn: those of the sorter, the last ones, only if a sorter held anything.
fn drawn(report: &Report<'_>) -> &'static [Trace] {
    let mut samples = report
        .first_runs
        .iter()
        .flatten()
        .flat_map(|run| &run.samples);
    let holds = samples.any(|sample| sample.hold_ns > 0 || sample.held > 0);
    let of_sorter = if holds { 0 } else { TRACES_OF_SORTER };
    TRACES.get(..TRACES.len() - of_sorter).unwrap_or(&TRACES)
}

/// The charts over time of a run; `None` if there are no samples.
fn of_run(run: &RunResult, drawn: &[Trace], most: usize) -> Option<comparison::CellTraces> {
    if run.samples.is_empty() {
        return None;
    }
    let flows = run.flows.iter().take(FLOWS);
    let samples_of = |number: usize| -> Vec<&Sample> {
        let of_flow = |sample: &&Sample| sample.flow as usize == number;
        run.samples.iter().filter(of_flow).collect()
    };
    let samples: Vec<Vec<&Sample>> = (0..flows.len()).map(samples_of).collect();
    let panel = |(_, _, _, points): &Trace| {
        let lines = samples.iter();
        let lines = lines.map(|samples| thinned(&points(samples, run.duration_ns), most));
        lines.collect()
    };
    Some(comparison::CellTraces {
        lines: flows
            .map(|flow| format!("{} {}", flow.name, flow.number + 1))
            .collect(),
        left_out: run.flows.len().saturating_sub(FLOWS),
        panels: drawn.iter().map(panel).collect(),
    })
}

/// A number of the sender's state at each sample. 0 is left out, because it means that the sender does not know the
/// value yet.
fn states(samples: &[&Sample], of: fn(&Sample) -> f64) -> Vec<(f64, f64)> {
    let point = |sample: &&Sample| (sample.time_ns as f64 / 1e9, of(sample));
    let points = samples.iter().map(point);
    points.filter(|(_, value)| *value != 0.0).collect()
}

/// Mbit/s over intervals of at least `least_ns`, with the end of each interval in seconds. Arriving data is counted,
/// in order or not: data that waits behind a hole is delivered all at once, which would appear as a rate that no line
/// has.
fn rates(samples: &[&Sample], least_ns: i64) -> Vec<(f64, f64)> {
    let Some((&(mut from), rest)) = samples.split_first() else {
        return Vec::new();
    };
    let mut points = Vec::new();
    for &to in rest {
        let ns = to.time_ns.saturating_sub(from.time_ns);
        if ns > 0 && ns >= least_ns {
            let bits = to.arrived_bytes.saturating_sub(from.arrived_bytes) as f64 * 8.0;
            // Bits per nanosecond are Gbit/s.
            points.push((to.time_ns as f64 / 1e9, bits / ns as f64 * 1e3));
            from = to;
        }
    }
    points
}

/// Reduces a line to about `most` points: of each group of neighbours it keeps the lowest and the highest in their
/// order, so that all minima and maxima remain.
fn thinned(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let group = points.len().div_ceil(most / 2);
    let mut kept = Vec::new();
    for chunk in points.chunks(group) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (low, high) = (chunk.iter().min_by(by_value), chunk.iter().max_by(by_value));
        let mut both: Vec<(f64, f64)> = low.into_iter().chain(high).copied().collect();
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        both.dedup();
        kept.extend(both);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_behind_a_hole_counts_when_it_arrives() {
        // One sample a millisecond; the third delivers nothing, the fourth twice as much.
        let delivered = [0, 125_000, 250_000, 250_000, 500_000, 625_000];
        let samples: Vec<Sample> = (0..6)
            .zip(delivered)
            .map(|(ms, delivered_bytes)| Sample {
                time_ns: ms * 1_000_000,
                delivered_bytes,
                arrived_bytes: ms as u64 * 125_000,
                ..Sample::default()
            })
            .collect();
        let samples: Vec<&Sample> = samples.iter().collect();
        let of = |least_ns| rates(&samples, least_ns).into_iter().map(|p| p.1);
        assert!(of(0).eq([1_000.0; 5]));
        assert!(of(2_000_000).eq([1_000.0; 2]));
        assert!(rates(&[], 0).is_empty());
    }

    #[test]
    fn thinning_keeps_minima_and_maxima() {
        let value = |i: u32| match i {
            7_777 => 9.0,
            3_333 => -9.0,
            _ => f64::from(i % 2),
        };
        let points: Vec<_> = (0..10_000).map(|i| (f64::from(i), value(i))).collect();
        let kept = thinned(&points, 600);
        assert!(kept.len() <= 600, "{}", kept.len());
        assert!(kept.contains(&(7_777.0, 9.0)) && kept.contains(&(3_333.0, -9.0)));
        assert!(kept.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(thinned(&points[..600], 600), points[..600]);
    }
}
