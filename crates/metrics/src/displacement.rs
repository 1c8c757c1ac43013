//! Displacement histogram of reorder density and the scalars derived from it.

/// Counts of packet displacements (RFC 5236 sections 3.3 and 3.5): receive index minus number, early packets negative.
///
/// The scalars are those of Piratla and Jayasumana ("Metrics for packet reordering - a
/// comparative analysis", 2008), as used by Torres and Ribeiro (2020), equations 1 to 7.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Displacements {
    threshold: u16,
    in_place: u64,
    /// `moved[threshold + displacement]`; empty while nothing was displaced.
    moved: Vec<u64>,
    too_early: u64,
    too_late: u64,
}

inorder_base::heap!(Displacements: moved);

impl Displacements {
    /// Starts without packets; the threshold DT is in packets.
    pub fn new(threshold: u16) -> Self {
        Displacements {
            threshold,
            in_place: 0,
            moved: Vec::new(),
            too_early: 0,
            too_late: 0,
        }
    }

    /// Counts `n` packets displaced by at most the threshold; packets displaced by more are counted as
    /// [`beyond`](Self::beyond).
    #[inline]
    pub fn count(&mut self, displacement: i64, n: u64) {
        if displacement == 0 {
            self.in_place += n;
            return;
        }
        // The index is out of range exactly if the displacement is beyond the threshold.
        let index = i64::from(self.threshold).wrapping_add(displacement) as usize;
        match self.moved.get_mut(index) {
            Some(count) => *count += n,
            None => self.count_rare(displacement, n),
        }
    }

    /// Counts packets displaced beyond the threshold, or allocates the histogram for the first displaced packet.
    #[cold]
    fn count_rare(&mut self, displacement: i64, n: u64) {
        if displacement.unsigned_abs() > u64::from(self.threshold) {
            return self.count_beyond(displacement, n);
        }
        if self.moved.is_empty() {
            self.moved = vec![0; 2 * usize::from(self.threshold) + 1];
            self.count(displacement, n);
        }
    }

    pub(crate) fn count_beyond(&mut self, displacement: i64, n: u64) {
        if displacement < 0 {
            self.too_early += n;
        } else {
            self.too_late += n;
        }
    }

    /// Adds the counts of another stream. If the thresholds differ, the larger one is used.
    pub fn merge(&mut self, other: &Displacements) {
        if other.threshold > self.threshold {
            let mut wider = other.clone();
            wider.merge_narrower(self);
            *self = wider;
        } else {
            self.merge_narrower(other);
        }
    }

    fn merge_narrower(&mut self, other: &Displacements) {
        self.in_place += other.in_place;
        self.too_early += other.too_early;
        self.too_late += other.too_late;
        if other.moved.is_empty() {
            return;
        }
        if self.moved.is_empty() {
            self.moved = vec![0; 2 * usize::from(self.threshold) + 1];
        }
        let shift = usize::from(self.threshold) - usize::from(other.threshold);
        for (mine, theirs) in self.moved.iter_mut().skip(shift).zip(&other.moved) {
            *mine += theirs;
        }
    }

    /// The displacement threshold DT, packets.
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Packets counted, N' of the RFC: received once, displaced by at most the threshold.
    pub fn total(&self) -> u64 {
        self.in_place + self.moved.iter().sum::<u64>()
    }

    /// Packets displaced by more than the threshold, (early, late): lost to the metric.
    pub fn beyond(&self) -> (u64, u64) {
        (self.too_early, self.too_late)
    }

    /// Non-zero counts as (displacement in packets, packets), ascending.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let zero = i64::from(self.threshold);
        let at = move |(index, count): (usize, &u64)| (index as i64 - zero, *count);
        let middle = usize::from(self.threshold);
        let early = self.moved.iter().enumerate().take(middle).map(at);
        let late = self.moved.iter().enumerate().skip(middle + 1).map(at);
        let all = early.chain([(0, self.in_place)]).chain(late);
        all.filter(|(_, count)| *count > 0)
    }

    /// The reorder density RD: (displacement, share of packets), ascending, without zeros.
    pub fn density(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        let total = self.total().max(1) as f64;
        self.counts()
            .map(move |(d, count)| (d, count as f64 / total))
    }

    /// Mean of `value` over the packets. Without packets 0, not -0, which is the empty sum of floats.
    fn expect(&self, value: impl Fn(i64) -> f64) -> f64 {
        self.density().fold(0.0, |sum, (d, p)| sum + value(d) * p)
    }

    /// Mean displacement, the sum of `|i| RD[i]`, packets (equation 6).
    pub fn mean_displacement(&self) -> f64 {
        self.expect(|d| d.unsigned_abs() as f64)
    }

    /// Reorder entropy, minus the sum of `RD[i] ln RD[i]`, nats (equation 7).
    pub fn entropy(&self) -> f64 {
        // `libm` instead of the platform's logarithm, whose last bit depends on the processor. The result is 0, not
        // -0, if all packets are in place.
        0.0 - self.density().map(|(_, p)| p * libm::log(p)).sum::<f64>()
    }

    /// Mean displacement of the late packets, packets; `None` if there are none.
    pub fn mean_lateness(&self) -> Option<f64> {
        mean(self.counts().filter(|(d, _)| *d > 0))
    }

    /// Mean displacement of the early packets, packets, positive; `None` if there are none.
    pub fn mean_earliness(&self) -> Option<f64> {
        mean(self.counts().filter(|(d, _)| *d < 0))
    }

    /// Mean square of the displacement, packets squared; the variance, as the mean is 0
    /// (equation 4).
    pub fn variance(&self) -> f64 {
        self.expect(|d| (d * d) as f64)
    }

    /// Share of packets displaced to later positions, 0 to 1.
    pub fn late_ratio(&self) -> f64 {
        self.expect(|d| f64::from(u8::from(d > 0)))
    }

    /// Share of packets displaced to earlier positions, 0 to 1.
    pub fn early_ratio(&self) -> f64 {
        self.expect(|d| f64::from(u8::from(d < 0)))
    }

    /// Share of packets displaced, early or late, 0 to 1.
    pub fn displaced_ratio(&self) -> f64 {
        self.late_ratio() + self.early_ratio()
    }
}

fn mean(counts: impl Iterator<Item = (i64, u64)>) -> Option<f64> {
    let (mut sum, mut total) = (0u128, 0u64);
    for (displacement, count) in counts {
        sum += u128::from(displacement.unsigned_abs()) * u128::from(count);
        total += count;
    }
    (total > 0).then(|| sum as f64 / total as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_with_different_thresholds_can_be_merged() {
        let mut narrow = Displacements::new(2);
        for d in [0, 1, -1, 2, 3] {
            narrow.count(d, 1);
        }
        let mut wide = Displacements::new(5);
        for d in [0, 5, -5] {
            wide.count(d, 1);
        }
        let both = [(-5, 1), (-1, 1), (0, 2), (1, 1), (2, 1), (5, 1)];
        let mut a = narrow.clone();
        a.merge(&wide);
        wide.merge(&narrow);
        assert_eq!(a.counts().collect::<Vec<_>>(), both);
        assert_eq!(a, wide);
        assert_eq!(a.beyond(), (0, 1));
    }

    #[test]
    fn the_entropy_equals_the_recorded_value_to_the_last_bit() {
        // Recorded on x86-64; `tools/other-machine` runs this on other processors.
        let mut d = Displacements::new(40);
        for (nth, moved) in (-40..=40).enumerate() {
            d.count(moved, nth as u64 * nth as u64 % 97 + 1);
        }
        assert_eq!(d.entropy().to_bits(), 4_616_408_815_377_838_941);
    }

    #[test]
    fn an_empty_histogram_has_zero_scalars() {
        let d = Displacements::new(8);
        assert_eq!(
            (d.mean_displacement(), d.entropy(), d.total()),
            (0.0, 0.0, 0)
        );
        assert_eq!((d.mean_lateness(), d.mean_earliness()), (None, None));
    }
}
