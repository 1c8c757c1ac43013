//! Columns of one output, combined from several slices and from values known only at run time.

use std::io;

use crate::column::Nested;
use crate::column::json::Json;
use crate::column::schema::Schema;
use crate::column::{AnyColumn, Boxed, Column};
use crate::field::Field;
use crate::number::people;
use crate::value::Value;

/// The columns of one output.
///
/// A slice of [`Column`]s describes one type. If a row of the output is made of several parts (the file, the flow and
/// the event), or has columns whose names are known only at run time (the axes of a grid), a sheet combines them.
///
/// ```
/// use inorder_report::{Column, Field, Kind, Sheet, csv};
///
/// struct Flow { name: String }
/// struct Event { frame: u64 }
/// static FLOW: &[Column<Flow>] =
///     &[Column::new("flow", Kind::Text, "Which flow.", |f| (&f.name).into())];
/// static EVENT: &[Column<Event>] =
///     &[Column::new("frame", Kind::Count, "Frame of the packet.", |e| e.frame.into())];
///
/// /// What a row of the output is made of.
/// struct Row<'a> { flow: &'a Flow, event: &'a Event, label: &'a str }
///
/// let (flow, event) = (Flow { name: "a".into() }, Event { frame: 12 });
/// let axis = String::from("delay"); // Known only when the program runs.
/// let sheet = Sheet::new()
///     .and(Field::new(&axis, Kind::Text, "Place in the grid."), |r: &Row<'_>| r.label.into())
///     .with(FLOW, |r| r.flow)
///     .with(EVENT, |r| r.event);
///
/// let mut out = Vec::new();
/// csv::write(&mut out, &sheet, [Row { flow: &flow, event: &event, label: "5 ms" }])?;
/// assert_eq!(out, b"delay,flow,frame\n5 ms,a,12\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Sheet<'c, R: ?Sized> {
    columns: Vec<Boxed<'c, R>>,
}

impl<R: ?Sized> Default for Sheet<'_, R> {
    fn default() -> Self {
        Sheet {
            columns: Vec::new(),
        }
    }
}

impl<'c, R: ?Sized + 'c> Sheet<'c, R> {
    /// No columns yet.
    pub fn new() -> Self {
        Sheet::default()
    }

    /// Adds the columns of a part of the row.
    #[must_use]
    pub fn with<S: ?Sized + 'static>(
        mut self,
        columns: &'c [Column<S>],
        part: impl for<'r> Fn(&'r R) -> &'r S + Copy + 'c,
    ) -> Self {
        let lifted = columns.iter().map(|c| through(Box::new(c), part));
        self.columns.extend(lifted);
        self
    }

    /// Adds a column that only this output has.
    #[must_use]
    pub fn and(self, field: Field<'c>, value: impl for<'r> Fn(&'r R) -> Value<'r> + 'c) -> Self {
        self.and_seen_as(field, value, move |_, value| people(field.kind, value))
    }

    /// As [`and`](Sheet::and); `seen` returns the text for people.
    #[must_use]
    pub fn and_seen_as(
        mut self,
        field: Field<'c>,
        value: impl for<'r> Fn(&'r R) -> Value<'r> + 'c,
        seen: impl Fn(&R, &Value<'_>) -> String + 'c,
    ) -> Self {
        self.columns.push(Box::new(Own { field, value, seen }));
        self
    }

    /// Keeps only the columns for which `wanted` returns true.
    #[must_use]
    pub fn keep(mut self, wanted: impl Fn(&Field<'_>) -> bool) -> Self {
        self.columns.retain(|column| wanted(column.field()));
        self
    }
}

impl<'c, R: ?Sized> std::ops::Deref for Sheet<'c, R> {
    type Target = [Boxed<'c, R>];

    fn deref(&self) -> &Self::Target {
        &self.columns
    }
}

/// A column that only this output has.
struct Own<'c, V, P> {
    field: Field<'c>,
    value: V,
    seen: P,
}

impl<R: ?Sized, V, P> AnyColumn<R> for Own<'_, V, P>
where
    V: for<'r> Fn(&'r R) -> Value<'r>,
    P: Fn(&R, &Value<'_>) -> String,
{
    fn field(&self) -> &Field<'_> {
        &self.field
    }

    fn value<'r>(&self, row: &'r R) -> Value<'r> {
        (self.value)(row)
    }

    fn people(&self, row: &R, value: &Value<'_>) -> String {
        (self.seen)(row, value)
    }

    fn rows(&self) -> Option<&dyn Nested<R>> {
        None
    }
}

/// Makes a column of a part of the row a column of the row.
pub(crate) fn through<'c, R, S>(
    column: Boxed<'c, S>,
    part: impl for<'r> Fn(&'r R) -> &'r S + Copy + 'c,
) -> Boxed<'c, R>
where
    R: ?Sized + 'c,
    S: ?Sized + 'static,
{
    Box::new(Through { column, part })
}

struct Through<'c, S: ?Sized + 'static, F> {
    column: Boxed<'c, S>,
    part: F,
}

impl<R: ?Sized, S: ?Sized + 'static, F> AnyColumn<R> for Through<'_, S, F>
where
    F: for<'r> Fn(&'r R) -> &'r S + Copy,
{
    fn field(&self) -> &Field<'_> {
        self.column.field()
    }

    fn value<'r>(&self, row: &'r R) -> Value<'r> {
        self.column.value((self.part)(row))
    }

    fn people(&self, row: &R, value: &Value<'_>) -> String {
        self.column.people((self.part)(row), value)
    }

    fn rows(&self) -> Option<&dyn Nested<R>> {
        self.column.rows().map(|_| self as &dyn Nested<R>)
    }
}

/// Rows nested in a part of the row; only used if the column has such rows.
impl<R: ?Sized, S: ?Sized + 'static, F> Nested<R> for Through<'_, S, F>
where
    F: for<'r> Fn(&'r R) -> &'r S + Copy,
{
    fn schema(&self) -> Schema {
        self.column.rows().map_or(Schema::any(), Nested::schema)
    }

    fn is_part(&self) -> bool {
        self.column.rows().is_some_and(Nested::is_part)
    }

    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()> {
        match self.column.rows() {
            Some(rows) => rows.write((self.part)(row), json),
            None => json.null(),
        }
    }

    fn flat<'c>(&'c self) -> Vec<Boxed<'c, R>>
    where
        R: 'c,
    {
        let inner = self.column.rows().map_or(Vec::new(), Nested::flat);
        inner.into_iter().map(|c| through(c, self.part)).collect()
    }
}
