//! What to read: paths, and binary file objects of Python.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use inorder_pipeline::Input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// One capture as Python names it.
pub(crate) enum Source {
    /// A file, or several that follow each other.
    Files(Vec<PathBuf>),
    /// Any object with `read(size) -> bytes`.
    Object(Py<PyAny>),
}

impl Source {
    /// A path, a list of paths, or an object with a method `read`.
    pub(crate) fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if given.hasattr("read")? {
            return Ok(Source::Object(given.clone().unbind()));
        }
        match given.extract::<PathBuf>() {
            Ok(path) => Ok(Source::Files(vec![path])),
            Err(_) => Ok(Source::Files(given.extract()?)),
        }
    }

    /// For the pipeline.
    pub(crate) fn input(self) -> Input {
        match self {
            Source::Files(paths) => Input::files(paths),
            Source::Object(object) => {
                let name = Python::attach(|py| name(object.bind(py)));
                Input::reader(name, Object(object))
            }
        }
    }
}

/// The name that files of Python carry.
fn name(object: &Bound<'_, PyAny>) -> String {
    let name = object.getattr("name").and_then(|name| name.extract());
    name.unwrap_or_else(|_| "a file object".to_owned())
}

/// Reads from a Python object, holding Python's lock only for that.
struct Object(Py<PyAny>);

impl Read for Object {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            let bytes = read.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            let most = buffer.len();
            let place = buffer.get_mut(..bytes.len()).ok_or_else(|| {
                let found = bytes.len();
                io::Error::other(format!(
                    "expected at most {most} bytes from read(), found {found}"
                ))
            })?;
            place.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

/// The path and the text of a file that another file names, relative to the folder of the latter.
pub(crate) fn beside(file: &str, name: &str) -> Result<(String, String), String> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let path = folder.join(name).to_string_lossy().into_owned();
    match inorder_command::read_named(path.as_ref()) {
        Ok(text) => Ok((path, text)),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

/// The text of a file that a scenario names.
pub(crate) fn text_beside(scenario: &str, name: &str) -> Result<String, String> {
    beside(scenario, name).map(|(_, text)| text)
}
