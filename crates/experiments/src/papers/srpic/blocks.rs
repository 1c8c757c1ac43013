//! Figure 2: number of packets per cycle of the softirq, at the throughputs of the sender's three network cards.

use inorder_path::nic::Histogram;
use inorder_scenario::Cell;
use inorder_scenario::config::Card;
use inorder_sim::RunResult;
use inorder_sort::srpic::model;
use serde::Deserialize;

use super::{card, throughput};
use crate::campaign;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting};

/// The rates that represent the sender's cards.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    scenario: String,
    /// Overrides of a quick run.
    quick: Vec<String>,
    case: Vec<Case>,
    /// Range of block sizes whose share is counted, packets: from, to.
    ranges: Vec<[f64; 2]>,
}

/// A card of the sender, and the rate that represents it in the scenario.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    rate: String,
}

/// The result of a run at one rate.
#[derive(Clone)]
struct Blocks {
    /// Throughput, Mb/s.
    throughput: f64,
    /// Number of packets in each cycle.
    packets: Histogram,
    /// The number predicted by equation 3.
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

    /// Percentage of blocks with `low` to `high` packets.
    fn percent(&self, low: f64, high: f64) -> f64 {
        let within = |(size, _): &(usize, &u64)| (low..=high).contains(&(*size as f64));
        let counts = self.packets.counts().iter().enumerate();
        let blocks: u64 = counts.filter(within).map(|(_, count)| count).sum();
        100.0 * blocks as f64 / self.packets.total().max(1) as f64
    }

    /// The most frequent block size, packets.
    fn most_common(&self) -> f64 {
        let counts = self.packets.counts().iter().enumerate();
        let most = counts.max_by_key(|&(size, count)| (count, std::cmp::Reverse(size)));
        most.map_or(f64::NAN, |(size, _)| size as f64)
    }
}

pub(super) fn blocks(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Cases = setting.read()?;
    let sets: &[String] = if setting.context.quick {
        &wanted.quick
    } else {
        &[]
    };
    let cells = campaign::load(setting.context, &wanted.scenario, sets)?;
    let runs = campaign::run(setting.context, &cells, 1, RunResult::clone)?;
    let mut all = Quantities::default();
    for case in &wanted.case {
        let of = |cell: &Cell| cell.label("forward.sender-line.rate") == Some(&case.rate);
        let number = cells.iter().position(of);
        let blocks = number.and_then(|number| {
            let settings = cells[number].config.receiver_card.as_ref()?;
            Blocks::new(runs.get(number)?.first()?, settings)
        });
        if let Some(blocks) = blocks {
            tell(&case.name, &blocks, &wanted.ranges, &mut all);
        }
    }
    Ok(all)
}

fn tell(case: &str, blocks: &Blocks, ranges: &[[f64; 2]], all: &mut Quantities) {
    let quantile = |share| blocks.packets.quantile(share) as f64;
    for (measure, ours) in [
        ("throughput, Mb/s", blocks.throughput),
        ("packets of a block, most common", blocks.most_common()),
        ("packets of a block, mean", blocks.packets.mean()),
        ("packets of a block, 5 % below", quantile(0.05)),
        ("packets of a block, 5 % above", quantile(0.95)),
        ("packets of a block, by equation 3", blocks.predicted),
    ] {
        all.show(case, measure, Value::Exact(ours));
    }
    for [low, high] in ranges {
        let measure = format!("blocks of {low} to {high} packets, %");
        all.keep(case, &measure, Value::Exact(blocks.percent(*low, *high)));
    }
    // Equation 3 does not count the packet that starts the card's timer.
    let mean = blocks.packets.mean();
    let off = 100.0 * (mean - 1.0 - blocks.predicted) / mean;
    all.keep(
        case,
        "mean less what equation 3 gives, %",
        Value::Exact(off),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Context;

    #[test]
    fn block_sizes_are_read_from_the_histogram() {
        let stop = std::sync::atomic::AtomicBool::new(false);
        let context = Context::quick(&stop);
        let cells = campaign::load(
            &context,
            "srpic/blocks.toml",
            &["run.duration=20 ms".to_owned()],
        )
        .expect("reads");
        let card = cells[0].config.receiver_card.as_ref().expect("a card");
        let of = |run: &RunResult| Blocks::new(run, card);
        let runs = campaign::run(&context, &cells[..1], 1, of).expect("runs");
        let blocks = runs[0][0].as_ref().expect("counted");
        assert_eq!(blocks.most_common(), 1.0);
        assert_eq!(blocks.percent(0.0, 1022.0), 100.0);
        assert!(blocks.percent(2.0, 1022.0) < 5.0);
        // 1538 bytes at 100 Mb/s take 123 us, so 0.6 packets arrive in 75 us.
        assert!(
            (0.5..0.7).contains(&blocks.predicted),
            "{}",
            blocks.predicted
        );
    }
}
