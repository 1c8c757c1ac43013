//! The progress bar of all verbs. It is drawn on standard error, only on a terminal, and only when a job has taken
//! half a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::manners;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter jobs draw nothing, because a bar that appears only for a moment disturbs.
const PATIENCE: Duration = Duration::from_millis(500);

/// The progress of a job.
pub(crate) struct Bar {
    bar: ProgressBar,
    begun: Instant,
    is_shown: AtomicBool,
}

impl Bar {
    /// Counts bytes read.
    pub(crate) fn bytes() -> Self {
        Bar::new("{wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left")
    }

    /// Counts `things` (runs, packets); `label` is printed before the bar and may be empty.
    pub(crate) fn counting(label: &str, things: &str) -> Self {
        let gap = if label.is_empty() { "" } else { " " };
        Bar::new(&format!(
            "{label}{gap}{{wide_bar}} {{pos}}/{{len}} {things}, {{eta}} left"
        ))
    }

    /// Counts runs, and also moves with simulated time within a run.
    pub(crate) fn simulated() -> Self {
        Bar::new("{wide_bar} {msg}, {eta} left")
    }

    /// Counts nothing, because the end is unknown; shows the text passed to [`say`](Self::say).
    pub(crate) fn endless() -> Self {
        Bar::new("{spinner} {elapsed} {msg}")
    }

    #[expect(clippy::disallowed_methods, reason = "progress is drawn in real time")]
    fn new(template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Bar {
            bar,
            begun: Instant::now(),
            is_shown: AtomicBool::new(false),
        }
    }

    /// Sets the progress: `done` of the total, if the total is known.
    pub(crate) fn at(&self, done: u64, all: Option<u64>) {
        if let Some(all) = all {
            self.bar.set_length(all);
        }
        self.bar.set_position(done);
        self.show();
    }

    /// Adds to the progress.
    pub(crate) fn add(&self, done: u64) {
        self.bar.inc(done);
        self.show();
    }

    /// Sets the text shown for a job without a known end.
    pub(crate) fn say(&self, message: String) {
        self.bar.set_message(message);
        self.bar.tick();
        self.show();
    }

    /// Starts drawing as soon as the job has taken long enough.
    fn show(&self) {
        if manners::may_show_progress()
            && self.begun.elapsed() >= PATIENCE
            && !self.is_shown.swap(true, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

/// A [`Bar`] for bytes that are read until the end or until the user stops the reading.
pub(crate) struct Reading {
    bar: Bar,
    stop: &'static AtomicBool,
}

impl Reading {
    /// Reading ends early as soon as `stop` is set.
    pub(crate) fn new(stop: &'static AtomicBool) -> Self {
        let bar = Bar::bytes();
        Reading { bar, stop }
    }
}

impl inorder_pipeline::Watch for Reading {
    fn progress(&self, read: u64, total: Option<u64>) {
        self.bar.at(read, total);
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl inorder_sim::Progress for Bar {
    fn at(&self, done: usize, all: usize, share: f64) {
        self.bar.set_message(format!("{done}/{all} runs"));
        Bar::at(self, (share * 10_000.0) as u64, Some(10_000));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
