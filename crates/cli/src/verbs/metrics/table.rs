//! The metrics for people: aligned lines under headings, histograms as bars.

use std::io::{self, Write};

use inorder_metrics::Distribution;

use super::Report;

/// All of it.
pub fn write_table(report: &Report, out: &mut impl Write) -> io::Result<()> {
    write_counts(report, out)?;
    if report.summary.counts.reordered > 0 {
        write_late(report, out)?;
        write_n_reordering(report, out)?;
    }
    write_densities(report, out)?;
    if !report.lists.timed && report.summary.counts.reordered > 0 {
        writeln!(
            out,
            "\nNo times were given: late time and gaps in time are unknown."
        )?;
    }
    Ok(())
}

fn write_counts(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (summary, counts) = (&report.summary, &report.summary.counts);
    count(out, "packets received", counts.received)?;
    share(
        out,
        "reordered (RFC 4737)",
        counts.reordered,
        counts.reordered_ratio(),
    )?;
    let involved = summary.n_reordering.involved();
    share(
        out,
        "overtaken or overtaking",
        involved,
        summary.involved_ratio(),
    )?;
    count(out, "duplicates", counts.duplicates)?;
    count(out, "missing", counts.missing)?;
    if counts.holes_given_up > 0 || counts.unclassified > 0 {
        count(out, "holes given up", counts.holes_given_up)?;
        count(out, "unclassified packets", counts.unclassified)?;
    }
    Ok(())
}

fn write_densities(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (rd, rbd) = (&report.summary.displacements, &report.summary.occupancy);
    writeln!(out, "\nRFC 5236")?;
    fraction(
        out,
        "mean displacement",
        Some(rd.mean_displacement()),
        "packets",
    )?;
    fraction(out, "reorder entropy", Some(rd.entropy()), "nats")?;
    fraction(out, "mean lateness", rd.mean_lateness(), "packets")?;
    fraction(out, "mean earliness", rd.mean_earliness(), "packets")?;
    fraction(
        out,
        "displaced packets",
        Some(100.0 * rd.displaced_ratio()),
        "%",
    )?;
    let (early, late) = rd.beyond();
    if early + late > 0 {
        count(out, "displaced beyond DT", early + late)?;
    }
    bars(
        out,
        &format!("reorder density, DT {}", report.dt),
        rd.density(),
    )?;
    let title = format!("buffer-occupancy density, BT {}", report.bt);
    bars(out, &title, rbd.density())
}

fn write_late(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let (summary, lists) = (&report.summary, &report.lists);
    let (extents, gaps, runs) = (&summary.extents, &summary.gaps, &summary.runs);
    let title = ["RFC 4737", "min", "median", "mean", "p99", "max"];
    let [first, rest @ ..] = title;
    writeln!(
        out,
        "\n{first:<28}{}",
        rest.map(|t| format!("{t:>12}")).concat()
    )?;
    spread(out, "extent, packets", extents.extent(), 1.0)?;
    if lists.timed {
        spread(out, "late time, ms", extents.late_ns(), 1e6)?;
    }
    if lists.sized {
        spread(out, "byte offset, bytes", extents.byte_offset(), 1.0)?;
    }
    spread(out, "gap, packets", gaps.packets(), 1.0)?;
    if lists.timed {
        spread(out, "gap, ms", gaps.time_ns(), 1e6)?;
    }
    spread(out, "reordering-free run, packets", runs.lengths(), 1.0)?;
    count(out, "discontinuities", gaps.count())?;
    fraction(out, "run mean a/x", runs.mean(), "packets")?;
    fraction(out, "run variation (q/a)/(a/x)", runs.variation(), "")
}

/// n = 1, 2, 3 (where TCP retransmits) and the powers of two.
fn write_n_reordering(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let received = report.summary.counts.received.max(1) as f64;
    for (n, packets) in (1u64..).zip(report.summary.n_reordering.cumulative()) {
        if n == 3 || n.is_power_of_two() {
            share(
                out,
                &format!("{n}-reordered"),
                packets,
                packets as f64 / received,
            )?;
        }
    }
    Ok(())
}

fn rounded(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

/// A name, a number and its unit.
fn line(out: &mut impl Write, name: &str, number: &str, unit: &str) -> io::Result<()> {
    let text = format!("{name:<28}{number:>12} {unit}");
    writeln!(out, "{}", text.trim_end())
}

fn count(out: &mut impl Write, name: &str, packets: u64) -> io::Result<()> {
    line(out, name, &packets.to_string(), "")
}

fn share(out: &mut impl Write, name: &str, packets: u64, ratio: f64) -> io::Result<()> {
    line(
        out,
        name,
        &packets.to_string(),
        &format!("{:>12.4} %", 100.0 * ratio),
    )
}

fn fraction(out: &mut impl Write, name: &str, x: Option<f64>, unit: &str) -> io::Result<()> {
    let number = x.map_or_else(|| "-".into(), |x| format!("{x:.4}"));
    line(out, name, &number, if x.is_some() { unit } else { "" })
}

fn spread(out: &mut impl Write, name: &str, d: &Distribution, unit: f64) -> io::Result<()> {
    let whole = |x: Option<u64>| x.map(|x| x as f64);
    let values = [
        whole(d.min()),
        whole(d.quantile(0.5)),
        d.mean(),
        whole(d.quantile(0.99)),
        whole(d.max()),
    ];
    let cell = |x: Option<f64>| x.map_or_else(|| "-".into(), |x| rounded(x / unit).to_string());
    let cells = values.map(|x| format!("{:>12}", cell(x))).concat();
    writeln!(out, "{name:<28}{cells}")
}

/// Rows of a histogram shown at most; the smallest shares give way.
const BARS: usize = 24;

fn bars<K: ToString>(
    out: &mut impl Write,
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
