//! One sorting block: the lists Prev, Curr and After of Listing 1, chained through the ring.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// No slot.
const NIL: u32 = u32::MAX;

/// How far a packet is carried towards the front of its list before the list is left to be
/// sorted at the flush. Mild displacement is mended on the spot; a reversed block stays
/// O(n log n), whoever sends it.
const WALK: u32 = 16;

/// A packet in the ring and its neighbours in its list.
struct Slot<P> {
    packet: Option<P>,
    /// Sequence number as a signed distance from the block's anchor.
    key: i32,
    prev: u32,
    next: u32,
}

/// First and last slot of a list.
#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: List = List {
        head: NIL,
        tail: NIL,
    };

    #[inline]
    fn is_empty(self) -> bool {
        self.head == NIL
    }
}

/// What Listing 1 keeps of a flow: PacketCnt, NextExp and the three lists.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// PacketCnt.
    pub(crate) count: u32,
    /// NextExp: where the packet after the last of Curr would begin.
    pub(crate) next_exp: u32,
    /// NextExp as the block's first packet set it. Distances from here order the block: a fixed
    /// point, so the order is total however far NextExp moves.
    anchor: u32,
    prev: List,
    curr: List,
    after: List,
    /// A list is not in order and must be sorted at the flush.
    unsorted: bool,
}

/// Which list a packet went to; for looking at, step by step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Prev,
    Curr,
    After,
}

impl Block {
    /// A manager as Listing 1 creates it: all zero.
    pub(crate) const EMPTY: Block = Block {
        count: 0,
        next_exp: 0,
        anchor: 0,
        prev: List::EMPTY,
        curr: List::EMPTY,
        after: List::EMPTY,
        unsorted: false,
    };

    fn list(&self, part: Part) -> List {
        match part {
            Part::Prev => self.prev,
            Part::Curr => self.curr,
            Part::After => self.after,
        }
    }

    /// Whether Prev, Curr and After one after another are a stable sort of the block. They are
    /// not when a packet came twice or overlaps: its second copy is in Prev, its first in Curr.
    #[inline]
    fn in_order<P>(&self, slots: &[Slot<P>]) -> bool {
        let key = |slot: u32| slots[slot as usize].key;
        !self.unsorted
            && (self.prev.is_empty() || key(self.prev.tail) < key(self.curr.head))
            && (self.after.is_empty() || key(self.curr.tail) < key(self.after.head))
    }
}

/// The packets of a batch in arrival order: slot `i` is the ring's `i`-th packet.
pub(crate) struct Slots<P> {
    slots: Vec<Slot<P>>,
    /// Packets in `slots` not yet delivered.
    held: usize,
    /// Room for sorting a block: key in the upper, slot in the lower half.
    scratch: Vec<u64>,
}

impl<P> Slots<P> {
    /// Slots for `ring_size` packets, of which `block_size` are sorted at a time.
    pub(crate) fn new(ring_size: usize, block_size: usize) -> Result<Self, TryReserveError> {
        let (mut slots, mut scratch) = (Vec::new(), Vec::new());
        slots.try_reserve_exact(ring_size)?;
        scratch.try_reserve_exact(ring_size.min(block_size))?;
        Ok(Slots {
            slots,
            held: 0,
            scratch,
        })
    }

    /// Bytes [`Slots::new`] reserves.
    pub(crate) fn footprint(ring_size: usize, block_size: usize) -> usize {
        ring_size * size_of::<Slot<P>>() + ring_size.min(block_size) * size_of::<u64>()
    }

    /// Suitable packets since the ring was last emptied, delivered or not: the listing's
    /// Global_SRPIC_PacketCnt.
    #[inline]
    pub(crate) fn arrived(&self) -> usize {
        self.slots.len()
    }

    /// Packets not yet delivered.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Forgets the delivered packets; the caller has flushed every block.
    #[inline]
    pub(crate) fn clear(&mut self) {
        debug_assert_eq!(self.held, 0);
        self.slots.clear();
    }

    /// Lays a packet into its list. Listing 1, inner branch.
    #[inline]
    pub(crate) fn add(&mut self, block: &mut Block, seq: u32, len: u32, packet: P) {
        let at = self.slots.len() as u32;
        self.held += 1;
        let end = seq.wrapping_add(len);
        if block.count == 0 {
            *block = Block {
                count: 1,
                next_exp: end,
                anchor: end,
                curr: List { head: at, tail: at },
                ..Block::EMPTY
            };
            self.store(packet, len.wrapping_neg() as i32, NIL, NIL);
            return;
        }
        block.count += 1;
        let key = seq.wrapping_sub(block.anchor) as i32;
        if seq == block.next_exp {
            block.next_exp = end;
            let tail = &mut self.slots[block.curr.tail as usize];
            tail.next = at;
            // Only a block that spans 2^31 or more can run backwards here.
            block.unsorted |= tail.key > key;
            self.store(packet, key, block.curr.tail, NIL);
            block.curr.tail = at;
        } else {
            self.add_out_of_order(block, seq, key, packet);
        }
    }

    /// Add_packet_to_list_and_sort.
    fn add_out_of_order(&mut self, block: &mut Block, seq: u32, key: i32, packet: P) {
        let early = (seq.wrapping_sub(block.next_exp) as i32) < 0;
        let list = if early {
            &mut block.prev
        } else {
            &mut block.after
        };
        let Some(left) = self.left_neighbour(*list, key) else {
            block.unsorted = true;
            return self.insert_after(list.tail, list, key, packet);
        };
        self.insert_after(left, list, key, packet);
    }

    /// The last slot of `list` whose key is not above `key`, so that equals stay in arrival
    /// order; [`NIL`] for the front, `None` when it is too far.
    #[inline]
    fn left_neighbour(&self, list: List, key: i32) -> Option<u32> {
        let mut left = list.tail;
        for _ in 0..WALK {
            match self.slots.get(left as usize) {
                Some(slot) if slot.key > key => left = slot.prev,
                _ => return Some(left),
            }
        }
        None
    }

    #[inline]
    fn insert_after(&mut self, left: u32, list: &mut List, key: i32, packet: P) {
        let at = self.slots.len() as u32;
        let right = match self.slots.get_mut(left as usize) {
            Some(slot) => core::mem::replace(&mut slot.next, at),
            None => core::mem::replace(&mut list.head, at),
        };
        match self.slots.get_mut(right as usize) {
            Some(slot) => slot.prev = at,
            None => list.tail = at,
        }
        self.store(packet, key, left, right);
    }

    #[inline]
    fn store(&mut self, packet: P, key: i32, prev: u32, next: u32) {
        self.slots.push(Slot {
            packet: Some(packet),
            key,
            prev,
            next,
        });
    }

    /// Flush_SRPIC_manager: delivers the block and makes it empty.
    ///
    /// `literal`: Prev, then Curr, then After, whatever they hold. Otherwise a stable sort of the
    /// block, which is the same unless numbers overlap.
    #[inline]
    pub(crate) fn deliver<F>(&mut self, block: &mut Block, literal: bool, out: &mut F)
    where
        F: FnMut(P) + ?Sized,
    {
        if block.count == 0 {
            return;
        }
        // Before the caller's code runs: should it unwind, nothing is delivered twice.
        self.held -= block.count as usize;
        let done = core::mem::replace(block, Block::EMPTY);
        if done.prev.is_empty() && done.after.is_empty() && !done.unsorted {
            self.deliver_list(done.curr, out);
        } else if done.in_order(&self.slots) || literal && !done.unsorted {
            for list in [done.prev, done.curr, done.after] {
                self.deliver_list(list, out);
            }
        } else if literal {
            for list in [done.prev, done.curr, done.after] {
                self.deliver_sorted(&[list], out);
            }
        } else {
            self.deliver_sorted(&[done.prev, done.curr, done.after], out);
        }
    }

    #[inline]
    fn deliver_list<F>(&mut self, list: List, out: &mut F)
    where
        F: FnMut(P) + ?Sized,
    {
        let mut at = list.head;
        while let Some(slot) = self.slots.get_mut(at as usize) {
            at = slot.next;
            if let Some(packet) = slot.packet.take() {
                out(packet);
            }
        }
    }

    /// Slots are numbered by arrival, so sorting by (key, slot) is stable.
    #[cold]
    fn deliver_sorted<F>(&mut self, lists: &[List], out: &mut F)
    where
        F: FnMut(P) + ?Sized,
    {
        let mut order = core::mem::take(&mut self.scratch);
        order.clear();
        for list in lists {
            let mut at = list.head;
            while let Some(slot) = self.slots.get(at as usize) {
                // Flipping the sign bit turns signed order into unsigned order.
                let key = slot.key as u32 ^ 1 << 31;
                order.push(u64::from(key) << 32 | u64::from(at));
                at = slot.next;
            }
        }
        order.sort_unstable();
        for packed in &order {
            let slot = self.slots.get_mut(*packed as u32 as usize);
            if let Some(packet) = slot.and_then(|s| s.packet.take()) {
                out(packet);
            }
        }
        self.scratch = order;
    }

    /// Sequence numbers of one list from head to tail.
    pub(crate) fn numbers(&self, block: &Block, part: Part) -> Vec<u32> {
        let mut numbers = Vec::new();
        let mut at = block.list(part).head;
        while let Some(slot) = self.slots.get(at as usize) {
            numbers.push(block.anchor.wrapping_add(slot.key as u32));
            at = slot.next;
        }
        numbers
    }
}
