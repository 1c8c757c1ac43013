//! `inorder.sort`.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_schema::SchemaRef;
use inorder_capture::Capture;
use inorder_command::parse_sorter;
use inorder_pipeline::Filter;
use inorder_replay::{
    Done, Error, Format, SUMMARY, Settings, Summary, batches, replay, write_text,
};
use inorder_report::arrow::TakeBatch;
use inorder_report::json;
use pyo3::prelude::*;

use crate::errors::{capture, file, usage};
use crate::result::{Findings, Outcome};
use crate::work::{self, Stop};

/// Sorts a capture as a card would; without an output only the summary is made. An output that exists is not
/// overwritten.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the options of the verb")]
pub(crate) fn sort(
    py: Python<'_>,
    input: PathBuf,
    output: Option<PathBuf>,
    sorter: &str,
    coalesce_us: u32,
    ring_packets: usize,
    services: bool,
    filter: Option<String>,
) -> PyResult<Findings> {
    let filter = filter.map(|text| text.parse::<Filter>().map_err(usage));
    let settings = Settings {
        sorter: parse_sorter(sorter).map_err(usage)?,
        coalesce_ns: i64::from(coalesce_us) * 1_000,
        ring_packets,
        services,
        filter: filter.transpose()?,
    };
    settings.check().map_err(usage)?;
    let done = work::run(py, |stop| run(&input, output.as_deref(), &settings, stop))?;
    let findings = Findings::new(Sorted(done.summary));
    let Some(damage) = done.damage else {
        return Ok(findings);
    };
    let error = capture(&damage);
    error.value(py).setattr("partial", Py::new(py, findings)?)?;
    Err(error)
}

fn run(input: &Path, output: Option<&Path>, settings: &Settings, stop: &Stop) -> PyResult<Done> {
    let mut from = Capture::open(input).map_err(|error| capture(&error))?;
    let stop = || stop.is_set();
    let Some(path) = output else {
        return replay(&mut from, io::sink(), Format::Pcap, settings, &stop).map_err(usage);
    };
    let create = OpenOptions::new().write(true).create_new(true).open(path);
    let out = create.map_err(|error| file(path, "create", &error))?;
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let done = replay(&mut from, &mut out, Format::of(path), settings, &stop);
    let done = done.map_err(|error| match error {
        Error::Write(error) => file(path, "write", &error),
        error @ Error::Settings(_) => usage(error),
    })?;
    out.flush().map_err(|error| file(path, "write", &error))?;
    Ok(done)
}

struct Sorted(Summary);

impl Outcome for Sorted {
    fn tables(&self) -> Vec<&'static str> {
        vec!["order"]
    }

    fn batches(&self, _name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        batches(&self.0, size, take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        json::write(out, SUMMARY, &self.0)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_text(&self.0, out)
    }
}
