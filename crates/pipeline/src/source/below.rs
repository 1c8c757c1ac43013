//! The captures below a folder, by what the files contain.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use inorder_capture::{Capture, CaptureError};

/// Ends of names that promise a capture.
const ENDS: [&str; 3] = ["pcap", "pcapng", "cap"];
/// Ends that may follow those.
const COMPRESSED: [&str; 6] = ["gz", "zst", "zstd", "xz", "bz2", "lz4"];

/// The captures below a folder, and what else is there.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Below {
    /// The captures, sorted by name.
    pub captures: Vec<PathBuf>,
    /// Other files, sorted by name, each with the reason why it is left out.
    pub skipped: Vec<(PathBuf, String)>,
}

impl Below {
    /// Finds the captures below `root`. The first bytes of a file decide, also of a compressed one. A file whose name
    /// promises a capture (.pcap, .pcapng, .cap, also compressed) is taken as well: whoever reads it says what is
    /// wrong.
    ///
    /// # Errors
    /// The folder that cannot be read, and why.
    pub fn folder(root: &Path) -> Result<Below, (PathBuf, io::Error)> {
        let mut all = Below::default();
        all.add(root)?;
        all.captures.sort_unstable();
        all.skipped.sort_unstable();
        Ok(all)
    }

    fn add(&mut self, folder: &Path) -> Result<(), (PathBuf, io::Error)> {
        let wrong = |error| (folder.to_owned(), error);
        for entry in fs::read_dir(folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.add(&path)?;
                continue;
            }
            match no_capture(&path) {
                Some(reason) => self.skipped.push((path, reason)),
                None => self.captures.push(path),
            }
        }
        Ok(())
    }

    /// One line about what is left out and why: `1 of 3 files skipped: no capture (notes.txt)`. Nothing if all are
    /// captures.
    pub fn remark(&self) -> Option<String> {
        /// Files that are named for each reason.
        const NAMED: usize = 5;
        let mut reasons: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for (path, reason) in &self.skipped {
            reasons.entry(reason).or_default().push(path);
        }
        let said = reasons.into_iter().map(|(reason, paths)| {
            let names = paths.iter().take(NAMED);
            let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
            let more = match paths.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{reason} ({}{more})", names.join(", "))
        });
        let said: Vec<String> = said.collect();
        let (skipped, all) = (self.skipped.len(), self.skipped.len() + self.captures.len());
        (skipped > 0).then(|| format!("{skipped} of {all} files skipped: {}", said.join("; ")))
    }
}

/// Why a file in a folder is no capture; `None` if it is one, or is named as one.
fn no_capture(path: &Path) -> Option<String> {
    if path.is_dir() {
        // It may lead back here.
        return Some("a link to a folder".to_owned());
    }
    if !path.is_file() {
        return Some("no regular file".to_owned());
    }
    if is_named_as_capture(path) {
        return None;
    }
    match Capture::open(path) {
        Ok(_) => None,
        Err(CaptureError::Io { source, .. }) => Some(format!("unreadable: {source}")),
        Err(_) => Some("no capture".to_owned()),
    }
}

/// By the end of its name.
fn is_named_as_capture(path: &Path) -> bool {
    let end = |path: &Path| path.extension()?.to_str().map(str::to_lowercase);
    let is = |ends: &[&str], found: &str| ends.contains(&found);
    match end(path) {
        Some(found) if is(&COMPRESSED, &found) => {
            end(&path.with_extension("")).is_some_and(|found| is(&ENDS, &found))
        }
        found => found.is_some_and(|found| is(&ENDS, &found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header of a pcap file, big-endian, nanoseconds, Ethernet.
    const HEADER: [u8; 24] = [
        0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 1,
    ];

    #[test]
    fn content_decides_and_what_is_left_out_is_named() {
        let root = std::env::temp_dir().join(format!("inorder-below-{}", std::process::id()));
        fs::create_dir_all(root.join("deep")).unwrap();
        for name in [
            "a.dmp",
            "b.dump",
            "trace",
            "trace.pcap0",
            "deep/c.trace",
            "d.PCAPNG",
        ] {
            fs::write(root.join(name), HEADER).unwrap();
        }
        for (name, content) in [
            ("notes.txt", "a thesis"),
            ("empty", ""),
            ("broken.pcap", "no"),
        ] {
            fs::write(root.join(name), content).unwrap();
        }
        let found = Below::folder(&root).unwrap();
        let names: Vec<_> = found
            .captures
            .iter()
            .map(|p| p.strip_prefix(&root).unwrap())
            .collect();
        let expected = [
            "a.dmp",
            "b.dump",
            "broken.pcap",
            "d.PCAPNG",
            "deep/c.trace",
            "trace",
            "trace.pcap0",
        ];
        assert_eq!(names, expected.map(Path::new));
        let remark = found.remark().unwrap();
        assert!(remark.starts_with("2 of 9 files skipped: "), "{remark}");
        assert!(
            remark.contains("notes.txt") && remark.contains("empty"),
            "{remark}"
        );
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn some_files_are_captures_by_the_end_of_their_name() {
        for name in ["a.pcap", "a.PCAPNG", "a.b.cap", "a.pcap.gz", "a.pcapng.zst"] {
            assert!(is_named_as_capture(Path::new(name)), "{name}");
        }
        for name in ["a", "a.gz", "pcap", "a.pcap.txt", "notes.txt.gz"] {
            assert!(!is_named_as_capture(Path::new(name)), "{name}");
        }
    }
}
