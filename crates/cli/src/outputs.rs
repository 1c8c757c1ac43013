//! Writes results to the standard output and to files.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use inorder_analysis::table::Style;
use inorder_capture::Capture;

use crate::error::CliError;

/// Size of the write buffer, bytes.
const BUFFER: usize = 1 << 18;

/// Writes to `path`, or to the standard output for `-`.
pub fn write_to(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    if path.as_os_str() == "-" {
        return to_stdout(write);
    }
    to_file(path, write)
}

/// Checks the outputs before the work begins. Fails if writing would fail or would destroy a file of the user: the
/// folder does not exist, the output is one of the `inputs`, the file is a capture, or two outputs are the same file.
/// `-` is the standard output and always valid.
pub fn check(outputs: &[&Path], inputs: &[&Path]) -> Result<(), CliError> {
    let is_file = |path: &&&Path| path.as_os_str() != "-";
    let outputs: Vec<&Path> = outputs.iter().filter(is_file).copied().collect();
    for (number, path) in outputs.iter().enumerate() {
        expect_folder(path)?;
        if let Some(input) = inputs.iter().find(|input| is_one_file(path, input)) {
            return Err(CliError::Usage(format!(
                "{}: is the input {}; expected another file for the output",
                path.display(),
                input.display()
            )));
        }
        if outputs[..number]
            .iter()
            .any(|other| is_one_file(path, other))
        {
            return Err(CliError::Usage(format!(
                "{}: is given for two outputs; expected a different file for each",
                path.display()
            )));
        }
        expect_no_capture(path)?;
    }
    Ok(())
}

fn expect_folder(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|parent| parent.as_os_str() != "");
    match folder {
        Some(folder) if !folder.is_dir() => Err(CliError::file(path, "create")(
            io::ErrorKind::NotFound.into(),
        )),
        _ => Ok(()),
    }
}

/// True if the file is a capture. A capture cannot be recorded again, so none is ever replaced, whoever wrote it.
fn expect_no_capture(path: &Path) -> Result<(), CliError> {
    // Only a regular file is opened: opening a pipe would wait for a writer.
    if path.is_file() && Capture::open(path).is_ok() {
        return Err(CliError::Usage(format!(
            "{}: this file is a capture and is not replaced; expected a new file",
            path.display()
        )));
    }
    Ok(())
}

/// True if two names refer to one regular file, also through links. A file that does not exist yet is compared by
/// folder and name.
fn is_one_file(a: &Path, b: &Path) -> bool {
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

/// Opens a file for writing; no other function of the command does so.
pub fn create(path: &Path) -> Result<File, CliError> {
    expect_no_capture(path)?;
    File::create(path).map_err(CliError::file(path, "create"))
}

/// Writes to the standard output.
pub fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
    write(&mut out)?;
    Ok(out.flush()?)
}

/// Writes a file.
pub fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let file = create(path)?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let result = write(&mut out).and_then(|()| out.flush());
    result.map_err(CliError::file(path, "write"))
}

/// Writes `flows.parquet`, `events.parquet`, `retransmissions.parquet` and `recoveries.parquet` into `dir`.
#[cfg(feature = "parquet")]
pub fn parquet(dir: &Path, analyses: &[inorder_analysis::Analysis]) -> Result<(), CliError> {
    use inorder_analysis::parquet;
    std::fs::create_dir_all(dir).map_err(CliError::file(dir, "create"))?;
    let tables: [(&str, ParquetTable); 4] = [
        ("flows.parquet", parquet::write_flows),
        ("events.parquet", parquet::write_events),
        ("retransmissions.parquet", parquet::write_retransmissions),
        ("recoveries.parquet", parquet::write_recoveries),
    ];
    for (name, write) in tables {
        let path = dir.join(name);
        write(create(&path)?, analyses).map_err(CliError::file(&path, "write"))?;
    }
    Ok(())
}

/// Writes one table into a file.
#[cfg(feature = "parquet")]
type ParquetTable = fn(File, &[inorder_analysis::Analysis]) -> io::Result<()>;

/// The layout of text on this standard output: as wide as the terminal, unlimited and plain in a pipe, without
/// attributes if `NO_COLOR` is set.
pub fn style(top: usize, events: bool) -> Style {
    let terminal = io::stdout().is_terminal();
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let size = terminal_size::terminal_size().filter(|_| terminal);
    Style {
        width: size.map(|(width, _)| usize::from(width.0)),
        colour: terminal && !set("NO_COLOR") && !dumb,
        top,
        events,
    }
}
