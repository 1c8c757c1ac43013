//! Reachable markings of a net and what they show: deadlocks, bounds, dead and live transitions.
//!
//! [`Graph`] is the graph itself, [`Report`] the findings. Both stop at a maximum number of markings and report that.

pub(crate) mod boundedness;
pub(crate) mod components;
mod export;
pub(crate) mod graph;
mod moves;
pub(crate) mod report;
mod states;
pub(crate) mod words;

pub use boundedness::{Boundedness, Growth};
pub use graph::Graph;
pub use moves::{Move, Moves, Plain};
pub use report::{Deadlock, LongRun, Report, Terminal};
