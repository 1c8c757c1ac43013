//! Decides which packets take the stack's fast path.

use inorder_sort::{FlowKey, Meta};

/// Number of flows that are tracked; two flows with the same slot replace each other.
const PLACES: usize = 256;

/// Tracks the sequence numbers of flows approximately, which is enough to decide whether a packet is the next one.
#[derive(Clone, Debug)]
pub(crate) struct Tracker<K> {
    flows: Vec<Option<Followed<K>>>,
    /// The flow of the last packet and its slot: packets come in trains of one flow.
    last: Option<(K, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Followed<K> {
    flow: K,
    /// End of the highest packet so far.
    next: u32,
    /// Bytes skipped and not received yet.
    missing: u32,
}

impl<K: FlowKey> Tracker<K> {
    pub(crate) fn new() -> Self {
        Tracker {
            flows: vec![None; PLACES],
            last: None,
        }
    }

    /// True if the packet begins where the highest one before it ended.
    pub(crate) fn follows(&mut self, meta: &Meta<K>) -> bool {
        self.update(meta).0 == 0
    }

    /// True if the packet is the next one that the receiver expects. While data is missing, no packet is, and each
    /// one takes the slow path: out-of-order queue, duplicate ACK, SACK blocks. Packets that may not be sorted (ACKs,
    /// SYN, FIN) count as fast.
    pub(crate) fn takes_fast_path(&mut self, meta: &Meta<K>) -> bool {
        if !meta.is_suitable() {
            return true;
        }
        let (ahead, missing) = self.update(meta);
        ahead == 0 && missing == 0
    }

    /// How far the packet is ahead of the expected one (negative: late), and how many bytes are missing.
    fn update(&mut self, meta: &Meta<K>) -> (i32, u32) {
        let place = match self.last {
            Some((flow, place)) if flow == meta.flow => place,
            _ => (meta.flow.hash64(0) >> 56) as usize,
        };
        self.last = Some((meta.flow, place));
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
    fn every_packet_is_slow_while_data_is_missing() {
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
    fn only_the_highest_packet_decides_what_follows() {
        let mut tracker = Tracker::new();
        let follows: Vec<bool> = [1, 2, 4, 5, 3, 6]
            .iter()
            .map(|&n| tracker.follows(&Meta::data(7u32, n, 1)))
            .collect();
        assert_eq!(follows, [true, true, false, true, false, true]);
    }
}
