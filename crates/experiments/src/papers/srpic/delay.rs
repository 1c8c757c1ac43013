//! Figure 6: an interactive flow beside bulk flows; its round-trip times as its TCP counts them, and how long the
//! receiver's softirq works in a cycle.

use std::collections::BTreeMap;

use inorder_sim::{EventKind, FlowResult, RunResult};

use super::{Context, ExperimentError, Findings, Told, card, duration, throughput};
use crate::campaign::{self, File};
use crate::{Claim, Comparison, Estimate};

const ITEM: &str = "figure-6";
const DELAY: File = File {
    name: "srpic/delay.toml",
    text: include_str!("../../../../../experiments/srpic/delay.toml"),
};
const PACKET_TIME: &str = "receiver_card.packet_time";
/// The clock of the third system's TCP ticks so often, nanoseconds (section 4.4).
const TICK_NS: i64 = 1_000_000;
/// Two curves "almost totally overlap" if they are nowhere farther apart than so many points of a hundred.
const POINTS: f64 = 5.0;
/// And two lists of durations, if no decile differs by more microseconds.
const DECILE_US: f64 = 2.0;

/// What a run showed.
#[derive(Clone)]
struct Shown {
    /// Round-trip times of the interactive flow, nanoseconds.
    rtts_ns: Vec<i64>,
    /// The same in ticks of its TCP's clock: how often each came.
    ticks: BTreeMap<i64, u64>,
    /// Time of a cycle of the receiver's softirq: its deciles, microseconds rounded down.
    deciles_us: [f64; 9],
    /// Cycles shorter than the text's 20 us, percent.
    short: f64,
    /// Payload of all flows, Mb/s.
    throughput: f64,
}

/// Ticks of the clock between two times, nanoseconds.
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

/// When each round-trip time was measured, and how long it was, nanoseconds.
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

    /// Round trips of `low` to `high` ticks, percent.
    fn percent(&self, low: f64, high: f64) -> f64 {
        let within = |(ticks, _): &(&i64, &u64)| (low..=high).contains(&(**ticks as f64));
        let some: u64 = self.ticks.iter().filter(within).map(|(_, n)| n).sum();
        100.0 * some as f64 / self.rtts_ns.len() as f64
    }

    /// Greatest distance of the distribution functions of ticks, points of a hundred.
    fn distance(&self, other: &Self) -> f64 {
        let all = self.ticks.keys().chain(other.ticks.keys());
        let apart = all.map(|&tick| {
            let below = |shown: &Self| shown.percent(0.0, tick as f64);
            (below(self) - below(other)).abs()
        });
        apart.fold(0.0, f64::max)
    }

    /// Greatest difference between deciles of the softirq's time, microseconds.
    fn deciles_apart(&self, other: &Self) -> f64 {
        let pairs = self.deciles_us.iter().zip(&other.deciles_us);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}

/// A softirq's speed: runs without and with sorting, repetition by repetition.
struct Speed {
    label: String,
    none: Vec<Shown>,
    srpic: Vec<Shown>,
    /// What a packet of a flow that never fills a block waits at most, microseconds (section 3.3).
    bound_us: f64,
}

impl Speed {
    fn estimate(&self, of: impl Fn(&Shown, &Shown) -> f64) -> Estimate {
        let pairs = self.none.iter().zip(&self.srpic);
        Estimate::of(
            &pairs
                .map(|(none, srpic)| of(none, srpic))
                .collect::<Vec<_>>(),
        )
    }
}

fn speeds(context: &Context<'_>, short_us: f64) -> Result<Vec<Speed>, ExperimentError> {
    let lasting = duration(context);
    let mut sets = vec![lasting.as_str()];
    if context.quick {
        // A tenth of the time, and still hundreds of round trips.
        sets.push("flow.ssh.application.think=5 ms");
    }
    let cells = campaign::cells(context, DELAY, &sets)?;
    let repetitions = context.repetitions_or(5);
    let runs = campaign::run(context, &cells, repetitions, |run| shown(run, short_us))?;
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

pub(super) fn figure_6(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let told = Told::of("6")?;
    let [low, high, short_us] = ["rtt-low", "rtt-high", "softirq"].map(|m| told.number("all", m));
    let speeds = speeds(context, short_us)?;
    let mut findings = Findings::default();
    for speed in &speeds {
        compare(&mut findings, speed, [low, high]);
    }
    let mut claim = |id: &str, text: &str, printed: Option<f64>, ours: Estimate, held: bool| {
        let claim = Claim::new(&format!("{ITEM}/{id}"), text, ours, held);
        findings.claims.push(match printed {
            Some(value) => claim.printed(value),
            None => claim,
        });
    };
    let ours = farthest(&speeds, -1.0, |none, srpic| {
        none.percent(low, high).min(srpic.percent(low, high))
    });
    let text = "TCP counts 5 or 6 ms, with and without SRPIC (percent of the round trips, 99 and more; the least)";
    claim("rtt", text, Some(100.0), ours, ours.mean >= 99.0);
    let ours = farthest(&speeds, 1.0, Shown::distance);
    let text = "both curves of these almost totally overlap (greatest distance, points of a hundred, 5 and less)";
    claim("rtt-overlap", text, None, ours, ours.mean <= POINTS);
    let ours = farthest(&speeds, -1.0, |none, srpic| none.short.min(srpic.short));
    let text = "mostly the softirq works for less than 20 us (percent of the cycles, 90 and more; the least)";
    claim("softirq", text, None, ours, ours.mean >= 90.0);
    let ours = farthest(&speeds, 1.0, Shown::deciles_apart);
    let text = "both curves of that almost totally overlap (greatest difference of a decile, us, 2 and less)";
    claim("softirq-overlap", text, None, ours, ours.mean <= DECILE_US);
    let added = |none: &Shown, srpic: &Shown| srpic.mean_us() - none.mean_us();
    let ours = farthest(&speeds, 1.0, added);
    let bound = speeds.iter().map(|s| s.bound_us).fold(0.0, f64::max);
    let text = format!(
        "what SRPIC adds to the mean round trip stays below a millisecond, and below the ring's bound of {bound:.0} us (us)"
    );
    let within = |s: &Speed| s.estimate(added).mean < s.bound_us.min(1000.0);
    claim("delay", &text, None, ours, speeds.iter().all(within));
    findings.remarks.push("times of the softirq's packets are assumed (see experiments/srpic/delay.toml); claims are judged over all of them".to_owned());
    Ok(findings)
}

/// The speed at which something is greatest (`sign` 1) or least (`sign` -1).
fn farthest(speeds: &[Speed], sign: f64, of: impl Fn(&Shown, &Shown) -> f64) -> Estimate {
    let all = speeds.iter().map(|speed| speed.estimate(&of));
    let most = all.max_by(|a, b| (sign * a.mean).total_cmp(&(sign * b.mean)));
    most.unwrap_or(Estimate::exact(f64::NAN))
}

fn compare(findings: &mut Findings, speed: &Speed, [low, high]: [f64; 2]) {
    for (sorter, runs) in [("none", &speed.none), ("srpic", &speed.srpic)] {
        let cell = format!("{} a packet, {sorter}", speed.label);
        let mut add = |measure: &str, of: &dyn Fn(&Shown) -> f64| {
            let ours = Estimate::of(&runs.iter().map(of).collect::<Vec<_>>());
            let row = Comparison::new(ITEM, &cell, measure, None, ours);
            findings.comparisons.push(row);
        };
        add("throughput, Mb/s", &|s| s.throughput);
        add("round trip, mean, us", &Shown::mean_us);
        add(&format!("round trips of {low} ms, %"), &|s| {
            s.percent(low, low)
        });
        add(&format!("round trips of {high} ms, %"), &|s| {
            s.percent(high, high)
        });
        add("softirq, median, us", &|s| s.deciles_us[4]);
        add("softirq, 9 of 10 within, us", &|s| s.deciles_us[8]);
        add("softirq shorter than 20 us, %", &|s| s.short);
    }
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
        // 5.3 ms from 0.1 ms on see five ticks, from 0.9 ms on six.
        assert_eq!(ticks(100_000, 5_400_000), 5);
        assert_eq!(ticks(900_000, 6_200_000), 6);
    }

    #[test]
    fn curves_apart() {
        let (a, b) = (
            of(&[(5, 70), (6, 30)], 8.0),
            of(&[(5, 60), (6, 39), (7, 1)], 9.0),
        );
        assert!((a.distance(&b) - 10.0).abs() < 1e-9, "{}", a.distance(&b));
        assert_eq!(a.distance(&a), 0.0);
        assert_eq!(a.deciles_apart(&b), 1.0);
        assert_eq!((b.percent(5.0, 6.0), b.mean_us()), (99.0, 5300.0));
    }

    #[test]
    fn the_worst_speed_is_told() {
        let speed = |distance: u64| Speed {
            label: String::new(),
            none: vec![of(&[(5, 100)], 1.0)],
            srpic: vec![of(&[(5, 100 - distance), (6, distance)], 1.0)],
            bound_us: 1.0,
        };
        let speeds = [speed(3), speed(9), speed(1)];
        assert!((farthest(&speeds, 1.0, Shown::distance).mean - 9.0).abs() < 1e-9);
        assert!((farthest(&speeds, -1.0, Shown::distance).mean - 1.0).abs() < 1e-9);
    }
}
