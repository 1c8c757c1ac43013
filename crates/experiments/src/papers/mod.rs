//! Reductions that only one paper needs. A paper is its `experiments/PAPER/paper.toml`. If [`crate::measures`] cannot
//! read its numbers from a run, the paper has a file here and a line in [`OWN`].

mod entropy;
mod mobile;
mod network_processor;
mod periodic;
mod prediction;
mod resequencer;
mod srpic;

use crate::measures;
use crate::setting::Reduction;

/// The name of a reduction in an item's `run.reduction`, and the reduction.
pub(crate) type Named = (&'static str, Reduction);

/// The reductions of every paper.
static OWN: &[&[Named]] = &[
    entropy::REDUCTIONS,
    mobile::REDUCTIONS,
    network_processor::REDUCTIONS,
    periodic::REDUCTIONS,
    prediction::REDUCTIONS,
    resequencer::REDUCTIONS,
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
