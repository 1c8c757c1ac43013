//! Rows inside a row: in JSON, arrays of objects and objects.

use std::io;

use crate::column::json::Json;
use crate::column::schema::Schema;
use crate::column::{Boxed, Column, Nested, flat};
use crate::sheet::through;

/// An array of objects.
pub struct List<R: ?Sized + 'static, S: 'static> {
    /// The columns of each element.
    pub columns: &'static [Column<S>],
    /// The rows.
    pub of: for<'r> fn(&'r R) -> &'r [S],
}

/// An object that is always present. CSV, Parquet and tables have its columns beside the outer ones.
pub struct Object<R: ?Sized + 'static, S: ?Sized + 'static> {
    /// Its columns.
    pub columns: &'static [Column<S>],
    /// The row.
    pub of: for<'r> fn(&'r R) -> &'r S,
}

/// A part of the row that has columns of its own. Every output, also JSON, has them beside the outer ones. The name
/// of the column that holds the part is not printed.
///
/// ```
/// use inorder_report::{Column, Kind, Part, json};
///
/// struct Order { late: u64 }
/// struct Flow { name: String, order: Order }
///
/// static ORDER: &[Column<Order>] =
///     &[Column::new("late", Kind::Count, "Late packets.", |o| o.late.into())];
/// static FLOW: &[Column<Flow>] = &[
///     Column::new("flow", Kind::Text, "Which flow.", |f| (&f.name).into()),
///     Column::nested("order", "Its order.", &Part { columns: ORDER, of: |f: &Flow| &f.order }),
/// ];
///
/// let mut out = Vec::new();
/// json::write(&mut out, FLOW, &Flow { name: "a".into(), order: Order { late: 2 } })?;
/// assert_eq!(String::from_utf8_lossy(&out), "{\"flow\":\"a\",\"late\":2}\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Part<R: ?Sized + 'static, S: ?Sized + 'static> {
    /// Its columns.
    pub columns: &'static [Column<S>],
    /// The part.
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
    /// The columns of each element.
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
        parts(self.columns, self.of)
    }
}

/// Makes the columns of a part of the row columns of the row.
fn parts<'c, R: ?Sized + 'c, S: ?Sized + 'static>(
    columns: &'c [Column<S>],
    of: for<'r> fn(&'r R) -> &'r S,
) -> Vec<Boxed<'c, R>> {
    let inner = flat(columns);
    inner.into_iter().map(|c| through(c, of)).collect()
}

impl<R: ?Sized, S: ?Sized> Nested<R> for Part<R, S> {
    fn schema(&self) -> Schema {
        Schema::object(self.columns)
    }

    fn is_part(&self) -> bool {
        true
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        json.object(self.columns, (self.of)(row))
    }

    fn flat<'c>(&'c self) -> Vec<Boxed<'c, R>>
    where
        R: 'c,
    {
        parts(self.columns, self.of)
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
