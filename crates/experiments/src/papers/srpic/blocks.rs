//! Figure 2: how many packets a cycle of the softirq takes, at the throughputs of three cards in the sender.

use inorder_path::nic::Histogram;
use inorder_scenario::Cell;
use inorder_scenario::config::Card;
use inorder_sim::RunResult;
use inorder_sort::srpic::model;

use super::{Context, ExperimentError, Findings, Told, card, throughput};
use crate::campaign::{self, File};
use crate::{Claim, Comparison, Estimate};

const ITEM: &str = "figure-2";
const BLOCKS: File = File {
    name: "srpic/blocks.toml",
    text: include_str!("../../../../../experiments/srpic/blocks.toml"),
};

/// The sender's cards and the rates that stand for them in the scenario.
const CASES: [(&str, &str); 3] = [
    ("100 Mb/s card", "100 Mbit/s"),
    ("1 Gb/s card", "1 Gbit/s"),
    ("10 Gb/s card", "6256 Mbit/s"),
];

/// A run at one rate.
#[derive(Clone)]
struct Blocks {
    /// Mb/s.
    throughput: f64,
    /// Packets of each cycle.
    packets: Histogram,
    /// By equation 3.
    predicted: f64,
}

impl Blocks {
    fn new(run: &RunResult, settings: &Card) -> Option<Self> {
        let account = card(run, "receiver card")?;
        let seconds = run.duration_ns as f64 / 1e9;
        let t_intr_s = settings.coalesce_ns as f64 / 1e9;
        let r_sn = 1e9 / settings.packet_ns as f64;
        let per_s = account.frames as f64 / seconds;
        Some(Self {
            throughput: throughput(run),
            packets: account.block_packets.clone(),
            predicted: model::block_size(per_s, t_intr_s, r_sn),
        })
    }

    /// Blocks of `low` to `high` packets, percent.
    fn percent(&self, low: f64, high: f64) -> f64 {
        let within = |(size, _): &(usize, &u64)| (low..=high).contains(&(*size as f64));
        let counts = self.packets.counts().iter().enumerate();
        let blocks: u64 = counts.filter(within).map(|(_, count)| count).sum();
        100.0 * blocks as f64 / self.packets.total().max(1) as f64
    }

    /// The size most blocks have, packets.
    fn most_common(&self) -> f64 {
        let counts = self.packets.counts().iter().enumerate();
        let most = counts.max_by_key(|&(size, count)| (count, std::cmp::Reverse(size)));
        most.map_or(f64::NAN, |(size, _)| size as f64)
    }
}

pub(super) fn figure_2(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    // A block lasts less than 100 us: half a second has thousands.
    let quick = if context.quick {
        vec!["run.duration=0.5 s"]
    } else {
        Vec::new()
    };
    let cells = campaign::cells(context, BLOCKS, &quick)?;
    let runs = campaign::run(context, &cells, 1, RunResult::clone)?;
    let at = |(_, rate): (&str, &str)| {
        let of = |cell: &Cell| cell.label("forward.sender-line.rate") == Some(rate);
        let number = cells.iter().position(of)?;
        let settings = cells[number].config.receiver_card.as_ref()?;
        Blocks::new(runs.get(number)?.first()?, settings)
    };
    let told = Told::of("2")?;
    let mut findings = Findings::default();
    let Some([slow, gigabit, fast]) = all(CASES.map(at)) else {
        return Ok(findings);
    };
    for ((case, _), blocks) in CASES.iter().zip([&slow, &gigabit, &fast]) {
        compare(&mut findings, &told, case, blocks);
    }
    judge(&mut findings, &told, [&slow, &gigabit, &fast]);
    findings.remarks.push("the card's 75 us and the softirq's rate are assumed (see experiments/srpic/blocks.toml); nothing is random, so there is no interval".to_owned());
    Ok(findings)
}

fn all<T>(values: [Option<T>; 3]) -> Option<[T; 3]> {
    let [a, b, c] = values;
    Some([a?, b?, c?])
}

fn compare(findings: &mut Findings, told: &Told, case: &str, blocks: &Blocks) {
    let printed = |measure| {
        let value = told.number(case, measure);
        (!value.is_nan()).then_some((value, f64::NAN))
    };
    let quantile = |share| blocks.packets.quantile(share) as f64;
    let rows = [
        ("throughput, Mb/s", printed("throughput"), blocks.throughput),
        (
            "packets of a block, most common",
            printed("packets"),
            blocks.most_common(),
        ),
        ("packets of a block, mean", None, blocks.packets.mean()),
        (
            "packets of a block, 5 % below",
            printed("packets-low"),
            quantile(0.05),
        ),
        (
            "packets of a block, 5 % above",
            printed("packets-high"),
            quantile(0.95),
        ),
        ("packets of a block, by equation 3", None, blocks.predicted),
    ];
    for (measure, printed, ours) in rows {
        let ours = Estimate::exact(ours);
        let row = Comparison::new(ITEM, case, measure, printed, ours);
        findings.comparisons.push(row);
    }
}

fn judge(findings: &mut Findings, told: &Told, [slow, gigabit, fast]: [&Blocks; 3]) {
    let mut claim = |id: &str, text: &str, printed: Option<f64>, ours: f64, held: bool| {
        let claim = Claim::new(&format!("{ITEM}/{id}"), text, Estimate::exact(ours), held);
        findings.claims.push(match printed {
            Some(value) => claim.printed(value),
            None => claim,
        });
    };
    let single = told.number(CASES[0].0, "packets");
    let ours = slow.percent(single, single);
    let text = "at 95.3 Mb/s each block has one packet (percent of the blocks, 95 and more)";
    claim("one-packet", text, Some(100.0), ours, ours >= 95.0);
    let usual = told.number(CASES[1].0, "packets");
    let ours = gigabit.most_common();
    let text = "at 938 Mb/s a block commonly has around 7 packets (most common size, within one)";
    let held = (ours - usual).abs() <= 1.0;
    claim("gigabit", text, Some(usual), ours, held);
    let [low, high] = ["packets-low", "packets-high"].map(|m| told.number(CASES[2].0, m));
    let ours = fast.percent(low, high);
    let text =
        "at 5.89 Gb/s blocks typically have 30 to 60 packets (percent of the blocks, 80 and more)";
    claim("ten-gigabit", text, None, ours, ours >= 80.0);
    let means = [slow, gigabit, fast].map(|blocks| blocks.packets.mean());
    let [a, b, c] = means;
    let text =
        format!("blocks grow with the throughput: {a:.1}, {b:.1}, {c:.1} packets (at 5.89 Gb/s)");
    claim("grows", &text, None, c, a < b && b < c);
    // The packet that starts the card's clock is not in equation 3; where it is alone the equation says nothing.
    let off = |o: &Blocks| (o.packets.mean() - 1.0 - o.predicted).abs() / o.packets.mean();
    let worst = 100.0 * off(gigabit).max(off(fast));
    let text = "equation 3 and the packet that starts the clock give the mean of larger blocks (greatest deviation, percent, 10 and less)";
    claim("equation-3", text, None, worst, worst <= 10.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign;

    #[test]
    fn a_block_is_told_by_its_histogram() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = Context::quick(&stop);
        let cells = campaign::cells(&context, BLOCKS, &["run.duration=20 ms"]).expect("reads");
        let card = cells[0].config.receiver_card.as_ref().expect("a card");
        let of = |run: &RunResult| Blocks::new(run, card);
        let runs = campaign::run(&context, &cells[..1], 1, of).expect("runs");
        let blocks = runs[0][0].as_ref().expect("counted");
        assert_eq!(blocks.most_common(), 1.0);
        assert_eq!(blocks.percent(0.0, 1022.0), 100.0);
        assert!(blocks.percent(2.0, 1022.0) < 5.0);
        // 1538 bytes at 100 Mb/s are 123 us: 75 us see six tenths of a packet.
        assert!(
            (0.5..0.7).contains(&blocks.predicted),
            "{}",
            blocks.predicted
        );
    }
}
