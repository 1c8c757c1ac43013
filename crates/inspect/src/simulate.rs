//! Simulation: the plan, the progress, the estimates.

use inorder_petri::coloured::Engine;
use inorder_petri::lower;
use inorder_petri::net::Net;
use inorder_petri::query::Sum;
use inorder_petri::race::{Memory, Race};
use inorder_petri::statistics::{
    Measures, Replications, Simulation, Steady, replicate, steady_state,
};

use crate::error::SimulationError;
use crate::watch::{Progress, Watch};

/// Default times in mean delays of the slowest transition: for the warm-up, the first batch, the whole run.
const WARM_UP_MEAN_DELAYS: f64 = 1e3;
const FIRST_BATCH_MEAN_DELAYS: f64 = 200.0;
const MAX_MEAN_DELAYS: f64 = 1e7;
/// The same for each of many independent runs.
const REPLICATION: f64 = 1e4;

/// Replications between two checks of the precision and of Ctrl-C.
const ROUND: u32 = 16;

/// How to simulate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Simulated time at which the run (or each replication) ends at the latest.
    pub time: Option<f64>,
    /// Simulated time at the start that does not count.
    pub warm_up: Option<f64>,
    /// Relative half width of the intervals at which to stop; 0 to use the whole time.
    pub precision: f64,
    /// Probability that an interval holds the true value.
    pub confidence: f64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Independent runs, at most this many (at least 2), instead of batches of one run.
    pub replications: Option<u32>,
    /// What the clock of a transition remembers when another transition fires.
    pub memory: Memory,
    /// Timed transitions take their tokens when they start, instead of racing for them.
    pub reserve: bool,
    /// Numbers that queries ask for are those at the end, instead of the means until then.
    pub at_end: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time: None,
            warm_up: None,
            precision: 0.01,
            confidence: 0.95,
            seed: 1,
            replications: None,
            memory: Memory::Enabling,
            reserve: false,
            at_end: false,
        }
    }
}

/// An estimate and how it was computed.
pub struct Simulated {
    /// The estimates.
    pub measures: Measures,
    /// Number of batches or runs.
    pub observations: usize,
    /// They are independent runs.
    pub are_replications: bool,
    /// Simulated time at the end of the run, or of each run.
    pub time: f64,
    /// Probability that an interval holds the true value.
    pub confidence: f64,
    /// The wanted precision was reached.
    pub is_precise: bool,
    /// It was stopped before its end.
    pub was_interrupted: bool,
}

/// Simulates as the settings say.
///
/// Also estimates the means of `rewards`, but not with `reserve`, where tokens are in no place during a firing.
pub(crate) fn run(
    net: &Net,
    options: &Settings,
    rewards: &[Sum],
    watch: &Watch<'_>,
) -> Result<Simulated, SimulationError> {
    if options.reserve {
        let start = |seed| Ok(Engine::new(lower::to_model(net), seed)?);
        return estimate(net, options, watch, start);
    }
    estimate(net, options, watch, |seed| {
        let mut race = Race::new(net, options.memory, seed)?;
        race.observe(rewards.to_vec());
        Ok(race)
    })
}

fn estimate<S: Simulation>(
    net: &Net,
    options: &Settings,
    watch: &Watch<'_>,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Simulated, SimulationError> {
    match options.replications {
        Some(runs) => many_runs(net, options, watch, runs, start),
        None => one_run(net, options, watch, start(options.seed)?),
    }
}

fn one_run<S: Simulation>(
    net: &Net,
    options: &Settings,
    watch: &Watch<'_>,
    mut simulation: S,
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, MAX_MEAN_DELAYS)?;
    let warm_up = clock.warm_up(options, WARM_UP_MEAN_DELAYS, end)?;
    let plan = Steady {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up,
        batch: clock
            .ticks(None, FIRST_BATCH_MEAN_DELAYS)?
            .min(end / 64)
            .max(1),
        end,
        precision: options.precision,
        confidence: options.confidence,
    };
    let result = steady_state(&mut simulation, &plan, |now, worst| {
        let time = now as f64 / clock.ticks_per_unit;
        watch.tell(Progress::Simulated { time, worst })
    })?;
    Ok(Simulated {
        observations: result.batches,
        are_replications: false,
        time: result.end as f64 / clock.ticks_per_unit,
        confidence: options.confidence,
        is_precise: result.is_precise,
        was_interrupted: watch.is_stopped(),
        measures: result.measures,
    })
}

fn many_runs<S: Simulation>(
    net: &Net,
    options: &Settings,
    watch: &Watch<'_>,
    runs: u32,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, REPLICATION)?;
    let plan = Replications {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up: clock.warm_up(options, 0.0, end)?,
        end,
        round: ROUND,
        most: runs,
        precision: options.precision,
        confidence: options.confidence,
    };
    let seeded = |number: u64| start(options.seed.wrapping_add(number));
    let result = replicate(&plan, seeded, |done, _| {
        watch.tell(Progress::Runs { done, most: runs })
    })?;
    Ok(Simulated {
        observations: result.runs as usize,
        are_replications: true,
        time: end as f64 / clock.ticks_per_unit,
        confidence: options.confidence,
        is_precise: result.is_precise,
        was_interrupted: watch.is_stopped(),
        measures: result.measures,
    })
}

/// Units, ticks, and the mean delay of the slowest transition.
pub struct Clock {
    ticks_per_unit: f64,
    slowest: f64,
}

impl Clock {
    /// Of this net.
    pub fn of(net: &Net) -> Self {
        let means = net.transitions.iter().map(|t| t.timing.mean());
        let slowest = means.fold(0.0, f64::max);
        Self {
            ticks_per_unit: lower::ticks_per_unit(net),
            slowest: if slowest > 0.0 { slowest } else { 1.0 },
        }
    }

    /// A time in ticks: the given one, or the default in mean delays of the slowest transition.
    ///
    /// # Errors
    /// If the given time is above 0 but below one tick, or more than can be counted.
    pub fn ticks(&self, given: Option<f64>, delays: f64) -> Result<u64, SimulationError> {
        /// 2^64 as a number.
        const TICKS_OF_CLOCK: f64 = 18_446_744_073_709_551_616.0;
        let ticks = given.unwrap_or(delays * self.slowest) * self.ticks_per_unit;
        match given {
            Some(time) if time > 0.0 && !(1.0..TICKS_OF_CLOCK).contains(&ticks) => {
                Err(SimulationError::Time {
                    time,
                    least: 1.0 / self.ticks_per_unit,
                    most: TICKS_OF_CLOCK / self.ticks_per_unit,
                })
            }
            _ => Ok(ticks as u64),
        }
    }

    /// The end of the warm-up in ticks; by default at most the middle of the run.
    fn warm_up(&self, options: &Settings, delays: f64, end: u64) -> Result<u64, SimulationError> {
        let ticks = self.ticks(options.warm_up, delays)?;
        match options.warm_up {
            None => Ok(ticks.min(end / 2)),
            Some(warm_up) if ticks > 0 && ticks >= end => Err(SimulationError::WarmUp {
                warm_up,
                end: end as f64 / self.ticks_per_unit,
            }),
            Some(_) => Ok(ticks),
        }
    }
}
