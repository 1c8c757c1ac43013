//! The packets that wait: places reserved once, each flow's packets chained in the order of their
//! numbers.
//!
//! A gap opens when the first packet above it arrives. Every held packet knows the earliest
//! arrival among itself and those above it, so the lowest one of a flow says how long the flow's
//! first gap has been open. Newer packets cannot change that of those below them.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

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
}

/// A flow's held packets: the lowest and the highest place, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    pub(super) lowest: u32,
    highest: u32,
    pub(super) packets: u32,
}

impl Chain {
    pub(super) const EMPTY: Chain = Chain {
        lowest: NIL,
        highest: NIL,
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
    /// One more: it lies above all, or cut one in two.
    Opened,
    /// One less: it closed the gap that had been open since then.
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
}

/// `a` lies before `b`; they are less than 2^31 apart.
#[inline]
pub(super) fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

impl<P> Held<P> {
    pub(super) fn new(packets: usize) -> Result<Self, TryReserveError> {
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
        }));
        let free = if packets > 0 { 0 } else { NIL };
        let held = 0;
        Ok(Held { places, free, held })
    }

    /// Bytes beside itself.
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
        let mut below = chain.highest;
        while let Some(other) = self.places.get(below as usize)
            && before(seq, other.seq)
        {
            below = other.below;
        }
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
        Some(fit)
    }

    /// Takes the lowest packet out of a chain.
    #[inline]
    pub(super) fn take_lowest(&mut self, chain: &mut Chain) -> Option<Taken<P>> {
        let slot = chain.lowest;
        let place = self.places.get_mut(slot as usize)?;
        let packet = place.packet.take()?;
        let (end, above) = (place.end, place.above);
        let gap_ns = place.has_gap.then_some(place.open_ns);
        place.above = core::mem::replace(&mut self.free, slot);
        chain.lowest = above;
        chain.packets -= 1;
        self.held -= 1;
        match self.places.get_mut(above as usize) {
            Some(next) => next.below = NIL,
            None => chain.highest = NIL,
        }
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
        let mut held = Held::new(5).unwrap();
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
        let mut held = Held::new(9).unwrap();
        let mut chain = Chain::EMPTY;
        let mut at = |now_ns, seq, len| held.insert(&mut chain, 10, (seq, seq + len), (), now_ns);
        assert_eq!(at(100, 30, 10), Some(Fit::Opened));
        assert_eq!(at(200, 40, 10), Some(Fit::Same));
        assert_eq!(at(300, 15, 5), Some(Fit::Opened)); // 10 to 15 and 20 to 30 are missing
        assert_eq!(at(400, 20, 10), Some(Fit::Closed { open_ns: 100 })); // 20 to 30 came whole
        assert_eq!(at(500, 12, 3), Some(Fit::Same)); // 10 to 12 are still missing
        assert_eq!(at(600, 22, 3), Some(Fit::Same)); // a copy of a part that is there
    }

    #[test]
    fn the_lowest_knows_how_long_its_gap_has_been_open() {
        let mut held = Held::new(9).unwrap();
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
        let mut held = Held::new(3).unwrap();
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
