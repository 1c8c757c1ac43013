//! Rows of text under headings.

use std::io::{self, Write};

use inorder_report::text::{self, Layout};
use inorder_report::{Field, Kind, Sheet};

/// One column of a [`Grid`].
pub struct Column {
    /// Heading shared with neighbours of the same group; empty for none.
    pub group: &'static str,
    /// Heading of this column.
    pub title: &'static str,
    /// Columns with a greater rank drop out first when the terminal is narrow; 0 never does.
    pub rank: u8,
}

/// Rows of text under headings.
pub struct Grid<'a> {
    columns: &'a [Column],
    rows: Vec<Vec<String>>,
}

impl<'a> Grid<'a> {
    /// An empty table.
    pub fn new(columns: &'a [Column]) -> Self {
        Grid {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row: one cell a column.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes headings and rows.
    pub fn write(
        &self,
        out: &mut dyn Write,
        indent: usize,
        width: Option<usize>,
        heading: (&str, &str),
    ) -> io::Result<()> {
        let mut sheet = Sheet::new();
        for (at, column) in self.columns.iter().enumerate() {
            let mut field =
                Field::new(column.title, Kind::Text, "").shown(column.title, column.rank);
            field.group = column.group;
            sheet = sheet.and(field, move |row: &Vec<String>| row[at].as_str().into());
        }
        let bold = !heading.0.is_empty();
        let layout = Layout::default().indent(indent).width(width).bold(bold);
        text::write(out, &sheet, &self.rows, &layout)
    }
}
