//! `inorder.metrics`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use arrow_schema::SchemaRef;
use inorder_metrics::{
    Config, DEFAULT_MAX_HOLES, DEFAULT_N_MAX, Record, SERIES, Series, SeriesReport, write_text,
};
use inorder_report::arrow::{Batches, TakeBatch, Texts};
use inorder_report::json;
use pyo3::prelude::*;

use crate::errors::{Class, file, malformed, raise, usage};
use crate::result::{Findings, Outcome};
use crate::work;

/// Packets between two looks whether to stop.
const ROUND: usize = 1 << 16;

/// The options of the metrics.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Options {
    bits: u32,
    dt: u16,
    bt: u16,
    n_max: Option<usize>,
    max_holes: Option<usize>,
    start: Option<u64>,
}

impl Options {
    fn series(&self) -> PyResult<Series> {
        let config = Config {
            displacement_threshold: self.dt,
            buffer_threshold: self.bt,
            n_max: self.n_max.unwrap_or(DEFAULT_N_MAX),
            max_holes: self.max_holes.unwrap_or(DEFAULT_MAX_HOLES),
            start: self.start,
        };
        if ![16, 32, 64].contains(&self.bits) {
            return Err(usage(format!(
                "bits: expected 16, 32 or 64, found {}",
                self.bits
            )));
        }
        Series::new(self.bits, config).map_err(usage)
    }

    fn check(&self, seq: u64) -> PyResult<()> {
        let most = inorder_metrics::MAX_SEQ.min(u64::MAX >> (64 - self.bits));
        match seq <= most {
            true => Ok(()),
            false => Err(malformed(format!(
                "expected a sequence number of {} bits, 0 to {most}, found {seq}",
                self.bits
            ))),
        }
    }
}

/// Measures packets in the order of their arrival: numbers, and if known times in nanoseconds and payload in bytes.
#[pyfunction]
pub(crate) fn metrics(
    py: Python<'_>,
    numbers: Vec<u64>,
    times_ns: Option<Vec<i64>>,
    sizes: Option<Vec<u32>>,
    options: Options,
) -> PyResult<Findings> {
    let lengths = [
        ("times_ns", times_ns.as_ref().map(Vec::len)),
        ("sizes", sizes.as_ref().map(Vec::len)),
    ];
    for (name, length) in lengths {
        if let Some(length) = length.filter(|length| *length != numbers.len()) {
            return Err(usage(format!(
                "{name}: expected {} values, one for each number, found {length}",
                numbers.len()
            )));
        }
    }
    let mut series = options.series()?;
    let report = work::run(py, |stop| {
        for (at, &seq) in numbers.iter().enumerate() {
            if at % ROUND == 0 && stop.is_set() {
                break;
            }
            options.check(seq)?;
            series.update(&Record {
                seq,
                time_ns: times_ns.as_ref().and_then(|times| times.get(at).copied()),
                bytes: sizes.as_ref().and_then(|sizes| sizes.get(at).copied()),
            });
        }
        Ok(series.finish(true))
    });
    Ok(Findings::new(Measured(report?)))
}

/// Measures a file of text as `inorder metrics` reads it: a line `seq[,time_s[,bytes]]` for each packet.
#[pyfunction]
pub(crate) fn metrics_of_text(
    py: Python<'_>,
    path: PathBuf,
    options: Options,
) -> PyResult<Findings> {
    let mut series = options.series()?;
    let opened = File::open(&path).map_err(|error| file(&path, "open", &error))?;
    let (report, bad) = work::run(py, |_| {
        let input = BufReader::with_capacity(1 << 20, opened);
        let bad = series
            .read(input)
            .map_err(|error| file(&path, "read", &error))?;
        Ok((series.finish(bad.is_none()), bad))
    })?;
    let findings = Findings::new(Measured(report));
    let Some((line, problem)) = bad else {
        return Ok(findings);
    };
    let error = raise(
        Class::Damaged,
        format!("{}:{line}: {problem}", path.display()),
    );
    error.value(py).setattr("partial", Py::new(py, findings)?)?;
    Err(error)
}

struct Measured(SeriesReport);

impl Outcome for Measured {
    fn tables(&self) -> Vec<&'static str> {
        vec!["summary"]
    }

    fn batches(&self, _name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        Batches::new(SERIES, [&self.0], Texts::Views, size).pass(take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        json::write(out, SERIES, &self.0)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_text(out, &self.0)
    }
}
