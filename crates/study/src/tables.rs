//! Tables that only studies have.

use inorder_report::columns;

/// The table of tasks that are done.
pub(crate) const TASKS: &str = "tasks";
/// The table of captures that could not be read to their end.
pub(crate) const ERRORS: &str = "errors";

/// The table with a line for each capture of a corpus.
pub(crate) const CAPTURES: &str = "captures";

/// A task that is done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskRow {
    /// Captures, runs or connections in it.
    pub items: u64,
    /// Of these, captures that could not be read to their end.
    pub failed: u64,
    /// Bytes of its captures.
    pub bytes: u64,
}

columns! {
    /// The columns of a task.
    pub(crate) TASK: TaskRow, |task|
    "items": Count, "Captures, runs or connections in the task." => task.items;
    "failed": Count, "Of these, captures that could not be read to their end." => task.failed;
    "bytes": Bytes, "Bytes of its captures." => task.bytes;
}

/// A capture that could not be read to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) file: String,
    pub(crate) kind: &'static str,
    pub(crate) problem: String,
    pub(crate) frames: u64,
}

/// Why a capture could not be read to its end.
pub(crate) const FAILURES: &[&str] = &["damaged", "not-a-capture", "unreadable", "changed"];

columns! {
    /// The columns of a failure.
    pub(crate) FAILURE: Failure, |f|
    "file": Text, "The capture." => f.file.as_str();
    "kind": Choice(FAILURES), "Damaged: what came before the damage was analysed; not-a-capture; unreadable: it cannot be opened or read; changed: it is not the capture that the study began with, so it was not read."
        => f.kind;
    "problem": Text, "What is wrong, in one line." => f.problem.as_str();
    "frames": Count, "Frames that were analysed." => f.frames;
}
