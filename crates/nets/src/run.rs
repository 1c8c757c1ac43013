//! One run of a net.

use std::cell::Cell;

use inorder_petri::coloured::{Engine, Marking, Observer, PlaceId, RunError, Stop};
use inorder_petri::statistics::{Simulation, Totals};

use crate::ast::{Kind, RunDecl};
use crate::build::{Built, build};
use crate::code::Wrong;
use crate::error::{Checked, Fault, Span};
use crate::measure::{Plan, Row, plan};
use crate::names::Names;
use crate::token::Token;
use crate::units::TIME;

/// Changes of the clock after which a run is interrupted to ask whether to go on.
const STEPS: u64 = 1 << 18;

/// The numbers of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) values: Vec<f64>,
    /// Completed firings of all transitions.
    pub(crate) firings: u64,
}

/// When a run ends, and when its warm-up does.
#[derive(Debug, Clone, Copy)]
enum Until {
    Tokens {
        place: PlaceId,
        warm_up: u64,
        end: u64,
    },
    Time {
        warm_up: u64,
        end: u64,
    },
}

/// Runs a net with a seed; `go_on` hears the share of the run that is done and says whether to go on. Without `go_on`
/// the net is only checked.
pub(crate) fn run(
    names: &Names<'_>,
    seed: u64,
    go_on: Option<&dyn Fn(f64) -> bool>,
) -> Checked<Outcome> {
    let words = names.records.iter().map(|record| record.words).max();
    match words.unwrap_or(0) {
        0..=4 => sized::<4>(names, seed, go_on),
        5..=8 => sized::<8>(names, seed, go_on),
        9..=12 => sized::<12>(names, seed, go_on),
        13..=20 => sized::<20>(names, seed, go_on),
        21..=64 => sized::<64>(names, seed, go_on),
        words => {
            let problem = format!(
                "a record has {words} words, but at most 64 are possible; fields of type `int LOW..HIGH` need one, of type int two"
            );
            Err(Fault::new(Span::default(), problem))
        }
    }
}

fn sized<const N: usize>(
    names: &Names<'_>,
    seed: u64,
    go_on: Option<&dyn Fn(f64) -> bool>,
) -> Checked<Outcome> {
    let Built {
        model,
        shared,
        places,
    } = build::<N>(names, seed)?;
    let mut plan = plan::<N>(names, &shared, &places)?;
    let (until, at) = until(names, &places)?;
    let rows = plan.rows.clone();
    let failed = |error: &dyn std::fmt::Display| Fault::new(Span::default(), error.to_string());
    let engine = Engine::new(model, seed).map_err(|error| failed(&error))?;
    let Some(go_on) = go_on else {
        return Ok(Outcome {
            rows,
            values: Vec::new(),
            firings: 0,
        });
    };
    if let Until::Tokens { place, .. } = until {
        plan.watch(place);
    }
    let mut run = Run {
        engine,
        watch: Watch {
            plan,
            until,
            counted: 0,
            target: 0,
            steps: Cell::new(0),
        },
        errors: shared.errors.clone(),
        at,
    };
    let (warm_up, end) = match until {
        Until::Tokens { warm_up, end, .. } | Until::Time { warm_up, end } => (warm_up, end),
    };
    let mut goes = run.advance(warm_up, end, go_on)?;
    let warm = (run.engine.now(), run.totals());
    run.watch.plan.warmed_up(warm.0);
    // In steps, so that progress is told.
    let step = (end / 100).max(1_000).min(end - warm_up);
    let mut target = warm_up;
    while goes && target < end {
        target = target.saturating_add(step).min(end);
        goes = run.advance(target, end, go_on)?;
    }
    let (now, totals) = (run.engine.now(), run.totals());
    let firings = totals.transitions.iter().map(|t| t.firings).sum();
    let values = run.watch.plan.values((&warm.1, warm.0), (&totals, now));
    Ok(Outcome {
        rows,
        values,
        firings,
    })
}

/// What `run` says.
fn until(names: &Names<'_>, places: &[PlaceId]) -> Checked<(Until, Span)> {
    let declared = names
        .statements
        .iter()
        .find_map(|statement| match &statement.kind {
            Kind::Run(run) => Some((run, statement.at)),
            _ => None,
        });
    let Some((run, at)) = declared else {
        let problem = "the net does not say how long a run takes: expected `run COUNT at PLACE` or `run TIME`";
        return Err(Fault::new(Span::default(), problem));
    };
    let (warm_up, end) = length(names, run)?;
    if end == 0 || warm_up >= end {
        let what = if end == 0 {
            "a run longer than 0"
        } else {
            "a warm-up shorter than the run"
        };
        return Err(Fault::expected(run.end.at, what, end));
    }
    Ok(match &run.place {
        Some(place) => {
            let place = places[names.place(place)?];
            // The arrival of the first token begins the time in which the others are counted.
            let warm_up = warm_up.max(1).min(end - 1).max(u64::from(end > 1));
            (
                Until::Tokens {
                    place,
                    warm_up,
                    end,
                },
                at,
            )
        }
        None => (Until::Time { warm_up, end }, at),
    })
}

/// Warm-up and length, in tokens or ticks.
fn length(names: &Names<'_>, run: &RunDecl) -> Checked<(u64, u64)> {
    let value = |expr| match run.place {
        Some(_) => names.int(expr).map(|n| u64::try_from(n).unwrap_or(0)),
        None => names.real(expr, TIME).map(|ticks| (ticks + 0.5) as u64),
    };
    let end = value(&run.end)?;
    let warm_up = run.warm_up.as_ref().map(value).transpose()?;
    Ok((warm_up.unwrap_or(end / 10), end))
}

struct Run<const N: usize> {
    engine: Engine<Token<N>>,
    watch: Watch<N>,
    errors: std::rc::Rc<crate::code::Errors>,
    /// Where the length of the run is declared.
    at: Span,
}

impl<const N: usize> Run<N> {
    /// Runs to a number of tokens or ticks; false if `go_on` ended it before.
    fn advance(&mut self, target: u64, all: u64, go_on: &dyn Fn(f64) -> bool) -> Checked<bool> {
        self.watch.target = target;
        let until = match self.watch.until {
            Until::Tokens { .. } => u64::MAX,
            Until::Time { .. } => target,
        };
        loop {
            self.watch.steps.set(0);
            let stop = self.engine.run_until(until, &mut self.watch);
            if let Some((at, wrong)) = self.errors.first() {
                return Err(Fault::new(at, words(wrong)));
            }
            let stop = stop.map_err(|error: RunError| Fault::new(self.at, error.to_string()))?;
            let (done, is_there) = match self.watch.until {
                Until::Tokens { .. } => (self.watch.counted, self.watch.counted >= target),
                Until::Time { .. } => (self.engine.now(), stop != Stop::Observer),
            };
            if !go_on(done as f64 / all as f64) {
                return Ok(false);
            }
            if is_there {
                return Ok(true);
            }
            if stop != Stop::Observer {
                let problem = format!(
                    "the net stands still after {} of {all} tokens",
                    self.watch.counted
                );
                return Err(Fault::new(self.at, problem));
            }
        }
    }

    fn totals(&self) -> Totals {
        self.engine.totals(self.engine.now())
    }
}

fn words(wrong: Wrong) -> String {
    match wrong {
        Wrong::Range { value, low, high } => {
            format!("expected {low} to {high} for the field, found {value}")
        }
        Wrong::DivisionByZero => "expected a divisor other than 0, found 0".to_owned(),
        Wrong::Index { value, cells } => {
            format!("expected an index in 0..{cells}, found {value}")
        }
        Wrong::Delay => "expected a delay that is not negative, found another one".to_owned(),
        Wrong::Count(value) => format!("expected a number from 0 to 4294967295, found {value}"),
    }
}

/// Observes a run.
struct Watch<const N: usize> {
    plan: Plan<N>,
    until: Until,
    /// Tokens that arrived in the place whose tokens end the run.
    counted: u64,
    target: u64,
    steps: Cell<u64>,
}

impl<const N: usize> Observer<Token<N>> for Watch<N> {
    #[inline]
    fn deposited(&mut self, now: u64, place: PlaceId, token: &Token<N>) {
        if !self.plan.is_watched(place) {
            return;
        }
        if let Until::Tokens { place: at, end, .. } = self.until {
            // What arrives at the time of the last token counts only up to it.
            if self.counted >= end {
                return;
            }
            self.counted += u64::from(at == place);
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
        let is_counted = match self.until {
            Until::Tokens { .. } => self.counted >= self.target,
            Until::Time { .. } => false,
        };
        is_counted || steps >= STEPS
    }
}
