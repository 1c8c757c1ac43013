//! One net while it runs.

use std::cell::Cell;
use std::collections::VecDeque;

use inorder_base::random::Random;
use inorder_petri::coloured::{Engine, Marking, Observer, PlaceId, Queue, RunError, Stop};
use inorder_petri::statistics::{Layout, Simulation, Totals, grows_without_end};

use super::counted;
use crate::build::{Built, build};
use crate::error::{Checked, Fault, Span};
use crate::measure::{Ordered, Plan, Row, Unsure, plan, values};
use crate::names::{Hop, Names};
use crate::token::Token;

/// Times at which a place must have been looked at to tell whether it grows without end.
const LEAST_LOOKS: usize = 32;

/// Changes of the clock after which a run is interrupted to ask whether to go on.
const STEPS: u64 = 1 << 18;

/// A token with the time at which it left a net.
pub(super) type Passed<const N: usize> = (u64, Token<N>);

/// A net of a chain, or the only one.
pub(super) struct Stage<const N: usize> {
    engine: Engine<Token<N>>,
    pub(super) watch: Watch<N>,
    errors: std::sync::Arc<crate::code::Errors>,
    /// Where the tokens of the net before it arrive.
    line: Option<Queue>,
    /// The tokens of each place at the start.
    initial: Vec<u32>,
    /// Those that have not entered yet.
    pub(super) pending: VecDeque<Passed<N>>,
    /// The end of the warm-up.
    warm: Moment,
    /// The sums at successive times behind it.
    seen: Vec<Totals>,
}

/// A net at a moment of a run.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The time in ticks, which are thousandths of the unit of the net's clock.
    pub ticks: u64,
    /// The tokens counted until then: those at the place that `run` names, or in a chain those that left for the next net.
    pub counted: u64,
    /// The sums over its places and transitions.
    pub totals: Totals,
}

/// What was counted in a net during a run.
#[derive(Debug)]
pub struct Ran {
    /// The names of its places and transitions; in a chain those of transitions begin with `hop1/`, `hop2/`, ...
    pub layout: Layout,
    /// The tokens of each place at the start.
    pub initial: Vec<u32>,
    /// The end of the warm-up.
    pub warm: Moment,
    /// The end of the run.
    pub end: Moment,
    /// The measures that the net declares, in their order, with their names.
    pub measures: Vec<(String, f64)>,
    /// By measure: why it is not known.
    pub unsure: Vec<Option<Unsure>>,
    /// The orders that it declares, in their order.
    pub orders: Vec<Ordered>,
    /// Places that got more tokens than they lost until the end, with how many they got for each that they lost.
    pub unstable: Vec<(String, f64)>,
    /// The marking and what each transition waits for, if nothing could happen any more before the time at which the run ends.
    pub stands_still: Option<String>,
}

impl Ran {
    /// The numbers of its rows.
    pub(crate) fn values(&self) -> Vec<f64> {
        values(&self.measures, &self.orders)
    }

    /// By number of its rows: why it is not known.
    pub(crate) fn unsure(&self) -> Vec<Option<Unsure>> {
        let mut all = self.unsure.clone();
        all.resize(self.values().len(), None);
        all
    }
}

/// How a piece of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// The target was reached, of tokens or of time.
    Reached,
    /// After some steps.
    Paused,
    /// Nothing can happen any more.
    Dead,
}

impl<const N: usize> Stage<N> {
    pub(super) fn new(names: &Names<'_>, seed: u64) -> Checked<Self> {
        let hop = names.hop;
        let seed = match hop.number {
            0 => seed,
            number => Random::new(seed, "processors")
                .fork(number.into())
                .next_u64(),
        };
        let Built {
            model,
            shared,
            places,
            line,
            ..
        } = build::<N>(names, seed)?;
        let mut plan = plan::<N>(names, &shared, &places)?;
        let counts = counted(names, &places)?;
        if let Some(place) = counts {
            plan.watch(place);
        }
        let engine = Engine::new(model, seed);
        let engine = engine.map_err(|error| Fault::new(Span::default(), error.to_string()))?;
        Ok(Self {
            warm: moment(&engine, 0),
            initial: initial(&engine),
            seen: Vec::new(),
            engine,
            watch: Watch {
                plan,
                hop,
                counts,
                counted: 0,
                target: 0,
                end: u64::MAX,
                passed: Vec::new(),
                steps: Cell::new(0),
            },
            errors: shared.errors.clone(),
            line,
            pending: VecDeque::new(),
        })
    }

    /// Its numbers: `NAME hop 1` are those of the first net of several.
    pub(super) fn rows(&self) -> Vec<Row> {
        let hop = self.watch.hop;
        let rows = self.watch.plan.rows(hop.is_last());
        rows.map(|row| match hop.is_last() {
            true => row.clone(),
            false => Row {
                group: format!("{} behind hop {}", row.group, hop.number + 1),
                ..row.clone()
            },
        })
        .collect()
    }

    /// Runs for some steps, at most until `time` and at most until the target.
    pub(super) fn run(&mut self, time: u64, at: Span) -> Checked<Ended> {
        self.watch.steps.set(0);
        let stop = self.engine.run_until(time, &mut self.watch);
        if let Some((at, wrong)) = self.errors.first() {
            return Err(Fault::new(at, wrong.to_string()));
        }
        let stop = stop.map_err(|error: RunError| Fault::new(at, error.to_string()))?;
        Ok(match stop {
            Stop::Observer if self.watch.has_counted() => Ended::Reached,
            Stop::Observer => Ended::Paused,
            Stop::TimeReached => Ended::Reached,
            Stop::Dead => Ended::Dead,
        })
    }

    /// Lets a token of the net before it enter at its time, up to which the net has run.
    pub(super) fn enter(&mut self, (time, token): Passed<N>, at: Span) -> Checked<()> {
        let Some(line) = self.line else {
            return Ok(());
        };
        self.engine.wait_until(time);
        let put = self.engine.put(line, token);
        put.map_err(|error| Fault::new(at, error.to_string()))
    }

    pub(super) fn now(&self) -> u64 {
        self.engine.now()
    }

    /// If nothing can happen any more: the marking, and what each transition waits for.
    pub(super) fn stands_still(&self) -> Option<String> {
        self.engine.has_ended().then(|| stands_still(&self.engine))
    }

    pub(super) fn warmed_up(&mut self) {
        self.warm = moment(&self.engine, self.watch.counted);
        self.watch.plan.warmed_up(self.warm.ticks);
    }

    /// Remembers how many tokens the places have now.
    pub(super) fn look(&mut self) {
        self.seen.push(self.engine.totals(self.engine.now()));
    }

    pub(super) fn finish(self) -> Ran {
        let (warm, end) = (self.warm, moment(&self.engine, self.watch.counted));
        let measured = self
            .watch
            .plan
            .finish((&warm.totals, warm.ticks), (&end.totals, end.ticks));
        let layout = self.engine.layout();
        // A run until some tokens have come may end with its net.
        let is_until_time = self.watch.counts.is_none();
        let still = is_until_time && self.engine.has_ended();
        Ran {
            unstable: unstable(&layout, &self.seen),
            stands_still: still.then(|| stands_still(&self.engine)),
            layout,
            initial: self.initial,
            warm,
            end,
            measures: measured.measures,
            unsure: measured.unsure,
            orders: measured.orders,
        }
    }
}

/// Places that lose tokens, but get more, in the second half of what was seen. A place that none leave only counts.
fn unstable(layout: &Layout, seen: &[Totals]) -> Vec<(String, f64)> {
    let late = &seen[seen.len() / 2..];
    let (Some(first), Some(last)) = (late.first(), late.last()) else {
        return Vec::new();
    };
    let grows = |(index, name): (usize, &String)| {
        let level = |totals: &Totals| f64::from(totals.places[index].tokens);
        let levels: Vec<f64> = late.iter().map(level).collect();
        let arrived = last.places[index].arrivals - first.places[index].arrivals;
        let left = arrived as f64 - (level(last) - level(first));
        let peak = f64::from(last.places[index].peak);
        let is_real = levels.len() >= LEAST_LOOKS && left > 0.0 && grows_without_end(&levels, peak);
        is_real.then(|| (name.clone(), arrived as f64 / left))
    };
    layout.places.iter().enumerate().filter_map(grows).collect()
}

fn moment<const N: usize>(engine: &Engine<Token<N>>, counted: u64) -> Moment {
    let ticks = engine.now();
    Moment {
        ticks,
        counted,
        totals: engine.totals(ticks),
    }
}

fn initial<const N: usize>(engine: &Engine<Token<N>>) -> Vec<u32> {
    let places = engine.totals(0).places;
    places.iter().map(|place| place.tokens).collect()
}

/// The marking of an engine that has ended, and what each transition waits for.
pub(crate) fn stands_still<const N: usize>(engine: &Engine<Token<N>>) -> String {
    let marked: Vec<String> = engine
        .marked()
        .iter()
        .map(|(name, tokens)| format!("{name} {tokens}"))
        .collect();
    let marking = match marked.is_empty() {
        true => "no tokens".to_owned(),
        false => marked.join(", "),
    };
    let waits = engine.waiting();
    let waits: Vec<String> = waits
        .iter()
        .map(|one| {
            format!(
                "{} waits for {}",
                one.transition,
                one.for_what.join(" and ")
            )
        })
        .collect();
    format!("{marking}; {}", waits.join("; "))
}

/// Observes a run.
pub(super) struct Watch<const N: usize> {
    plan: Plan<N>,
    hop: Hop,
    /// The place whose tokens are counted.
    counts: Option<PlaceId>,
    pub(super) counted: u64,
    /// The number of tokens at which to pause.
    pub(super) target: u64,
    /// The number of tokens after which no further one counts.
    pub(super) end: u64,
    /// What the next net of the chain gets.
    pub(super) passed: Vec<Passed<N>>,
    steps: Cell<u64>,
}

impl<const N: usize> Watch<N> {
    fn has_counted(&self) -> bool {
        self.counts.is_some() && self.counted >= self.target
    }
}

impl<const N: usize> Observer<Token<N>> for Watch<N> {
    #[inline]
    fn deposited(&mut self, now: u64, place: PlaceId, token: &Token<N>) {
        if !self.plan.is_watched(place) {
            return;
        }
        if let Some(at) = self.counts {
            // What arrives at the time of the last token counts only up to it.
            if self.counted >= self.end {
                return;
            }
            if at == place {
                self.counted += 1;
                if !self.hop.is_last() {
                    self.passed.push((now, *token));
                }
            }
        }
        self.plan.deposited(now, place, token);
    }

    #[inline]
    fn settled(&mut self, now: u64, tokens: &dyn Marking) {
        if self.plan.has_gauges() {
            self.plan.settled(now, tokens);
        }
    }

    fn is_done(&self) -> bool {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        self.has_counted() || steps >= STEPS
    }
}
