//! Rows of several repetitions as a table, as CSV, as JSON.

use std::io::{self, Write};

use inorder_experiments::Estimate;
use inorder_netproc::Row;
use serde_json::json;

use crate::error::CliError;
use crate::outputs::to_stdout;

/// How results are printed.
#[derive(clap::Args)]
pub struct Form {
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print group, hop, name, unit, mean, low and high, one line a number
    #[arg(long)]
    csv: bool,
}

/// A row with its mean and interval over the repetitions.
struct Line<'a> {
    row: &'a Row,
    value: Estimate,
}

impl Form {
    /// Prints the rows; each repetition has the same.
    pub fn write(&self, title: &str, repetitions: &[Vec<Row>]) -> Result<(), CliError> {
        let lines = lines(repetitions);
        to_stdout(|out| {
            if self.json {
                write_json(out, title, repetitions.len(), &lines)
            } else if self.csv {
                write_csv(out, &lines)
            } else {
                write_table(out, title, &lines)
            }
        })
    }
}

fn lines(repetitions: &[Vec<Row>]) -> Vec<Line<'_>> {
    let Some(first) = repetitions.first() else {
        return Vec::new();
    };
    let line = |row| {
        let same = |other: &&Row| is_same(row, other);
        let values: Vec<f64> = repetitions
            .iter()
            .map(|rows| rows.iter().find(same).map_or(0.0, |found| found.value))
            .collect();
        Line {
            row,
            value: Estimate::of(&values),
        }
    };
    first.iter().map(line).collect()
}

fn is_same(a: &Row, b: &Row) -> bool {
    (a.group, a.hop, &a.name) == (b.group, b.hop, &b.name)
}

fn write_table(out: &mut dyn Write, title: &str, lines: &[Line<'_>]) -> io::Result<()> {
    writeln!(out, "{title}")?;
    let name = |line: &Line<'_>| match line.row.hop {
        0 => line.row.name.clone(),
        hop => format!("hop {hop}, {}", line.row.name),
    };
    let width = lines
        .iter()
        .map(|line| name(line).chars().count())
        .max()
        .unwrap_or(0);
    let mut group = "";
    let is_empty = |line: &&Line<'_>| line.row.group == "time" && line.value.mean == 0.0;
    for line in lines.iter().filter(|line| !is_empty(line)) {
        if line.row.group != group {
            group = line.row.group;
            writeln!(out, "\n{group}")?;
        }
        let half = line.value.half_width;
        let half = if half > 0.0 && half.is_finite() {
            format!(" +- {}", number(half))
        } else {
            String::new()
        };
        writeln!(
            out,
            "  {:width$}  {:>9} {}{half}",
            name(line),
            number(line.value.mean),
            line.row.unit
        )?;
    }
    Ok(())
}

fn write_csv(out: &mut dyn Write, lines: &[Line<'_>]) -> io::Result<()> {
    writeln!(out, "group,hop,name,unit,mean,low,high")?;
    for Line { row, value } in lines {
        let [low, high] = value.interval();
        let (group, hop, name, unit) = (row.group, row.hop, &row.name, row.unit);
        // A single repetition has no interval.
        let end = |value: f64| {
            Some(value)
                .filter(|v| v.is_finite())
                .map_or(String::new(), |v| v.to_string())
        };
        let (mean, low, high) = (value.mean, end(low), end(high));
        writeln!(out, "{group},{hop},\"{name}\",{unit},{mean},{low},{high}")?;
    }
    Ok(())
}

fn write_json(
    out: &mut dyn Write,
    title: &str,
    repetitions: usize,
    lines: &[Line<'_>],
) -> io::Result<()> {
    let one = |Line { row, value }: &Line<'_>| {
        let [low, high] = value.interval();
        json!({"group": row.group, "hop": row.hop, "name": row.name, "unit": row.unit,
               "mean": value.mean, "low": low, "high": high})
    };
    let all: Vec<_> = lines.iter().map(one).collect();
    let object = json!({"title": title, "repetitions": repetitions, "results": all});
    writeln!(out, "{object:#}")
}

/// Four significant digits, without an exponent for the usual sizes.
fn number(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
