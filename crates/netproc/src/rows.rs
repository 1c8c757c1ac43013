//! The results of a run as flat rows, which tables, files and repetitions all use. Each number is a line in one of
//! the slices here (for the forwarder, in `forwarder/outcome.rs`).

use inorder_metrics::{METRICS, RECEIVED, Reordering};
use inorder_report::{AnyColumn, Column, Digits, columns, number};
use serde::Serialize;

use crate::account::{Spent, Utilisation};
use crate::run::Outcome;

/// One number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The group of the number.
    pub group: &'static str,
    /// Number of the processor in the chain, from 1; 0 for the whole chain.
    pub hop: u32,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The value; NaN if the run has none.
    pub value: f64,
}

columns! {
    /// The numbers of the whole run.
    WHOLE: Outcome, |o|
    "throughput": Number(Digits::Short), "Packet bytes that leave the last processor."
        => o.throughput_gbps, unit("Gb/s");
    "stay": Number(Digits::Short), "Mean time of a packet in the chain." => o.stay_cycles(), unit("cycles/packet");
}

columns! {
    /// Mean time of a packet at a resource.
    TIME: Spent, |s|
    "waiting": Number(Digits::Short), "Time a packet waits for the resource." => s.waiting, unit("cycles/packet");
    "served": Number(Digits::Short), "Time a packet is served by the resource." => s.served, unit("cycles/packet");
}

pub(crate) fn whole(value: Option<u64>) -> f64 {
    value.unwrap_or(0) as f64
}

impl Outcome {
    /// All results as rows, group by group.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = read("throughput", 0, "", WHOLE, self).collect();
        for (index, readings) in self.hops.iter().enumerate() {
            rows.extend(read("order", index as u32 + 1, "", RECEIVED, readings));
        }
        rows.extend(metrics(&self.reordering));
        rows.extend(self.utilisation.iter().map(used));
        for spent in &self.spent {
            rows.extend(read("time", spent.hop, spent.resource.name(), TIME, spent));
        }
        rows
    }
}

/// Utilisation of a resource: its name comes from the run, not from a slice.
fn used(u: &Utilisation) -> Row {
    let (unit, value) = match u.units {
        Some(_) => ("%", 100.0 * u.share()),
        None => ("under way", u.busy),
    };
    Row {
        group: "use",
        hop: u.hop,
        name: u.resource.to_owned(),
        unit,
        value,
    }
}

/// Every metric of RFC 4737 and RFC 5236.
pub(crate) fn metrics(order: &Reordering) -> impl Iterator<Item = Row> + '_ {
    METRICS.iter().map(|column| Row {
        group: "metrics",
        hop: 0,
        name: number::bare_name(&column.field),
        unit: number::bare_unit(&column.field),
        value: number::bare(column.field.kind, &column.value(order)).unwrap_or(f64::NAN),
    })
}

/// The numbers of `of`, each named `prefix` and its own name, if there is a prefix.
pub(crate) fn read<'a, R>(
    group: &'static str,
    hop: u32,
    prefix: &'a str,
    columns: &'static [Column<R>],
    of: &'a R,
) -> impl Iterator<Item = Row> + 'a {
    columns.iter().map(move |column| Row {
        group,
        hop,
        name: match prefix {
            "" => column.field.name.to_owned(),
            prefix => format!("{prefix}, {}", column.field.name),
        },
        unit: column.field.unit,
        value: column.value(of).number().unwrap_or(f64::NAN),
    })
}
