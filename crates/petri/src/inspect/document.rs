//! The findings about a net.

use crate::invariants::Invariants;
use crate::net::Net;
use crate::reachability::{Graph, Report};

use crate::inspect::exact::Exact;
use crate::inspect::queries::Answer;
use crate::inspect::simulate::Simulated;

/// What was found; what was not wanted is missing.
#[derive(Default)]
pub struct Findings {
    /// Estimates by simulation.
    pub simulated: Option<Simulated>,
    /// The exact solution.
    pub exact: Option<Exact>,
    /// P- and T-invariants.
    pub invariants: Option<Invariants>,
    /// The report on the reachable markings.
    pub reachability: Option<Report>,
    /// The reachable markings.
    pub graph: Option<Graph>,
    /// Answers to the queries, in their order.
    pub answers: Vec<Answer>,
    /// The job was stopped before its end.
    pub was_interrupted: bool,
}

impl Findings {
    /// Whether nothing was found: what was wanted has no results until its end, and was stopped.
    pub fn is_empty(&self) -> bool {
        self.simulated.is_none()
            && self.exact.is_none()
            && self.invariants.is_none()
            && self.reachability.is_none()
            && self.graph.is_none()
            && self.answers.is_empty()
    }
}

/// A net and what was found out about it.
pub struct Document {
    /// The net.
    pub net: Net,
    /// What was found.
    pub findings: Findings,
}
