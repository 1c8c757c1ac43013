//! The model as written: places of typed tokens, counters of plain tokens, transitions.

use super::handle::{Counter, KeyOf, Queue, RankOf, Token, TransitionId};
use super::spec::TransitionSpec;

/// Which token of a queue (within a key, if it has keys) is taken next.
pub(crate) enum Order<T> {
    Fifo,
    Random,
    Least(RankOf<T>),
}

/// How a queue orders its tokens, and its initial content.
///
/// ```
/// use inorder_petri::coloured::QueueSpec;
///
/// // Requests (engine, number): a random engine is served next, each engine's own requests in order.
/// let spec = QueueSpec::fifo().keyed(8, |request: &(u32, u64)| request.0).capacity(64);
/// # let _ = spec;
/// ```
pub struct QueueSpec<T> {
    pub(crate) order: Order<T>,
    pub(crate) keys: u32,
    pub(crate) key_of: Option<KeyOf<T>>,
    pub(crate) capacity: Option<u32>,
    pub(crate) tokens: Vec<T>,
    pub(crate) sink: bool,
}

impl<T: Token> QueueSpec<T> {
    /// First in, first out.
    pub fn fifo() -> Self {
        Self::of(Order::Fifo)
    }

    /// Any token, with equal probabilities.
    pub fn random() -> Self {
        Self::of(Order::Random)
    }

    /// The token of the least rank; among equal ranks, the first in.
    pub fn least(rank: impl Fn(&T) -> u64 + Send + 'static) -> Self {
        Self::of(Order::Least(Box::new(rank)))
    }

    fn of(order: Order<T>) -> Self {
        Self {
            order,
            keys: 1,
            key_of: None,
            capacity: None,
            tokens: Vec::new(),
            sink: false,
        }
    }

    /// Splits the queue by a key in `0..keys`; the order then applies to tokens with the same key, and transitions
    /// that take from the queue have a *colour*, the key (see
    /// [`TransitionBuilder::take`](super::TransitionBuilder::take)).
    #[must_use]
    pub fn keyed(mut self, keys: u32, key: impl Fn(&T) -> u32 + Send + 'static) -> Self {
        self.keys = keys;
        self.key_of = Some(Box::new(key));
        self
    }

    /// Limits the number of tokens, including those that timed transitions in progress will deposit.
    #[must_use]
    pub fn capacity(mut self, most: u32) -> Self {
        self.capacity = Some(most);
        self
    }

    /// The initial tokens, first in first.
    #[must_use]
    pub fn tokens(mut self, tokens: impl IntoIterator<Item = T>) -> Self {
        self.tokens.extend(tokens);
        self
    }
}

/// The initial number of plain tokens in a counter.
#[derive(Debug, Clone)]
pub struct CounterSpec {
    pub(crate) counts: Vec<u32>,
    pub(crate) keyed: bool,
    pub(crate) capacity: Option<u32>,
}

impl CounterSpec {
    /// `count` tokens of one kind.
    pub fn new(count: u32) -> Self {
        Self {
            counts: vec![count],
            keyed: false,
            capacity: None,
        }
    }

    /// `keys` kinds of tokens, `each` tokens of every kind.
    pub fn keyed(keys: u32, each: u32) -> Self {
        Self::counts(vec![each; keys as usize])
    }

    /// One kind for each element, which is its number of tokens.
    pub fn counts(counts: Vec<u32>) -> Self {
        Self {
            counts,
            keyed: true,
            capacity: None,
        }
    }

    /// Limits the total number of tokens of all kinds.
    #[must_use]
    pub fn capacity(mut self, most: u32) -> Self {
        self.capacity = Some(most);
        self
    }
}

/// A place as written.
pub(crate) struct PlaceSpec<T> {
    pub(crate) name: String,
    pub(crate) kind: PlaceKind<T>,
}

pub(crate) enum PlaceKind<T> {
    Queue(QueueSpec<T>),
    Counter(CounterSpec),
}

impl<T> PlaceSpec<T> {
    pub(crate) fn keys(&self) -> u32 {
        match &self.kind {
            PlaceKind::Queue(queue) => queue.keys,
            PlaceKind::Counter(counter) => counter.counts.len() as u32,
        }
    }

    pub(crate) fn is_keyed(&self) -> bool {
        match &self.kind {
            PlaceKind::Queue(queue) => queue.key_of.is_some(),
            PlaceKind::Counter(counter) => counter.keyed,
        }
    }

    pub(crate) fn capacity(&self) -> Option<u32> {
        match &self.kind {
            PlaceKind::Queue(queue) => queue.capacity,
            PlaceKind::Counter(counter) => counter.capacity,
        }
    }

    /// Tokens at the start.
    pub(crate) fn initial(&self) -> u64 {
        match &self.kind {
            PlaceKind::Queue(queue) => queue.tokens.len() as u64,
            PlaceKind::Counter(counter) => counter.counts.iter().map(|&n| u64::from(n)).sum(),
        }
    }

    pub(crate) fn is_random(&self) -> bool {
        matches!(&self.kind, PlaceKind::Queue(queue) if matches!(queue.order, Order::Random))
    }
}

/// A coloured timed Petri net under construction; [`super::Engine::new`] checks it and prepares it for running.
pub struct Model<T> {
    pub(crate) places: Vec<PlaceSpec<T>>,
    pub(crate) transitions: Vec<TransitionSpec<T>>,
}

impl<T: Token> Default for Model<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Token> Model<T> {
    /// A model without places and transitions.
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            transitions: Vec::new(),
        }
    }

    /// Adds a place of typed tokens.
    pub fn queue(&mut self, name: impl Into<String>, spec: QueueSpec<T>) -> Queue {
        Queue(self.place(name.into(), PlaceKind::Queue(spec)))
    }

    /// Adds a place of plain tokens.
    pub fn counter(&mut self, name: impl Into<String>, spec: CounterSpec) -> Counter {
        Counter(self.place(name.into(), PlaceKind::Counter(spec)))
    }

    /// Adds a place at which tokens leave the net: they are counted, passed to the [`super::Observer`] and dropped.
    pub fn sink(&mut self, name: impl Into<String>) -> Queue {
        let mut spec = QueueSpec::fifo();
        spec.sink = true;
        self.queue(name, spec)
    }

    fn place(&mut self, name: String, kind: PlaceKind<T>) -> u32 {
        self.places.push(PlaceSpec { name, kind });
        self.places.len() as u32 - 1
    }

    /// A transition that was added before, to add to it; nothing changes if there is no such one.
    pub fn transition_again(&mut self, id: TransitionId) -> super::TransitionBuilder<'_, T> {
        super::TransitionBuilder::of(self, id)
    }

    /// The names of the places, in the order they were made.
    pub fn place_names(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.name.as_str())
    }

    /// The names of the transitions, in the order they were made.
    pub fn transition_names(&self) -> impl Iterator<Item = &str> {
        self.transitions.iter().map(|t| t.name.as_str())
    }

    /// The transition with this name; the first one if there are several.
    pub fn find_transition(&self, name: &str) -> Option<TransitionId> {
        let found = self.transitions.iter().position(|t| t.name == name);
        found.map(|n| TransitionId(n as u32))
    }
}
