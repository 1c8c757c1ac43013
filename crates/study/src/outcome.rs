//! What a corpus says on the whole, read back from the lines of its captures.

use std::fmt;
use std::fs::File;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use inorder_report::escape::printable;
use inorder_report::number::{count, plural, share};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::error::Error;

/// Captures that are named.
const WORST: usize = 10;

/// The sums over the captures of a corpus that are done, and the most severe of them.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Outcome {
    captures: u64,
    flows: u64,
    packets: u64,
    late: u64,
    lost: u64,
    retransmissions: u64,
    spurious: u64,
    troubled: usize,
    /// The most severe first.
    worst: Vec<Troubled>,
    /// Captures that could not be read to their end, and why.
    failed: Vec<(String, String)>,
}

/// A capture with trouble, or one that a limit held back which somebody may want to remove.
#[derive(Clone, PartialEq, Debug)]
struct Troubled {
    severity: f64,
    /// Share of the time that such limits held.
    held: f64,
    file: String,
    /// The worst trouble in a few words, `-` without any.
    trouble: String,
    /// The first sentence.
    sentence: String,
}

impl Outcome {
    /// Adds the lines of a task.
    pub(crate) fn lines(&mut self, path: &Path) -> Result<(), Error> {
        read(path, |batch, row| self.add(batch, row))?;
        self.worst.sort_by(|a, b| {
            let severity = b.severity.total_cmp(&a.severity);
            severity.then(b.held.total_cmp(&a.held))
        });
        self.worst.truncate(WORST);
        Ok(())
    }

    /// Adds the captures of a task that could not be read to their end.
    pub(crate) fn failures(&mut self, path: &Path) -> Result<(), Error> {
        read(path, |batch, row| {
            let failed = (text(batch, "file", row), text(batch, "problem", row));
            self.failed.push(failed);
        })
    }

    fn add(&mut self, batch: &RecordBatch, row: usize) {
        self.captures += 1;
        self.flows += whole(batch, "flows", row);
        self.packets += whole(batch, "packets", row);
        self.late += whole(batch, "late", row);
        self.lost += whole(batch, "lost", row);
        self.retransmissions += whole(batch, "retransmissions", row);
        self.spurious += whole(batch, "spurious", row);
        let (severity, held) = (real(batch, "severity", row), real(batch, "held_share", row));
        if severity > 0.0 || held > 0.0 {
            self.troubled += 1;
            self.worst.push(Troubled {
                severity,
                held,
                file: text(batch, "file", row),
                trouble: text(batch, "trouble", row),
                sentence: text(batch, "sentence", row),
            });
        }
    }
}

impl Outcome {
    /// The first sentence. Shares are those that `analyze` prints: of late packets of those that arrived, of lost ones of those sent.
    fn sums(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (captures, flows) = (plural(self.captures, "capture"), plural(self.flows, "flow"));
        if self.packets == 0 {
            return write!(f, "{captures} with {flows} and no packets to judge.");
        }
        let arrived = self.packets.saturating_sub(self.lost);
        write!(
            f,
            "{captures} with {flows}: of {} {} were lost, and {} of those that arrived were late; {} of {} were spurious.",
            plural(self.packets, "packet"),
            share(self.lost, self.packets),
            share(self.late, arrived),
            count(self.spurious),
            plural(self.retransmissions, "retransmission"),
        )
    }
}

/// Calls `take` for each row of a file.
fn read(path: &Path, mut take: impl FnMut(&RecordBatch, usize)) -> Result<(), Error> {
    let wrong = |problem: String| Error::usage(format!("{}: {problem}", path.display()));
    let file = File::open(path).map_err(Error::file(path, "read"))?;
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .and_then(ParquetRecordBatchReaderBuilder::build);
    for batch in reader.map_err(|error| wrong(error.to_string()))? {
        let batch = batch.map_err(|error| wrong(error.to_string()))?;
        (0..batch.num_rows()).for_each(|row| take(&batch, row));
    }
    Ok(())
}

fn whole(batch: &RecordBatch, name: &str, row: usize) -> u64 {
    let column = batch.column_by_name(name);
    let column = column.and_then(|c| c.as_primitive_opt::<UInt64Type>());
    column.map_or(0, |column| column.value(row))
}

fn real(batch: &RecordBatch, name: &str, row: usize) -> f64 {
    let column = batch.column_by_name(name);
    let column = column.and_then(|c| c.as_primitive_opt::<Float64Type>());
    column.map_or(0.0, |column| column.value(row))
}

fn text(batch: &RecordBatch, name: &str, row: usize) -> String {
    let column = batch.column_by_name(name);
    let found = column.and_then(|column| {
        let plain = column.as_string_opt::<i32>().map(|c| c.value(row));
        plain.or_else(|| column.as_string_view_opt().map(|c| c.value(row)))
    });
    found.unwrap_or_default().to_owned()
}

/// A sentence with the sums, then a line for each of the most severe captures.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sums(f)?;
        for (file, problem) in self.failed.iter().take(WORST) {
            let (file, problem) = (printable(file), printable(problem));
            // Most problems name the file with its folder.
            let named = match problem.contains(&file) {
                true => String::new(),
                false => format!("{file}: "),
            };
            write!(f, "\nNot read to its end: {named}{problem}")?;
        }
        match self.failed.len().saturating_sub(WORST) {
            0 => {}
            more => write!(f, "\nNot read to their end: {} more", count(more as u64))?,
        }
        if self.worst.is_empty() {
            return write!(f, "\nNone has trouble or was held back by a limit.");
        }
        write!(
            f,
            "\nWith trouble, or held back by a limit: {}, the most severe first",
            count(self.troubled as u64)
        )?;
        for (number, capture) in (1..).zip(&self.worst) {
            let Troubled {
                file,
                trouble,
                sentence,
                ..
            } = capture;
            let trouble = match trouble.as_str() {
                "-" => String::new(),
                some => format!(" ({})", printable(some)),
            };
            write!(
                f,
                "\n{number:>2}. {}{trouble}: {}",
                printable(file),
                printable(sentence)
            )?;
        }
        Ok(())
    }
}
