//! `inorder.compare`.

use std::io;

use arrow_schema::SchemaRef;
use inorder_analysis::compare::{self as library, Comparison, Side, write_json, write_text};
use inorder_report::arrow::TakeBatch;
use inorder_report::text::Layout;
use pyo3::prelude::*;

use crate::errors::{malformed, usage};
use crate::result::{Findings, Outcome};

/// Width of the text, characters.
const WIDTH: usize = 100;

/// Compares two documents of `analyze` or of `simulate`, each with its name.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    before: (String, String),
    after: (String, String),
) -> PyResult<Findings> {
    let comparison = py.detach(|| {
        let side = |(name, document): &(String, String)| {
            let side = Side::of_json(name, document.as_bytes());
            side.map_err(|error| malformed(format!("{name}: {error}")))
        };
        library::compare(&side(&before)?, &side(&after)?).map_err(usage)
    });
    Ok(Findings::new(Compared(comparison?)))
}

struct Compared(Comparison);

impl Outcome for Compared {
    fn tables(&self) -> Vec<&'static str> {
        vec!["changes"]
    }

    fn batches(&self, _name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        library::batches(&self.0.changes, size, take)
    }

    fn json(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_json(out, &self.0)
    }

    fn text(&self, out: &mut Vec<u8>) -> io::Result<()> {
        write_text(out, &self.0, &Layout::default(), Some(WIDTH))
    }
}
