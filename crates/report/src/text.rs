//! Tables of text for people, on a terminal or in a pipe.

use std::borrow::Borrow;
use std::io::{self, Write};

use crate::column::AnyColumn;
use crate::column::flat;
use crate::field::Rank;
use crate::grid::Grid;
pub use crate::grid::Layout;

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
            Rank::Shown(rank) => Some((column, rank)),
            Rank::Hidden => None,
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

/// Writes `text` broken at blanks so that lines fit; lines after the first begin with `indent`.
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

    #[test]
    fn paragraphs_break_at_blanks() {
        let mut out = Vec::new();
        paragraph(&mut out, "aaaaaaaaaa bbbbbbbbbb cccccccccc", "  ", Some(22)).unwrap();
        assert_eq!(out, b"aaaaaaaaaa bbbbbbbbbb\n  cccccccccc\n");
    }
}
