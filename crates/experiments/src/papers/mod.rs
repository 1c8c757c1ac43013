//! Reductions that only one paper needs. A paper is its `experiments/PAPER/paper.toml`; if its numbers are not those
//! that [`crate::measures`] reads off a run, it has a file here and a line in [`OWN`].

mod entropy;
mod mobile;
mod network_processor;
mod periodic;
mod srpic;

use crate::measures;
use crate::setting::Reduction;

/// A reduction and the name by which an item's `run.reduction` asks for it.
pub(crate) type Named = (&'static str, Reduction);

/// Every paper's own reductions.
static OWN: &[&[Named]] = &[
    entropy::REDUCTIONS,
    mobile::REDUCTIONS,
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
