//! The packets that wait: places reserved once, each flow's packets chained in the order of their
//! numbers.
//!
//! A gap opens when the first packet above it arrives. Every held packet knows the earliest
//! arrival among itself and those above it, so the lowest one of a flow says how long the flow's
//! first gap has been open. Newer packets cannot change that of those below them.
//!
//! Where a packet belongs is found in a treap (Seidel and Aragon, 1996): a search tree by number, in
//! which every packet has a random priority and stands above those of lower ones. So no order of
//! arrival makes the search long, also one that a sender chooses.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use crate::siphash::hash_words;

/// No place.
pub(super) const NIL: u32 = u32::MAX;

struct Place<P> {
    packet: Option<P>,
    seq: u32,
    /// Where the packet after it begins.
    end: u32,
    /// The earliest arrival of this packet and all above it.
    open_ns: i64,
    /// A gap below it has been counted and has not ended.
    has_gap: bool,
    below: u32,
    /// Of a free place, the next free one.
    above: u32,
    /// Its neighbours in the tree, those of lower and of higher numbers.
    parent: u32,
    left: u32,
    right: u32,
    priority: u32,
}

/// A flow's held packets: the lowest and the highest place, the top of the tree, and how many there
/// are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) lowest: u32,
    highest: u32,
    root: u32,
    pub(super) packets: u32,
}

impl Chain {
    pub(super) const EMPTY: Chain = Chain {
        lowest: NIL,
        highest: NIL,
        root: NIL,
        packets: 0,
    };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.lowest == NIL
    }
}

/// What an arriving packet did to the gaps around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    /// No gap more and none less: it made one smaller, or came where none was.
    Same,
    /// One gap more: the packet lies above all others, or cut a gap in two.
    Opened,
    /// One gap less: the packet closed the one that had been open since then.
    Closed { open_ns: i64 },
}

/// A packet that leaves.
pub(super) struct Taken<P> {
    pub(super) packet: P,
    /// Where the packet after it begins.
    pub(super) end: u32,
    /// When the gap below it opened, if that had not ended.
    pub(super) gap_ns: Option<i64>,
}

/// All held packets.
pub(super) struct Held<P> {
    places: Vec<Place<P>>,
    free: u32,
    held: usize,
    /// State of the generator of priorities, which a sender must not know.
    random: u64,
}

/// `a` lies before `b`; they are less than 2^31 apart.
#[inline]
pub(super) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl<P> Held<P> {
    pub(super) fn new(packets: usize, seed: u64) -> Result<Self, TryReserveError> {
        let mut places = Vec::new();
        places.try_reserve_exact(packets)?;
        places.extend((1..=packets).map(|next| Place {
            packet: None,
            seq: 0,
            end: 0,
            open_ns: 0,
            has_gap: false,
            below: NIL,
            above: if next < packets { next as u32 } else { NIL },
            parent: NIL,
            left: NIL,
            right: NIL,
            priority: 0,
        }));
        let free = if packets > 0 { 0 } else { NIL };
        let held = 0;
        Ok(Held {
            places,
            free,
            held,
            random: hash_words(&[0], seed),
        })
    }

    /// Bytes that are allocated for `packets` places.
    pub(super) fn footprint(packets: usize) -> usize {
        packets * size_of::<Place<P>>()
    }

    pub(super) fn packets(&self) -> usize {
        self.held
    }

    pub(super) fn capacity(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free == NIL
    }

    /// Number of a chain's lowest packet, and when its first gap opened.
    #[inline]
    pub(super) fn first(&self, chain: &Chain) -> Option<(u32, i64)> {
        let place = self.places.get(chain.lowest as usize)?;
        Some((place.seq, place.open_ns))
    }

    /// The gap below a chain's lowest packet ends here. True: it had been counted.
    pub(super) fn end_gap(&mut self, chain: &Chain) -> bool {
        let place = self.places.get_mut(chain.lowest as usize);
        place.is_some_and(|place| core::mem::take(&mut place.has_gap))
    }

    /// Puts a packet into `chain`, behind those of the same number; `next` is where the flow goes
    /// on. The caller has seen that there is room. `None`, and nothing done: there was none.
    pub(super) fn insert(
        &mut self,
        chain: &mut Chain,
        next: u32,
        (seq, end): (u32, u32),
        packet: P,
        now_ns: i64,
    ) -> Option<Fit> {
        let below = self.last_not_above(chain, seq);
        let (floor, above) = match self.places.get(below as usize) {
            Some(other) => (other.end, other.above),
            None => (next, chain.lowest),
        };
        let slot = self.free;
        let opens = before(floor, seq);
        let mut fit = if opens { Fit::Opened } else { Fit::Same };
        let mut open_ns = now_ns;
        if let Some(other) = self.places.get_mut(above as usize) {
            open_ns = other.open_ns;
            if other.has_gap && !before(end, other.seq) {
                other.has_gap = false;
                fit = if opens {
                    Fit::Same
                } else {
                    Fit::Closed { open_ns }
                };
            }
        }
        let place = self.places.get_mut(slot as usize)?;
        self.free = place.above;
        *place = Place {
            packet: Some(packet),
            seq,
            end,
            open_ns,
            has_gap: opens,
            below,
            above,
            parent: NIL,
            left: NIL,
            right: NIL,
            priority: 0,
        };
        match self.places.get_mut(below as usize) {
            Some(other) => other.above = slot,
            None => chain.lowest = slot,
        }
        match self.places.get_mut(above as usize) {
            Some(other) => other.below = slot,
            None => chain.highest = slot,
        }
        self.held += 1;
        chain.packets += 1;
        self.grow(chain, slot);
        Some(fit)
    }

    /// The highest place whose number is not above `seq`.
    fn last_not_above(&self, chain: &Chain, seq: u32) -> u32 {
        // Mostly the packet is the highest one.
        if let Some(highest) = self.places.get(chain.highest as usize)
            && !before(seq, highest.seq)
        {
            return chain.highest;
        }
        let (mut at, mut found) = (chain.root, NIL);
        while let Some(place) = self.places.get(at as usize) {
            at = if before(seq, place.seq) {
                place.left
            } else {
                found = at;
                place.right
            };
        }
        found
    }

    /// Puts a place into the tree, whose neighbours in the chain are known: the one below has none of higher numbers under
    /// it, or the one above none of lower ones.
    fn grow(&mut self, chain: &mut Chain, slot: u32) {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let priority = hash_words(&[self.random], 0) as u32;
        let Some(place) = self.places.get_mut(slot as usize) else {
            return;
        };
        place.priority = priority;
        let (below, above) = (place.below, place.above);
        let mut parent = above;
        match self.places.get_mut(below as usize) {
            Some(place) if place.right == NIL => {
                place.right = slot;
                parent = below;
            }
            _ => match self.places.get_mut(above as usize) {
                Some(place) => place.left = slot,
                None => chain.root = slot,
            },
        }
        if let Some(place) = self.places.get_mut(slot as usize) {
            place.parent = parent;
        }
        while let Some(above) = self.places.get(parent as usize)
            && above.priority < priority
        {
            let next = above.parent;
            self.rotate(chain, parent, slot);
            parent = next;
        }
    }

    /// Exchanges a place and the one above it in the tree.
    fn rotate(&mut self, chain: &mut Chain, parent: u32, slot: u32) {
        let Some(top) = self.places.get(parent as usize).map(|place| place.parent) else {
            return;
        };
        let is_left = self
            .places
            .get(parent as usize)
            .is_some_and(|place| place.left == slot);
        let Some(place) = self.places.get_mut(slot as usize) else {
            return;
        };
        place.parent = top;
        let side = match is_left {
            true => &mut place.right,
            false => &mut place.left,
        };
        let moved = core::mem::replace(side, parent);
        if let Some(place) = self.places.get_mut(parent as usize) {
            place.parent = slot;
            match is_left {
                true => place.left = moved,
                false => place.right = moved,
            }
        }
        if let Some(place) = self.places.get_mut(moved as usize) {
            place.parent = parent;
        }
        match self.places.get_mut(top as usize) {
            Some(place) if place.left == parent => place.left = slot,
            Some(place) => place.right = slot,
            None => chain.root = slot,
        }
    }

    /// Takes the lowest place out of the tree: under it there are higher ones only.
    fn shrink(&mut self, chain: &mut Chain, parent: u32, right: u32) {
        if let Some(place) = self.places.get_mut(right as usize) {
            place.parent = parent;
        }
        match self.places.get_mut(parent as usize) {
            Some(place) => place.left = right,
            None => chain.root = right,
        }
    }

    /// Takes the lowest packet out of a chain.
    #[inline]
    pub(super) fn take_lowest(&mut self, chain: &mut Chain) -> Option<Taken<P>> {
        let slot = chain.lowest;
        let place = self.places.get_mut(slot as usize)?;
        let packet = place.packet.take()?;
        let (end, above) = (place.end, place.above);
        let (parent, right) = (place.parent, place.right);
        let gap_ns = place.has_gap.then_some(place.open_ns);
        place.above = core::mem::replace(&mut self.free, slot);
        chain.lowest = above;
        chain.packets -= 1;
        self.held -= 1;
        match self.places.get_mut(above as usize) {
            Some(next) => next.below = NIL,
            None => chain.highest = NIL,
        }
        self.shrink(chain, parent, right);
        Some(Taken {
            packet,
            end,
            gap_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn packets_come_out_by_number_and_equal_ones_as_they_came() {
        let mut held = Held::new(5, 7).unwrap();
        let mut chain = Chain::EMPTY;
        for (now_ns, (seq, name)) in [(5, 'e'), (3, 'c'), (5, 'f'), (2, 'b'), (9, 'z')]
            .into_iter()
            .enumerate()
        {
            held.insert(&mut chain, 0, (seq, seq + 1), name, now_ns as i64);
        }
        assert!(held.is_full());
        let out: Vec<char> = core::iter::from_fn(|| held.take_lowest(&mut chain))
            .map(|taken| taken.packet)
            .collect();
        assert_eq!(out, ['b', 'c', 'e', 'f', 'z']);
        assert!(chain.is_empty() && held.packets() == 0);
    }

    #[test]
    fn gaps_open_are_cut_and_close() {
        let mut held = Held::new(9, 7).unwrap();
        let mut chain = Chain::EMPTY;
        let mut at = |now_ns, seq, len| held.insert(&mut chain, 10, (seq, seq + len), (), now_ns);
        assert_eq!(at(100, 30, 10), Some(Fit::Opened));
        assert_eq!(at(200, 40, 10), Some(Fit::Same));
        assert_eq!(at(300, 15, 5), Some(Fit::Opened)); // 10 to 15 and 20 to 30 are missing
        assert_eq!(at(400, 20, 10), Some(Fit::Closed { open_ns: 100 })); // 20 to 30 came whole
        assert_eq!(at(500, 12, 3), Some(Fit::Same)); // 10 to 12 are still missing
        assert_eq!(at(600, 22, 3), Some(Fit::Same)); // a copy of a part that is there
    }

    /// Places on the way from the top of the tree to the deepest one, which is how many a search looks at.
    fn height<P>(held: &Held<P>, chain: &Chain) -> usize {
        let mut deepest = 0;
        let mut at = chain.lowest;
        while let Some(place) = held.places.get(at as usize) {
            let ups =
                core::iter::successors(Some(place), |place| held.places.get(place.parent as usize));
            deepest = deepest.max(ups.count());
            at = place.above;
        }
        deepest
    }

    /// Whatever the order of arrival is: counting downwards, from both ends to the middle, every second one first.
    #[test]
    fn no_order_makes_the_search_long() {
        const PACKETS: u32 = 8_192;
        let orders: [fn(u32) -> u32; 4] = [
            |n| n,
            |n| PACKETS - n,
            |n| if n % 2 == 0 { n / 2 } else { PACKETS - n / 2 },
            |n| n.reverse_bits() >> 19,
        ];
        for order in orders {
            let mut held = Held::new(PACKETS as usize, 7).unwrap();
            let mut chain = Chain::EMPTY;
            for n in 0..PACKETS {
                let seq = 10 + 20 * order(n);
                held.insert(&mut chain, 0, (seq, seq + 10), n, 0);
            }
            // A balanced one would have 14.
            assert!(height(&held, &chain) <= 50, "{}", height(&held, &chain));
            let mut last = 0;
            for _ in 0..PACKETS {
                let (seq, _) = held.first(&chain).unwrap();
                assert!(seq >= last);
                last = seq;
                held.take_lowest(&mut chain);
            }
            assert_eq!((chain.root, held.packets()), (NIL, 0));
        }
    }

    #[test]
    fn the_lowest_knows_how_long_its_gap_has_been_open() {
        let mut held = Held::new(9, 7).unwrap();
        let mut chain = Chain::EMPTY;
        for (now_ns, seq) in [(7, 50), (8, 20), (9, 30)] {
            held.insert(&mut chain, 0, (seq, seq + 10), (), now_ns);
        }
        assert_eq!(held.first(&chain), Some((20, 7)));
        held.take_lowest(&mut chain);
        held.take_lowest(&mut chain);
        assert_eq!(held.first(&chain), Some((50, 7)));
    }

    #[test]
    fn numbers_wrap() {
        let mut held = Held::new(3, 7).unwrap();
        let mut chain = Chain::EMPTY;
        for seq in [5u32, 0xffff_fffe, 0] {
            held.insert(&mut chain, 0xffff_fff0, (seq, seq.wrapping_add(1)), seq, 0);
        }
        let out: Vec<u32> = core::iter::from_fn(|| held.take_lowest(&mut chain))
            .map(|taken| taken.packet)
            .collect();
        assert_eq!(out, [0xffff_fffe, 0, 5]);
    }
}
