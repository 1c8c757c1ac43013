//! What can happen in a state: the common face of plain and coloured nets for exploration, solution and the token game.

use super::boundedness;
use crate::net::compiled::{Compiled, Stages};
use crate::net::{Net, PlaceId, TransitionId};

/// Something that can happen in a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Move {
    /// Index of the transition in the net.
    pub transition: u32,
    /// True if it completes a stage of an Erlang delay and does not fire yet.
    pub is_stage: bool,
    /// True if no time passes before it.
    pub is_immediate: bool,
    /// Weight of an immediate move, rate of a timed one; not a number if the delay is not exponential.
    pub speed: f64,
    /// What it deposits, as an index in [`Moves::deposits`].
    pub deposit: u32,
}

/// A net in terms of states and moves. A state begins with the tokens of every place of [`Moves::net`].
pub trait Moves {
    /// The places and transitions to which states and moves refer.
    fn net(&self) -> &Net;
    /// The initial state.
    fn initial(&mut self) -> Result<Vec<u32>, String>;
    /// Calls `visit` with everything that can happen next in `state`, and the state after it.
    fn each(&mut self, state: &[u32], visit: &mut dyn FnMut(Move, &[u32])) -> Result<(), String>;
    /// `None` if a transition alone says what a move does and how fast: then nothing is kept of each move. Otherwise
    /// the tokens that moves deposit, by [`Move::deposit`].
    fn deposits(&self) -> Option<&[Vec<(PlaceId, u32)>]> {
        None
    }
    /// Bytes of memory in which the moves keep what the vectors of the states refer to.
    fn memory_footprint(&self) -> usize {
        0
    }
    /// Why the delay of a transition is not exponential, if that is known after the exploration.
    fn not_exponential(&self) -> Option<(TransitionId, &'static str)> {
        None
    }
    /// True if what leads from one state to another can be repeated without end: `way` are the states from the last one, which has
    /// at least as many tokens in every place as the first one and more in some, back to that.
    fn repeats(&self, way: &[&[u32]]) -> bool {
        let _ = way;
        false
    }
    /// What differs most between these states besides the numbers of tokens, in words: it may be why the states have no end.
    fn most_varied(&self, states: &mut dyn Iterator<Item = &[u32]>) -> Option<String> {
        let _ = states;
        None
    }
    /// A state in words.
    fn words(&self, state: &[u32]) -> String {
        self.net().marking_text(state)
    }
}

/// The moves of a plain net.
pub struct Plain<'a> {
    net: &'a Net,
    compiled: std::borrow::Cow<'a, Compiled>,
    to: Vec<u32>,
}

impl<'a> Plain<'a> {
    /// Those of the net without stages of delays.
    pub fn of(net: &'a Net) -> Self {
        Self {
            net,
            compiled: std::borrow::Cow::Owned(Compiled::new(net, Stages::Ignored)),
            to: Vec::new(),
        }
    }

    pub(crate) fn compiled(net: &'a Net, compiled: &'a Compiled) -> Self {
        Self {
            net,
            compiled: std::borrow::Cow::Borrowed(compiled),
            to: Vec::new(),
        }
    }
}

impl Moves for Plain<'_> {
    fn net(&self) -> &Net {
        self.net
    }

    fn initial(&mut self) -> Result<Vec<u32>, String> {
        Ok(self.compiled.initial.clone())
    }

    fn repeats(&self, way: &[&[u32]]) -> bool {
        boundedness::repeats(self.net, way)
    }

    fn each(&mut self, from: &[u32], visit: &mut dyn FnMut(Move, &[u32])) -> Result<(), String> {
        let (compiled, to) = (&self.compiled, &mut self.to);
        compiled.for_each_enabled(from, |i, t| {
            let is_stage = t
                .stage
                .is_some_and(|(column, stages)| from[column] + 1 < stages);
            match t.stage {
                Some((column, _)) if is_stage => {
                    to.clear();
                    to.extend_from_slice(from);
                    to[column] += 1;
                }
                _ => compiled.fire(i, from, to),
            }
            let made = Move {
                transition: t.number,
                is_stage,
                is_immediate: t.is_immediate(),
                speed: t.speed,
                deposit: 0,
            };
            visit(made, to);
        });
        Ok(())
    }
}
