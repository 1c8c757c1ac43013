//! A population: connections over networks whose settings are drawn for each connection, captured at their sender, with the
//! truth about every packet beside them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_base::random::Random;
use inorder_report::Sheet;
use inorder_report::parquet;
use inorder_scenario::Config;
use inorder_sim::{
    Captures, Changes, FlowResult, Own, TruthFlow, cells, repetition_seed, run_watched,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::Folder;
use crate::tables::TaskRow;
use crate::work::Work;

mod draw;
mod rows;

pub use draw::Draw;
use rows::{Connection, TRUTH, TruthRow};

/// The folder of the captures.
const CAPTURES: &str = "captures";
/// The table of connections: labels, settings, sums of the truth.
const CONNECTIONS: &str = "connections";
/// The table of everything that happened to an original.
const EVENTS: &str = "truth";
/// Connections of a task, unless told otherwise.
const PER_TASK: u64 = 64;
/// Compression of the captures: the fastest, which makes headers about eight times shorter.
const ZSTD_LEVEL: i32 = 1;

/// A file that describes a population.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Population {
    /// A title, one line.
    #[serde(default)]
    pub title: String,
    /// Number of connections.
    pub connections: u64,
    /// Seed of everything that is drawn.
    #[serde(default)]
    pub seed: u64,
    /// The scenario of each connection before its settings are drawn, as in docs/scenario.md, with one flow and without a
    /// grid.
    pub scenario: toml::Table,
    /// The networks.
    #[serde(rename = "network")]
    pub networks: Vec<Network>,
}

/// A network, and how the settings of its connections are distributed.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Columns that name it, such as operator and technology; the same names for all networks.
    pub labels: BTreeMap<String, String>,
    /// Its share of the connections, relative to the weights of the others.
    #[serde(default = "one")]
    pub weight: f64,
    /// Distributions by the keys of the scenario that they set; the same keys for all networks.
    pub draw: BTreeMap<String, Draw>,
    /// What was published of the network that it stands for, by name. Only reports read it.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}

fn one() -> f64 {
    1.0
}

/// A population that was understood.
#[derive(Debug)]
pub(crate) struct Ready {
    population: Population,
    scenario: String,
    labels: Vec<String>,
    keys: Vec<String>,
}

impl Population {
    /// Reads the text of a file; `name` is its name in messages.
    ///
    /// # Errors
    /// If it is no TOML, or a key is unknown, missing or of another type.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        toml::from_str(text)
            .map_err(|error| Error::usage(inorder_scenario::Error::of_toml(name, text, &error)))
    }

    pub(crate) fn ready(&self) -> Result<Ready, Error> {
        let first = self.networks.first();
        let first =
            first.ok_or_else(|| Error::usage("network: expected at least one [[network]]"))?;
        let total: f64 = self.networks.iter().map(|network| network.weight).sum();
        if !total.is_finite() || total <= 0.0 || self.networks.iter().any(|one| one.weight < 0.0) {
            return Err(Error::usage(
                "weight: expected numbers of 0 and more, and one above 0",
            ));
        }
        for network in &self.networks {
            if !network.labels.keys().eq(first.labels.keys())
                || !network.draw.keys().eq(first.draw.keys())
            {
                return Err(Error::usage(
                    "network: expected the same labels and the same keys under `draw` for all networks",
                ));
            }
            for (key, draw) in &network.draw {
                draw.check()
                    .map_err(|problem| Error::usage(format!("draw.\"{key}\": {problem}")))?;
            }
        }
        let ready = Ready {
            scenario: toml::to_string(&self.scenario).map_err(Error::usage)?,
            labels: first.labels.keys().cloned().collect(),
            keys: first.draw.keys().cloned().collect(),
            population: self.clone(),
        };
        // So that a mistake in the scenario is noticed before the first task.
        ready.connection(0)?;
        Ok(ready)
    }
}

/// A connection before it runs.
#[derive(Debug)]
struct Drawn<'a> {
    network: &'a Network,
    settings: Vec<f64>,
    config: Config,
    seed: u64,
}

impl Ready {
    pub(crate) fn tasks(&self, per_task: u64) -> Vec<Work> {
        let each = match per_task {
            0 => PER_TASK,
            given => given,
        };
        Work::items(self.population.connections, each)
    }

    pub(crate) fn write_schemas(&self, folder: &Folder) -> Result<(), Error> {
        folder.write_schema(CONNECTIONS, |out| {
            parquet::write(out, &self.sheet(), [] as [Connection; 0])
        })?;
        folder.write_schema(EVENTS, |out| {
            parquet::write(out, TRUTH, [] as [TruthRow; 0])
        })
    }

    fn sheet(&self) -> Sheet<'_, Connection> {
        rows::sheet(&self.labels, &self.keys)
    }

    /// Draws a connection: a function of the seed, the number and the names of the keys.
    fn connection(&self, number: u64) -> Result<Drawn<'_>, Error> {
        let population = &self.population;
        let stream = |name: &str| Random::new(population.seed, name).fork(number);
        let network = choose(&population.networks, stream("network").unit());
        let network = network.ok_or_else(|| Error::usage("network: expected at least one"))?;
        let drawn = network.draw.iter();
        let drawn: Vec<(&String, &Draw, f64)> = drawn
            .map(|(key, draw)| (key, draw, draw.value(&mut stream(key))))
            .collect();
        let seed = repetition_seed(population.seed, number);
        let set = drawn
            .iter()
            .map(|(key, draw, value)| format!("{key}={}", draw.written(*value)));
        let changes = Changes {
            set: set.collect(),
            seed: Some(seed),
            ..Changes::default()
        };
        let done = cells(&self.scenario, "scenario", &changes, &Own::default());
        let (_, mut cells) = done.map_err(Error::usage)?;
        let config = match (cells.pop(), cells.is_empty()) {
            (Some(cell), true) => cell.config,
            _ => return Err(Error::usage("scenario: expected one without a grid")),
        };
        if config.flows.len() != 1 || config.flows.iter().any(|flow| flow.count != 1) {
            return Err(Error::usage(
                "scenario: expected one flow, of one connection",
            ));
        }
        let mut config = config;
        // For the truth about recoveries.
        config.output.events = true;
        Ok(Drawn {
            network,
            settings: drawn.iter().map(|(_, _, value)| *value).collect(),
            config,
            seed,
        })
    }

    /// Simulates the connections of a task and writes captures and truth.
    pub(crate) fn run(
        &self,
        folder: &Folder,
        task: &str,
        numbers: Range<u64>,
        stop: &Arc<AtomicBool>,
    ) -> Result<TaskRow, Error> {
        let items = numbers.end - numbers.start;
        let (mut connections, mut events) = (Vec::new(), Vec::new());
        for number in numbers {
            let drawn = self.connection(number)?;
            let file = format!("{number:06}.pcapng.zst");
            let (flow, truth) = simulate(folder, &file, &drawn, stop)?;
            events.extend(rows::events(&file, &truth));
            let labels = self.labels.iter();
            connections.push(Connection {
                labels: labels
                    .map(|name| drawn.network.labels.get(name).cloned().unwrap_or_default())
                    .collect(),
                settings: drawn.settings,
                entered: flow.counts.recoveries + flow.counts.timeouts,
                entered_spurious: rows::spurious_entries(&flow, &truth),
                delivered_bytes: flow.counts.delivered_bytes,
                truth: TruthFlow {
                    events: Vec::new(),
                    ..truth
                },
                file,
            });
        }
        if !events.is_empty() {
            folder.write_part(EVENTS, task, |out| parquet::write(out, TRUTH, &events))?;
        }
        folder.write_part(CONNECTIONS, task, |out| {
            parquet::write(out, &self.sheet(), &connections)
        })?;
        Ok(TaskRow {
            items,
            ..TaskRow::default()
        })
    }
}

/// The network in which a uniform number falls.
fn choose(networks: &[Network], unit: f64) -> Option<&Network> {
    let total: f64 = networks.iter().map(|network| network.weight).sum();
    let mut left = unit * total;
    for network in networks {
        if left < network.weight {
            return Some(network);
        }
        left -= network.weight;
    }
    networks.last()
}

/// Where packets at an end are written: into the capture at the sender, nowhere at the receiver.
enum End<'a> {
    Sender(zstd::Encoder<'static, &'a mut (dyn Write + Send)>),
    Receiver,
}

impl Write for End<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            End::Sender(file) => file.write(bytes),
            End::Receiver => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            End::Sender(file) => file.flush(),
            End::Receiver => Ok(()),
        }
    }
}

/// Runs a connection and writes its capture; returns what its sender counted, and the truth.
fn simulate(
    folder: &Folder,
    file: &str,
    drawn: &Drawn<'_>,
    stop: &AtomicBool,
) -> Result<(FlowResult, TruthFlow), Error> {
    let mut result = None;
    let path = folder.root().join(CAPTURES).join(file);
    let written = folder.write(&path, |out| {
        let at_sender = End::Sender(zstd::Encoder::new(out, ZSTD_LEVEL)?);
        let snap_bytes = drawn.config.output.snap_bytes;
        let mut tap = Captures::new(at_sender, End::Receiver, 1, snap_bytes)?;
        let mut go_on = |_| !stop.load(Ordering::Relaxed);
        let run = run_watched(&drawn.config, drawn.seed, &mut tap, &mut go_on);
        let run = run.map_err(io::Error::other)?;
        let ([at_sender, _], truth) = tap.finish()?;
        if let End::Sender(file) = at_sender {
            file.finish()?;
        }
        let flow = run.flows.into_iter().next();
        let truth = truth.flows().into_iter().next();
        result = flow.zip(truth);
        Ok(())
    });
    if stop.load(Ordering::Relaxed) {
        return Err(Error::Stopped);
    }
    written?;
    result.ok_or_else(|| {
        Error::usage(format!(
            "{file}: this connection sent no data; expected a scenario whose flow does"
        ))
    })
}
