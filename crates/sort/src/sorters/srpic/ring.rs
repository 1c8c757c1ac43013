//! The packets of a batch, held in arrival order until their blocks are delivered.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use super::block::{Block, Link, List, Shape};

/// Slot `i` is the `i`-th suitable packet since the ring was last emptied.
pub(crate) struct Ring<P> {
    packets: Vec<Option<P>>,
    links: Vec<Link>,
    arrived: usize,
    delivered: usize,
    /// Space for sorting a block: the key in the upper half, the slot in the lower half.
    scratch: Vec<u64>,
}

impl<P> Ring<P> {
    /// `ring_size` slots, of which `block_size` are sorted at a time.
    pub(crate) fn new(ring_size: usize, block_size: usize) -> Result<Self, TryReserveError> {
        let (mut packets, mut links, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        packets.try_reserve_exact(ring_size)?;
        packets.resize_with(ring_size, || None);
        links.try_reserve_exact(ring_size)?;
        links.resize(ring_size, Link::default());
        scratch.try_reserve_exact(ring_size.min(block_size))?;
        Ok(Ring {
            packets,
            links,
            arrived: 0,
            delivered: 0,
            scratch,
        })
    }

    /// Bytes [`Ring::new`] reserves.
    pub(crate) fn footprint(ring_size: usize, block_size: usize) -> usize {
        ring_size * (size_of::<Option<P>>() + size_of::<Link>())
            + ring_size.min(block_size) * size_of::<u64>()
    }

    /// The bytes this ring reserves.
    pub(crate) fn own_footprint(&self) -> usize {
        Self::footprint(self.packets.capacity(), self.scratch.capacity())
    }

    /// Suitable packets since the ring was last emptied, whether delivered or not: Global_SRPIC_PacketCnt of the
    /// listing.
    #[inline]
    pub(crate) fn arrived(&self) -> usize {
        self.arrived
    }

    /// True when every slot has been used: all blocks must be flushed before another packet is added.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// The number of packets that still fit.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        self.packets.len() - self.arrived
    }

    /// Counts packets that are delivered without being held.
    #[inline]
    pub(crate) fn pass_by(&mut self, packets: usize) {
        self.arrived += packets;
        self.delivered += packets;
    }

    /// Packets not yet delivered.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.arrived - self.delivered
    }

    /// Starts again from the first slot. The caller has flushed every block.
    #[inline]
    pub(crate) fn clear(&mut self) {
        debug_assert_eq!(self.held(), 0);
        self.arrived = 0;
        self.delivered = 0;
    }

    /// Adds a packet of `block`. The caller has checked that the ring is not full.
    #[inline(always)] // As Block::add.
    pub(crate) fn add(&mut self, block: &mut Block, seq: u32, len: u32, packet: P) {
        if let Some(slot) = self.packets.get_mut(self.arrived) {
            *slot = Some(packet);
            block.add(&mut self.links, self.arrived as u32, seq, len);
            self.arrived += 1;
        }
    }

    /// Flush_SRPIC_manager: delivers the block and makes it empty.
    ///
    /// With `literal` the packets are delivered as Prev, Curr, After, whatever these contain. Otherwise the order is
    /// a stable sort of the block, which is the same unless numbers overlap.
    #[inline]
    pub(crate) fn deliver(
        &mut self,
        block: &mut Block,
        literal: bool,
        out: &mut (impl FnMut(P) + ?Sized),
    ) {
        if block.count == 0 {
            return;
        }
        // Done before the caller's code runs: if that unwinds, nothing is delivered twice.
        let done = core::mem::replace(block, Block::EMPTY);
        self.delivered += done.count as usize;
        let lists = [done.prev, done.curr, done.after];
        match done.shape(&self.links) {
            Shape::Run => self.deliver_run(done.curr, out),
            Shape::InOrder => self.deliver_lists(lists, out),
            Shape::Overlapping if literal => self.deliver_lists(lists, out),
            Shape::Unsorted if literal => {
                for list in lists {
                    self.deliver_sorted(&[list], out);
                }
            }
            Shape::Overlapping | Shape::Unsorted => self.deliver_sorted(&lists, out),
        }
    }

    #[inline]
    fn deliver_run(&mut self, run: List, out: &mut (impl FnMut(P) + ?Sized)) {
        let slots = self.packets.get_mut(run.head as usize..=run.tail as usize);
        for packet in slots.into_iter().flatten().filter_map(Option::take) {
            out(packet);
        }
    }

    #[inline]
    fn deliver_lists(&mut self, lists: [List; 3], out: &mut (impl FnMut(P) + ?Sized)) {
        for list in lists {
            for slot in list.slots(&self.links) {
                let packet = self.packets.get_mut(slot as usize).and_then(Option::take);
                packet.into_iter().for_each(&mut *out);
            }
        }
    }

    /// Slots are numbered by arrival, so sorting by (key, slot) is stable.
    #[cold]
    fn deliver_sorted(&mut self, lists: &[List], out: &mut (impl FnMut(P) + ?Sized)) {
        let mut order = core::mem::take(&mut self.scratch);
        order.clear();
        for slot in lists.iter().flat_map(|list| list.slots(&self.links)) {
            let key = self.links.get(slot as usize).map_or(0, |l| l.key);
            // Flipping the sign bit turns signed order into unsigned order.
            order.push(u64::from(key as u32 ^ 1 << 31) << 32 | u64::from(slot));
        }
        order.sort_unstable();
        for packed in &order {
            let slot = *packed as u32 as usize;
            let packet = self.packets.get_mut(slot).and_then(Option::take);
            packet.into_iter().for_each(&mut *out);
        }
        self.scratch = order;
    }

    /// Sequence numbers of `list`, which belongs to `block`, from head to tail.
    pub(crate) fn numbers(&self, block: &Block, list: List) -> Vec<u32> {
        let key = |slot: u32| self.links.get(slot as usize).map_or(0, |l| l.key);
        list.slots(&self.links)
            .map(|slot| block.anchor.wrapping_add(key(slot) as u32))
            .collect()
    }
}
