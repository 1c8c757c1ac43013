//! The marking, and its changes by firings.

use inorder_base::random::Random;

use super::bind::Binding;
use super::bound::Bound;
use super::error::{ModelError, RunError};
use super::handle::{PlaceId, Token, TransitionId};
use super::model::PlaceSpec;
use super::observer::{Marking, Observer};
use super::place::Place;
use super::rule::{Lane, OutputArc, Rule};
use super::spec::Product;
use super::wakes;
use crate::schedule::agenda::Agenda;

/// The state that firings change.
pub(crate) struct State<T> {
    pub(crate) places: Vec<Place<T>>,
    pub(crate) agenda: Agenda,
    pub(crate) now: u64,
    fault: Option<Fault>,
    emitted: Vec<T>,
}

/// The names of places and transitions, in the modeller's order.
pub(crate) struct Names {
    pub(crate) places: Vec<String>,
    pub(crate) transitions: Vec<String>,
}

/// An invalid action of a function of the modeller.
enum Fault {
    Key { place: u32, key: u32 },
    TooMany { place: u32 },
    Route { rule: u32, index: usize },
}

impl<T: Token> State<T> {
    /// The initial marking, with all transitions to be checked.
    pub(crate) fn new(specs: Vec<PlaceSpec<T>>, rules: &[Rule<T>]) -> Result<Self, ModelError> {
        let mut places = Vec::with_capacity(specs.len());
        for (index, spec) in specs.into_iter().enumerate() {
            let (name, keys) = (spec.name.clone(), spec.keys());
            let wakes = wakes::of_place(rules, index as u32, &spec);
            let mut place = Place::new(spec).map_err(|token| ModelError::Key {
                place: name,
                index: token,
                keys,
            })?;
            place.wakes = wakes;
            places.push(place);
        }
        Ok(Self {
            agenda: Agenda::new(rules.len(), places.iter().map(|place| place.len))
                .with_inputs(rules.iter().map(Rule::inputs)),
            places,
            now: 0,
            fault: None,
            emitted: Vec::new(),
        })
    }

    /// The error since the last call, if there was one.
    #[inline]
    pub(crate) fn check(&mut self, names: &Names) -> Result<(), RunError> {
        match self.fault.take() {
            None => Ok(()),
            Some(fault) => Err(self.explain(&fault, names)),
        }
    }

    #[cold]
    fn explain(&self, fault: &Fault, names: &Names) -> RunError {
        let place_name = |place: u32| names.places[place as usize].clone();
        match *fault {
            Fault::Key { place, key } => RunError::Key {
                place: place_name(place),
                key,
                keys: self.places[place as usize].keys,
            },
            Fault::TooMany { place } => RunError::TooManyTokens(place_name(place)),
            Fault::Route { rule, index } => RunError::Route {
                transition: names.transitions[rule as usize].clone(),
                index,
            },
        }
    }

    /// Takes the inputs of a rule that does not examine tokens, and binds the typed ones.
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
            for _ in 0..arc.count {
                let place = &self.places[arc.place as usize];
                let index = position(place, lane, random);
                let token = match arc.keep {
                    true => place.peek(lane, index),
                    false => self.pop(arc.place, lane, index),
                };
                if let Some(token) = token {
                    binding.tokens.push(token);
                }
            }
        }
        let bound = binding.bound(colour, self.now);
        for arc in rule.spends.iter_mut().filter(|arc| !arc.keep) {
            let (lane, count) = (arc.lane.of(&bound), arc.count.of(&bound));
            self.subtract(arc.place, lane, count);
        }
    }

    /// Takes the tokens of a binding that was found.
    #[inline]
    pub(crate) fn take_bound(&mut self, rule: &Rule<T>, binding: &Binding<T>) {
        for (index, arc) in rule.takes.iter().enumerate().filter(|(_, arc)| !arc.keep) {
            let (lane, pick) = (binding.lanes[index], binding.pick(index));
            for _ in 0..arc.count {
                self.pop(arc.place, lane, pick);
            }
        }
        for (arc, &(lane, count)) in rule.spends.iter().zip(&binding.spends) {
            if !arc.keep {
                self.subtract(arc.place, lane, count);
            }
        }
    }

    #[inline]
    fn pop(&mut self, place: u32, lane: u32, index: u32) -> Option<T> {
        let (token, emptied) = self.places[place as usize].pop(lane, index, self.now)?;
        self.lost(place, emptied);
        Some(token)
    }

    #[inline]
    fn subtract(&mut self, place: u32, lane: u32, count: u32) {
        if count > 0 {
            let emptied = self.places[place as usize].subtract(lane, count, self.now);
            self.lost(place, emptied);
        }
    }

    /// A place has lost tokens; `emptied` is true if a lane is now empty.
    #[inline]
    fn lost(&mut self, index: u32, emptied: bool) {
        let place = &self.places[index as usize];
        self.agenda.lost(index, place.len, &place.wakes, emptied);
    }

    /// A place has gained tokens; `filled` is true if a lane was empty before.
    #[inline]
    fn gained(&mut self, index: u32, filled: bool) {
        let wakes = &self.places[index as usize].wakes;
        self.agenda.gained(index, wakes, filled);
    }

    /// Empties a place.
    pub(crate) fn clear(&mut self, place: u32) {
        self.places[place as usize].clear(self.now);
        self.lost(place, true);
    }

    /// Reserves room for a firing in progress.
    #[inline]
    pub(crate) fn reserve(&mut self, place: u32, room: u32) {
        let reserved = &mut self.places[place as usize].reserved;
        *reserved = reserved.saturating_add(room);
        self.gained(place, false);
    }

    /// Releases reserved room.
    #[inline]
    pub(crate) fn release(&mut self, place: u32, room: u32) {
        let reserved = &mut self.places[place as usize].reserved;
        *reserved = reserved.saturating_sub(room);
        self.lost(place, false);
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
        if let Some(act) = &mut rule.act {
            act(bound);
        }
        for output in &mut rule.outputs {
            self.output(rule.id, output, bound, observer);
        }
    }

    #[inline]
    fn output<O: Observer<T>>(
        &mut self,
        rule: u32,
        output: &mut OutputArc<T>,
        bound: &Bound<'_, T>,
        observer: &mut O,
    ) {
        let place = output.place;
        match &mut output.product {
            Product::Pass(index) => self.deposit(place, bound.tokens[*index as usize], observer),
            Product::Token(token) => self.deposit(place, token(bound), observer),
            Product::Route(places, route) => {
                let (index, token) = route(bound);
                match places.get(index) {
                    Some(&place) => self.deposit(place, token, observer),
                    None => self.fault = Some(Fault::Route { rule, index }),
                }
            }
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

    /// A typed token arrives in a place.
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
        let filled = place.push(lane, token, self.now);
        self.gained(index, filled);
    }

    /// Plain tokens arrive in a place.
    #[inline]
    fn add(&mut self, index: u32, lane: u32, count: u32) {
        if count == 0 {
            return;
        }
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
        let filled = place.add(lane, count, self.now);
        self.gained(index, filled);
    }
}

impl<T: Token> Marking for State<T> {
    fn tokens(&self, place: PlaceId) -> u32 {
        self.places.get(place.index()).map_or(0, |p| p.len)
    }

    fn with_key(&self, place: PlaceId, key: u32) -> u32 {
        self.places
            .get(place.index())
            .map_or(0, |p| p.lane_len(key))
    }
}

/// The position taken from a lane if any position may be taken.
#[inline]
fn position<T: Token>(place: &Place<T>, lane: u32, random: &mut Random) -> u32 {
    match place.is_random() {
        true => random.below(u64::from(place.lane_len(lane))) as u32,
        false => 0,
    }
}
