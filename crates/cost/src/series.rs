//! Bytes over time, in a fixed number of intervals that double in width as the flow lasts.

/// Intervals kept at most.
const MAX_BINS: usize = 128;
/// Intervals kept while the flow has few packets: most flows are short, and there may be very many of them.
const MAX_BINS_OF_FEW: usize = 8;
/// Maximum number of packets of a flow for which few intervals are enough.
const MAX_PACKETS_IN_COARSE_BINS: u64 = 64;
/// Width of the first intervals, nanoseconds.
const FIRST_WIDTH_NS: i64 = 1_000_000;

/// What happened in one interval, bytes of payload.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bin {
    /// Sent for the first time (or, at a receiver, came by for the first time).
    pub fresh: u64,
    /// Sent again.
    pub again: u64,
    /// Known to have arrived: acknowledged or SACKed for the first time.
    pub delivered: u64,
    /// Known to have arrived once more.
    pub repeated: u64,
}

impl Bin {
    fn add(&mut self, other: &Bin) {
        self.fresh += other.fresh;
        self.again += other.again;
        self.delivered += other.delivered;
        self.repeated += other.repeated;
    }
}

/// Bytes over time.
///
/// In this order, what every packet needs is together.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Series {
    /// When the interval that the last bytes fell into begins.
    present_ns: i64,
    /// Its width; 0 before the first bytes, so that they open it.
    present_width_ns: u64,
    /// What fell into it since it became the present one: to be added to `bins`.
    fresh: Bin,
    packets: u64,
    present: usize,
    bins: Vec<Bin>,
    start_ns: i64,
    width_ns: i64,
}

heap!(Series: bins);

impl Default for Series {
    fn default() -> Self {
        Series {
            present_ns: 0,
            present_width_ns: 0,
            fresh: Bin::default(),
            packets: 0,
            present: 0,
            bins: Vec::new(),
            start_ns: 0,
            width_ns: FIRST_WIDTH_NS,
        }
    }
}

impl Series {
    /// The interval of `now`, for bytes to be added. What comes before the first interval counts in it.
    #[inline]
    pub fn at(&mut self, now: i64) -> &mut Bin {
        if self.ends_before(now) {
            self.turn_to(now);
        }
        self.present()
    }

    /// `now` does not lie in the present interval.
    #[inline]
    pub fn ends_before(&self, now: i64) -> bool {
        now.wrapping_sub(self.present_ns) as u64 >= self.present_width_ns
    }

    /// The present interval, for bytes to be added.
    #[inline]
    pub fn present(&mut self) -> &mut Bin {
        self.packets += 1;
        &mut self.fresh
    }

    /// Adds what came last to its interval.
    pub fn settle(&mut self) {
        if let Some(bin) = self.bins.get_mut(self.present) {
            bin.add(&std::mem::take(&mut self.fresh));
        }
    }

    /// Makes the interval of `now` the present one.
    #[cold]
    pub fn turn_to(&mut self, now: i64) {
        self.settle();
        if self.bins.is_empty() {
            self.start_ns = now;
            self.bins.reserve_exact(MAX_BINS_OF_FEW);
        }
        let most = if self.packets >= MAX_PACKETS_IN_COARSE_BINS {
            MAX_BINS
        } else {
            MAX_BINS_OF_FEW
        };
        let since = now.saturating_sub(self.start_ns).max(0);
        let mut present = since / self.width_ns;
        if present >= most as i64 {
            // The least number of doublings after which there are fewer.
            let doublings = (present / most as i64).ilog2() + 1;
            self.double(doublings);
            present >>= doublings;
        }
        self.present_ns = self.start_ns + present * self.width_ns;
        self.present_width_ns = self.width_ns as u64;
        self.present = usize::try_from(present).unwrap_or(0);
        if self.present >= self.bins.len() {
            self.bins.resize(self.present + 1, Bin::default());
        }
    }

    /// Joins pairs of intervals, in place, `times` times.
    fn double(&mut self, times: u32) {
        self.width_ns <<= times;
        let joined = 1usize.checked_shl(times).unwrap_or(usize::MAX);
        let left = self.bins.len().div_ceil(joined);
        for to in 0..left {
            let from = to * joined;
            let mut sum = self.bins[from];
            for bin in self.bins.iter().skip(from + 1).take(joined - 1) {
                sum.add(bin);
            }
            self.bins[to] = sum;
        }
        self.bins.truncate(left);
    }

    /// When the first interval begins, nanoseconds.
    pub(crate) fn start_ns(&self) -> i64 {
        self.start_ns
    }

    /// Width of the intervals, nanoseconds.
    pub(crate) fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// The intervals, the first ones first, once [`Series::settle`]d.
    pub(crate) fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// What arrived, for the first time or once more, in the intervals that lie between two times, bytes a second; nothing if none does.
    pub fn arrived(&self, from_ns: i64, until_ns: i64) -> Option<f64> {
        let since = |ns: i64| usize::try_from(ns.saturating_sub(self.start_ns)).unwrap_or(0);
        let width = usize::try_from(self.width_ns).ok()?;
        let (from, until) = (since(from_ns).div_ceil(width), since(until_ns) / width);
        let within = self.bins.get(from..until.min(self.bins.len()))?;
        let bytes: u64 = within.iter().map(|bin| bin.delivered + bin.repeated).sum();
        let seconds = within.len() as f64 * self.width_ns as f64 / 1e9;
        (!within.is_empty()).then(|| bytes as f64 / seconds)
    }

    /// The greatest mean of `of` over intervals in a row that last `span_ns` at least, bytes a second. The first and
    /// the last interval are left out, because the flow may fill them in part only.
    pub(crate) fn most_sustained(&self, span_ns: i64, of: impl Fn(&Bin) -> f64) -> Option<f64> {
        let inner = self.bins.get(1..self.bins.len().saturating_sub(1))?;
        let count = usize::try_from(span_ns / self.width_ns).ok()? + 1;
        let seconds = count as f64 * self.width_ns as f64 / 1e9;
        let sums = inner.windows(count).map(|w| w.iter().map(&of).sum::<f64>());
        sums.max_by(f64::total_cmp).map(|most| most / seconds)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn intervals_double_and_lose_no_byte() {
        let mut series = Series::default();
        for i in 0..1_000 {
            series.at(5 * MS + i * MS).fresh += 10;
        }
        series.settle();
        assert_eq!(series.width_ns(), 8 * MS);
        assert!(series.bins().len() <= MAX_BINS);
        let all: u64 = series.bins().iter().map(|b| b.fresh).sum();
        assert_eq!((all, series.bins()[3].fresh), (10_000, 80));
    }

    #[test]
    fn few_packets_take_few_intervals() {
        let mut series = Series::default();
        for i in 0..10 {
            series.at(i * 100 * MS).delivered += 1;
        }
        assert!(series.bins().len() <= MAX_BINS_OF_FEW);
        // The clock goes back to before the start.
        series.at(-MS).delivered += 1;
        series.settle();
        assert_eq!(series.bins()[0].delivered, 3);
    }

    #[test]
    fn the_most_sustained_rate_is_that_of_whole_intervals() {
        let mut series = Series::default();
        for i in 0..80 {
            series.at(i * MS).delivered += if (40..50).contains(&i) { 2_000 } else { 1_000 };
        }
        series.settle();
        let rate = series.most_sustained(5 * MS, |b| b.delivered as f64);
        assert_eq!(rate.map(f64::round), Some(2e6));
    }

    #[test]
    fn what_arrived_between_two_times_is_that_of_whole_intervals() {
        let mut series = Series::default();
        for i in 0..80 {
            series.at(i * MS).delivered += 1_000;
            series.at(i * MS).repeated += if i >= 40 { 1_000 } else { 0 };
        }
        series.settle();
        let rate = |from, until| series.arrived(from, until).map(f64::round);
        assert_eq!(rate(10 * MS, 20 * MS), Some(1e6));
        assert_eq!(rate(40 * MS + 1, 60 * MS - 1), Some(2e6));
        assert_eq!(rate(10 * MS + 1, 11 * MS), None);
        assert_eq!(rate(60 * MS, 40 * MS), None);
    }

    /// All bytes that came, sorted into intervals of their final width at the end.
    fn dumb(came: &[(i64, u64)], width_ns: i64) -> Vec<u64> {
        let mut bins = Vec::new();
        for &(now, bytes) in came {
            let at = ((now - came[0].0).max(0) / width_ns) as usize;
            if at >= bins.len() {
                bins.resize(at + 1, 0);
            }
            bins[at] += bytes;
        }
        bins
    }

    proptest! {
        #[test]
        fn the_intervals_are_those_of_the_dumb_twin(
            steps in prop::collection::vec((-3 * MS..40 * MS, 0u64..2_000), 1..300),
        ) {
            let (mut series, mut now, mut came) = (Series::default(), 7 * MS, Vec::new());
            for (wait, bytes) in steps {
                now += wait;
                series.at(now).delivered += bytes;
                came.push((now, bytes));
            }
            series.settle();
            let bins: Vec<u64> = series.bins().iter().map(|b| b.delivered).collect();
            prop_assert_eq!(bins, dumb(&came, series.width_ns()));
        }
    }
}
