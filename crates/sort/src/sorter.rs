//! What every sorter offers, whatever its rule.

use crate::meta::Meta;

/// Takes packets as they arrive, gives them back in a better order.
///
/// Every packet pushed comes out of `out` exactly once, during this call or a later one. Time is
/// an argument, nanoseconds on any clock that never runs backwards; a sorter that needs no time
/// ignores it. [`crate::Srpic`] holds packets within a batch only and has no deadline; a sorter
/// that keeps packets behind a gap across batches says by [`Sorter::next_deadline_ns`] when it
/// must be asked again.
pub trait Sorter<K, P> {
    /// One packet arrives.
    fn push<F>(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut F)
    where
        F: FnMut(P) + ?Sized;

    /// The interrupt-coalesced batch ends: the ring is empty, the stack gets its turn.
    fn end_of_batch<F>(&mut self, now_ns: i64, out: &mut F)
    where
        F: FnMut(P) + ?Sized;

    /// Gives back everything held, whatever the rule says: the link goes down, the file ends.
    fn flush<F>(&mut self, now_ns: i64, out: &mut F)
    where
        F: FnMut(P) + ?Sized;

    /// When [`Sorter::end_of_batch`] must be called at the latest although nothing arrives;
    /// `None`: no such time.
    fn next_deadline_ns(&self) -> Option<i64>;

    /// Packets held now.
    fn held(&self) -> usize;
}
