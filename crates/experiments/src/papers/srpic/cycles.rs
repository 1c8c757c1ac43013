//! Figure 5: processor cycles at the sender and at the receiver, with and without sorting, with and without
//! reordering.
//!
//! The simulator counts what was done, [`prices`](super::prices) tell what it costs. The paper counts instructions
//! too; those are not modelled. Its experiments are designed to have the same throughput, so what is compared is
//! cycles a segment of payload, measured once the line is filled: our A-Sender takes longer to get there than the
//! paper's (see table 4).

use inorder_sim::RunResult;

use super::prices::{
    DUPLICATE_ACKS, SLOW_PATH, Vector, bill, corners, receiver_prices, receiver_work,
    sender_prices, sender_work,
};
use super::{
    Context, ExperimentError, FULL_S, Findings, REORDERING, Told, card, seconds, sender, throughput,
};
use crate::campaign;
use crate::printed::{Printed, srpic};
use crate::{Claim, Comparison, Estimate};

const ITEM: &str = "figure-5";
/// Cycles a sample stands for (caption of the figure).
const SAMPLE: f64 = 100_000.0;
/// Payload of a full segment, bits.
const SEGMENT: f64 = 1448.0 * 8.0;
/// Full segments of one Mb/s in a run of the paper's length.
const SEGMENTS_PER_MBPS: f64 = 1e6 * FULL_S as f64 / SEGMENT;
/// Loads that differ by less, as a share, are "almost the same".
const ALMOST: f64 = 0.05;
/// The sender's card, an e1000: 4000 interrupts a second under load, as the emulator's.
const SENDER_CARD: [&str; 2] = [
    "sender_card.coalesce=0 s",
    "sender_card.coalesce_gap=250 us",
];

/// What a run had to do.
#[derive(Clone)]
struct Load {
    /// Mb/s.
    throughput: f64,
    /// By [`Machine`], for a full segment of payload.
    work: [Vector; 2],
}

/// Whose processor.
#[derive(Clone, Copy)]
struct Machine {
    name: &'static str,
    /// Place in [`Load::work`].
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

/// A number of streams with (+) or without (-) reordering: runs without and with sorting, repetition by repetition.
struct Point {
    label: String,
    streams: u32,
    reordering: bool,
    sack: bool,
    none: Vec<Load>,
    srpic: Vec<Load>,
}

impl Point {
    fn sets(&self, context: &Context<'_>) -> Vec<String> {
        let mut sets = sender("A");
        sets.push(format!("flow.count={}", self.streams));
        sets.push(format!("flow.sender.sack={}", self.sack));
        let us = if self.reordering { 5 } else { 0 };
        sets.push(format!("forward.jitter.jitter={us} us"));
        sets.extend(SENDER_CARD.map(str::to_owned));
        // The line is full after the paper's length; nothing changes from then on.
        let full = seconds(context);
        let measured = full * 2 / 5;
        sets.push(format!("run.warm_up={full} s"));
        sets.push(format!("run.duration={} s", full + measured));
        sets
    }

    /// The same runs with as many packets on the receiver's slow path as table 4 prints duplicate acknowledgements,
    /// each of which answers one.
    fn as_printed(&self, table: &Printed) -> Option<Self> {
        let [none, srpic] = printed_dupacks(table, self.streams)?;
        let with = |loads: &[Load], (per_mbps, _): (f64, f64)| {
            let mut loads = loads.to_vec();
            for load in &mut loads {
                load.work[1][SLOW_PATH] = per_mbps / SEGMENTS_PER_MBPS;
            }
            loads
        };
        Some(Self {
            label: self.label.clone(),
            none: with(&self.none, none),
            srpic: with(&self.srpic, srpic),
            ..*self
        })
    }

    /// Cycles with sorting relative to without, run by run.
    fn ratios(&self, machine: Machine, prices: &[f64]) -> Vec<f64> {
        let cycles = |load: &Load| bill(&load.work[machine.at], prices);
        let pairs = self.none.iter().zip(&self.srpic);
        pairs
            .map(|(none, srpic)| cycles(srpic) / cycles(none))
            .collect()
    }
}

/// DupAcksIn per Mb/s of an A-Sender at 0.2 %, without and with sorting, as table 4 prints them.
fn printed_dupacks(table: &Printed, streams: u32) -> Option<[(f64, f64); 2]> {
    let row = table.rows().find(|row| {
        let cell = (row.number("streams"), row.number("variation_pct"));
        row.text("sender") == Some("A") && cell == (Some(f64::from(streams)), Some(0.2))
    })?;
    Some([row.value("dupack_none")?, row.value("dupack_srpic")?])
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

/// The figure's six groups, and one the paper does not have: with SACK, whose walks section 2.2 is about.
fn points(context: &Context<'_>) -> Result<Vec<Point>, ExperimentError> {
    let streams: &[u32] = if context.quick { &[10] } else { &[1, 5, 10] };
    let groups = streams
        .iter()
        .flat_map(|&n| [(n, false, false), (n, true, false)]);
    let groups = groups.chain([(1, true, true)]);
    let mut cells = Vec::new();
    let mut points = Vec::new();
    for (streams, reordering, sack) in groups {
        let sign = if reordering { '+' } else { '-' };
        let with = if sack { ", with SACK" } else { "" };
        let point = Point {
            label: format!("{streams}R{sign}{with}"),
            streams,
            reordering,
            sack,
            none: Vec::new(),
            srpic: Vec::new(),
        };
        let sets = point.sets(context);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        cells.extend(campaign::cells(context, REORDERING, &sets)?);
        points.push(point);
    }
    let runs = campaign::run(context, &cells, context.repetitions_or(5), measured)?;
    let mut loads = runs
        .into_iter()
        .map(|runs| runs.into_iter().flatten().collect());
    for point in &mut points {
        point.none = loads.next().unwrap_or_default();
        point.srpic = loads.next().unwrap_or_default();
    }
    Ok(points)
}

pub(super) fn figure_5(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let points = points(context)?;
    let mut findings = Findings::default();
    let line = Told::of("5")?.number("all", "throughput");
    let table = Printed::parse(srpic::TABLE_4)?;
    for point in &points {
        compare(&mut findings, point, line);
        compare_dupacks(&mut findings, point, &table);
    }
    let (figure, with_sack): (Vec<_>, Vec<_>) = points.iter().partition(|point| !point.sack);
    findings.claims.push(line_rate(&figure, line));
    let (with, without): (Vec<_>, Vec<_>) = figure.iter().copied().partition(|p| p.reordering);
    let same = |ratio: f64| (ratio - 1.0).abs() <= ALMOST;
    let lower = |ratio: f64| ratio < 1.0;
    let [sender, receiver] = MACHINES;
    for machine in MACHINES {
        let name = machine.name;
        let text =
            format!("without reordering the {name}'s load is almost the same (ratio, within 5 %)");
        let why = "sorting weighs the more the cheaper everything else is";
        claims(
            &mut findings,
            &format!("{name}-same"),
            &text,
            why,
            (machine, &without),
            same,
        );
        let text = format!("with reordering SRPIC lowers the {name}'s load (ratio)");
        let why = "it leaves more duplicate ACKs than table 4 prints (see DupAcksIn), each a packet on the slow path";
        claims(
            &mut findings,
            &format!("{name}-lower"),
            &text,
            why,
            (machine, &with),
            lower,
        );
    }
    let printed: Vec<_> = with.iter().filter_map(|p| p.as_printed(&table)).collect();
    let printed: Vec<_> = printed.iter().collect();
    let text =
        "with as many duplicate ACKs as table 4 prints SRPIC lowers the receiver's load (ratio)";
    let why = "sorting costs more than it saves at such prices";
    claims(
        &mut findings,
        "receiver-lower-as-printed",
        text,
        why,
        (receiver, &printed),
        lower,
    );
    let text = "with SACK on too SRPIC lowers the sender's load (ratio; section 2.2)";
    claims(
        &mut findings,
        "sack-sender-lower",
        text,
        "the walks by SACK blocks get no shorter",
        (sender, &with_sack),
        lower,
    );
    findings.remarks.extend([
        "the variation of the delay is lost in the paper's text: 0.2 % is assumed, where an A-Sender fills the line with and without SRPIC".to_owned(),
        "prices are assumed but for the walk by SACKs (papers/srpic/prices.rs): compare loads, do not quote them; retired instructions are not modelled".to_owned(),
    ]);
    Ok(findings)
}

/// Loads a segment, and in the figure's unit: for the paper's runs at `line` Mb/s.
fn compare(findings: &mut Findings, point: &Point, line: f64) {
    let mut add = |cell: &str, measure: &str, values: Vec<f64>| {
        let ours = Estimate::of(&values);
        let row = Comparison::new(ITEM, cell, measure, None, ours);
        findings.comparisons.push(row);
    };
    let segments = line * SEGMENTS_PER_MBPS;
    for (sorter, loads) in [("none", &point.none), ("srpic", &point.srpic)] {
        let cell = format!("{}, {sorter}", point.label);
        let rates = loads.iter().map(|load| load.throughput).collect();
        add(&cell, "throughput, Mb/s", rates);
        for Machine { name, at, prices } in MACHINES {
            let prices = prices();
            let cycles: Vec<f64> = loads.iter().map(|l| bill(&l.work[at], &prices)).collect();
            let thousands = cycles.iter().map(|c| c * segments / SAMPLE / 1e3).collect();
            add(&cell, &format!("{name}, cycles a segment"), cycles);
            add(&cell, &format!("{name}, thousand samples"), thousands);
        }
    }
    for machine in MACHINES {
        let measure = format!("{}, with SRPIC relative to without", machine.name);
        let ratios = point.ratios(machine, &(machine.prices)());
        add(&point.label, &measure, ratios);
    }
}

/// Duplicate acknowledgements beside those of table 4, where its configuration is the same.
fn compare_dupacks(findings: &mut Findings, point: &Point, table: &Printed) {
    if !point.reordering || point.sack {
        return;
    }
    let printed = printed_dupacks(table, point.streams).map_or([None; 2], |both| both.map(Some));
    let sorters = [("none", &point.none), ("srpic", &point.srpic)];
    for ((sorter, loads), printed) in sorters.into_iter().zip(printed) {
        let per_mbps = |load: &Load| load.work[0][DUPLICATE_ACKS] * SEGMENTS_PER_MBPS;
        let ours = Estimate::of(&loads.iter().map(per_mbps).collect::<Vec<_>>());
        let cell = format!("{}, {sorter}", point.label);
        let row = Comparison::new(ITEM, &cell, "DupAcksIn per Mb/s", printed, ours);
        findings.comparisons.push(row);
    }
}

/// The experiment is made for equal throughput.
fn line_rate(points: &[&Point], printed: f64) -> Claim {
    let mean = |loads: &[Load]| {
        let rates: Vec<f64> = loads.iter().map(|load| load.throughput).collect();
        Estimate::of(&rates)
    };
    let means = points.iter().flat_map(|p| [mean(&p.none), mean(&p.srpic)]);
    let least = means.min_by(|a, b| a.mean.total_cmp(&b.mean));
    let least = least.unwrap_or(Estimate::exact(f64::NAN));
    let text = "all fill the line, Mb/s (the slowest, within 2 %)";
    let claim = Claim::within(&format!("{ITEM}/line-rate"), text, printed, least, 0.02);
    if claim.verdict == crate::Verdict::Held {
        claim
    } else {
        claim.note("loads are compared segment by segment, so that it matters little")
    }
}

/// Claims of the ratios of all `points`: at the prices themselves, telling the greatest ratio, and over the corners of
/// the prices, telling for how many percent of them it holds everywhere. `why` it may fail.
fn claims(
    findings: &mut Findings,
    id: &str,
    text: &str,
    why: &str,
    (machine, points): (Machine, &[&Point]),
    test: impl Fn(f64) -> bool,
) {
    let ratios = |prices: &[f64]| -> Vec<Estimate> {
        let of = |point: &&Point| Estimate::of(&point.ratios(machine, prices));
        points.iter().map(of).collect()
    };
    let prices = (machine.prices)();
    let ours = ratios(&prices);
    let failed = points
        .iter()
        .zip(&ours)
        .filter(|(_, ratio)| !test(ratio.mean));
    let failed: Vec<_> = failed.map(|(point, _)| point.label.as_str()).collect();
    let greatest = ours
        .iter()
        .copied()
        .max_by(|a, b| a.mean.total_cmp(&b.mean));
    let greatest = greatest.unwrap_or(Estimate::exact(f64::NAN));
    let claim = Claim::new(&format!("{ITEM}/{id}"), text, greatest, failed.is_empty());
    findings
        .claims
        .push(if claim.verdict == crate::Verdict::Held {
            claim
        } else {
            claim.note(format!("not in: {}; {why}", failed.join("; ")))
        });
    let corners: Vec<Vec<Estimate>> = corners(&prices).map(|prices| ratios(&prices)).collect();
    let everywhere = |ratios: &&Vec<Estimate>| ratios.iter().all(|ratio| test(ratio.mean));
    let (all, held) = (corners.len(), corners.iter().filter(everywhere).count());
    let means = || corners.iter().flatten().map(|ratio| ratio.mean);
    let (low, high) = (
        means().fold(f64::INFINITY, f64::min),
        means().fold(0.0, f64::max),
    );
    let text = format!(
        "the same with every price halved or doubled (percent of {all} combinations; ratios {low:.3} to {high:.3})"
    );
    let share = Estimate::exact(100.0 * held as f64 / all as f64);
    let claim = Claim::new(&format!("{ITEM}/{id}/prices"), &text, share, held == all);
    findings
        .claims
        .push(if claim.verdict == crate::Verdict::Held {
            claim
        } else {
            claim.note(why)
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_duplicate_acks_of_a_segment() {
        let table = Printed::parse(srpic::TABLE_4).expect("reads");
        let [none, srpic] = printed_dupacks(&table, 1).expect("printed");
        assert_eq!((none.0, srpic.0), (1601.1, 744.1));
        // 1601.1 of 4316 segments of 1 Mb/s in 50 s.
        assert!((none.0 / SEGMENTS_PER_MBPS - 0.371).abs() < 1e-3);
        assert!(printed_dupacks(&table, 7).is_none());
    }
}
