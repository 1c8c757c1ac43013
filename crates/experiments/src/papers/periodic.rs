//! Y. Fukuda, D. Nobayashi, T. Ikenaga, "Performance evaluation of TCP variants with packet reordering", ICN 2018.
//!
//! The paper's simulator is an ns-3 of that time with the CUBIC of Levasseur and others (2014). Settings that the paper does not
//! give are that simulator's defaults; only the acknowledgement of every segment is derived from a result, the throughput without
//! reordering (see the scenario file). Nothing is random: a cell is run once.

use std::collections::BTreeMap;

use inorder_scenario::Cell;
use inorder_sim::{RunResult, Sample};
use serde::Deserialize;

use super::Named;
use crate::campaign;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting};

pub(super) const REDUCTIONS: &[Named] = &[
    ("periodic-intervals", intervals),
    ("periodic-traces", traces),
];

/// Bytes of an IP packet with a full segment.
const PACKET: u64 = 1500;

/// A run of one TCP at one reorder interval.
#[derive(Debug, Clone)]
struct Outcome {
    tcp: String,
    /// RI, packets; 0 without reordering.
    interval: u64,
    /// Payload throughput, Mbit/s.
    throughput: f64,
    recoveries: u64,
    /// Payload of a full segment, bytes: 12 less with timestamps.
    payload: u64,
    /// Samples of the state every 10 ms.
    samples: Vec<Sample>,
}

impl Outcome {
    fn cell(&self) -> String {
        format!("{}, RI {}", self.tcp, self.interval)
    }
}

/// Runs the cells of the scenario, changed by `change`.
fn outcomes(
    context: &Context<'_>,
    scenario: &str,
    change: impl Fn(Cell) -> Vec<Cell>,
) -> Result<Vec<Outcome>, ExperimentError> {
    let cells = campaign::load(context, scenario, &[])?;
    let cells: Vec<Cell> = cells.into_iter().flat_map(change).collect();
    let runs = campaign::run(context, &cells, 1, measured)?;
    let outcome = |(cell, mut runs): (&Cell, Vec<_>)| {
        let (throughput, recoveries, samples) = runs.pop()?;
        let label = |axis| cell.label(axis).unwrap_or_default().to_owned();
        Some(Outcome {
            tcp: label("tcp"),
            interval: interval(cell),
            throughput,
            recoveries,
            payload: payload(cell),
            samples,
        })
    };
    Ok(cells.iter().zip(runs).filter_map(outcome).collect())
}

fn measured(run: &RunResult) -> (f64, u64, Vec<Sample>) {
    let flow = run.flows.first();
    (
        flow.map_or(f64::NAN, |flow| flow.throughput_bits_per_s() / 1e6),
        flow.map_or(0, |flow| flow.counts.recoveries),
        run.samples.clone(),
    )
}

/// Payload of a full segment of the cell's sender, bytes.
fn payload(cell: &Cell) -> u64 {
    let sender = cell.config.flows.first().map(|flow| &flow.sender);
    let stamped = sender.is_some_and(|sender| {
        let of_profile = sender.profile == "ns-3.26";
        sender.timestamps.unwrap_or(of_profile)
    });
    PACKET - if stamped { 52 } else { 40 }
}

/// RI of a cell.
fn interval(cell: &Cell) -> u64 {
    let label = cell.label("forward.bottleneck.interval");
    label.and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn is_one_of(cell: &Cell, axis: &str, labels: &[String]) -> bool {
    let label = cell.label(axis);
    label.is_some_and(|label| labels.iter().any(|known| known == label))
}

/// Short and long reorder intervals, packets: far below those that last a round trip (58), and about and above them.
const SHORT: (u64, u64) = (4, 15);
const LONG: (u64, u64) = (50, 80);

/// Throughput and recoveries over the reorder interval.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Intervals {
    scenario: String,
    tcps: Vec<String>,
    /// Intervals of a quick run.
    quick: Vec<u64>,
    /// Measures that tables show; claims may use all measures.
    shown: Vec<String>,
}

fn intervals(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Intervals = setting.read()?;
    let quick = setting.context.quick;
    let runs = outcomes(setting.context, &wanted.scenario, |cell| {
        let at = interval(&cell);
        let due = !quick || at == 0 || wanted.quick.contains(&at);
        let kept = due && is_one_of(&cell, "tcp", &wanted.tcps);
        if kept { vec![cell] } else { Vec::new() }
    })?;
    let mut all = Quantities::default();
    let mut add = |cell: &str, measure: &str, value: f64| {
        if wanted.shown.iter().any(|name| name == measure) {
            all.show(cell, measure, Value::Exact(value));
        } else {
            all.keep(cell, measure, Value::Exact(value));
        }
    };
    for measure in ["normalized throughput", "fast recoveries"] {
        for run in runs.iter().filter(|run| run.interval > 0) {
            let value = match measure {
                "fast recoveries" => run.recoveries as f64,
                _ => run.throughput / without_reordering(&runs, run),
            };
            add(&run.cell(), measure, value);
        }
    }
    for run in runs.iter().filter(|run| run.interval == 0) {
        let cell = run.tcp.clone();
        let measure = "throughput without reordering, Mb/s";
        let with_headers = run.throughput * PACKET as f64 / run.payload as f64;
        add(&cell, measure, run.throughput);
        add(
            &format!("{cell}, with IP and TCP headers"),
            measure,
            with_headers,
        );
        for (cell, of) in [("short RI", SHORT), ("long RI", LONG)] {
            let recoveries = runs
                .iter()
                .filter(|other| other.tcp == run.tcp && (of.0..=of.1).contains(&other.interval));
            let all: Vec<f64> = recoveries.map(|run| run.recoveries as f64).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            add(
                &format!("{}, {cell}", run.tcp),
                "mean fast recoveries",
                mean,
            );
        }
    }
    Ok(all)
}

/// Throughput of the same TCP without reordering.
fn without_reordering(runs: &[Outcome], run: &Outcome) -> f64 {
    let same = |other: &&Outcome| other.tcp == run.tcp && other.interval == 0;
    let alone = runs.iter().find(same);
    alone.map_or(f64::NAN, |alone| alone.throughput)
}

/// Congestion windows over time at one reorder interval.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Traces {
    scenario: String,
    interval: u64,
    /// The figure that shows each TCP.
    figures: BTreeMap<String, String>,
}

fn traces(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Traces = setting.read()?;
    let runs = outcomes(setting.context, &wanted.scenario, |cell| {
        let kept = cell
            .label("tcp")
            .is_some_and(|tcp| wanted.figures.contains_key(tcp))
            && interval(&cell) == wanted.interval;
        if kept { vec![cell] } else { Vec::new() }
    })?;
    let mut all = Quantities::default();
    for run in &runs {
        let trace = Trace::of(run);
        if let Some(figure) = wanted.figures.get(&run.tcp) {
            trace.rows(figure, &mut all);
        }
        trace.shape(&run.tcp, &mut all);
    }
    Ok(all)
}

const SECOND_NS: u64 = 1_000_000_000;

/// Start of the transfer: the paper's time axes start with the simulation, seconds.
const START_S: f64 = 0.2;
/// End of the simulation, seconds.
const END_S: f64 = 10.2;

/// A window over time.
struct Trace(Vec<(f64, u32)>);

impl Trace {
    fn of(outcome: &Outcome) -> Self {
        let point = |s: &Sample| (s.time_ns as f64 / SECOND_NS as f64, s.cwnd);
        let started = outcome.samples.iter().map(point);
        Trace(started.filter(|(at, _)| *at > START_S).collect())
    }

    /// Windows at times from `from_s` (included) to `to_s` (excluded).
    fn between(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = u32> + '_ {
        let inside = move |(at, _): &&(f64, u32)| *at >= from_s && *at < to_s;
        self.0.iter().filter(inside).map(|(_, cwnd)| *cwnd)
    }

    fn mean(&self, from_s: f64, to_s: f64) -> f64 {
        let all: Vec<f64> = self.between(from_s, to_s).map(f64::from).collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    fn least(&self, from_s: f64, to_s: f64) -> f64 {
        f64::from(self.between(from_s, to_s).min().unwrap_or(0))
    }

    fn greatest(&self, from_s: f64, to_s: f64) -> f64 {
        f64::from(self.between(from_s, to_s).max().unwrap_or(0))
    }

    /// Time at which the window first decreases, seconds.
    fn first_fall(&self) -> Option<f64> {
        let pair = self.0.windows(2).find(|pair| pair[1].1 < pair[0].1)?;
        Some(pair[1].0)
    }

    /// Longest time without growth between two times, seconds.
    fn longest_standstill(&self, from_s: f64, to_s: f64) -> f64 {
        let (mut since, mut longest) = (from_s, 0.0f64);
        let inside = |pair: &&[(f64, u32)]| pair[1].0 >= from_s && pair[1].0 < to_s;
        for pair in self.0.windows(2).filter(inside) {
            if pair[1].1 > pair[0].1 {
                longest = longest.max(pair[1].0 - since);
                since = pair[1].0;
            }
        }
        longest.max(to_s - since)
    }

    /// Minimum, mean and maximum of the window in every interval of two seconds.
    fn rows(&self, figure: &str, all: &mut Quantities) {
        for from in [0.0, 2.0, 4.0, 6.0, 8.0] {
            let cell = format!("{figure}, {from} to {} s", from + 2.0);
            for (measure, ours) in [
                ("least window, segments", self.least(from, from + 2.0)),
                ("mean window, segments", self.mean(from, from + 2.0)),
                ("greatest window, segments", self.greatest(from, from + 2.0)),
            ] {
                all.show(&cell, measure, Value::Exact(ours));
            }
        }
    }

    /// The quantities of the curve that the paper's text describes.
    fn shape(&self, tcp: &str, all: &mut Quantities) {
        let first_fall = self.first_fall().unwrap_or(START_S);
        for (measure, ours) in [
            (
                "least window after the first fall, segments",
                self.least(first_fall, END_S),
            ),
            (
                "least window between the first fall and 2 s, segments",
                self.least(first_fall, 2.0),
            ),
            (
                "greatest window from 2 s on, segments",
                self.greatest(2.0, END_S),
            ),
            ("greatest window, segments", self.greatest(START_S, END_S)),
            ("mean window from 2 s on, segments", self.mean(2.0, END_S)),
            ("mean window from 2 to 4 s, segments", self.mean(2.0, 4.0)),
            ("mean window from 8 to 10 s, segments", self.mean(8.0, 10.0)),
            (
                "longest time without growth from 2 to 8 s, s",
                self.longest_standstill(2.0, 8.0),
            ),
        ] {
            all.keep(tcp, measure, Value::Exact(ours));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict::Held;
    use crate::testing;

    #[test]
    fn a_trace_is_read_in_seconds() {
        let trace = Trace(vec![
            (1.0, 10),
            (2.0, 11),
            (3.0, 5),
            (4.0, 5),
            (5.0, 6),
            (6.0, 6),
        ]);
        assert_eq!(trace.first_fall(), Some(3.0));
        assert_eq!(trace.longest_standstill(2.0, 7.0), 3.0);
        assert_eq!(
            (trace.least(2.0, 6.0), trace.greatest(2.0, 6.0)),
            (5.0, 11.0)
        );
        assert_eq!(trace.mean(3.0, 6.0), 16.0 / 3.0);
    }

    #[test]
    fn a_quick_run_fails_nothing_and_holds_what_does_not_depend_on_the_grid() {
        let findings = testing::quick("periodic", 1);
        let held = [
            "figure-3/alone",
            "figure-3/ri-100",
            "figure-4/below-100-cubic",
            "figure-4/ri-100-newreno",
            "figure-5/grows",
            "figure-6/collapse",
            "figure-11/axis",
            "future-work/tcp-pr",
        ];
        let missing = testing::other_than(Held, &findings, &held);
        assert!(missing.is_empty(), "{missing:?}: {:#?}", findings.claims);
        assert_eq!(findings.count(crate::Verdict::Failed), 0);
    }
}
