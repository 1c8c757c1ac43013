//! One cell of an Arrow table as a plain Python value.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int64Type, TimestampNanosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// `None` for a missing value.
pub(super) fn value(py: Python<'_>, column: &ArrayRef, row: usize) -> PyResult<Py<PyAny>> {
    if column.is_null(row) {
        return Ok(py.None());
    }
    match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).into_py_any(py),
        DataType::UInt32 => number::<UInt32Type>(py, column, row),
        DataType::UInt64 => number::<UInt64Type>(py, column, row),
        DataType::Int64 => number::<Int64Type>(py, column, row),
        DataType::Float64 => number::<Float64Type>(py, column, row),
        DataType::Timestamp(..) => number::<TimestampNanosecondType>(py, column, row),
        DataType::Utf8 => column.as_string::<i32>().value(row).into_py_any(py),
        DataType::Utf8View => column.as_string_view().value(row).into_py_any(py),
        other => Err(crate::errors::usage(format!(
            "a column has the type {other}"
        ))),
    }
}

fn number<'py, T>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Py<PyAny>>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
{
    column.as_primitive::<T>().value(row).into_py_any(py)
}
