//! A file that appears whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The drafts that are being written, for the end of the process before its time.
static OPEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every draft: the process ends at once, without dropping them.
pub(crate) fn remove_all() {
    for path in OPEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .drain(..)
    {
        let _ = fs::remove_file(path);
    }
}

/// A new file beside the one it will replace. Until [`Draft::keep`] the older one stays as it is, so that a full disk takes no earlier
/// result away; a draft that is dropped leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Draft {
    /// Where it is written; nothing if the output is no regular file, such as a pipe, and is written directly.
    path: Option<PathBuf>,
    target: PathBuf,
}

impl Draft {
    /// Opens a draft of `path` for writing.
    pub(crate) fn create(path: &Path) -> io::Result<(File, Draft)> {
        // A link stays a link: what it names is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let replaceable = target.is_file() || !target.exists();
        if let (true, Some(name)) = (replaceable, target.file_name()) {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}.part", std::process::id()));
            let beside = target.with_file_name(hidden);
            // In a folder that takes no new files an existing one can still be written.
            if let Ok(file) = File::create_new(&beside) {
                let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
                open.push(beside.clone());
                let path = Some(beside);
                return Ok((file, Draft { path, target }));
            }
        }
        let file = File::create(&target)?;
        Ok((file, Draft { path: None, target }))
    }

    /// Makes it the file.
    pub(crate) fn keep(self) -> io::Result<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        if let Ok(older) = fs::metadata(&self.target) {
            fs::set_permissions(path, older.permissions())?;
        }
        fs::rename(path, &self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|one| one != path);
            // A kept draft has another name now; about one that stays nothing more can be done.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn an_older_file_stays_until_the_draft_is_kept() {
        let folder = std::env::temp_dir().join(format!("inorder-draft-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("result.json");
        fs::write(&path, "older").unwrap();

        let (mut file, draft) = Draft::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop((file, draft));
        assert_eq!(fs::read_to_string(&path).unwrap(), "older");

        let (mut file, draft) = Draft::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        draft.keep().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
