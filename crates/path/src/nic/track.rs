//! Which packets go the stack's fast path.

use inorder_sort::{FlowKey, Meta};

/// Flows told apart; one that shares its place with another begins anew whenever it takes it.
const PLACES: usize = 256;

/// Follows the sequence numbers of flows roughly: enough to say whether a packet is the next one.
#[derive(Clone, Debug)]
pub(crate) struct Tracker<K> {
    flows: Vec<Option<Followed<K>>>,
}

#[derive(Clone, Copy, Debug)]
struct Followed<K> {
    flow: K,
    /// End of the highest packet so far.
    next: u32,
    /// Skipped and not yet come.
    missing: u32,
}

impl<K: FlowKey> Tracker<K> {
    pub(crate) fn new() -> Self {
        Tracker {
            flows: vec![None; PLACES],
        }
    }

    /// Does the packet begin where the highest before it ended?
    pub(crate) fn follows(&mut self, meta: &Meta<K>) -> bool {
        self.update(meta).0 == 0
    }

    /// Is the packet the next one the receiver waits for? While something is missing none is, and
    /// each goes the slow path: a queue of what is out of order, a duplicate ACK, SACK blocks.
    /// What may not be sorted (ACKs, SYN, FIN) counts as fast.
    pub(crate) fn takes_fast_path(&mut self, meta: &Meta<K>) -> bool {
        if !meta.is_suitable() {
            return true;
        }
        let (ahead, missing) = self.update(meta);
        ahead == 0 && missing == 0
    }

    /// How far the packet is ahead of what was expected (negative: late), and what is missing.
    fn update(&mut self, meta: &Meta<K>) -> (i32, u32) {
        let place = (meta.flow.hash64(0) >> 56) as usize;
        let Some(slot) = self.flows.get_mut(place) else {
            return (0, 0);
        };
        let followed = match slot {
            Some(followed) if followed.flow == meta.flow => followed,
            _ => slot.insert(Followed {
                flow: meta.flow,
                next: meta.seq,
                missing: 0,
            }),
        };
        let ahead = meta.seq.wrapping_sub(followed.next) as i32;
        if ahead >= 0 {
            followed.missing = followed.missing.saturating_add(ahead as u32);
            followed.next = meta.seq.wrapping_add(meta.len);
        } else {
            followed.missing = followed.missing.saturating_sub(meta.len);
        }
        (ahead, followed.missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fast(numbers: &[u32]) -> Vec<bool> {
        let mut tracker = Tracker::new();
        let metas = numbers.iter().map(|&n| Meta::data(7u32, n, 1));
        metas.map(|meta| tracker.takes_fast_path(&meta)).collect()
    }

    #[test]
    fn all_is_slow_while_something_is_missing() {
        assert_eq!(
            fast(&[1, 2, 4, 5, 3, 6]),
            [true, true, false, false, false, true]
        );
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(fast(&[u32::MAX - 1, u32::MAX, 0, 1]), [true; 4]);
    }

    #[test]
    fn following_is_a_matter_of_the_highest_only() {
        let mut tracker = Tracker::new();
        let follows: Vec<bool> = [1, 2, 4, 5, 3, 6]
            .iter()
            .map(|&n| tracker.follows(&Meta::data(7u32, n, 1)))
            .collect();
        assert_eq!(follows, [true, true, false, true, false, true]);
    }
}
