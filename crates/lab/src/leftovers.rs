//! Folders that a program which was killed could not remove.

use std::path::Path;

/// Removes the folders in `within` whose name is `prefix`, the number of a process that is no more, and a dash.
pub(crate) fn remove(within: &Path, prefix: &str) {
    let Ok(entries) = std::fs::read_dir(within) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
        let process = rest.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            // Somebody else's folder stays.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_processes_that_are_no_more() {
        let folder = tempfile::tempdir().unwrap();
        // Numbers of processes are below 2^22.
        let gone = format!("x-{}-abc", u32::MAX);
        let here = format!("x-{}-abc", std::process::id());
        for name in [&gone, &here, "x-mine", "y-1"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove(folder.path(), "x-");
        let is_there = |name: &str| folder.path().join(name).is_dir();
        assert!(!is_there(&gone));
        assert!(is_there(&here) && is_there("x-mine") && is_there("y-1"));
    }
}
