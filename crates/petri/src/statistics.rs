//! Estimates with confidence intervals out of runs of any net.
//!
//! - [`steady_state`]: one long run, a warm-up thrown away, and the rest cut into batches whose means are
//!   treated as independent; it ends when every interval is as narrow as wanted.
//! - [`replicate`]: independent runs on all cores, for steady states as well as for transients.
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
