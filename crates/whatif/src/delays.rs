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

    /// The ends of the bins in which these shares of the packets lie, ascending, nanoseconds; `None` without packets. Most packets
    /// wait for the whole of the coalescing time, or nearly, so the bins are walked from the last one down.
    pub(crate) fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [Option<u64>; N] {
        let all: u64 = self.bins.iter().map(|&count| u64::from(count)).sum();
        let mut ends = [None; N];
        if all == 0 {
            return ends;
        }
        let (mut bin, mut below) = (BINS, all);
        for (end, share) in ends.iter_mut().zip(shares).rev() {
            // Rounded up; without the processor's newer instructions that is a call of the library.
            let (exact, down) = (share * all as f64, (share * all as f64) as u64);
            let rank = (down + u64::from((down as f64) < exact)).max(1);
            // `below` packets lie in the first `bin` bins: the lowest bin up to which there are as many as the rank.
            while let Some(&count) = self.bins.get(bin - 1)
                && below - u64::from(count) >= rank
            {
                (bin, below) = (bin - 1, below - u64::from(count));
            }
            *end = Some(((bin as u64) << SHIFT) / self.scale);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The straightforward twin: from the first bin on, each share by itself.
    fn quantile(delays: &Delays, share: f64) -> Option<u64> {
        let all: u64 = delays.bins.iter().map(|&count| u64::from(count)).sum();
        let rank = (share * all as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let bin = delays.bins.iter().position(|&count| {
            below += u64::from(count);
            below >= rank
        })?;
        Some(((bin as u64 + 1) << SHIFT) / delays.scale)
    }

    proptest! {
        #[test]
        fn from_the_last_bin_down_the_quantiles_are_the_same(
            coalesce_ns in 0i64..300_000,
            waits in prop::collection::vec(0.0..=1.0, 0..60),
        ) {
            let mut delays = Delays::new(coalesce_ns);
            for wait in waits {
                delays.add((wait * coalesce_ns as f64) as i64);
            }
            let shares = [0.0, 0.5, 0.99, 1.0];
            prop_assert_eq!(delays.quantiles(shares), shares.map(|share| quantile(&delays, share)));
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sample_but_for_the_width_of_a_bin() {
        for coalesce_ns in [0, 1, 25_000, 250_000, 1 << 40] {
            let mut delays = Delays::new(coalesce_ns);
            let sample: Vec<i64> = (0..1000).map(|i| coalesce_ns / 999 * i).collect();
            sample.iter().for_each(|&ns| delays.add(ns));
            let read = delays.quantiles([0.5, 0.99]);
            for (read, exact) in read.into_iter().zip([sample[499], sample[989]]) {
                let read = read.unwrap() as i64;
                let width = coalesce_ns / 32 + 2;
                assert!(
                    (exact..=exact + width).contains(&read),
                    "{read} for {exact}"
                );
            }
        }
        assert_eq!(Delays::new(100).quantiles([0.5]), [None]);
    }
}
