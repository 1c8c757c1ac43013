//! The paper's worked examples: figure 3 with table 1, packets sorted in blocks of several sizes, and table 2, the lists of the
//! algorithm packet by packet.

use inorder_metrics::{Config as MetricsConfig, Metrics};
use inorder_sort::Meta;
use inorder_sort::srpic::{Config, Srpic};
use serde::Deserialize;

use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{ExperimentError, Setting};

/// The paper's ring.
const RING: usize = 512;
/// The only flow.
const FLOW: u32 = 1;

/// Settings of table 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sorted {
    /// Numbers of the packets, as they arrive.
    arrivals: Vec<u32>,
    /// Sizes of the blocks.
    blocks: Vec<usize>,
}

/// Reordering that is left by blocks of each size.
pub(super) fn blocks(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Sorted = setting.read()?;
    let mut all = Quantities::default();
    for block in wanted.blocks {
        let mut sorter = sorter(setting, block)?;
        let mut up = Vec::new();
        for seq in &wanted.arrivals {
            sorter.push(&Meta::data(FLOW, *seq, 1), *seq, &mut |p| up.push(p));
        }
        sorter.end_of_batch(&mut |p| up.push(p));
        let mut metrics = Metrics::new(MetricsConfig::default());
        for seq in up {
            metrics.update(seq.into(), 0, 1);
        }
        let left = metrics.finish();
        let reordered = left.counts.reordered as f64;
        let cell = format!("blocks of {block}");
        all.show(&cell, "reordering incidents", Value::Exact(reordered));
        let ratio = 100.0 * reordered / wanted.arrivals.len().max(1) as f64;
        all.show(&cell, "reordering ratio, %", Value::Exact(ratio));
        let extent = left.order.extents.max().unwrap_or(0) as f64;
        all.show(&cell, "maximum extent, packets", Value::Exact(extent));
    }
    Ok(all)
}

/// Settings of table 2.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stepped {
    /// Numbers of the packets, as they arrive: single digits.
    arrivals: Vec<u32>,
}

/// The lists after each packet, each written as the number that its digits make: 67 for packets 6 and 7, 0 for none.
pub(super) fn lists(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Stepped = setting.read()?;
    // The block of the table would be flushed as it fills.
    let mut sorter = sorter(setting, wanted.arrivals.len() + 1)?;
    let mut all = Quantities::default();
    for (step, seq) in wanted.arrivals.iter().enumerate() {
        sorter.push(&Meta::data(FLOW, *seq, 1), *seq, &mut |_| {});
        let Some(lists) = sorter.lists(&FLOW) else {
            continue;
        };
        let cell = format!("step {}: {seq} arrives", step + 1);
        for (name, list) in [
            ("PrevPacketList", &lists.prev),
            ("CurrPacketList", &lists.curr),
            ("AfterPacketList", &lists.after),
        ] {
            let digits = list.iter().fold(0, |number, digit| 10 * number + digit);
            all.show(&cell, name, Value::Exact(f64::from(digits)));
        }
        all.show(&cell, "NextExp", Value::Exact(f64::from(lists.next_exp)));
    }
    Ok(all)
}

/// The algorithm as the paper's listing has it.
fn sorter(setting: &Setting<'_>, block: usize) -> Result<Srpic<u32, u32>, ExperimentError> {
    if setting.context.stopped() {
        return Err(ExperimentError::Stopped);
    }
    let config = Config {
        literal: true,
        ..Config::new(block, RING)
    };
    Srpic::new(&config).map_err(|error| ExperimentError::data(setting.paper_file, &error))
}
