//! Firings in progress, in reusable slots.

use super::bound::Bound;
use super::events::MAX_SLOTS;
use super::handle::Token;

/// A firing in progress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flight {
    /// Index of its rule; [`NONE`] for a free slot, [`CANCELLED`] for one that waits for its event.
    pub(crate) rule: u32,
    pub(crate) colour: u32,
    /// Start time, in ticks.
    pub(crate) started: u64,
}

const NONE: u32 = u32::MAX;
const CANCELLED: u32 = u32::MAX - 1;

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
    free: Vec<u32>,
}

impl<T: Token> Flights<T> {
    /// `stride` is the maximum number of tokens in a firing.
    pub(crate) fn new(stride: usize) -> Self {
        Self {
            headers: Vec::new(),
            tokens: Vec::new(),
            stride,
            free: Vec::new(),
        }
    }

    /// The slot of a new firing; `None` if there are too many.
    #[inline]
    pub(crate) fn take_off(&mut self, flight: Flight, tokens: &[T]) -> Option<u32> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.grow()?,
        };
        self.headers[slot as usize] = flight;
        let first = slot as usize * self.stride;
        let held = &mut self.tokens[first..first + tokens.len()];
        for (index, slot) in held.iter_mut().enumerate() {
            *slot = tokens[index];
        }
        Some(slot)
    }

    #[cold]
    fn grow(&mut self) -> Option<u32> {
        let slot = self.headers.len();
        if slot >= MAX_SLOTS {
            return None;
        }
        self.headers.push(Flight {
            rule: NONE,
            colour: 0,
            started: 0,
        });
        self.tokens.resize((slot + 1) * self.stride, T::default());
        Some(slot as u32)
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

    /// Frees a slot.
    #[inline]
    pub(crate) fn land(&mut self, slot: u32) {
        self.headers[slot as usize].rule = NONE;
        self.free.push(slot);
    }

    /// The firing ends without outputs; its slot is free when its event is.
    pub(crate) fn cancel(&mut self, slot: u32) {
        self.headers[slot as usize].rule = CANCELLED;
    }

    #[inline]
    pub(crate) fn is_cancelled(&self, slot: u32) -> bool {
        self.headers[slot as usize].rule == CANCELLED
    }

    /// The firings in progress with their tokens, in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Flight, &[T])> {
        let slots = self
            .headers
            .iter()
            .enumerate()
            .filter(|(_, flight)| flight.rule < CANCELLED);
        slots.map(|(slot, &flight)| (flight, self.tokens(slot as u32)))
    }
}
