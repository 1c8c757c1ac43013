//! Stable sort of a block in which few packets are out of place.
//!
//! The place of a packet is its position, plus the number of later packets that belong before it, minus the number of
//! earlier packets that belong after it. Only pairs that include a late packet can be in the wrong order, and the
//! packets it has been overtaken by are in one stretch directly before it. So looking back from each late packet
//! finds all such pairs. That is quadratic in the worst case, for at most [`MAX_BLOCK_IN_PLACE`] packets, and very
//! cheap in the usual one.

/// Largest number of packets of a block: the bits of a word. A driver's burst is rarely larger.
pub(crate) const MAX_BLOCK_IN_PLACE: usize = 64;

/// Which packets of a block are late, that is, below one that came before them; by default none is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Order {
    /// The uppermost bit belongs to the first packet.
    late: u64,
}

/// Determines an [`Order`] as packets pass.
#[derive(Default)]
pub(crate) struct Watch {
    late: u64,
    top: u32,
}

impl Watch {
    /// Takes the key of the next packet.
    #[inline(always)] // Four instructions; the same holds for the functions below.
    pub(crate) fn see(&mut self, key: u32) {
        self.late = self.late + self.late + u64::from(key < self.top);
        self.top = self.top.max(key);
    }

    /// The result after `count` packets, 1 to [`MAX_BLOCK_IN_PLACE`].
    #[inline(always)]
    pub(crate) fn order(&self, count: usize) -> Order {
        Order {
            late: self.late.wrapping_shl(u64::BITS.wrapping_sub(count as u32)),
        }
    }
}

impl Order {
    /// True when no packet is late.
    #[inline(always)]
    pub(crate) fn as_it_lies(self) -> bool {
        self.late == 0
    }

    #[inline(always)]
    fn is_late(self, position: usize) -> bool {
        ((self.late << position) as i64) < 0
    }

    /// Positions of the late packets, ascending.
    #[inline(always)]
    fn positions(self) -> impl Iterator<Item = usize> {
        let mut late = self.late;
        core::iter::from_fn(move || {
            let position = late.leading_zeros();
            let bit = (1u64 << 63).checked_shr(position)?;
            late &= !bit;
            Some(position as usize)
        })
    }
}

/// Fills `places`, as many as there are packets, with `item(position, packet)` for each packet of `block` in
/// ascending order of keys; equal keys stay in their order. `item` may be called several times for one packet.
#[inline(always)]
pub(crate) fn fill<'b, T, X>(
    places: &mut [X],
    block: &'b [T],
    order: Order,
    key: impl Fn(&T) -> u32,
    item: impl Fn(usize, &'b T) -> X,
) {
    debug_assert_eq!(places.len(), block.len());
    for (at, (place, t)) in places.iter_mut().zip(block).enumerate() {
        *place = item(at, t);
    }
    if order.as_it_lies() {
        return;
    }
    // The difference between the place and the position of each packet.
    let mut moves = [0i8; MAX_BLOCK_IN_PLACE];
    let (mut from, mut settled, mut tangled) = (block.len(), 0, false);
    for late in order.positions() {
        let (first, by) = look_back(places, &mut moves, block, order, late, &key, &item);
        tangled |= late - by < settled;
        from = from.min(first);
        settled = late + 1;
        if let (Some(place), Some(t)) = (places.get_mut(late - by), block.get(late)) {
            *place = item(late, t);
        }
    }
    if tangled {
        // A late packet lies within the stretch of another one, so the shifts found so far may change.
        let moved = block.get(from..settled).unwrap_or_default().iter();
        let by = moves.get(from..settled).unwrap_or_default();
        for (at, (t, &by)) in (from..).zip(moved.zip(by)) {
            if let Some(place) = places.get_mut(at.wrapping_add_signed(isize::from(by))) {
                *place = item(at, t);
            }
        }
    }
}

/// Moves the packets that belong after the one at `late` up by one. Returns the position of the first packet
/// examined, and the number of packets moved.
#[inline(always)]
fn look_back<'b, T, X>(
    places: &mut [X],
    moves: &mut [i8; MAX_BLOCK_IN_PLACE],
    block: &'b [T],
    order: Order,
    late: usize,
    key: &impl Fn(&T) -> u32,
    item: &impl Fn(usize, &'b T) -> X,
) -> (usize, usize) {
    let above = places.get_mut(1..=late);
    let (Some(above), Some((t, before))) = (above, block.get(..=late).and_then(<[T]>::split_last))
    else {
        return (late, 0);
    };
    let (own, mut first, mut by) = (key(t), 0, 0);
    let stretch = before.iter().zip(above).zip(moves.iter_mut()).enumerate();
    for (at, ((t, place), up)) in stretch.rev() {
        if key(t) > own {
            *place = item(at, t);
            *up += 1;
            by += 1;
        } else if !order.is_late(at) {
            first = at + 1;
            break; // No packet before it is above it.
        }
    }
    if let Some(own) = moves.get_mut(late) {
        *own -= by as i8;
    }
    (first, by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn sorted(keys: &[u32]) -> Vec<usize> {
        let mut watch = Watch::default();
        keys.iter().for_each(|&key| watch.see(key));
        let mut places = std::vec![0; keys.len()];
        let order = watch.order(keys.len());
        fill(&mut places, keys, order, |&key| key, |at, _| at);
        places
    }

    fn expected(keys: &[u32]) -> Vec<usize> {
        let mut positions: Vec<usize> = (0..keys.len()).collect();
        positions.sort_by_key(|&at| keys[at]);
        positions
    }

    #[test]
    fn single_grouped_and_interleaved_late_packets_are_sorted() {
        assert_eq!(sorted(&[1, 2, 3]), [0, 1, 2]);
        assert_eq!(sorted(&[1, 3, 4, 2, 5]), [0, 3, 1, 2, 4]);
        assert_eq!(sorted(&[3, 4, 1, 2]), [2, 3, 0, 1]);
        assert_eq!(sorted(&[10, 20, 5, 15]), [2, 0, 3, 1]);
        assert_eq!(sorted(&[2, 2, 1, 2]), [2, 0, 1, 3]);
    }

    #[test]
    fn which_are_late() {
        let mut watch = Watch::default();
        for key in [5, 6, 3, 4, 6] {
            watch.see(key);
        }
        assert!(watch.order(5).positions().eq([2, 3]));
        assert!(!watch.order(5).as_it_lies());
    }

    #[test]
    fn a_full_block_reversed() {
        let keys: Vec<u32> = (0..MAX_BLOCK_IN_PLACE as u32).rev().collect();
        assert_eq!(sorted(&keys), expected(&keys));
    }

    proptest! {
        #[test]
        fn is_a_stable_sort(keys in prop::collection::vec(0u32..40, 1..=MAX_BLOCK_IN_PLACE)) {
            prop_assert_eq!(sorted(&keys), expected(&keys));
        }

        #[test]
        fn is_a_stable_sort_of_the_nearly_sorted(
            late in prop::collection::vec((0u32..9, 0u32..10), 1..=MAX_BLOCK_IN_PLACE),
        ) {
            let keys: Vec<u32> = (100..)
                .zip(late)
                .map(|(at, (by, chance))| if chance == 0 { at - by } else { at })
                .collect();
            prop_assert_eq!(sorted(&keys), expected(&keys));
        }
    }
}
