//! A record batch, column by column.

use std::io;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray,
    TimestampNanosecondArray, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema};

/// Columns gathered so far; each call adds one.
pub struct Columns<'r, R> {
    rows: &'r [R],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet over `rows`.
    pub fn of(rows: &'r [R]) -> Self {
        Columns {
            rows,
            fields: Vec::new(),
            arrays: Vec::new(),
        }
    }

    /// All columns together.
    pub fn batch(self) -> io::Result<RecordBatch> {
        let schema = Arc::new(Schema::new(self.fields));
        RecordBatch::try_new(schema, self.arrays).map_err(io::Error::other)
    }

    fn add(&mut self, name: &str, nullable: bool, array: impl Array + 'static) {
        let kind = array.data_type().clone();
        self.fields.push(Field::new(name, kind, nullable));
        self.arrays.push(Arc::new(array));
    }

    /// Text.
    pub fn text<T: AsRef<str>>(&mut self, name: &str, value: impl Fn(&'r R) -> T) {
        let array = StringArray::from_iter_values(self.rows.iter().map(value));
        self.add(name, false, array);
    }

    /// Text that may be missing.
    pub fn text_or_null(&mut self, name: &str, value: impl Fn(&'r R) -> Option<&'static str>) {
        let array: StringArray = self.rows.iter().map(value).collect();
        self.add(name, true, array);
    }

    /// Yes or no.
    pub fn flag(&mut self, name: &str, value: impl Fn(&'r R) -> bool) {
        let array: BooleanArray = self.rows.iter().map(|row| Some(value(row))).collect();
        self.add(name, false, array);
    }

    /// Counts and offsets.
    pub fn u64(&mut self, name: &str, value: impl Fn(&'r R) -> u64) {
        let array = UInt64Array::from_iter_values(self.rows.iter().map(value));
        self.add(name, false, array);
    }

    /// Counts that may be missing.
    pub fn u64_or_null(&mut self, name: &str, value: impl Fn(&'r R) -> Option<u64>) {
        let array: UInt64Array = self.rows.iter().map(value).collect();
        self.add(name, true, array);
    }

    /// Small counts and lengths.
    pub fn u32(&mut self, name: &str, value: impl Fn(&'r R) -> u32) {
        let array = UInt32Array::from_iter_values(self.rows.iter().map(value));
        self.add(name, false, array);
    }

    /// Small counts that may be missing.
    pub fn u32_or_null(&mut self, name: &str, value: impl Fn(&'r R) -> Option<u32>) {
        let array: UInt32Array = self.rows.iter().map(value).collect();
        self.add(name, true, array);
    }

    /// Ratios and durations.
    pub fn f64(&mut self, name: &str, value: impl Fn(&'r R) -> f64) {
        let array = Float64Array::from_iter_values(self.rows.iter().map(value));
        self.add(name, false, array);
    }

    /// Durations that may be missing.
    pub fn f64_or_null(&mut self, name: &str, value: impl Fn(&'r R) -> Option<f64>) {
        let array: Float64Array = self.rows.iter().map(value).collect();
        self.add(name, true, array);
    }

    /// Times of day, nanoseconds since the Unix epoch.
    pub fn time(&mut self, name: &str, value: impl Fn(&'r R) -> i64) {
        let array = TimestampNanosecondArray::from_iter_values(self.rows.iter().map(value));
        self.add(name, false, array.with_timezone("UTC"));
    }
}
