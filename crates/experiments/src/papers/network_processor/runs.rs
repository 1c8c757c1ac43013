//! What is run, and what is read of it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use inorder_netproc::measure::Readings;
use inorder_netproc::{Config, Length, Outcome, Traffic, run};
use rayon::prelude::*;

use super::{Context, ExperimentError};
use crate::Estimate;

/// Flows at once for table 1, where the paper is silent.
pub(super) const FLOWS_ONE_HOP: u32 = 32;
/// Flows at once in chains (section 3.4.2: one out of ten is measured).
pub(super) const FLOWS_CHAIN: u32 = 10;
pub(super) const HOPS: u32 = 10;

/// What was run under one name, repetition by repetition.
pub(super) type Runs = BTreeMap<String, Vec<Outcome>>;

pub(super) fn config(scheme: &str, bytes: u16) -> Config {
    let lengths = vec![Length { bytes, share: 1.0 }];
    Config {
        scheme: scheme.to_owned(),
        traffic: Traffic {
            lengths,
            flows: FLOWS_ONE_HOP,
            ..Traffic::default()
        },
        ..Config::default()
    }
}

pub(super) fn chain(scheme: &str, bytes: u16, engines: u32, threads: u32) -> Config {
    let base = config(scheme, bytes);
    let traffic = Traffic {
        flows: FLOWS_CHAIN,
        ..base.traffic.clone()
    };
    Config {
        engines,
        threads,
        hops: HOPS,
        traffic,
        ..base
    }
}

/// Runs all configurations with several seeds, on all cores.
pub(super) fn run_all(
    context: &Context<'_>,
    configs: &[(String, Config)],
) -> Result<Runs, ExperimentError> {
    let repetitions = context.repetitions_or(3);
    let packets = if context.quick { 10_000 } else { 100_000 };
    let jobs: Vec<_> = configs
        .iter()
        .flat_map(|(name, config)| (0..repetitions).map(move |n| (name, config, n)))
        .collect();
    let done = AtomicUsize::new(0);
    let runs: Mutex<BTreeMap<(&String, u32), Outcome>> = Mutex::default();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(context.threads)
        .build()?;
    pool.install(|| {
        jobs.par_iter().try_for_each(|&(name, config, n)| {
            if context.stopped() {
                return Err(ExperimentError::Stopped);
            }
            let outcome = run(&Config {
                packets,
                seed: context.seed + u64::from(n),
                ..config.clone()
            })?;
            if let Ok(mut runs) = runs.lock() {
                runs.insert((name, n), outcome);
            }
            (context.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len());
            Ok(())
        })
    })?;
    let mut sorted = Runs::new();
    for ((name, _), outcome) in runs.into_inner().unwrap_or_default() {
        sorted.entry(name.clone()).or_default().push(outcome);
    }
    Ok(sorted)
}

pub(super) fn estimate(runs: &Runs, name: &str, value: impl Fn(&Outcome) -> f64) -> Estimate {
    let values: Vec<f64> = runs
        .get(name)
        .map(|r| r.iter().map(value).collect())
        .unwrap_or_default();
    Estimate::of(&values)
}

pub(super) fn throughput(runs: &Runs, name: &str) -> Estimate {
    estimate(runs, name, |o| o.throughput_gbps)
}

/// A reading behind hop `hop` (from 1), percent of the packets.
pub(super) fn reading(
    runs: &Runs,
    name: &str,
    hop: usize,
    count: impl Fn(&Readings) -> u64,
) -> Estimate {
    estimate(runs, name, |o| {
        o.hops
            .get(hop - 1)
            .map_or(f64::NAN, |r| r.percent(count(r)))
    })
}

pub(super) fn dupacks(r: &Readings) -> u64 {
    r.dupacks
}

pub(super) fn late_by_three(r: &Readings) -> u64 {
    r.late_by_three
}
