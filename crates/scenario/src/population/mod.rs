//! A population: connections over networks whose settings are drawn for each connection.

use std::collections::BTreeMap;

use inorder_base::random::Random;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::Error;
use crate::names::Registries;
use crate::scenario::Scenario;

mod draw;

pub use draw::Draw;

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

/// Why a population cannot be drawn, in one line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct PopulationError(String);

impl PopulationError {
    fn new(problem: &impl ToString) -> Self {
        Self(problem.to_string())
    }
}

/// A population that was understood.
#[derive(Debug)]
pub struct Drawable {
    population: Population,
    scenario: String,
    names: Registries,
}

/// A connection before it runs.
#[derive(Debug)]
pub struct Drawn<'a> {
    /// Its network.
    pub network: &'a Network,
    /// What was drawn, in the order of the keys and in the units of the file.
    pub settings: Vec<f64>,
    /// Its scenario.
    pub config: Config,
}

impl Population {
    /// Reads the text of a file; `name` is its name in messages.
    ///
    /// # Errors
    /// If it is no TOML, or a key is unknown, missing or of another type.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error| Error::of_toml(name, text, &error))
    }

    /// Checks everything that can be wrong before a connection is drawn; `names` are those that its scenario may use.
    ///
    /// # Errors
    /// If networks contradict each other, a distribution makes no sense, or the scenario is wrong.
    pub fn drawable(&self, names: Registries) -> Result<Drawable, PopulationError> {
        let first = self.networks.first();
        let first = first
            .ok_or_else(|| PopulationError::new(&"network: expected at least one [[network]]"))?;
        let total: f64 = self.networks.iter().map(|network| network.weight).sum();
        if !total.is_finite() || total <= 0.0 || self.networks.iter().any(|one| one.weight < 0.0) {
            let problem = "weight: expected numbers of 0 and more, and one above 0";
            return Err(PopulationError::new(&problem));
        }
        for network in &self.networks {
            network.check(first)?;
        }
        let drawable = Drawable {
            scenario: toml::to_string(&self.scenario)
                .map_err(|error| PopulationError::new(&error))?,
            names,
            population: self.clone(),
        };
        // So that a mistake in the scenario is noticed before anything runs.
        drawable.connection(0, self.seed)?;
        Ok(drawable)
    }
}

impl Network {
    /// Says what is wrong, if anything; all networks have the labels and keys of the first.
    fn check(&self, first: &Network) -> Result<(), PopulationError> {
        if !self.labels.keys().eq(first.labels.keys()) || !self.draw.keys().eq(first.draw.keys()) {
            return Err(PopulationError::new(
                &"network: expected the same labels and the same keys under `draw` for all networks",
            ));
        }
        self.draw.iter().try_for_each(|(key, draw)| {
            let checked = draw.check();
            checked.map_err(|problem| PopulationError(format!("draw.\"{key}\": {problem}")))
        })
    }
}

impl Drawable {
    /// What is drawn.
    pub fn population(&self) -> &Population {
        &self.population
    }

    /// The names of the labels of every network.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let first = self.population.networks.first();
        first
            .into_iter()
            .flat_map(|one| one.labels.keys().map(String::as_str))
    }

    /// The keys of the scenario that every network draws.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let first = self.population.networks.first();
        first
            .into_iter()
            .flat_map(|one| one.draw.keys().map(String::as_str))
    }

    /// Draws a connection: a function of the population's seed, the number and the names of the keys. `seed` is that of its run.
    ///
    /// # Errors
    /// If the scenario is wrong with what was drawn.
    pub fn connection(&self, number: u64, seed: u64) -> Result<Drawn<'_>, PopulationError> {
        let population = &self.population;
        let stream = |name: &str| Random::new(population.seed, name).fork(number);
        let network = choose(&population.networks, stream("network").unit());
        let network =
            network.ok_or_else(|| PopulationError::new(&"network: expected at least one"))?;
        let drawn = network.draw.iter();
        let drawn: Vec<(&String, &Draw, f64)> = drawn
            .map(|(key, draw)| (key, draw, draw.value(&mut stream(key))))
            .collect();
        let mut scenario = Scenario::load(&self.scenario, "scenario", &self.names)
            .map_err(|error| PopulationError::new(&error))?;
        let set = drawn
            .iter()
            .map(|(key, draw, value)| format!("{key}={}", draw.written(*value)));
        for assignment in set.chain([format!("run.seed={seed}")]) {
            scenario
                .set(&assignment)
                .map_err(|error| PopulationError::new(&error))?;
        }
        let mut cells = scenario
            .cells()
            .map_err(|error| PopulationError::new(&error))?;
        let config = match (cells.pop(), cells.is_empty()) {
            (Some(cell), true) => cell.config,
            _ => {
                let problem = "scenario: expected one without a grid";
                return Err(PopulationError::new(&problem));
            }
        };
        if config.flows.len() != 1 || config.flows.iter().any(|flow| flow.count != 1) {
            let problem = "scenario: expected one flow, of one connection";
            return Err(PopulationError::new(&problem));
        }
        Ok(Drawn {
            network,
            settings: drawn.iter().map(|(_, _, value)| *value).collect(),
            config,
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
