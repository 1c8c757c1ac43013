//! Bursts of reordered packets.

use crate::Distribution;

/// Lengths of bursts: how many reordered packets arrive in a row. This is the counterpart of the reordering-free
/// [`Runs`](crate::Runs), with which RFC 4737 section 4.6 asks whether reordering is bursty.
///
/// A single late packet is a burst of one. Losses and copies neither begin nor end a burst.
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

inorder_base::heap!(Bursts: lengths);

impl Bursts {
    /// No packets yet.
    pub fn new() -> Self {
        Bursts::default()
    }

    /// Counts packets in order: a burst in progress ends.
    #[inline]
    pub fn in_order(&mut self) {
        if self.current > 0 {
            self.lengths.update(self.current);
            self.current = 0;
        }
    }

    /// Counts a reordered packet.
    #[inline]
    pub fn reordered(&mut self) {
        self.current += 1;
    }

    /// Ends the stream and returns the lengths of all bursts, packets.
    pub fn finish(mut self) -> Distribution {
        self.in_order();
        self.lengths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_at_the_end_of_the_stream_counts() {
        let mut bursts = Bursts::new();
        bursts.in_order();
        assert_eq!(bursts.clone().finish().count(), 0);
        for _ in 0..3 {
            bursts.reordered();
        }
        assert_eq!(bursts.finish().max(), Some(3));
    }
}
