//! A transition as stored in a model.

use inorder_base::random::Random;

use super::bound::Bound;
use super::delay::Delay;
use super::handle::Of;

/// How long a firing takes.
pub(crate) enum Timing<T> {
    Immediate,
    Delay(Delay),
    By(DelayOf<T>),
    /// The sum of exponential stages: their number, and the mean of the sum in ticks.
    Stages(Of<T, (u32, f64)>),
}

pub(crate) type DelayOf<T> = Box<dyn FnMut(&Bound<'_, T>, &mut Random) -> u64 + Send>;

/// An arc that binds typed tokens.
pub(crate) struct Take<T> {
    pub(crate) place: u32,
    pub(crate) count: u32,
    /// The key to take from; `None` for the colour, or for the only key.
    pub(crate) key: Option<Of<T, u32>>,
    /// A read arc does not remove the tokens.
    pub(crate) keep: bool,
}

/// Number of plain tokens.
pub(crate) enum Count<T> {
    Fixed(u32),
    By(Of<T, u32>),
}

/// An arc that consumes (or, as a read arc, requires) plain tokens.
pub(crate) struct Spend<T> {
    pub(crate) place: u32,
    pub(crate) count: Count<T>,
    pub(crate) key: Option<Of<T, u32>>,
    pub(crate) keep: bool,
}

/// Forbids firing while the place (or the colour's part of it) holds `count` tokens or more.
pub(crate) struct Inhibitor {
    pub(crate) place: u32,
    pub(crate) count: u32,
    pub(crate) of_colour: bool,
}

/// Which firings under way are cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one that started first.
    Oldest,
    /// The one that started last.
    Newest,
    /// All.
    All,
}

/// Whether a firing, the first argument, cancels one under way that holds these tokens.
pub(crate) type Cancels<T> = Box<dyn FnMut(&Bound<'_, T>, &[T]) -> bool + Send>;

/// Firings of another transition that end without outputs when this one ends.
pub(crate) struct Cancel<T> {
    pub(crate) transition: u32,
    pub(crate) which: Which,
    pub(crate) only_if: Cancels<T>,
    /// Where the first token of each goes; otherwise their tokens are gone.
    pub(crate) to: Option<u32>,
}

impl<T> Cancel<T> {
    /// Those that are cancelled of firings under way, which are given in the order in which they started.
    pub(crate) fn chosen<'t, K>(
        &mut self,
        own: &Bound<'_, T>,
        under_way: impl DoubleEndedIterator<Item = (K, &'t [T])>,
    ) -> Vec<K>
    where
        T: 't,
    {
        let mut fits = |(key, tokens): (K, &[T])| (self.only_if)(own, tokens).then_some(key);
        match self.which {
            Which::All => under_way.filter_map(fits).collect(),
            Which::Oldest => under_way.into_iter().find_map(fits).into_iter().collect(),
            Which::Newest => under_way.rev().find_map(&mut fits).into_iter().collect(),
        }
    }
}

/// What a firing does outside the net when it ends.
pub(crate) type Act<T> = Box<dyn FnMut(&Bound<'_, T>) + Send>;
pub(crate) type Emit<T> = Box<dyn FnMut(&Bound<'_, T>, &mut Vec<T>) + Send>;

/// What an output arc deposits.
pub(crate) enum Product<T> {
    /// The token bound at this index, as it is.
    Pass(u32),
    Token(Of<T, T>),
    Maybe(Of<T, Option<T>>),
    /// To the place with the returned index.
    Route(Box<[u32]>, Of<T, (usize, T)>),
    Many(Emit<T>),
    /// Plain tokens, to the given key, the colour, or the only key.
    Plain(Count<T>, Option<Of<T, u32>>),
}

impl<T> Product<T> {
    /// The possible places; `place` is that of the arc.
    pub(crate) fn places(&self, place: u32) -> Vec<u32> {
        match self {
            Self::Route(places, _) => places.to_vec(),
            _ => vec![place],
        }
    }
}

pub(crate) struct Output<T> {
    pub(crate) place: u32,
    pub(crate) product: Product<T>,
}

/// A transition as written.
pub(crate) struct TransitionSpec<T> {
    pub(crate) name: String,
    pub(crate) timing: Timing<T>,
    pub(crate) priority: Option<u32>,
    pub(crate) weight: f64,
    pub(crate) servers: Option<u32>,
    pub(crate) takes: Vec<Take<T>>,
    pub(crate) spends: Vec<Spend<T>>,
    pub(crate) inhibitors: Vec<Inhibitor>,
    pub(crate) resets: Vec<u32>,
    pub(crate) guard: Option<Of<T, bool>>,
    pub(crate) act: Option<Act<T>>,
    pub(crate) cancels: Vec<Cancel<T>>,
    pub(crate) outputs: Vec<Output<T>>,
}

impl<T> TransitionSpec<T> {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            timing: Timing::Immediate,
            priority: None,
            weight: 1.0,
            servers: None,
            takes: Vec::new(),
            spends: Vec::new(),
            inhibitors: Vec::new(),
            resets: Vec::new(),
            guard: None,
            act: None,
            cancels: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Immediate transitions come before timed ones by default.
    pub(crate) fn priority(&self) -> u32 {
        self.priority
            .unwrap_or(u32::from(matches!(self.timing, Timing::Immediate)))
    }
}
