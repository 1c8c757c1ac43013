//! JSON for programs, streamed to the output and not collected in memory.
//!
//! Times of day are integers, nanoseconds since the Unix epoch (`*_ns`): read them with 64 bits. Durations are
//! milliseconds (`*_ms`). Missing values are `null`.

use std::borrow::Borrow;
use std::io::{self, Write};

use crate::column::AnyColumn;
use crate::field::{Field, Kind};
use crate::value::Value;

/// Writes one object and a line feed: a document whose members are the columns of `row`. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    row: &R,
) -> io::Result<()> {
    Json::new(out).object(columns, row)?;
    writeln!(out)
}

/// Writes an array of objects, one for each row, and a line feed. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_rows<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
) -> io::Result<()> {
    Json::new(out).array(columns, rows)?;
    writeln!(out)
}

/// Where JSON has the value that CSV has under `name`: the members that lead to it, from the object of the row
/// inwards. `None` if JSON does not have it.
///
/// ```
/// use inorder_report::{Column, Kind, json};
///
/// static ROW: &[Column<u64>] =
///     &[Column::new("retransmissions", Kind::Count, "Segments sent again.", |n: &u64| (*n).into())
///         .at("retransmissions.total")];
/// assert_eq!(json::path(ROW, "retransmissions").unwrap(), ["retransmissions", "total"]);
/// assert_eq!(json::path(ROW, "spurious"), None);
/// ```
pub fn path<R: ?Sized, M: AnyColumn<R>>(columns: &[M], name: &str) -> Option<Vec<String>> {
    let within = |field: &Field<'_>| {
        let members = objects(field).into_iter().chain([field.member]);
        members.map(str::to_owned).collect::<Vec<_>>()
    };
    columns.iter().find_map(|column| {
        let field = column.field();
        if !field.files.is_json(false) {
            return None;
        }
        let Some(rows) = column.rows() else {
            return (field.name == name).then(|| within(field));
        };
        let inner = path(&rows.flat(), name)?;
        let outer = match rows.is_part() {
            true => Vec::new(),
            false => within(field),
        };
        Some(outer.into_iter().chain(inner).collect())
    })
}

/// A writer of JSON values.
pub struct Json<'w> {
    out: &'w mut dyn Write,
    details: bool,
}

impl<'w> Json<'w> {
    /// Writes to `out`, without the columns that are details.
    pub fn new(out: &'w mut dyn Write) -> Self {
        Json {
            out,
            details: false,
        }
    }

    /// Includes the columns that are [details](crate::Files::JsonDetails) if `details` is true.
    #[must_use]
    pub fn with_details(mut self, details: bool) -> Self {
        self.details = details;
        self
    }

    /// Writes an object with one member for each column; columns with a dotted path become members of inner objects.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn object<R: ?Sized, M: AnyColumn<R>>(&mut self, columns: &[M], row: &R) -> io::Result<()> {
        let mut place = Place::default();
        self.out.write_all(b"{")?;
        for column in columns {
            self.members(column, row, &mut place)?;
        }
        for _ in 0..=place.open.len() {
            self.out.write_all(b"}")?;
        }
        Ok(())
    }

    /// Writes the member of a column, or the members of a part.
    fn members<R: ?Sized, M: AnyColumn<R>>(
        &mut self,
        column: &M,
        row: &R,
        place: &mut Place,
    ) -> io::Result<()> {
        let field = column.field();
        if !field.files.is_json(self.details) {
            return Ok(());
        }
        let rows = column.rows();
        if let Some(part) = rows.filter(|rows| rows.is_part()) {
            let columns = part.flat();
            return columns.iter().try_for_each(|c| self.members(c, row, place));
        }
        self.enter(field, place)?;
        self.key(field.member, place.comma)?;
        place.comma = true;
        match rows {
            Some(rows) => rows.write(row, self),
            None => self.value(field.kind, &column.value(row)),
        }
    }

    /// Closes and opens inner objects until the member of `field` can be written.
    fn enter(&mut self, field: &Field<'_>, place: &mut Place) -> io::Result<()> {
        let objects = objects(field);
        let same = place
            .open
            .iter()
            .zip(&objects)
            .take_while(|(a, b)| a == b)
            .count();
        for _ in same..place.open.len() {
            self.out.write_all(b"}")?;
            place.comma = true;
        }
        place.open.truncate(same);
        for object in &objects[same..] {
            self.key(object, place.comma)?;
            self.out.write_all(b"{")?;
            place.comma = false;
            place.open.push((*object).to_owned());
        }
        Ok(())
    }

    /// Writes an array of objects.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn array<R: ?Sized, M: AnyColumn<R>>(
        &mut self,
        columns: &[M],
        rows: impl IntoIterator<Item = impl Borrow<R>>,
    ) -> io::Result<()> {
        self.out.write_all(b"[")?;
        for (at, row) in rows.into_iter().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            self.object(columns, row.borrow())?;
        }
        self.out.write_all(b"]")
    }

    /// Writes an object of objects, each under its name.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn named<'n, R: ?Sized, M: AnyColumn<R>>(
        &mut self,
        columns: &[M],
        rows: impl IntoIterator<Item = (&'n str, impl Borrow<R>)>,
    ) -> io::Result<()> {
        self.out.write_all(b"{")?;
        for (at, (name, row)) in rows.into_iter().enumerate() {
            self.key(name, at > 0)?;
            self.object(columns, row.borrow())?;
        }
        self.out.write_all(b"}")
    }

    /// Writes `null`.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn null(&mut self) -> io::Result<()> {
        self.out.write_all(b"null")
    }

    /// Writes a value of a column of this kind.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn value(&mut self, kind: Kind, value: &Value<'_>) -> io::Result<()> {
        match kind.in_files(value) {
            Value::Absent => self.null(),
            Value::Flag(flag) => write!(self.out, "{flag}"),
            Value::Count(n) => write!(self.out, "{n}"),
            Value::Integer(n) => write!(self.out, "{n}"),
            // JSON has no numbers that are not finite, so they become null.
            Value::Number(x) => Ok(serde_json::to_writer(&mut *self.out, &x)?),
            Value::Text(text) => Ok(serde_json::to_writer(&mut *self.out, &text)?),
            Value::List(values) if matches!(kind, Kind::Map(_)) => self.map(kind, &values),
            Value::List(values) => {
                self.out.write_all(b"[")?;
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        self.out.write_all(b",")?;
                    }
                    self.value(kind, value)?;
                }
                self.out.write_all(b"]")
            }
        }
    }

    /// Writes pairs of name and value as an object.
    fn map(&mut self, kind: Kind, pairs: &[Value<'_>]) -> io::Result<()> {
        self.out.write_all(b"{")?;
        for (at, pair) in pairs.iter().enumerate() {
            if let Value::List(pair) = pair
                && let [name, value] = pair.as_slice()
            {
                self.key(&name.plain(), at > 0)?;
                self.value(kind, value)?;
            }
        }
        self.out.write_all(b"}")
    }

    fn key(&mut self, name: &str, comma: bool) -> io::Result<()> {
        if comma {
            self.out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *self.out, name)?;
        self.out.write_all(b":")
    }
}

/// The position of the writer within an object.
#[derive(Default)]
struct Place {
    /// The inner objects that are open, the outermost first.
    open: Vec<String>,
    /// True if a member has been written before.
    comma: bool,
}

/// The objects that contain a member, the outermost first.
pub(crate) fn objects<'f>(field: &Field<'f>) -> Vec<&'f str> {
    field
        .object
        .split('.')
        .filter(|name| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Element, Files};

    static ROW: &[Column<u64>] = &[
        Column::new("a", Kind::Count, "Itself.", |n| (*n).into()),
        Column::new("b", Kind::Count, "Twice.", |n: &u64| (n * 2).into()).at("x.b"),
        Column::new(
            "c",
            Kind::Number(crate::Digits::Short),
            "None.",
            |_: &u64| f64::NAN.into(),
        )
        .at("x.y.c")
        .optional(),
        Column::new("d", Kind::Text, "Text.", |_: &u64| "\"\n".into()).at("x.d"),
        Column::new("e", Kind::List(Element::Pair), "Pairs.", |n: &u64| {
            vec![(*n, 0.5)].into()
        })
        .only(Files::JsonDetails),
        Column::new("f", Kind::Flag, "Only flat.", |_: &u64| true.into()).only(Files::Flat),
    ];

    fn text(details: bool) -> String {
        let mut out = Vec::new();
        let mut json = Json::new(&mut out).with_details(details);
        json.array(ROW, [1_u64, 2]).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_are_in_the_objects_of_their_paths() {
        assert_eq!(
            text(false),
            r#"[{"a":1,"x":{"b":2,"y":{"c":null},"d":"\"\n"}},{"a":2,"x":{"b":4,"y":{"c":null},"d":"\"\n"}}]"#
        );
    }

    #[test]
    fn details_are_written_on_demand() {
        assert!(!text(false).contains("\"e\""));
        assert!(text(true).contains(r#""e":[[1,0.5]]"#));
        let value: serde_json::Value = serde_json::from_str(&text(true)).unwrap();
        assert_eq!(value[1]["e"][0][0], 2);
    }
}
