//! Which captures a corpus has.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::error::Error;
use crate::work::{Listed, Work};

/// Ends of the names of captures in folders.
const ENDS: [&str; 3] = ["pcap", "pcapng", "cap"];
/// Ends that may follow those.
const COMPRESSED: [&str; 3] = ["gz", "zst", "zstd"];
/// Captures of a task at most.
const MAX_CAPTURES: usize = 64;
/// Bytes of the captures of a task at most, unless it has only one: results stay in memory until the task is written,
/// and captures that were interrupted are read again.
const MAX_BYTES: u64 = 64 << 20;

impl Listed {
    fn of(file: String, path: &Path) -> Result<Self, Error> {
        let about = fs::metadata(path).map_err(Error::file(path, "read"))?;
        let modified = about.modified().ok();
        let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let text = path
            .to_str()
            .ok_or_else(|| Error::usage(format!("{}: expected a name in UTF-8", path.display())))?;
        Ok(Listed {
            file,
            path: text.to_owned(),
            bytes: Some(about.len()),
            version: since.map(|since| since.as_nanos().to_string()),
        })
    }
}

/// The captures that `places` name, sorted by name: files, folders with everything below them whose name ends as that of a
/// capture does (.pcap, .pcapng, .cap, also with .gz or .zst), and patterns with `*`, `?` and `[...]`.
///
/// # Errors
/// If a place does not exist or has no capture, or two captures have the same name in results.
pub fn list(places: &[String]) -> Result<Vec<Listed>, Error> {
    let mut all = Vec::new();
    for place in places {
        let before = all.len();
        let path = Path::new(place);
        if path.is_dir() {
            below(path, path, &mut all)?;
        } else if path.exists() {
            all.push(Listed::of(place.clone(), path)?);
        } else {
            matching(place, &mut all)?;
        }
        if all.len() == before {
            return Err(Error::usage(format!(
                "{place}: no capture here, expected a capture, a folder of captures or a pattern (names in folders end \
                 in .pcap, .pcapng or .cap, also with .gz or .zst)"
            )));
        }
    }
    all.sort_unstable();
    all.dedup();
    match all.windows(2).find(|pair| pair[0].file == pair[1].file) {
        Some(pair) => Err(Error::usage(format!(
            "{} and {}: expected different names below the folders, found {} twice; give the folder above both",
            pair[0].path, pair[1].path, pair[0].file
        ))),
        None => Ok(all),
    }
}

fn matching(pattern: &str, all: &mut Vec<Listed>) -> Result<(), Error> {
    let paths = glob::glob(pattern)
        .map_err(|error| Error::usage(format!("{pattern}: not a pattern: {error}")))?;
    for path in paths {
        let path = path.map_err(|error| {
            let path = error.path().to_owned();
            Error::file(&path, "read")(error.into())
        })?;
        if path.is_file() {
            all.push(Listed::of(path.display().to_string(), &path)?);
        }
    }
    Ok(())
}

fn below(root: &Path, folder: &Path, all: &mut Vec<Listed>) -> Result<(), Error> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder, "read"))?;
    for entry in entries {
        let entry = entry.map_err(Error::file(folder, "read"))?;
        let path: PathBuf = entry.path();
        // Links to folders are not followed: they may lead back here.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below(root, &path, all)?;
        } else if is_capture(&path) && path.is_file() {
            let name = path.strip_prefix(root).unwrap_or(&path);
            all.push(Listed::of(name.display().to_string(), &path)?);
        }
    }
    Ok(())
}

/// By the end of its name.
fn is_capture(path: &Path) -> bool {
    let end = |path: &Path| path.extension()?.to_str().map(str::to_lowercase);
    let is = |ends: &[&str], found: &str| ends.contains(&found);
    match end(path) {
        Some(found) if is(&COMPRESSED, &found) => {
            end(&path.with_extension("")).is_some_and(|found| is(&ENDS, &found))
        }
        found => found.is_some_and(|found| is(&ENDS, &found)),
    }
}

/// The captures in tasks, in their order.
pub(crate) fn tasks(captures: Vec<Listed>) -> Vec<Work> {
    let mut tasks = Vec::new();
    let (mut task, mut bytes) = (Vec::new(), 0);
    for capture in captures {
        let size = capture.bytes.unwrap_or(0);
        let is_full = task.len() == MAX_CAPTURES || bytes + size > MAX_BYTES;
        if is_full && !task.is_empty() {
            tasks.push(Work::Captures(std::mem::take(&mut task)));
            bytes = 0;
        }
        task.push(capture);
        bytes += size;
    }
    if !task.is_empty() {
        tasks.push(Work::Captures(task));
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(number: usize, bytes: u64) -> Listed {
        Listed {
            file: format!("{number:04}.pcap"),
            path: format!("/captures/{number:04}.pcap"),
            bytes: Some(bytes),
            version: None,
        }
    }

    #[test]
    fn tasks_are_bounded_by_captures_and_by_bytes() {
        let small = (0..130).map(|number| capture(number, 10)).collect();
        let lengths = |tasks: &[Work]| tasks.iter().map(Work::len).collect::<Vec<_>>();
        assert_eq!(lengths(&tasks(small)), [64, 64, 2]);
        let large = [MAX_BYTES, 1, MAX_BYTES - 1, 1, MAX_BYTES + 1, 1];
        let large = large
            .iter()
            .enumerate()
            .map(|(n, &bytes)| capture(n, bytes));
        assert_eq!(lengths(&tasks(large.collect())), [1, 2, 1, 1, 1]);
        assert!(tasks(Vec::new()).is_empty());
    }

    #[test]
    fn captures_in_folders_are_known_by_the_end_of_their_name() {
        for name in ["a.pcap", "a.PCAPNG", "a.b.cap", "a.pcap.gz", "a.pcapng.zst"] {
            assert!(is_capture(Path::new(name)), "{name}");
        }
        for name in ["a", "a.gz", "pcap", "a.pcap.txt", "notes.txt.gz"] {
            assert!(!is_capture(Path::new(name)), "{name}");
        }
    }
}
