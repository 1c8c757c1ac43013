//! CSV for spreadsheets (RFC 4180, lines end in a plain line feed).
//!
//! The first line has the column names as in JSON, without the names of inner objects. Lists and nested rows are left
//! out. A missing value is an empty cell.

use std::borrow::Borrow;
use std::io::{self, Write};

use crate::column::{AnyColumn, Boxed, flat};
use crate::escape;
use crate::field::Kind;
use crate::value::Value;

/// Writes a line of names and one line for each row. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
) -> io::Result<()> {
    let columns = in_files(columns);
    let names = columns.iter().map(|column| column.field().name);
    let names: Vec<_> = names.map(escape::csv).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in rows {
        line(out, &columns, row.borrow())?;
    }
    Ok(())
}

/// Writes one row as lines of `metric,key,value`. A single value has no key, list elements have the keys 1, 2, ...,
/// map entries have their names. `out` should be buffered.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_long<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    row: &R,
) -> io::Result<()> {
    writeln!(out, "metric,key,value")?;
    for column in columns.iter().filter(|column| column.rows().is_none()) {
        let field = column.field();
        let mut line = |key: &str, value: &Value<'_>| {
            write!(out, "{},{},", escape::csv(field.name), escape::csv(key))?;
            cell(out, field.kind, value)?;
            writeln!(out)
        };
        match (field.kind, column.value(row)) {
            (Kind::Map(_), Value::List(pairs)) => {
                for pair in &pairs {
                    if let Value::List(pair) = pair
                        && let [name, value] = pair.as_slice()
                    {
                        line(&name.plain(), value)?;
                    }
                }
            }
            (_, Value::List(values)) => {
                for (number, value) in (1_u64..).zip(&values) {
                    line(&number.to_string(), value)?;
                }
            }
            (_, value) => line("", &value)?,
        }
    }
    Ok(())
}

/// The values of a row as `name=value, name=value`, without those that are missing: a line of text that people and
/// programs can read.
pub fn named<R: ?Sized, M: AnyColumn<R>>(columns: &[M], row: &R) -> String {
    let mut out = Vec::new();
    for column in in_files(columns) {
        let field = column.field();
        let value = column.value(row);
        if value == Value::Absent {
            continue;
        }
        out.extend(if out.is_empty() { "" } else { ", " }.bytes());
        out.extend(field.name.bytes().chain(*b"="));
        // Writing to memory cannot fail.
        let _ = cell(&mut out, field.kind, &value);
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn line<R: ?Sized>(out: &mut dyn Write, columns: &[Boxed<'_, R>], row: &R) -> io::Result<()> {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            write!(out, ",")?;
        }
        cell(out, column.field().kind, &column.value(row))?;
    }
    writeln!(out)
}

fn cell(out: &mut dyn Write, kind: Kind, value: &Value<'_>) -> io::Result<()> {
    match kind.in_files(value) {
        Value::Absent | Value::List(_) => Ok(()),
        Value::Flag(flag) => write!(out, "{flag}"),
        Value::Count(n) => write!(out, "{n}"),
        Value::Integer(n) => write!(out, "{n}"),
        Value::Number(x) if x.is_finite() => write!(out, "{x}"),
        Value::Number(_) => Ok(()),
        Value::Text(text) => write!(out, "{}", escape::csv(&text)),
    }
}

/// The columns that are in CSV and Parquet: those of nested objects beside the others, without lists.
pub fn in_files<'c, R: ?Sized + 'c, M: AnyColumn<R>>(columns: &'c [M]) -> Vec<Boxed<'c, R>> {
    let mut columns = flat(columns);
    columns.retain(|column| column.field().files.is_flat());
    columns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Element, Field, List, Object, Sheet};

    struct Inner {
        n: u64,
    }

    struct Row {
        text: &'static str,
        at_ns: i64,
        late_ns: Option<f64>,
        inner: Inner,
        list: Vec<Inner>,
    }

    static INNER: &[Column<Inner>] =
        &[Column::new("n", Kind::Count, "A number.", |i: &Inner| i.n.into()).at("n")];
    static ROW: &[Column<Row>] = &[
        Column::new("text", Kind::Text, "A text.", |r| r.text.into()),
        Column::new("at_ns", Kind::Instant, "A time.", |r| r.at_ns.into()),
        Column::new("late_ms", Kind::Duration, "A duration.", |r: &Row| {
            r.late_ns.into()
        })
        .optional(),
        Column::nested(
            "inner",
            "An object.",
            &Object {
                columns: INNER,
                of: |r: &Row| &r.inner,
            },
        ),
        Column::nested(
            "list",
            "A list.",
            &List {
                columns: INNER,
                of: |r: &Row| &r.list,
            },
        ),
    ];

    fn row() -> Row {
        Row {
            text: "a,b",
            at_ns: 1_700_000_000_000_000_001,
            late_ns: Some(12_400_000.0),
            inner: Inner { n: 7 },
            list: vec![Inner { n: 8 }],
        }
    }

    #[test]
    fn objects_are_flat_and_lists_left_out() {
        let mut out = Vec::new();
        let none = Row {
            late_ns: None,
            ..row()
        };
        write(&mut out, ROW, [row(), none]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "text,at_ns,late_ms,n\n\
             \"a,b\",1700000000000000001,12.4,7\n\
             \"a,b\",1700000000000000001,,7\n"
        );
    }

    #[test]
    fn the_long_form_has_one_line_per_value() {
        static MANY: &[Column<u64>] = &[
            Column::new("n", Kind::Count, "Itself.", |n| (*n).into()),
            Column::new("none", Kind::Count, "None.", |_| Value::Absent).optional(),
            Column::new("list", Kind::List(Element::Number), "Twice.", |n| {
                vec![*n, *n].into()
            }),
            Column::new(
                "map",
                Kind::Map(Element::Number),
                "By number.",
                |n: &u64| vec![(-1_i64, *n)].into(),
            ),
        ];
        let mut out = Vec::new();
        write_long(&mut out, MANY, &7).unwrap();
        assert_eq!(
            out,
            b"metric,key,value\nn,,7\nnone,,\nlist,1,7\nlist,2,7\nmap,-1,7\n"
        );
    }

    #[test]
    fn a_part_of_a_row_keeps_its_objects() {
        let sheet = Sheet::new()
            .and(
                Field::new("run", Kind::Count, "Number."),
                |r: &(u64, Row)| r.0.into(),
            )
            .with(ROW, |r| &r.1)
            .keep(|field| field.name != "at_ns");
        let mut out = Vec::new();
        write(&mut out, &sheet, [(3, row())]).unwrap();
        assert_eq!(out, b"run,text,late_ms,n\n3,\"a,b\",12.4,7\n");
    }
}
