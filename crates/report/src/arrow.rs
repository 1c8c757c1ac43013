//! Record batches of Apache Arrow, for Parquet and for data frames in memory.
//!
//! The columns are those of CSV. Times of day are UTC timestamps in nanoseconds, so their names lose the suffix
//! `_ns`; durations are milliseconds in double precision.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use arrow_array::builder::StringViewBuilder;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field as ArrowField, Schema, SchemaRef, TimeUnit};

use crate::column::{AnyColumn, Boxed};
use crate::csv::in_files;
use crate::field::{Field, Kind};
use crate::value::Value;

/// How texts are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Texts {
    /// One after the other, with offsets (`Utf8`): what files have.
    Plain,
    /// Views of 16 bytes (`Utf8View`), each different text stored once in a batch: what data frames take without
    /// copying it. The names of flows, which many rows share, take little memory.
    Views,
}

/// Takes one record batch; returns whether to continue.
pub type TakeBatch<'a> = dyn FnMut(RecordBatch) -> bool + 'a;

/// Record batches with the columns of CSV, made from rows while they are asked for.
///
/// ```
/// use inorder_report::arrow::{Batches, Texts};
/// use inorder_report::{Column, Kind};
///
/// static SQUARE: &[Column<u64>] = &[
///     Column::new("n", Kind::Count, "A number.", |n| (*n).into()),
///     Column::new("square", Kind::Count, "Its square.", |n| (n * n).into()),
/// ];
///
/// let batches = Batches::new(SQUARE, 0..5_u64, Texts::Plain, 2);
/// assert_eq!(batches.schema().fields().len(), 2);
/// let rows: Vec<usize> = batches.map(|batch| batch.unwrap().num_rows()).collect();
/// assert_eq!(rows, [2, 2, 1]);
/// ```
pub struct Batches<'c, R: ?Sized, I> {
    columns: Vec<Boxed<'c, R>>,
    schema: SchemaRef,
    rows: I,
    texts: Texts,
    rows_per_batch: usize,
}

impl<'c, R: ?Sized + 'c, I: Iterator> Batches<'c, R, I> {
    /// Makes batches of at most `rows_per_batch` rows (at least 1).
    pub fn new<M: AnyColumn<R>>(
        columns: &'c [M],
        rows: impl IntoIterator<IntoIter = I>,
        texts: Texts,
        rows_per_batch: usize,
    ) -> Self {
        let columns = in_files(columns);
        Batches {
            schema: schema(&columns, texts),
            columns,
            rows: rows.into_iter(),
            texts,
            rows_per_batch: rows_per_batch.max(1),
        }
    }

    /// Names and types of the columns. For data frames, meaning and unit of each are metadata of its field.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl<R: ?Sized, I: Iterator> Batches<'_, R, I>
where
    I::Item: Borrow<R>,
{
    /// Passes all batches to `take` until it returns false; returns the schema.
    ///
    /// # Errors
    /// As for the iterator.
    pub fn pass(mut self, take: &mut TakeBatch<'_>) -> io::Result<SchemaRef> {
        for batch in self.by_ref() {
            if !take(batch?) {
                break;
            }
        }
        Ok(self.schema)
    }
}

/// An error is a column that has a value that is not of its kind, or none although it is not optional.
impl<R: ?Sized, I: Iterator> Iterator for Batches<'_, R, I>
where
    I::Item: Borrow<R>,
{
    type Item = io::Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk: Vec<I::Item> = self.rows.by_ref().take(self.rows_per_batch).collect();
        (!chunk.is_empty()).then(|| self.batch(&chunk))
    }
}

impl<R: ?Sized, I> Batches<'_, R, I> {
    fn batch(&self, rows: &[impl Borrow<R>]) -> io::Result<RecordBatch> {
        let array = |column: &Boxed<'_, R>| {
            let values = rows.iter().map(|row| column.value(row.borrow()));
            array(column.field(), values, self.texts)
        };
        let arrays: io::Result<Vec<ArrayRef>> = self.columns.iter().map(array).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays?).map_err(io::Error::other)
    }
}

fn schema<R: ?Sized>(columns: &[Boxed<'_, R>], texts: Texts) -> SchemaRef {
    let field = |column: &Boxed<'_, R>| {
        let field = column.field();
        let arrow = ArrowField::new(name(field), data_type(field.kind, texts), field.optional);
        match texts {
            Texts::Plain => arrow,
            Texts::Views => arrow.with_metadata(meaning(field)),
        }
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// What a data frame cannot tell by itself: the meaning of a column, and its unit if it has one.
fn meaning(field: &Field<'_>) -> HashMap<String, String> {
    let mut meaning = HashMap::from([("about".to_owned(), field.about.to_owned())]);
    if !field.unit.is_empty() && !matches!(field.kind, Kind::Instant) {
        meaning.insert("unit".to_owned(), field.unit.to_owned());
    }
    meaning
}

/// The type of a timestamp includes its unit, so the suffix `_ns` is removed.
fn name<'f>(field: &Field<'f>) -> &'f str {
    match field.kind {
        Kind::Instant => field.name.strip_suffix("_ns").unwrap_or(field.name),
        _ => field.name,
    }
}

fn data_type(kind: Kind, texts: Texts) -> DataType {
    match kind {
        Kind::Flag => DataType::Boolean,
        Kind::Small => DataType::UInt32,
        Kind::Count | Kind::Rate | Kind::Bytes => DataType::UInt64,
        Kind::Integer => DataType::Int64,
        Kind::Instant => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
        Kind::Number(_) | Kind::Share | Kind::Duration => DataType::Float64,
        Kind::Text | Kind::Choice(_) | Kind::List(_) | Kind::Map(_) | Kind::Nested => match texts {
            Texts::Plain => DataType::Utf8,
            Texts::Views => DataType::Utf8View,
        },
    }
}

fn array<'r>(
    field: &Field<'_>,
    values: impl Iterator<Item = Value<'r>>,
    texts: Texts,
) -> io::Result<ArrayRef> {
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
        Kind::Text | Kind::Choice(_) | Kind::List(_) | Kind::Map(_) | Kind::Nested => match texts {
            Texts::Plain => Arc::new(StringArray::from(gather(field, values, text)?)),
            Texts::Views => views(field, values)?,
        },
    })
}

fn views<'r>(field: &Field<'_>, values: impl Iterator<Item = Value<'r>>) -> io::Result<ArrayRef> {
    let mut array = StringViewBuilder::new().with_deduplicate_strings();
    for value in values {
        match &value {
            Value::Text(text) => array.append_value(text),
            Value::Absent if field.optional => array.append_null(),
            _ => return Err(not_of_its_kind(field, &value)),
        }
    }
    Ok(Arc::new(array.finish()))
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
        None => Err(not_of_its_kind(field, &value)),
    };
    values.map(one).collect()
}

fn not_of_its_kind(field: &Field<'_>, value: &Value<'_>) -> io::Error {
    io::Error::other(format!(
        "column {}: expected {:?}, found {value:?}",
        field.name, field.kind
    ))
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
    use arrow_array::Array;
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::Column;

    static NAME: &[Column<Option<&'static str>>] = &[Column::new(
        "name",
        Kind::Text,
        "Of something.",
        |name: &Option<&'static str>| (*name).into(),
    )
    .optional()];

    #[test]
    fn views_store_each_text_once_and_say_the_same_as_plain_texts() {
        let long = "10.0.1.1:47138->10.0.3.2:5001";
        let rows = || [Some(long), None, Some("short"), Some(long)].into_iter();
        let one = |texts| {
            let mut batches = Batches::new(NAME, rows(), texts, 10);
            (batches.next().unwrap().unwrap(), batches.next().is_none())
        };
        let (plain, plain_ends) = one(Texts::Plain);
        let (views, views_end) = one(Texts::Views);
        assert!(plain_ends && views_end);
        let views = views.column(0).as_string_view();
        let plain = plain.column(0).as_string::<i32>();
        assert_eq!(
            plain.iter().collect::<Vec<_>>(),
            views.iter().collect::<Vec<_>>()
        );
        let buffers = views.data_buffers().iter();
        let stored = buffers.fold(0, |sum, buffer| sum + buffer.len());
        assert_eq!(stored, long.len());
        assert_eq!(views.null_count(), 1);
    }

    #[test]
    fn without_rows_there_is_a_schema_and_no_batch() {
        let mut batches = Batches::new(NAME, [] as [Option<&'static str>; 0], Texts::Views, 10);
        assert_eq!(batches.schema().field(0).data_type(), &DataType::Utf8View);
        assert!(batches.next().is_none());
    }
}
