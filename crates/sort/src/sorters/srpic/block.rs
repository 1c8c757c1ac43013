//! A sorting block: the lists Prev, Curr and After of Listing 1, linked through the ring.

/// No slot.
pub(crate) const NIL: u32 = u32::MAX;

/// How many places a packet may move towards the front of its list; beyond that, the list is sorted at the flush.
/// Small displacements are repaired immediately, and a reversed block still costs O(n log n), even if a sender
/// provokes it.
const WALK: u32 = 16;

/// The position of a packet in its list; the index of the link is the slot in the ring.
#[derive(Clone, Copy, Default)]
pub(crate) struct Link {
    /// Sequence number as a signed distance from the block's anchor.
    pub(crate) key: i32,
    prev: u32,
    /// Undefined for the last link of a list.
    next: u32,
}

/// First and last slot of a list, and its largest key.
#[derive(Clone, Copy)]
pub(crate) struct List {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    max: i32,
}

impl List {
    const EMPTY: List = List {
        head: NIL,
        tail: NIL,
        max: i32::MIN,
    };

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// Appends slot `at`.
    #[inline(always)] // As Block::add.
    fn append(&mut self, links: &mut [Link], at: u32, key: i32) {
        // The links of a train need no change when they are written: each packet is followed by the one that arrives
        // next.
        if self.tail.wrapping_add(1) != at
            && let Some(tail) = links.get_mut(self.tail as usize)
        {
            tail.next = at;
        }
        if let Some(link) = links.get_mut(at as usize) {
            *link = Link {
                key,
                prev: self.tail,
                next: at.wrapping_add(1),
            };
        }
        if self.is_empty() {
            self.head = at;
        }
        self.tail = at;
        self.max = self.max.max(key);
    }

    /// Add_packet_to_list_and_sort. Returns true when the packet was inserted in order, and false when its place is
    /// too far away and it was appended.
    #[inline(always)] // As Block::add.
    fn insert(&mut self, links: &mut [Link], at: u32, key: i32) -> bool {
        let (list, sorted) = self.with(links, at, key);
        *self = list;
        sorted
    }

    /// By value, so that the block stays in registers across the call.
    #[inline(never)]
    fn with(mut self, links: &mut [Link], at: u32, key: i32) -> (List, bool) {
        let place = left_neighbour(links, self, key);
        let left = place.unwrap_or(self.tail);
        if left == self.tail {
            self.append(links, at, key);
            return (self, place.is_some());
        }
        let right = match links.get_mut(left as usize) {
            Some(link) => core::mem::replace(&mut link.next, at),
            None => core::mem::replace(&mut self.head, at),
        };
        if let Some(link) = links.get_mut(right as usize) {
            link.prev = at;
        }
        if let Some(link) = links.get_mut(at as usize) {
            *link = Link {
                key,
                prev: left,
                next: right,
            };
        }
        (self, true)
    }

    /// The slots from head to tail.
    #[inline]
    pub(crate) fn slots(self, links: &[Link]) -> impl Iterator<Item = u32> {
        let mut at = self.head;
        core::iter::from_fn(move || {
            let here = at;
            let link = links.get(here as usize)?;
            at = if here == self.tail { NIL } else { link.next };
            Some(here)
        })
    }
}

/// The state Listing 1 keeps for a flow: PacketCnt, NextExp and the three lists.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// PacketCnt.
    pub(crate) count: u32,
    /// NextExp: the number at which the packet after the last of Curr would begin.
    pub(crate) next_exp: u32,
    /// NextExp as the first packet of the block set it. The block is ordered by the distance from this number, which
    /// is fixed, so the order stays total when NextExp moves.
    pub(crate) anchor: u32,
    pub(crate) prev: List,
    pub(crate) curr: List,
    pub(crate) after: List,
    /// True when a list is not in order and must be sorted at the flush.
    pub(crate) unsorted: bool,
}

/// The order of the packets of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Only Curr has packets, and they are in consecutive slots.
    Run,
    /// Prev, Curr and After, one after another, are a stable sort of the block.
    InOrder,
    /// Each list is sorted, but the lists overlap: a packet arrived twice, or overlaps others.
    Overlapping,
    /// A list is not sorted.
    Unsorted,
}

impl Block {
    /// A manager as Listing 1 creates it, with all fields zero.
    pub(crate) const EMPTY: Block = Block {
        count: 0,
        next_exp: 0,
        anchor: 0,
        prev: List::EMPTY,
        curr: List::EMPTY,
        after: List::EMPTY,
        unsorted: false,
    };

    /// Adds the packet of slot `at` to its list. The inner branch of Listing 1.
    #[inline(always)] // In a train of packets the block should stay in registers.
    pub(crate) fn add(&mut self, links: &mut [Link], at: u32, seq: u32, len: u32) {
        let end = seq.wrapping_add(len);
        if self.count == 0 {
            *self = Block {
                next_exp: seq,
                anchor: end,
                ..Block::EMPTY
            };
        }
        self.count += 1;
        let key = seq.wrapping_sub(self.anchor) as i32;
        if seq == self.next_exp {
            self.next_exp = end;
            // Only a block that spans 2^31 or more can run backwards here.
            self.unsorted |= key < self.curr.max;
            self.curr.append(links, at, key);
        } else if (seq.wrapping_sub(self.next_exp) as i32) < 0 {
            self.unsorted |= !self.prev.insert(links, at, key);
        } else if key >= self.after.max {
            self.after.append(links, at, key);
        } else {
            self.unsorted |= !self.after.insert(links, at, key);
        }
    }

    /// What must be done to deliver the block in order.
    #[inline]
    pub(crate) fn shape(&self, links: &[Link]) -> Shape {
        let key = |slot: u32| links.get(slot as usize).map(|l| l.key);
        let only_curr = self.prev.is_empty() && self.after.is_empty();
        let in_a_row = self.curr.tail.wrapping_sub(self.curr.head) == self.count.wrapping_sub(1);
        if self.unsorted {
            Shape::Unsorted
        } else if only_curr && in_a_row {
            Shape::Run
        } else if (self.prev.is_empty() || key(self.prev.tail) < key(self.curr.head))
            && (self.after.is_empty() || key(self.curr.tail) < key(self.after.head))
        {
            Shape::InOrder
        } else {
            Shape::Overlapping
        }
    }
}

/// The last slot of `list` whose key is not above `key`, so that equal keys stay in arrival order; [`NIL`] for the
/// front, `None` when it is too far away.
#[inline]
fn left_neighbour(links: &[Link], list: List, key: i32) -> Option<u32> {
    let mut left = list.tail;
    for _ in 0..WALK {
        match links.get(left as usize) {
            Some(link) if link.key > key => left = link.prev,
            _ => return Some(left),
        }
    }
    None
}
