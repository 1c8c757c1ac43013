//! What holds for all verbs: how much is printed, in which colours, and whether files may be replaced.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use inorder_report::escape::{printable, printable_lines};

/// Options of every verb.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct Manners {
    /// Print neither text for people nor progress nor notices; errors, exceeded thresholds and everything that an
    /// option requests (--json, files) remain
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(flatten)]
    color: colorchoice_clap::Color,
    /// Never draw a progress bar; without this it appears on a terminal, after half a second
    #[arg(long, global = true)]
    no_progress: bool,
    /// Replace existing files even if inorder did not write them; captures and inputs are never replaced
    #[arg(long, global = true)]
    force: bool,
}

static MANNERS: OnceLock<Manners> = OnceLock::new();

impl Manners {
    /// Makes these options known to all modules. Called once, before the verb runs.
    pub(crate) fn apply(&self) {
        self.color.write_global();
        let _ = MANNERS.set(self.clone());
    }
}

fn is(option: fn(&Manners) -> bool) -> bool {
    MANNERS.get().is_some_and(option)
}

/// True if nothing is printed that no option requests.
pub(crate) fn is_quiet() -> bool {
    is(|m| m.quiet)
}

/// True if a progress bar may be drawn.
pub(crate) fn may_show_progress() -> bool {
    !is(|m| m.quiet || m.no_progress)
}

#[cfg(test)]
thread_local! {
    /// Stands for --force in tests, which run in one process.
    pub(crate) static FORCE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// True if files that inorder did not write may be replaced.
pub(crate) fn may_replace() -> bool {
    #[cfg(test)]
    if FORCE.get() {
        return true;
    }
    is(|m| m.force)
}

/// Threads of a verb at most: no machine gains from more, and far more take all of its memory for their stacks.
pub(crate) const MAX_THREADS: u16 = 1_024;

/// Parses `--threads`.
///
/// # Errors
/// One line that says what was expected.
pub(crate) fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= usize::from(MAX_THREADS) => Ok(threads),
        _ => Err(format!("expected a whole number of at most {MAX_THREADS}")),
    }
}

/// Prints a line on the standard error that is no error: a forecast, a part of a result.
pub(crate) fn notice(text: &str) {
    if !is_quiet() {
        complain(text);
    }
}

/// Prints a complaint on the standard error. What it quotes comes from outside, so no control character of it reaches the
/// terminal. Where nobody reads the standard error any more (`2>&1 | head`), the exit code has to do.
pub(crate) fn complain(text: impl Display) {
    write_error(&printable(&text.to_string()));
}

/// As [`complain`], of what has several lines: what another program said.
pub(crate) fn complain_in_lines(text: impl Display) {
    write_error(&printable_lines(&text.to_string()));
}

fn write_error(text: &str) {
    let _ = std::io::stderr().write_all(format!("inorder: {text}\n").as_bytes());
}
