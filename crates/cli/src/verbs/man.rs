//! `inorder man`: manual pages, generated from the definition of the command line.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::error::{CliError, ExitCode, Outcome};
use crate::outputs;

/// Options of `inorder man`.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  inorder man | man -l -\n  inorder man ~/.local/share/man/man1"
)]
pub(crate) struct Args {
    /// Write inorder.1 and one page for each verb into this folder instead of printing inorder.1
    dir: Option<PathBuf>,
}

/// Prints or writes the pages of `command`.
pub(super) fn run(args: &Args, mut command: clap::Command) -> Outcome {
    command.build();
    match &args.dir {
        None => io::stdout().write_all(&page(&command, None)?)?,
        Some(dir) => write_all(&command, dir)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_all(command: &clap::Command, dir: &Path) -> Result<(), CliError> {
    outputs::directory(dir)?;
    write_with_verbs(command, "inorder", None, dir)
}

/// The page of a command and those of the verbs below it.
fn write_with_verbs(
    command: &clap::Command,
    name: &str,
    above: Option<&str>,
    dir: &Path,
) -> Result<(), CliError> {
    let page = page(command, above)?;
    outputs::to_file(&dir.join(format!("{name}.1")), |out| out.write_all(&page))?;
    let verbs = command.get_subcommands();
    for verb in verbs.filter(|verb| verb.get_name() != "help") {
        let below = format!("{name}-{}", verb.get_name());
        write_with_verbs(verb, &below, Some(name), dir)?;
    }
    Ok(())
}

/// The page of a command; `above` is the name of the page of the command that it belongs to.
fn page(command: &clap::Command, above: Option<&str>) -> io::Result<Vec<u8>> {
    // Without a date, so that pages of the same version are the same. The library leaves an empty argument out.
    let man = Man::new(command.clone())
        .date("\"\"")
        .source(concat!("inorder ", env!("CARGO_PKG_VERSION")))
        .manual("Manual of inorder");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let help = command.get_after_help().map(ToString::to_string);
    let parts = Parts::of(help.as_deref().unwrap_or_default());
    section(&mut page, "NOTES", &parts.notes)?;
    section(&mut page, "EXIT STATUS", parts.exit)?;
    section(&mut page, "EXAMPLES", parts.examples)?;
    let also = above.map(|name| format!("{name}(1)"));
    section(&mut page, "SEE ALSO", &also.unwrap_or_default())?;
    Ok(page)
}

/// What stands behind the options of a verb's help.
#[derive(Default)]
struct Parts<'a> {
    notes: String,
    exit: &'a str,
    examples: &'a str,
}

impl<'a> Parts<'a> {
    /// The paragraphs of `help` by how they begin.
    fn of(help: &'a str) -> Self {
        let mut parts = Parts::default();
        for paragraph in help.split("\n\n") {
            if let Some(examples) = paragraph.strip_prefix("Examples:\n") {
                parts.examples = examples;
            } else if let Some(exit) = paragraph.strip_prefix("Exit codes: ") {
                parts.exit = exit;
            } else {
                let gap = if parts.notes.is_empty() { "" } else { "\n\n" };
                parts.notes = parts.notes + gap + paragraph;
            }
        }
        parts
    }
}

/// Appends a section, unless it is empty. Indented lines stay as they are.
fn section(page: &mut Vec<u8>, title: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    let mut is_kept = false;
    for line in text.lines() {
        if line.starts_with(' ') != is_kept {
            is_kept = !is_kept;
            roff.control(if is_kept { "nf" } else { "fi" }, []);
        }
        roff.text([roman(line)]);
    }
    if is_kept {
        roff.control("fi", []);
    }
    roff.to_writer(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_options_becomes_sections() {
        let command = clap::Command::new("verb").after_help(
            "It waits.\n\nIt ends.\n\nExit codes: 0 done.\n\nExamples:\n  verb a-b\n  verb 'c'",
        );
        let page = String::from_utf8(page(&command, Some("inorder")).unwrap()).unwrap();
        for expected in [
            ".SH NOTES\nIt waits.\n\nIt ends.\n",
            ".SH \"EXIT STATUS\"\n0 done.\n",
            ".SH EXAMPLES\n.nf\n  verb a\\-b\n  verb \\*(Aqc\\*(Aq\n.fi\n",
            ".SH \"SEE ALSO\"\ninorder(1)\n",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
    }
}
