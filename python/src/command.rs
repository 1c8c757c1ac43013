//! The command `inorder`, as the script of the package runs it.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with the arguments of the process and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>) -> PyResult<u8> {
    let arguments: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    Ok(py.detach(|| inorder_command::run(arguments)))
}
