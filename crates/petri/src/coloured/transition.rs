//! Transitions as the modeller defines them.

use inorder_base::random::Random;

use super::bound::Bound;
use super::delay::Delay;
use super::handle::{Counter, Of, PlaceId, Queue, Token, TransitionId};
use super::model::Model;
use super::spec::{
    Cancel, Count, Inhibitor, Output, Product, Spend, Take, Timing, TransitionSpec, Which,
};

impl<T: Token> Model<T> {
    /// Adds an immediate transition with priority 1 and weight 1 and without arcs, which the builder then modifies.
    pub fn transition(&mut self, name: impl Into<String>) -> TransitionBuilder<'_, T> {
        self.transitions.push(TransitionSpec::new(name.into()));
        TransitionBuilder::last_of(self)
    }
}

/// Modifies a transition of a [`Model`]; every method takes effect at once.
///
/// # Colour
///
/// A transition that takes or spends tokens of a keyed place has a colour: all its arcs to keyed places without a key
/// function of their own refer to the same key, and the transition is enabled once for every key for which all of
/// them are. Among everything enabled at one time with the highest priority, the choice is random, and the
/// probability of a (transition, colour) pair is proportional to the transition's weight.
///
/// # Guards and queues
///
/// A first-in-first-out queue offers its first token, and a guard that refuses this token blocks the queue. A queue
/// in random order offers all its tokens, and the choice is among those that the guard accepts.
pub struct TransitionBuilder<'a, T> {
    model: &'a mut Model<T>,
    index: usize,
}

impl<'a, T: Token> TransitionBuilder<'a, T> {
    pub(crate) fn last_of(model: &'a mut Model<T>) -> Self {
        let index = model.transitions.len() - 1;
        Self { model, index }
    }

    pub(crate) fn of(model: &'a mut Model<T>, id: TransitionId) -> Self {
        Self {
            model,
            index: id.index(),
        }
    }

    fn edit(self, edit: impl FnOnce(&mut TransitionSpec<T>)) -> Self {
        if let Some(spec) = self.model.transitions.get_mut(self.index) {
            edit(spec);
        }
        self
    }

    /// The handle of the transition.
    pub fn id(self) -> TransitionId {
        TransitionId(self.index as u32)
    }

    /// Takes a token; the queue's order says which.
    pub fn take(self, from: Queue) -> Self {
        self.take_many(from, 1)
    }

    /// Takes `count` tokens (of one key, if the queue has keys).
    pub fn take_many(self, from: Queue, count: u32) -> Self {
        self.edit(|t| t.takes.push(take(from, count, None, false)))
    }

    /// Takes a token with the key that `key` computes from the tokens bound by earlier arcs.
    pub fn take_at(
        self,
        from: Queue,
        key: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.edit(|t| t.takes.push(take(from, 1, Some(Box::new(key)), false)))
    }

    /// Binds a token without removing it: a read arc.
    pub fn read(self, from: Queue) -> Self {
        self.edit(|t| t.takes.push(take(from, 1, None, true)))
    }

    /// Like [`read`](Self::read), with a key computed from the tokens bound before.
    pub fn read_at(
        self,
        from: Queue,
        key: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.edit(|t| t.takes.push(take(from, 1, Some(Box::new(key)), true)))
    }

    /// Consumes `count` plain tokens (of the colour, if the counter has keys).
    pub fn spend(self, from: Counter, count: u32) -> Self {
        self.spending(from, Count::Fixed(count), None, false)
    }

    /// Consumes `count` plain tokens of the key computed from the bound tokens.
    pub fn spend_at(
        self,
        from: Counter,
        count: u32,
        key: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.spending(from, Count::Fixed(count), Some(Box::new(key)), false)
    }

    /// Consumes the number of plain tokens that `count` computes from the bound tokens.
    pub fn spend_with(
        self,
        from: Counter,
        count: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.spending(from, Count::By(Box::new(count)), None, false)
    }

    /// Requires `count` plain tokens (of the colour, if the counter has keys) without removing them: a read arc.
    pub fn test(self, of: Counter, count: u32) -> Self {
        self.spending(of, Count::Fixed(count), None, true)
    }

    /// Like [`test`](Self::test), for the key computed from the bound tokens.
    pub fn test_at(
        self,
        of: Counter,
        count: u32,
        key: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.spending(of, Count::Fixed(count), Some(Box::new(key)), true)
    }

    fn spending(self, from: Counter, count: Count<T>, key: Option<Of<T, u32>>, keep: bool) -> Self {
        self.edit(|t| {
            t.spends.push(Spend {
                place: from.0,
                count,
                key,
                keep,
            });
        })
    }

    /// Forbids starting while the place holds `count` tokens or more, with any keys.
    pub fn inhibit(self, by: impl Into<PlaceId>, count: u32) -> Self {
        self.inhibited(by.into(), count, false)
    }

    /// Forbids starting with a colour while the place holds `count` tokens or more of that key.
    pub fn inhibit_colour(self, by: impl Into<PlaceId>, count: u32) -> Self {
        self.inhibited(by.into(), count, true)
    }

    fn inhibited(self, by: PlaceId, count: u32, of_colour: bool) -> Self {
        self.edit(|t| {
            t.inhibitors.push(Inhibitor {
                place: by.0,
                count,
                of_colour,
            });
        })
    }

    /// Empties the place when a firing starts, after the inputs were taken.
    pub fn reset(self, place: impl Into<PlaceId>) -> Self {
        let place = place.into();
        self.edit(|t| t.resets.push(place.0))
    }

    /// Fires only with tokens for which this returns true. The result must depend only on the argument.
    pub fn guard(self, guard: impl FnMut(&Bound<'_, T>) -> bool + Send + 'static) -> Self {
        self.edit(|t| t.guard = Some(Box::new(guard)))
    }

    /// Firing takes time: inputs are taken at the start, outputs are deposited at the end.
    pub fn delay(self, delay: Delay) -> Self {
        self.edit(|t| t.timing = Timing::Delay(delay))
    }

    /// Firing takes the time that `delay` computes from the bound tokens and the transition's own random numbers.
    pub fn delay_by(
        self,
        delay: impl FnMut(&Bound<'_, T>, &mut Random) -> u64 + Send + 'static,
    ) -> Self {
        self.edit(|t| t.timing = Timing::By(Box::new(delay)))
    }

    /// Limits the number of firings in progress; there is no limit by default.
    pub fn servers(self, servers: u32) -> Self {
        self.edit(|t| t.servers = Some(servers))
    }

    /// Sets the priority: higher ones start first. The default is 1 for immediate transitions and 0 for timed ones.
    pub fn priority(self, priority: u32) -> Self {
        self.edit(|t| t.priority = Some(priority))
    }

    /// Sets the weight in a random choice among equal priorities; the default is 1.
    pub fn weight(self, weight: f64) -> Self {
        self.edit(|t| t.weight = weight)
    }

    /// Deposits the token bound at `index` unchanged.
    pub fn pass(self, to: Queue, index: usize) -> Self {
        self.output(to.0, Product::Pass(index as u32))
    }

    /// Deposits the token that `token` creates. It is called once per firing, at its end.
    pub fn put(self, to: Queue, token: impl FnMut(&Bound<'_, T>) -> T + Send + 'static) -> Self {
        self.output(to.0, Product::Token(Box::new(token)))
    }

    /// Deposits a token or none.
    pub fn put_if(
        self,
        to: Queue,
        token: impl FnMut(&Bound<'_, T>) -> Option<T> + Send + 'static,
    ) -> Self {
        self.output(to.0, Product::Maybe(Box::new(token)))
    }

    /// Deposits a token in the one of `places` whose index is returned with it.
    pub fn route<const N: usize>(
        self,
        places: [Queue; N],
        route: impl FnMut(&Bound<'_, T>) -> (usize, T) + Send + 'static,
    ) -> Self {
        self.route_among(&places, route)
    }

    /// As [`route`](Self::route), for places whose number is known only at run time; there must be at least one.
    pub fn route_among(
        self,
        places: &[Queue],
        route: impl FnMut(&Bound<'_, T>) -> (usize, T) + Send + 'static,
    ) -> Self {
        let places: Box<[u32]> = places.iter().map(|queue| queue.0).collect();
        let first = places.first().copied().unwrap_or(u32::MAX);
        self.output(first, Product::Route(places, Box::new(route)))
    }

    /// Calls `act` when a firing ends, before its outputs are made: for state that the modeller keeps outside of the
    /// places. Guards, keys and counts must not depend on such state, because they are evaluated only when tokens
    /// change.
    pub fn act(self, act: impl FnMut(&Bound<'_, T>) + Send + 'static) -> Self {
        self.edit(|t| t.act = Some(Box::new(act)))
    }

    /// When a firing ends, and before `act` and its outputs, ends firings of `transition` that are under way, without
    /// outputs: `which` of those for which `only_if`, which also gets the tokens that they hold, returns true. Their
    /// first token goes to `to`; what else they hold is gone. If there is none, nothing happens.
    pub fn cancel(
        self,
        transition: TransitionId,
        which: Which,
        only_if: impl FnMut(&Bound<'_, T>, &[T]) -> bool + Send + 'static,
        to: Option<Queue>,
    ) -> Self {
        self.edit(|t| {
            t.cancels.push(Cancel {
                transition: transition.0,
                which,
                only_if: Box::new(only_if),
                to: to.map(|queue| queue.0),
            });
        })
    }

    /// Firing takes the sum of exponential stages: their number, at least 1, and the mean of the sum in ticks.
    pub fn stages(self, stages: impl FnMut(&Bound<'_, T>) -> (u32, f64) + Send + 'static) -> Self {
        self.edit(|t| t.timing = Timing::Stages(Box::new(stages)))
    }

    /// Deposits the tokens that `emit` pushes. For the capacity of the place they count as one.
    pub fn put_many(
        self,
        to: Queue,
        emit: impl FnMut(&Bound<'_, T>, &mut Vec<T>) + Send + 'static,
    ) -> Self {
        self.output(to.0, Product::Many(Box::new(emit)))
    }

    /// Deposits `count` plain tokens (of the colour, if the counter has keys).
    pub fn give(self, to: Counter, count: u32) -> Self {
        self.output(to.0, Product::Plain(Count::Fixed(count), None))
    }

    /// Deposits `count` plain tokens of the key computed from the bound tokens.
    pub fn give_at(
        self,
        to: Counter,
        count: u32,
        key: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.output(
            to.0,
            Product::Plain(Count::Fixed(count), Some(Box::new(key))),
        )
    }

    /// Deposits the number of plain tokens that `count` computes from the bound tokens, possibly none.
    pub fn give_with(
        self,
        to: Counter,
        count: impl FnMut(&Bound<'_, T>) -> u32 + Send + 'static,
    ) -> Self {
        self.output(to.0, Product::Plain(Count::By(Box::new(count)), None))
    }

    fn output(self, place: u32, product: Product<T>) -> Self {
        self.edit(|t| t.outputs.push(Output { place, product }))
    }
}

fn take<T>(from: Queue, count: u32, key: Option<Of<T, u32>>, keep: bool) -> Take<T> {
    Take {
        place: from.0,
        count,
        key,
        keep,
    }
}
