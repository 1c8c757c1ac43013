//! Simulation of generalised stochastic nets with race semantics, directly from a [`Net`].
//!
//! Tokens stay in their places while clocks run. Among the enabled timed transitions, the one whose clock expires
//! first fires, without taking time itself. This is the semantics described in [`crate::net`] and solved by
//! [`crate::markov`], here for all distributions. (For transitions that take their tokens when they start, see
//! [`crate::lower::to_model`].)
//!
//! A transition has as many clocks as it has busy servers: its enabling degree, limited by its servers. The
//! [`Memory`] policy decides what happens to clocks when other transitions fire (M. Ajmone Marsan et al., "The effect
//! of execution policies on the semantics and analysis of stochastic Petri nets", IEEE TSE 15(7), 1989). For
//! exponential delays all policies are equivalent. Clocks are updated only in tangible markings: a transition that
//! immediate firings disable and enable again, without time passing, keeps its clock. If fewer clocks must run than
//! before, those started last are stopped.
//!
//! ```
//! use inorder_petri::net::{Net, Place, Timing, Transition};
//! use inorder_petri::race::{Memory, Race};
//!
//! let mut net = Net::new("on and off");
//! let on = net.add_place(Place::new("on", 1));
//! let off = net.add_place(Place::new("off", 0));
//! let fail = net.add_transition(Transition::new("fail", Timing::exponential(0.1)).input(on, 1).output(off, 1));
//! net.add_transition(Transition::new("repair", Timing::Deterministic { delay: 2.0 }).input(off, 1).output(on, 1));
//!
//! let mut race = Race::new(&net, Memory::Enabling, 1)?;
//! race.run_until(12_000.0)?;
//! // One failure in 12 units of time on average.
//! assert!((900..1100).contains(&race.firings(fail)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod afresh;
mod clocks;
mod rewards;
mod rules;
mod simulation;
mod splitting;

use std::cmp::Ordering;
use std::sync::Arc;

use inorder_base::random::Random;

use crate::coloured::{Delay, RunError};
use crate::lower::ticks_per_unit;
use crate::net::{Net, NetError, TransitionId};
use crate::query::Sum;
use crate::schedule::agenda::Agenda;
use crate::schedule::patience::Patience;
use crate::schedule::tally::{PlaceTally, TransitionTally};
use clocks::Clocks;
use rewards::Rewards;
use rules::Rules;

use crate::statistics::Layout;
pub use splitting::{Splitting, SplittingError, Threshold};

/// What a clock remembers of the elapsed time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// It continues while its transition stays enabled, and is drawn anew afterwards.
    #[default]
    Enabling,
    /// It stops while its transition is disabled, and continues where it stopped when the transition is enabled
    /// again.
    Age,
    /// It is drawn anew after every firing of a timed transition.
    Resampling,
}

/// A running net.
#[derive(Clone)]
pub struct Race {
    rules: Arc<Rules>,
    marking: Vec<u32>,
    clocks: Clocks,
    memory: Memory,
    places: Vec<PlaceTally>,
    transitions: Vec<TransitionTally>,
    rewards: Rewards,
    conflict: Random,
    ticks_per_unit: f64,
    now: u64,
    /// Transitions whose enabling may have changed, and the immediate ones that are enabled.
    agenda: Agenda,
    /// It runs.
    is_settled: bool,
    patience: Patience,
}

impl Race {
    /// Checks the net and sets its initial marking. Equal nets and seeds give equal runs on every machine.
    pub fn new(net: &Net, memory: Memory, seed: u64) -> Result<Self, NetError> {
        net.validate()?;
        let ticks_per_unit = ticks_per_unit(net);
        let transitions = net.transitions.len();
        let tokens = net.initial_marking().iter().map(|&n| u64::from(n)).sum();
        let rules = Rules::new(net, ticks_per_unit);
        Ok(Self {
            agenda: rules.agenda(),
            is_settled: false,
            rules: Arc::new(rules),
            marking: net.initial_marking().into(),
            clocks: Clocks::new(net, seed),
            memory,
            places: net
                .places
                .iter()
                .map(|place| PlaceTally::starting(place.tokens))
                .collect(),
            transitions: vec![TransitionTally::default(); transitions],
            rewards: Rewards::default(),
            conflict: Random::new(seed, "conflict"),
            ticks_per_unit,
            now: 0,
            patience: Patience::new(tokens, transitions),
        })
    }

    /// Also estimates the means of these numbers over time. To be called before the net runs.
    pub fn observe(&mut self, rewards: Vec<Sum>) {
        self.rewards = Rewards::new(rewards);
    }

    /// Ticks of the clock in a unit of the net's time.
    pub fn ticks_per_unit(&self) -> f64 {
        self.ticks_per_unit
    }

    /// The time, in ticks.
    pub(crate) fn now_ticks(&self) -> u64 {
        self.now
    }

    /// The tokens of every place.
    pub fn marking(&self) -> &[u32] {
        &self.marking
    }

    /// Firings of a transition so far.
    pub fn firings(&self, transition: TransitionId) -> u64 {
        let tally = self.transitions.get(transition.0);
        tally.map_or(0, |tally| tally.firings)
    }

    /// Sets the number of firings at one time that are not too many.
    #[cfg(test)]
    pub(crate) fn set_zero_time_limit(&mut self, firings: u64) {
        self.patience = Patience::of(firings);
    }

    /// Runs until `time`, in units of the net's time. In a deadlock only time advances.
    pub fn run_until(&mut self, time: f64) -> Result<(), RunError> {
        self.run_until_ticks((time * self.ticks_per_unit) as u64)
    }

    /// Runs until `end`, in ticks. In a deadlock only time advances.
    pub(crate) fn run_until_ticks(&mut self, end: u64) -> Result<(), RunError> {
        self.run_observed(end, &mut |_, _, _| {})
    }

    /// Runs until `end`, in ticks; `observe` is called after every firing with the time in ticks, the transition and the marking.
    pub fn run_observed(
        &mut self,
        end: u64,
        observe: &mut impl FnMut(u64, TransitionId, &[u32]),
    ) -> Result<(), RunError> {
        self.settle(observe)?;
        while self.next(end, observe)? {}
        self.now = self.now.max(end);
        self.rewards.advance(self.now);
        Ok(())
    }

    /// Reaches a tangible marking and starts its clocks.
    fn settle(
        &mut self,
        observe: &mut impl FnMut(u64, TransitionId, &[u32]),
    ) -> Result<(), RunError> {
        self.reach_tangible(observe)?;
        self.set_clocks()?;
        #[cfg(test)]
        self.compare();
        self.rewards.update(self.rules.net(), &self.marking);
        self.is_settled = true;
        Ok(())
    }

    /// Fires the next timed transition until `end`, and the immediate ones behind it; false if there is none.
    fn next(
        &mut self,
        end: u64,
        observe: &mut impl FnMut(u64, TransitionId, &[u32]),
    ) -> Result<bool, RunError> {
        let Some((time, transition)) = self.clocks.next_until(end) else {
            return Ok(false);
        };
        self.now = time;
        self.rewards.advance(time);
        self.transitions[transition as usize].stop(time);
        self.fire(transition as usize, observe)?;
        if self.memory == Memory::Resampling {
            self.stop_all_clocks();
        }
        self.settle(observe)?;
        Ok(true)
    }

    /// One timed firing until `end`; false if there is none.
    fn step(&mut self, end: u64) -> Result<bool, RunError> {
        let observe = &mut |_: u64, _: TransitionId, _: &[u32]| {};
        if !self.is_settled {
            self.settle(observe)?;
        }
        self.next(end, observe)
    }

    /// A number computed from the marking.
    fn value(&self, sum: &Sum) -> f64 {
        sum.value(self.rules.net(), &self.marking)
    }

    /// From now on, integrals grow with this weight.
    fn weigh(&mut self, weight: f64) {
        self.rewards.weight = weight;
    }

    /// A copy with random numbers of its own and integrals of 0. Exponential clocks are drawn anew, since they have no
    /// memory; others keep their times.
    fn independent_copy(&self, number: u64) -> Self {
        let mut copy = self.clone();
        copy.conflict = copy.conflict.fork(number);
        copy.rewards.restart();
        let rules = Arc::clone(&copy.rules);
        copy.clocks.draw_anew(number, self.now, |transition| {
            let delay = rules.delay(transition);
            delay.filter(|delay| matches!(delay, Delay::Exponential { .. }))
        });
        copy
    }

    /// Whether nothing can happen any more, after a run.
    pub fn has_ended(&self) -> bool {
        self.clocks.are_still()
    }

    pub(crate) fn rewards(&self) -> &Rewards {
        &self.rewards
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout {
            rewards: self.rewards.kinds().collect(),
            ..self.rules.layout()
        }
    }

    /// Fires immediate transitions until none is enabled.
    fn reach_tangible(
        &mut self,
        observe: &mut impl FnMut(u64, TransitionId, &[u32]),
    ) -> Result<(), RunError> {
        self.patience.renew();
        while let Some(transition) = self.choose_immediate() {
            if !self.patience.lasts(transition) {
                return Err(self.zero_time_loop(transition));
            }
            self.fire(transition, observe)?;
        }
        Ok(())
    }

    /// One of the enabled immediate transitions of the highest priority, by weight.
    fn choose_immediate(&mut self) -> Option<usize> {
        let (rules, marking) = (&self.rules, &self.marking);
        self.agenda.settle_words(rules.immediate(), |rule| {
            let transition = rules.transition(rule);
            transition.is_some_and(|t| rules.is_enabled(t, marking))
        });
        let chosen = self
            .agenda
            .choose(&mut self.conflict, |rule| rules.rank(rule))?;
        rules.transition(chosen)
    }

    fn fire(
        &mut self,
        transition: usize,
        observe: &mut impl FnMut(u64, TransitionId, &[u32]),
    ) -> Result<(), RunError> {
        self.transitions[transition].firings += 1;
        for &(place, ends) in self.rules.changes(transition) {
            let held = &mut self.marking[place];
            let before = *held;
            let left = if ends.resets {
                0
            } else {
                before.saturating_sub(ends.takes)
            };
            *held = left
                .checked_add(ends.gives)
                .ok_or_else(|| RunError::TooManyTokens(self.rules.place_name(place).to_owned()))?;
            let (held, tally) = (*held, &mut self.places[place]);
            if left < before {
                tally.lose(before - left, self.now);
            }
            if ends.gives > 0 {
                tally.gain(ends.gives, held, self.now);
            }
            let (index, wakes) = (place as u32, self.rules.wakes(place));
            match held.cmp(&before) {
                Ordering::Less => self.agenda.lost(index, held, wakes, held == 0),
                Ordering::Equal => {}
                Ordering::Greater => self.agenda.gained(index, wakes, before == 0),
            }
        }
        self.agenda.doubt(self.rules.rule(transition));
        observe(self.now, TransitionId(transition), &self.marking);
        Ok(())
    }

    fn stop_all_clocks(&mut self) {
        for transition in 0..self.rules.len() {
            while self
                .clocks
                .stop_last(transition, self.now, Memory::Resampling)
            {
                self.transitions[transition].stop(self.now);
                self.agenda.doubt(self.rules.rule(transition));
            }
        }
    }

    /// In a tangible marking: starts and stops clocks until every transition has the right number.
    fn set_clocks(&mut self) -> Result<(), RunError> {
        let (rules, marking, now) = (&self.rules, &self.marking, self.now);
        let (clocks, tallies, memory) = (&mut self.clocks, &mut self.transitions, self.memory);
        let mut too_many = None;
        self.agenda.settle_words(rules.timed(), |rule| {
            let Some(transition) = rules.transition(rule) else {
                return false;
            };
            let wanted = rules.servers(transition, marking);
            let tally = &mut tallies[transition];
            while clocks.running(transition) > wanted {
                clocks.stop_last(transition, now, memory);
                tally.stop(now);
            }
            while clocks.running(transition) < wanted && too_many.is_none() {
                match clocks.start(transition, now, rules.delay(transition)) {
                    Some(()) => tally.start(now),
                    None => too_many = Some(transition),
                }
            }
            false
        });
        match too_many {
            Some(transition) => {
                let name = rules.transition_name(transition);
                Err(RunError::TooManyFirings(name.to_owned()))
            }
            None => Ok(()),
        }
    }

    #[cold]
    fn zero_time_loop(&self, transition: usize) -> RunError {
        let mut changes = self.rules.changes(transition).iter();
        let place = changes.find(|(_, ends)| ends.takes > 0);
        let net = self.rules.net();
        RunError::zero_time_loop(
            self.now,
            self.patience.firings(),
            place.map_or("", |&(place, _)| self.rules.place_name(place)),
            self.patience
                .last()
                .iter()
                .map(|&t| &net.transitions[t].name),
        )
    }
}
