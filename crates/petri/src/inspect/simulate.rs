//! Simulation: the plan, the progress, the estimates.

use crate::coloured::Engine;
use crate::lower;
use crate::net::{Net, PlaceId, Timing};
use crate::query::{Query, Sum};
use crate::race::{Memory, Race, Splitting, Threshold};
use crate::statistics::{
    Doubts, Estimated, Measures, Replications, Simulation, Steady, replicate, run_seed,
    steady_state,
};

use crate::inspect::ends::{self, Ends};
use crate::inspect::error::SimulationError;
use crate::inspect::watch::{Progress, Watch};

/// Default times in mean delays of the slowest transition: for the first observation, the whole run.
const FIRST_MEAN_DELAYS: f64 = 6.0;
const MAX_MEAN_DELAYS: f64 = 1e7;
/// Firings after which a run without a time ends: some transitions may be a million times slower than others.
const MAX_FIRINGS: u64 = 500_000_000;
/// Firings after which each of many independent runs without a time ends.
const REPLICATION: f64 = 1e4;

/// Replications between two checks of the precision and of Ctrl-C.
const ROUND: u32 = 16;

/// How to simulate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Simulated time at which the run (or each replication) ends at the latest.
    pub time: Option<f64>,
    /// Simulated time at the start that does not count; found from the run if it is not given.
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
    /// A number that rises towards what is rare, as in a query E(...): numbers that queries ask for are estimated by
    /// importance splitting on it, and nothing else is.
    pub level: Option<String>,
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
            level: None,
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
    /// Simulated time at the start that did not count.
    pub warm_up: f64,
    /// Why the estimates of a steady state may be wrong.
    pub doubts: Doubts,
    /// Transitions of which the youngest clock stops when another one takes a token, whichever token it was meant for: each with one
    /// that does.
    pub youngest_stops: Vec<(String, String)>,
    /// How the net ended, if it stands still or can end in several ways.
    pub ends: Option<Ends>,
    /// Probability that an interval holds the true value.
    pub confidence: f64,
    /// Relative half width of the intervals at which it would have stopped; 0 if the whole time was wanted.
    pub precision: f64,
    /// The wanted precision was reached.
    pub is_precise: bool,
    /// It was stopped before its end.
    pub was_interrupted: bool,
    /// The thresholds of importance splitting, if it was used: then only the numbers of queries were estimated.
    pub split: Option<Vec<Threshold>>,
}

impl Simulated {
    /// How many times as many runs, or as much time, the wanted precision would take, since intervals become narrower with the root of
    /// that; `None` if it was reached, or if nothing can be expected of these intervals.
    pub fn times_needed(&self) -> Option<f64> {
        let may_be_expected = !self.is_precise
            && !self.was_interrupted
            && self.doubts.is_empty()
            && self.ends.is_none()
            && self.precision > 0.0;
        let worst = self.measures.worst_relative_error();
        (may_be_expected && worst.is_finite() && worst > self.precision)
            .then(|| (worst / self.precision).powi(2))
    }
}

/// The level that a text names.
fn level_of(net: &Net, text: &str) -> Result<Sum, SimulationError> {
    match Query::read(&format!("E({text})"), net) {
        Ok(Query::Mean(sum)) => Ok(sum),
        Ok(Query::Holds(_)) => Err(SimulationError::Level("expected a number".to_owned())),
        Err(error) => Err(SimulationError::Level(error.mistake.to_string())),
    }
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
    let mut found = race(net, options, rewards, watch)?;
    found.youngest_stops = net.youngest_stops();
    Ok(found)
}

/// Where transitions take their tokens at the end of their delays.
fn race(
    net: &Net,
    options: &Settings,
    rewards: &[Sum],
    watch: &Watch<'_>,
) -> Result<Simulated, SimulationError> {
    if let Some(level) = &options.level {
        let level = level_of(net, level)?;
        let first = Splitting::new(net, options.memory, options.seed, &level, rewards)?;
        let thresholds = first.thresholds().to_vec();
        let start = |seed| {
            let run = Splitting::with(net, options.memory, seed, &level, rewards, &thresholds)?;
            Ok(run)
        };
        let mut found = estimate(net, options, watch, start)?;
        found.split = Some(thresholds);
        return Ok(found);
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
    let mut found = match options.replications {
        Some(runs) => many_runs(net, options, watch, runs, &start)?,
        None => one_run(net, options, watch, &start)?,
    };
    if options.at_end {
        found.doubts = Doubts::default();
        found.ends = None;
    }
    doubt_of_net(net, options, &mut found);
    Ok(found)
}

/// What only the net itself tells about what was seen of it.
fn doubt_of_net(net: &Net, options: &Settings, found: &mut Simulated) {
    let peaks = found.measures.places.iter().enumerate();
    let full = peaks.filter(|(index, place)| net.is_full(PlaceId(*index), place.peak));
    found.doubts.full = full.map(|(_, place)| place.name.clone()).collect();
    // In the copies of a splitting run numbers are shares, and a net that ends fires nothing.
    if options.level.is_none() && !options.at_end && found.ends.is_none() {
        let pairs = net.transitions.iter().zip(&found.measures.transitions);
        let not_fired = pairs.filter(|(transition, seen)| {
            let is_memoryless = matches!(transition.timing, Timing::Exponential { .. });
            let ran = seen.busy.is_some_and(|busy| busy.mean > 0.0);
            is_memoryless && ran && seen.throughput.mean == 0.0
        });
        let named = not_fired.map(|(t, _)| (t.name.clone(), t.timing.mean()));
        found.doubts.not_fired = named.collect();
    }
    found.is_precise &= found.doubts.is_empty();
}

fn one_run<S: Simulation>(
    net: &Net,
    options: &Settings,
    watch: &Watch<'_>,
    start: &(impl Fn(u64) -> Result<S, SimulationError> + Sync),
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, MAX_MEAN_DELAYS)?;
    let plan = Steady {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up: clock.warm_up(options, end)?,
        batch: clock.ticks(None, FIRST_MEAN_DELAYS)?.max(1),
        end,
        most_firings: match options.time {
            Some(_) => u64::MAX,
            None => MAX_FIRINGS,
        },
        precision: options.precision,
        confidence: options.confidence,
    };
    let mut simulation = start(options.seed)?;
    let mut result = steady_state(&mut simulation, &plan, |now, worst| {
        let time = now as f64 / clock.ticks_per_unit;
        watch.tell(Progress::Simulated { time, worst })
    })?;
    let others = |number| start(run_seed(options.seed, number));
    // With splitting the copies of a run have ends of their own, which say nothing of the net.
    let ends = match options.level {
        Some(_) => None,
        None => ends::of_one_run(net, &simulation, result.end, others, watch)?,
    };
    match &ends {
        Some(ends) if ends.are_several() => result.measures.without_intervals(),
        Some(ends) if ends.stands_still => result.measures.without_bounds(),
        _ => {}
    }
    if ends.is_some() {
        // What stands still neither grows nor settles.
        result.doubts = Doubts::default();
        result.is_precise = false;
    }
    Ok(clock.simulated(result, ends, options, watch))
}

fn many_runs<S: Simulation>(
    net: &Net,
    options: &Settings,
    watch: &Watch<'_>,
    runs: u32,
    start: &(impl Fn(u64) -> Result<S, SimulationError> + Sync),
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, REPLICATION)?;
    let plan = Replications {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up: match options.at_end {
            true => Some(0),
            false => clock.warm_up(options, end)?,
        },
        end,
        may_grow: options.time.is_none(),
        round: ROUND,
        most: runs,
        precision: options.precision,
        confidence: options.confidence,
    };
    let seeded = |number: u64| start(run_seed(options.seed, number));
    let result = replicate(&plan, seeded, |done, _| {
        watch.tell(Progress::Runs { done, most: runs })
    })?;
    let ends = match options.at_end {
        true => None,
        false => ends::of_many_runs(net, result.end, seeded)?,
    };
    Ok(clock.simulated(result, ends, options, watch))
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

    /// A result in units of time.
    fn simulated(
        &self,
        result: Estimated,
        ends: Option<Ends>,
        options: &Settings,
        watch: &Watch<'_>,
    ) -> Simulated {
        Simulated {
            measures: result.measures,
            observations: result.observations,
            are_replications: options.replications.is_some(),
            time: result.end as f64 / self.ticks_per_unit,
            warm_up: result.warm_up as f64 / self.ticks_per_unit,
            doubts: result.doubts,
            youngest_stops: Vec::new(),
            ends,
            confidence: options.confidence,
            precision: options.precision,
            is_precise: result.is_precise,
            was_interrupted: watch.is_stopped(),
            split: None,
        }
    }

    /// The end of the warm-up in ticks, if it is given.
    fn warm_up(&self, options: &Settings, end: u64) -> Result<Option<u64>, SimulationError> {
        let Some(warm_up) = options.warm_up else {
            return Ok(None);
        };
        let ticks = self.ticks(Some(warm_up), 0.0)?;
        if ticks > 0 && ticks >= end {
            return Err(SimulationError::WarmUp {
                warm_up,
                end: end as f64 / self.ticks_per_unit,
            });
        }
        Ok(Some(ticks))
    }
}
