//! Why something about a net cannot be found out.

use crate::coloured::{ModelError, RunError};
use crate::net::{NetError, written};
use crate::race::SplittingError;
use crate::text::beginning;

/// Why something about a net cannot be found out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A query cannot be read.
    #[error("query {:?}: {problem}", beginning(text))]
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
    #[error("{}{problem}", at(*line))]
    NotApplicable {
        /// The line of the net's file; 0 for the whole net.
        line: u32,
        /// Why.
        problem: String,
    },
    /// The net cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl Error {
    /// Something that does not apply to this net.
    pub(crate) fn not_applicable(error: impl std::fmt::Display) -> Self {
        Error::NotApplicable {
            line: 0,
            problem: error.to_string(),
        }
    }
}

fn at(line: u32) -> String {
    match line {
        0 => String::new(),
        line => format!("line {line}: "),
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
    /// A time that the clock cannot count to, or in which it does not move.
    #[error(
        "time {}: expected 0 or {least:e} to {most:e}, since the clock counts up to 2^64 and moves a million times in the \
         shortest mean delay",
        written(*time)
    )]
    Time {
        /// As it was given.
        time: f64,
        /// The smallest time above 0.
        least: f64,
        /// The greatest one.
        most: f64,
    },
    /// The warm-up leaves nothing to measure.
    #[error("warm-up {warm_up}: expected a time before the end of the run, {end}")]
    WarmUp {
        /// As it was given.
        warm_up: f64,
        /// End of the run.
        end: f64,
    },
    /// The level of importance splitting cannot be read.
    #[error("level: {0}")]
    Level(String),
    /// Importance splitting is not possible.
    #[error(transparent)]
    Splitting(#[from] SplittingError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
}
