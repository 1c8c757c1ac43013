//! From a configuration to what came out.

use inorder_petri::coloured::{
    CounterSpec, Engine, Model, ModelError, Observer, PlaceId, Queue, QueueSpec, RunError, Stop,
};
use inorder_petri::statistics::{Layout, Simulation, Totals};
use thiserror::Error;

use crate::account::{Interval, Occupancy, Spent, Utilisation};
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

/// What a run gave. Readings count from the first packet; throughput, utilisation and times leave the
/// [warm-up](warm_up) out.
#[derive(Debug)]
pub struct Outcome {
    /// Throughput of the last processor, Gb/s of packet bytes.
    pub throughput_gbps: f64,
    /// For each processor of the chain, from the first: what a receiver right behind it would see.
    pub hops: Vec<Readings>,
    /// The RFCs' metrics behind the last one.
    pub reordering: Reordering,
    /// Packets that left the last processor.
    pub packets: u64,
    /// Simulated time, cycles.
    pub cycles: f64,
    /// Firings of the whole run.
    pub firings: Firings,
    /// Mean tokens of each place, and mean firings under way of each timed transition.
    pub occupancy: Vec<Occupancy>,
    /// Use of every resource.
    pub utilisation: Vec<Utilisation>,
    /// Where time goes: waiting and service, by hop and resource.
    pub spent: Vec<Spent>,
}

impl Outcome {
    /// What a packet spends in all processors together, cycles.
    pub fn stay_cycles(&self) -> f64 {
        self.spent.iter().map(|s| s.waiting + s.served).sum()
    }
}

/// How often transitions fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firings {
    /// All.
    pub all: u64,
    /// Those that take time.
    pub timed: u64,
}

/// Packets left out of throughput and times: a tenth of the run, at most 5000. The first of all opens the interval
/// that the others are counted in, so it is one at least.
pub fn warm_up(packets: u64) -> u64 {
    (packets / 10).clamp(1, 5_000)
}

/// A processor, or a chain, ready to run.
pub struct Chain {
    model: Model<Job>,
    /// Where packets appear that have left each hop.
    exits: Vec<Queue>,
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
        Ok(Self { model: net, exits })
    }

    /// The net, for drawing.
    pub fn model(&self) -> &Model<Job> {
        &self.model
    }

    /// The net, for running it in other ways.
    pub fn into_model(self) -> Model<Job> {
        self.model
    }

    /// Runs until enough packets have left the last processor, or `go_on`, asked now and then with the number that
    /// have, says no: the outcome is then that of the packets so far.
    pub fn run(
        self,
        config: &Config,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<Outcome, NetprocError> {
        let mut watch = Watch::new(config, &self.exits);
        let mut engine = Engine::new(self.model, config.seed)?;
        let start = engine.totals(0);
        watch.advance(&mut engine, warm_up(config.packets))?;
        let warm = Mark::new(&engine, &watch);
        let step = (config.packets / 100).max(1_000);
        while watch.left < config.packets && go_on(watch.left) {
            let target = watch.left.saturating_add(step).min(config.packets);
            watch.advance(&mut engine, target)?;
        }
        let layout = engine.layout();
        let end = Mark::new(&engine, &watch);
        Ok(watch.outcome(
            config,
            &layout,
            [&start, &warm.totals, &end.totals],
            [&warm, &end],
        ))
    }
}

/// Runs a configuration.
pub fn run(config: &Config) -> Result<Outcome, NetprocError> {
    Chain::new(config)?.run(config, |_| true)
}

/// Where a run stands.
struct Mark {
    ticks: u64,
    bytes: u64,
    totals: Totals,
}

impl Mark {
    fn new(engine: &Engine<Job>, watch: &Watch) -> Self {
        Self {
            ticks: engine.now(),
            bytes: watch.bytes,
            totals: engine.totals(engine.now()),
        }
    }
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
    /// Hop by place, from 1; 0 for places where nothing leaves.
    hop_of: Vec<u8>,
    exits: Vec<usize>,
    receivers: Vec<Receivers>,
    lanes: Lanes,
    wanted: u64,
    /// Packets after which to stop for a look.
    target: u64,
    left: u64,
    bytes: u64,
    ns_per_tick: f64,
}

impl Watch {
    fn new(config: &Config, exits: &[Queue]) -> Self {
        let exits: Vec<usize> = exits.iter().map(|&q| PlaceId::from(q).index()).collect();
        let mut hop_of = vec![0; exits.iter().max().map_or(0, |most| most + 1)];
        for (hop, &exit) in exits.iter().enumerate() {
            hop_of[exit] = hop as u8 + 1;
        }
        let traffic = &config.traffic;
        Self {
            hop_of,
            receivers: vec![Receivers::new(traffic.flows, traffic.flow_packets); exits.len()],
            exits,
            lanes: Lanes::new(traffic.flows),
            wanted: config.packets,
            target: 0,
            left: 0,
            bytes: 0,
            ns_per_tick: 1000.0 / (config.calibration.clock_mhz * TICKS_PER_CYCLE),
        }
    }

    /// Runs until `target` packets have left.
    fn advance(&mut self, engine: &mut Engine<Job>, target: u64) -> Result<(), NetprocError> {
        self.target = target;
        match engine.run_until(u64::MAX, self)? {
            Stop::Observer => Ok(()),
            Stop::Dead | Stop::TimeReached => Err(NetprocError::Deadlock { packets: self.left }),
        }
    }

    fn leaves(&mut self, now: u64, job: &Job) {
        let time_ns = (now as f64 * self.ns_per_tick) as u64;
        self.lanes.receive(job, time_ns);
        self.left += 1;
        self.bytes += u64::from(job.bytes);
    }

    /// `totals` are those of the start, of the end of the warm-up, and of the end; `marks` the latter two.
    fn outcome(
        self,
        config: &Config,
        layout: &Layout,
        totals: [&Totals; 3],
        marks: [&Mark; 2],
    ) -> Outcome {
        let [start, from, to] = totals;
        let initial: Vec<u32> = start.places.iter().map(|place| place.tokens).collect();
        let interval = Interval {
            layout,
            initial: &initial,
            from,
            to,
            ticks: marks[1].ticks - marks[0].ticks,
        };
        let arrivals =
            |totals: &Totals, place: usize| totals.places.get(place).map_or(0, |p| p.arrivals);
        let exits = self.exits.iter();
        let packets: Vec<u64> = exits
            .map(|&exit| arrivals(to, exit) - arrivals(from, exit))
            .collect();
        Outcome {
            throughput_gbps: gbps(config, marks),
            hops: self
                .receivers
                .iter()
                .map(|r| r.readings().clone())
                .collect(),
            reordering: self.lanes.finish(),
            packets: self.left,
            cycles: marks[1].ticks as f64 / TICKS_PER_CYCLE,
            firings: firings(layout, to),
            occupancy: interval.occupancy(),
            utilisation: interval.utilisation(),
            spent: interval.spent(&packets),
        }
    }
}

fn gbps(config: &Config, [from, to]: [&Mark; 2]) -> f64 {
    let cycles = (to.ticks - from.ticks) as f64 / TICKS_PER_CYCLE;
    let bits = (to.bytes - from.bytes) as f64 * 8.0;
    if cycles > 0.0 {
        bits * config.calibration.clock_mhz / (1000.0 * cycles)
    } else {
        0.0
    }
}

fn firings(layout: &Layout, totals: &Totals) -> Firings {
    let mut sum = Firings::default();
    for ((_, servers), total) in layout.transitions.iter().zip(&totals.transitions) {
        sum.all += total.firings;
        sum.timed += if servers.is_some() { total.firings } else { 0 };
    }
    sum
}

impl Observer<Job> for Watch {
    fn deposited(&mut self, now: u64, place: PlaceId, job: &Job) {
        let hop = usize::from(self.hop_of.get(place.index()).copied().unwrap_or(0));
        if hop == 0 || self.left >= self.wanted {
            return;
        }
        self.receivers[hop - 1].receive(job);
        if hop == self.receivers.len() {
            self.leaves(now, job);
        }
    }

    fn is_done(&self) -> bool {
        self.left >= self.target
    }
}
