//! The papers. A paper is a file (or a folder) here and a line in [`PAPERS`].

mod campaign;
mod entropy;
mod entropy_transfers;
mod mobile;
mod mobile_flow;
mod mobile_joining;
mod network_processor;
mod periodic;
mod periodic_traces;
mod srpic;

use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

use crate::Findings;

/// How to run.
pub struct Context<'a> {
    /// A smaller grid and shorter runs, for a first look and for tests.
    pub quick: bool,
    /// Independent repetitions; `None`: as the experiment wants.
    pub repetitions: Option<u32>,
    /// Seed of the first repetition; the others follow.
    pub seed: u64,
    /// Threads; 0: one for each processor. The results do not depend on it.
    pub threads: usize,
    /// Told of runs done and runs known so far.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set to stop; what is complete is kept.
    pub stop: &'a AtomicBool,
}

#[cfg(test)]
impl<'a> Context<'a> {
    /// One repetition on the small grid, from seed 1.
    fn quick(stop: &'a AtomicBool) -> Self {
        Context {
            quick: true,
            repetitions: Some(1),
            seed: 1,
            threads: 0,
            progress: &|_, _| {},
            stop,
        }
    }
}

impl Context<'_> {
    /// Repetitions to make, where the experiment itself wants `usual`.
    pub fn repetitions_or(&self, usual: u32) -> u32 {
        self.repetitions
            .unwrap_or(if self.quick { 2 } else { usual })
            .max(1)
    }

    /// True once the user has had enough.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Why an item gave nothing.
#[derive(Debug, Error)]
pub enum ExperimentError {
    /// Stopped by the user.
    #[error("stopped")]
    Stopped,
    /// A printed table of this crate does not read.
    #[error("printed values: {0}")]
    Printed(#[from] crate::printed::PrintedError),
    /// A scenario of this crate does not read.
    #[error("{0}")]
    Scenario(#[from] inorder_scenario::Error),
    /// A scenario could not be run.
    #[error("{0}")]
    Sim(#[from] inorder_sim::Error),
    /// A network processor could not be simulated.
    #[error("{0}")]
    Netproc(#[from] inorder_netproc::NetprocError),
    /// The system gives no threads.
    #[error("no threads to run on: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// A table or figure.
pub struct Item {
    /// `table-4`, `figure-7`.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Context<'_>) -> Result<Findings, ExperimentError>,
}

/// A paper.
pub struct Paper {
    /// Name for commands.
    pub name: &'static str,
    /// Authors, title, where.
    pub title: &'static str,
    /// Its tables and figures.
    pub items: &'static [Item],
}

/// All papers.
pub static PAPERS: &[Paper] = &[
    srpic::PAPER,
    entropy::PAPER,
    mobile::PAPER,
    network_processor::PAPER,
    periodic::PAPER,
];

/// The paper called `name`.
pub fn find(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}
