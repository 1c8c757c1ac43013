//! No sorter: every packet passes as it arrives. It makes "none" a choice like any other.

use core::marker::PhantomData;

use super::config::{ConfigError, Entry, SorterConfig, Surroundings};
use crate::key::FlowKey;
use crate::meta::Meta;
use crate::sorter::{Counters, Sorter};

/// The registry's description of this sorter.
pub const ENTRY: Entry = Entry::new(
    "none",
    "packets pass as they come",
    "a receiver without a sorter",
    &[],
);

/// Passes every packet at once.
#[derive(Clone, Debug)]
pub struct PassThrough<K, P> {
    counters: Counters,
    of: PhantomData<fn() -> (K, P)>,
}

impl<K: FlowKey, P> PassThrough<K, P> {
    /// Makes the sorter; there are no settings.
    pub fn build(_: &SorterConfig, _: &Surroundings) -> Result<Self, ConfigError> {
        Ok(PassThrough {
            counters: Counters::default(),
            of: PhantomData,
        })
    }

    /// Bytes the sorter takes.
    pub fn footprint(_: &SorterConfig, _: &Surroundings) -> usize {
        size_of::<Self>()
    }
}

impl<K, P> Sorter<K, P> for PassThrough<K, P> {
    #[inline]
    fn push(
        &mut self,
        meta: &Meta<K>,
        packet: P,
        _now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        let suitable = u64::from(meta.is_suitable());
        self.counters.suitable += suitable;
        self.counters.unsuitable += 1 - suitable;
        out(packet);
    }

    #[inline]
    fn end_of_batch(&mut self, _now_ns: i64, _out: &mut (impl FnMut(P) + ?Sized)) {
        self.counters.batches += 1;
    }

    fn flush(&mut self, _now_ns: i64, _out: &mut (impl FnMut(P) + ?Sized)) {}

    fn held(&self) -> usize {
        0
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn memory_footprint(&self) -> usize {
        size_of::<Self>()
    }

    fn passes_through(&self) -> bool {
        true
    }
}
