//! L. Schulte, A. Zimmermann, P. Nanjundaswamy, L. Eggert, J. Manner, "I'll be a bit late - packet reordering in
//! mobile networks", Journal of Communications and Networks 19(6), 2017, section VI: TCP-aNCR beside TCP-NCR and
//! Linux 3.19 over an emulated path that delays a share of the packets by an additional fixed time.
//!
//! Each reading is a number of the first flow of a run between two times, such as the greatest duplicate-ACK
//! threshold. The additional delay of a retransmission is the time since its first transmission minus the round-trip
//! time that the sender had measured then: without any additional waiting, a loss is detected one round trip after
//! the segment was sent. Figure 16 gives it in round-trip times.

mod population;
mod study;

use std::collections::BTreeMap;

use inorder_scenario::Cell;
use inorder_sim::{EventKind, RunResult, Sample};
use inorder_tcp::CaState;
use serde::Deserialize;

use super::Named;
use crate::campaign;
use crate::data::fill;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting};

pub(super) const REDUCTIONS: &[Named] = &[
    ("mobile-flows", flows),
    ("mobile-population", population::population),
];

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Flows {
    scenario: String,
    repetitions: u32,
    #[serde(default)]
    set: Vec<String>,
    /// Overrides of a quick run.
    #[serde(default)]
    quick: Vec<String>,
    /// The cells to run: axes and values; all values of an axis that is not named.
    #[serde(default)]
    only: BTreeMap<String, Vec<String>>,
    /// Additional restriction of a quick run.
    #[serde(default)]
    quick_only: BTreeMap<String, Vec<String>>,
    /// The name of a cell; `{axis}` is replaced by its value.
    cell: String,
    /// End of the run, seconds.
    end_s: f64,
    quick_end_s: f64,
    /// Values are read between each two of these times, seconds, which are appended to the cell's name.
    #[serde(default)]
    times_s: Vec<f64>,
    #[serde(default)]
    between: Vec<Reading>,
    #[serde(default)]
    reading: Vec<Reading>,
}

/// A number that is read from each run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    of: Of,
    heading: String,
    /// Text appended to the name of the cell.
    part: Option<String>,
    /// Start (below zero: seconds before the end) and end of the interval, seconds; otherwise the whole run.
    #[serde(default)]
    from_s: f64,
    quick_from_s: Option<f64>,
    to_s: Option<f64>,
    /// Used only by claims, not shown in tables.
    #[serde(default)]
    hidden: bool,
}

/// `tcp_max_reordering`, segments.
const LINUX_BOUND: f64 = 300.0;

/// The numbers that can be read from a flow between two times.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Of {
    GreatestThreshold,
    /// 1 if the threshold comes to Linux's bound (`tcp_max_reordering`), otherwise 0.
    ThresholdAtLinuxBound,
    ThresholdInDisorder,
    MeanWindow,
    GreatestWindow,
    /// First retransmissions in fast recovery.
    Retransmissions,
    ExtraDelayMs,
    /// In round-trip times, over all flows.
    ExtraDelayRtt,
    RttMs,
    /// In the whole run after its warm-up: spurious retransmissions.
    Spurious,
    /// Spurious retransmissions per minute, in the whole run after its warm-up.
    SpuriousPerMinute,
    /// Mbit/s.
    Throughput,
    /// Number of changes of the threshold in the whole run, and number of decreases.
    ThresholdSteps,
    ThresholdFalls,
}

fn flows(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Flows = setting.read()?;
    let context = setting.context;
    let mut sets = wanted.set.clone();
    if context.quick {
        sets.extend(wanted.quick.iter().cloned());
    }
    let mut cells = campaign::load(context, &wanted.scenario, &sets)?;
    cells.retain(|cell| wanted.keeps(cell, context.quick));
    let watch = |run: &RunResult| -> Vec<Watched> {
        (0..run.flows.len()).map(|n| Watched::new(run, n)).collect()
    };
    let repetitions = context.repetitions_or(wanted.repetitions);
    let runs = campaign::run(context, &cells, repetitions, watch)?;
    let mut all = Quantities::default();
    for (cell, runs) in cells.iter().zip(&runs) {
        wanted.read_cell(
            &fill(&wanted.cell, &cell.labels),
            runs,
            context.quick,
            &mut all,
        );
    }
    Ok(all)
}

impl Flows {
    fn keeps(&self, cell: &Cell, quick: bool) -> bool {
        let among = |(axis, values): (&String, &Vec<String>)| {
            let label = cell.label(axis);
            label.is_some_and(|label| values.iter().any(|value| value == label))
        };
        self.only.iter().all(among) && (!quick || self.quick_only.iter().all(among))
    }

    fn read_cell(&self, cell: &str, runs: &[Vec<Watched>], quick: bool, all: &mut Quantities) {
        let end_s = if quick { self.quick_end_s } else { self.end_s };
        for pair in self.times_s.windows(2) {
            let [from_s, to_s] = [pair[0], pair[1]];
            if to_s > end_s {
                break;
            }
            let cell = format!("{cell}, {from_s} to {to_s} s");
            for reading in &self.between {
                let value = reading.of.value(runs, from_s, to_s, end_s);
                all.show(&cell, &reading.heading, value);
            }
        }
        for reading in &self.reading {
            let from_s = match reading.quick_from_s {
                Some(from_s) if quick => from_s,
                _ if reading.from_s < 0.0 => end_s + reading.from_s,
                _ => reading.from_s,
            };
            let to_s = reading.to_s.unwrap_or(end_s);
            let part = reading.part.as_ref();
            let cell = part.map_or(cell.to_owned(), |part| format!("{cell}, {part}"));
            let value = reading.of.value(runs, from_s, to_s, end_s);
            if reading.hidden {
                all.keep(&cell, &reading.heading, value);
            } else {
                all.show(&cell, &reading.heading, value);
            }
        }
    }
}

impl Of {
    /// The value in each repetition; `end_s` is the duration of a run.
    fn value(self, runs: &[Vec<Watched>], from_s: f64, to_s: f64, end_s: f64) -> Value {
        let of = |flows: &Vec<Watched>| {
            let first = flows.first()?;
            match self {
                Of::GreatestThreshold => first.greatest_threshold(from_s, to_s),
                Of::ThresholdAtLinuxBound => first
                    .greatest_threshold(from_s, to_s)
                    .map(|threshold| f64::from(threshold >= LINUX_BOUND)),
                Of::ThresholdInDisorder => first.threshold_in_disorder(from_s, to_s),
                Of::MeanWindow => first.mean_window(from_s, to_s),
                Of::GreatestWindow => first.greatest_window(from_s, to_s),
                Of::Retransmissions => Some(first.retransmissions(from_s, to_s)),
                Of::ExtraDelayMs => first.extra_delay_ms(from_s, to_s),
                Of::ExtraDelayRtt => {
                    mean(flows.iter().flat_map(|w| w.extra_delays_rtt(from_s, to_s)))
                }
                Of::RttMs => first.rtt_ms(from_s, to_s),
                Of::Spurious => Some(first.spurious as f64),
                Of::SpuriousPerMinute => Some(first.spurious as f64 * 60.0 / end_s),
                Of::Throughput => Some(first.throughput),
                Of::ThresholdSteps => Some(first.threshold_steps() as f64),
                Of::ThresholdFalls => Some(first.threshold_falls() as f64),
            }
        };
        let values = runs.iter().map(of).collect();
        match self {
            Of::Retransmissions
            | Of::Spurious
            | Of::ThresholdSteps
            | Of::ThresholdFalls
            | Of::ThresholdAtLinuxBound => Value::Counted { values, event: 1.0 },
            Of::SpuriousPerMinute => Value::Counted {
                values,
                event: 60.0 / end_s,
            },
            _ => Value::Repeated(values),
        }
    }
}

/// State and retransmissions of a flow over time, seconds.
#[derive(Debug, Clone)]
struct Watched {
    /// Samples of the state every 10 ms.
    samples: Vec<Sample>,
    /// Every change of the duplicate-ACK threshold: time and number of segments.
    thresholds: Vec<(f64, u32)>,
    /// First retransmissions in fast recovery.
    again: Vec<Again>,
    /// Number of spurious retransmissions.
    spurious: u64,
    /// Payload, Mbit/s.
    throughput: f64,
}

/// The first retransmission of a segment.
#[derive(Debug, Clone, Copy)]
struct Again {
    at_s: f64,
    /// Time since its first transmission, minus the round-trip time, ns.
    extra_ns: f64,
    rtt_ns: f64,
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

impl Watched {
    /// Flow `number` of a run with events and samples.
    fn new(run: &RunResult, number: usize) -> Self {
        let samples = run.samples.iter();
        let mut watched = Watched {
            samples: samples
                .filter(|s| s.flow as usize == number)
                .copied()
                .collect(),
            thresholds: Vec::new(),
            again: Vec::new(),
            spurious: 0,
            throughput: 0.0,
        };
        if let Some(flow) = run.flows.get(number) {
            watched.spurious = flow.counts.spurious;
            watched.throughput = flow.throughput_bits_per_s() / 1e6;
            watched.read(&flow.events);
        }
        watched
    }

    fn read(&mut self, events: &[inorder_sim::SenderEvent]) {
        let mut rtt_ns = 0.0;
        for event in events {
            match &event.kind {
                EventKind::Window(now) => {
                    rtt_ns = now.srtt as f64;
                    let last = self.thresholds.last().map(|(_, threshold)| *threshold);
                    if last != Some(now.dupthresh) {
                        self.thresholds
                            .push((seconds(event.time_ns), now.dupthresh));
                    }
                }
                EventKind::Retransmission(segment)
                    if segment.transmissions == 2
                        && segment.state == CaState::Recovery
                        && rtt_ns > 0.0 =>
                {
                    self.again.push(Again {
                        at_s: seconds(event.time_ns),
                        extra_ns: segment.delay as f64 - rtt_ns,
                        rtt_ns,
                    });
                }
                _ => {}
            }
        }
    }

    fn between(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = &Sample> {
        let inside = move |s: &&Sample| (from_s..to_s).contains(&seconds(s.time_ns));
        self.samples.iter().filter(inside)
    }

    /// Greatest duplicate-ACK threshold in force between two times; `None` before the connection opens.
    fn greatest_threshold(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let changes = self.thresholds.iter();
        let before = changes.clone().rev().find(|(at, _)| *at < from_s);
        let inside = changes.filter(|(at, _)| (from_s..to_s).contains(at));
        let all = before.into_iter().chain(inside).map(|(_, t)| f64::from(*t));
        all.reduce(f64::max)
    }

    /// Mean threshold while a segment is missing but not considered lost, over the samples between two times.
    fn threshold_in_disorder(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let disorder = |s: &&Sample| s.state == CaState::Disorder;
        mean(
            self.between(from_s, to_s)
                .filter(disorder)
                .map(|s| f64::from(s.dupthresh)),
        )
    }

    /// Mean window, segments.
    fn mean_window(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.between(from_s, to_s).map(|s| f64::from(s.cwnd)))
    }

    /// Greatest window, segments.
    fn greatest_window(&self, from_s: f64, to_s: f64) -> Option<f64> {
        self.between(from_s, to_s)
            .map(|s| f64::from(s.cwnd))
            .reduce(f64::max)
    }

    /// Segments retransmitted between two times.
    fn retransmissions(&self, from_s: f64, to_s: f64) -> f64 {
        self.again
            .iter()
            .filter(|a| (from_s..to_s).contains(&a.at_s))
            .count() as f64
    }

    fn delays(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = &Again> {
        let inside = move |a: &&Again| (from_s..to_s).contains(&a.at_s);
        self.again.iter().filter(inside)
    }

    /// Mean additional delay of retransmissions, ms.
    fn extra_delay_ms(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.delays(from_s, to_s).map(|a| a.extra_ns / 1e6))
    }

    /// Additional delays in units of the round-trip time at that moment.
    fn extra_delays_rtt(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = f64> {
        self.delays(from_s, to_s).map(|a| a.extra_ns / a.rtt_ns)
    }

    /// Mean smoothed round-trip time, ms.
    fn rtt_ms(&self, from_s: f64, to_s: f64) -> Option<f64> {
        mean(self.between(from_s, to_s).map(|s| s.srtt_ns as f64 / 1e6))
    }

    /// Changes of the threshold.
    fn threshold_steps(&self) -> usize {
        self.thresholds.len().saturating_sub(1)
    }

    /// Number of decreases of the threshold.
    fn threshold_falls(&self) -> usize {
        self.thresholds
            .windows(2)
            .filter(|pair| pair[1].1 < pair[0].1)
            .count()
    }
}

/// Mean of some numbers; `None` without numbers.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_threshold_holds_until_the_next() {
        let watched = Watched {
            samples: Vec::new(),
            thresholds: vec![(0.1, 3), (2.0, 40), (5.0, 20)],
            again: vec![
                Again {
                    at_s: 1.0,
                    extra_ns: 20e6,
                    rtt_ns: 40e6,
                },
                Again {
                    at_s: 9.0,
                    extra_ns: 40e6,
                    rtt_ns: 40e6,
                },
            ],
            spurious: 0,
            throughput: 0.0,
        };
        assert_eq!(watched.greatest_threshold(3.0, 4.0), Some(40.0));
        assert_eq!(watched.greatest_threshold(6.0, 9.0), Some(20.0));
        assert_eq!(watched.greatest_threshold(0.0, 0.1), None);
        assert_eq!(
            (watched.threshold_steps(), watched.threshold_falls()),
            (2, 1)
        );
        assert_eq!(
            watched.extra_delays_rtt(0.0, 5.0).collect::<Vec<_>>(),
            [0.5]
        );
        assert_eq!(watched.extra_delay_ms(0.0, 10.0), Some(30.0));
        assert_eq!(watched.extra_delay_ms(2.0, 3.0), None);
    }

    #[test]
    fn claims_are_about_what_is_measured() {
        let findings = testing::quick("mobile", 2);
        assert_eq!(findings.claims.len(), 77, "{:#?}", findings.claims);
        let cap = ["figure-14/cap-late"];
        let not_held = testing::other_than(crate::Verdict::Held, &findings, &cap);
        assert_eq!(not_held, cap, "{:#?}", findings.claims);
    }
}
