//! The numbers of section V: shares of connections, quantiles of reordering rates, extents and late times by network, and extents
//! by sending rate.

use inorder_base::stats::{Distribution, Estimate};
use inorder_detect::RateClass;
use inorder_scenario::population::Network;
use serde::Deserialize;

use super::population::{Seen, Told};
use crate::interval::{Interval, Value};
use crate::quantity::Quantities;

/// A sender that waits for three duplicate ACKs takes what was overtaken by more packets for lost (figure 9).
const THRESHOLD: u64 = 3;
/// Width of the bins of reordering rates (figure 8).
const BIN_PERCENT: f64 = 0.02;
/// Reordering delays rarely exceed this (figure 11).
const DELAY_NS: u64 = 600_000_000;
/// The quantile of table 1.
const HIGHEST: f64 = 0.95;
/// Classes of rates lie within half an octave of the rate that they are read at.
const HALF_OCTAVE: f64 = std::f64::consts::SQRT_2;
const CONFIDENCE: f64 = 0.95;

/// A sending rate at which extents are read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rate {
    mbps: f64,
    /// The extent in question, a power of two of bytes: extents are counted by octaves.
    below_bytes: Option<u64>,
}

/// All numbers: network by network, then rate by rate.
pub(super) fn quantities(networks: &[Network], seen: &[Seen], rates: &[Rate]) -> Quantities {
    let mut all = Quantities::default();
    for (at, network) in networks.iter().enumerate() {
        let here: Vec<&Seen> = seen.iter().filter(|one| one.network == at).collect();
        of_network(&name(network), &here, &mut all);
    }
    for rate in rates {
        of_rate(rate, seen, &mut all);
    }
    all
}

/// `operator 1, technology HSPA`.
fn name(network: &Network) -> String {
    let labels = network.labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    labels.join(", ")
}

fn of_network(cell: &str, here: &[&Seen], all: &mut Quantities) {
    let percent = |is: &dyn Fn(&Seen) -> bool| {
        let hits = here.iter().filter(|one| is(one)).count();
        Value::Known(Interval::share(hits, here.len()).scaled(100.0))
    };
    all.show(
        cell,
        "connections with reordering, %",
        percent(&|one| one.told.late > 0),
    );
    all.show(cell, "the same in truth, %", percent(&|one| one.truth[0]));
    all.show(
        cell,
        "connections told otherwise, %",
        percent(&|one| (one.told.late > 0) != one.truth[0]),
    );
    let mut rates: Vec<f64> = here
        .iter()
        .filter_map(|one| rate_percent(&one.told))
        .collect();
    rates.sort_by(f64::total_cmp);
    let highest = Value::Known(Interval::quantile(&rates, HIGHEST));
    all.show(cell, "reordering rate, 95th percentile, %", highest);
    let first = rates.iter().filter(|rate| **rate < BIN_PERCENT).count();
    let first = Interval::share(first, rates.len()).scaled(100.0);
    all.show(
        cell,
        "reordering rates up to 0.02 %, % of them",
        Value::Known(first),
    );
    let beyond = pairs(here, |told| {
        counted(&told.extents, |extent| extent > THRESHOLD)
    });
    all.show(cell, "late packets with an extent above 3, %", beyond);
    all.show(
        cell,
        "connections with a spurious recovery, %",
        percent(&|one| one.told.spurious > 0),
    );
    all.show(
        cell,
        "spurious recovery in truth, %",
        percent(&|one| one.truth[1]),
    );
    let long = pairs(here, |told| counted(&told.late_ns, |ns| ns > DELAY_NS));
    all.show(cell, "late by more than 600 ms, %", long);
}

/// Late packets of a connection that has any, percent of its packets.
fn rate_percent(told: &Told) -> Option<f64> {
    (told.late > 0).then(|| 100.0 * told.late as f64 / told.packets.max(1) as f64)
}

/// How many values are so, and how many there are.
fn counted(values: &Distribution, is: impl Fn(u64) -> bool) -> (f64, f64) {
    let hits = values.buckets().filter(|(value, _)| is(*value));
    let hits: u64 = hits.map(|(_, count)| count).sum();
    (hits as f64, values.count() as f64)
}

/// A share of late packets in percent; connections, not their packets, are independent.
fn pairs(here: &[&Seen], of: impl Fn(&Told) -> (f64, f64)) -> Value {
    let pairs: Vec<(f64, f64)> = here.iter().map(|one| of(&one.told)).collect();
    ratio(&pairs, 100.0)
}

fn ratio(pairs: &[(f64, f64)], factor: f64) -> Value {
    let ratio = Estimate::of_ratio(pairs.iter().copied(), CONFIDENCE);
    let ratio = ratio.map(Interval::from);
    Value::Known(
        ratio
            .unwrap_or_else(|| Interval::unknown(f64::NAN))
            .scaled(factor),
    )
}

fn of_rate(rate: &Rate, seen: &[Seen], all: &mut Quantities) {
    let cell = format!("rate {} Mbit/s", rate.mbps);
    let around = |class: &&RateClass| {
        let mbps = class.rate_bps as f64 / 1e6;
        rate.mbps / HALF_OCTAVE <= mbps && mbps < rate.mbps * HALF_OCTAVE
    };
    let sums = |of: &dyn Fn(&RateClass) -> (f64, f64)| -> Vec<(f64, f64)> {
        let connection = |one: &Seen| {
            let classes = one.told.by_rate.iter().filter(around).map(of);
            classes.fold((0.0, 0.0), |sum, (a, b)| (sum.0 + a, sum.1 + b))
        };
        seen.iter().map(connection).collect()
    };
    let extents = sums(&|class| {
        (
            class.mean_extent * class.reordered as f64,
            class.reordered as f64,
        )
    });
    all.show(&cell, "mean extent, packets", ratio(&extents, 1.0));
    if let Some(below) = rate.below_bytes {
        let smaller = sums(&|class| octaves_below(class, below));
        all.keep(&cell, "extents below, %", ratio(&smaller, 100.0));
    }
}

/// Late packets whose extent in bytes is in an octave below this, and all whose extent is known.
fn octaves_below(class: &RateClass, below: u64) -> (f64, f64) {
    let octaves = class.extent_bytes.iter();
    octaves.fold((0.0, 0.0), |(hits, all), (from, packets)| {
        let packets = *packets as f64;
        let hit = if *from < below { packets } else { 0.0 };
        (hits + hit, all + packets)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(late: u64, packets: u64, extent: u64) -> Told {
        let mut extents = Distribution::new();
        extents.update_times(extent, late);
        Told {
            packets,
            late,
            extents,
            ..Told::default()
        }
    }

    #[test]
    fn shares_are_of_connections_and_extents_of_late_packets() {
        let one = |told: Told, late| Seen {
            network: 0,
            told,
            truth: [late, false],
        };
        let seen = [
            one(told(0, 1_000, 0), false),
            one(told(10, 1_000, 5), true),
            one(told(30, 1_000, 2), true),
            // Late in truth, and the capture does not tell.
            one(told(0, 1_000, 0), true),
        ];
        let network = Network {
            labels: [("operator".to_owned(), "1".to_owned())].into(),
            weight: 1.0,
            draw: Default::default(),
            published: Default::default(),
        };
        let all = quantities(&[network], &seen, &[]);
        let value = |measure: &str| all.get("operator 1", measure).unwrap().value.shown().value;
        assert_eq!(value("connections with reordering, %"), 50.0);
        assert_eq!(value("the same in truth, %"), 75.0);
        assert_eq!(value("connections told otherwise, %"), 25.0);
        assert_eq!(value("reordering rate, 95th percentile, %"), 3.0);
        assert_eq!(value("late packets with an extent above 3, %"), 25.0);
    }
}
