//! A column: one fact of a row, declared once for all outputs.

pub mod json;
mod list;
pub mod schema;

use std::io;

use self::json::Json;
use self::schema::Schema;
use crate::field::{Element, Field, Files, Kind, Rank};
use crate::number::people;
use crate::value::Value;

/// One fact of a row: its name, its meaning, and how to read it.
///
/// Columns are declared in slices beside the type they describe. The text table, JSON, CSV, Parquet, the tables of a
/// page and the JSON Schema are all made from such a slice. A new column is a field of the row and a line in the
/// slice.
///
/// ```
/// use inorder_report::{Column, Digits, Kind, csv, json, schema, text};
///
/// struct Flow { name: String, packets: u64, min_rtt_ns: Option<i64>, late: f64 }
///
/// type Of = Column<Flow>; // The closures' types follow from it.
/// static FLOWS: &[Of] = &[
///     Of::new("flow", Kind::Text, "Which flow.", |f| (&f.name).into()).shown("flow", 0),
///     Of::new("packets", Kind::Count, "Data packets.", |f| f.packets.into()).shown("packets", 0),
///     Of::new("min_rtt_ms", Kind::Duration, "Smallest round-trip time.", |f| f.min_rtt_ns.into())
///         .optional()
///         .shown("RTT", 1),
///     Of::new("late_ratio", Kind::Share, "Share of late packets.", |f| f.late.into())
///         .in_group("late", "%", 0),
/// ];
///
/// let flows = [
///     Flow { name: "a".into(), packets: 1_200, min_rtt_ns: Some(12_400_000), late: 0.052 },
///     Flow { name: "b".into(), packets: 7, min_rtt_ns: None, late: 0.0 },
/// ];
///
/// let mut out = Vec::new();
/// csv::write(&mut out, FLOWS, &flows)?;
/// assert_eq!(String::from_utf8_lossy(&out), "\
/// flow,packets,min_rtt_ms,late_ratio
/// a,1200,12.4,0.052
/// b,7,,0
/// ");
///
/// let mut out = Vec::new();
/// json::write_rows(&mut out, FLOWS, &flows[..1])?;
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     "[{\"flow\":\"a\",\"packets\":1200,\"min_rtt_ms\":12.4,\"late_ratio\":0.052}]\n",
/// );
///
/// let mut out = Vec::new();
/// text::write(&mut out, FLOWS, &flows, &text::Layout::default())?;
/// let text = String::from_utf8_lossy(&out);
/// assert_eq!(text.lines().collect::<Vec<_>>(), [
///     "                        late",
///     "flow  packets      RTT     %",
///     "a       1,200  12.4 ms   5.2",
///     "b           7        -   0.0",
/// ]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[non_exhaustive]
pub struct Column<R: ?Sized + 'static> {
    /// Name, heading, unit, meaning, rank.
    pub field: Field<'static>,
    /// How to read the value.
    pub read: Read<R>,
    /// Changes the text for people, given the row and the default text: `~12` for an approximate count, `-` for a value that
    /// does not apply.
    pub adapt: Option<Adapt<R>>,
}

/// How to read a column from a row.
pub enum Read<R: ?Sized + 'static> {
    /// One value.
    Value(for<'r> fn(&'r R) -> Value<'r>),
    /// A list of texts.
    Texts(for<'r> fn(&'r R) -> &'r [String]),
    /// One text, the same in every row.
    Constant(&'static str),
    /// Rows inside the row, with columns of their own.
    Nested(&'static (dyn Nested<R> + Sync)),
}

/// See [`Column::adapt`].
pub type Adapt<R> = fn(&R, String) -> String;

impl<R: ?Sized> Clone for Read<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Read<R> {}

// Derived implementations would require the same traits of the row type.
impl<R: ?Sized> Clone for Column<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for Column<R> {}

impl<R: ?Sized> Column<R> {
    /// A column for files only: CSV, JSON and Parquet.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        about: &'static str,
        value: for<'r> fn(&'r R) -> Value<'r>,
    ) -> Self {
        Column {
            field: Field::new(name, kind, about),
            read: Read::Value(value),
            adapt: None,
        }
    }

    /// The first member of a document, `schema`: the only one of `names` is the name of the format and its version.
    pub const fn format(names: &'static [&'static str; 1]) -> Self {
        let about = "Name and version of this format.";
        Column {
            field: Field::new("schema", Kind::Choice(names), about),
            read: Read::Constant(names[0]),
            adapt: None,
        }
    }

    /// A list of texts, for files only.
    pub const fn texts(
        name: &'static str,
        about: &'static str,
        texts: for<'r> fn(&'r R) -> &'r [String],
    ) -> Self {
        Column {
            field: Field::new(name, Kind::List(Element::Text), about),
            read: Read::Texts(texts),
            adapt: None,
        }
    }

    /// Rows inside the row: [`List`](crate::List), [`Object`](crate::Object), [`Part`](crate::Part)
    /// or [`Maybe`](crate::Maybe).
    pub const fn nested(
        name: &'static str,
        about: &'static str,
        rows: &'static (dyn Nested<R> + Sync),
    ) -> Self {
        Column {
            field: Field::new(name, Kind::Nested, about),
            read: Read::Nested(rows),
            adapt: None,
        }
    }

    /// Also shows the column in tables for people, under `heading`. On a narrow terminal, columns with greater `rank`
    /// are dropped first; those of rank 0 always stay.
    pub const fn shown(mut self, heading: &'static str, rank: u8) -> Self {
        self.field = self.field.shown(heading, rank);
        self
    }

    /// As [`shown`](Column::shown), with a second heading above it that neighbouring columns share.
    pub const fn in_group(mut self, group: &'static str, heading: &'static str, rank: u8) -> Self {
        self.field = self.field.shown(heading, rank);
        self.field.group = group;
        self
    }

    /// A heading for pages that show columns which tables for people do not have.
    pub const fn headed(mut self, heading: &'static str) -> Self {
        self.field.heading = heading;
        self
    }

    /// Path in the JSON object, if it differs from the name: `recoveries.total`.
    pub const fn at(mut self, path: &'static str) -> Self {
        self.field = self.field.at(path);
        self
    }

    /// A unit that does not follow from the kind: `packets`, `Mbit/s`.
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.field.unit = unit;
        self
    }

    /// Allows rows without a value.
    pub const fn optional(mut self) -> Self {
        self.field.optional = true;
        self
    }

    /// Restricts the column to these files.
    pub const fn only(mut self, files: Files) -> Self {
        self.field.files = files;
        self
    }

    /// Changes the text for people; files are not affected.
    pub const fn adapted(mut self, adapt: Adapt<R>) -> Self {
        self.adapt = Some(adapt);
        self
    }

    /// True if tables for people have it.
    pub const fn is_shown(&self) -> bool {
        matches!(self.field.rank, Rank::Shown(_))
    }
}

/// The interface of a column that every output uses. Writers take a slice of any implementation: [`Column`]s as
/// declared in the code, or the [`Boxed`] ones of a [`Sheet`](crate::Sheet).
pub trait AnyColumn<R: ?Sized> {
    /// Its description.
    fn field(&self) -> &Field<'_>;
    /// Its value in `row`; absent if it is nested.
    fn value<'r>(&self, row: &'r R) -> Value<'r>;
    /// The text for people of `value`.
    fn people(&self, row: &R, value: &Value<'_>) -> String;
    /// The rows inside the row, if the column is nested.
    fn rows(&self) -> Option<&dyn Nested<R>>;
}

impl<R: ?Sized> AnyColumn<R> for Column<R> {
    fn field(&self) -> &Field<'_> {
        &self.field
    }

    fn value<'r>(&self, row: &'r R) -> Value<'r> {
        match self.read {
            Read::Value(value) => value(row),
            Read::Texts(texts) => Value::List(texts(row).iter().map(Value::from).collect()),
            Read::Constant(text) => text.into(),
            Read::Nested(_) => Value::Absent,
        }
    }

    fn people(&self, row: &R, value: &Value<'_>) -> String {
        let text = people(self.field.kind, value);
        match self.adapt {
            Some(adapt) => adapt(row, text),
            None => text,
        }
    }

    fn rows(&self) -> Option<&dyn Nested<R>> {
        match self.read {
            Read::Nested(rows) => Some(rows),
            Read::Value(_) | Read::Texts(_) | Read::Constant(_) => None,
        }
    }
}

/// Rows inside a row, with their own columns.
///
/// [`List`](crate::List), [`Map`](crate::Map), [`Object`](crate::Object), [`Part`](crate::Part) and
/// [`Maybe`](crate::Maybe) cover most cases. Implement this trait for rows that are created while writing (an event
/// together with the name of its flow).
pub trait Nested<R: ?Sized> {
    /// The JSON Schema of the nested rows.
    fn schema(&self) -> Schema;

    /// True if JSON, too, has the columns beside the outer ones, as for a [`Part`](crate::Part).
    fn is_part(&self) -> bool {
        false
    }

    /// Writes the rows inside `row`.
    ///
    /// # Errors
    /// If the output cannot be written.
    fn write(&self, row: &R, json: &mut Json<'_>) -> io::Result<()>;

    /// The columns as if they were columns of the outer row, for CSV, Parquet and tables; none for a list, because
    /// one cell cannot hold it.
    fn flat<'c>(&'c self) -> Vec<Boxed<'c, R>>
    where
        R: 'c,
    {
        Vec::new()
    }
}

/// A column of any kind.
pub type Boxed<'c, R> = Box<dyn AnyColumn<R> + 'c>;

/// Delegates to the referenced column.
macro_rules! delegate {
    ($($type:ty),+) => {$(
        impl<'c, R: ?Sized + 'c, M: AnyColumn<R> + ?Sized> AnyColumn<R> for $type {
            fn field(&self) -> &Field<'_> {
                (**self).field()
            }

            fn value<'r>(&self, row: &'r R) -> Value<'r> {
                (**self).value(row)
            }

            fn people(&self, row: &R, value: &Value<'_>) -> String {
                (**self).people(row, value)
            }

            fn rows(&self) -> Option<&dyn Nested<R>> {
                (**self).rows()
            }
        }
    )+};
}

delegate!(&'c M, Box<M>);

/// Columns as in CSV, Parquet and tables: those of nested objects beside the others, without lists.
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
