//! The input of a reduction, and its errors.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::quantity::Quantities;

/// The files of `experiments/` with their paths.
pub(crate) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// How to run experiments.
pub struct Context<'a> {
    /// Use a smaller grid and shorter runs, for a first look and for tests.
    pub quick: bool,
    /// Number of independent repetitions; `None` for the experiment's default.
    pub repetitions: Option<u32>,
    /// Seed of the first repetition; the others follow.
    pub seed: u64,
    /// Number of threads; 0 for one per processor. The results do not depend on it.
    pub threads: usize,
    /// Overrides of every scenario, `key=value`, after those of the experiment: for the question what would change.
    pub set: &'a [String],
    /// Called with the number of completed runs and the number of runs known so far.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set this to stop; results that are complete are kept.
    pub stop: &'a AtomicBool,
}

#[cfg(test)]
impl<'a> Context<'a> {
    /// One repetition on the small grid, from seed 1.
    pub(crate) fn quick(stop: &'a AtomicBool) -> Self {
        Context {
            quick: true,
            repetitions: Some(1),
            seed: 1,
            threads: 0,
            set: &[],
            progress: &|_, _| {},
            stop,
        }
    }
}

impl Context<'_> {
    /// Number of repetitions; `usual` is the experiment's default.
    pub(crate) fn repetitions_or(&self, usual: u32) -> u32 {
        self.repetitions
            .unwrap_or(if self.quick { 2 } else { usual })
            .max(1)
    }

    /// True if the user has requested a stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Why an item has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
    /// A printed table of this crate is malformed.
    #[error("printed values: {0}")]
    Printed(#[from] crate::printed::PrintedError),
    /// A scenario of this crate is malformed.
    #[error("{0}")]
    Scenario(#[from] inorder_scenario::Error),
    /// A scenario could not be run.
    #[error("{0}")]
    Sim(#[from] inorder_sim::Error),
    /// A network processor could not be simulated.
    #[error("{0}")]
    Netproc(#[from] inorder_netproc::NetprocError),
    /// The system does not provide threads.
    #[error("no threads to run on: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A paper's file is malformed.
    #[error("experiments/{file}: {what}")]
    Data {
        /// Path below `experiments/`.
        file: String,
        /// What is wrong, with the line if known.
        what: String,
    },
}

impl ExperimentError {
    /// An error in a file of a paper.
    pub(crate) fn data(file: &str, what: &impl ToString) -> Self {
        Self::Data {
            file: file.to_owned(),
            what: what.to_string(),
        }
    }
}

/// The function that measures an item according to the settings in its file.
pub(crate) type Reduction = fn(&Setting<'_>) -> Result<Quantities, ExperimentError>;

/// The input of a reduction.
pub(crate) struct Setting<'a> {
    /// How to run.
    pub context: &'a Context<'a>,
    /// The paper's file, for messages.
    pub paper_file: &'a str,
    /// The item's name.
    pub item: &'a str,
    /// The contents of its `run` table.
    pub run: &'a toml::Table,
}

impl Setting<'_> {
    /// The settings of the item's `run`, as the type that the reduction needs.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ExperimentError> {
        let mut table = self.run.clone();
        table.remove("reduction");
        let wrong = |error: toml::de::Error| {
            let what = format!("item {}: run: {}", self.item, error.message());
            ExperimentError::data(self.paper_file, &what)
        };
        table.try_into().map_err(wrong)
    }
}

/// A file of `experiments/`, by its path.
pub(crate) fn file(name: &str) -> Result<&'static str, ExperimentError> {
    let found = FILES.iter().find(|(path, _)| *path == name);
    found
        .map(|(_, text)| *text)
        .ok_or_else(|| ExperimentError::data(name, &"no such file"))
}
