//! The native part of the Python package `inorder`: a thin face of the libraries.
//!
//! Every function here takes plain arguments, calls the library that the command's verb calls, and returns a
//! `Findings` of the module `result`, whose tables are made of the same columns as CSV and Parquet. Signatures with types,
//! documentation and the classes of the results are in `inorder/*.py`.

#![allow(
    clippy::needless_pass_by_value,
    reason = "functions that Python calls own their arguments"
)]

mod analyze;
mod command;
mod compare;
mod errors;
mod input;
mod lab;
mod metrics;
mod netproc;
mod own;
mod petri;
mod reproduce;
mod result;
mod simulate;
mod sort;
mod study;
mod table;
mod work;

use pyo3::prelude::*;

/// The native part of `inorder`.
#[pymodule(gil_used = false)]
mod _inorder {
    #[pymodule_export]
    use super::analyze::analyze;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::lab::lab;
    #[pymodule_export]
    use super::metrics::{metrics, metrics_of_text};
    #[pymodule_export]
    use super::netproc::netproc;
    #[pymodule_export]
    use super::own::{Ack, Arrival, Loss, Outstanding, Packet, Window};
    #[pymodule_export]
    use super::petri::{coloured_net, is_coloured, petri};
    #[pymodule_export]
    use super::reproduce::{papers, reproduce};
    #[pymodule_export]
    use super::result::{BatchStream, Findings};
    #[pymodule_export]
    use super::simulate::{simulate, toml_of_json};
    #[pymodule_export]
    use super::sort::sort;
    #[pymodule_export]
    use super::study::{Study, list_captures, read_population};
    #[pymodule_export]
    use super::table::{Batch, Table};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
