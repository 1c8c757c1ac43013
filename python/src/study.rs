//! Studies: `inorder.corpus`, `inorder.campaign`, `inorder.population`.

use std::io;
use std::path::PathBuf;

use inorder_pipeline::Input;
use inorder_study::{Changed, Error, Job, Listed, Open, Progress, Tally, list};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{file, usage};
use crate::input::Source;
use crate::result::Findings;
use crate::simulate::simulated;
use crate::work;

/// A study in its folder.
#[pyclass(frozen, module = "inorder._inorder")]
pub struct Study(inorder_study::Study);

/// The captures that files, folders and patterns name, as JSON that `Study.begin` takes.
#[pyfunction]
pub(crate) fn list_captures(py: Python<'_>, places: Vec<String>) -> PyResult<String> {
    let listed = py.detach(|| list(&places)).map_err(raised)?;
    serde_json::to_string(&listed.captures).map_err(usage)
}

/// The job of a population's file as JSON.
#[pyfunction]
pub(crate) fn read_population(text: &str, name: &str) -> PyResult<String> {
    let population = inorder_study::Population::parse(text, name).map_err(usage)?;
    serde_json::to_string(&population).map_err(usage)
}

#[pymethods]
impl Study {
    /// Begins a study or goes on with it; `job` and `captures` are JSON.
    #[staticmethod]
    fn begin(
        py: Python<'_>,
        out: PathBuf,
        job: &str,
        captures: &str,
        per_task: u64,
    ) -> PyResult<Self> {
        let job: Job = serde_json::from_str(job).map_err(usage)?;
        let captures: Vec<Listed> = serde_json::from_str(captures).map_err(usage)?;
        let study = py.detach(|| inorder_study::Study::begin(&out, job, captures, per_task));
        Ok(Study(study.map_err(raised)?))
    }

    /// Opens a study, to run single tasks or to read results.
    #[staticmethod]
    fn open(py: Python<'_>, out: PathBuf) -> PyResult<Self> {
        let study = py.detach(|| inorder_study::Study::open(&out));
        Ok(Study(study.map_err(raised)?))
    }

    /// What is done, as JSON.
    fn job(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.plan().job).map_err(usage)
    }

    /// Tasks that are not done.
    fn todo(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| self.0.todo())
    }

    /// Whether a task is done.
    fn is_done(&self, py: Python<'_>, task: usize) -> bool {
        py.detach(|| self.0.is_done(task))
    }

    /// How much is done.
    fn tally<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Tally {
            tasks,
            done,
            items,
            items_done,
            with_errors,
        } = py.detach(|| self.0.tally());
        let tally = PyDict::new(py);
        tally.set_item("tasks", tasks)?;
        tally.set_item("done", done)?;
        tally.set_item("items", items)?;
        tally.set_item("items_done", items_done)?;
        tally.set_item("with_errors", with_errors)?;
        Ok(tally)
    }

    /// One line if captures are damaged or could not be read.
    fn complaint(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.complaint())
    }

    /// Runs everything that is not done on threads; `opener` opens captures by URL, `progress` gets two numbers.
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        opener: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let (opener, progress) = (Opener(opener), Told(progress));
        work::run(py, |stop| {
            let done = self.0.run(threads, &opener, &progress, &stop.shared());
            done.map(|_| ()).map_err(raised)
        })
    }

    /// Runs one task; returns how many captures, runs or connections it has, and how many captures of it could not be read to
    /// their end.
    fn run_task(
        &self,
        py: Python<'_>,
        task: usize,
        opener: Option<Py<PyAny>>,
    ) -> PyResult<(u64, u64)> {
        let opener = Opener(opener);
        work::run(py, |stop| {
            let done = self.0.run_task(task, &opener, &stop.shared());
            done.map(|row| (row.items, row.failed)).map_err(raised)
        })
    }

    /// The results of a campaign so far, as `simulate` returns them.
    fn results(&self, py: Python<'_>, name: String) -> PyResult<Findings> {
        let (title, cells) = py.detach(|| self.0.cells()).map_err(raised)?;
        Ok(simulated(cells, title, name))
    }
}

/// Opens files here, and everything with a scheme by a function of Python.
struct Opener(Option<Py<PyAny>>);

impl Open for Opener {
    fn open(&self, capture: &Listed) -> Result<Input, Changed> {
        let Some(opener) = self.0.as_ref().filter(|_| capture.path.contains("://")) else {
            return ().open(capture);
        };
        let opened = Python::attach(|py| {
            let object = opener.call1(py, (&capture.path,))?;
            Source::new(object.bind(py)).map(Source::input)
        });
        opened.map_err(|error| Changed::Unreadable(io::Error::other(error.to_string())))
    }
}

/// Tells a function of Python how far the work is.
struct Told(Option<Py<PyAny>>);

impl Progress for Told {
    fn at(&self, done: usize, all: usize) {
        if let Some(told) = &self.0 {
            Python::attach(|py| {
                if let Err(error) = told.call1(py, (done, all)) {
                    error.write_unraisable(py, None);
                }
            });
        }
    }
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::File {
            path,
            action,
            source,
        } => file(&path, action, &source),
        error => usage(error),
    }
}
