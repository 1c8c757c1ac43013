//! SRPIC in front of the resequencer: the batch is sorted first, at no delay, and only what is
//! missing after that opens a gap that is waited for.
//!
//! The resequencer alone opens a gap at every packet that overtook another within one batch, holds
//! what is behind it for some packets of the same batch, and learns these short latenesses; behind SRPIC it learns
//! from what is later than a batch.

use super::config::{ConfigError, Entry, SorterConfig, Surroundings};
use super::resequence::{self, Resequencer};
use super::srpic::{self, Srpic};
use crate::key::FlowKey;
use crate::meta::Meta;
use crate::sorter::{Counters, Sorter};

/// What the registry says of it.
pub const ENTRY: Entry = Entry::new(
    "srpic+resequence",
    "sorts the batch of an interrupt, then holds what still stands behind a gap",
    "srpic and resequence, one behind the other",
    &[
        srpic::BLOCK_SIZE,
        resequence::BOUND,
        resequence::START,
        resequence::BLIND,
        resequence::WINDOW,
        resequence::TUNNEL,
    ],
);

/// The two sorters; see the module's text.
pub struct Both<K, P> {
    batch: Srpic<K, (Meta<K>, P)>,
    gaps: Resequencer<K, P>,
}

impl<K: FlowKey, P> Both<K, P> {
    /// The sorter of a registry's choice.
    pub fn build(config: &SorterConfig, around: &Surroundings) -> Result<Self, ConfigError> {
        Ok(Both {
            batch: Srpic::build(config, around)?,
            gaps: Resequencer::build(config, around)?,
        })
    }

    /// Bytes the sorter of a registry's choice takes.
    pub fn footprint(config: &SorterConfig, around: &Surroundings) -> usize {
        let parts = Srpic::<K, (Meta<K>, P)>::footprint(config, around)
            + Resequencer::<K, P>::footprint(config, around);
        size_of::<Self>() + parts
            - size_of::<Srpic<K, (Meta<K>, P)>>()
            - size_of::<Resequencer<K, P>>()
    }
}

impl<K: FlowKey, P> Sorter<K, P> for Both<K, P> {
    fn push(&mut self, meta: &Meta<K>, packet: P, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let Both { batch, gaps } = self;
        let mut next = |(meta, packet): (Meta<K>, P)| gaps.push(&meta, packet, now_ns, out);
        Sorter::push(batch, meta, (*meta, packet), now_ns, &mut next);
    }

    fn end_of_batch(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let Both { batch, gaps } = self;
        let mut next = |(meta, packet): (Meta<K>, P)| gaps.push(&meta, packet, now_ns, out);
        Sorter::end_of_batch(batch, now_ns, &mut next);
        self.gaps.end_of_batch(now_ns, out);
    }

    fn next_deadline_ns(&self) -> Option<i64> {
        self.gaps.next_deadline_ns()
    }

    fn on_deadline(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        self.gaps.on_deadline(now_ns, out);
    }

    fn flush(&mut self, now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        let Both { batch, gaps } = self;
        let mut next = |(meta, packet): (Meta<K>, P)| gaps.push(&meta, packet, now_ns, out);
        Sorter::flush(batch, now_ns, &mut next);
        self.gaps.flush(now_ns, out);
    }

    fn hold_ns(&self, flow: K) -> Option<i64> {
        self.gaps.hold_ns(flow)
    }

    fn held(&self) -> usize {
        Sorter::held(&self.batch) + self.gaps.held()
    }

    fn counters(&self) -> Counters {
        // Every packet passes SRPIC first.
        Sorter::counters(&self.batch)
    }

    fn memory_footprint(&self) -> usize {
        let parts = Sorter::memory_footprint(&self.batch) + self.gaps.memory_footprint();
        size_of::<Self>() + parts - size_of_val(&self.batch) - size_of_val(&self.gaps)
    }
}
