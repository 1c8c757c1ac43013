//! Bursts of reordered packets.

use crate::Distribution;

/// How many reordered packets arrive in a row: the counterpart of the reordering-free [`Runs`](crate::Runs) between
/// them, for RFC 4737 section 4.6 asks whether reordering comes in bursts.
///
/// A late packet that stands alone is a burst of one. Losses and copies neither begin nor end one.
///
/// ```
/// let mut bursts = inorder_metrics::Bursts::new();
/// bursts.in_order(); // 1 2 3 6 7
/// bursts.reordered(); // 4
/// bursts.reordered(); // 5
/// bursts.in_order(); // 8 9 10 12 13
/// bursts.reordered(); // 11
/// assert_eq!(bursts.finish().mean(), Some(1.5));
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Bursts {
    current: u64,
    lengths: Distribution,
}

impl Bursts {
    /// No packets yet.
    pub fn new() -> Self {
        Bursts::default()
    }

    /// Packets in order: the burst in progress, if there is one, has ended.
    #[inline]
    pub fn in_order(&mut self) {
        if self.current > 0 {
            self.lengths.update(self.current);
            self.current = 0;
        }
    }

    /// A reordered packet.
    #[inline]
    pub fn reordered(&mut self) {
        self.current += 1;
    }

    /// Ends the stream: the lengths of all bursts, packets.
    pub fn finish(mut self) -> Distribution {
        self.in_order();
        self.lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_to_the_end_is_a_burst() {
        let mut bursts = Bursts::new();
        bursts.in_order();
        assert_eq!(bursts.clone().finish().count(), 0);
        for _ in 0..3 {
            bursts.reordered();
        }
        assert_eq!(bursts.finish().max(), Some(3));
    }
}
