//! Compares two results, before and after a change: two analyses, or two results of `simulate`.
//!
//! Each measure gets a value on both sides, their difference and its 95 % interval:
//!
//! - **Analyses.** The flows (and streams) are the independent units. A share is the ratio of two sums over them, with
//!   the variance of a ratio estimator (the delta method; A. M. Law, "Simulation Modeling and Analysis", section
//!   9.5.2). That variance is never taken smaller than `(x + 1) / n^2` for `x` counted in `n` packets, which
//!   independent packets would have: a few flows without any late packet do not prove that there are none. The
//!   difference has Welch's t interval.
//! - **Simulations.** The runs of a cell are the units. If both sides have the same seeds, the differences seed by
//!   seed are used (common random numbers), otherwise Welch's interval.
//!
//! With fewer than two units on a side there is no interval, and nothing is concluded from the difference.

mod judge;
mod output;
mod read;

pub use judge::{Change, Comparison, Verdict, compare};
#[cfg(feature = "arrow")]
pub use output::batches;
pub use output::{write_csv, write_json, write_schema, write_text};
pub use read::{Side, Unreadable};
