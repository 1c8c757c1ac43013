//! The tokens bound by a firing.

use std::ops::Index;

/// The input of guards, delays and output functions: the tokens taken or read, in the order of the arcs.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a, T> {
    /// The tokens.
    pub tokens: &'a [T],
    /// The colour of the firing: the key shared by its keyed places, 0 if there are none.
    pub colour: u32,
    /// The time now, in ticks.
    pub now: u64,
    /// Time at which the firing started, in ticks; equal to `now` for an immediate one and at the start.
    pub started: u64,
}

impl<T> Index<usize> for Bound<'_, T> {
    type Output = T;

    /// The token bound by the arc with this index, counting the arcs that take or read typed tokens (an arc that
    /// takes several counts several times).
    /// several counts as often).
    fn index(&self, index: usize) -> &T {
        &self.tokens[index]
    }
}
