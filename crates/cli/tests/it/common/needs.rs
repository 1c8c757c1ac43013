//! The programs that a test calls beside those which every Debian has.
//!
//! `tools/programs` lists them with their packages, and `tools/setup test` installs them where it can. A test says which
//! of them it needs before it calls any; where one is missing it is skipped, with the reason printed.
//!
//! `tools/bare-path` sets the variable [`FULL`]. Then the search path has nothing of that list, and the commands of a
//! test find what the test has named beside it: a test that forgets one fails there.

// Each test file uses only some of these functions.
#![allow(dead_code)]

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The whole search path, where `PATH` has the programs of a bare Debian only.
const FULL: &str = "INORDER_PROGRAMS";

/// A program and its package in each line.
const LISTED: &str = include_str!("../../../../../tools/programs");

/// Where machines of the lab, whose files are those of this machine, look for programs.
const OF_MACHINES: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Says why a test was not run, also where the output of tests that pass is not shown.
pub(crate) fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The programs that a test has named.
pub(crate) struct Programs {
    /// The search path of its commands.
    path: OsString,
    /// The folder with links to them, where the search path has them not.
    links: Option<PathBuf>,
}

/// The programs of these names; `None`, with the reason printed, if one of them is not installed.
pub(crate) fn needs(names: &[&str]) -> Option<Programs> {
    let path = env::var_os("PATH").unwrap_or_default();
    let full = env::var_os(FULL).filter(|full| !full.is_empty());
    let found = all_in(full.as_ref().unwrap_or(&path), names)?;
    Some(match full {
        None => Programs { path, links: None },
        Some(_) => linked(&found, names, &path),
    })
}

/// As [`needs`], of a machine of the lab: nothing of the search path counts. True if all are there.
pub(crate) fn machine_has(names: &[&str]) -> bool {
    all_in(&OsString::from(OF_MACHINES), names).is_some()
}

impl Programs {
    /// A command that finds the programs that were named.
    pub(crate) fn command(&self, program: &str) -> Command {
        // A changed search path holds for where the program itself is looked for, too.
        let mut command = Command::new(program);
        command.env("PATH", &self.path);
        command
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        if let Some(links) = &self.links {
            let _ = fs::remove_dir_all(links);
        }
    }
}

/// Where each of these programs is.
fn all_in(path: &OsString, names: &[&str]) -> Option<Vec<PathBuf>> {
    let place = |name: &&str| {
        let package = package(name);
        let found = env::split_paths(path)
            .map(|folder| folder.join(name))
            .find(|place| is_program(place));
        if found.is_none() {
            skipped(&format!(
                "{name} is not installed (Debian package {package})"
            ));
        }
        found
    };
    names.iter().map(place).collect()
}

/// The Debian package of a program.
fn package(name: &str) -> &'static str {
    let mut lines = LISTED.lines().filter_map(|line| line.split_once(' '));
    let of = lines.find(|(program, _)| *program == name);
    of.unwrap_or_else(|| panic!("tools/programs lacks {name}"))
        .1
}

/// Whether this is a file that can be executed.
fn is_program(place: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(place)
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    place.with_extension("exe").is_file()
}

/// A folder with links to these programs, in front of the search path.
fn linked(found: &[PathBuf], names: &[&str], path: &OsString) -> Programs {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = env::temp_dir().join(format!("inorder-programs-{}-{number}", std::process::id()));
    fs::create_dir(&folder).expect("a new folder");
    for (place, name) in found.iter().zip(names) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(place, folder.join(name)).expect("a link");
        #[cfg(not(unix))]
        fs::copy(place, folder.join(name)).expect("a copy");
    }
    let all = std::iter::once(folder.clone()).chain(env::split_paths(path));
    Programs {
        path: env::join_paths(all).expect("folders without colons"),
        links: Some(folder),
    }
}
