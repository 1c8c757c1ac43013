//! S. Govind, R. Govindarajan, J. Kuri, "Packet reordering in network processors", IPDPS 2007.
//!
//! Runs configurations of `inorder-netproc`, single processors and chains, and compares them with the printed values.
//! The paper does not define what its "retransmission" counts. Of the possible definitions, only packets late by
//! three or more can reach 61 %: a fast retransmission needs three duplicate ACKs besides the packet itself, so there
//! can be at most 25 %.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inorder_metrics::Readings;
use inorder_netproc::{Arbitration, Config, Length, Outcome, Traffic, run};
use rayon::prelude::*;
use serde::Deserialize;

use super::Named;
use crate::interval::Value;
use crate::printed::{Printed, Row};
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting, file};

pub(super) const REDUCTIONS: &[Named] = &[("network-processor", configurations)];

/// Packets of a run, and of a quick one.
const PACKETS: u64 = 100_000;
const QUICK_PACKETS: u64 = 10_000;
const REPETITIONS: u32 = 3;

/// Positions in a chain that tables show, if it is long enough: the hop, from 1.
const HOPS_SHOWN: [usize; 3] = [1, 5, 10];

const THROUGHPUT: &str = "throughput, Gb/s";

/// A quantity behind a hop, and its heading in tables.
type Reading = (&'static str, fn(&Readings) -> u64);

const REORDERING: Reading = ("reordering (duplicate ACKs), %", |r| r.dupacks);
const RETRANSMISSION: Reading = ("retransmission (late by three), %", |r| r.late_by_three);
const READINGS: [Reading; 4] = [
    REORDERING,
    RETRANSMISSION,
    ("fast retransmits, %", |r| r.fast_retransmits),
    ("duplicate ACKs from the third, %", |r| r.dupacks_from_third),
];

/// The simulations of an item.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configurations {
    /// The file of printed values, and the table in it that belongs to this item; without it there are no printed
    /// values.
    printed: Option<String>,
    table: Option<String>,
    #[serde(rename = "config")]
    configs: Vec<Configuration>,
}

/// A network processor, or a chain of them, under a given load.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    /// Its name in tables and claims.
    name: String,
    /// Its name in the printed values, if different.
    printed: Option<String>,
    scheme: String,
    bytes: u16,
    /// Number of concurrent flows.
    flows: u32,
    /// Packets per flow; the model's default if not given.
    flow_packets: Option<u32>,
    engines: Option<u32>,
    threads: Option<u32>,
    hops: Option<u32>,
}

impl Configuration {
    fn config(&self) -> Config {
        let usual = Config::default();
        let traffic = Traffic::default();
        Config {
            scheme: self.scheme.clone(),
            engines: self.engines.unwrap_or(usual.engines),
            threads: self.threads.unwrap_or(usual.threads),
            hops: self.hops.unwrap_or(usual.hops),
            traffic: Traffic {
                lengths: vec![Length {
                    bytes: self.bytes,
                    share: 1.0,
                }],
                flows: self.flows,
                flow_packets: self.flow_packets.or(traffic.flow_packets),
                ..traffic
            },
            ..usual
        }
    }

    fn is_printed_as(&self, cell: &PrintedCell) -> bool {
        let name = self.printed.as_ref().unwrap_or(&self.name);
        name == cell.config && self.bytes == cell.bytes
    }
}

/// Changes one property of a processor, as the experiment that belongs to a claim wants it: `flows=32`.
fn apply(config: &mut Config, change: &str) -> Result<(), String> {
    let fault =
        || format!("{change}: expected flows=N, or arbitration=fifo, random-engine or random");
    match change.split_once('=').ok_or_else(fault)? {
        ("flows", number) => config.traffic.flows = number.parse().map_err(|_| fault())?,
        ("arbitration", order) => {
            let order = match order {
                "fifo" => Arbitration::Fifo,
                "random-engine" => Arbitration::RandomEngine,
                "random" => Arbitration::Random,
                _ => return Err(fault()),
            };
            config.arbitration = order;
        }
        _ => return Err(fault()),
    }
    Ok(())
}

fn configurations(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Configurations = setting.read()?;
    let mut configs: Vec<Config> = wanted.configs.iter().map(Configuration::config).collect();
    for change in setting.context.set {
        for config in &mut configs {
            apply(config, change)
                .map_err(|what| ExperimentError::data("network-processor/paper.toml", &what))?;
        }
    }
    let runs = run_all(setting.context, &configs)?;
    let mut all = Quantities::default();
    for ((named, config), runs) in wanted.configs.iter().zip(&configs).zip(&runs) {
        let throughput = Value::of(runs.iter().map(|outcome| outcome.throughput_gbps));
        all.keep(&named.name, THROUGHPUT, throughput);
        let hops = config.hops as usize;
        for hop in HOPS_SHOWN.into_iter().filter(|hop| *hop <= hops) {
            let cell = format!("{}, {hop} hops", named.name);
            for (measure, count) in READINGS {
                let value = reading(runs, hop, count);
                if hops > 1 {
                    all.show(&cell, measure, value);
                } else {
                    all.keep(&named.name, measure, value);
                }
            }
        }
    }
    let (Some(printed), Some(table)) = (&wanted.printed, &wanted.table) else {
        return Ok(all);
    };
    for cell in printed_cells(printed, table)? {
        let numbered = wanted.configs.iter().zip(&runs);
        if let Some((_, runs)) = numbered.into_iter().find(|(c, _)| c.is_printed_as(&cell)) {
            cell.show(runs, &mut all);
        }
    }
    Ok(all)
}

/// A quantity behind hop `hop` (from 1), percent of the packets.
fn reading(runs: &[Outcome], hop: usize, count: fn(&Readings) -> u64) -> Value {
    let readings = runs.iter().map(|outcome| outcome.hops.get(hop - 1));
    let packets = readings.clone().flatten().map(|r| r.packets).max();
    Value::Counted {
        values: readings.map(|r| Some(r?.percent(count(r?)))).collect(),
        event: 100.0 / packets.unwrap_or(1) as f64,
    }
}

/// A value printed in the paper.
struct PrintedCell {
    config: &'static str,
    bytes: u16,
    hops: usize,
    metric: &'static str,
    tool: &'static str,
    value: f64,
}

/// The printed values of `table`.
fn printed_cells(name: &str, table: &str) -> Result<Vec<PrintedCell>, ExperimentError> {
    let all = Printed::parse(file(name)?)?;
    let rows = all.rows().filter(|row| row.text("table") == Some(table));
    Ok(rows.filter_map(PrintedCell::new).collect())
}

impl PrintedCell {
    fn new(row: Row<'_>) -> Option<Self> {
        Some(Self {
            config: row.text("config")?,
            bytes: row.number("packet_bytes")? as u16,
            hops: row.number("hops")? as usize,
            metric: row.text("metric")?,
            tool: row.text("tool")?,
            value: row.number("value")?,
        })
    }

    /// Adds the results of `runs` with the printed values.
    fn show(&self, runs: &[Outcome], all: &mut Quantities) {
        let (measure, value) = match self.metric {
            "throughput" => {
                let throughput = runs.iter().map(|outcome| outcome.throughput_gbps);
                (THROUGHPUT.to_owned(), Value::of(throughput))
            }
            metric => {
                let (_, count) = if metric == "reorder" {
                    REORDERING
                } else {
                    RETRANSMISSION
                };
                (format!("{metric}, %"), reading(runs, self.hops, count))
            }
        };
        let tool = if self.tool.is_empty() {
            String::new()
        } else {
            format!(" ({})", self.tool)
        };
        let cell = format!(
            "{}, {} B, {} hops{tool}",
            self.config, self.bytes, self.hops
        );
        all.show(&cell, &measure, value);
        all.print(&cell, &measure, (self.value, None));
    }
}

/// Runs all configurations with several seeds on all cores: one list for each configuration.
fn run_all(
    context: &Context<'_>,
    configs: &[Config],
) -> Result<Vec<Vec<Outcome>>, ExperimentError> {
    let repetitions = context.repetitions_or(REPETITIONS);
    let packets = if context.quick {
        QUICK_PACKETS
    } else {
        PACKETS
    };
    let jobs: Vec<(usize, u32)> = (0..configs.len())
        .flat_map(|at| (0..repetitions).map(move |n| (at, n)))
        .collect();
    let done = AtomicUsize::new(0);
    let runs: Mutex<BTreeMap<(usize, u32), Outcome>> = Mutex::default();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.threads)
        .build()?;
    pool.install(|| {
        jobs.par_iter().try_for_each(|&(at, n)| {
            if context.stopped() {
                return Err(ExperimentError::Stopped);
            }
            let outcome = run(&Config {
                packets,
                seed: context.seed + u64::from(n),
                ..configs[at].clone()
            })?;
            if let Ok(mut runs) = runs.lock() {
                runs.insert((at, n), outcome);
            }
            (context.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
            Ok(())
        })
    })?;
    let mut sorted: Vec<Vec<Outcome>> = configs.iter().map(|_| Vec::new()).collect();
    for ((at, _), outcome) in runs.into_inner().unwrap_or_default() {
        sorted[at].push(outcome);
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reaches_the_processor_and_a_wrong_one_is_named() {
        let mut config = Config::default();
        apply(&mut config, "flows=7").expect("a change");
        apply(&mut config, "arbitration=random").expect("a change");
        assert_eq!(config.traffic.flows, 7);
        assert_eq!(config.arbitration, Arbitration::Random);
        for wrong in ["flows", "flows=many", "arbitration=fair", "colour=3"] {
            let message = apply(&mut config, wrong).expect_err("no change");
            assert!(message.starts_with(wrong), "{message}");
        }
    }
}
