//! Which captures a corpus has, and which files beside them are none.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use inorder_pipeline::Below;

use crate::error::Error;
use crate::work::{Listed, Work};

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

/// The captures of a corpus, and what else is in its folders.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Listing {
    /// The captures, sorted by name.
    pub captures: Vec<Listed>,
    /// For each folder with other files, one line about them.
    pub remarks: Vec<String>,
}

/// The captures that `places` name: files, folders with every capture below them, and patterns with `*`, `?` and `[...]`.
///
/// In folders the first bytes of a file decide, also of compressed ones. What is named as a capture (.pcap, .pcapng,
/// .cap, also compressed) is taken as well: that it is none is then a row of the table `errors`.
///
/// # Errors
/// If a place does not exist or has no capture, or two captures have the same name in results.
pub fn list(places: &[String]) -> Result<Listing, Error> {
    let mut all = Listing::default();
    for place in places {
        let before = all.captures.len();
        let path = Path::new(place);
        if path.is_dir() {
            below(path, &mut all)?;
        } else if path.exists() {
            all.captures.push(Listed::of(place.clone(), path)?);
        } else {
            matching(place, &mut all.captures)?;
        }
        if all.captures.len() == before {
            let skipped: String = all.remarks.iter().map(|said| format!("; {said}")).collect();
            return Err(Error::usage(format!(
                "{place}: no capture here, expected a capture, a folder of captures or a pattern{skipped}"
            )));
        }
    }
    all.captures.sort_unstable();
    all.captures.dedup();
    match all
        .captures
        .windows(2)
        .find(|pair| pair[0].file == pair[1].file)
    {
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

fn below(root: &Path, all: &mut Listing) -> Result<(), Error> {
    let found = Below::folder(root).map_err(|(path, error)| Error::file(&path, "read")(error))?;
    all.remarks.extend(found.remark());
    for path in &found.captures {
        let name = path.strip_prefix(root).unwrap_or(path);
        all.captures
            .push(Listed::of(name.display().to_string(), path)?);
    }
    Ok(())
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
}
