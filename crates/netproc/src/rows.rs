//! What a run gave as flat rows, so that tables, files and repetitions all read the same list.

use inorder_metrics::Distribution;
use serde::Serialize;

use crate::measure::{Readings, Reordering};
use crate::run::Outcome;

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What it belongs to.
    pub group: &'static str,
    /// Processor of the chain, from 1; 0 for the chain as a whole.
    pub hop: u32,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The number.
    pub value: f64,
}

/// How many n of n-reordering have a row of their own.
const LISTED_N: usize = 3;

impl Outcome {
    /// Every result as a row, group by group.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = vec![
            row("throughput", 0, "throughput", "Gb/s", self.throughput_gbps),
            row("throughput", 0, "stay", "cycles/packet", self.stay_cycles()),
        ];
        for (index, readings) in self.hops.iter().enumerate() {
            rows.extend(order_rows(index as u32 + 1, readings));
        }
        rows.extend(metric_rows(&self.reordering, self.packets));
        rows.extend(self.utilisation.iter().map(|u| match u.units {
            Some(_) => row("use", u.hop, u.resource, "%", 100.0 * u.share()),
            None => row("use", u.hop, u.resource, "under way", u.busy),
        }));
        for spent in &self.spent {
            let name = |what: &str| format!("{}, {what}", spent.resource.name());
            let part = |what, cycles| row("time", spent.hop, &name(what), "cycles/packet", cycles);
            rows.extend([part("waiting", spent.waiting), part("served", spent.served)]);
        }
        rows
    }
}

pub(crate) fn row(
    group: &'static str,
    hop: u32,
    name: &str,
    unit: &'static str,
    value: f64,
) -> Row {
    Row {
        group,
        hop,
        name: name.to_owned(),
        unit,
        value,
    }
}

/// Every reading of "reordering" and "retransmission".
pub(crate) fn order_rows(hop: u32, r: &Readings) -> impl Iterator<Item = Row> {
    let shares = [
        ("reordered (RFC 4737)", r.reordered),
        ("duplicate ACKs", r.dupacks),
        ("fast retransmits", r.fast_retransmits),
        ("duplicate ACKs from the third", r.dupacks_from_third),
        ("late by three", r.late_by_three),
    ];
    let shares = shares.map(|(name, count)| row("order", hop, name, "%", r.percent(count)));
    shares.into_iter()
}

/// The scalars of RFC 4737 and RFC 5236.
pub(crate) fn metric_rows(all: &Reordering, packets: u64) -> Vec<Row> {
    let metric = |name: &str, unit, value| row("metrics", 0, name, unit, value);
    let mut rows = vec![metric("reordered ratio", "%", 100.0 * all.reordered_ratio)];
    rows.extend(spread("extent", "packets", &all.extents, 1.0));
    rows.extend(spread("late time", "us", &all.late_ns, 1e-3));
    for n in 1..=LISTED_N {
        let count = all.n_reordering.get(n - 1).copied().unwrap_or(0);
        let share = 100.0 * count as f64 / packets.max(1) as f64;
        rows.push(metric(&format!("{n}-reordering"), "%", share));
    }
    let d = &all.displacements;
    rows.extend([
        metric("mean displacement", "packets", d.mean_displacement()),
        metric("mean lateness", "packets", d.mean_lateness().unwrap_or(0.0)),
        metric(
            "mean earliness",
            "packets",
            d.mean_earliness().unwrap_or(0.0),
        ),
        metric("entropy of displacement", "nats", d.entropy()),
    ]);
    rows
}

/// Mean, 99th percentile and greatest.
fn spread<'a>(
    name: &'a str,
    unit: &'static str,
    values: &Distribution,
    scale: f64,
) -> impl Iterator<Item = Row> + use<'a> {
    let of = |value: Option<u64>| value.unwrap_or(0) as f64 * scale;
    let parts = [
        ("mean", values.mean().unwrap_or(0.0) * scale),
        ("p99", of(values.quantile(0.99))),
        ("max", of(values.max())),
    ];
    let parts =
        parts.map(|(what, value)| row("metrics", 0, &format!("{name}, {what}"), unit, value));
    parts.into_iter()
}
