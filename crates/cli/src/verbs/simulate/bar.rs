//! A progress bar over runs.

use indicatif::{ProgressBar, ProgressStyle};
use inorder_sim::Progress;

/// Runs done, on standard error; nothing where that is no terminal.
pub struct Bar(ProgressBar);

impl Bar {
    /// An empty bar.
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        let style = "{wide_bar} {pos}/{len} runs, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Bar(bar)
    }
}

impl Progress for Bar {
    fn at(&self, done: usize, all: usize) {
        self.0.set_length(all as u64);
        self.0.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
