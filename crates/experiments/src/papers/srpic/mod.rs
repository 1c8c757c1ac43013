//! W. Wu, P. Demar, M. Crawford, "Sorting Reordered Packets with Interrupt Coalescing", Computer Networks 53(15),
//! 2009: figures 2, 3, 5 and 6, and the worked examples of tables 1 and 2. The other tables use the general reduction.

mod blocks;
mod cycles;
mod delay;
mod example;
mod prices;

use inorder_path::nic::Account;
use inorder_sim::{FlowResult, RunResult};

use super::Named;

pub(super) const REDUCTIONS: &[Named] = &[
    ("srpic-blocks", blocks::blocks),
    ("srpic-cycles", cycles::cycles),
    ("srpic-delay", delay::delay),
    ("srpic-example", example::blocks),
    ("srpic-lists", example::lists),
];

/// The counters of the receiver's or the sender's card.
fn card<'a>(run: &'a RunResult, name: &str) -> Option<&'a Account> {
    let line = run.lines.iter().find(|line| line.name == name)?;
    line.account.as_ref()
}

/// Payload throughput of all flows, Mb/s.
fn throughput(run: &RunResult) -> f64 {
    let rates = run.flows.iter().map(FlowResult::throughput_bits_per_s);
    rates.sum::<f64>() / 1e6
}
