//! A progress bar on the terminal, nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::Progress;

/// Bytes read so far, on standard error.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar that shows itself only if standard error is a terminal.
    pub fn new() -> Self {
        let bar = ProgressBar::no_length();
        let style = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Bar(bar)
    }
}

impl Progress for Bar {
    fn at(&self, read: u64, total: Option<u64>) {
        if let Some(total) = total {
            self.0.set_length(total);
        }
        self.0.set_position(read);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
