//! Figure 6: an interactive flow together with bulk flows; its round-trip times as measured by its TCP, and the time
//! that the receiver's softirq works in a cycle.

use std::collections::{BTreeMap, BTreeSet};

use inorder_sim::{EventKind, FlowResult, RunResult};
use serde::Deserialize;

use super::{card, throughput};
use crate::campaign;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting};

const PACKET_TIME: &str = "receiver_card.packet_time";
/// Interval between the ticks of the TCP clock on the third system, nanoseconds (section 4.4).
const TICK_NS: i64 = 1_000_000;

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dialogue {
    scenario: String,
    repetitions: u32,
    full: Vec<String>,
    quick: Vec<String>,
    /// Range of round-trip times whose share is counted, ticks: from, to.
    rtt_ticks: [f64; 2],
    /// Cycles of the softirq shorter than this are counted, microseconds.
    short_us: f64,
}

/// The results of a run.
#[derive(Clone)]
struct Shown {
    /// Round-trip times of the interactive flow, nanoseconds.
    rtts_ns: Vec<i64>,
    /// Number of round trips for each duration in ticks of its TCP's clock.
    ticks: BTreeMap<i64, u64>,
    /// Deciles of the time of a cycle of the receiver's softirq, microseconds rounded down.
    deciles_us: [f64; 9],
    /// Percentage of cycles shorter than the text's 20 us.
    short: f64,
    /// Payload throughput of all flows, Mb/s.
    throughput: f64,
}

/// Number of ticks of the clock between two times in nanoseconds.
fn ticks(from_ns: i64, until_ns: i64) -> i64 {
    until_ns / TICK_NS - from_ns / TICK_NS
}

fn shown(run: &RunResult, short_us: f64) -> Option<Shown> {
    let softirq = &card(run, "receiver card")?.cycle_us;
    let ssh = run.flows.iter().find(|flow| flow.name == "ssh")?;
    let mut counted = BTreeMap::new();
    let samples = rtts(ssh);
    for &(now_ns, rtt_ns) in &samples {
        *counted.entry(ticks(now_ns - rtt_ns, now_ns)).or_default() += 1;
    }
    let numbered = softirq.counts().iter().enumerate();
    let below = numbered.filter(|(us, _)| (*us as f64) < short_us);
    let below: u64 = below.map(|(_, count)| count).sum();
    let decile = |n: usize| softirq.quantile((n + 1) as f64 / 10.0) as f64;
    Some(Shown {
        rtts_ns: samples.into_iter().map(|(_, rtt)| rtt).collect(),
        ticks: counted,
        deciles_us: std::array::from_fn(decile),
        short: 100.0 * below as f64 / softirq.total().max(1) as f64,
        throughput: throughput(run),
    })
}

/// Time of each measurement of the round-trip time, and its result, nanoseconds.
fn rtts(flow: &FlowResult) -> Vec<(i64, i64)> {
    let measured = flow.events.iter().filter_map(|event| match event.kind {
        EventKind::Rtt(rtt_ns) => Some((event.time_ns, rtt_ns)),
        _ => None,
    });
    measured.collect()
}

impl Shown {
    fn mean_us(&self) -> f64 {
        self.rtts_ns.iter().sum::<i64>() as f64 / self.rtts_ns.len() as f64 / 1e3
    }

    /// Percentage of round trips of `low` to `high` ticks.
    fn percent(&self, low: f64, high: f64) -> f64 {
        let within = |(ticks, _): &(&i64, &u64)| (low..=high).contains(&(**ticks as f64));
        let some: u64 = self.ticks.iter().filter(within).map(|(_, n)| n).sum();
        100.0 * some as f64 / self.rtts_ns.len() as f64
    }
}

/// One speed of the softirq: runs without and with sorting, for each repetition.
struct Speed {
    label: String,
    none: Vec<Shown>,
    srpic: Vec<Shown>,
    /// Maximum waiting time of a packet of a flow that never fills a block, microseconds (section 3.3).
    bound_us: f64,
}

impl Speed {
    /// The results of each repetition, without and with sorting.
    fn value(&self, of: impl Fn(&Shown, &Shown) -> f64) -> Value {
        let pairs = self.none.iter().zip(&self.srpic);
        Value::of(pairs.map(|(none, srpic)| of(none, srpic)))
    }

    /// The durations in ticks that occurred.
    fn ticks(&self) -> BTreeSet<i64> {
        let runs = self.none.iter().chain(&self.srpic);
        runs.flat_map(|run| run.ticks.keys().copied()).collect()
    }
}

fn speeds(setting: &Setting<'_>, wanted: &Dialogue) -> Result<Vec<Speed>, ExperimentError> {
    let context = setting.context;
    let sets = if context.quick {
        &wanted.quick
    } else {
        &wanted.full
    };
    let cells = campaign::load(context, &wanted.scenario, sets)?;
    let repetitions = context.repetitions_or(wanted.repetitions);
    let reduce = |run: &RunResult| shown(run, wanted.short_us);
    let runs = campaign::run(context, &cells, repetitions, reduce)?;
    let mut speeds = Vec::new();
    for (cells, runs) in cells.chunks_exact(2).zip(runs.chunks_exact(2)) {
        let Some(card) = &cells[1].config.receiver_card else {
            continue;
        };
        let per_s = 1e9 / (card.packet_ns + card.sorter_ns) as f64;
        speeds.push(Speed {
            label: cells[1].label(PACKET_TIME).unwrap_or_default().to_owned(),
            none: runs[0].iter().flatten().cloned().collect(),
            srpic: runs[1].iter().flatten().cloned().collect(),
            bound_us: 1e6 * card.ring_packets as f64 / per_s,
        });
    }
    Ok(speeds)
}

pub(super) fn delay(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Dialogue = setting.read()?;
    let mut all = Quantities::default();
    for speed in &speeds(setting, &wanted)? {
        tell(speed, wanted.rtt_ticks, &mut all);
        compare(speed, &mut all);
    }
    Ok(all)
}

/// The quantities measured without and with sorting.
fn tell(speed: &Speed, [low, high]: [f64; 2], all: &mut Quantities) {
    for (sorter, runs) in [("none", &speed.none), ("srpic", &speed.srpic)] {
        let cell = format!("{} a packet, {sorter}", speed.label);
        let value = |of: &dyn Fn(&Shown) -> f64| Value::of(runs.iter().map(of));
        for (measure, ours) in [
            ("throughput, Mb/s", value(&|s| s.throughput)),
            ("round trip, mean, us", value(&Shown::mean_us)),
            (
                &format!("round trips of {low} ms, %"),
                value(&|s| s.percent(low, low)),
            ),
            (
                &format!("round trips of {high} ms, %"),
                value(&|s| s.percent(high, high)),
            ),
            ("softirq, median, us", value(&|s| s.deciles_us[4])),
            ("softirq, 9 of 10 within, us", value(&|s| s.deciles_us[8])),
            ("softirq shorter than 20 us, %", value(&|s| s.short)),
        ] {
            all.show(&cell, measure, ours);
        }
        let either = format!("round trips of {low} or {high} ms, %");
        all.keep(&cell, &either, value(&|s| s.percent(low, high)));
    }
}

/// Compares the two curves of each figure point by point, and the delay that sorting adds. The greatest distance
/// between two curves of single runs is not used, because it grows with their scatter.
fn compare(speed: &Speed, all: &mut Quantities) {
    let cell = |point: &str| format!("{} a packet, {point}", speed.label);
    for tick in speed.ticks() {
        let below = |shown: &Shown| shown.percent(0.0, tick as f64);
        let apart = speed.value(|none, srpic| below(srpic) - below(none));
        let measure = "share of the round trips, with SRPIC less without, points";
        all.keep(&cell(&format!("up to {tick} ms")), measure, apart);
    }
    for n in 0..9 {
        let apart = speed.value(|none, srpic| srpic.deciles_us[n] - none.deciles_us[n]);
        let measure = "softirq, with SRPIC less without, us";
        all.keep(&cell(&format!("decile {}", n + 1)), measure, apart);
    }
    let added = |none: &Shown, srpic: &Shown| srpic.mean_us() - none.mean_us();
    let measure = "mean round trip, with SRPIC less without, us";
    all.keep(&cell("delay"), measure, speed.value(added));
    let measure = "mean round trip, with SRPIC less without, share of the ring's bound";
    let share = speed.value(|none, srpic| added(none, srpic) / speed.bound_us);
    all.keep(&cell("delay"), measure, share);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ticks: &[(i64, u64)], decile_us: f64) -> Shown {
        Shown {
            rtts_ns: vec![5_300_000; ticks.iter().map(|(_, n)| *n as usize).sum()],
            ticks: ticks.iter().copied().collect(),
            deciles_us: [decile_us; 9],
            short: 100.0,
            throughput: 940.0,
        }
    }

    #[test]
    fn a_round_trip_is_counted_in_ticks_of_the_clock() {
        // An interval of 5.3 ms contains five ticks if it starts at 0.1 ms, and six if it starts at 0.9 ms.
        assert_eq!(ticks(100_000, 5_400_000), 5);
        assert_eq!(ticks(900_000, 6_200_000), 6);
    }

    #[test]
    fn curves_are_compared_point_by_point() {
        let (a, b) = (
            of(&[(5, 70), (6, 30)], 8.0),
            of(&[(5, 60), (6, 39), (7, 1)], 9.0),
        );
        assert_eq!((b.percent(5.0, 6.0), b.mean_us()), (99.0, 5300.0));
        let speed = Speed {
            label: "1 us".to_owned(),
            none: vec![a],
            srpic: vec![b],
            bound_us: 1.0,
        };
        let mut all = Quantities::default();
        compare(&speed, &mut all);
        let at =
            |cell: &str, measure: &str| all.get(cell, measure).expect("told").value.shown().value;
        let share = "share of the round trips, with SRPIC less without, points";
        assert!((at("1 us a packet, up to 5 ms", share) + 10.0).abs() < 1e-9);
        assert!((at("1 us a packet, up to 6 ms", share) + 1.0).abs() < 1e-9);
        let softirq = "softirq, with SRPIC less without, us";
        assert_eq!(at("1 us a packet, decile 9", softirq), 1.0);
    }
}
