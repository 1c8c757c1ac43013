//! Runs a coloured timed net.
//!
//! The engine processes one time after the other. First all firings that end at the earliest time end, in the order
//! in which they started. Then enabled transitions start, one after the other, the highest priority first and at
//! random among equal priorities, until none is enabled. Each place knows which transitions a gain or a loss of
//! tokens may enable or disable, so only those are checked again. When the buffers have reached their size, there are
//! no more allocations.

use std::collections::BTreeSet;

use inorder_base::random::Random;

use super::bind::{self, Binding};
use super::bound::Bound;
use super::delay::Delay;
use super::error::{ModelError, RunError};
use super::flights::{Flight, Flights};
use super::handle::{Counter, PlaceId, Queue, Token, TransitionId};
use super::model::{Model, PlaceSpec};
use super::observer::{Change, Observer};
use super::place::Place;
use super::rule::Rule;
use super::spec::Timing;
use super::state::{Names, State};
use crate::schedule::events::Events;
use crate::schedule::patience::Patience;

/// Why a run returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The requested time was reached.
    TimeReached,
    /// No firing is in progress and no transition is enabled: nothing happens any more unless tokens are added from
    /// outside. The clock advanced to the requested end; if that was `u64::MAX`, it stays at the time of the last
    /// event.
    Dead,
    /// The observer stopped the run.
    Observer,
}

/// A running net.
pub struct Engine<T> {
    pub(super) rules: Vec<Rule<T>>,
    /// Index of the rule of every transition.
    pub(super) rule_of: Vec<u32>,
    pub(super) names: Names,
    pub(super) state: State<T>,
    events: Events,
    flights: Flights<T>,
    /// Timed firings that started.
    started: u64,
    pub(super) binding: Binding<T>,
    conflict: Random,
    patience: Patience,
}

impl<T: Token> Engine<T> {
    /// Checks the model and sets its initial state. Equal models and seeds give equal runs, on every machine: each
    /// transition uses its own random stream for firing times, and conflicts use another one.
    pub fn new(model: Model<T>, seed: u64) -> Result<Self, ModelError> {
        model.check()?;
        let Model {
            places,
            transitions,
        } = model;
        let tokens = places.iter().map(PlaceSpec::initial).sum();
        let patience = Patience::new(tokens, transitions.len());
        let names = Names {
            places: places.iter().map(|p| p.name.clone()).collect(),
            transitions: transitions.iter().map(|t| t.name.clone()).collect(),
        };
        let compiled = transitions.into_iter().enumerate();
        let mut rules: Vec<Rule<T>> = compiled
            .map(|(id, spec)| Rule::new(id as u32, spec, &places, seed))
            .collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        let rule_of = inverse(&rules);
        for cancelled in cancelled(&rules) {
            rules[rule_of[cancelled as usize] as usize].under_way = Some(BTreeSet::new());
        }
        let stride = rules.iter().map(Rule::arity).max().unwrap_or(0);
        Ok(Self {
            rule_of,
            state: State::new(places, &rules)?,
            rules,
            names,
            events: Events::default(),
            flights: Flights::new(stride),
            started: 0,
            binding: Binding::default(),
            conflict: Random::new(seed, "conflict"),
            patience,
        })
    }

    /// The time, in ticks.
    pub fn now(&self) -> u64 {
        self.state.now
    }

    /// Sets the number of firings at one time that are not too many.
    #[cfg(test)]
    pub(crate) fn set_zero_time_limit(&mut self, firings: u64) {
        self.patience = Patience::of(firings);
    }

    /// Runs until `end` (in ticks, inclusive), until nothing can happen any more, or until the observer stops the
    /// run. After an error the engine must not be used further.
    pub fn run_until<O: Observer<T>>(
        &mut self,
        end: u64,
        observer: &mut O,
    ) -> Result<Stop, RunError> {
        loop {
            self.start_enabled(observer)?;
            observer.settled(self.state.now, &self.state);
            if observer.is_done() {
                return Ok(Stop::Observer);
            }
            match self.next_time() {
                None => {
                    self.let_time_pass(end);
                    return Ok(Stop::Dead);
                }
                Some(time) if time > end => {
                    self.let_time_pass(end);
                    return Ok(Stop::TimeReached);
                }
                Some(time) => self.end_firings(time, observer)?,
            }
        }
    }

    /// Whether nothing can happen any more, after a run.
    pub fn has_ended(&self) -> bool {
        self.events.is_empty()
    }

    /// When the next firing in progress ends, in ticks.
    #[inline]
    pub fn next_time(&mut self) -> Option<u64> {
        self.events.next_time()
    }

    /// Advances to `end`, unless `end` means without limit.
    fn let_time_pass(&mut self, end: u64) {
        if end < u64::MAX && end > self.state.now {
            self.state.now = end;
            self.patience.renew();
        }
    }

    /// Sets the clock to `time`, unless a firing ends before it or the clock is already later. Used for tokens from
    /// outside while no firing is in progress, because a run then returns with the clock at the last event.
    pub fn wait_until(&mut self, time: u64) {
        if self.next_time().is_none_or(|next| next >= time) {
            self.state.now = self.state.now.max(time);
        }
    }

    /// Ends all firings that end at `time`.
    fn end_firings<O: Observer<T>>(&mut self, time: u64, observer: &mut O) -> Result<(), RunError> {
        if time != self.state.now {
            self.state.now = time;
            self.patience.renew();
        }
        while let Some((_, slot)) = self.events.pop_until(time) {
            self.end_firing(slot, observer);
        }
        self.state.check(&self.names)
    }

    #[inline]
    fn end_firing<O: Observer<T>>(&mut self, slot: u32, observer: &mut O) {
        let flight = self.flights.header(slot);
        let rule = &mut self.rules[flight.rule as usize];
        let now = self.state.now;
        rule.tally.stop(now);
        if rule.tally.busy + 1 == rule.servers {
            self.state.agenda.doubt(flight.rule);
        }
        for room in &rule.conditions.rooms {
            self.state.release(room.place, room.reserve);
        }
        if let Some(all) = &mut rule.under_way {
            let since = all.range((flight.started, 0, 0)..);
            let own = since.into_iter().find(|key| key.2 == slot).copied();
            own.map(|own| all.remove(&own));
        }
        if !rule.cancels.is_empty() {
            let tokens = self.flights.tokens(slot).to_vec();
            self.cancel(flight.rule as usize, &flight.bound(&tokens, now), observer);
        }
        let rule = &mut self.rules[flight.rule as usize];
        let bound = flight.bound(self.flights.tokens(slot), now);
        self.state.produce(rule, &bound, observer);
        observer.changed(now, TransitionId(rule.id), Change::Ended, &self.state);
        self.flights.land(slot);
        self.events.free(slot);
    }

    /// Ends the firings that this one cancels.
    #[inline(never)]
    fn cancel<O: Observer<T>>(&mut self, index: usize, own: &Bound<'_, T>, observer: &mut O) {
        let mut cancels = std::mem::take(&mut self.rules[index].cancels);
        for cancel in &mut cancels {
            let of = self.rule_of[cancel.transition as usize] as usize;
            let (rule, flights) = (&self.rules[of], &self.flights);
            let under_way = rule.under_way.iter().flatten();
            let under_way = under_way.map(|&key| (key, &flights.tokens(key.2)[..rule.arity()]));
            for key in cancel.chosen(own, under_way) {
                self.cancel_one(of, key, cancel.to, observer);
            }
        }
        self.rules[index].cancels = cancels;
    }

    fn cancel_one<O: Observer<T>>(
        &mut self,
        of: usize,
        key: (u64, u64, u32),
        to: Option<u32>,
        observer: &mut O,
    ) {
        let (rule, now, slot) = (&mut self.rules[of], self.state.now, key.2);
        rule.under_way.as_mut().map(|all| all.remove(&key));
        rule.tally.stop(now);
        self.state.agenda.doubt(of as u32);
        for room in &rule.conditions.rooms {
            self.state.release(room.place, room.reserve);
        }
        if let (Some(to), Some(&token)) = (to, self.flights.tokens(slot).first()) {
            self.state.deposit(to, token, observer);
        }
        observer.changed(now, TransitionId(rule.id), Change::Cancelled, &self.state);
        self.flights.land(slot);
        self.events.cancel(slot);
    }

    /// Starts enabled transitions until none is enabled.
    fn start_enabled<O: Observer<T>>(&mut self, observer: &mut O) -> Result<(), RunError> {
        while let Some((rule, colour)) = self.choose() {
            self.start(rule, colour, observer)?;
        }
        self.state.check(&self.names)
    }

    /// The next (rule, colour) to start: of the highest enabled priority, at random by weight.
    #[inline]
    fn choose(&mut self) -> Option<(usize, u32)> {
        let (rules, state) = (&mut self.rules, &mut self.state);
        let (places, binding, now) = (&state.places, &mut self.binding, state.now);
        state
            .agenda
            .settle(|index| bind::look(&mut rules[index], places, binding, now));
        #[cfg(test)]
        self.compare_agenda();
        let rules = &self.rules;
        let rank = |rule: usize| rules[rule].rank();
        let chosen = self.state.agenda.choose(&mut self.conflict, rank)?;
        let rule = &self.rules[chosen];
        let skip = match rule.ways {
            1 => 0,
            ways => self.conflict.below(u64::from(ways)) as u32,
        };
        Some((chosen, nth_bit(&rule.enabled, skip)))
    }

    /// Takes the inputs of a firing; deposits its outputs or puts the firing in progress.
    #[inline]
    fn start<O: Observer<T>>(
        &mut self,
        index: usize,
        colour: u32,
        observer: &mut O,
    ) -> Result<(), RunError> {
        if !self.patience.lasts(index) {
            return Err(self.zero_time_loop());
        }
        let rule = &mut self.rules[index];
        if rule.must_bind {
            let now = self.state.now;
            let places = &self.state.places;
            bind::choose(
                rule,
                places,
                &mut self.binding,
                &mut self.conflict,
                colour,
                now,
            );
            self.state.take_bound(rule, &self.binding);
        } else {
            self.state
                .take(rule, &mut self.binding, &mut self.conflict, colour);
        }
        for &place in &rule.resets {
            self.state.clear(place);
        }
        let now = self.state.now;
        if !rule.cancels.is_empty() && rule.limit().is_none() {
            let tokens = self.binding.tokens.clone();
            let own = Bound {
                tokens: &tokens,
                colour,
                now,
                started: now,
            };
            self.cancel(index, &own, observer);
        }
        let rule = &mut self.rules[index];
        let bound = self.binding.bound(colour, now);
        let delay = match &mut rule.timing {
            Timing::Immediate => {
                self.state.produce(rule, &bound, observer);
                observer.changed(now, TransitionId(rule.id), Change::Ended, &self.state);
                return Ok(());
            }
            Timing::Stages(of) => {
                let (stages, mean) = of(&bound);
                Delay::Erlang { stages, mean }.sample(&mut rule.random)
            }
            Timing::Delay(delay) => delay.sample(&mut rule.random),
            Timing::By(delay) => delay(&bound, &mut rule.random),
        };
        self.put_under_way(index, colour, now.saturating_add(delay))?;
        let id = TransitionId(self.rules[index].id);
        observer.changed(now, id, Change::Started, &self.state);
        Ok(())
    }

    #[inline]
    fn put_under_way(&mut self, index: usize, colour: u32, end: u64) -> Result<(), RunError> {
        let rule = &mut self.rules[index];
        let now = self.state.now;
        rule.tally.start(now);
        if rule.tally.busy == rule.servers {
            self.state.agenda.doubt(index as u32);
        }
        for room in &rule.conditions.rooms {
            self.state.reserve(room.place, room.reserve);
        }
        let flight = Flight {
            rule: index as u32,
            colour,
            started: now,
        };
        let id = rule.id;
        let Some(slot) = self.events.insert(end) else {
            let name = self.names.transitions[id as usize].clone();
            return Err(RunError::TooManyFirings(name));
        };
        self.flights.take_off(slot, flight, &self.binding.tokens);
        if let Some(all) = &mut rule.under_way {
            all.insert((now, self.started, slot));
            self.started += 1;
        }
        Ok(())
    }

    #[cold]
    fn zero_time_loop(&self) -> RunError {
        let last = self.patience.last();
        let rules = || last.iter().filter_map(|&rule| self.rules.get(rule));
        let place = rules().flat_map(|rule| &rule.outputs).next();
        RunError::zero_time_loop(
            self.state.now,
            self.patience.firings(),
            place.map_or("", |output| &self.names.places[output.place as usize]),
            rules().map(|rule| &self.names.transitions[rule.id as usize]),
        )
    }

    /// Deposits a token from outside, at the current time.
    pub fn put(&mut self, queue: Queue, token: T) -> Result<(), RunError> {
        self.state.deposit(queue.0, token, &mut ());
        self.state.check(&self.names)
    }

    /// Number of tokens in a place (0 for a sink).
    pub fn len(&self, place: impl Into<PlaceId>) -> u32 {
        self.state
            .places
            .get(place.into().index())
            .map_or(0, |p| p.len)
    }

    /// Plain tokens with a key; key 0 of a counter without keys.
    pub fn count(&self, counter: Counter, key: u32) -> u32 {
        self.state
            .places
            .get(counter.0 as usize)
            .map_or(0, |p| p.lane_len(key))
    }

    /// The tokens in a queue, key by key; within a key in order if the queue is first in, first out.
    pub fn tokens(&self, queue: Queue) -> impl Iterator<Item = &T> {
        self.state
            .places
            .get(queue.0 as usize)
            .into_iter()
            .flat_map(Place::tokens)
    }

    /// Number of firings of a transition in progress.
    pub fn busy(&self, transition: TransitionId) -> u32 {
        self.rule(transition).map_or(0, |rule| rule.tally.busy)
    }

    /// Number of completed firings of a transition.
    pub fn firings(&self, transition: TransitionId) -> u64 {
        self.rule(transition).map_or(0, |rule| rule.tally.firings)
    }

    /// The tokens bound by each firing of a transition in progress.
    pub fn under_way(&self, transition: TransitionId) -> impl Iterator<Item = Bound<'_, T>> {
        let rule = self.rule_of.get(transition.index()).copied();
        let arity = self.rule(transition).map_or(0, Rule::arity);
        let of_rule = self
            .flights
            .iter()
            .filter(move |(flight, _)| Some(flight.rule) == rule);
        of_rule.map(move |(flight, tokens)| flight.bound(&tokens[..arity], self.state.now))
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &Place<T>> {
        self.state.places.iter()
    }

    /// The transitions in the modeller's order, by name.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (&String, &Rule<T>)> {
        let rules = self.rule_of.iter().map(|&rule| &self.rules[rule as usize]);
        self.names.transitions.iter().zip(rules)
    }

    fn rule(&self, transition: TransitionId) -> Option<&Rule<T>> {
        let index = *self.rule_of.get(transition.index())?;
        self.rules.get(index as usize)
    }
}

/// The transitions of which firings may be cancelled.
fn cancelled<T>(rules: &[Rule<T>]) -> Vec<u32> {
    let cancels = rules.iter().flat_map(|rule| &rule.cancels);
    cancels.map(|cancel| cancel.transition).collect()
}

/// Maps the order of the modeller to that of the rules.
fn inverse<T>(rules: &[Rule<T>]) -> Vec<u32> {
    let mut rule_of = vec![0; rules.len()];
    for (index, rule) in rules.iter().enumerate() {
        rule_of[rule.id as usize] = index as u32;
    }
    rule_of
}

/// The index of the bit that has `skip` lower bits set.
#[inline]
fn nth_bit(words: &[u64], mut skip: u32) -> u32 {
    if let (0, [word]) = (skip, words) {
        return word.trailing_zeros();
    }
    for (index, &word) in words.iter().enumerate() {
        let ones = word.count_ones();
        if skip < ones {
            let left = (0..skip).fold(word, |bits, _| bits & (bits - 1));
            return index as u32 * 64 + left.trailing_zeros();
        }
        skip -= ones;
    }
    0
}
