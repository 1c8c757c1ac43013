//! Figure 5: processor cycles at the sender and at the receiver, with and without sorting, with and without
//! reordering.
//!
//! The simulator counts the operations, and [`prices`](super::prices) contains the cost of each. The paper also
//! counts instructions, which are not modelled. Its experiments are designed to have the same throughput, so the
//! comparison uses cycles per segment of payload, measured when the line is filled: our A-Sender needs more time for
//! that than the paper's (see table 4).

use inorder_sim::RunResult;
use serde::Deserialize;

use super::prices::{
    DUPLICATE_ACKS, SLOW_PATH, Vector, bill, corners, receiver_prices, receiver_work,
    sender_prices, sender_work,
};
use super::{card, throughput};
use crate::campaign;
use crate::interval::Value;
use crate::printed::Printed;
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting, file};

/// Cycles represented by one sample of the profiler (caption of the figure).
const SAMPLE: f64 = 100_000.0;
/// Payload of a full segment, bits.
const SEGMENT: f64 = 1448.0 * 8.0;
/// Duration of the paper's runs, seconds, to which its counts per Mb/s refer.
const PRINTED_RUN_S: f64 = 50.0;
/// Number of full segments in such a run at 1 Mb/s.
const SEGMENTS_PER_MBPS: f64 = 1e6 * PRINTED_RUN_S / SEGMENT;

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cycles {
    scenario: String,
    repetitions: u32,
    /// Overrides of every run.
    set: Vec<String>,
    /// Overrides of runs with and without reordering.
    reordered: String,
    in_order: String,
    /// Time until the line is filled, seconds, which is not counted. Counting then lasts two fifths of it.
    fill_s: u32,
    quick_fill_s: u32,
    /// Throughput of the figure's runs, Mb/s.
    line_mbps: f64,
    /// The table with printed duplicate acknowledgements, and its rows for this configuration.
    table: String,
    table_sender: String,
    table_variation_pct: f64,
    point: Vec<Group>,
}

/// A group of the figure's bars.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    label: String,
    streams: u32,
    reordering: bool,
    sack: bool,
    /// Whether a quick run includes it.
    quick: bool,
}

/// The operations of a run.
#[derive(Clone)]
struct Load {
    /// Mb/s.
    throughput: f64,
    /// Operations per full segment of payload, by [`Machine`].
    work: [Vector; 2],
}

/// The machine whose processor is considered.
#[derive(Clone, Copy)]
struct Machine {
    name: &'static str,
    /// Index in [`Load::work`].
    at: usize,
    prices: fn() -> Vector,
}

const MACHINES: [Machine; 2] = [
    Machine {
        name: "sender",
        at: 0,
        prices: sender_prices,
    },
    Machine {
        name: "receiver",
        at: 1,
        prices: receiver_prices,
    },
];

/// A group's runs without and with sorting, repetition by repetition.
struct Point {
    group: Group,
    none: Vec<Load>,
    srpic: Vec<Load>,
}

impl Cycles {
    fn overrides(&self, group: &Group, quick: bool) -> Vec<String> {
        let fill = if quick {
            self.quick_fill_s
        } else {
            self.fill_s
        };
        let reordering = if group.reordering {
            &self.reordered
        } else {
            &self.in_order
        };
        let mut sets = self.set.clone();
        sets.extend([
            format!("flow.count={}", group.streams),
            format!("flow.sender.sack={}", group.sack),
            reordering.clone(),
            format!("run.warm_up={fill} s"),
            format!("run.duration={} s", fill + fill * 2 / 5),
        ]);
        sets
    }

    /// Printed DupAcksIn per Mb/s for this number of streams, without and with sorting.
    fn printed_dupacks(&self, table: &Printed, streams: u32) -> Option<[(f64, f64); 2]> {
        let row = table.rows().find(|row| {
            let cell = (row.number("streams"), row.number("variation_pct"));
            let wanted = (Some(f64::from(streams)), Some(self.table_variation_pct));
            row.text("sender") == Some(&self.table_sender) && cell == wanted
        })?;
        Some([row.value("dupack_none")?, row.value("dupack_srpic")?])
    }
}

impl Point {
    /// These runs, but with the number of packets on the receiver's slow path that corresponds to the printed
    /// duplicate acknowledgements: each such packet causes one.
    fn with_dupacks(&self, [none, srpic]: [(f64, f64); 2]) -> Self {
        let with = |loads: &[Load], (per_mbps, _): (f64, f64)| {
            let mut loads = loads.to_vec();
            for load in &mut loads {
                load.work[1][SLOW_PATH] = per_mbps / SEGMENTS_PER_MBPS;
            }
            loads
        };
        Self {
            group: self.group.clone(),
            none: with(&self.none, none),
            srpic: with(&self.srpic, srpic),
        }
    }

    /// Cycles with sorting divided by cycles without, for each run.
    fn ratios(&self, machine: Machine, prices: &[f64]) -> Value {
        let cycles = |load: &Load| bill(&load.work[machine.at], prices);
        let pairs = self.none.iter().zip(&self.srpic);
        Value::of(pairs.map(|(none, srpic)| cycles(srpic) / cycles(none)))
    }

    /// The ratios at all prices of [`corners`].
    fn keep_corners(&self, label: &str, all: &mut Quantities) {
        for machine in MACHINES {
            let prices = (machine.prices)();
            for (n, corner) in corners(&prices).enumerate() {
                let cell = format!("{label}, prices {n}");
                all.keep(&cell, &machine.ratio(), self.ratios(machine, &corner));
            }
        }
    }
}

impl Machine {
    fn ratio(self) -> String {
        format!("{}, with SRPIC relative to without", self.name)
    }
}

fn measured(run: &RunResult) -> Option<Load> {
    let (at_sender, at_receiver) = (card(run, "sender card")?, card(run, "receiver card")?);
    let bytes: u64 = run.flows.iter().map(|f| f.counts.delivered_bytes).sum();
    let segments = bytes as f64 * 8.0 / SEGMENT;
    let mut work = [sender_work(run, at_sender), receiver_work(at_receiver)];
    for count in work.iter_mut().flatten() {
        *count /= segments;
    }
    Some(Load {
        throughput: throughput(run),
        work,
    })
}

fn points(setting: &Setting<'_>, wanted: &Cycles) -> Result<Vec<Point>, ExperimentError> {
    let context = setting.context;
    let groups = wanted.point.iter();
    let groups: Vec<&Group> = groups.filter(|g| g.quick || !context.quick).collect();
    let mut cells = Vec::new();
    for group in &groups {
        let sets = wanted.overrides(group, context.quick);
        cells.extend(campaign::load(context, &wanted.scenario, &sets)?);
    }
    let repetitions = context.repetitions_or(wanted.repetitions);
    let runs = campaign::run(context, &cells, repetitions, measured)?;
    let mut loads = runs
        .into_iter()
        .map(|runs| runs.into_iter().flatten().collect());
    let points = groups.into_iter().map(|group| Point {
        group: group.clone(),
        none: loads.next().unwrap_or_default(),
        srpic: loads.next().unwrap_or_default(),
    });
    Ok(points.collect())
}

pub(super) fn cycles(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Cycles = setting.read()?;
    let table = Printed::parse(file(&wanted.table)?)?;
    let mut all = Quantities::default();
    for point in &points(setting, &wanted)? {
        let group = &point.group;
        compare(point, wanted.line_mbps, &mut all);
        if group.reordering && !group.sack {
            let printed = wanted.printed_dupacks(&table, group.streams);
            compare_dupacks(point, printed, &mut all);
            if let Some(printed) = printed {
                let label = format!("{}, as printed", group.label);
                let point = point.with_dupacks(printed);
                point.keep_corners(&label, &mut all);
                for machine in MACHINES {
                    let ratios = point.ratios(machine, &(machine.prices)());
                    all.keep(&label, &machine.ratio(), ratios);
                }
            }
        }
    }
    Ok(all)
}

/// Loads per segment, and in the figure's unit: for the paper's runs at `line` Mb/s.
fn compare(point: &Point, line: f64, all: &mut Quantities) {
    let label = &point.group.label;
    let segments = line * SEGMENTS_PER_MBPS;
    for (sorter, loads) in [("none", &point.none), ("srpic", &point.srpic)] {
        let cell = format!("{label}, {sorter}");
        let rates = Value::of(loads.iter().map(|load| load.throughput));
        all.show(&cell, "throughput, Mb/s", rates);
        for Machine { name, at, prices } in MACHINES {
            let prices = prices();
            let cycles = loads.iter().map(|l| bill(&l.work[at], &prices));
            let samples = cycles.clone().map(|c| c * segments / SAMPLE / 1e3);
            all.show(
                &cell,
                &format!("{name}, cycles a segment"),
                Value::of(cycles),
            );
            all.show(
                &cell,
                &format!("{name}, thousand samples"),
                Value::of(samples),
            );
        }
    }
    point.keep_corners(label, all);
    for machine in MACHINES {
        let ratios = point.ratios(machine, &(machine.prices)());
        all.show(label, &machine.ratio(), ratios);
    }
}

/// Duplicate acknowledgements next to those of the table, if it has the same configuration.
fn compare_dupacks(point: &Point, printed: Option<[(f64, f64); 2]>, all: &mut Quantities) {
    let sorters = [("none", &point.none), ("srpic", &point.srpic)];
    for (n, (sorter, loads)) in sorters.into_iter().enumerate() {
        let per_mbps = |load: &Load| load.work[0][DUPLICATE_ACKS] * SEGMENTS_PER_MBPS;
        let cell = format!("{}, {sorter}", point.group.label);
        let measure = "DupAcksIn per Mb/s";
        all.show(&cell, measure, Value::of(loads.iter().map(per_mbps)));
        if let Some(printed) = printed {
            let (value, half_width) = printed[n];
            all.print(&cell, measure, (value, Some(half_width)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet on the slow path costs the receiver 3,100 or 2,500 additional cycles.
    #[test]
    fn loads_are_compared_at_all_prices() {
        let load = |slow: f64| {
            let mut receiver = vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
            receiver[SLOW_PATH] = slow;
            Load {
                throughput: 940.0,
                work: [vec![0.0; 10], receiver],
            }
        };
        let point = Point {
            group: Group {
                label: "1R+".to_owned(),
                streams: 1,
                reordering: true,
                sack: false,
                quick: true,
            },
            none: vec![load(0.2)],
            srpic: vec![load(0.4)],
        };
        let mut all = Quantities::default();
        point.keep_corners("1R+", &mut all);
        let measure = MACHINES[1].ratio();
        let prices = (MACHINES[1].prices)();
        let ratio = point.ratios(MACHINES[1], &prices).shown().value;
        assert!((ratio - 4100.0 / 3600.0).abs() < 1e-9, "{ratio}");
        assert_eq!(all.matching("1R+, prices *", &measure).len(), 1 << 7);
        // 1601.1 of 4316 segments of 1 Mb/s in 50 s.
        assert!((1601.1 / SEGMENTS_PER_MBPS - 0.371).abs() < 1e-3);
        let printed = point.with_dupacks([(1601.1, 0.0), (744.1, 0.0)]);
        assert!((printed.none[0].work[1][SLOW_PATH] - 0.371).abs() < 1e-3);
    }
}
