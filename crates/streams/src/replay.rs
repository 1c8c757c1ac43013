//! What anti-replay windows of any size would have refused of a stream.
//!
//! A window of W packets remembers which of the W highest numbers have come (RFC 4303 section 3.4.3; the ring of bits of
//! RFC 6479 does the same). It refuses a number that is W or more below the highest one. Such a packet does not move the
//! window, so what one window refuses follows from how far below the highest number each packet came, for all sizes at once.

use std::collections::BTreeMap;

use inorder_wire::Service;

use crate::{Replay, ReplayWindow};

/// Distances up to this one are counted exactly; larger ones, beyond any window in use, are one class.
const MAX_COUNTED: u64 = 1 << 16;
/// Shares of the late packets for which the smallest window is listed.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// How far below the highest number the late packets of a stream came.
#[derive(Clone, Default, Debug)]
pub(super) struct Distances {
    /// Packets by distance.
    counted: BTreeMap<u64, u64>,
    beyond: u64,
    max: u64,
}

inorder_base::heap!(Distances: counted);

impl Distances {
    /// Counts a packet that had not come before, `distance` below the highest number.
    pub(super) fn push(&mut self, distance: u64) {
        self.max = self.max.max(distance);
        if distance <= MAX_COUNTED {
            *self.counted.entry(distance).or_default() += 1;
        } else {
            self.beyond += 1;
        }
    }

    /// Packets that a window of this size refuses; sizes up to [`MAX_COUNTED`] + 1, or all that is needed.
    fn refused(&self, window: u64) -> u64 {
        if window > self.max {
            return 0;
        }
        self.beyond + self.counted.range(window..).map(|(_, n)| n).sum::<u64>()
    }

    /// The smallest window that accepts this share of the late packets.
    fn accepting(&self, share: f64) -> u64 {
        let late = self.counted.values().sum::<u64>() + self.beyond;
        let rank = (share * late as f64).ceil() as u64;
        let mut below = 0;
        for (distance, packets) in &self.counted {
            below += packets;
            if below >= rank {
                return distance + 1;
            }
        }
        self.max + 1
    }

    /// The result for a stream of `packets`; `None` for a service without such a window.
    pub(super) fn finish(&self, service: Service, packets: u64) -> Option<Replay> {
        let usual = service.replay_windows();
        if usual.is_empty() {
            return None;
        }
        let row = |window, accepts| ReplayWindow {
            window,
            accepts,
            refused: self.refused(window),
            packets,
        };
        let mut windows: Vec<_> = usual.iter().map(|&window| row(window, None)).collect();
        if self.max > 0 {
            windows.extend(SHARES.map(|share| row(self.accepting(share), Some(share))));
            windows.push(row(self.max + 1, Some(1.0)));
        }
        windows.sort_by_key(|w| w.window);
        Some(Replay {
            needed: self.max + 1,
            windows,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A receiver with a window, packet by packet.
    struct Window {
        size: u64,
        highest: Option<u64>,
        /// The numbers that have come, all of them.
        seen: std::collections::BTreeSet<u64>,
    }

    impl Window {
        /// True if it refuses a packet for being too old that had not come before.
        fn refuses(&mut self, seq: u64) -> bool {
            let too_old = self
                .highest
                .is_some_and(|highest| seq + self.size <= highest);
            let copy = !self.seen.insert(seq);
            if !too_old {
                self.highest = self.highest.max(Some(seq));
            }
            too_old && !copy
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_receiver_packet_by_packet(
            seqs in prop::collection::vec(1u64..200, 1..120),
            sizes in prop::collection::vec(1u64..220, 1..8),
        ) {
            let mut distances = Distances::default();
            let (mut highest, mut seen) = (0, std::collections::BTreeSet::new());
            for &seq in &seqs {
                if seen.insert(seq) && seq < highest {
                    distances.push(highest - seq);
                }
                highest = highest.max(seq);
            }
            let refused_by = |size| {
                let mut window = Window { size, highest: None, seen: Default::default() };
                seqs.iter().filter(|seq| window.refuses(**seq)).count() as u64
            };
            for size in sizes {
                prop_assert_eq!(distances.refused(size), refused_by(size), "window {}", size);
            }
            let needed = distances.max + 1;
            prop_assert_eq!(refused_by(needed), 0);
            prop_assert!(needed == 1 || refused_by(needed - 1) > 0);
            let replay = distances.finish(Service::Esp, seqs.len() as u64).unwrap();
            for row in &replay.windows {
                prop_assert_eq!(row.refused, refused_by(row.window));
                let late = refused_by(1);
                let accepted = (late - row.refused) as f64;
                prop_assert!(row.accepts.is_none_or(|share| accepted >= share * late as f64));
            }
        }
    }

    #[test]
    fn services_without_a_window_have_no_rows() {
        assert_eq!(Distances::default().finish(Service::Rtp, 10), None);
        let in_order = Distances::default().finish(Service::MacSec, 10).unwrap();
        assert_eq!(in_order.needed, 1);
        assert!(in_order.windows.iter().all(|row| row.refused == 0));
    }
}
