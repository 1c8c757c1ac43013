//! Where the source of a kernel is, and what building it needs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root::find;

/// Programs that the build needs, with their packages in Debian.
const TOOLS: [(&str, &str); 7] = [
    ("gcc", "gcc"),
    ("make", "make"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("xz", "xz-utils"),
    ("tar", "tar"),
];

/// The source package of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The version in the package's name: `6.1`.
    pub version: String,
    /// The archive.
    pub archive: PathBuf,
}

impl Source {
    /// The source of this version where Debian's packages put it.
    ///
    /// # Errors
    /// In one line, everything that is missing, and how to install it.
    pub fn find(version: &str) -> Result<Self, String> {
        let archive = PathBuf::from(format!("/usr/src/linux-source-{version}.tar.xz"));
        let tools = TOOLS.iter().filter(|(tool, _)| find(tool).is_none());
        let mut missing: Vec<String> = tools.map(|(_, package)| (*package).to_owned()).collect();
        if !Path::new("/usr/include/libelf.h").is_file() {
            missing.push("libelf-dev".to_owned());
        }
        if !archive.is_file() {
            missing.push(format!("linux-source-{version}"));
        }
        if missing.is_empty() {
            return Ok(Source {
                version: version.to_owned(),
                archive,
            });
        }
        let missing = missing.join(" ");
        Err(format!(
            "to build the kernel these packages are missing: {missing} (apt-get install {missing}; a newer kernel is in the backports of Debian)"
        ))
    }

    /// The whole version, as its Makefile has it: `6.1.192`.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub(crate) fn whole_version(&self) -> Result<String, String> {
        let makefile = format!("linux-source-{}/Makefile", self.version);
        let shown = Command::new("tar")
            .args(["--occurrence=1", "-xJOf"])
            .arg(&self.archive)
            .arg(&makefile)
            .output();
        let shown = shown.map_err(|error| format!("tar: {error}"))?;
        let text = String::from_utf8_lossy(&shown.stdout);
        let part = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(" = "));
            lines
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.trim().to_owned())
        };
        match (part("VERSION"), part("PATCHLEVEL"), part("SUBLEVEL")) {
            (Some(version), Some(patch), Some(sub)) => Ok(format!("{version}.{patch}.{sub}")),
            _ => Err(format!(
                "{}: no version in {makefile}",
                self.archive.display()
            )),
        }
    }
}
