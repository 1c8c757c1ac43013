//! Coloured nets.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use bytes::Bytes;
use inorder_nets::{Campaign, Program, Report, write_schema};
use inorder_report::arrow::TakeBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::prelude::*;

use crate::errors::{malformed, usage};
use crate::input::beside;
use crate::result::{Findings, Outcome};
use crate::work;

/// Reads and runs a net.
pub(super) fn run(
    py: Python<'_>,
    text: &str,
    name: &Path,
    set: &[(String, String)],
    seed: u64,
    repetitions: u32,
    threads: Option<usize>,
) -> PyResult<Findings> {
    if repetitions == 0 {
        return Err(usage("repetitions: expected at least 1, found 0"));
    }
    let report = work::run(py, |stop| {
        let program = Program::read(&name.to_string_lossy(), text, &mut beside);
        let study = program.and_then(|program| program.study(set));
        let study = study.map_err(malformed)?;
        let campaign = Campaign {
            seed,
            repetitions,
            threads: threads.unwrap_or(0),
            progress: &|_| {},
            stop: stop.flag(),
        };
        let cells = study.run(&campaign).map_err(malformed)?;
        Ok(Report::new(
            study.name(),
            study.axes(),
            cells,
            stop.is_set(),
        ))
    })?;
    Ok(Findings::new(Ran(report)))
}

/// Rows at a time.
const BATCH: usize = 1 << 16;

struct Ran(Report);

/// The columns with what they mean, which Parquet has no place for: from the schema of the JSON.
fn with_meanings(schema: &SchemaRef) -> io::Result<SchemaRef> {
    let mut text = Vec::new();
    write_schema(&mut text)?;
    let json: serde_json::Value = serde_json::from_slice(&text)?;
    let numbers = json.pointer("/properties/results/items/properties/number/properties");
    let named = |field: &Arc<Field>| {
        let of_number = numbers.and_then(|numbers| numbers.get(field.name()));
        let about = of_number.and_then(|column| column.get("description")?.as_str());
        let about = about
            .unwrap_or("The value of a swept parameter.")
            .to_owned();
        let field = Field::clone(field);
        field.with_metadata(HashMap::from([("about".to_owned(), about)]))
    };
    let fields: Vec<Field> = schema.fields().iter().map(named).collect();
    Ok(Arc::new(Schema::new(fields)))
}

impl Outcome for Ran {
    fn tables(&self) -> Vec<&'static str> {
        vec!["results"]
    }

    fn batches(&self, _name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        // By way of the Parquet file that the library writes: a row for each number of each cell, so a small one.
        let mut file = Vec::new();
        self.0.write_parquet(&mut file)?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file))?;
        let schema = with_meanings(reader.schema())?;
        for batch in reader.with_batch_size(size.min(BATCH)).build()? {
            let columns = batch.map_err(io::Error::other)?.columns().to_vec();
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
            if !take(batch.map_err(io::Error::other)?) {
                break;
            }
        }
        Ok(schema)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_json(out)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_text(out, None)
    }

    fn html(&self, out: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_page(out)
    }
}
