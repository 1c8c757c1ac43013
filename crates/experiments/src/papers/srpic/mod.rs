//! W. Wu, P. Demar, M. Crawford, "Sorting Reordered Packets with Interrupt Coalescing", Computer Networks 53(15),
//! 2009: tables 4 to 7 and the reverse path.
//!
//! Absolute numbers depend on what the paper does not tell (see `experiments/srpic/reordering.toml`); what it
//! claims is about the difference that sorting makes, and that is what is judged here.

mod drops;
mod pairs;
mod reordering;

use super::campaign::File;
use super::{Context, ExperimentError, Item, Paper};
use crate::Findings;

pub(super) const PAPER: Paper = Paper {
    name: "srpic",
    title: "Wu, Demar, Crawford: Sorting Reordered Packets with Interrupt Coalescing (Computer Networks 2009)",
    items: &[
        Item {
            name: "table-4",
            about: "reordering on the forward path",
            run: reordering::table_4,
        },
        Item {
            name: "table-5",
            about: "drops on the forward path",
            run: drops::table_5,
        },
        Item {
            name: "table-6",
            about: "reordering and drops on the forward path",
            run: drops::table_6,
        },
        Item {
            name: "table-7",
            about: "reordering and drops on both paths",
            run: drops::table_7,
        },
        Item {
            name: "reverse-path",
            about: "reordering on the reverse path alone (section 4.2)",
            run: reordering::reverse_path,
        },
        Item {
            name: "bursty-drops",
            about: "drops in bursts (section 4.1.2, not printed)",
            run: drops::bursty_drops,
        },
    ],
};

/// Path, sender and receiver of tables 4 to 7.
const REORDERING: File = File {
    name: "srpic/reordering.toml",
    text: include_str!("../../../../../experiments/srpic/reordering.toml"),
};

/// The paper's runs, seconds.
const FULL_S: u32 = 50;
/// A quick run's.
const QUICK_S: u32 = 5;

/// How long a run lasts, as an override.
fn duration(context: &Context<'_>) -> String {
    let seconds = if context.quick { QUICK_S } else { FULL_S };
    format!("run.duration={seconds} s")
}

/// Counts of a run times this stand for those of the paper's length.
fn longer(context: &Context<'_>) -> f64 {
    if context.quick {
        f64::from(FULL_S) / f64::from(QUICK_S)
    } else {
        1.0
    }
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
