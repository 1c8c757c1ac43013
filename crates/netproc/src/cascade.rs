//! Runs a chain of processors one after the other, each with an engine of its own; packets are passed on in small
//! rounds.
//!
//! There is no feedback: the line between two processors has no limit, so a processor never waits for the next one.
//! Whole rounds of packets can therefore pass one processor before the next receives them with their departure times.
//! Each net stays small, and memory does not depend on the number of packets.

use std::collections::VecDeque;

use inorder_base::random::Random;
use inorder_metrics::Reordering;
use inorder_petri::coloured::{Engine, Observer, PlaceId, Queue, Stop};
use inorder_petri::statistics::{Layout, Simulation, Totals};

use crate::account::Interval;
use crate::chain::Single;
use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::job::Job;
use crate::measure::{Lanes, Readings, Receivers, receive, update};

/// Packets per round.
const ROUND: u64 = 1024;

/// Number of rounds without any departure from the last processor after which the chain counts as blocked.
const MAX_ROUNDS_WITHOUT_DEPARTURE: u32 = 100;

/// A running chain.
pub(crate) struct Cascade {
    stages: Vec<Stage>,
}

/// Number of firings of transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firings {
    /// All firings.
    pub all: u64,
    /// Firings that take time.
    pub timed: u64,
}

/// One processor.
struct Stage {
    engine: Engine<Job>,
    line: Queue,
    watch: Watch,
    /// Packets of the previous processor that have not entered yet, with their times.
    pending: VecDeque<(u64, Job)>,
    /// State at the start, and at the end of the warm-up.
    start: Totals,
    warm: Mark,
}

/// State of a processor at one point of the run.
#[derive(Clone, Default)]
struct Mark {
    ticks: u64,
    left: u64,
    bytes: u64,
    totals: Totals,
}

impl Cascade {
    /// All processors of a checked configuration, without packets.
    pub(crate) fn new(config: &Config) -> Result<Self, NetprocError> {
        let seeds = Random::new(config.seed, "processors");
        let stage = |hop: u32| {
            // A chain of one processor uses the seed itself.
            let seed = match hop {
                0 => config.seed,
                _ => seeds.fork(u64::from(hop)).next_u64(),
            };
            let is_last = hop + 1 == config.hops;
            let single = Single::new(config, hop)?;
            let watch = Watch::new(config, PlaceId::from(single.out), is_last);
            let engine = Engine::new(single.model, seed)?;
            Ok(Stage {
                start: engine.totals(0),
                engine,
                line: single.line,
                watch,
                pending: VecDeque::new(),
                warm: Mark::default(),
            })
        };
        let stages = (0..config.hops)
            .map(stage)
            .collect::<Result<_, NetprocError>>()?;
        Ok(Self { stages })
    }

    /// Number of packets that have left the last processor.
    pub(crate) fn left(&self) -> u64 {
        self.stages.last().map_or(0, |stage| stage.watch.left)
    }

    /// Runs until `target` packets have left.
    pub(crate) fn advance(&mut self, target: u64) -> Result<(), NetprocError> {
        let mut idle = 0;
        while self.left() < target {
            let before = self.left();
            self.round(target)?;
            idle = if self.left() == before { idle + 1 } else { 0 };
            if idle > MAX_ROUNDS_WITHOUT_DEPARTURE {
                return Err(NetprocError::Deadlock { packets: before });
            }
        }
        Ok(())
    }

    fn round(&mut self, target: u64) -> Result<(), NetprocError> {
        let mut handed: Vec<(u64, Job)> = Vec::new();
        for (index, stage) in self.stages.iter_mut().enumerate() {
            stage.pending.extend(handed.drain(..));
            let is_last = stage.watch.lanes.is_some();
            stage.watch.target = match (index, is_last) {
                (_, true) => target,
                (0, false) => stage.watch.left + ROUND,
                (_, false) => u64::MAX,
            };
            if index == 0 {
                stage.run_first()?;
            } else if stage.watch.left < stage.watch.target {
                stage.run_pending()?;
            }
            std::mem::swap(&mut handed, &mut stage.watch.exits);
        }
        Ok(())
    }

    /// Marks the end of the warm-up.
    pub(crate) fn warmed_up(&mut self) {
        for stage in &mut self.stages {
            stage.warm = stage.mark();
        }
    }

    /// Bytes and ticks at the last processor since the warm-up.
    pub(crate) fn measured(&self) -> (u64, u64) {
        let last = self.stages.last();
        last.map_or((0, 0), |last| {
            let ticks = last.engine.now() - last.warm.ticks;
            (last.watch.bytes - last.warm.bytes, ticks)
        })
    }

    /// The clock of the last processor, ticks.
    pub(crate) fn now(&self) -> u64 {
        self.stages.last().map_or(0, |last| last.engine.now())
    }

    /// What a receiver behind each processor observed.
    pub(crate) fn readings(&self) -> Vec<Readings> {
        let all = self.stages.iter();
        all.map(|stage| stage.watch.receivers.readings().clone())
            .collect()
    }

    /// Firings of all processors.
    pub(crate) fn firings(&self) -> Firings {
        let mut sum = Firings::default();
        for stage in &self.stages {
            let totals = stage.engine.totals(stage.engine.now());
            let transitions = stage.engine.layout().transitions;
            for ((_, servers), total) in transitions.iter().zip(&totals.transitions) {
                sum.all += total.firings;
                sum.timed += if servers.is_some() { total.firings } else { 0 };
            }
        }
        sum
    }

    /// Calls `each` for every processor, in order, with the interval since the warm-up and the packets that left in
    /// it.
    pub(crate) fn each_interval(&self, mut tell: impl FnMut(&Interval<'_>, u64)) {
        for stage in &self.stages {
            let (from, to) = (&stage.warm, stage.mark());
            let places = stage.start.places.iter();
            let initial: Vec<u32> = places.map(|place| place.tokens).collect();
            let layout: Layout = stage.engine.layout();
            let interval = Interval {
                layout: &layout,
                initial: &initial,
                from: &from.totals,
                to: &to.totals,
                ticks: to.ticks - from.ticks,
            };
            tell(&interval, to.left - from.left);
        }
    }

    /// The metrics of the RFCs behind the last processor.
    pub(crate) fn into_reordering(self) -> Reordering {
        let lanes = self.stages.into_iter().find_map(|stage| stage.watch.lanes);
        lanes.unwrap_or_else(|| Lanes::new(0)).finish()
    }
}

impl Stage {
    /// The first processor generates its packets itself.
    fn run_first(&mut self) -> Result<(), NetprocError> {
        match self.engine.run_until(u64::MAX, &mut self.watch)? {
            Stop::Observer => Ok(()),
            Stop::Dead | Stop::TimeReached => Err(NetprocError::Deadlock {
                packets: self.watch.left,
            }),
        }
    }

    /// Inserts the pending packets, each at its time, until the watch has seen enough.
    fn run_pending(&mut self) -> Result<(), NetprocError> {
        while let Some(&(time, job)) = self.pending.front() {
            if self.engine.run_until(time, &mut self.watch)? == Stop::Observer {
                return Ok(());
            }
            self.engine.wait_until(time);
            self.engine.put(self.line, job)?;
            self.pending.pop_front();
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        Mark {
            ticks: self.engine.now(),
            left: self.watch.left,
            bytes: self.watch.bytes,
            totals: self.engine.totals(self.engine.now()),
        }
    }
}

/// Observes the packets that leave a processor.
struct Watch {
    out: PlaceId,
    receivers: Receivers,
    /// Behind the last processor: receivers and metrics.
    lanes: Option<Lanes>,
    /// Behind the others: the packets that left, with their times.
    exits: Vec<(u64, Job)>,
    /// Maximum number of packets to observe; only the last processor has a limit.
    wanted: u64,
    /// Number of packets after which to pause.
    target: u64,
    left: u64,
    bytes: u64,
    ns_per_tick: f64,
}

impl Watch {
    fn new(config: &Config, out: PlaceId, is_last: bool) -> Self {
        let traffic = &config.traffic;
        Self {
            out,
            receivers: Receivers::new(traffic.flows, traffic.flow_packets),
            lanes: is_last.then(|| Lanes::new(traffic.flows)),
            exits: Vec::new(),
            wanted: if is_last { config.packets } else { u64::MAX },
            target: 0,
            left: 0,
            bytes: 0,
            ns_per_tick: 1000.0 / (config.calibration.clock_mhz * TICKS_PER_CYCLE),
        }
    }
}

impl Observer<Job> for Watch {
    #[inline]
    fn deposited(&mut self, now: u64, place: PlaceId, job: &Job) {
        if place != self.out || self.left >= self.wanted {
            return;
        }
        self.left += 1;
        self.bytes += u64::from(job.bytes);
        receive(&mut self.receivers, job);
        match &mut self.lanes {
            Some(lanes) => update(lanes, job, (now as f64 * self.ns_per_tick) as i64),
            None => self.exits.push((now, *job)),
        }
    }

    fn is_done(&self) -> bool {
        self.left >= self.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chain, run};

    /// Observes all processors of a chain that is one net.
    struct Whole {
        exits: Vec<PlaceId>,
        receivers: Vec<Receivers>,
        wanted: u64,
    }

    impl Observer<Job> for Whole {
        fn deposited(&mut self, _: u64, place: PlaceId, job: &Job) {
            if let Some(hop) = self.exits.iter().position(|&exit| exit == place) {
                receive(&mut self.receivers[hop], job);
            }
        }

        fn is_done(&self) -> bool {
            let last = self.receivers.last();
            last.is_some_and(|r| r.readings().packets >= self.wanted)
        }
    }

    /// The straightforward twin: the whole chain as one net. Random numbers differ, but the distributions are the
    /// same.
    #[test]
    fn a_chain_run_hop_by_hop_agrees_with_one_net() {
        for scheme in ["contiguous", "global"] {
            let config = Config {
                scheme: scheme.to_owned(),
                hops: 3,
                packets: 10_000,
                ..Config::default()
            };
            let model = Chain::new(&config).expect("builds").into_model();
            let place = |name| PlaceId::from(model.find_queue(name).expect("is there"));
            let mut whole = Whole {
                exits: ["line2", "line3", "out"].map(place).to_vec(),
                receivers: vec![Receivers::new(32, Some(100)); 3],
                wanted: config.packets,
            };
            let mut engine = Engine::new(model, config.seed).expect("checks");
            engine.run_until(u64::MAX, &mut whole).expect("runs");
            let outcome = run(&config).expect("runs");
            let cycles = engine.now() as f64 / TICKS_PER_CYCLE;
            assert!((outcome.cycles / cycles - 1.0).abs() < 0.02, "{scheme}");
            for (one, all) in outcome.hops.iter().zip(&whole.receivers) {
                let all = all.readings();
                for count in [|r: &Readings| r.dupacks, |r: &Readings| r.late_by_three] {
                    let apart = one.percent(count(one)) - all.percent(count(all));
                    assert!(apart.abs() < 4.0, "{scheme}: {one:?} {all:?}");
                }
            }
        }
    }
}
