//! Errors of models and of runs.

use thiserror::Error;

/// Why a model cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Names of places and transitions must be unique.
    #[error("two places or transitions are called `{0}`")]
    DuplicateName(String),
    /// A handle of another model.
    #[error("transition `{transition}`: an arc refers to a place that the model does not have")]
    UnknownPlace {
        /// The transition.
        transition: String,
    },
    /// A keyed place needs at least one key.
    #[error("place `{0}`: there must be at least one key")]
    NoKeys(String),
    /// The key of an initial token is out of range.
    #[error("place `{place}`: the key of token {index} is not below {keys}")]
    Key {
        /// The place.
        place: String,
        /// Index of the initial token, from 0.
        index: usize,
        /// Number of keys.
        keys: u32,
    },
    /// More initial tokens than the capacity.
    #[error("place `{place}`: {tokens} tokens at the start, but a capacity of {capacity}")]
    OverCapacity {
        /// The place.
        place: String,
        /// Tokens at the start.
        tokens: u64,
        /// The capacity.
        capacity: u32,
    },
    /// A colour is one key, so keyed places joined by it must have the same number of keys.
    #[error("transition `{transition}`: `{first}` and `{second}` differ in their number of keys")]
    KeysDiffer {
        /// The transition.
        transition: String,
        /// A keyed place.
        first: String,
        /// Another.
        second: String,
    },
    /// An arc needs a colour, but no arc determines it.
    #[error("transition `{transition}`: no keyed input tells which key of `{place}` is meant")]
    NoColour {
        /// The transition.
        transition: String,
        /// The keyed place.
        place: String,
    },
    /// Several arcs of the same sort to one place; one arc with a count should be used.
    #[error(
        "transition `{transition}`: more than one arc from `{place}`; use one that takes several, or for tokens of two keys two transitions, one \
         behind the other"
    )]
    TwoArcs {
        /// The transition.
        transition: String,
        /// The place.
        place: String,
    },
    /// Tokens cannot be taken from a sink.
    #[error("transition `{transition}`: takes from the sink `{place}`")]
    TakesFromSink {
        /// The transition.
        transition: String,
        /// The sink.
        place: String,
    },
    /// Only the first token of such a queue can be examined before it is taken.
    #[error(
        "transition `{transition}`: a choice by guard or key over several tokens of `{place}` needs a first-in-first-out queue"
    )]
    ManyUnordered {
        /// The transition.
        transition: String,
        /// The place.
        place: String,
    },
    /// An output passes on a token that was not bound.
    #[error("transition `{transition}`: passes token {index}, but binds {bound}")]
    NotBound {
        /// The transition.
        transition: String,
        /// The index given.
        index: u32,
        /// Number of tokens bound.
        bound: u32,
    },
    /// A parameter is out of range.
    #[error("transition `{transition}`: {what}")]
    Parameter {
        /// The transition.
        transition: String,
        /// The expected range.
        what: &'static str,
    },
    /// A transition that, once enabled, fires without end while time does not advance.
    #[error("transition `{transition}`: a zero-time loop: it is immediate and {why}")]
    ZeroTimeLoop {
        /// The transition.
        transition: String,
        /// Why it stays enabled.
        why: &'static str,
    },
}

/// Why a run cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Transitions fire without end at one time, or nearly so.
    #[error(
        "a zero-time loop, or a chain too long to wait for: at tick {time} there were {firings} firings without time going by, the last through \
         place `{place}` and transitions {transitions}; expected delays, or fewer tokens"
    )]
    ZeroTimeLoop {
        /// The time, in ticks.
        time: u64,
        /// Firings counted.
        firings: u64,
        /// A place of the loop.
        place: String,
        /// The transitions of the loop.
        transitions: String,
    },
    /// A token was sent to a keyed place with a key that is out of range.
    #[error("place `{place}`: a token with key {key}, but the keys are 0..{keys}")]
    Key {
        /// The place.
        place: String,
        /// The key.
        key: u32,
        /// Number of keys.
        keys: u32,
    },
    /// A token was sent to an output that does not exist.
    #[error("transition `{transition}`: a token for output {index}, which there is not")]
    Route {
        /// The transition.
        transition: String,
        /// The index given.
        index: usize,
    },
    /// The counter of a place overflowed.
    #[error("place `{0}`: more tokens than can be counted")]
    TooManyTokens(String),
    /// Splitting does not end.
    #[error(
        "importance splitting: a trial does not come back below its threshold, or too many wait, after {0} events or trials; \
         expected a level that falls again"
    )]
    Trial(u64),
    /// Too many firings in progress: an unlimited transition receives tokens faster than it completes.
    #[error("transition `{0}`: more than 16 million firings under way")]
    TooManyFirings(String),
}

impl RunError {
    /// Of `transitions`, which fired last.
    pub(crate) fn zero_time_loop<'n>(
        time: u64,
        firings: u64,
        place: &str,
        transitions: impl Iterator<Item = &'n String>,
    ) -> Self {
        let transitions: Vec<String> = transitions.map(|name| format!("`{name}`")).collect();
        Self::ZeroTimeLoop {
            time,
            firings,
            place: place.to_owned(),
            transitions: transitions.join(", "),
        }
    }
}
