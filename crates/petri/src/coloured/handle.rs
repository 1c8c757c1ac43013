//! Handles and function types used by models and transitions.

use super::bound::Bound;

/// The content of a token: any small plain record. The default value is never used as a token.
pub trait Token: Copy + Default + Send + 'static {}

impl<T: Copy + Default + Send + 'static> Token for T {}

/// A place of typed tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue(pub(crate) u32);

/// A place of indistinguishable tokens; with keys, of one kind of tokens per key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counter(pub(crate) u32);

/// A place of either sort, numbered in the order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlaceId(pub(crate) u32);

/// A transition, numbered in the order of creation.
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
pub(crate) type KeyOf<T> = Box<dyn Fn(&T) -> u32 + Send>;
/// The rank by which a queue ordered by least rank is sorted.
pub(crate) type RankOf<T> = Box<dyn Fn(&T) -> u64 + Send>;
/// A number computed from the bound tokens.
pub(crate) type Of<T, N> = Box<dyn FnMut(&Bound<'_, T>) -> N + Send>;
