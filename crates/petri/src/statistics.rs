//! Estimates with confidence intervals from runs of any net.
//!
//! - [`steady_state`]: one long run. Its warm-up is dropped, and the rest is divided into batches whose means are
//!   treated as independent; it ends when every interval is narrow enough.
//! - [`replicate`]: independent runs on all cores, for steady states and for transients.
//!
//! Intervals use Student's t. Sojourn times are by Little's law, as ratios of means.
//! (A. M. Law, "Simulation Modeling and Analysis", 5th ed., ch. 9.)

mod batch;
mod measures;
mod replications;
mod simulation;

pub use batch::{Steady, SteadyResult, steady_state};
pub use inorder_stats::Estimate;
pub use measures::{Measures, PlaceMeasures, TransitionMeasures};
pub use replications::{Replications, ReplicationsResult, replicate};
pub(crate) use simulation::integral;
pub use simulation::{Layout, PlaceTotal, Simulation, Totals, TransitionTotal};
