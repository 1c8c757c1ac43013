//! Simulation: the plan, the progress, the estimates.

use std::sync::atomic::Ordering;

use inorder_petri::coloured::{Engine, ModelError, RunError};
use inorder_petri::lower;
use inorder_petri::net::{Net, NetError};
use inorder_petri::query::Sum;
use inorder_petri::race::Race;
use inorder_petri::statistics::{
    Measures, Replications, Simulation, Steady, replicate, steady_state,
};

use crate::interrupt;
use crate::progress::Bar;

/// Default times in mean delays of the slowest transition: for the warm-up, the first batch, the whole run.
const WARM_UP_MEAN_DELAYS: f64 = 1e3;
const FIRST_BATCH_MEAN_DELAYS: f64 = 200.0;
const MAX_MEAN_DELAYS: f64 = 1e7;
/// The same for each of many independent runs.
const REPLICATION: f64 = 1e4;

/// Replications between two checks of the precision and of Ctrl-C.
const ROUND: u32 = 16;

/// Defaults of the options of these names.
const PRECISION: f64 = 0.01;
const CONFIDENCE: f64 = 0.95;

/// How to simulate.
#[derive(clap::Args)]
pub struct Options {
    /// Simulated time at which the run (or each replication) ends at the latest; with --exact the time of the
    /// solution, instead of the long run
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = positive)]
    pub time: Option<f64>,
    /// Simulated time at the start that does not count (warm-up)
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = not_negative)]
    warm_up: Option<f64>,
    /// Relative half width of the intervals at which to stop; 0 to use the whole time
    #[arg(long, value_name = "SHARE", default_value_t = PRECISION, allow_negative_numbers = true, value_parser = not_negative)]
    precision: f64,
    /// Probability that an interval holds the true value
    #[arg(long, value_name = "SHARE", default_value_t = CONFIDENCE, allow_negative_numbers = true, value_parser = share)]
    confidence: f64,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Use independent runs, at most this many, instead of batches of one run
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..))]
    replications: Option<u32>,
    /// What the clock of a transition remembers when another transition fires
    #[arg(long, value_enum, default_value_t = Memory::Enabling)]
    pub memory: Memory,
    /// Timed transitions take their tokens when they start, instead of racing for them
    #[arg(long, conflicts_with = "memory")]
    pub reserve: bool,
}

impl Options {
    /// The first option that was given, besides the seed.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--time", self.time.is_some()),
            ("--warm-up", self.warm_up.is_some()),
            ("--precision", self.precision != PRECISION),
            ("--confidence", self.confidence != CONFIDENCE),
            ("--replications", self.replications.is_some()),
            ("--memory", self.memory != Memory::Enabling),
            ("--reserve", self.reserve),
        ];
        all.into_iter()
            .find_map(|(name, given)| given.then_some(name))
    }
}

/// The policies of [`inorder_petri::race::Memory`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Memory {
    /// It continues while its transition stays enabled
    Enabling,
    /// It stops while its transition is disabled
    Age,
    /// It is drawn anew after every timed firing
    Resampling,
}

/// An estimate and how it was computed.
pub struct Simulated {
    pub measures: Measures,
    /// Number of batches or runs.
    pub observations: usize,
    pub are_replications: bool,
    /// Simulated time at the end of the run, or of each run.
    pub time: f64,
    pub confidence: f64,
    pub is_precise: bool,
    pub was_interrupted: bool,
}

/// Why a net cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Simulates as the options say.
///
/// Also estimates the means of `rewards`, but not with `reserve`, where tokens are in no place during a firing.
pub fn run(net: &Net, options: &Options, rewards: &[Sum]) -> Result<Simulated, SimulationError> {
    if options.reserve {
        let start = |seed| Ok(Engine::new(lower::to_model(net), seed)?);
        return estimate(net, options, start);
    }
    let memory = options.memory.into();
    estimate(net, options, |seed| {
        let mut race = Race::new(net, memory, seed)?;
        race.observe(rewards.to_vec());
        Ok(race)
    })
}

fn estimate<S: Simulation>(
    net: &Net,
    options: &Options,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Simulated, SimulationError> {
    match options.replications {
        Some(runs) => many_runs(net, options, runs, start),
        None => one_run(net, options, start(options.seed)?),
    }
}

fn one_run<S: Simulation>(
    net: &Net,
    options: &Options,
    mut simulation: S,
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, MAX_MEAN_DELAYS);
    let plan = Steady {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up: clock
            .ticks(options.warm_up, WARM_UP_MEAN_DELAYS)
            .min(end / 2),
        batch: clock
            .ticks(None, FIRST_BATCH_MEAN_DELAYS)
            .min(end / 64)
            .max(1),
        end,
        precision: options.precision,
        confidence: options.confidence,
    };
    let stop = interrupt::flag();
    let bar = Bar::endless();
    let result = steady_state(&mut simulation, &plan, |now, worst| {
        let time = now as f64 / clock.ticks_per_unit;
        bar.say(format!(
            "time {time:.6e}, worst interval {:.2} %",
            100.0 * worst
        ));
        !stop.load(Ordering::Relaxed)
    });
    drop(bar);
    let result = result?;
    Ok(Simulated {
        observations: result.batches,
        are_replications: false,
        time: result.end as f64 / clock.ticks_per_unit,
        confidence: options.confidence,
        is_precise: result.is_precise,
        was_interrupted: stop.load(Ordering::Relaxed),
        measures: result.measures,
    })
}

fn many_runs<S: Simulation>(
    net: &Net,
    options: &Options,
    runs: u32,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Simulated, SimulationError> {
    let clock = Clock::of(net);
    let end = clock.ticks(options.time, REPLICATION);
    let plan = Replications {
        ticks_per_unit: clock.ticks_per_unit,
        warm_up: clock.ticks(options.warm_up, 0.0).min(end),
        end,
        round: ROUND,
        most: runs,
        precision: options.precision,
        confidence: options.confidence,
    };
    let stop = interrupt::flag();
    let bar = Bar::counting("", "runs");
    let seeded = |number: u64| start(options.seed.wrapping_add(number));
    let result = replicate(&plan, seeded, |done, _| {
        bar.at(u64::from(done), Some(u64::from(runs)));
        !stop.load(Ordering::Relaxed)
    });
    drop(bar);
    let result = result?;
    Ok(Simulated {
        observations: result.runs as usize,
        are_replications: true,
        time: end as f64 / clock.ticks_per_unit,
        confidence: options.confidence,
        is_precise: result.is_precise,
        was_interrupted: stop.load(Ordering::Relaxed),
        measures: result.measures,
    })
}

/// Units, ticks, and the mean delay of the slowest transition.
pub struct Clock {
    ticks_per_unit: f64,
    slowest: f64,
}

impl Clock {
    pub fn of(net: &Net) -> Self {
        let means = net.transitions.iter().map(|t| t.timing.mean());
        let slowest = means.fold(0.0, f64::max);
        Self {
            ticks_per_unit: lower::ticks_per_unit(net),
            slowest: if slowest > 0.0 { slowest } else { 1.0 },
        }
    }

    /// A time in ticks: the given one, or the default in mean delays of the slowest transition.
    pub fn ticks(&self, given: Option<f64>, delays: f64) -> u64 {
        (given.unwrap_or(delays * self.slowest) * self.ticks_per_unit) as u64
    }
}

fn number(text: &str, expected: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if fits(number) => Ok(number),
        _ => Err(format!("expected {expected}")),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    number(text, "a number above 0", |n| n > 0.0 && n.is_finite())
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, "a number not below 0", |n| n >= 0.0 && n.is_finite())
}

fn share(text: &str) -> Result<f64, String> {
    number(text, "a number between 0 and 1", |n| n > 0.0 && n < 1.0)
}
