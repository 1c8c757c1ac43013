//! Where results go: the standard output and files.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use inorder_analysis::table::Style;

use crate::error::CliError;

/// Bytes gathered before they are written.
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

/// Fails at once where writing `path` would fail after all the work: its folder does not exist.
pub fn expect_folder(path: &Path) -> Result<(), CliError> {
    let folder = path.parent().filter(|parent| parent.as_os_str() != "");
    match folder {
        Some(folder) if !folder.is_dir() => Err(CliError::file(path, "create")(
            io::ErrorKind::NotFound.into(),
        )),
        _ => Ok(()),
    }
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
    let file = File::create(path).map_err(CliError::file(path, "create"))?;
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let result = write(&mut out).and_then(|()| out.flush());
    result.map_err(CliError::file(path, "write"))
}

/// Writes `flows.parquet` and `events.parquet` into `dir`.
#[cfg(feature = "parquet")]
pub fn parquet(dir: &Path, analyses: &[inorder_analysis::Analysis]) -> Result<(), CliError> {
    use inorder_analysis::parquet;
    std::fs::create_dir_all(dir).map_err(CliError::file(dir, "create"))?;
    let flows = dir.join("flows.parquet");
    let file = File::create(&flows).map_err(CliError::file(&flows, "create"))?;
    parquet::write_flows(file, analyses).map_err(CliError::file(&flows, "write"))?;
    let events = dir.join("events.parquet");
    let file = File::create(&events).map_err(CliError::file(&events, "create"))?;
    parquet::write_events(file, analyses).map_err(CliError::file(&events, "write"))
}

/// How text looks on this standard output: as wide as the terminal, plain in a pipe, without
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
