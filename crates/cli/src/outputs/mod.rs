//! Writes results to the standard output and to files.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use inorder_analysis::table::Style;
use inorder_capture::Capture;

use crate::error::{CliError, usage};
use crate::manners;

mod draft;
mod ours;
#[cfg(test)]
mod tests;

pub(crate) use draft::{Draft, remove_all as remove_drafts};
pub(crate) use ours::Comment;

/// Size of the write buffer, bytes.
const BUFFER: usize = 1 << 18;

/// Writes to `path`, or to the standard output for `-`.
pub(crate) fn write_to(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return to_stdout(write);
    }
    to_file(path, write)
}

/// Checks the outputs before the work begins. Fails if writing would fail or would destroy a file of the user: the
/// folder does not exist, the output is one of the `inputs`, the file is a capture or was not written by us, or two
/// outputs are the same file. `-` is the standard output and always valid.
pub(crate) fn check(outputs: &[&Path], inputs: &[&Path]) -> Result<(), CliError> {
    let is_file = |path: &&&Path| path.as_os_str() != "-";
    let outputs: Vec<&Path> = outputs.iter().filter(is_file).copied().collect();
    for (number, path) in outputs.iter().enumerate() {
        expect_folder(path)?;
        if let Some(input) = inputs.iter().find(|input| is_one_file(path, input)) {
            return usage!(
                "{}: is the input {}; expected another file for the output",
                path.display(),
                input.display()
            );
        }
        if outputs[..number]
            .iter()
            .any(|other| is_one_file(path, other))
        {
            return usage!(
                "{}: is given for two outputs; expected a different file for each",
                path.display()
            );
        }
        expect_replaceable(path)?;
    }
    Ok(())
}

/// As [`check`], for files with these names in a directory, which need not exist yet.
pub(crate) fn check_in(directory: &Path, names: &[&str], inputs: &[&Path]) -> Result<(), CliError> {
    if !directory.is_dir() {
        return Ok(());
    }
    let paths: Vec<PathBuf> = names.iter().map(|name| directory.join(name)).collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    check(&paths, inputs)
}

fn expect_folder(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|parent| parent.as_os_str() != "");
    match folder {
        Some(folder) if !folder.is_dir() => {
            let problem = format!("there is no folder {}", folder.display());
            Err(CliError::file(path, "create")(io::Error::other(problem)))
        }
        _ => Ok(()),
    }
}

/// Fails if the file may not be replaced: captures never, other files if we wrote them or with --force.
fn expect_replaceable(path: &Path) -> Result<(), CliError> {
    expect_no_capture(path)?;
    if !path.is_file() || manners::may_replace() {
        return Ok(());
    }
    match ours::is_ours(path) {
        Ok(true) => Ok(()),
        Ok(false) => usage!(
            "{}: this file exists and was not written by inorder; expected a new file, or --force to replace it",
            path.display()
        ),
        Err(error) => Err(CliError::file(path, "read")(error)),
    }
}

/// Fails if the file is a capture. A capture cannot be recorded again, so none is ever replaced, whoever wrote it.
fn expect_no_capture(path: &Path) -> Result<(), CliError> {
    // Only a regular file is opened: opening a pipe would wait for a writer.
    if path.is_file() && Capture::open(path).is_ok() {
        return usage!(
            "{}: this file is a capture and is not replaced; expected a new file",
            path.display()
        );
    }
    Ok(())
}

/// True if two names refer to one regular file, also through links. A file that does not exist yet is compared by
/// folder and name.
pub(crate) fn is_one_file(a: &Path, b: &Path) -> bool {
    if a.exists() && b.exists() {
        return a.is_file() && same_file::is_same_file(a, b).unwrap_or(false);
    }
    match (place(a), place(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// The folder with links resolved, and the name in it.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

/// Opens a file for writing, which appears when [`Draft::keep`] is called; no other function of the command opens one.
pub(crate) fn create(path: &Path) -> Result<(File, Draft), CliError> {
    expect_replaceable(path)?;
    Draft::create(path).map_err(CliError::file(path, "create"))
}

/// Writes to the standard output.
pub(crate) fn to_stdout(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// The files of `--json` and `--csv`, at most one of which is the standard output.
pub(crate) fn json_and_csv<'a>(
    json: Option<&'a Path>,
    csv: Option<&'a Path>,
) -> Result<Vec<&'a Path>, CliError> {
    let files: Vec<&Path> = [json, csv].into_iter().flatten().collect();
    if files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        let problem =
            "--json and --csv cannot both go to the standard output; give one a file: --json=FILE";
        return Err(CliError::Usage(problem.to_owned()));
    }
    Ok(files)
}

/// Writes a table of Parquet.
#[cfg(feature = "parquet")]
pub(crate) fn to_parquet<R>(
    path: &Path,
    columns: &[inorder_report::Column<R>],
    rows: &[R],
) -> Result<(), CliError> {
    replace(path, |file| {
        inorder_report::parquet::write(file, columns, rows)
    })
}

/// Writes a file as a whole: if that fails, an older one stays.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), CliError> {
    let (mut file, draft) = create(path)?;
    let written = write(&mut file).and_then(|()| draft.keep());
    written.map_err(CliError::file(path, "write"))
}

/// Writes a file.
pub(crate) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    replace(path, |file| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        write(&mut out).and_then(|()| out.flush())
    })
}

/// Several outputs of one result: one that fails keeps none of the others from being written.
#[derive(Default)]
pub(crate) struct Attempts(Vec<CliError>);

impl Attempts {
    /// Remembers the error of one output, if it failed.
    pub(crate) fn of(&mut self, written: Result<(), CliError>) {
        self.0.extend(written.err());
    }

    /// The last failure; the others are printed, a line each. That a reader closed the output is none.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        self.0.retain(|error| !error.is_broken_pipe());
        let last = self.0.pop();
        for error in &self.0 {
            manners::complain(error);
        }
        last.map_or(Ok(()), Err)
    }
}

/// Writes a file whose last line is a comment that it is ours.
pub(crate) fn to_marked_file(
    path: &Path,
    comment: Comment,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    to_file(path, |out| {
        write(out)?;
        comment.write(out)
    })
}

/// Prints text for people, unless --quiet says that nobody reads it.
pub(crate) fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    match manners::is_quiet() {
        true => Ok(()),
        false => to_stdout(write),
    }
}

/// Makes a directory for outputs, unless it exists.
pub(crate) fn directory(path: &Path) -> Result<(), CliError> {
    if path.exists() && !path.is_dir() {
        let problem = io::Error::other("expected a folder, or none yet");
        return Err(CliError::file(path, "create")(problem));
    }
    std::fs::create_dir_all(path).map_err(CliError::file(path, "create"))
}

/// Columns of the terminal that standard output is, if it is one.
pub(crate) fn width() -> Option<usize> {
    let size = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    size.map(|(width, _)| usize::from(width.0))
}

/// The layout of text on this standard output: as wide as the terminal, unlimited and plain in a pipe. `--color` and
/// the variables NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM decide about attributes.
pub(crate) fn style(top: usize, events: bool) -> Style {
    // Asked once: what runs for long may not ask any more, because it has confined itself. Only the size may change.
    static OUTPUT: OnceLock<(bool, bool)> = OnceLock::new();
    let (is_terminal, colour) = *OUTPUT.get_or_init(|| {
        let stdout = io::stdout();
        let colour = AutoStream::choice(&stdout) != ColorChoice::Never;
        (stdout.is_terminal(), colour)
    });
    let size = is_terminal.then(terminal_size::terminal_size).flatten();
    Style {
        width: size.map(|(width, _)| usize::from(width.0)),
        colour,
        top,
        events,
    }
}
