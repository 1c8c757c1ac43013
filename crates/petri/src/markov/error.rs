//! Why a net has no exact solution.

use crate::net::{NetError, written};

/// Why a net has no exact solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MarkovError {
    /// The net itself is invalid.
    #[error(transparent)]
    Net(#[from] NetError),
    /// A delay that does not consist of memoryless stages.
    #[error(
        "transition {transition}: a {timing} delay has no exact solution; \
         expected immediate, exponential or single-server Erlang (simulate this net instead)"
    )]
    NotExponential {
        /// The transition.
        transition: String,
        /// Its kind of delay.
        timing: &'static str,
        /// Line of its definition; 0 for nets built in Rust.
        line: u32,
    },
    /// More markings than the limit.
    #[error(
        "more than {limit} markings{seen}; raise the limit, or give capacities to places in which tokens may become more and more, or simulate \
         this net instead"
    )]
    TooManyMarkings {
        /// The limit.
        limit: usize,
        /// What became most, in words; may be empty.
        seen: String,
    },
    /// Infinitely many markings.
    #[error(
        "unbounded: {growth}, so that there are infinitely many markings; expected capacities (or simulate this net instead)"
    )]
    Unbounded {
        /// How tokens become more without end.
        growth: String,
    },
    /// Markings that take more memory than the limit allows.
    #[error(
        "the first {markings} markings take {gib} GiB of memory{seen}; raise the limit, or the net is unbounded: tokens may come faster \
         than they leave (give the places capacities, or simulate this net instead)"
    )]
    TooMuchMemory {
        /// Markings found.
        markings: usize,
        /// Memory that they take.
        gib: usize,
        /// What became most, in words; may be empty.
        seen: String,
    },
    /// A place without a capacity reaches the most tokens that can be counted.
    #[error("place {place} {}", crate::net::Net::FULL)]
    Full {
        /// The place.
        place: String,
    },
    /// Rates that cannot be added up, or products of rates and probabilities that are too small to be represented.
    #[error(
        "the rates of leaving the marking {marking} are out of range: their sum is above 1e300, or one of them, times the \
         weights of the immediate transitions behind it, is below 1e-307; expected rates and weights nearer to 1 (another unit \
         of time)"
    )]
    Rates {
        /// The marking.
        marking: String,
    },
    /// Something went wrong in a marking.
    #[error("{0}")]
    Moves(String),
    /// The exploration or the solution was stopped from outside.
    #[error("stopped when {markings} markings were found, before they were solved")]
    Stopped {
        /// Markings found.
        markings: usize,
    },
    /// Immediate transitions fire without end while time does not advance.
    #[error(
        "zero-time loop: immediate {} fire for ever from the marking {marking}; \
         expected a way to a marking in which time passes",
        transitions.join(", ")
    )]
    ZeroTimeLoop {
        /// The transitions.
        transitions: Vec<String>,
        /// A marking of the loop, as text.
        marking: String,
    },
    /// Too many markings in one cycle of immediate transitions.
    #[error(
        "{markings} markings in one cycle of immediate transitions; at most {limit} can be solved"
    )]
    CycleTooLarge {
        /// Number of markings.
        markings: usize,
        /// Maximum number that can be solved.
        limit: usize,
    },
    /// The long run is random: there is no single steady state.
    #[error(
        "no single steady state: the net can end in {} different ways, for good: {}",
        classes.len(),
        classes.join("; ")
    )]
    SeveralRecurrentClasses {
        /// A marking of each recurrent class and its size, as text.
        classes: Vec<String>,
    },
    /// No distribution was found whose flows balance.
    #[error(
        "the steady state of {markings} markings was not found: elimination takes too much memory, and the iteration ended \
         with flows between groups of markings that differ{}; expected fewer markings (a smaller net, or fewer tokens), \
         or simulate this net instead",
        by(*imbalance)
    )]
    NotBalanced {
        /// Number of markings.
        markings: usize,
        /// Share by which flows in and out of a group differ; `None` if not even that could be computed.
        imbalance: Option<f64>,
    },
    /// A time so long that the chain cannot be followed to it.
    #[error(
        "time {}: the chain changes about {changes:e} times until then, which is too often; expected an earlier time, \
         or the long run",
        written(*time)
    )]
    TooLong {
        /// As it was given.
        time: f64,
        /// Expected number of changes.
        changes: f64,
    },
    /// An invalid time.
    #[error("time {0}; expected a finite number, 0 or above")]
    BadTime(f64),
}

impl MarkovError {
    /// The line of the net's file; 0 if there is none, or it is of the whole net.
    pub fn line(&self) -> u32 {
        match self {
            Self::NotExponential { line, .. } => *line,
            _ => 0,
        }
    }
}

fn by(imbalance: Option<f64>) -> String {
    imbalance.map_or_else(String::new, |share| format!(" by a share of {share:.1e}"))
}
