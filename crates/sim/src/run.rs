//! A run as a function of a scenario's cell and a seed.

use inorder_base::random::Random;
use inorder_scenario::Config;
use inorder_scenario::config::{self as plain, Arrivals};

use crate::build::{self, Recipe};
use crate::destinations::Destinations;
use crate::error::Error;
use crate::event::{APPLICATION, Event, OBSERVE};
use crate::flow::{Counts, Flow};
use crate::limits::{self, FlowLimits, Time};
use crate::line::Line;
use crate::observer::SharedLog;
use crate::own::Own;
use crate::packet::{Channel, LineId};
use crate::pool::Pool;
use crate::probes::Probes;
use crate::queue::Queue;
use crate::result::{FlowResult, LineResult, RunResult};
use crate::tap::{NoTap, Tap};
use crate::world::{Counted, World};

/// Runs a cell with a seed.
///
/// # Errors
/// If a name is unknown, or settings contradict each other.
pub fn run(config: &Config, seed: u64) -> Result<RunResult, Error> {
    run_tapped(config, seed, &mut NoTap)
}

/// The same; `tap` receives every packet at both ends.
///
/// # Errors
/// As for [`run`].
pub fn run_tapped<T: Tap>(config: &Config, seed: u64, tap: &mut T) -> Result<RunResult, Error> {
    run_watched(config, seed, tap, &mut |_| true)
}

/// The same; `go_on` is called now and then with the simulated time, nanoseconds.
///
/// # Errors
/// As for [`run`], and [`Error::Stopped`] if `go_on` returns false.
pub fn run_watched<T: Tap>(
    config: &Config,
    seed: u64,
    tap: &mut T,
    go_on: &mut dyn FnMut(i64) -> bool,
) -> Result<RunResult, Error> {
    run_own(config, seed, &Own::default(), tap, go_on)
}

/// The same with a program's own algorithms.
///
/// # Errors
/// As for [`run_watched`].
pub(crate) fn run_own<T: Tap>(
    config: &Config,
    seed: u64,
    own: &Own,
    tap: &mut T,
    go_on: &mut dyn FnMut(i64) -> bool,
) -> Result<RunResult, Error> {
    let recipes = recipes(config, own)?;
    let mut world = world(config, seed, &recipes, own)?;
    world.run(config.run.duration_ns, tap, go_on)?;
    if world.queue.has_overflowed() {
        return Err(Error::TooMuchUnderWay);
    }
    Ok(results(world, config, seed, &recipes))
}

/// The seed of a repetition; the first one uses the seed of the scenario.
pub fn repetition_seed(seed: u64, repetition: u64) -> u64 {
    match repetition {
        0 => seed,
        number => Random::new(seed, "repetition").fork(number).next_u64(),
    }
}

/// When a connection opens, and what it carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Opening {
    /// Index of its `[[flow]]`.
    pub group: usize,
    /// Number among the connections of that `[[flow]]`.
    pub number: u32,
    /// Time of opening, nanoseconds.
    pub start_ns: i64,
    /// Bytes it carries; `None` if there is no end.
    pub size: Option<u64>,
}

/// The connections of a run in their order, so that other runners of a scenario open the same ones.
///
/// # Errors
/// As for [`run`].
pub fn openings(config: &Config, seed: u64) -> Result<Vec<Opening>, Error> {
    let flows = flows(config, seed, &recipes(config, &Own::default())?).into_iter();
    let opening = |flow: Flow| Opening {
        group: flow.group,
        number: flow.number,
        start_ns: flow.start_ns,
        size: flow.size,
    };
    Ok(flows.map(opening).collect())
}

/// Sender and receiver of each `[[flow]]`.
fn recipes(config: &Config, own: &Own) -> Result<Vec<[Recipe; 2]>, Error> {
    let both = |flow: &plain::Flow| {
        let receiver = build::endpoint(&flow.receiver, own)?;
        Ok([
            build::endpoint(&flow.sender, own)?,
            match flow.read_bits_per_s {
                None => receiver,
                Some(_) => receiver.reading_itself(),
            },
        ])
    };
    config.flows.iter().map(both).collect()
}

fn world(config: &Config, seed: u64, recipes: &[[Recipe; 2]], own: &Own) -> Result<World, Error> {
    let (network, knowledge) = build::network(config, seed, own)?;
    let mut world = World {
        queue: Queue::default(),
        pool: Pool::default(),
        network,
        flows: flows(config, seed, recipes),
        destinations: Destinations::new(&config.flows),
        probes: Vec::new(),
        knowledge,
        at_warm_up: Vec::new(),
        samples: Vec::new(),
        sample_interval_ns: config.output.trace_interval_ns,
        watched: config.output.limits,
        events: 0,
    };
    if config.output.limits {
        world.network.keep_busy_times();
    }
    add_probes(&mut world, config, seed);
    build::routes(&mut world.network, config)?;
    schedule(&mut world, config);
    Ok(world)
}

fn flows(config: &Config, seed: u64, recipes: &[[Recipe; 2]]) -> Vec<Flow> {
    let endpoints = Random::new(seed, "endpoints");
    let mut flows = Vec::new();
    for (group, (plan, recipes)) in config.flows.iter().zip(recipes).enumerate() {
        let mut arrivals = Random::new(seed, &format!("arrivals/{group}"));
        let openings = plan.arrivals();
        let mut start_ns = plan.start_ns;
        for number in 0..plan.count {
            let index = flows.len() as u32;
            let whole = (group, plan);
            let one = (number, start_ns);
            flows.push(Flow::new(
                index,
                whole,
                one,
                recipes,
                &config.output,
                &endpoints,
            ));
            let gap_ns = match &openings {
                Arrivals::Every(gap_ns) => *gap_ns,
                Arrivals::Poisson(per_s) => (arrivals.exponential() / per_s * 1e9) as i64,
                Arrivals::Drawn(seconds) => (seconds.quantile(arrivals.unit()) * 1e9) as i64,
            };
            start_ns = start_ns.saturating_add(gap_ns);
        }
    }
    flows
}

fn add_probes(world: &mut World, config: &Config, seed: u64) {
    let first = world.flows.len() as u32 * 2;
    for (number, plan) in config.probes.iter().enumerate() {
        let random = Random::new(seed, &format!("probe/{number}"));
        let channel = Channel(first + number as u32);
        world.probes.push(Probes::new(plan, channel, random));
        let event = Event::Probe(number as u32);
        world.queue.push(plan.start_ns, APPLICATION, event);
    }
}

fn schedule(world: &mut World, config: &Config) {
    for (index, flow) in world.flows.iter().enumerate() {
        world
            .queue
            .push(flow.start_ns, APPLICATION, Event::Open(index as u32));
    }
    if config.run.warm_up_ns > 0 {
        world
            .queue
            .push(config.run.warm_up_ns, OBSERVE, Event::WarmUp);
    }
    if config.output.trace_interval_ns.is_some() {
        world.queue.push(0, OBSERVE, Event::Sample);
    }
}

fn results(mut world: World, config: &Config, seed: u64, recipes: &[[Recipe; 2]]) -> RunResult {
    let limits = limits(&mut world, config);
    let mut at_warm_up = world.at_warm_up.into_iter();
    let lines = world.network.named();
    let lines = lines.map(|(name, of)| line(name, of, &at_warm_up.next().unwrap_or_default()));
    let lines = lines.collect();
    let flows = world.flows.into_iter();
    RunResult {
        limits,
        seed,
        duration_ns: config.run.duration_ns,
        flows: flows
            .filter_map(|flow| flow_result(flow, config, recipes))
            .collect(),
        probes: world.probes.into_iter().map(Probes::finish).collect(),
        lines,
        samples: world.samples,
        events: world.events,
    }
}

/// What limited each direction, if that was to be recorded.
fn limits(world: &mut World, config: &Config) -> Vec<FlowLimits> {
    let outages = build::outages(config);
    let network = &mut world.network;
    let mut path = |channel: Channel| {
        let both = [channel, Channel(channel.0 ^ 1)];
        let [data, back] = both.map(|channel| network.route(channel));
        let links = data.iter().filter_map(|id| {
            let line = network.line(*id)?;
            let links = line.busy_times().map(limits::busy);
            Some(links.collect::<Vec<_>>())
        });
        let links = links.flatten().collect();
        let hit = |(id, _): &&(LineId, Time)| data.contains(id) || back.contains(id);
        let mut outages: Vec<Time> = outages.iter().filter(hit).map(|(_, time)| *time).collect();
        outages.sort_unstable();
        limits::Path {
            links,
            outages,
            round_ns: 0,
        }
    };
    let flows = world.flows.iter_mut();
    flows.flat_map(|flow| flow.limits(&mut path)).collect()
}

fn line(name: &str, line: &Line, earlier: &Counted) -> LineResult {
    let account = line.account().map(|account| match &earlier.account {
        Some(earlier) => account.since(earlier),
        None => account.clone(),
    });
    let stages = line.path().counters().iter().enumerate();
    let stages = stages.map(|(at, stage)| match earlier.stages.get(at) {
        Some(earlier) => stage.since(earlier),
        None => *stage,
    });
    LineResult {
        name: name.to_owned(),
        stages: stages.collect(),
        account,
    }
}

fn flow_result(flow: Flow, config: &Config, recipes: &[[Recipe; 2]]) -> Option<FlowResult> {
    let plan = config.flows.get(flow.group)?;
    let recipe = recipes.get(flow.group)?.first()?;
    let from_ns = flow.start_ns.max(config.run.warm_up_ns);
    let until_ns = flow.notes.completed_ns.unwrap_or(config.run.duration_ns);
    Some(FlowResult {
        name: plan.name.clone(),
        group: flow.group,
        number: flow.number,
        congestion: recipe.congestion(),
        loss_detection: recipe.loss_detection(),
        start_ns: flow.start_ns,
        size_bytes: flow.size,
        measured_ns: until_ns.saturating_sub(from_ns),
        counts: Counts::of(&flow).since(&flow.notes.at_warm_up),
        completion_ns: flow.notes.completed_ns.map(|at_ns| at_ns - flow.start_ns),
        error: flow.sides.iter().find_map(|side| side.endpoint.error()),
        events: flow.log.as_ref().map(SharedLog::take).unwrap_or_default(),
        metrics_at_card: flow.notes.before.finish(),
        metrics_at_stack: flow.notes.after.finish(),
    })
}
