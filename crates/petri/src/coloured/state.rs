//! The marking, and how firings change it.

use inorder_random::Random;

use super::bind::Binding;
use super::bound::Bound;
use super::error::{ModelError, RunError};
use super::model::{PlaceId, PlaceSpec, Token, TransitionId};
use super::observer::Observer;
use super::place::{Place, Wakes};
use super::rule::{Lane, OutputArc, Rule};
use super::transition::Product;

/// What firings change.
pub(crate) struct State<T> {
    pub(crate) places: Vec<Place<T>>,
    /// One bit a rule: it may have become enabled. Rules are sorted by priority.
    pub(crate) pending: Box<[u64]>,
    pub(crate) now: u64,
    fault: Option<Fault>,
    emitted: Vec<T>,
}

/// Something a modeller's function did that the net has no room for.
enum Fault {
    Key { place: u32, key: u32 },
    TooMany { place: u32 },
}

impl<T: Token> State<T> {
    /// The marking of the start, with every transition to be looked at.
    pub(crate) fn new(specs: Vec<PlaceSpec<T>>, rules: &[Rule<T>]) -> Result<Self, ModelError> {
        let mut places = Vec::with_capacity(specs.len());
        for (index, spec) in specs.into_iter().enumerate() {
            let (name, keys) = (spec.name.clone(), spec.keys());
            let mut place = Place::new(spec).map_err(|token| ModelError::Key {
                place: name,
                index: token,
                keys,
            })?;
            let index = index as u32;
            place.wakes_on_gain = wakes(rules, |rule| gains_matter(rule, index));
            place.wakes_on_loss = wakes(rules, |rule| losses_matter(rule, index));
            places.push(place);
        }
        let mut pending = vec![0; rules.len().div_ceil(64)];
        (0..rules.len()).for_each(|rule| pending[rule / 64] |= 1 << (rule % 64));
        Ok(Self {
            places,
            pending: pending.into(),
            now: 0,
            fault: None,
            emitted: Vec::new(),
        })
    }

    /// What went wrong since last asked.
    #[inline]
    pub(crate) fn check(&mut self, names: &[String]) -> Result<(), RunError> {
        match self.fault.take() {
            None => Ok(()),
            Some(fault) => Err(self.explain(&fault, names)),
        }
    }

    #[cold]
    fn explain(&self, fault: &Fault, names: &[String]) -> RunError {
        match *fault {
            Fault::Key { place, key } => RunError::Key {
                place: names[place as usize].clone(),
                key,
                keys: self.places[place as usize].keys,
            },
            Fault::TooMany { place } => RunError::TooManyTokens(names[place as usize].clone()),
        }
    }

    #[inline]
    pub(crate) fn wake(&mut self, rule: u32) {
        self.pending[rule as usize / 64] |= 1 << (rule % 64);
    }

    /// Takes the inputs of a rule that needs no look at tokens, binding the typed ones.
    #[inline]
    pub(crate) fn take(
        &mut self,
        rule: &mut Rule<T>,
        binding: &mut Binding<T>,
        random: &mut Random,
        colour: u32,
    ) {
        binding.tokens.clear();
        for arc in &rule.takes {
            let lane = if matches!(arc.lane, Lane::Colour) {
                colour
            } else {
                0
            };
            let place = &mut self.places[arc.place as usize];
            for _ in 0..arc.count {
                let index = position(place, lane, random);
                let token = match arc.keep {
                    true => place.peek(lane, index),
                    false => place.pop(lane, index, self.now),
                };
                binding.tokens.extend(token);
            }
            if !arc.keep {
                mark(&mut self.pending, &place.wakes_on_loss);
            }
        }
        let bound = binding.bound(colour, self.now);
        for arc in rule.spends.iter_mut().filter(|arc| !arc.keep) {
            let (lane, count) = (arc.lane.of(&bound), arc.count.of(&bound));
            let place = &mut self.places[arc.place as usize];
            place.subtract(lane, count, self.now);
            mark(&mut self.pending, &place.wakes_on_loss);
        }
    }

    /// Takes the tokens of a binding that was found.
    pub(crate) fn take_bound(&mut self, rule: &Rule<T>, binding: &Binding<T>) {
        for (index, arc) in rule.takes.iter().enumerate().filter(|(_, arc)| !arc.keep) {
            let place = &mut self.places[arc.place as usize];
            for _ in 0..arc.count {
                place.pop(binding.lanes[index], binding.picks[index], self.now);
            }
            mark(&mut self.pending, &place.wakes_on_loss);
        }
        for (arc, &(lane, count)) in rule.spends.iter().zip(&binding.spends) {
            if !arc.keep {
                let place = &mut self.places[arc.place as usize];
                place.subtract(lane, count, self.now);
                mark(&mut self.pending, &place.wakes_on_loss);
            }
        }
    }

    /// Empties a place.
    pub(crate) fn clear(&mut self, place: u32) {
        let place = &mut self.places[place as usize];
        place.clear(self.now);
        mark(&mut self.pending, &place.wakes_on_loss);
    }

    /// Gives back room that was promised.
    #[inline]
    pub(crate) fn release(&mut self, place: u32, room: u32) {
        let place = &mut self.places[place as usize];
        place.reserved -= room;
        mark(&mut self.pending, &place.wakes_on_loss);
    }

    /// Ends a firing: deposits its outputs.
    #[inline]
    pub(crate) fn produce<O: Observer<T>>(
        &mut self,
        rule: &mut Rule<T>,
        bound: &Bound<'_, T>,
        observer: &mut O,
    ) {
        rule.tally.firings += 1;
        observer.fired(TransitionId(rule.id), bound);
        for output in &mut rule.outputs {
            self.output(output, bound, observer);
        }
    }

    #[inline]
    fn output<O: Observer<T>>(
        &mut self,
        output: &mut OutputArc<T>,
        bound: &Bound<'_, T>,
        observer: &mut O,
    ) {
        let place = output.place;
        match &mut output.product {
            Product::Pass(index) => self.deposit(place, bound.tokens[*index as usize], observer),
            Product::Token(token) => self.deposit(place, token(bound), observer),
            Product::Maybe(token) => {
                if let Some(token) = token(bound) {
                    self.deposit(place, token, observer);
                }
            }
            Product::Many(emit) => {
                let mut emitted = std::mem::take(&mut self.emitted);
                emit(bound, &mut emitted);
                for token in emitted.drain(..) {
                    self.deposit(place, token, observer);
                }
                self.emitted = emitted;
            }
            Product::Plain(count, _) => {
                let count = count.of(bound);
                let lane = output.lane.of(bound);
                self.add(place, lane, count);
            }
        }
    }

    /// A typed token comes into a place.
    #[inline]
    pub(crate) fn deposit<O: Observer<T>>(&mut self, index: u32, token: T, observer: &mut O) {
        let place = &mut self.places[index as usize];
        observer.deposited(self.now, PlaceId(index), &token);
        if place.sink {
            place.swallow();
            return;
        }
        let lane = place.lane_of(&token);
        if lane >= place.keys {
            self.fault = Some(Fault::Key {
                place: index,
                key: lane,
            });
            return;
        }
        if place.len == u32::MAX {
            self.fault = Some(Fault::TooMany { place: index });
            return;
        }
        place.push(lane, token, self.now);
        mark(&mut self.pending, &place.wakes_on_gain);
    }

    /// Plain tokens come into a place.
    #[inline]
    fn add(&mut self, index: u32, lane: u32, count: u32) {
        let place = &mut self.places[index as usize];
        if lane >= place.keys {
            self.fault = Some(Fault::Key {
                place: index,
                key: lane,
            });
            return;
        }
        if place.len.checked_add(count).is_none() {
            self.fault = Some(Fault::TooMany { place: index });
            return;
        }
        place.add(lane, count, self.now);
        mark(&mut self.pending, &place.wakes_on_gain);
    }
}

/// Which position of a lane is taken when any will do.
#[inline]
fn position<T: Token>(place: &Place<T>, lane: u32, random: &mut Random) -> u32 {
    match place.is_random() {
        true => random.below(u64::from(place.lane_len(lane))) as u32,
        false => 0,
    }
}

#[inline]
fn mark(pending: &mut [u64], wakes: &Wakes) {
    for &(word, bits) in wakes {
        pending[word as usize] |= bits;
    }
}

fn wakes<T>(rules: &[Rule<T>], matters: impl Fn(&Rule<T>) -> bool) -> Wakes {
    let mut words = vec![0u64; rules.len().div_ceil(64)];
    for (index, rule) in rules.iter().enumerate() {
        words[index / 64] |= u64::from(matters(rule)) << (index % 64);
    }
    let numbered = words
        .into_iter()
        .enumerate()
        .map(|(word, bits)| (word as u32, bits));
    numbered.filter(|&(_, bits)| bits != 0).collect()
}

/// Whether more tokens in the place may enable the rule.
fn gains_matter<T>(rule: &Rule<T>, place: u32) -> bool {
    rule.takes.iter().any(|arc| arc.place == place)
        || rule.spends.iter().any(|arc| arc.place == place)
}

/// Whether fewer tokens in the place may: it is inhibited by them, wants room there, or another token comes to
/// the head of the queue.
fn losses_matter<T>(rule: &Rule<T>, place: u32) -> bool {
    rule.inhibitors.iter().any(|i| i.place == place)
        || rule.colour_inhibitors.iter().any(|i| i.place == place)
        || rule.rooms.iter().any(|room| room.place == place)
        || rule.must_bind && rule.takes.iter().any(|arc| arc.place == place)
}
