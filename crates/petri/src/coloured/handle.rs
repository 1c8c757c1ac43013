//! What models and transitions name: tokens, places, transitions, and functions of tokens.

use super::bound::Bound;

/// What a token carries: any small plain record. The default value never takes part in a run.
pub trait Token: Copy + Default + 'static {}

impl<T: Copy + Default + 'static> Token for T {}

/// A place of typed tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue(pub(crate) u32);

/// A place of indistinguishable tokens, or of as many kinds of them as it has keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counter(pub(crate) u32);

/// A place of either sort, by the order in which the places were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub(crate) u32);

/// A transition, by the order in which the transitions were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionId(pub(crate) u32);

impl PlaceId {
    /// Its index among the places.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TransitionId {
    /// Its index among the transitions.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<Queue> for PlaceId {
    fn from(queue: Queue) -> Self {
        Self(queue.0)
    }
}

impl From<Counter> for PlaceId {
    fn from(counter: Counter) -> Self {
        Self(counter.0)
    }
}

/// A function of one token.
pub(crate) type KeyOf<T> = Box<dyn Fn(&T) -> u32>;
/// The rank by which a queue of least first is ordered.
pub(crate) type RankOf<T> = Box<dyn Fn(&T) -> u64>;
/// A number out of the tokens bound.
pub(crate) type Of<T, N> = Box<dyn FnMut(&Bound<'_, T>) -> N>;
