//! Tables of a page, made from the same columns as all other outputs.

use std::borrow::Borrow;
use std::io::{self, Write};

use crate::column::flat;
use crate::column::{AnyColumn, Boxed};
use crate::escape::Text;
use crate::field::Rank;
use crate::value::Value;

/// A table that can be sorted by its headings; it has the columns that are shown to people.
///
/// ```
/// use inorder_report::{Column, Kind, html};
///
/// static ROWS: &[Column<u64>] =
///     &[Column::new("packets", Kind::Count, "Packets.", |n: &u64| (*n).into()).shown("packets", 0)];
/// let mut out = Vec::new();
/// html::Table::new(ROWS).write(&mut out, [1_200_u64])?;
/// let page = String::from_utf8_lossy(&out);
/// assert!(page.contains("<td data-v=\"1200\">1,200</td>"), "{page}");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Table<'t, R: ?Sized> {
    columns: Vec<Boxed<'t, R>>,
    most: usize,
    class: Box<ClassOf<'t, R>>,
    link: Box<LinkOf<'t, R>>,
    plain: bool,
}

type ClassOf<'t, R> = dyn Fn(&R) -> &'static str + 't;
type LinkOf<'t, R> = dyn Fn(&R) -> Option<String> + 't;

impl<'t, R: ?Sized + 't> Table<'t, R> {
    /// Creates a table with those of the columns that are shown to people.
    pub fn new<M: AnyColumn<R>>(columns: &'t [M]) -> Self {
        let mut columns = flat(columns);
        columns.retain(|column| column.field().rank != Rank::Hidden);
        Table {
            columns,
            most: usize::MAX,
            class: Box::new(|_| ""),
            link: Box::new(|_| None),
            plain: false,
        }
    }

    /// Leaves out columns with greater ranks.
    #[must_use]
    pub fn up_to(mut self, rank: u8) -> Self {
        self.columns
            .retain(|column| matches!(column.field().rank, Rank::Shown(r) if r <= rank));
        self
    }

    /// Leaves out what sorting needs: a table of few rows in their natural order is half as large without it.
    #[must_use]
    pub fn plain(mut self) -> Self {
        self.plain = true;
        self
    }

    /// Limits the number of rows.
    #[must_use]
    pub fn at_most(mut self, rows: usize) -> Self {
        self.most = rows;
        self
    }

    /// Gives each row the CSS class that `class` returns; empty for none.
    #[must_use]
    pub fn class(mut self, class: impl Fn(&R) -> &'static str + 't) -> Self {
        self.class = Box::new(class);
        self
    }

    /// Makes the first cell a link to the address that `link` returns, if it returns one: `#section`, `page.html`.
    #[must_use]
    pub fn link(mut self, link: impl Fn(&R) -> Option<String> + 't) -> Self {
        self.link = Box::new(link);
        self
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(
        &self,
        out: &mut dyn Write,
        rows: impl IntoIterator<Item = impl Borrow<R>>,
    ) -> io::Result<()> {
        writeln!(out, "<table><thead>")?;
        self.groups(out)?;
        write!(out, "<tr>")?;
        for column in &self.columns {
            let field = column.field();
            let (about, heading) = (Text(field.about), Text(field.heading));
            if self.plain {
                write!(out, "<th scope=col>{heading}</th>")?;
                continue;
            }
            write!(
                out,
                "<th scope=col title=\"{about}\"><button type=button>{heading}</button></th>"
            )?;
        }
        writeln!(out, "</tr></thead><tbody>")?;
        for row in rows.into_iter().take(self.most) {
            self.row(out, row.borrow())?;
        }
        writeln!(out, "</tbody></table>")
    }

    /// The headings shared by neighbouring columns.
    fn groups(&self, out: &mut dyn Write) -> io::Result<()> {
        let groups: Vec<&str> = self.columns.iter().map(|c| c.field().group).collect();
        if groups.iter().all(|group| group.is_empty()) {
            return Ok(());
        }
        write!(out, "<tr class=groups>")?;
        for same in groups.chunk_by(|a, b| a == b) {
            let group = Text(same.first().copied().unwrap_or_default());
            match group.0 {
                "" => write!(out, "<td colspan={}></td>", same.len())?,
                _ => write!(
                    out,
                    "<th scope=colgroup colspan={}>{group}</th>",
                    same.len()
                )?,
            }
        }
        writeln!(out, "</tr>")
    }

    fn row(&self, out: &mut dyn Write, row: &R) -> io::Result<()> {
        match (self.class)(row) {
            "" => write!(out, "<tr>")?,
            class => write!(out, "<tr class={class}>")?,
        }
        for (at, column) in self.columns.iter().enumerate() {
            let value = column.value(row);
            let text = column.people(row, &value);
            let text = Text(&text);
            let link = (self.link)(row).filter(|_| at == 0);
            match (link, value.number(), &value) {
                (Some(to), ..) => write!(out, "<td><a href=\"{}\">{text}</a></td>", Text(&to))?,
                (None, ..) if self.plain => write!(out, "<td>{text}</td>")?,
                // The script reads plain numbers itself; pages of many rows are a quarter smaller for it.
                (_, Some(number), _) if text.0 == number.to_string() => {
                    write!(out, "<td>{text}</td>")?;
                }
                (_, Some(number), _) => write!(out, "<td data-v=\"{number}\">{text}</td>")?,
                (_, _, Value::Absent) => write!(out, "<td data-v=\"-1\">{text}</td>")?,
                _ => write!(out, "<td>{text}</td>")?,
            }
        }
        writeln!(out, "</tr>")
    }
}
