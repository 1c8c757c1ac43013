//! Reachable markings of a net and what they show: deadlocks, bounds, dead and live transitions.
//!
//! [`Graph`] is the graph itself, [`Report`] what it says. Both stop at a number of markings and say so.

mod boundedness;
pub(crate) mod compiled;
pub(crate) mod components;
pub(crate) mod graph;
mod report;
mod states;

pub use boundedness::Boundedness;
pub use graph::Graph;
pub use report::{Deadlock, LongRun, Report};
