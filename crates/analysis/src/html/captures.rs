//! Several captures: the table of them, and the folded part of each.

use std::io::{self, Write};

use inorder_report::Sheet;
use inorder_report::escape::Text;
use inorder_report::html::Table;
use inorder_report::number::count;

use crate::captures::{LINE, Line, by_severity};
use crate::model::Analysis;

/// Begins the footer of the table alone.
pub(super) const NOTE: &str = "Each capture has a page of its own, in the folder beside this one.";

/// Title of a page of several captures.
pub(super) fn title(captures: usize) -> String {
    format!("Packet order in {} captures", count(captures as u64))
}

/// A line with the address of what there is of the capture.
struct Linked<'a> {
    line: &'a Line,
    address: String,
}

/// Writes the table, the most severe first; `address` returns the address for a place in `lines`.
pub(super) fn table(
    out: &mut dyn Write,
    lines: &[Line],
    address: impl Fn(usize) -> String,
) -> io::Result<()> {
    let place = |line: &Line| {
        let mut all = lines.iter();
        all.position(|other| std::ptr::eq(other, line)).unwrap_or(0)
    };
    let rows = by_severity(lines).into_iter().map(|line| Linked {
        line,
        address: address(place(line)),
    });
    let columns = Sheet::new().with(LINE, |row: &Linked<'_>| row.line);
    let troubled = lines.iter().filter(|line| line.is_troubled()).count();
    writeln!(
        out,
        "<p class=dim>{} of {} have trouble, the most severe first.</p>\n\
         <div class=\"card scroll captures names\" tabindex=0 role=region aria-label=\"Captures\">",
        count(troubled as u64),
        count(lines.len() as u64)
    )?;
    Table::new(&columns)
        .class(|row| if row.line.is_troubled() { "" } else { "quiet" })
        .link(|row| Some(row.address.clone()))
        .write(out, rows)?;
    writeln!(out, "</div>")
}

/// Begins the folded part of a capture.
pub(super) fn begin(out: &mut dyn Write, number: usize, analysis: &Analysis) -> io::Result<()> {
    writeln!(
        out,
        "<details class=capture id=capture-{number}><summary><h2 class=mono>{}</h2></summary>",
        Text(&analysis.file)
    )
}
