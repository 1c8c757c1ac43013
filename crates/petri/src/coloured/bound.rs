//! The tokens a firing has bound.

use std::ops::Index;

/// What guards, delays and output functions see of a firing: the tokens taken or read, in the order of the arcs.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a, T> {
    /// The tokens.
    pub tokens: &'a [T],
    /// The colour of the firing: the key shared by its keyed places, 0 without such.
    pub colour: u32,
    /// The time now, in ticks.
    pub now: u64,
    /// When the firing started, in ticks; `now` for an immediate one and while starting.
    pub started: u64,
}

impl<T> Index<usize> for Bound<'_, T> {
    type Output = T;

    /// The token bound by the arc with this index among those that take or read typed tokens (an arc that takes
    /// several counts as often).
    fn index(&self, index: usize) -> &T {
        &self.tokens[index]
    }
}
