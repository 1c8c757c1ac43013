//! Why a net has no exact solution here.

use crate::net::NetError;

/// Why a net has no exact solution here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MarkovError {
    /// The net itself is refused.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A delay without memoryless stages.
    #[error(
        "{}transition {transition}: a {timing} delay has no exact solution; \
         expected immediate, exponential or single-server Erlang (simulate this net instead)",
        at(*line)
    )]
    NotExponential {
        /// The transition.
        transition: String,
        /// Its kind of delay.
        timing: &'static str,
        /// Where it was written; 0 for nets made in Rust.
        line: u32,
    },
    /// More markings than allowed.
    #[error(
        "more than {limit} markings; raise the bound, or the net is unbounded (see its reachability report)"
    )]
    TooManyMarkings {
        /// How many were allowed.
        limit: usize,
    },
    /// Immediate transitions go on for ever and no time passes.
    #[error(
        "zero-time loop: immediate {} fire for ever from the marking {marking}; \
         expected a way to a marking in which time passes",
        transitions.join(", ")
    )]
    ZeroTimeLoop {
        /// The transitions.
        transitions: Vec<String>,
        /// A marking of the loop, in words.
        marking: String,
    },
    /// Too many markings in one cycle of immediate transitions.
    #[error(
        "{markings} markings in one cycle of immediate transitions; at most {limit} can be solved"
    )]
    CycleTooLarge {
        /// How many.
        markings: usize,
        /// How many can be solved.
        limit: usize,
    },
    /// The long run depends on chance: there is not one steady state.
    #[error(
        "no single steady state: the net can end in {} different ways, for good: {}",
        classes.len(),
        classes.join("; ")
    )]
    SeveralRecurrentClasses {
        /// A marking of each recurrent class and its size, in words.
        classes: Vec<String>,
    },
    /// The iteration did not come to rest.
    #[error(
        "the steady state was not found in {sweeps} sweeps: the last changed it by {change:e} of itself"
    )]
    NotConverged {
        /// Sweeps done.
        sweeps: usize,
        /// Largest relative change of the last.
        change: f64,
    },
    /// A time that is not one.
    #[error("time {0}; expected a finite number, 0 or above")]
    BadTime(f64),
}

fn at(line: u32) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}
