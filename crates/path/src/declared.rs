//! How impairments are created from the declarations of a scenario file.

use inorder_base::random::Random;

/// A table of a scenario that declares an impairment for packets of type `P`.
///
/// The conversion is in the file of the impairment.
pub(crate) trait Declared<P> {
    /// The type of the impairment.
    type Stage;

    /// Creates the impairment; `random` is its own stream, if it needs random numbers.
    fn build(&self, random: Random) -> Self::Stage;
}

/// Converts a number of packets of a scenario to a length in memory.
pub(crate) fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
