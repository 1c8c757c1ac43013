//! The nets: a whole chain as one net, for drawing and checking, or one net for each processor, for running.

use inorder_petri::coloured::{Counter, CounterSpec, Model, Queue, QueueSpec};

use crate::config::{Config, ticks};
use crate::error::NetprocError;
use crate::hop::Hop;
use crate::job::Job;
use crate::scheme::{SCHEMES, Scheme};
use crate::traffic::Source;

/// A processor, or a chain of processors, as one net.
pub struct Chain {
    model: Model<Job>,
}

impl Chain {
    /// Builds the net.
    pub fn new(config: &Config) -> Result<Self, NetprocError> {
        config.validate()?;
        let scheme = scheme(&config.scheme)?;
        let mut net = Model::new();
        let lines: Vec<Queue> = (0..config.hops).map(|hop| line(&mut net, hop)).collect();
        let sink = net.sink("out");
        let mac = arrivals(&mut net, config, lines[0]);
        let exits = lines.iter().skip(1).copied().chain([sink]);
        for (index, (&line, exit)) in lines.iter().zip(exits).enumerate() {
            let mac = (index == 0).then_some(mac);
            let mut hop = Hop::new(&mut net, config, index as u32, line, mac);
            (scheme.build)(&mut hop, exit);
        }
        Ok(Self { model: net })
    }

    /// The net, for drawing.
    pub fn model(&self) -> &Model<Job> {
        &self.model
    }

    /// The net, for running it.
    pub fn into_model(self) -> Model<Job> {
        self.model
    }
}

/// One processor of a chain as a net of its own.
pub(crate) struct Single {
    pub(crate) model: Model<Job>,
    /// Where packets enter; the first processor generates them itself.
    pub(crate) line: Queue,
    /// Where they leave.
    pub(crate) out: Queue,
}

impl Single {
    /// Processor `index` of a checked configuration.
    pub(crate) fn new(config: &Config, index: u32) -> Result<Self, NetprocError> {
        let scheme = scheme(&config.scheme)?;
        let mut model = Model::new();
        let line = line(&mut model, index);
        let out = model.sink("out");
        let mac = (index == 0).then(|| arrivals(&mut model, config, line));
        let mut hop = Hop::new(&mut model, config, index, line, mac);
        (scheme.build)(&mut hop, out);
        Ok(Self { model, line, out })
    }
}

fn line(net: &mut Model<Job>, hop: u32) -> Queue {
    net.queue(format!("line{}", hop + 1), QueueSpec::fifo())
}

fn scheme(name: &str) -> Result<&'static Scheme, NetprocError> {
    crate::scheme::find(name).ok_or_else(|| {
        let names = SCHEMES.iter().map(|scheme| scheme.name);
        NetprocError::Scheme {
            name: name.to_owned(),
            nearest: inorder_base::names::nearest(name, names),
        }
    })
}

/// Packets arrive one after the other while the MAC has room. Returns the counter of free room.
fn arrivals(net: &mut Model<Job>, config: &Config, line: Queue) -> Counter {
    let c = &config.calibration;
    let mac = net.counter("mac-free", CounterSpec::new(c.mac_packets as u32));
    let mut source = Source::new(&config.traffic, config.seed);
    let first = source.next_packet();
    let input = net.queue("input-line", QueueSpec::fifo().tokens([first]));
    // Gb/s divided by MHz: bits per thousandth of a cycle.
    let cycles_per_byte = 8.0 * c.clock_mhz / (1000.0 * c.line_gbps);
    net.transition("arrive")
        .take(input)
        .spend(mac, 1)
        .delay_by(move |b, _| ticks(f64::from(b[0].bytes) * cycles_per_byte))
        .pass(line, 0)
        .put(input, move |_| source.next_packet());
    mac
}
