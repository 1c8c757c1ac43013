//! How much of a study is done.

use std::path::Path;

/// How much is done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Tasks of the plan.
    pub tasks: usize,
    /// Of these, done.
    pub done: usize,
    /// Captures, runs or connections of the plan.
    pub items: u64,
    /// Of these, in tasks that are done.
    pub items_done: u64,
    /// Tasks that are done and have captures that are damaged or could not be read.
    pub with_errors: usize,
}

impl Tally {
    /// One line if captures of the study in `out` are damaged or could not be read.
    pub fn complaint(&self, out: &Path) -> Option<String> {
        let out = out.display();
        (self.with_errors > 0).then(|| {
            format!(
                "some captures are damaged or could not be read: `inorder query 'select file, problem from errors' {out}` \
                 says which and why"
            )
        })
    }

    /// True if nothing is left to do.
    pub fn is_complete(&self) -> bool {
        self.done == self.tasks
    }
}
