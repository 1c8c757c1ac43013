//! Observes a run.

use super::bound::Bound;
use super::handle::{PlaceId, TransitionId};

/// Numbers of tokens in places.
pub trait Marking {
    /// Tokens in the place, with any keys.
    fn tokens(&self, place: PlaceId) -> u32;
    /// Tokens with this key.
    fn with_key(&self, place: PlaceId, key: u32) -> u32;
}

/// What a transition did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It took its tokens.
    Started,
    /// It deposited its outputs.
    Ended,
    /// A firing of it ended without outputs.
    Cancelled,
}

/// Is called for the events of a run. The methods do nothing by default; `()` observes nothing and costs nothing.
pub trait Observer<T> {
    /// A typed token arrived in a place, or left the net at a sink.
    fn deposited(&mut self, now: u64, place: PlaceId, token: &T) {
        let _ = (now, place, token);
    }

    /// A firing ended; its outputs are deposited next.
    fn fired(&mut self, transition: TransitionId, bound: &Bound<'_, T>) {
        let _ = (transition, bound);
    }

    /// The marking changed: a timed firing started, or a firing ended, with its outputs, or was cancelled.
    fn changed(&mut self, now: u64, transition: TransitionId, how: Change, tokens: &dyn Marking) {
        let _ = (now, transition, how, tokens);
    }

    /// Nothing more happens at the current time; `tokens` are the numbers of tokens in the places.
    fn settled(&mut self, now: u64, tokens: &dyn Marking) {
        let _ = (now, tokens);
    }

    /// True to stop the run here; called when nothing more happens at the current time.
    fn is_done(&self) -> bool {
        false
    }
}

impl<T> Observer<T> for () {}
