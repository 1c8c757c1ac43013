//! Why a net is refused.

use super::Line;

/// A net that cannot mean anything, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{problem}", at(*line))]
pub struct NetError {
    /// The line of the place, transition or arc at fault; 0 for nets made in Rust.
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

/// What is wrong with a net.
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
    /// Two things of one name.
    #[error("the name {name} is used twice, first {first}; expected names of their own")]
    DuplicateName {
        /// The name.
        name: String,
        /// What has it already, and where.
        first: String,
    },
    /// More tokens than the place may hold.
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
        /// What was found.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// An arc to a place the net does not have.
    #[error(
        "transition {transition}: the {kind} arc leads to place number {index}, but there are {places}"
    )]
    NoSuchPlace {
        /// The transition.
        transition: String,
        /// What kind of arc.
        kind: &'static str,
        /// The index asked for.
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
    /// Two arcs of one kind between the same two.
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
    /// Conditions on one place that no number of tokens meets.
    #[error("transition {transition} can never fire: {why}")]
    NeverEnabled {
        /// The transition.
        transition: String,
        /// The place whose conditions contradict each other.
        place: String,
        /// The contradiction.
        why: String,
    },
    /// Immediate transitions that, once begun, go on for ever while no time passes.
    #[error("zero-time loop: {}", loop_text(transitions, places))]
    ZeroTimeLoop {
        /// The transitions that keep firing.
        transitions: Vec<String>,
        /// The places the tokens go round; empty for a transition that needs no token.
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
