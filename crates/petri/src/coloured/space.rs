//! The states of a coloured net, one after the other: what can happen in each, and with which probability.
//!
//! A state is the content of all places, the firings under way with the tokens that they hold, and what the modeller
//! keeps [`Outside`] of the places. A transition that can start does so at once, so that no time passes in such a state;
//! otherwise any of the firings under way may end next. Random choices of expressions are made in every possible way.
//! The content is numbered, and the number is the last column of the vectors that [`Moves`] gives, so that exploration,
//! solution and queries are those of plain nets.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::bind;
use super::bound::Bound;
use super::delay::Delay;
use super::engine::Engine;
use super::handle::Token;
use super::model::Model;
use super::picture::Split;
use super::repeats::{self, Repeats};
use super::spec::Timing;
use crate::net::{Net, PlaceId as PlainPlace, TransitionId as PlainTransition};
use crate::reachability::{Move, Moves};

/// What a model's functions use besides tokens, and how its tokens are written.
pub trait Outside<T> {
    /// Numbers outside the places that firings change and read.
    fn save(&self) -> Vec<i64>;
    /// Restores them.
    fn load(&self, saved: &[i64]);
    /// Begins a firing: choices are made in the first way.
    fn first(&self);
    /// Begins the same firing again with other choices, if there are any.
    fn next(&self) -> bool;
    /// The probability of the choices that were made.
    fn probability(&self) -> f64;
    /// What went wrong, or why the states cannot be listed.
    fn problem(&self) -> Option<String>;
    /// A token in words; `place` is the index of the place where it is, or from which it was taken.
    fn words(&self, place: usize, token: &T) -> String;
}

/// A firing under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct UnderWay<T> {
    pub(super) rule: u32,
    colour: u32,
    tokens: Vec<T>,
    /// Stages of its delay, and how many are over; 0 stages if it is not exponential.
    stages: (u32, u32),
    /// The bits of the mean of the sum, in ticks.
    mean: u64,
}

/// A state without the numbers of tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Content<T> {
    pub(super) lens: Vec<u32>,
    pub(super) tokens: Vec<T>,
    pub(super) under_way: Vec<UnderWay<T>>,
    pub(super) outside: Vec<i64>,
}

impl<T> Content<T> {
    /// Bytes of memory that it takes.
    fn memory_footprint(&self) -> usize {
        let held = self.under_way.iter().map(|firing| firing.tokens.len());
        size_of::<Self>()
            + self.lens.len() * size_of::<u32>()
            + (self.tokens.len() + held.sum::<usize>()) * size_of::<T>()
            + self.under_way.len() * size_of::<UnderWay<T>>()
            + self.outside.len() * size_of::<i64>()
    }
}

/// A coloured net as states and moves.
pub struct Space<T, O> {
    engine: Engine<T>,
    outside: O,
    split: Split,
    unit: f64,
    under_way: Vec<UnderWay<T>>,
    contents: Vec<Rc<Content<T>>>,
    /// Bytes of memory that the contents take.
    bytes: usize,
    index: HashTable<u32>,
    deposits: Vec<Vec<(PlainPlace, u32)>>,
    not_exponential: Option<(PlainTransition, &'static str)>,
}

/// A way to start a transition.
struct Start {
    rule: usize,
    colour: u32,
    picks: Vec<u32>,
    weight: f64,
}

/// A unit of time.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'u> {
    /// Its name.
    pub name: &'u str,
    /// Ticks of the engine in it.
    pub ticks: f64,
}

impl<T: Token + Ord + Hash, O: Outside<T>> Space<T, O> {
    /// The states of the model, with rates in this unit of time.
    pub fn new(name: &str, model: Model<T>, outside: O, unit: Unit<'_>) -> Result<Self, String> {
        let mut engine = Engine::new(model, 0).map_err(|error| error.to_string())?;
        let mut split = engine.split(name, unit.ticks);
        unit.name.clone_into(&mut split.net.unit);
        let unit = unit.ticks;
        let places = &engine.state.places;
        for rule in &mut engine.rules {
            let several = |take: &super::rule::TakeArc<T>| {
                take.count > 1 && !places[take.place as usize].is_fifo()
            };
            if let Some(take) = rule.takes.iter().find(|take| several(take)) {
                return Err(format!(
                    "{} takes {} tokens at once from {}, which is not first in, first out: such states are not listed",
                    engine.names.transitions[rule.id as usize],
                    take.count,
                    engine.names.places[take.place as usize]
                ));
            }
            (rule.must_bind, rule.must_search) = (true, true);
        }
        Ok(Self {
            engine,
            outside,
            split,
            unit,
            under_way: Vec::new(),
            contents: Vec::new(),
            bytes: 0,
            index: HashTable::new(),
            deposits: Vec::new(),
            not_exponential: None,
        })
    }

    /// The present state as a vector: tokens, firings under way, number of the content.
    fn save(&mut self) -> Vec<u32> {
        let rules = &self.engine.rules;
        // Which one started first matters only where firings are cancelled.
        self.under_way.sort_by(|a, b| {
            let is_ordered = rules[a.rule as usize].under_way.is_some();
            match a.rule.cmp(&b.rule) {
                std::cmp::Ordering::Equal if !is_ordered => a.cmp(b),
                order => order,
            }
        });
        let places = &self.engine.state.places;
        let mut state: Vec<u32> = places.iter().map(|place| place.len).collect();
        let busy = self.split.timed.iter().enumerate();
        let busy = busy.filter(|(_, timed)| timed.is_some());
        state.extend(busy.map(|(id, _)| rules[self.engine.rule_of[id] as usize].tally.busy));
        let (mut lens, mut tokens) = (Vec::new(), Vec::new());
        for place in places {
            place.save(&mut lens, &mut tokens);
        }
        let content = Content {
            lens,
            tokens,
            under_way: self.under_way.clone(),
            outside: self.outside.save(),
        };
        state.push(self.number(content));
        state
    }

    fn number(&mut self, content: Content<T>) -> u32 {
        let hasher = FixedState::with_seed(0);
        let (contents, index) = (&mut self.contents, &mut self.index);
        let is_it = |&number: &u32| *contents[number as usize] == content;
        let hash = hasher.hash_one(&content);
        if let Some(&number) = index.find(hash, is_it) {
            return number;
        }
        let number = contents.len() as u32;
        self.bytes += content.memory_footprint();
        contents.push(Rc::new(content));
        let hash_of = |&number: &u32| hasher.hash_one(&*contents[number as usize]);
        index.insert_unique(hash, number, hash_of);
        number
    }

    fn load(&mut self, content: &Content<T>) {
        let engine = &mut self.engine;
        let (mut lens, mut tokens) = (&content.lens[..], content.tokens.iter().copied());
        for place in &mut engine.state.places {
            let (own, others) = lens.split_at(place.keys as usize);
            place.load(own, &mut tokens);
            lens = others;
        }
        engine.rules.iter_mut().for_each(|rule| rule.tally.busy = 0);
        self.under_way.clone_from(&content.under_way);
        for firing in &content.under_way {
            let rule = &mut engine.rules[firing.rule as usize];
            rule.tally.busy += 1;
            for room in &rule.conditions.rooms {
                engine.state.reserve(room.place, room.reserve);
            }
        }
        self.outside.load(&content.outside);
    }

    /// All ways to start a transition of the highest priority of those that can.
    fn starts(&mut self) -> Vec<Start> {
        let engine = &mut self.engine;
        let (places, binding) = (&engine.state.places, &mut engine.binding);
        let (mut starts, mut priority) = (Vec::new(), 0);
        for (index, rule) in engine.rules.iter_mut().enumerate() {
            if !starts.is_empty() && rule.priority < priority {
                break;
            }
            let has_inputs = rule.inputs().all(|place| places[place as usize].len > 0);
            if !has_inputs || !bind::look(rule, places, binding, 0) {
                continue;
            }
            priority = rule.priority;
            let enabled = rule.enabled.clone();
            for (word, bits) in (0..).zip(enabled) {
                for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                    let colour = word * 64 + bit;
                    let all = bind::all(rule, places, binding, colour, 0);
                    let weight = rule.weight / all.len() as f64;
                    starts.extend(all.into_iter().map(|picks| Start {
                        rule: index,
                        colour,
                        picks,
                        weight,
                    }));
                }
            }
        }
        starts
    }

    /// Starts a transition; returns what is deposited, or `None` if it takes time.
    fn start(&mut self, start: &Start) -> Option<u32> {
        let engine = &mut self.engine;
        let rule = &mut engine.rules[start.rule];
        let (places, binding) = (&engine.state.places, &mut engine.binding);
        bind::again(rule, places, binding, &start.picks, start.colour, 0);
        engine.state.take_bound(rule, &engine.binding);
        for &place in &rule.resets {
            engine.state.clear(place);
        }
        let tokens = engine.binding.tokens.clone();
        let bound = bound(&tokens, start.colour);
        if matches!(rule.timing, Timing::Immediate) {
            return Some(self.end(start.rule, &bound));
        }
        let (stages, mean) = match &mut rule.timing {
            Timing::Delay(Delay::Exponential { mean }) => (1, *mean),
            Timing::Delay(Delay::Erlang { stages, mean }) => (*stages, *mean),
            Timing::Stages(of) => of(&bound),
            other => {
                let id = PlainTransition(rule.id as usize);
                self.not_exponential.get_or_insert((id, kind(other)));
                (0, 0.0)
            }
        };
        rule.tally.busy += 1;
        for room in &rule.conditions.rooms {
            engine.state.reserve(room.place, room.reserve);
        }
        self.under_way.push(UnderWay {
            rule: start.rule as u32,
            colour: start.colour,
            tokens,
            stages: (stages, 0),
            mean: mean.to_bits(),
        });
        None
    }

    /// The end of a firing: what it cancels, and its outputs; returns the number of what is deposited.
    fn end(&mut self, index: usize, bound: &Bound<'_, T>) -> u32 {
        let arrivals = |engine: &Engine<T>| -> Vec<u64> {
            let places = engine.state.places.iter();
            places.map(|place| place.tally.arrivals).collect()
        };
        let before = arrivals(&self.engine);
        let mut cancels = std::mem::take(&mut self.engine.rules[index].cancels);
        for cancel in &mut cancels {
            let of = self.engine.rule_of[cancel.transition as usize];
            let under_way = self.under_way.iter().enumerate();
            let under_way = under_way.filter(|(_, firing)| firing.rule == of);
            let mut chosen = cancel.chosen(
                bound,
                under_way.map(|(at, firing)| (at, &firing.tokens[..])),
            );
            chosen.sort_unstable();
            for at in chosen.into_iter().rev() {
                let firing = self.release(at);
                if let (Some(to), Some(&token)) = (cancel.to, firing.tokens.first()) {
                    self.engine.state.deposit(to, token, &mut ());
                }
            }
        }
        let rule = &mut self.engine.rules[index];
        rule.cancels = cancels;
        self.engine.state.produce(rule, bound, &mut ());
        let grown = arrivals(&self.engine).into_iter().zip(before).enumerate();
        let grown =
            grown.map(|(place, (after, before))| (PlainPlace(place), (after - before) as u32));
        let deposit: Vec<(PlainPlace, u32)> = grown.filter(|(_, more)| *more > 0).collect();
        self.number_of(deposit)
    }

    /// Removes a firing under way, with what it reserves.
    fn release(&mut self, at: usize) -> UnderWay<T> {
        let firing = self.under_way.remove(at);
        let rule = &mut self.engine.rules[firing.rule as usize];
        rule.tally.busy -= 1;
        for room in &rule.conditions.rooms {
            self.engine.state.release(room.place, room.reserve);
        }
        firing
    }

    /// Makes a move in all ways of its choices.
    fn in_all_ways(
        &mut self,
        content: &Content<T>,
        mut make: impl FnMut(&mut Self) -> Move,
        visit: &mut dyn FnMut(Move, &[u32]),
    ) -> Result<(), String> {
        self.outside.first();
        loop {
            self.load(content);
            let made = make(self);
            let fault = self.engine.state.check(&self.engine.names);
            fault.map_err(|error| error.to_string())?;
            if let Some(problem) = self.outside.problem() {
                return Err(problem);
            }
            let probability = self.outside.probability();
            if probability > 0.0 {
                let speed = made.speed * probability;
                let state = self.save();
                visit(Move { speed, ..made }, &state);
            }
            if !self.outside.next() {
                return Ok(());
            }
        }
    }

    fn each_start(
        &mut self,
        content: &Content<T>,
        start: &Start,
        visit: &mut dyn FnMut(Move, &[u32]),
    ) -> Result<(), String> {
        let id = self.engine.rules[start.rule].id;
        let timed = self.split.timed.get(id as usize).copied().flatten();
        let transition = timed.map_or(id, |(_, starts)| starts);
        let under_way = timed.map_or_else(Vec::new, |(busy, _)| vec![(busy, 1)]);
        let under_way = self.number_of(under_way);
        let make = |space: &mut Self| Move {
            deposit: space.start(start).unwrap_or(under_way),
            transition,
            is_stage: false,
            is_immediate: true,
            speed: start.weight,
        };
        self.in_all_ways(content, make, visit)
    }

    fn each_end(
        &mut self,
        content: &Content<T>,
        at: usize,
        many: u32,
        visit: &mut dyn FnMut(Move, &[u32]),
    ) -> Result<(), String> {
        let firing = &content.under_way[at];
        let (stages, done) = firing.stages;
        let speed = match stages {
            0 => f64::NAN,
            _ => f64::from(many) * f64::from(stages) * self.unit / f64::from_bits(firing.mean),
        };
        let is_stage = done + 1 < stages;
        let nothing = self.number_of(Vec::new());
        let make = |space: &mut Self| Move {
            deposit: if is_stage {
                space.under_way[at].stages.1 += 1;
                nothing
            } else {
                let firing = space.release(at);
                space.end(firing.rule as usize, &bound(&firing.tokens, firing.colour))
            },
            transition: space.engine.rules[firing.rule as usize].id,
            is_stage,
            is_immediate: false,
            speed,
        };
        self.in_all_ways(content, make, visit)
    }

    /// The number of a deposit.
    fn number_of(&mut self, deposit: Vec<(PlainPlace, u32)>) -> u32 {
        let known = self.deposits.iter().position(|known| *known == deposit);
        known.unwrap_or_else(|| {
            self.deposits.push(deposit);
            self.deposits.len() - 1
        }) as u32
    }

    fn content_of(&self, state: &[u32]) -> Option<Rc<Content<T>>> {
        let number = *state.last()?;
        self.contents.get(number as usize).cloned()
    }
}

impl<T: Token + Ord + Hash, O: Outside<T>> Moves for Space<T, O> {
    fn net(&self) -> &Net {
        &self.split.net
    }

    fn initial(&mut self) -> Result<Vec<u32>, String> {
        match self.contents.first().cloned() {
            Some(first) => self.load(&first),
            None => self
                .engine
                .state
                .check(&self.engine.names)
                .map_err(|e| e.to_string())?,
        }
        Ok(self.save())
    }

    fn each(&mut self, state: &[u32], visit: &mut dyn FnMut(Move, &[u32])) -> Result<(), String> {
        let Some(content) = self.content_of(state) else {
            return Ok(());
        };
        self.load(&content);
        let starts = self.starts();
        for start in &starts {
            self.each_start(&content, start, visit)?;
        }
        if !starts.is_empty() {
            return Ok(());
        }
        let all = &content.under_way;
        let mut at = 0;
        while let Some(firing) = all.get(at) {
            let is_ordered = self.engine.rules[firing.rule as usize].under_way.is_some();
            let same = all[at..]
                .iter()
                .take_while(|other| *other == firing)
                .count();
            let many = if is_ordered { 1 } else { same };
            self.each_end(&content, at, many as u32, visit)?;
            at += many;
        }
        Ok(())
    }

    fn deposits(&self) -> Option<&[Vec<(PlainPlace, u32)>]> {
        Some(&self.deposits)
    }

    fn memory_footprint(&self) -> usize {
        self.bytes + self.index.capacity() * size_of::<u32>()
    }

    fn not_exponential(&self) -> Option<(PlainTransition, &'static str)> {
        self.not_exponential
    }

    fn repeats(&self, way: &[&[u32]]) -> bool {
        let contents = way.iter().map(|state| self.content_of(state));
        let contents: Option<Vec<Rc<Content<T>>>> = contents.collect();
        contents.is_some_and(|contents| {
            let way: Vec<&Content<T>> = contents.iter().map(Rc::as_ref).collect();
            Repeats::new(&self.engine.rules, &self.engine.state.places).can(&way)
        })
    }

    fn most_varied(&self, states: &mut dyn Iterator<Item = &[u32]>) -> Option<String> {
        let places = &self.engine.state.places;
        let mut seen: Vec<HashSet<T>> = vec![HashSet::new(); places.len()];
        for content in states.filter_map(|state| self.content_of(state)) {
            for lane in repeats::lanes(&content, places) {
                seen[lane.place].extend(lane.tokens);
            }
        }
        let (place, tokens) = seen.iter().enumerate().max_by_key(|(_, seen)| seen.len())?;
        let greatest = tokens.iter().max().filter(|_| tokens.len() > 1)?;
        Some(format!(
            "{} different tokens in {}, such as {}",
            tokens.len(),
            self.engine.names.places[place],
            self.outside.words(place, greatest)
        ))
    }

    fn words(&self, state: &[u32]) -> String {
        let Some(content) = self.content_of(state) else {
            return self.split.net.marking_text(state);
        };
        let mut tokens = content.tokens.iter();
        let mut lens = content.lens.iter();
        let mut all = Vec::new();
        let places = self.engine.state.places.iter();
        for (index, (place, name)) in places.zip(&self.engine.names.places).enumerate() {
            let counts: Vec<u32> = lens.by_ref().take(place.keys as usize).copied().collect();
            let held: u32 = counts.iter().sum();
            match (held, place.is_plain()) {
                (0, _) => {}
                (_, true) if counts.len() == 1 => all.push(format!("{name} {held}")),
                (_, true) => {
                    let keys = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                    all.extend(keys.map(|(key, count)| format!("{name}[{key}] {count}")));
                }
                (_, false) => {
                    let held = tokens.by_ref().take(held as usize);
                    let held: Vec<String> =
                        held.map(|token| self.outside.words(index, token)).collect();
                    all.push(format!("{name} {}", held.join(" ")));
                }
            }
        }
        for firing in &content.under_way {
            let id = self.engine.rules[firing.rule as usize].id as usize;
            let takes = self.engine.rules[firing.rule as usize].takes.iter();
            let from = takes.flat_map(|arc| std::iter::repeat_n(arc.place, arc.count as usize));
            let held = firing.tokens.iter().zip(from);
            let held = held.map(|(token, from)| self.outside.words(from as usize, token));
            let mut words = vec![format!("{}.busy", self.engine.names.transitions[id])];
            words.extend(held);
            all.push(words.join(" "));
        }
        match all.is_empty() {
            true => "no tokens".to_owned(),
            false => all.join(", "),
        }
    }
}

/// Time plays no part in what happens.
fn bound<T>(tokens: &[T], colour: u32) -> Bound<'_, T> {
    Bound {
        tokens,
        colour,
        now: 0,
        started: 0,
    }
}

fn kind<T>(timing: &Timing<T>) -> &'static str {
    match timing {
        Timing::Delay(Delay::Deterministic(_)) => "deterministic",
        Timing::Delay(Delay::Uniform { .. }) => "uniform",
        Timing::Delay(Delay::Drawn { drawn, .. }) => drawn.family().name,
        Timing::Delay(Delay::Empirical(_)) => "empirical",
        _ => "computed",
    }
}
