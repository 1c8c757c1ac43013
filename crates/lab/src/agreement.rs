//! Real Linux and the simulator side by side: means with their intervals, ratios, and whether they agree.

use std::io::{self, Write};

use inorder_report::number::short;
use inorder_report::{Digits, columns, text};
use inorder_sim::{CellResult, Estimate};

/// Means agree if they differ by no more than this share of Linux's.
pub(crate) const TOLERANCE: f64 = 0.15;

/// Runs that are equal have an interval of no more than this share of their mean, by rounding.
const ROUNDING: f64 = 1e-9;

/// The measures that are compared, if both have them.
const MEASURES: [&str; 6] = [
    "throughput",
    "completion",
    "response",
    "delay",
    "dropped",
    "marked",
];

/// A measure of a cell, on real Linux and simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct Agreement {
    /// The cell's place in the grid.
    pub cell: String,
    /// Name of the measure.
    pub measure: &'static str,
    /// Mean and interval on Linux.
    pub linux: Estimate,
    /// Mean and interval in the simulation.
    pub simulation: Estimate,
}

impl Agreement {
    /// The simulation's mean as a share of Linux's.
    pub fn ratio(&self) -> Option<f64> {
        (self.linux.mean != 0.0).then(|| self.simulation.mean / self.linux.mean)
    }

    /// Half the width of the ratio's interval: relative widths, independent of each other, added as squares.
    pub fn half(&self) -> Option<f64> {
        let relative = |estimate: &Estimate| Some(estimate.half? / estimate.mean);
        let (one, other) = (relative(&self.linux)?, relative(&self.simulation)?);
        Some(self.ratio()? * one.hypot(other))
    }

    /// Whether the means agree within `TOLERANCE`.
    pub fn agrees(&self) -> bool {
        self.ratio()
            .is_some_and(|ratio| (ratio - 1.0).abs() <= TOLERANCE)
    }
}

/// Compares cells of both engines, which are in the same order.
pub fn compare(linux: &[CellResult], simulation: &[CellResult]) -> Vec<Agreement> {
    let mut rows = Vec::new();
    for (real, simulated) in linux.iter().zip(simulation) {
        let labels: Vec<&str> = real
            .labels
            .iter()
            .map(|(_, label)| label.as_str())
            .collect();
        for measure in MEASURES {
            if let (Some(linux), Some(simulation)) =
                (real.estimate(measure), simulated.estimate(measure))
                // Nothing was dropped or marked on either: there is nothing to compare.
                && (linux.mean, simulation.mean) != (0.0, 0.0)
            {
                rows.push(Agreement {
                    cell: labels.join(", "),
                    measure,
                    linux,
                    simulation,
                });
            }
        }
    }
    rows
}

const REAL: Digits = Digits::Short;

columns! {
    /// The columns.
    pub AGREEMENT: Agreement, |a|
    "cell": Text, "Place in the grid." => &a.cell, shown("cell", 0);
    "measure": Text, "The measure." => a.measure, shown("measure", 0);
    "linux": Number(REAL), "Mean on real Linux." => a.linux.mean;
    "linux_half": Number(REAL), "Half the width of its interval." => a.linux.half, optional();
    "simulation": Number(REAL), "Mean in the simulation." => a.simulation.mean;
    "simulation_half": Number(REAL), "Half the width of its interval." => a.simulation.half, optional();
    "ratio": Number(REAL), "The simulation's mean divided by Linux's." => a.ratio(), optional();
    "ratio_half": Number(REAL), "Half the width of its interval." => a.half(), optional();
    "agrees": Flag, "Whether the means differ by at most 15 %." => a.agrees();
}

/// Writes a table for people, and a line with how many agree.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_table(
    out: &mut dyn Write,
    rows: &[Agreement],
    width: Option<usize>,
) -> io::Result<()> {
    let with =
        |mean: f64, half: Option<f64>| match half.filter(|half| *half > mean.abs() * ROUNDING) {
            Some(half) => format!("{} ±{}", short(mean), short(half)),
            None => short(mean),
        };
    let find = |name: &str| AGREEMENT.iter().find(|column| column.field.name == name);
    let mut sheet = inorder_report::Sheet::new();
    if let (Some(cell), Some(measure)) = (find("cell"), find("measure")) {
        sheet = sheet.and(cell.field, |row: &Agreement| row.cell.clone().into());
        sheet = sheet.and(measure.field, |row: &Agreement| row.measure.into());
    }
    type Seen = fn(&Agreement) -> (f64, Option<f64>);
    let seen: [(&str, &str, Seen); 3] = [
        ("linux", "Linux", |a| (a.linux.mean, a.linux.half)),
        ("simulation", "simulation", |a| {
            (a.simulation.mean, a.simulation.half)
        }),
        ("ratio", "ratio", |a| {
            (a.ratio().unwrap_or(f64::NAN), a.half())
        }),
    ];
    for (name, heading, of) in seen {
        if let Some(column) = find(name) {
            let field = column.field.shown(heading, 0);
            sheet = sheet.and_seen_as(
                field,
                move |row| of(row).0.into(),
                move |row, _| {
                    let (mean, half) = of(row);
                    with(mean, half)
                },
            );
        }
    }
    if let Some(column) = find("agrees") {
        let field = column.field.shown("within 15 %", 0);
        let word = |row: &Agreement| if row.agrees() { "yes" } else { "no" };
        sheet = sheet.and_seen_as(
            field,
            |row| row.agrees().into(),
            move |row, _| word(row).to_owned(),
        );
    }
    text::write(
        out,
        &sheet,
        rows,
        &text::Layout::default().left(2).width(width),
    )?;
    for measure in MEASURES {
        let of: Vec<&Agreement> = rows.iter().filter(|row| row.measure == measure).collect();
        let agree = of.iter().filter(|row| row.agrees()).count();
        if !of.is_empty() {
            writeln!(out, "{measure}: {agree} of {} agree within 15 %", of.len())?;
        }
    }
    Ok(())
}

/// Writes the rows as CSV.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_csv(out: &mut dyn Write, rows: &[Agreement]) -> io::Result<()> {
    inorder_report::csv::write(out, AGREEMENT, rows)
}
