//! Section V of the paper, its measurement study: what captures at the senders of a population say of reordering. The paper's
//! captures are not public, so the population is synthetic (`experiments/mobile/population.toml`), and the truth about it is
//! known besides.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inorder_base::stats::Distribution;
use inorder_detect::{Config, FlowReport, RateClass};
use inorder_pipeline::{Analyzer, Input};
use inorder_scenario::population::{Drawable, Network, Population};
use inorder_sim::{Captures, Own, registries_with, repetition_seed, run_watched};
use rayon::prelude::*;
use serde::Deserialize;

use super::study;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting, file};

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    population: String,
    connections: u64,
    quick_connections: u64,
    /// Rates at which extents are read.
    rates: Vec<study::Rate>,
}

/// What is known of a connection.
pub(super) struct Seen {
    /// Index of its network.
    pub network: usize,
    /// What the capture at its sender says.
    pub told: Told,
    /// Whether something came late, and whether a recovery was spurious.
    pub truth: [bool; 2],
}

/// What the analysis of a capture says of its connection.
#[derive(Default)]
pub(super) struct Told {
    /// Originals whose fate is known.
    pub packets: u64,
    /// Of them, late.
    pub late: u64,
    /// Extents of these, packets.
    pub extents: Distribution,
    /// Late times of these, nanoseconds.
    pub late_ns: Distribution,
    /// Recoveries in which nothing had been lost.
    pub spurious: u64,
    /// Reordering by sending rate.
    pub by_rate: Vec<RateClass>,
}

impl Told {
    fn of(flow: FlowReport) -> Self {
        Self {
            packets: flow.reordering.received,
            late: flow.reordering.reordered,
            extents: flow.reordering.extents,
            late_ns: flow.reordering.late_ns,
            spurious: flow.recoveries.spurious,
            by_rate: flow.by_rate,
        }
    }
}

/// Draws, simulates, captures and analyses the connections.
pub(super) fn population(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Wanted = setting.read()?;
    let context = setting.context;
    let mut described = Population::parse(file(&wanted.population)?, &wanted.population)?;
    described.seed = context.seed;
    described.connections = if context.quick {
        wanted.quick_connections
    } else {
        wanted.connections * u64::from(context.repetitions.unwrap_or(1))
    };
    let names = registries_with(&Own::default());
    let wrong =
        |problem: &dyn ToString| ExperimentError::data(&wanted.population, &problem.to_string());
    let drawable = described.drawable(names).map_err(|error| wrong(&error))?;
    let seen = seen(context, &drawable, &wrong)?;
    Ok(study::quantities(&described.networks, &seen, &wanted.rates))
}

/// All connections, in their order.
fn seen(
    context: &Context<'_>,
    drawable: &Drawable,
    wrong: &(dyn Fn(&dyn ToString) -> ExperimentError + Sync),
) -> Result<Vec<Seen>, ExperimentError> {
    let all = drawable.population().connections;
    let done = AtomicUsize::new(0);
    let seen: Mutex<Vec<(u64, Seen)>> = Mutex::default();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.threads)
        .build()?;
    pool.install(|| {
        (0..all).into_par_iter().try_for_each(|number| {
            let one = connection(context, drawable, number, wrong)?;
            if let Ok(mut seen) = seen.lock() {
                seen.push((number, one));
            }
            (context.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, all as usize);
            Ok::<(), ExperimentError>(())
        })
    })?;
    let mut seen = seen.into_inner().unwrap_or_default();
    seen.sort_by_key(|(number, _)| *number);
    Ok(seen.into_iter().map(|(_, one)| one).collect())
}

fn connection(
    context: &Context<'_>,
    drawable: &Drawable,
    number: u64,
    wrong: &(dyn Fn(&dyn ToString) -> ExperimentError + Sync),
) -> Result<Seen, ExperimentError> {
    if context.stopped() {
        return Err(ExperimentError::Stopped);
    }
    let described = drawable.population();
    let seed = repetition_seed(described.seed, number);
    let drawn = drawable.connection(number, seed).map_err(|e| wrong(&e))?;
    let snap_bytes = drawn.config.output.snap_bytes;
    let mut tap = Captures::new(Vec::new(), Vec::new(), 1, snap_bytes).map_err(|e| wrong(&e))?;
    run_watched(&drawn.config, seed, &mut tap, &mut |_| !context.stopped())?;
    let ([at_sender, _], truth) = tap.finish().map_err(|e| wrong(&e))?;
    let truth = truth.flows().into_iter().next();
    let is_network = |network: &Network| std::ptr::eq(network, drawn.network);
    Ok(Seen {
        network: described.networks.iter().position(is_network).unwrap_or(0),
        told: told(at_sender).map_err(|e| wrong(&e))?,
        truth: truth.map_or([false; 2], |truth| {
            [truth.reordered > 0, truth.recoveries_spurious > 0]
        }),
    })
}

/// What a capture of a connection's sender says of its data.
fn told(capture: Vec<u8>) -> Result<Told, inorder_pipeline::Error> {
    let analyzer = Analyzer::new()
        .threads(1)
        .config(Config::default().what_if(false));
    let analysis = analyzer.run(Input::reader("capture", std::io::Cursor::new(capture)))?;
    let data = analysis.flows.into_iter();
    let data = data.max_by_key(|flow| flow.originals.bytes);
    Ok(data.map(Told::of).unwrap_or_default())
}
