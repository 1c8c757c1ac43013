//! The rows of several repetitions with their means and intervals, as table, CSV, JSON and record batches.

use std::io::{self, Write};

#[cfg(feature = "arrow")]
use arrow_schema::SchemaRef;
use inorder_base::stats::Estimate;
#[cfg(feature = "arrow")]
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::number::short;
use inorder_report::text::{self, Layout};
use inorder_report::{Digits, Field, Kind, Sheet, columns, csv, json, schema};

use crate::rows::Row;

/// The numbers of several repetitions.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    repetitions: usize,
    lines: Vec<Line>,
}

/// A row with its mean and confidence interval over the repetitions.
#[derive(Clone, Debug)]
struct Line {
    row: Row,
    value: Estimate,
}

columns! {
    DOCUMENT: Report, |d|
    "title": Text, "What was run." => &d.title;
    "repetitions": Count, "Independent runs." => d.repetitions;
    "results": Rows(LINE), "The numbers." => &d.lines;
}

const REAL: Kind = Kind::Number(Digits::Short);

columns! {
    LINE: Line, |l|
    "group": Text, "What the number belongs to." => l.row.group;
    "hop": Count, "Number of the processor in the chain, from 1; 0 for the whole chain." => l.row.hop;
    "name": Text, "Its name." => &l.row.name;
    "unit": Text, "Its unit." => l.row.unit;
    "mean": Number(Digits::Short), "Mean over the repetitions; null if the number is unknown in all of them."
        => l.value.mean, optional();
    "low": Number(Digits::Short), "Lower end of the 95 % interval; null for a single repetition."
        => l.value.interval()[0], optional();
    "high": Number(Digits::Short), "Upper end of the 95 % interval; null for a single repetition."
        => l.value.interval()[1], optional();
}

impl Report {
    /// Of the rows of each repetition, all of which have the same ones.
    pub fn of(title: String, repetitions: &[Vec<Row>]) -> Self {
        Report {
            title,
            repetitions: repetitions.len(),
            lines: lines(repetitions),
        }
    }

    /// Writes one JSON object.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(out, DOCUMENT, self)
    }

    /// Writes CSV: group, hop, name, unit, mean, low and high of each number.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv::write(out, LINE, &self.lines)
    }

    /// Writes a table for each group.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write_table(out, self)
    }

    /// Passes the rows of CSV as record batches of at most `size` rows.
    ///
    /// # Errors
    /// If a column has a value that is not of its kind, which is a fault of its declaration.
    #[cfg(feature = "arrow")]
    pub fn batches(&self, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        Batches::new(LINE, &self.lines, Texts::Views, size).pass(take)
    }
}

/// Writes the JSON Schema of [`Report::write_json`].
///
/// # Errors
/// If `out` cannot be written.
pub fn write_schema(out: &mut dyn Write) -> io::Result<()> {
    let about = "What `inorder netproc --json` and `inorder netproc forwarder --json` print.";
    schema::write(out, "inorder netproc", about, DOCUMENT)
}

fn lines(repetitions: &[Vec<Row>]) -> Vec<Line> {
    let Some(first) = repetitions.first() else {
        return Vec::new();
    };
    let line = |row: &Row| {
        let same = |other: &&Row| is_same(row, other);
        let values: Vec<f64> = repetitions
            .iter()
            .map(|rows| rows.iter().find(same).map_or(0.0, |found| found.value))
            .filter(|value| value.is_finite())
            .collect();
        Line {
            row: row.clone(),
            value: Estimate::of(&values),
        }
    };
    first.iter().map(line).collect()
}

fn is_same(a: &Row, b: &Row) -> bool {
    (a.group, a.hop, &a.name) == (b.group, b.hop, &b.name)
}

/// One table for each group, without resources at which no time is spent.
fn write_table(out: &mut dyn Write, document: &Report) -> io::Result<()> {
    writeln!(out, "{}", document.title)?;
    let is_empty = |line: &&Line| line.row.group == "time" && line.value.mean == 0.0;
    let lines: Vec<&Line> = document.lines.iter().filter(|l| !is_empty(l)).collect();
    for group in lines.chunk_by(|a, b| a.row.group == b.row.group) {
        writeln!(out)?;
        let title = group.first().map_or("", |line| line.row.group);
        text::write(
            out,
            &table(title),
            group.iter().copied(),
            &Layout::default(),
        )?;
    }
    Ok(())
}

/// The columns of a group's table.
fn table(title: &'static str) -> Sheet<'static, Line> {
    let shown = |heading, kind| Field::new(heading, kind, "").shown(heading, 0);
    Sheet::new()
        .and(shown(title, Kind::Text), |l: &Line| match l.row.hop {
            0 => (&l.row.name).into(),
            hop => format!("hop {hop}, {}", l.row.name).into(),
        })
        .and_seen_as(
            shown("mean", REAL),
            |l: &Line| l.value.mean.into(),
            |l: &Line, _| with_interval(l.value),
        )
        .and(shown("unit", Kind::Text), |l: &Line| l.row.unit.into())
}

fn with_interval(value: Estimate) -> String {
    match value.half().filter(|half| *half > 0.0) {
        Some(half) => format!("{} ±{}", short(value.mean), short(half)),
        None => short(value.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_are_in_order() {
        assert_eq!(inorder_report::problems(DOCUMENT), Vec::<String>::new());
        assert_eq!(inorder_report::problems(LINE), Vec::<String>::new());
    }
}
