//! What every function returns: tables by name, and the document that the command prints.

use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use inorder_report::arrow::TakeBatch;
use pyo3::prelude::*;

use crate::errors::{fault, usage};
use crate::table::{Batch, Table};

/// Batches that wait for a consumer that is slower than we are.
const AHEAD: usize = 2;

/// A result of a library.
pub trait Outcome: Send + Sync + 'static {
    /// The names of the tables.
    fn tables(&self) -> Vec<&'static str>;

    /// Passes the rows of a table to `take`, in batches of at most `size` rows, until it returns false; returns the
    /// schema. `name` is one of [`Outcome::tables`].
    fn batches(&self, name: &str, size: usize, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef>;

    /// The JSON that the command prints.
    fn json(&self, out: &mut Vec<u8>) -> io::Result<()>;

    /// The text that the command prints.
    fn text(&self, out: &mut Vec<u8>) -> io::Result<()>;

    /// The page that the command writes, if the verb has one.
    fn html(&self, _out: &mut Vec<u8>) -> io::Result<()> {
        none("page")
    }

    /// The charts of that page, specifications and data, as JSON.
    fn charts(&self, _out: &mut Vec<u8>) -> io::Result<()> {
        none("charts")
    }

    /// A drawing of what was examined: `svg`, `dot` or `pnml`.
    fn drawing(&self, _format: &str, _out: &mut Vec<u8>) -> io::Result<()> {
        none("drawing")
    }
}

/// What a result lacks that others have.
fn none(what: &str) -> io::Result<()> {
    Err(io::Error::other(format!("this result has no {what}")))
}

/// A result with tables.
#[pyclass(frozen, module = "inorder")]
pub struct Findings {
    outcome: Arc<dyn Outcome>,
    /// Tables that were asked for: the same object, with the same memory, each time.
    made: Mutex<HashMap<String, Py<Table>>>,
}

impl Findings {
    /// Wraps what a library returned.
    pub fn new(outcome: impl Outcome) -> Self {
        Findings {
            outcome: Arc::new(outcome),
            made: Mutex::default(),
        }
    }

    fn known(&self, name: &str) -> PyResult<()> {
        let tables = self.outcome.tables();
        match tables.contains(&name) {
            true => Ok(()),
            false => Err(usage(format!(
                "no table {name}; there are {}",
                tables.join(", ")
            ))),
        }
    }

    fn print(
        &self,
        py: Python<'_>,
        print: impl FnOnce(&dyn Outcome, &mut Vec<u8>) -> io::Result<()> + Send,
    ) -> PyResult<String> {
        let outcome = &self.outcome;
        let printed = py.detach(|| {
            let mut out = Vec::new();
            print(outcome.as_ref(), &mut out).map(|()| out)
        });
        Ok(String::from_utf8(printed.map_err(fault)?)?)
    }
}

#[pymethods]
impl Findings {
    /// The names of the tables.
    fn tables(&self) -> Vec<&'static str> {
        self.outcome.tables()
    }

    /// The table `name` as a whole; made when it is asked for the first time.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Py<Table>> {
        self.known(name)?;
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = made().get(name) {
            return Ok(table.clone_ref(py));
        }
        let outcome = &self.outcome;
        let table = py.detach(|| {
            let mut batches = Vec::new();
            let schema = outcome.batches(name, usize::MAX, &mut |batch| {
                batches.push(batch);
                true
            });
            schema.map(|schema| Table::new(schema, batches))
        });
        let table = Py::new(py, table.map_err(fault)?)?;
        made().insert(name.to_owned(), table.clone_ref(py));
        Ok(table)
    }

    /// The table `name` batch by batch, without ever having it as a whole.
    fn batches(&self, name: String, rows: usize) -> PyResult<BatchStream> {
        self.known(&name)?;
        if rows == 0 {
            return Err(usage("rows: expected at least 1, found 0"));
        }
        let (sender, receiver) = sync_channel(AHEAD);
        let outcome = Arc::clone(&self.outcome);
        // It ends when the stream is dropped: nobody takes the next batch then.
        thread::spawn(move || {
            let done = outcome.batches(&name, rows, &mut |batch| sender.send(Ok(batch)).is_ok());
            if let Err(error) = done {
                let _ = sender.send(Err(error));
            }
        });
        Ok(BatchStream(Mutex::new(receiver)))
    }

    /// The JSON that the command prints.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        self.print(py, Outcome::json)
    }

    /// The text that the command prints.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        self.print(py, Outcome::text)
    }

    /// The page that the command writes.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        self.print(py, Outcome::html)
    }

    /// The charts of that page, specifications and data, as JSON.
    fn charts(&self, py: Python<'_>) -> PyResult<String> {
        self.print(py, Outcome::charts)
    }

    /// A drawing of what was examined: `svg`, `dot` or `pnml`.
    fn drawing(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        self.print(py, |outcome, out| outcome.drawing(format, out))
    }
}

/// Yields the batches of a table.
#[pyclass(frozen, module = "inorder")]
pub struct BatchStream(Mutex<Receiver<io::Result<RecordBatch>>>);

#[pymethods]
impl BatchStream {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| {
            let receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv().ok()
        });
        next.transpose().map(|b| b.map(Batch)).map_err(fault)
    }
}
