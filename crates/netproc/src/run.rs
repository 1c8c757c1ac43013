//! From a configuration to what came out.

use inorder_metrics::Reordering;

use crate::account::{Occupancy, Spent, Utilisation};
use crate::cascade::{Cascade, Firings};
use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::measure::Readings;

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

/// Packets left out of throughput and times: a tenth of the run, at most 5000. The first of all opens the interval
/// that the others are counted in, so it is one at least.
pub fn warm_up(packets: u64) -> u64 {
    (packets / 10).clamp(1, 5_000)
}

/// Runs a configuration.
pub fn run(config: &Config) -> Result<Outcome, NetprocError> {
    run_while(config, |_| true)
}

/// Runs until enough packets have left the last processor, or `go_on`, asked now and then with the number that have,
/// says no: the outcome is then that of the packets so far.
pub fn run_while(
    config: &Config,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<Outcome, NetprocError> {
    config.validate()?;
    let mut cascade = Cascade::new(config)?;
    cascade.advance(warm_up(config.packets))?;
    cascade.warmed_up();
    let step = (config.packets / 100).max(1_000);
    while cascade.left() < config.packets && go_on(cascade.left()) {
        let target = cascade.left().saturating_add(step).min(config.packets);
        cascade.advance(target)?;
    }
    Ok(outcome(config, cascade))
}

fn outcome(config: &Config, cascade: Cascade) -> Outcome {
    let (mut occupancy, mut utilisation, mut spent) = (Vec::new(), Vec::new(), Vec::new());
    cascade.each_interval(|interval, packets| {
        occupancy.extend(interval.occupancy());
        utilisation.extend(interval.utilisation());
        spent.extend(interval.spent(packets));
    });
    Outcome {
        throughput_gbps: gbps(config, cascade.measured()),
        hops: cascade.readings(),
        packets: cascade.left(),
        cycles: cascade.now() as f64 / TICKS_PER_CYCLE,
        firings: cascade.firings(),
        occupancy,
        utilisation,
        spent,
        reordering: cascade.into_reordering(),
    }
}

fn gbps(config: &Config, (bytes, ticks): (u64, u64)) -> f64 {
    let cycles = ticks as f64 / TICKS_PER_CYCLE;
    if cycles > 0.0 {
        bytes as f64 * 8.0 * config.calibration.clock_mhz / (1000.0 * cycles)
    } else {
        0.0
    }
}
