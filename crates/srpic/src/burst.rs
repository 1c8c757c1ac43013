//! Whole bursts: a block that lies in one piece is sorted where it lies.
//!
//! A driver's receive call hands over an array. When a block's worth of packets in it belong to
//! one flow that holds nothing, the block would be filled and flushed before anybody else is
//! looked at: then there is no need to hold it, and none for the lists either, for what they
//! give is a stable sort. Anything else goes the usual way, with the same result.

use crate::key::FlowKey;
use crate::meta::Meta;
use crate::srpic::Srpic;
use crate::table::Place;

/// How far a packet is carried towards the front before the block is left to a full sort.
const CARRY: usize = 16;

/// What [`order_by_key`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// In order as they lie.
    InOrder,
    /// The words say in which order.
    Reordered,
}

/// Puts the packets' positions into `words`, in the order of their keys, equal keys in the order
/// they came. `None` when a packet has no key or there are fewer than words.
#[inline(always)] // A few instructions a packet, the caller's for finding the key among them.
fn order_by_key(words: &mut [u64], mut keys: impl Iterator<Item = Option<i32>>) -> Option<Found> {
    let (mut last, mut in_order, mut sorted) = (0, true, true);
    for position in 0..words.len() {
        // Flipping the sign bit turns signed order into unsigned order; the position, larger
        // than any before, makes the order stable and no two words equal.
        let key = keys.next()?? as u32 ^ 1 << 31;
        let word = u64::from(key) << 32 | position as u64;
        if let Some(place) = words.get_mut(position) {
            *place = word;
        }
        if word >= last {
            last = word;
        } else {
            in_order = false;
            sorted = sorted && words.get_mut(..=position).is_some_and(carry);
        }
    }
    if !sorted {
        words.sort_unstable();
    }
    Some(if in_order {
        Found::InOrder
    } else {
        Found::Reordered
    })
}

/// Moves the last word to its place among the sorted ones before it; false when that is too far.
#[inline]
fn carry(words: &mut [u64]) -> bool {
    for steps in 0..CARRY {
        let Some(at) = words.len().checked_sub(steps + 2) else {
            return true;
        };
        match words.get_mut(at..=at + 1) {
            Some([left, right]) if *left > *right => core::mem::swap(left, right),
            _ => return true,
        }
    }
    false
}

impl<K: FlowKey, P> Srpic<K, P> {
    /// A burst arrives: the same as [`Srpic::push`] for each of its packets, and the quickest way
    /// for a driver that gets them as an array.
    ///
    /// `meta` tells the facts of a packet and may be asked more than once; `packet` makes what is
    /// delivered and is asked once for each.
    ///
    /// ```
    /// # use inorder_srpic::{Config, Meta, Srpic};
    /// let mut sorter = Srpic::new(&Config::default())?;
    /// let (burst, mut up) = ([3u32, 1, 2], Vec::new());
    /// sorter.push_burst(&burst, |&n| Meta::data(7u32, n, 1), |&n| n, &mut |p| up.push(p));
    /// sorter.end_of_batch(&mut |p| up.push(p));
    /// assert_eq!(up, [1, 2, 3]);
    /// # Ok::<(), inorder_srpic::ConfigError>(())
    /// ```
    #[inline]
    pub fn push_burst<'b, T, M, G, F>(&mut self, burst: &'b [T], meta: M, packet: G, out: &mut F)
    where
        M: Fn(&T) -> Meta<K>,
        G: Fn(&'b T) -> P,
        F: FnMut(P) + ?Sized,
    {
        let mut rest = burst;
        while !rest.is_empty() {
            let block = rest.get(..self.block_size()).filter(|_| !self.literal);
            let mut one_by_one = rest.len();
            if let Some(block) = block {
                if self.sort_in_place(block, &meta, &packet, out) {
                    rest = rest.get(block.len()..).unwrap_or_default();
                    continue;
                }
                // As many as bring the flow, if it is one, to the end of the block it has begun.
                one_by_one = block.len() - self.held_of(block, &meta);
            }
            let (now, later) = rest.split_at_checked(one_by_one).unwrap_or((rest, &[]));
            for t in now {
                self.push(&meta(t), packet(t), out);
            }
            rest = later;
        }
    }

    /// Sorts and delivers a block that lies in one piece; false when it does not.
    #[inline]
    fn sort_in_place<'b, T, M, G, F>(
        &mut self,
        block: &'b [T],
        meta: &M,
        packet: &G,
        out: &mut F,
    ) -> bool
    where
        M: Fn(&T) -> Meta<K>,
        G: Fn(&'b T) -> P,
        F: FnMut(P) + ?Sized,
    {
        let (Some(first), Some(last)) = (block.first().map(meta), block.last().map(meta)) else {
            return false;
        };
        let of_flow = |m: &Meta<K>| m.suitable && m.flow == first.flow;
        if !of_flow(&first) || !of_flow(&last) || !self.has_room(first.flow, block.len(), out) {
            return false;
        }
        let anchor = first.seq.wrapping_add(first.len);
        let keys = block.iter().map(|t| {
            let m = meta(t);
            of_flow(&m).then(|| m.seq.wrapping_sub(anchor) as i32)
        });
        let mut words = self.ring.lend_scratch(block.len());
        let found = order_by_key(&mut words, keys);
        if found.is_some() {
            self.ring.pass_by(block.len());
            self.counters.full_blocks += 1;
        }
        match found {
            None => {}
            Some(Found::InOrder) => block.iter().map(packet).for_each(&mut *out),
            Some(Found::Reordered) => words
                .iter()
                .filter_map(|&word| block.get(word as u32 as usize))
                .map(packet)
                .for_each(&mut *out),
        }
        self.ring.give_back_scratch(words);
        self.flush_full_ring(out);
        found.is_some()
    }

    /// True when `flow` holds nothing and a block of it would not be cut short by the ring.
    #[inline]
    fn has_room<F>(&mut self, flow: K, packets: usize, out: &mut F) -> bool
    where
        F: FnMut(P) + ?Sized,
    {
        let flow = self.enter(flow, out);
        self.table.get_mut(flow).count == 0 && packets <= self.ring.room()
    }

    /// Packets held, less than a block, of the flow that `block` begins with.
    fn held_of<T, M>(&mut self, block: &[T], meta: &M) -> usize
    where
        M: Fn(&T) -> Meta<K>,
    {
        match block.first().map(|t| self.table.find(meta(t).flow)) {
            Some(Place::Known(flow)) => self.table.get_mut(flow).count as usize,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Positions in the order of `keys`, as found and as a stable sort has them.
    fn both(keys: &[i32]) -> (Option<Found>, Vec<u32>, Vec<u32>) {
        let mut words = std::vec![0; keys.len()];
        let found = order_by_key(&mut words, keys.iter().copied().map(Some));
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&p| keys[p as usize]);
        (found, words.iter().map(|&w| w as u32).collect(), expected)
    }

    #[test]
    fn late_packets_are_carried_and_reversed_blocks_sorted() {
        let (found, order, expected) = both(&[1, 3, 4, 2, 5]);
        assert_eq!((found, order), (Some(Found::Reordered), expected));
        let reversed: Vec<i32> = (0..100).rev().collect();
        let (_, order, expected) = both(&reversed);
        assert_eq!(order, expected);
        assert_eq!(
            both(&[i32::MIN, -1, 0, 0, i32::MAX]).0,
            Some(Found::InOrder)
        );
    }

    #[test]
    fn a_stranger_among_them_spoils_it() {
        let mut words = [0; 3];
        let keys = [Some(1), None, Some(2)];
        assert_eq!(order_by_key(&mut words, keys.into_iter()), None);
    }

    proptest! {
        #[test]
        fn is_a_stable_sort(keys in prop::collection::vec(-20i32..20, 0..80)) {
            let (_, order, expected) = both(&keys);
            prop_assert_eq!(order, expected);
        }
    }
}
