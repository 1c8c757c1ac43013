//! How impairments are made from what a scenario file declares.

use inorder_random::Random;

/// A table of a scenario that declares an impairment for packets of type `P`.
///
/// The conversion stands in the impairment's own file, beside what it does.
pub(crate) trait Declared<P> {
    /// What is made of it.
    type Stage;

    /// Makes the impairment; `random` is its own stream, used by those that draw.
    fn build(&self, random: Random) -> Self::Stage;
}

/// A number of packets of a scenario as a length in memory.
pub(crate) fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
