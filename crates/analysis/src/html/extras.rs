//! The parts of the page that are not about single flows: warnings, the comparison with the other end, skipped frames.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::table::{peer_columns, peer_rows, peer_text};
use inorder_report::escape::Text;
use inorder_report::html::Table;
use inorder_report::number::count;

/// Warnings, each in a box.
pub(super) fn warnings(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    for warning in &analysis.warnings {
        writeln!(out, "<div class=\"card warning\">{}</div>", Text(warning))?;
    }
    Ok(())
}

/// The comparison with the other end.
pub(super) fn peer(out: &mut dyn Write, level: usize, analysis: &Analysis) -> io::Result<()> {
    let Some(peer) = &analysis.peer else {
        return Ok(());
    };
    writeln!(
        out,
        "<h{level}>Against the other end</h{level}>\n<p>{}</p>",
        Text(&peer_text(peer))
    )?;
    writeln!(
        out,
        "<div class=\"card scroll\" tabindex=0 role=region aria-label=\"Against the other end\">"
    )?;
    Table::new(&peer_columns()).write(out, peer_rows(peer))?;
    writeln!(out, "</div>")
}

/// Frames that could not be analysed, by reason.
pub(super) fn skipped(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    if analysis.skipped.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = analysis
        .skipped
        .iter()
        .map(|(reason, n)| format!("{} {reason}", count(*n)))
        .collect();
    writeln!(
        out,
        "<p class=dim>Frames not used: {}.</p>",
        Text(&reasons.join(", "))
    )
}
