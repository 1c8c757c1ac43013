//! Runs a configuration.

use inorder_metrics::Reordering;

use crate::account::{Occupancy, Spent, Utilisation};
use crate::cascade::{Cascade, Firings};
use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::measure::Readings;

/// The results of a run. Order counts from the first packet; throughput, utilisation and times leave out the
/// [warm-up](warm_up).
#[derive(Debug)]
pub struct Outcome {
    /// Throughput of the last processor, Gb/s of packet bytes.
    pub throughput_gbps: f64,
    /// What a receiver directly behind each processor of the chain would observe, first processor first.
    pub hops: Vec<Readings>,
    /// The metrics of the RFCs behind the last processor.
    pub reordering: Reordering,
    /// Packets that left the last processor.
    pub packets: u64,
    /// Simulated time, cycles.
    pub cycles: f64,
    /// Number of firings in the whole run.
    pub firings: Firings,
    /// Mean number of tokens of each place, and of firings in progress of each timed transition.
    pub occupancy: Vec<Occupancy>,
    /// Utilisation of every resource.
    pub utilisation: Vec<Utilisation>,
    /// Where packets spend their time: waiting and service, by hop and resource.
    pub spent: Vec<Spent>,
}

impl Outcome {
    /// Mean time of a packet in all processors together, cycles.
    pub fn stay_cycles(&self) -> f64 {
        self.spent.iter().map(|s| s.waiting + s.served).sum()
    }
}

/// Number of packets left out of throughput and times: a tenth of the run, at most 5000. It is at least one, because
/// the departure of the first packet starts the interval in which the others are counted.
pub fn warm_up(packets: u64) -> u64 {
    (packets / 10).clamp(1, 5_000)
}

/// Runs a configuration.
pub fn run(config: &Config) -> Result<Outcome, NetprocError> {
    run_while(config, |_| true)
}

/// Runs until enough packets have left the last processor, or until `go_on` returns false; it is called now and then
/// with the number of packets so far. In that case the outcome covers the packets so far.
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
