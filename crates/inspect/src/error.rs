//! Why something about a net cannot be found out.

use inorder_petri::coloured::{ModelError, RunError};
use inorder_petri::net::NetError;

/// Why something about a net cannot be found out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A query cannot be read.
    #[error("query {text:?}: {problem}")]
    Query {
        /// The query.
        text: String,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// Means are asked of a simulation in which they have no meaning.
    #[error(
        "P(...) and E(...) are not estimated with `reserve`, which holds tokens outside the places"
    )]
    Reserved,
    /// The net is well-formed, but what is wanted does not apply to it.
    #[error("{0}")]
    NotApplicable(String),
    /// The net cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl Error {
    /// Something that does not apply to this net.
    pub(crate) fn not_applicable(error: impl std::fmt::Display) -> Self {
        Error::NotApplicable(error.to_string())
    }
}

/// Why a net cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The net is not well-formed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The engine cannot take it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}
