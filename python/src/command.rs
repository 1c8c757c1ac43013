//! The command `inorder`, as the script of the package runs it.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs the command with the arguments of the process and returns its exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>) -> PyResult<u8> {
    let arguments: Vec<OsString> = py.import("sys")?.getattr("argv")?.extract()?;
    // Other modules of this package do what needs several machines or SQL.
    let interpreter: Option<PathBuf> = py.import("sys")?.getattr("executable")?.extract()?;
    if let Some(interpreter) = interpreter {
        inorder_command::set_python(interpreter);
    }
    Ok(py.detach(|| inorder_command::run(arguments)))
}
