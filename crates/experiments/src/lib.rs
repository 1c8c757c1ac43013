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
//! let paper = find("network-processor").expect("known");
//! let table = paper.items.iter().find(|item| item.name == "table-1").expect("known");
//! let findings = table.run(&context)?;
//! assert!(findings.claims.iter().all(|claim| claim.verdict != Verdict::Failed));
//! # Ok::<(), inorder_experiments::ExperimentError>(())
//! ```
//!
//! A claim is judged by its 95 % interval. It held if the whole interval satisfies the criterion, it failed if no
//! part of the interval does, otherwise it is undecided. A claim about several cells held if it held in all of them,
//! and failed if it failed in one. A single repetition of a random quantity decides nothing, and a quick run, with its smaller
//! grid and shorter runs, fails nothing. Beside the verdict stands what it rests on ([`Basis`]), and whether numbers more than a
//! factor of 2 from the printed ones have the right ratio only.

#![forbid(unsafe_code)]

mod campaign;
mod chosen;
mod claim;
mod data;
pub mod figure;
pub mod html;
mod interval;
mod judge;
mod magnitude;
pub mod markdown;
mod measures;
mod paper;
mod papers;
mod printed;
mod quantity;
pub mod report;
mod setting;
mod table;
#[cfg(test)]
mod testing;
mod verdict;

pub use chosen::{Unknown, paper as paper_named};
pub use claim::{Axis, Basis, Claim, Comparison, Findings};
pub use inorder_base::stats::Estimate;
pub use magnitude::Magnitudes;
pub use paper::{Item, Paper, Why, find, papers};
pub use printed::PrintedError;
pub use setting::{Context, ExperimentError};
pub use verdict::Verdict;
