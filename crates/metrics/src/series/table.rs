//! The metrics for people: aligned lines under headings, histograms as bars.

use std::io::{self, Write};

use inorder_report::text::{self, Layout};
use inorder_report::{Digits, Value, columns};

use super::SeriesReport;
use super::columns::SERIES;
use crate::Distribution;

const REAL: Digits = Digits::Short;

/// Writes all metrics for people.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_text(out: &mut dyn Write, report: &SeriesReport) -> io::Result<()> {
    text::facts(out, SERIES, report, &Layout::default())?;
    if report.summary.counts.reordered > 0 {
        write_late(report, out)?;
        write_n_reordering(report, out)?;
    }
    write_densities(report, out)?;
    let (early, late) = report.summary.order.displacements.beyond();
    if early + late > 0 {
        writeln!(
            out,
            "\n{early} early and {late} late packets were displaced by more than DT {} packets. RFC 5236 counts them as lost: \
             density, mean displacement and entropy leave them out.",
            report.dt
        )?;
    }
    if !report.lists.timed && report.summary.counts.reordered > 0 {
        writeln!(
            out,
            "\nNo times were given: late time and gaps in time are unknown."
        )?;
    }
    Ok(())
}

fn write_densities(report: &SeriesReport, out: &mut dyn Write) -> io::Result<()> {
    let summary = &report.summary;
    bars(
        out,
        &format!("reorder density, DT {}", report.dt),
        summary.order.displacements.density(),
    )?;
    let title = format!("buffer-occupancy density, BT {}", report.bt);
    bars(out, &title, summary.occupancy.density())
}

fn write_late(report: &SeriesReport, out: &mut dyn Write) -> io::Result<()> {
    let (order, gaps, lists) = (&report.summary.order, &report.summary.gaps, &report.lists);
    let spreads = [
        (true, "extent, packets", &order.extents, 1.0),
        (lists.timed, "late time, ms", &order.late_ns, 1e6),
        (lists.sized, "byte offset, bytes", &order.extent_bytes, 1.0),
        (true, "gap, packets", gaps.packets(), 1.0),
        (lists.timed, "gap, ms", gaps.time_ns(), 1e6),
        (
            true,
            "reordering-free run, packets",
            order.runs.lengths(),
            1.0,
        ),
    ];
    let known = spreads.into_iter().filter(|(is_known, ..)| *is_known);
    let rows = known.map(|(_, name, of, unit)| Spread {
        name,
        of: of.clone(),
        unit,
    });
    writeln!(out)?;
    text::write(out, SPREAD, rows, &Layout::default())
}

/// A distribution in units of `unit`.
struct Spread {
    name: &'static str,
    of: Distribution,
    unit: f64,
}

impl Spread {
    fn number(&self, number: Option<u64>) -> Value<'static> {
        number.map(|number| number as f64 / self.unit).into()
    }
}

columns! {
    SPREAD: Spread, |s|
    "name": Text, "What is distributed." => s.name, shown("RFC 4737", 0);
    "min": Number(REAL), "Least." => s.number(s.of.min()), shown("min", 0);
    "median": Number(REAL), "Median." => s.number(s.of.quantile(0.5)), shown("median", 0);
    "mean": Number(REAL), "Mean." => s.of.mean().map(|m| m / s.unit), shown("mean", 0);
    "p99": Number(REAL), "99th percentile." => s.number(s.of.quantile(0.99)), shown("p99", 0);
    "max": Number(REAL), "Greatest." => s.number(s.of.max()), shown("max", 0);
}

/// The number of packets that are n-reordered.
struct Degree {
    n: u64,
    packets: u64,
    share: f64,
}

columns! {
    DEGREE: Degree, |d|
    "n": Count, "The n." => d.n, shown("n-reordering, n", 0);
    "packets": Count, "Packets." => d.packets, shown("packets", 0);
    "share": Share, "Their share." => d.share, shown("%", 0);
}

/// n = 1, 2, 3 (with 3, TCP retransmits) and the powers of two.
fn write_n_reordering(report: &SeriesReport, out: &mut dyn Write) -> io::Result<()> {
    let received = report.summary.counts.received.max(1) as f64;
    let counts = (1u64..).zip(report.summary.order.n_reordering.cumulative());
    let told = counts.filter(|(n, _)| *n == 3 || n.is_power_of_two());
    let rows = told.map(|(n, packets)| Degree {
        n,
        packets,
        share: packets as f64 / received,
    });
    writeln!(out)?;
    text::write(out, DEGREE, rows, &Layout::default())
}

/// Maximum number of rows of a histogram; the rows with the smallest shares are left out.
const BARS: usize = 24;

fn bars<K: ToString>(
    out: &mut dyn Write,
    title: &str,
    density: impl Iterator<Item = (K, f64)>,
) -> io::Result<()> {
    let all: Vec<(K, f64)> = density.collect();
    let mut shares: Vec<f64> = all.iter().map(|(_, share)| *share).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    let least = shares.get(BARS - 1).copied().unwrap_or(0.0);
    writeln!(out, "\n{title}")?;
    let shown = all.iter().filter(|(_, share)| *share >= least).take(BARS);
    for (key, share) in shown {
        let bar = "#".repeat((40.0 * share).round() as usize);
        let row = format!("{:>8}  {share:.4}  {bar}", key.to_string());
        writeln!(out, "{}", row.trim_end())?;
    }
    if all.len() > BARS {
        writeln!(
            out,
            "     ...  {} further rows with smaller shares",
            all.len() - BARS
        )?;
    }
    Ok(())
}
