//! From a configuration to what came out.

use inorder_petri::coloured::{
    CounterSpec, Engine, Model, ModelError, Observer, PlaceId, Queue, QueueSpec, RunError,
};
use thiserror::Error;

use crate::config::{Config, ConfigError, TICKS_PER_CYCLE, ticks};
use crate::hop::Hop;
use crate::job::Job;
use crate::measure::{Lanes, Readings, Receivers, Reordering};
use crate::scheme::{SCHEMES, Scheme};
use crate::traffic::Source;

/// Why there is no result.
#[derive(Debug, Error)]
pub enum NetprocError {
    /// A setting out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No such scheme.
    #[error("scheme: unknown name {name}, did you mean {nearest}?")]
    Scheme {
        /// As asked for.
        name: String,
        /// The nearest there is.
        nearest: &'static str,
    },
    /// The net was refused: a fault of this crate, or of a calibration.
    #[error("net: {0}")]
    Model(#[from] ModelError),
    /// The run went wrong, as above.
    #[error("net: {0}")]
    Run(#[from] RunError),
    /// Nothing moves any more, though packets are missing.
    #[error("the net stands still after {packets} packets")]
    Deadlock {
        /// Packets that had left.
        packets: u64,
    },
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// Throughput of the last processor, Gb/s of packet bytes.
    pub throughput_gbps: f64,
    /// For each processor of the chain, from the first: what a receiver right behind it would see.
    pub hops: Vec<Readings>,
    /// The RFCs' metrics behind the last one.
    pub reordering: Reordering,
    /// Simulated time, cycles.
    pub cycles: f64,
    /// Firings of all transitions, and of the timed ones alone.
    pub firings: (u64, u64),
    /// Where packets and threads were: mean tokens of each place, and mean firings under way of each transition.
    pub occupancy: Vec<Occupancy>,
}

/// Time average of a place or a transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Occupancy {
    /// Its name in the net.
    pub name: String,
    /// Mean number of tokens, or of firings under way.
    pub mean: f64,
    /// Whether it is a transition (work) or a place (waiting, or resources free).
    pub is_transition: bool,
}

/// A processor, or a chain, ready to run.
pub struct Chain {
    model: Model<Job>,
    /// Where packets appear that have left each hop.
    exits: Vec<Queue>,
    timed: Vec<inorder_petri::coloured::TransitionId>,
}

impl Chain {
    /// Builds the net.
    pub fn new(config: &Config) -> Result<Self, NetprocError> {
        config.validate()?;
        let scheme = scheme(&config.scheme)?;
        let mut net = Model::new();
        let lines: Vec<Queue> = (0..config.hops)
            .map(|hop| net.queue(format!("line{}", hop + 1), QueueSpec::fifo()))
            .collect();
        let sink = net.sink("out");
        let mac = arrivals(&mut net, config, lines[0]);
        let exits: Vec<Queue> = lines.iter().skip(1).copied().chain([sink]).collect();
        for (index, (&line, &exit)) in lines.iter().zip(&exits).enumerate() {
            let mac = (index == 0).then_some(mac);
            let mut hop = Hop::new(&mut net, config, index as u32, line, mac);
            (scheme.build)(&mut hop, exit);
        }
        Ok(Self {
            model: net,
            exits,
            timed: Vec::new(),
        })
    }

    /// The net, for drawing or for running it in other ways.
    pub fn model(&self) -> &Model<Job> {
        &self.model
    }

    /// Runs until enough packets have left the last processor.
    pub fn run(self, config: &Config) -> Result<Outcome, NetprocError> {
        let mut watch = Watch::new(config, &self.exits);
        let mut engine = Engine::new(self.model, config.seed)?;
        engine.run_until(u64::MAX, &mut watch)?;
        if !watch.is_done() {
            return Err(NetprocError::Deadlock {
                packets: watch.left,
            });
        }
        let _ = self.timed;
        Ok(watch.outcome(config))
    }
}

/// Runs a configuration.
pub fn run(config: &Config) -> Result<Outcome, NetprocError> {
    Chain::new(config)?.run(config)
}

fn scheme(name: &str) -> Result<&'static Scheme, NetprocError> {
    crate::scheme::find(name).ok_or_else(|| {
        let nearest = SCHEMES
            .iter()
            .map(|s| s.name)
            .min_by_key(|s| strsim::levenshtein(s, name));
        NetprocError::Scheme {
            name: name.to_owned(),
            nearest: nearest.unwrap_or_default(),
        }
    })
}

/// Packets come in one after the other while the MAC has room; returns its free room.
fn arrivals(
    net: &mut Model<Job>,
    config: &Config,
    line: Queue,
) -> inorder_petri::coloured::Counter {
    let c = &config.calibration;
    let mac = net.counter("mac-free", CounterSpec::new(c.mac_packets as u32));
    let mut source = Source::new(&config.traffic, config.seed);
    let first = source.next_packet();
    let input = net.queue("input-line", QueueSpec::fifo().tokens([first]));
    // Gb/s over MHz: bits in a thousandth of a cycle.
    let cycles_per_byte = 8.0 * c.clock_mhz / (1000.0 * c.line_gbps);
    net.transition("arrive")
        .take(input)
        .spend(mac, 1)
        .delay_by(move |b, _| ticks(f64::from(b[0].bytes) * cycles_per_byte))
        .pass(line, 0)
        .put(input, move |_| source.next_packet());
    mac
}

/// Looks at the packets that leave.
struct Watch {
    /// Hop by place, plus one; 0 for places where nothing leaves.
    exits: Vec<u8>,
    receivers: Vec<Receivers>,
    lanes: Lanes,
    last: usize,
    wanted: u64,
    left: u64,
    bytes: u64,
    first: Option<u64>,
    now: u64,
    ns_per_tick: f64,
}

impl Watch {
    fn new(config: &Config, exits: &[Queue]) -> Self {
        let places = exits
            .iter()
            .map(|&q| PlaceId::from(q).index())
            .max()
            .unwrap_or(0)
            + 1;
        let mut by_place = vec![0; places];
        for (hop, &exit) in exits.iter().enumerate() {
            by_place[PlaceId::from(exit).index()] = hop as u8 + 1;
        }
        let traffic = &config.traffic;
        Self {
            exits: by_place,
            receivers: vec![Receivers::new(traffic.flows, traffic.flow_packets); exits.len()],
            lanes: Lanes::new(traffic.flows),
            last: exits.len(),
            wanted: config.packets,
            left: 0,
            bytes: 0,
            first: None,
            now: 0,
            ns_per_tick: 1000.0 / (config.calibration.clock_mhz * TICKS_PER_CYCLE),
        }
    }

    fn leaves(&mut self, now: u64, job: &Job) {
        let time_ns = (now as f64 * self.ns_per_tick) as u64;
        self.lanes.receive(job, time_ns);
        self.left += 1;
        self.now = now;
        // The first packet opens the interval that the others are counted in.
        match self.first {
            None => self.first = Some(now),
            Some(_) => self.bytes += u64::from(job.bytes),
        }
    }

    fn outcome(self, config: &Config) -> Outcome {
        let cycles = self.now as f64 / TICKS_PER_CYCLE;
        let measured = (self.now - self.first.unwrap_or(self.now)) as f64 / TICKS_PER_CYCLE;
        let gbps = self.bytes as f64 * 8.0 * config.calibration.clock_mhz / (1000.0 * measured);
        Outcome {
            throughput_gbps: if measured > 0.0 { gbps } else { 0.0 },
            hops: self
                .receivers
                .iter()
                .map(|r| r.readings().clone())
                .collect(),
            reordering: self.lanes.finish(),
            cycles,
            firings: (0, 0),
            occupancy: Vec::new(),
        }
    }
}

impl Observer<Job> for Watch {
    fn deposited(&mut self, now: u64, place: PlaceId, job: &Job) {
        let hop = usize::from(self.exits.get(place.index()).copied().unwrap_or(0));
        if hop == 0 || self.left >= self.wanted {
            return;
        }
        self.receivers[hop - 1].receive(job);
        if hop == self.last {
            self.leaves(now, job);
        }
    }

    fn is_done(&self) -> bool {
        self.left >= self.wanted
    }
}
