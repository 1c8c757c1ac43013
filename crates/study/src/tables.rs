//! Tables that only studies have.

use inorder_report::{Column, Kind};

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

/// The columns of a task.
pub(crate) static TASK: &[Column<TaskRow>] = &[
    Column::new(
        "items",
        Kind::Count,
        "Captures, runs or connections in the task.",
        |task: &TaskRow| task.items.into(),
    ),
    Column::new(
        "failed",
        Kind::Count,
        "Of these, captures that could not be read to their end.",
        |task: &TaskRow| task.failed.into(),
    ),
    Column::new("bytes", Kind::Bytes, "Bytes of its captures.", |task| {
        task.bytes.into()
    }),
];

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

/// The columns of a failure.
pub(crate) static FAILURE: &[Column<Failure>] = &[
    Column::new("file", Kind::Text, "The capture.", |f: &Failure| {
        f.file.as_str().into()
    }),
    Column::new(
        "kind",
        Kind::Choice(FAILURES),
        "Damaged: what came before the damage was analysed; not-a-capture; unreadable: it cannot be opened or read; \
         changed: it is not the capture that the study began with, so it was not read.",
        |f: &Failure| f.kind.into(),
    ),
    Column::new(
        "problem",
        Kind::Text,
        "What is wrong, in one line.",
        |f: &Failure| f.problem.as_str().into(),
    ),
    Column::new(
        "frames",
        Kind::Count,
        "Frames that were analysed.",
        |f: &Failure| f.frames.into(),
    ),
];
