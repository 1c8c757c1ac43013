//! Why a net is refused.

use super::Line;

/// The error in an invalid net, with its line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{problem}", at(*line))]
pub struct NetError {
    /// The line of the place, transition or arc with the error; 0 for nets built in Rust.
    pub line: Line,
    /// What is wrong.
    pub problem: Problem,
}

fn at(line: Line) -> String {
    if line == 0 {
        String::new()
    } else {
        format!("line {line}: ")
    }
}

/// The errors of a net.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// A place or transition without a name, or with a control character in it.
    #[error("{what} {index} has no usable name {name:?}; expected printable characters")]
    BadName {
        /// `net`, `place` or `transition`.
        what: &'static str,
        /// Its index, from 0.
        index: usize,
        /// The name.
        name: String,
    },
    /// Two elements with the same name.
    #[error("the name {name} is used twice, first {first}; expected names of their own")]
    DuplicateName {
        /// The name.
        name: String,
        /// The element that already has the name, and its line.
        first: String,
    },
    /// More initial tokens than the capacity.
    #[error("place {place}: {tokens} tokens at the start, above its capacity of {capacity}")]
    AboveCapacity {
        /// The place.
        place: String,
        /// Tokens at the start.
        tokens: u32,
        /// Its capacity.
        capacity: u32,
    },
    /// A rate, delay, weight or number of servers out of its range.
    #[error("transition {transition}: {parameter} {found}; expected {expected}")]
    BadParameter {
        /// The transition.
        transition: String,
        /// Which number.
        parameter: &'static str,
        /// The value found.
        found: String,
        /// The valid range.
        expected: &'static str,
    },
    /// An arc to a place that does not exist.
    #[error(
        "transition {transition}: the {kind} arc leads to place number {index}, but there are {places}"
    )]
    NoSuchPlace {
        /// The transition.
        transition: String,
        /// What kind of arc.
        kind: &'static str,
        /// The index given.
        index: usize,
        /// How many places there are.
        places: usize,
    },
    /// An arc of multiplicity 0.
    #[error(
        "transition {transition}: the {kind} arc to {place} has multiplicity 0; expected 1 or more"
    )]
    ZeroMultiplicity {
        /// The transition.
        transition: String,
        /// What kind of arc.
        kind: &'static str,
        /// The place.
        place: String,
    },
    /// Two arcs of one kind between the same place and transition.
    #[error(
        "transition {transition}: two {kind} arcs to {place}; expected one, with a multiplicity"
    )]
    DuplicateArc {
        /// The transition.
        transition: String,
        /// What kind of arc.
        kind: &'static str,
        /// The place.
        place: String,
    },
    /// Conditions on one place that no number of tokens satisfies.
    #[error("transition {transition} can never fire: {why}")]
    NeverEnabled {
        /// The transition.
        transition: String,
        /// The place with contradicting conditions.
        place: String,
        /// The contradiction.
        why: String,
    },
    /// Immediate transitions that, once started, fire without end while time does not advance.
    #[error("zero-time loop: {}", loop_text(transitions, places))]
    ZeroTimeLoop {
        /// The transitions that keep firing.
        transitions: Vec<String>,
        /// The places through which the tokens circulate; empty for a transition that needs no token.
        places: Vec<String>,
    },
}

fn loop_text(transitions: &[String], places: &[String]) -> String {
    let around = if places.is_empty() {
        "without needing a token".to_owned()
    } else {
        format!("through {}", places.join(", "))
    };
    format!(
        "immediate {} would fire for ever {around}; expected a timed transition, or a way out",
        transitions.join(", ")
    )
}

/// A number as a message shows it: not with hundreds of zeros.
pub(crate) fn written(value: f64) -> String {
    match value.abs() {
        0.0 | 1e-6..1e15 => value.to_string(),
        _ if value.is_finite() => format!("{value:e}"),
        _ => value.to_string(),
    }
}
