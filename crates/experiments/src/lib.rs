//! Published experiments on packet reordering, repeated with this project's simulators.
//!
//! A paper is a file, `experiments/PAPER/paper.toml`: its tables and figures, the simulations for each, the numbers
//! it prints and the claims it makes. Running an item returns [`Findings`]: printed numbers next to ours, and claims
//! with a [`Verdict`].
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use inorder_experiments::{Context, Verdict, find};
//!
//! let stop = AtomicBool::new(false);
//! let context = Context { quick: true, repetitions: None, seed: 1, threads: 0, set: &[], progress: &|_, _| {}, stop: &stop };
//! let paper = find("periodic").expect("known");
//! let windows = paper.items.iter().find(|item| item.name == "window").expect("known");
//! let findings = windows.run(&context)?;
//! assert_eq!(findings.claims[0].verdict, Verdict::Held);
//! # Ok::<(), inorder_experiments::ExperimentError>(())
//! ```
//!
//! A claim is judged by its 95 % interval. It held if the whole interval satisfies the criterion, it failed if no
//! part of the interval does, otherwise it is undecided. A claim about several cells held if it held in all of them,
//! and failed if it failed in one. A single repetition of a random quantity decides nothing.

#![forbid(unsafe_code)]

mod campaign;
mod chosen;
mod claim;
mod data;
mod interval;
mod judge;
pub mod markdown;
mod measures;
mod paper;
mod papers;
mod printed;
mod quantity;
pub mod report;
mod setting;
#[cfg(test)]
mod testing;
mod verdict;

pub use chosen::{Unknown, paper as paper_named};
pub use claim::{Axis, Claim, Comparison, Findings};
pub use inorder_base::stats::Estimate;
pub use paper::{Item, Paper, Why, find, papers};
pub use printed::PrintedError;
pub use setting::{Context, ExperimentError};
pub use verdict::Verdict;
