//! W. Wu, P. Demar, M. Crawford, "Sorting Reordered Packets with Interrupt Coalescing", Computer Networks 53(15),
//! 2009: tables 4 to 7, the reverse path, and figures 2, 5 and 6.
//!
//! Absolute numbers depend on what the paper does not tell (see `experiments/srpic/reordering.toml`); what it
//! claims is about the difference that sorting makes, and that is what is judged here.

mod blocks;
mod cycles;
mod delay;
mod drops;
mod pairs;
mod prices;
mod reordering;

use inorder_path::nic::Account;
use inorder_sim::{FlowResult, RunResult};

use super::{Context, ExperimentError, LegacyItem};
use crate::Findings;
use crate::campaign::File;
use crate::printed::{Printed, PrintedError, srpic};

pub(super) const PAPER: (&str, &str, &[LegacyItem]) = (
    "srpic",
    "Wu, Demar, Crawford: Sorting Reordered Packets with Interrupt Coalescing (Computer Networks 2009)",
    &[
        (
            "table-4",
            "reordering on the forward path",
            reordering::table_4,
        ),
        ("table-5", "drops on the forward path", drops::table_5),
        (
            "table-6",
            "reordering and drops on the forward path",
            drops::table_6,
        ),
        (
            "table-7",
            "reordering and drops on both paths",
            drops::table_7,
        ),
        (
            "reverse-path",
            "reordering on the reverse path alone (section 4.2)",
            reordering::reverse_path,
        ),
        (
            "bursty-drops",
            "drops in bursts (section 4.1.2, not printed)",
            drops::bursty_drops,
        ),
        (
            "figure-2",
            "packets of a block at three throughputs",
            blocks::figure_2,
        ),
        (
            "figure-5",
            "processor cycles at the sender and the receiver",
            cycles::figure_5,
        ),
        (
            "figure-6",
            "delay of an interactive flow beside bulk flows",
            delay::figure_6,
        ),
    ],
);

/// Path, sender and receiver of tables 4 to 7.
const REORDERING: File = File {
    name: "srpic/reordering.toml",
    text: include_str!("../../../../../experiments/srpic/reordering.toml"),
};

/// The paper's runs, seconds.
const FULL_S: u32 = 50;
/// A quick run's.
const QUICK_S: u32 = 5;

/// How long a run lasts, seconds.
fn seconds(context: &Context<'_>) -> u32 {
    if context.quick { QUICK_S } else { FULL_S }
}

/// The same as an override.
fn duration(context: &Context<'_>) -> String {
    format!("run.duration={} s", seconds(context))
}

/// Counts of a run times this stand for those of the paper's length.
fn longer(context: &Context<'_>) -> f64 {
    f64::from(FULL_S) / f64::from(seconds(context))
}

/// The paper's S-Sender (threshold fixed at 3) or A-Sender (Linux's own), as overrides.
fn sender(name: &str) -> Vec<String> {
    match name {
        "S" => vec![
            "flow.sender.loss_detection=static".to_owned(),
            "flow.sender.dupthresh=3 packets".to_owned(),
        ],
        _ => vec!["flow.sender.loss_detection=linux-2.6.24".to_owned()],
    }
}

/// What the text tells of a figure.
struct Told {
    figure: &'static str,
    table: Printed,
}

impl Told {
    fn of(figure: &'static str) -> Result<Self, PrintedError> {
        let table = Printed::parse(srpic::FIGURES)?;
        Ok(Self { figure, table })
    }

    /// The number told of a case; NaN, which satisfies no claim, if there is none.
    fn number(&self, case: &str, measure: &str) -> f64 {
        let named = [
            ("figure", self.figure),
            ("case", case),
            ("measure", measure),
        ];
        let row = self.table.rows().find(|row| {
            let is = |(column, text): &(&str, &str)| row.text(column) == Some(text);
            named.iter().all(is)
        });
        row.and_then(|row| row.number("value")).unwrap_or(f64::NAN)
    }
}

/// What the receiver's or the sender's card did.
fn card<'a>(run: &'a RunResult, name: &str) -> Option<&'a Account> {
    let line = run.lines.iter().find(|line| line.name == name)?;
    line.account.as_ref()
}

/// Payload of all flows, Mb/s.
fn throughput(run: &RunResult) -> f64 {
    let rates = run.flows.iter().map(FlowResult::throughput_bits_per_s);
    rates.sum::<f64>() / 1e6
}
