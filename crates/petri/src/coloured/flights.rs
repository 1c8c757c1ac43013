//! Firings in progress, in the slots of their events.

use super::bound::Bound;
use super::handle::Token;

/// A firing in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    /// Index of its rule; [`NONE`] for a free slot.
    pub(crate) rule: u32,
    pub(crate) colour: u32,
    /// Start time, in ticks.
    pub(crate) started: u64,
}

const NONE: u32 = u32::MAX;

impl Flight {
    #[inline]
    pub(crate) fn bound<T>(self, tokens: &[T], now: u64) -> Bound<'_, T> {
        Bound {
            tokens,
            colour: self.colour,
            now,
            started: self.started,
        }
    }
}

/// All firings in progress, with the tokens they hold.
pub(crate) struct Flights<T> {
    headers: Vec<Flight>,
    /// `stride` tokens per slot.
    tokens: Vec<T>,
    stride: usize,
}

impl<T: Token> Flights<T> {
    /// `stride` is the maximum number of tokens in a firing.
    pub(crate) fn new(stride: usize) -> Self {
        Self {
            headers: Vec::new(),
            tokens: Vec::new(),
            stride,
        }
    }

    /// A firing begins.
    #[inline]
    pub(crate) fn take_off(&mut self, slot: u32, flight: Flight, tokens: &[T]) {
        if slot as usize >= self.headers.len() {
            self.grow(slot as usize + 1);
        }
        self.headers[slot as usize] = flight;
        let first = slot as usize * self.stride;
        let held = &mut self.tokens[first..first + tokens.len()];
        for (index, slot) in held.iter_mut().enumerate() {
            *slot = tokens[index];
        }
    }

    #[cold]
    fn grow(&mut self, slots: usize) {
        let none = Flight {
            rule: NONE,
            colour: 0,
            started: 0,
        };
        self.headers.resize(slots, none);
        self.tokens.resize(slots * self.stride, T::default());
    }

    #[inline]
    pub(crate) fn header(&self, slot: u32) -> Flight {
        self.headers[slot as usize]
    }

    /// The tokens of a slot, including unused ones behind them.
    #[inline]
    pub(crate) fn tokens(&self, slot: u32) -> &[T] {
        let first = slot as usize * self.stride;
        &self.tokens[first..first + self.stride]
    }

    /// A firing ends.
    #[inline]
    pub(crate) fn land(&mut self, slot: u32) {
        self.headers[slot as usize].rule = NONE;
    }

    /// The firings in progress with their tokens, in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Flight, &[T])> {
        let slots = self
            .headers
            .iter()
            .enumerate()
            .filter(|(_, flight)| flight.rule != NONE);
        slots.map(|(slot, &flight)| (flight, self.tokens(slot as u32)))
    }
}
