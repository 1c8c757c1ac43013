//! How long packets wait for an interrupt that comes a fixed time after the first of them, as a histogram.

/// Bins of equal width from no time to the coalescing time: a quantile is read off to a 32nd of it.
const BINS: usize = 32;
/// Fractional bits of a scale: as many as leave room for all bins in 64.
const SHIFT: u32 = 56;

/// Times of at most the coalescing time.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    bins: [u32; BINS],
    /// Bins in a nanosecond, times 2^[`SHIFT`].
    scale: u64,
}

impl Delays {
    /// For times up to `coalesce_ns`, 0 to 2^40.
    pub(crate) fn new(coalesce_ns: i64) -> Self {
        let width = coalesce_ns.max(0) as u64 + 1;
        Delays {
            bins: [0; BINS],
            scale: ((BINS as u64) << SHIFT) / width,
        }
    }

    /// A packet waited for `delay_ns`.
    #[inline(always)]
    pub(crate) fn add(&mut self, delay_ns: i64) {
        // At most 32 * 2^SHIFT, since the delay is less than the width.
        let bin = (delay_ns as u64).wrapping_mul(self.scale) >> SHIFT;
        if let Some(count) = self.bins.get_mut(bin as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// The end of the bin in which this share of the packets lies, nanoseconds; `None` without packets.
    pub(crate) fn quantile(&self, share: f64) -> Option<u64> {
        let all: u64 = self.bins.iter().map(|&count| u64::from(count)).sum();
        let rank = (share * all as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bin = self.bins.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        (all > 0).then(|| ((bin as u64 + 1) << SHIFT) / self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sample_but_for_the_width_of_a_bin() {
        for coalesce_ns in [0, 1, 25_000, 250_000, 1 << 40] {
            let mut delays = Delays::new(coalesce_ns);
            let sample: Vec<i64> = (0..1000).map(|i| coalesce_ns / 999 * i).collect();
            sample.iter().for_each(|&ns| delays.add(ns));
            for (share, exact) in [(0.5, sample[499]), (0.99, sample[989])] {
                let read = delays.quantile(share).unwrap() as i64;
                let width = coalesce_ns / 32 + 2;
                assert!(
                    (exact..=exact + width).contains(&read),
                    "{read} for {exact}"
                );
            }
        }
        assert_eq!(Delays::new(100).quantile(0.5), None);
    }
}
