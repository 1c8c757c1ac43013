//! Runs a configuration.

use std::cell::RefCell;

use inorder_metrics::{Readings, Reordering};
use inorder_nets::Ran;

use crate::account::{Interval, Spent, Utilisation};
use crate::config::{Config, TICKS_PER_CYCLE};
use crate::error::NetprocError;
use crate::model::processor;

/// The results of a run. Order counts from the first packet; throughput, utilisation and times leave out the
/// [warm-up](warm_up).
///
/// The paper's "reordering" is [`Readings::dupacks`]. The paper does not define which of the others its "retransmission" is
/// (section 3.5: "retransmission packets where 3 or more duplicate ACKs cause a retransmission").
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
    /// Utilisation of every resource.
    pub utilisation: Vec<Utilisation>,
    /// Where packets spend their time: waiting and service, by hop and resource.
    pub spent: Vec<Spent>,
}

impl Outcome {
    /// Mean time of a packet in all processors together, cycles.
    pub(crate) fn stay_cycles(&self) -> f64 {
        self.spent.iter().map(|s| s.waiting + s.served).sum()
    }
}

/// Number of firings of transitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firings {
    /// All firings.
    pub all: u64,
    /// Firings that take time.
    pub timed: u64,
}

impl Firings {
    fn of(rans: &[Ran]) -> Self {
        let mut sum = Self::default();
        for ran in rans {
            let totals = &ran.end.totals.transitions;
            for ((_, servers), total) in ran.layout.transitions.iter().zip(totals) {
                sum.all += total.firings;
                sum.timed += if servers.is_some() { total.firings } else { 0 };
            }
        }
        sum
    }
}

/// Number of packets left out of throughput and times: a tenth of the run, at most 5000. It is at least one, because
/// the departure of the first packet starts the interval in which the others are counted.
pub fn warm_up(packets: u64) -> u64 {
    (packets / 10).clamp(1, 5_000)
}

/// Builds the net of a configuration, without running it.
///
/// # Errors
/// If a setting is out of its range, or there is no such scheme.
pub fn check(config: &Config) -> Result<(), NetprocError> {
    processor(config, true).map(|_| ())
}

/// Runs a configuration.
pub fn run(config: &Config) -> Result<Outcome, NetprocError> {
    run_while(config, |_| true)
}

/// Runs until enough packets have left the last processor, or until `go_on` returns false; it is called now and then
/// with the number of packets so far. In that case the outcome covers the packets so far.
pub fn run_while(config: &Config, go_on: impl FnMut(u64) -> bool) -> Result<Outcome, NetprocError> {
    let study = processor(config, true)?;
    let (go_on, packets) = (RefCell::new(go_on), config.packets as f64);
    let rans = study.account(config.seed, &|share| {
        (go_on.borrow_mut())((share * packets + 0.5) as u64)
    })?;
    Ok(outcome(rans))
}

fn outcome(rans: Vec<Ran>) -> Outcome {
    let (mut utilisation, mut spent) = (Vec::new(), Vec::new());
    for (hop, ran) in (1..).zip(&rans) {
        let interval = Interval { hop, ran };
        utilisation.extend(interval.utilisation());
        spent.extend(interval.spent());
    }
    let last = rans.last();
    let measures = last.into_iter().flat_map(|last| &last.measures);
    let throughput = measures
        .filter(|(name, value)| name == "throughput" && value.is_finite())
        .map(|(_, value)| *value);
    Outcome {
        throughput_gbps: throughput.sum(),
        packets: last.map_or(0, |last| last.end.counted),
        cycles: last.map_or(0.0, |last| last.end.ticks as f64 / TICKS_PER_CYCLE),
        firings: Firings::of(&rans),
        utilisation,
        spent,
        hops: rans
            .iter()
            .flat_map(|ran| ran.orders.first())
            .map(|order| order.readings.clone())
            .collect(),
        reordering: rans
            .into_iter()
            .flat_map(|ran| ran.orders)
            .find_map(|order| order.metrics)
            .unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_one_packet_has_no_throughput() {
        let outcome = run(&Config {
            packets: 1,
            ..Config::default()
        });
        let outcome = outcome.expect("runs");
        assert_eq!((outcome.packets, outcome.hops[0].packets), (1, 1));
        assert!(outcome.throughput_gbps.is_finite());
    }
}
