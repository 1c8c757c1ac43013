//! Rows inside a row: arrays of objects and objects in JSON.

use std::io;

use crate::column::{AnyColumn, Boxed, Column};
use crate::json::Json;
use crate::schema::Schema;
use crate::sheet::through;

/// Rows inside a row, with their own columns.
///
/// [`List`], [`Map`], [`Object`] and [`Maybe`] are what is usually needed; implement it for rows that are
/// made on the way (an event together with the name of its flow).
pub trait Nested<R: ?Sized> {
    /// What the JSON looks like.
    fn schema(&self) -> Schema;

    /// Writes the rows inside `row`.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()>;

    /// The columns as if they stood in the outer row, for CSV, Parquet and tables; none for a
    /// list, which has no place there.
    fn flat<'c>(&'c self) -> Vec<Boxed<'c, R>>
    where
        R: 'c,
    {
        Vec::new()
    }
}

/// An array of objects.
pub struct List<R: ?Sized + 'static, S: 'static> {
    /// The columns of each.
    pub columns: &'static [Column<S>],
    /// The rows.
    pub of: for<'r> fn(&'r R) -> &'r [S],
}

/// An object that is always there. CSV, Parquet and tables have its columns beside the outer
/// ones.
pub struct Object<R: ?Sized + 'static, S: ?Sized + 'static> {
    /// Its columns.
    pub columns: &'static [Column<S>],
    /// The row.
    pub of: for<'r> fn(&'r R) -> &'r S,
}

/// An object that may be missing (`null`); only JSON has it.
pub struct Maybe<R: ?Sized + 'static, S: ?Sized + 'static> {
    /// Its columns.
    pub columns: &'static [Column<S>],
    /// The row, if there is one.
    pub of: for<'r> fn(&'r R) -> Option<&'r S>,
}

/// An object of objects, each under a name of its own.
#[derive(Clone, Copy)]
pub struct Map<R: ?Sized + 'static, S: 'static> {
    /// The columns of each.
    pub columns: &'static [Column<S>],
    /// Names and rows.
    pub of: for<'r> fn(&'r R) -> Vec<(&'r str, &'r S)>,
}

impl<R: ?Sized, S> Nested<R> for Map<R, S> {
    fn schema(&self) -> Schema {
        Schema::map(Schema::object(self.columns))
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        json.named(self.columns, (self.of)(row))
    }
}

impl<R: ?Sized, S> Nested<R> for List<R, S> {
    fn schema(&self) -> Schema {
        Schema::array(Schema::object(self.columns))
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        json.array(self.columns, (self.of)(row))
    }
}

impl<R: ?Sized, S: ?Sized> Nested<R> for Object<R, S> {
    fn schema(&self) -> Schema {
        Schema::object(self.columns)
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        json.object(self.columns, (self.of)(row))
    }

    fn flat<'c>(&'c self) -> Vec<Boxed<'c, R>>
    where
        R: 'c,
    {
        let inner = flat(self.columns);
        inner.into_iter().map(|c| through(c, self.of)).collect()
    }
}

impl<R: ?Sized, S: ?Sized> Nested<R> for Maybe<R, S> {
    fn schema(&self) -> Schema {
        Schema::object(self.columns).or_null()
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        match (self.of)(row) {
            Some(inner) => json.object(self.columns, inner),
            None => json.null(),
        }
    }
}

/// Columns as CSV, Parquet and tables have them: those of nested objects beside the others,
/// lists left out.
pub(crate) fn flat<'c, R: ?Sized + 'c, M: AnyColumn<R>>(columns: &'c [M]) -> Vec<Boxed<'c, R>> {
    let mut flat: Vec<Boxed<'c, R>> = Vec::new();
    for column in columns {
        match column.rows() {
            Some(rows) => flat.extend(rows.flat()),
            None => flat.push(Box::new(column)),
        }
    }
    flat
}
