//! Reductions that only one paper needs. A paper is its `experiments/PAPER/paper.toml`; if its numbers are not those
//! that [`crate::measures`] reads off a run, it has a file here and a line in [`OWN`].

mod entropy;
mod entropy_transfers;
mod mobile;
mod mobile_flow;
mod mobile_joining;
mod network_processor;
mod periodic;
mod srpic;

use crate::paper::{Context, ExperimentError, Reduction};
use crate::{Findings, measures};

/// A reduction and the name by which an item's `run.reduction` asks for it.
pub(crate) type Named = (&'static str, Reduction);

/// Every paper's own reductions.
static OWN: &[&[Named]] = &[
    network_processor::REDUCTIONS,
    periodic::REDUCTIONS,
    srpic::REDUCTIONS,
];

/// All reductions.
pub(crate) fn reductions() -> impl Iterator<Item = Named> {
    let shared = [measures::REDUCTION].into_iter();
    shared.chain(OWN.iter().copied().flatten().copied())
}

/// The reduction called `name`.
pub(crate) fn reduction(name: &str) -> Option<Reduction> {
    reductions()
        .find(|(known, _)| *known == name)
        .map(|(_, reduction)| reduction)
}

/// Name, what it shows, how it is run.
pub(crate) type LegacyItem = (
    &'static str,
    &'static str,
    fn(&Context<'_>) -> Result<Findings, ExperimentError>,
);

/// Papers whose claims still stand in Rust.
pub(crate) static LEGACY: &[(&str, &str, &[LegacyItem])] = &[entropy::PAPER, mobile::PAPER];
