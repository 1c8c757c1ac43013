//! Estimates with confidence intervals from runs of any net.
//!
//! - [`steady_state`]: one long run. Its warm-up is dropped, and the rest is divided into batches; what dependence they have
//!   left widens the intervals. It ends when every interval is narrow enough.
//! - [`replicate`]: independent runs on all cores, for steady states and for transients.
//!
//! Intervals use Student's t. Sojourn times are by Little's law, as ratios of means. What was never seen has a bound, and
//! [`Doubts`] say what the intervals cannot: that a place grows without end, that the warm-up is not over, that the time is
//! hardly longer than the memory of the net.
//! (A. M. Law, "Simulation Modeling and Analysis", 5th ed., ch. 9.)

mod batch;
mod digits;
mod doubts;
mod halves;
mod measures;
mod replications;
mod series;
mod simulation;

pub use batch::{Steady, steady_state};
pub use digits::{plain, with_digits};
pub use doubts::{Doubts, Unstable, grows_without_end};
pub use inorder_base::stats::Estimate;
pub use measures::{MIN_EQUAL_RUNS, Measures, PlaceMeasures, TransitionMeasures};
pub use replications::{Replications, replicate, run_seed};
pub use simulation::{Layout, PlaceTotal, Reward, Simulation, Totals, TransitionTotal};

/// Estimates, and how they were computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimated {
    /// The measures.
    pub measures: Measures,
    /// Why they may be wrong.
    pub doubts: Doubts,
    /// Number of batches of one run, or of runs, that count.
    pub observations: usize,
    /// Time at the start of the run, or of each run, that did not count, in ticks.
    pub warm_up: u64,
    /// Time at which it ended, in ticks.
    pub end: u64,
    /// True if the requested precision was reached, except for what was never seen, and there are no doubts.
    pub is_precise: bool,
}
