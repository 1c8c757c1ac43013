//! Prints the rows of several repetitions as a table, CSV or JSON.

use std::io::{self, Write};

use inorder_experiments::Estimate;
use inorder_netproc::Row;
use inorder_report::number::short;
use inorder_report::text::{self, Layout};
use inorder_report::{Column, Digits, Field, Kind, List, Sheet, csv, json, schema};

use crate::error::CliError;
use crate::outputs::{self, to_stdout};

/// The format of the output.
#[derive(clap::Args)]
pub struct Form {
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV: group, hop, name, unit, mean, low and high of each number
    #[arg(long)]
    csv: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    pub schema: bool,
}

/// The whole output.
struct Document {
    title: String,
    repetitions: usize,
    lines: Vec<Line>,
}

/// A row with its mean and confidence interval over the repetitions.
struct Line {
    row: Row,
    value: Estimate,
}

type OfDocument = Column<Document>;

static DOCUMENT: &[OfDocument] = &[
    OfDocument::new("title", Kind::Text, "What was run.", |d| (&d.title).into()),
    OfDocument::new("repetitions", Kind::Count, "Independent runs.", |d| {
        d.repetitions.into()
    }),
    OfDocument::nested(
        "results",
        "The numbers.",
        &List {
            columns: LINE,
            of: |d: &Document| &d.lines,
        },
    ),
];

type OfLine = Column<Line>;

const REAL: Kind = Kind::Number(Digits::Short);

static LINE: &[OfLine] = &[
    OfLine::new("group", Kind::Text, "What the number belongs to.", |l| {
        l.row.group.into()
    }),
    OfLine::new(
        "hop",
        Kind::Count,
        "Number of the processor in the chain, from 1; 0 for the whole chain.",
        |l| l.row.hop.into(),
    ),
    OfLine::new("name", Kind::Text, "Its name.", |l| (&l.row.name).into()),
    OfLine::new("unit", Kind::Text, "Its unit.", |l| l.row.unit.into()),
    OfLine::new(
        "mean",
        REAL,
        "Mean over the repetitions; null if the number is unknown in all of them.",
        |l| l.value.mean.into(),
    )
    .optional(),
    OfLine::new(
        "low",
        REAL,
        "Lower end of the 95 % interval; null for a single repetition.",
        |l| l.value.interval()[0].into(),
    )
    .optional(),
    OfLine::new(
        "high",
        REAL,
        "Upper end of the 95 % interval; null for a single repetition.",
        |l| l.value.interval()[1].into(),
    )
    .optional(),
];

/// Prints the JSON Schema of what `--json` prints.
pub fn print_schema() -> Result<(), CliError> {
    let about = "What `inorder netproc --json` and `inorder netproc forwarder --json` print.";
    to_stdout(|out| schema::write(out, "inorder netproc", about, DOCUMENT))
}

impl Form {
    /// Prints the rows; all repetitions have the same ones.
    pub fn write(&self, title: &str, repetitions: &[Vec<Row>]) -> Result<(), CliError> {
        let document = Document {
            title: title.to_owned(),
            repetitions: repetitions.len(),
            lines: lines(repetitions),
        };
        if self.json {
            to_stdout(|out| json::write(out, DOCUMENT, &document))
        } else if self.csv {
            to_stdout(|out| csv::write(out, LINE, &document.lines))
        } else {
            outputs::text(|out| write_table(out, &document))
        }
    }
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
fn write_table(out: &mut dyn Write, document: &Document) -> io::Result<()> {
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
