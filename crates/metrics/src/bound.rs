//! The range of packet numbers.

/// The largest packet number; packets with larger numbers are counted as ignored.
///
/// Half of the `u64` space, so that every difference of two numbers fits an `i64`.
pub const MAX_SEQ: u64 = (1 << 63) - 1;

/// How many of the `n` numbers from `first` on are within the range.
#[inline]
pub(crate) fn accepted(first: u64, n: u64) -> u64 {
    n.min((MAX_SEQ + 1).saturating_sub(first))
}
