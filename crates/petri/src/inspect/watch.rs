//! How far a job got, and whether it goes on.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::markov::Solving;

/// How far a job got.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Progress {
    /// Markings were found.
    Explored {
        /// Number of markings so far.
        markings: usize,
        /// Memory that they take.
        bytes: usize,
    },
    /// All markings were found; the equations are solved.
    Solving {
        /// Number of markings.
        markings: usize,
        /// How far their solution has come.
        solving: Solving,
    },
    /// One run goes on until its intervals are narrow.
    Simulated {
        /// Simulated time, in the unit of the net.
        time: f64,
        /// Relative half width of the worst interval.
        worst: f64,
    },
    /// Independent runs were made.
    Runs {
        /// Number of runs so far.
        done: u32,
        /// Maximum number of runs.
        most: u32,
    },
}

/// Who watches a job.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Hears how far the job got.
    pub progress: &'a dyn Fn(Progress),
    /// As soon as this is true, the job ends with what it has.
    pub stop: &'a AtomicBool,
}

impl Default for Watch<'_> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Watch {
            progress: &|_| {},
            stop: &NEVER,
        }
    }
}

impl Watch<'_> {
    /// Tells how far the job got; returns whether it goes on.
    pub(crate) fn tell(&self, progress: Progress) -> bool {
        (self.progress)(progress);
        !self.is_stopped()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
