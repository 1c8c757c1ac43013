//! Text tables for people, on a terminal or in a pipe.

use std::borrow::Borrow;
use std::io::{self, Write};

use crate::column::{AnyColumn, Boxed, flat};
use crate::field::{Kind, Rank};
use crate::grid::Grid;
pub use crate::grid::Layout;
use crate::number::{bare_name, bare_unit};
use crate::value::Value;

/// Writes the columns that are shown to people, under their headings.
///
/// # Errors
/// If `out` cannot be written.
pub fn write<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    rows: impl IntoIterator<Item = impl Borrow<R>>,
    layout: &Layout,
) -> io::Result<()> {
    let columns = flat(columns);
    let shown = columns
        .iter()
        .filter_map(|column| match column.field().rank {
            Rank::Shown(rank) if rank <= layout.rank => Some((column, rank)),
            _ => None,
        });
    let mut grid = Grid::new();
    for (column, rank) in shown.clone() {
        let field = column.field();
        grid.column(field.group, field.heading, rank);
    }
    for row in rows {
        let row = row.borrow();
        let cells = shown.clone();
        grid.row(
            cells
                .map(|(column, _)| column.people(row, &column.value(row)))
                .collect(),
        );
    }
    grid.write(out, layout)
}

/// Writes one row with one line for each number: name, value and unit. Lists and nested rows are left out.
///
/// # Errors
/// If `out` cannot be written.
pub fn facts<R: ?Sized, M: AnyColumn<R>>(
    out: &mut dyn Write,
    columns: &[M],
    row: &R,
    layout: &Layout,
) -> io::Result<()> {
    let columns = flat(columns);
    let is_one = |column: &&Boxed<'_, R>| {
        let kind = column.field().kind;
        !matches!(kind, Kind::List(_) | Kind::Map(_) | Kind::Nested)
    };
    let lines: Vec<_> = columns
        .iter()
        .filter(is_one)
        .map(|c| fact(c, row))
        .collect();
    let widest = |of: fn(&Fact) -> &str| lines.iter().map(|l| of(l).chars().count()).max();
    let name = widest(|line| &line.0).unwrap_or(0);
    let value = widest(|line| &line.1).unwrap_or(0);
    let pad = " ".repeat(layout.indent);
    for (what, number, unit) in &lines {
        let line = format!("{pad}{what:<name$}  {number:>value$}  {unit}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Name, number and unit.
type Fact = (String, String, String);

fn fact<R: ?Sized>(column: &Boxed<'_, R>, row: &R) -> Fact {
    let field = column.field();
    let value = column.value(row);
    let unit = match (field.kind, &value) {
        // The text of a duration includes its unit.
        (Kind::Duration, _) | (_, Value::Absent) => "",
        _ => bare_unit(field),
    };
    (
        bare_name(field),
        column.people(row, &value),
        unit.to_owned(),
    )
}

/// Writes `text`, broken at spaces so that lines fit; lines after the first begin with `indent`.
///
/// # Errors
/// If `out` cannot be written.
pub fn paragraph(
    out: &mut dyn Write,
    text: &str,
    indent: &str,
    width: Option<usize>,
) -> io::Result<()> {
    let width = width.unwrap_or(100).max(20);
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > width {
            write!(out, "\n{indent}{word}")?;
            column = indent.len() + length;
        } else {
            let blank = if column > 0 { " " } else { "" };
            write!(out, "{blank}{word}")?;
            column += blank.len() + length;
        }
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Digits, Element};

    #[test]
    fn a_single_row_has_one_line_per_number() {
        static ROW: &[Column<u64>] = &[
            Column::new("packets", Kind::Count, "Itself.", |n: &u64| (*n).into()),
            Column::new("late_ratio", Kind::Share, "Half.", |_: &u64| 0.5.into()),
            Column::new("max_late_ms", Kind::Duration, "Time.", |n: &u64| {
                (*n).into()
            }),
            Column::new("runs", Kind::List(Element::Number), "List.", |n: &u64| {
                vec![*n].into()
            }),
            Column::new("mean", Kind::Number(Digits::Short), "None.", |_: &u64| {
                Value::Absent
            })
            .unit("packets")
            .optional(),
        ];
        let mut out = Vec::new();
        facts(&mut out, ROW, &1_200, &Layout::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "packets       1,200",
                "late ratio     50.0  %",
                "max late    1.20 µs",
                "mean              -",
            ]
        );
    }

    #[test]
    fn paragraphs_break_at_spaces() {
        let mut out = Vec::new();
        paragraph(&mut out, "aaaaaaaaaa bbbbbbbbbb cccccccccc", "  ", Some(22)).unwrap();
        assert_eq!(out, b"aaaaaaaaaa bbbbbbbbbb\n  cccccccccc\n");
    }
}
