//! Parquet for data frames, Snappy-compressed.
//!
//! The columns are those of CSV. Times of day are UTC timestamps in nanoseconds, so their names lose the suffix
//! `_ns`; durations are milliseconds in double precision.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field as ArrowField, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::column::{AnyColumn, Boxed};
use crate::csv::in_files;
use crate::field::{Field, Kind};
use crate::value::Value;

/// Number of rows that are passed to the writer at a time.
const BATCH: usize = 1 << 16;

/// Writes one file with the columns of CSV.
///
/// # Errors
/// If `out` cannot be written, or a column has a value that is not of its kind, or none although
/// it is not optional.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: impl Write + Send,
    columns: &[M],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
) -> io::Result<()> {
    let columns = in_files(columns);
    let mut rows = rows.into_iter();
    let mut next = || rows.by_ref().take(BATCH).collect::<Vec<_>>();
    // At least one batch: a file without rows must still have columns.
    let mut chunk = next();
    let first = batch(&columns, &chunk)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("inorder ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = ArrowWriter::try_new(out, first.schema(), Some(properties))?;
    writer.write(&first)?;
    loop {
        chunk = next();
        if chunk.is_empty() {
            break;
        }
        writer.write(&batch(&columns, &chunk)?)?;
    }
    writer.close()?;
    Ok(())
}

fn batch<R: ?Sized>(columns: &[Boxed<'_, R>], rows: &[impl Borrow<R>]) -> io::Result<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for column in columns {
        let field = column.field();
        let array = array(field, rows.iter().map(|row| column.value(row.borrow())))?;
        let kind = array.data_type().clone();
        fields.push(ArrowField::new(name(field), kind, field.optional));
        arrays.push(array);
    }
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays).map_err(io::Error::other)
}

/// The type of a timestamp includes its unit, so the suffix `_ns` is removed.
fn name<'f>(field: &Field<'f>) -> &'f str {
    match field.kind {
        Kind::Instant => field.name.strip_suffix("_ns").unwrap_or(field.name),
        _ => field.name,
    }
}

fn array<'r>(field: &Field<'_>, values: impl Iterator<Item = Value<'r>>) -> io::Result<ArrayRef> {
    let values = values.map(|value| field.kind.in_files(&value));
    Ok(match field.kind {
        Kind::Flag => Arc::new(BooleanArray::from(gather(field, values, flag)?)),
        Kind::Small => Arc::new(UInt32Array::from(gather(field, values, small)?)),
        Kind::Count | Kind::Rate | Kind::Bytes => {
            Arc::new(UInt64Array::from(gather(field, values, Value::count)?))
        }
        Kind::Integer => Arc::new(Int64Array::from(gather(field, values, Value::integer)?)),
        Kind::Instant => {
            let times = gather(field, values, Value::integer)?;
            Arc::new(TimestampNanosecondArray::from(times).with_timezone("UTC"))
        }
        Kind::Number(_) | Kind::Share | Kind::Duration => {
            Arc::new(Float64Array::from(gather(field, values, real)?))
        }
        Kind::Text | Kind::Choice(_) | Kind::List(_) | Kind::Map(_) | Kind::Nested => {
            Arc::new(StringArray::from(gather(field, values, text)?))
        }
    })
}

/// Converts the values to Rust types; only optional columns may have missing values.
fn gather<'r, T>(
    field: &Field<'_>,
    values: impl Iterator<Item = Value<'r>>,
    convert: fn(&Value<'r>) -> Option<T>,
) -> io::Result<Vec<Option<T>>> {
    let one = |value: Value<'r>| match convert(&value) {
        Some(value) => Ok(Some(value)),
        None if value == Value::Absent && field.optional => Ok(None),
        None => Err(io::Error::other(format!(
            "column {}: expected {:?}, found {value:?}",
            field.name, field.kind
        ))),
    };
    values.map(one).collect()
}

fn flag(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Flag(flag) => Some(*flag),
        _ => None,
    }
}

fn small(value: &Value<'_>) -> Option<u32> {
    value.count().and_then(|n| u32::try_from(n).ok())
}

/// Any number, also one that is not finite.
fn real(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Number(x) => Some(*x),
        _ => value.number(),
    }
}

fn text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, TimestampNanosecondType, UInt32Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;
    use crate::Column;

    struct Row {
        at_ns: i64,
        late_ns: Option<i64>,
        frame: Option<u64>,
    }

    static ROW: &[Column<Row>] = &[
        Column::new("at_ns", Kind::Instant, "When.", |r| r.at_ns.into()),
        Column::new("late_ms", Kind::Duration, "How late.", |r: &Row| {
            r.late_ns.into()
        })
        .optional(),
        Column::new("frame", Kind::Small, "Which.", |r| r.frame.into()),
    ];

    fn row(frame: Option<u64>) -> Row {
        Row {
            at_ns: 5,
            late_ns: frame.map(|_| 2_500_000),
            frame,
        }
    }

    fn read(file: Vec<u8>) -> Vec<RecordBatch> {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file));
        let reader = builder.unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    }

    #[test]
    fn rows_read_back() {
        let mut out = Vec::new();
        let rows = (0..BATCH as u64 + 1).map(|n| row(Some(n)));
        write(&mut out, ROW, rows).unwrap();
        let batches = read(out);
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows, BATCH + 1);
        let last = batches.last().unwrap();
        let at = last.column_by_name("at").unwrap();
        assert_eq!(at.as_primitive::<TimestampNanosecondType>().value(0), 5);
        let late = last.column_by_name("late_ms").unwrap();
        assert_eq!(late.as_primitive::<Float64Type>().value(0), 2.5);
        let frame = last.column_by_name("frame").unwrap();
        let frame = frame.as_primitive::<UInt32Type>();
        assert_eq!(frame.value(last.num_rows() - 1), BATCH as u32);
    }

    #[test]
    fn a_file_without_rows_has_columns() {
        let mut out = Vec::new();
        write(&mut out, ROW, [] as [Row; 0]).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(builder.schema().fields().len(), 3);
    }

    #[test]
    fn a_missing_value_in_a_column_that_is_not_optional_is_an_error() {
        let error = write(Vec::new(), ROW, [row(None)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column frame: expected Small, found Absent"
        );
    }
}
