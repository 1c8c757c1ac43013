//! SRPIC, Sorting Reordered Packets with Interrupt Coalescing: Listing 1 of Wu, Demar and Crawford
//! (Computer Networks 53, 2009). Finds the flow, fills its block, flushes.
//!
//! [`model`] has the paper's equations 1 to 5: the size of blocks and how long they wait.

mod block;
mod burst;
mod config;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
pub mod model;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod naive;
mod ring;

use alloc::vec::Vec;

use block::Block;
use ring::Ring;

use crate::key::FlowKey;
use crate::meta::Meta;
use crate::out::Out;
use crate::sorter::{self, Sorter};
use crate::sorters::config::{ConfigError, SorterConfig, Surroundings};
use crate::table::{Place, Table};

pub use config::{BLOCK_SIZE, Config, ENTRY, LITERAL, blocks_of};

/// Sorts the packets of each flow within blocks; holds nothing past the end of a batch.
///
/// Every packet pushed is delivered once: when its block has [`Config::block_size`] packets, when
/// [`Config::ring_size`] suitable packets have arrived since the ring was last emptied, when the flow table is full,
/// or at the end of the batch. Memory is reserved by [`Srpic::new`] and never grows.
///
/// Listing 1 leaves two cases open. They are handled as follows; [`Config::literal`] follows the listing exactly
/// instead:
/// - a packet that passes at once first flushes its own flow, so that a FIN never overtakes data;
/// - a number that comes twice, or overlaps, is delivered where a stable sort puts it. The listing would put the
///   second copy, found in Prev, before the first, found in Curr.
///
/// Flows are flushed in the order in which their first packets arrived.
pub struct Srpic<K, P> {
    pub(crate) table: Table<K, Block>,
    pub(crate) ring: Ring<P>,
    /// The first flow of the batch while it is the only one and has sent only whole blocks that were sorted within
    /// the caller's array. It holds nothing and is not in the table yet.
    pub(crate) lead: Option<K>,
    block_size: u32,
    pub(crate) literal: bool,
    pub(crate) counters: Counters,
}

/// Counts of what a sorter has done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Counters {
    /// Suitable packets.
    pub sorted: u64,
    /// Unsuitable packets that passed at once.
    pub passed: u64,
    /// Batches ended.
    pub batches: u64,
    /// Blocks flushed because they had reached BlockSize.
    pub full_blocks: u64,
    /// Blocks flushed to let an unsuitable packet of their flow pass.
    pub overtaken: u64,
    /// Times the ring's size was reached within a batch, flushing every flow.
    pub full_rings: u64,
    /// Times the flow table was full, flushing every flow.
    pub full_tables: u64,
}

/// The lists of one flow, as in table 2 of the paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lists {
    /// PrevPacketList, sequence numbers from first to last.
    pub prev: Vec<u32>,
    /// CurrPacketList.
    pub curr: Vec<u32>,
    /// AfterPacketList.
    pub after: Vec<u32>,
    /// NextExp; 0 before the block's first packet.
    pub next_exp: u32,
}

impl<K: FlowKey, P> Srpic<K, P> {
    /// A sorter with all its memory reserved: [`Srpic::memory_footprint`] bytes.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Srpic {
            table: Table::new(config.flow_capacity, config.hash_seed)?,
            ring: Ring::new(config.ring_size, config.block_size)?,
            lead: None,
            block_size: config.block_size as u32,
            literal: config.literal,
            counters: Counters::default(),
        })
    }

    /// Makes the sorter from a configuration of the registry.
    pub fn build(config: &SorterConfig, around: &Surroundings) -> Result<Self, ConfigError> {
        Srpic::new(&Config::from_settings(config, around))
    }

    /// Bytes the sorter takes, for a configuration of the registry.
    pub fn footprint(config: &SorterConfig, around: &Surroundings) -> usize {
        Self::memory_footprint(&Config::from_settings(config, around))
    }

    /// Bytes a sorter of this configuration takes, including itself but not the packets.
    pub fn memory_footprint(config: &Config) -> usize {
        size_of::<Self>()
            + Table::<K, Block>::footprint(config.flow_capacity)
            + Ring::<P>::footprint(config.ring_size, config.block_size)
    }

    /// One packet arrives; packets that are due go to `out`.
    #[inline]
    pub fn push(&mut self, meta: &Meta<K>, packet: P, out: &mut (impl FnMut(P) + ?Sized)) {
        if !meta.is_suitable() {
            return self.pass(meta.flow, packet, out);
        }
        let flow = self.enter(meta.flow, out);
        let block = self.table.get_mut(flow);
        self.ring.add(block, meta.seq, meta.len, packet);
        self.flush_if_due(flow, out);
    }

    /// The batch ends: everything held is delivered, and every flow is forgotten.
    #[inline]
    pub fn end_of_batch(&mut self, out: &mut (impl FnMut(P) + ?Sized)) {
        self.counters.batches += 1;
        self.flush_all(out);
    }

    /// Like [`Srpic::end_of_batch`], but not counted as a batch.
    pub fn flush(&mut self, out: &mut (impl FnMut(P) + ?Sized)) {
        self.flush_all(out);
    }

    /// BlockSize.
    #[inline]
    pub fn block_size(&self) -> usize {
        self.block_size as usize
    }

    /// Packets held now, at most [`Config::ring_size`] - 1.
    #[inline]
    pub fn held(&self) -> usize {
        self.ring.held()
    }

    /// Flows with a packet in the current batch.
    #[inline]
    pub fn flows(&self) -> usize {
        self.table.len() + usize::from(self.lead.is_some())
    }

    /// Counts so far.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters.sorted += self.ring.arrived() as u64;
        counters
    }

    /// The lists of `flow` as they are now; `None` when the batch has no packet of it. For inspection, because it
    /// searches and allocates.
    pub fn lists(&self, flow: &K) -> Option<Lists> {
        let block = match self.table.peek(flow) {
            Some(block) => block,
            None if self.lead == Some(*flow) => &Block::EMPTY,
            None => return None,
        };
        let numbers = |list| self.ring.numbers(block, list);
        Some(Lists {
            prev: numbers(block.prev),
            curr: numbers(block.curr),
            after: numbers(block.after),
            next_exp: block.next_exp,
        })
    }

    /// Passes a packet that must not be held.
    fn pass(&mut self, flow: K, packet: P, out: &mut (impl FnMut(P) + ?Sized)) {
        self.counters.passed += 1;
        if !self.literal
            && let Place::Known(flow) = self.table.find(flow)
        {
            let block = self.table.get_mut(flow);
            self.counters.overtaken += u64::from(block.count > 0);
            self.ring.deliver(block, false, out);
        }
        out(packet);
    }

    /// Find_SRPIC_manager_for_packet, or Create_.
    #[inline]
    pub(crate) fn enter(&mut self, flow: K, out: &mut (impl FnMut(P) + ?Sized)) -> usize {
        if let Some(lead) = self.lead.take() {
            self.enter_first(lead);
        }
        match self.table.find(flow) {
            Place::Known(known) => known,
            Place::Free(vacancy) if !self.table.is_full() => {
                self.table.insert(&vacancy, flow, Block::EMPTY)
            }
            Place::Free(_) => self.make_room(flow, out),
        }
    }

    /// Adds the first flow of a batch; there is always space for one.
    fn enter_first(&mut self, flow: K) {
        if let Place::Free(vacancy) = self.table.find(flow) {
            self.table.insert(&vacancy, flow, Block::EMPTY);
        }
    }

    /// Flushes `flow` if its block is full, and every flow if the ring is.
    #[inline]
    fn flush_if_due(&mut self, flow: usize, out: &mut (impl FnMut(P) + ?Sized)) {
        let block = self.table.get_mut(flow);
        if block.count >= self.block_size {
            self.counters.full_blocks += 1;
            self.ring.deliver(block, self.literal, out);
        }
        self.flush_full_ring(out);
    }

    /// Flushes every flow if the ring is full.
    #[inline]
    pub(crate) fn flush_full_ring(&mut self, out: &mut (impl FnMut(P) + ?Sized)) {
        if self.ring.is_full() {
            self.counters.full_rings += 1;
            self.flush_all(out);
        }
    }

    /// Empties a full table, then adds `flow` to it.
    #[cold]
    fn make_room(&mut self, flow: K, out: &mut (impl FnMut(P) + ?Sized)) -> usize {
        self.counters.full_tables += 1;
        self.flush_all(out);
        match self.table.find(flow) {
            Place::Known(known) => known,
            Place::Free(vacancy) => self.table.insert(&vacancy, flow, Block::EMPTY),
        }
    }

    /// Flush_all_SRPIC_managers. Costs O(flows and packets since the last time).
    fn flush_all(&mut self, out: &mut (impl FnMut(P) + ?Sized)) {
        for flow in 0..self.table.len() {
            let block = self.table.get_mut(flow);
            self.ring.deliver(block, self.literal, out);
        }
        self.counters.sorted += self.ring.arrived() as u64;
        self.table.clear();
        self.lead = None;
        self.ring.clear();
    }
}

impl<K: FlowKey, P> Sorter<K, P> for Srpic<K, P> {
    #[inline]
    fn push(
        &mut self,
        meta: &Meta<K>,
        packet: P,
        _now_ns: i64,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        Srpic::push(self, meta, packet, out);
    }

    #[inline]
    fn end_of_batch(&mut self, _now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        Srpic::end_of_batch(self, out);
    }

    fn flush(&mut self, _now_ns: i64, out: &mut (impl FnMut(P) + ?Sized)) {
        Srpic::flush(self, out);
    }

    #[inline]
    fn held(&self) -> usize {
        Srpic::held(self)
    }

    fn counters(&self) -> sorter::Counters {
        let own = Srpic::counters(self);
        sorter::Counters::new(own.sorted, own.passed, own.batches)
    }

    fn memory_footprint(&self) -> usize {
        size_of::<Self>() + self.table.own_footprint() + self.ring.own_footprint()
    }

    #[inline]
    fn take_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        _now_ns: i64,
        out: &mut impl Out<P>,
    ) {
        Srpic::take_burst(self, burst, meta, packet, out);
    }
}
