//! The reference of the language, made from the lists that the parser uses.

use std::io::{self, Write};

use inorder_petri::net::family::FAMILIES;

use crate::units;
use crate::words::{Entry, FUNCTIONS, LINES_OF_TRANSITION, MEASURES, NAMES, RANDOM, STATEMENTS};

/// What is said before the lists.
const INTRODUCTION: &str = include_str!("reference.md");

/// Writes the reference of the language in Markdown: an introduction, then statements, lines of transitions, functions,
/// measures, units.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_reference(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(INTRODUCTION.as_bytes())?;
    list(out, "Statements", STATEMENTS)?;
    list(out, "Lines of a transition", LINES_OF_TRANSITION)?;
    list(out, "Functions", FUNCTIONS)?;
    list(out, "Random functions", RANDOM)?;
    for family in FAMILIES {
        let parameters = family.parameters.join(", ").to_uppercase();
        writeln!(out, "`{}({parameters})`\\", family.name)?;
        writeln!(
            out,
            "The family of plain nets; its parameters are constants.\n"
        )?;
    }
    list(out, "Measures", MEASURES)?;
    list(out, "Names with a value", NAMES)?;
    writeln!(out, "## Units\n")?;
    for (unit, dim) in units::names() {
        writeln!(out, "- `{unit}`: of {dim}")?;
    }
    writeln!(
        out,
        "\nThe unit of the clock is one, too, and its plural with s. A unit stands behind a number (`5 us`, `10 Gbit/s`) or \
         alone, for 1 of it (`n * byte`)."
    )
}

fn list(out: &mut dyn Write, title: &str, entries: &[Entry]) -> io::Result<()> {
    writeln!(out, "## {title}\n")?;
    for entry in entries {
        for form in entry.form.lines() {
            writeln!(out, "`{form}`\\")?;
        }
        writeln!(out, "{}\n", entry.about)?;
    }
    Ok(())
}
