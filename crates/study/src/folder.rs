//! The folder of a study: every file appears at once, with all its bytes, or not at all.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The plan.
const PLAN: &str = "study.json";
/// Held by whoever plans and hands out tasks.
const LOCK: &str = "lock";
/// Files that are being written.
const TEMPORARY: &str = "tmp";
/// The columns of a table, without rows. Readers of datasets skip names that begin with an underscore.
const SCHEMA: &str = "_schema.parquet";
/// The rows of a task.
const PART: &str = "part.parquet";
/// Size of the buffer of each file that is written, bytes.
const BUFFER: usize = 1 << 16;

/// The paths of a study, and how they are written.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

/// Kept as long as a process plans and hands out the tasks of a study. The system gives it up when the process ends, however
/// it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Folder {
    pub(crate) fn new(root: &Path) -> Self {
        Folder {
            root: root.to_owned(),
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder. One with files that belong to no study is refused, so that nothing of the user's gets mixed up
    /// with results.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let temporary = self.root.join(TEMPORARY);
        if self.root.is_dir() && !self.has_plan() {
            let mut entries = fs::read_dir(&self.root).map_err(Error::file(&self.root, "read"))?;
            let ours =
                |entry: &fs::DirEntry| entry.file_name() == TEMPORARY || entry.file_name() == LOCK;
            if entries.any(|entry| entry.is_ok_and(|entry| !ours(&entry))) {
                return Err(Error::usage(format!(
                    "{}: has files of something else; expected a new folder, or one of an earlier study",
                    self.root.display()
                )));
            }
        }
        fs::create_dir_all(&temporary).map_err(Error::file(&temporary, "create"))
    }

    /// Takes the lock, and removes what a killed predecessor left half-written.
    pub(crate) fn lock(&self) -> Result<Lock, Error> {
        let path = self.root.join(LOCK);
        let file = File::create(&path).map_err(Error::file(&path, "create"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::usage(format!(
                    "{}: another process is working on this study; wait for its end or stop it",
                    self.root.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(Error::file(&path, "lock")(error)),
        }
        Ok(Lock { _file: file })
    }

    /// Removes half-written files. Only for who holds the lock, and only before tasks run.
    pub(crate) fn sweep(&self) {
        let entries = fs::read_dir(self.root.join(TEMPORARY));
        for entry in entries.into_iter().flatten().flatten() {
            // What cannot be removed only takes space.
            let _ = fs::remove_file(entry.path());
        }
    }

    pub(crate) fn has_plan(&self) -> bool {
        self.root.join(PLAN).is_file()
    }

    /// The text of the plan.
    pub(crate) fn read_plan(&self) -> Result<String, Error> {
        let path = self.root.join(PLAN);
        fs::read_to_string(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::usage(format!(
                "{}: there is no study here, expected a folder with study.json",
                self.root.display()
            )),
            _ => Error::file(&path, "read")(error),
        })
    }

    pub(crate) fn write_plan(&self, text: &str) -> Result<(), Error> {
        self.write(&self.root.join(PLAN), |out| out.write_all(text.as_bytes()))
    }

    /// Writes the columns of a table without rows, unless they are there.
    pub(crate) fn write_schema(
        &self,
        table: &str,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Error> {
        let path = self.root.join(table).join(SCHEMA);
        match path.is_file() {
            true => Ok(()),
            false => self.write(&path, write),
        }
    }

    /// The file with the rows of a task.
    pub(crate) fn part(&self, table: &str, task: &str) -> PathBuf {
        self.root
            .join(table)
            .join(format!("task={task}"))
            .join(PART)
    }

    /// Writes the rows of a task. A file that is there is replaced: it has the same rows.
    pub(crate) fn write_part(
        &self,
        table: &str,
        task: &str,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Error> {
        self.write(&self.part(table, task), write)
    }

    /// Writes a file under another name, flushes it to the disk and gives it its name.
    pub(crate) fn write(
        &self,
        path: &Path,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(Error::file(folder, "create"))?;
        let done = self.temporary().and_then(|file| {
            // Written by the system's own file, whose errors do not name the other name.
            let mut out = BufWriter::with_capacity(BUFFER, file.as_file());
            write(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        });
        done.map_err(Error::file(path, "write"))
    }

    /// A file with a name of its own, which is removed unless it gets another name.
    fn temporary(&self) -> io::Result<tempfile::NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("part-");
        // Others may read results, as they may read any file that the user makes.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        builder.tempfile_in(self.root.join(TEMPORARY))
    }
}
