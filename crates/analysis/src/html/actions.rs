//! What it cost, and what to do.

use std::io::{self, Write};

use inorder_report::escape::Text;

use crate::cure::{Action, Cure};
use crate::headline::Headline;
use crate::model::Analysis;
use crate::table::{cost_sentences, expected};

/// Actions that are not folded.
const MAX_ACTIONS_SHOWN: usize = 3;

/// Writes both parts, each only if there is something to say.
pub(super) fn write(
    out: &mut dyn Write,
    level: usize,
    said: &Headline,
    analysis: &Analysis,
) -> io::Result<()> {
    let cost = cost_sentences(analysis);
    let cure = Cure::beside(said, analysis);
    if cost.is_empty() && cure.actions.is_empty() && cure.none.is_none() {
        return Ok(());
    }
    writeln!(out, "<div class=\"card actions\">")?;
    if !cost.is_empty() {
        let cost = cost.join(" ");
        writeln!(
            out,
            "<h{level}>What it cost</h{level}>\n<p>{}</p>",
            Text(&cost)
        )?;
    }
    writeln!(out, "<h{level}>What to do</h{level}>")?;
    if let Some(none) = &cure.none {
        writeln!(out, "<p>{}</p>", Text(&none.text))?;
    }
    let (first, others) = cure
        .actions
        .split_at(cure.actions.len().min(MAX_ACTIONS_SHOWN));
    list(out, first, 1)?;
    if !others.is_empty() {
        writeln!(
            out,
            "<details class=folded><summary>Further actions</summary>"
        )?;
        list(out, others, 1 + MAX_ACTIONS_SHOWN)?;
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</div>")
}

fn list(out: &mut dyn Write, actions: &[Action], start: usize) -> io::Result<()> {
    if actions.is_empty() {
        return Ok(());
    }
    writeln!(out, "<ol start={start}>")?;
    for action in actions {
        writeln!(
            out,
            "<li><b>{}</b> {}",
            Text(&action.advice),
            Text(&expected(action))
        )?;
        if !action.commands.is_empty() {
            let commands = action.commands.join("\n");
            writeln!(
                out,
                "<pre tabindex=0 role=group aria-label=\"Commands\">{}</pre>",
                Text(&commands)
            )?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ol>")
}
