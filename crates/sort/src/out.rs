//! The destination of packets: a closure that takes them one by one, or an array.

use crate::place::{self, MAX_BLOCK_IN_PLACE, Order};

/// Takes packets in order of delivery. What a sorter delivers a burst into ([`crate::Sorter::take_burst`]).
pub trait Out<P> {
    /// Takes the next packet.
    fn one(&mut self, packet: P);

    /// Takes all packets of `block`, in the order of their keys.
    fn block<'b, T>(
        &mut self,
        block: &'b [T],
        order: Order,
        key: impl Fn(&T) -> u32,
        packet: &impl Fn(&'b T) -> P,
    );

    /// Takes all packets of `block`, at most 64: `places` says of each, from 0 on, where it belongs among them.
    fn placed<'b, T>(&mut self, block: &'b [T], places: &[u8], packet: &impl Fn(&'b T) -> P);
}

/// A closure.
pub(crate) struct Each<'a, F: ?Sized>(pub(crate) &'a mut F);

impl<P, F: FnMut(P) + ?Sized> Out<P> for Each<'_, F> {
    #[inline]
    fn one(&mut self, packet: P) {
        (self.0)(packet);
    }

    #[inline]
    fn block<'b, T>(
        &mut self,
        block: &'b [T],
        order: Order,
        key: impl Fn(&T) -> u32,
        packet: &impl Fn(&'b T) -> P,
    ) {
        if order.as_it_lies() {
            return block.iter().map(packet).for_each(&mut *self.0);
        }
        // Each packet is made once; the sort moves positions.
        let mut room = [0u8; MAX_BLOCK_IN_PLACE];
        let positions = room.get_mut(..block.len()).unwrap_or_default();
        place::fill(positions, block, order, key, |at, _| at as u8);
        positions
            .iter()
            .filter_map(|&at| block.get(usize::from(at)))
            .map(packet)
            .for_each(&mut *self.0);
    }

    #[inline]
    fn placed<'b, T>(&mut self, block: &'b [T], places: &[u8], packet: &impl Fn(&'b T) -> P) {
        let mut positions = [0u8; MAX_BLOCK_IN_PLACE];
        for (&place, at) in places.iter().zip(0..) {
            if let Some(position) = positions.get_mut(usize::from(place)) {
                *position = at;
            }
        }
        let positions = positions.iter().take(block.len());
        positions
            .filter_map(|&at| block.get(usize::from(at)))
            .map(packet)
            .for_each(&mut *self.0);
    }
}

/// An array, filled from the front. Packets beyond its end are lost.
pub(crate) struct Places<'a, P> {
    places: &'a mut [P],
    written: usize,
}

impl<'a, P> Places<'a, P> {
    pub(crate) fn new(places: &'a mut [P]) -> Self {
        Places { places, written: 0 }
    }

    pub(crate) fn written(&self) -> usize {
        self.written
    }
}

impl<P: Copy> Out<P> for Places<'_, P> {
    #[inline]
    fn one(&mut self, packet: P) {
        if let Some(place) = self.places.get_mut(self.written) {
            *place = packet;
            self.written += 1;
        }
    }

    #[inline]
    fn block<'b, T>(
        &mut self,
        block: &'b [T],
        order: Order,
        key: impl Fn(&T) -> u32,
        packet: &impl Fn(&'b T) -> P,
    ) {
        let end = self.written + block.len();
        if let Some(free) = self.places.get_mut(self.written..end) {
            place::fill(free, block, order, key, |_, t| packet(t));
            self.written = end;
        }
    }

    #[inline]
    fn placed<'b, T>(&mut self, block: &'b [T], places: &[u8], packet: &impl Fn(&'b T) -> P) {
        let end = self.written + block.len();
        if let Some(free) = self.places.get_mut(self.written..end) {
            for (t, &place) in block.iter().zip(places) {
                if let Some(free) = free.get_mut(usize::from(place)) {
                    *free = packet(t);
                }
            }
            self.written = end;
        }
    }
}
