//! Tables of Apache Arrow, handed over without a copy by the Arrow PyCapsule interface.
//!
//! Source: "The Arrow PyCapsule Interface", Apache Arrow format documentation.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_schema::{Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PyTuple};

use crate::errors::usage;

mod cell;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// A table: named columns of one type each.
#[pyclass(frozen, module = "inorder")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// A part of a table, as streams yield it.
#[pyclass(frozen, module = "inorder")]
pub struct Batch(pub RecordBatch);

impl Table {
    /// Batches of this schema; there may be none.
    pub fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Table { schema, batches }
    }
}

#[pymethods]
impl Table {
    /// The Arrow schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The rows as a PyCapsule with an Arrow stream. The buffers are shared, not copied. `requested_schema` is taken
    /// for a wish and not granted, as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let batches = RecordBatchIterator::new(batches, self.schema.clone());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Names of the columns, in their order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// What a column means, with its unit if it has one.
    fn about(&self, column: &str) -> PyResult<String> {
        let field = self.schema.field_with_name(column).map_err(|_| {
            usage(format!(
                "no column {column}; there are {}",
                self.columns().join(", ")
            ))
        })?;
        let of = |key| field.metadata().get(key).cloned().unwrap_or_default();
        let (about, unit) = (of("about"), of("unit"));
        Ok(match unit.as_str() {
            "" => about,
            _ => format!("{about} [{unit}]"),
        })
    }

    /// The rows as dictionaries of plain Python values; times of day are integers, nanoseconds since the Unix epoch.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for batch in &self.batches {
            append(&rows, batch)?;
        }
        Ok(rows)
    }

    fn __repr__(&self) -> String {
        let columns = self.columns();
        format!("<Table, {} rows: {}>", self.__len__(), columns.join(", "))
    }
}

#[pymethods]
impl Batch {
    /// The Arrow schema as a PyCapsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0.schema())
    }

    /// Schema and rows as two PyCapsules. The buffers are shared, not copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let _ = requested_schema;
        let rows = StructArray::from(self.0.clone());
        let rows = FFI_ArrowArray::new(&rows.to_data());
        let rows = PyCapsule::new_with_value(py, rows, ARRAY)?;
        PyTuple::new(py, [schema_capsule(py, &self.0.schema())?, rows])
    }

    /// Number of rows.
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// Names of the columns, in their order.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.0.schema())
    }

    /// The rows as dictionaries of plain Python values.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        append(&rows, &self.0)?;
        Ok(rows)
    }
}

fn schema_capsule<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(usage)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

fn names(schema: &Schema) -> Vec<String> {
    let names = schema.fields().iter().map(|field| field.name().clone());
    names.collect()
}

fn append(rows: &Bound<'_, PyList>, batch: &RecordBatch) -> PyResult<()> {
    let py = rows.py();
    let schema = batch.schema();
    for row in 0..batch.num_rows() {
        let cells = PyDict::new(py);
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            cells.set_item(field.name(), cell::value(py, column, row)?)?;
        }
        rows.append(cells)?;
    }
    Ok(())
}
