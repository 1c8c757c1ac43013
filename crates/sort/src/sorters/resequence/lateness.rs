//! How late the late ones come: what became of a path's or a flow's last gaps, as a histogram.
//!
//! Times are counted in four bins to the octave from a microsecond to some seconds, so a bound
//! read off it is at most a quarter too long. Gaps that never filled are counted beside the bins:
//! they are the losses, and every share below is a share of both.

/// The first bin ends here: nanoseconds, a power of two.
const FIRST_NS: i64 = 1 << 10;

/// Bins to the octave.
const QUARTERS: usize = 4;

/// Octaves that are distinguished: the last bin begins above 8 seconds.
const OCTAVES: usize = 23;

/// All bins.
pub(super) const BINS: usize = 1 + OCTAVES * QUARTERS;

/// Number of outcomes that count in full. When there are more, all count half, so that the estimate for a path
/// that has changed follows it after about this number.
const REMEMBERED: u32 = 128;

/// The outcomes of the last gaps.
#[derive(Clone, Debug)]
pub(super) struct Lateness {
    bins: [u8; BINS],
    /// No bin above this one has counted anything.
    top: u8,
    filled: u32,
    lost: u32,
}

impl Lateness {
    pub(super) const fn new() -> Self {
        Lateness {
            bins: [0; BINS],
            top: 0,
            filled: 0,
            lost: 0,
        }
    }

    /// A gap filled this time after it had opened, nanoseconds.
    #[inline]
    pub(super) fn filled_after(&mut self, late_ns: i64) {
        self.make_room();
        let at = bin_of(late_ns);
        if let Some(bin) = self.bins.get_mut(at) {
            *bin += 1;
            self.top = self.top.max(at as u8);
            self.filled += 1;
        }
    }

    /// This number of gaps filled at the very time they opened.
    #[inline]
    pub(super) fn filled_at_once(&mut self, mut gaps: u32) {
        while gaps > 0 {
            self.make_room();
            let now = gaps.min(REMEMBERED - self.outcomes());
            if let Some(bin) = self.bins.first_mut() {
                *bin += now as u8;
            }
            self.filled += now;
            gaps -= now;
        }
    }

    /// A gap did not fill: what was missing had been lost.
    pub(super) fn never_filled(&mut self) {
        self.make_room();
        self.lost += 1;
    }

    /// Gaps it knows the outcome of.
    #[inline]
    pub(super) fn outcomes(&self) -> u32 {
        self.filled + self.lost
    }

    /// Gaps of these that filled.
    pub(super) fn filled(&self) -> u32 {
        self.filled
    }

    /// What is remembered counts half: time has passed, or there is too much of it.
    #[cold]
    pub(super) fn halve(&mut self) {
        // The remainder of each division goes on to the next bin, so that many bins of one do not all become zero. That of
        // the top bin is dropped.
        let mut odd = 0;
        for bin in self.bins.iter_mut().take(usize::from(self.top) + 1) {
            let both = *bin + odd;
            *bin = both / 2;
            odd = both % 2;
        }
        self.filled /= 2;
        self.lost /= 2;
    }

    #[inline]
    fn make_room(&mut self) {
        if self.outcomes() >= REMEMBERED {
            self.halve();
        }
    }

    /// For every bin from the shortest lateness on: its end in nanoseconds, and the gaps filled by then.
    pub(super) fn filled_by(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        let bins = self.bins.iter().enumerate();
        bins.scan(0, |filled, (at, &bin)| {
            *filled += u32::from(bin);
            Some((end_of(at), *filled))
        })
    }
}

/// The bin of a lateness.
fn bin_of(late_ns: i64) -> usize {
    if late_ns < FIRST_NS {
        return 0;
    }
    let octave = late_ns.ilog2() - FIRST_NS.ilog2();
    let quarter = late_ns >> (late_ns.ilog2() - 2) & 3;
    (1 + octave as usize * QUARTERS + quarter as usize).min(BINS - 1)
}

/// Where a bin ends: the least lateness that is not in it any more.
fn end_of(bin: usize) -> i64 {
    let Some(above) = bin.checked_sub(1) else {
        return FIRST_NS;
    };
    let (octave, quarter) = (above / QUARTERS, above % QUARTERS);
    (FIRST_NS << octave) / 4 * (5 + quarter as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn a_lateness_lies_below_the_end_of_its_bin_and_not_below_the_one_before() {
        let times = (0..64).flat_map(|shift| [0, 1, 77].map(|more| (1i64 << shift.min(61)) + more));
        for late_ns in times.chain([0, 1, FIRST_NS - 1, FIRST_NS]) {
            let bin = bin_of(late_ns);
            assert!(late_ns < end_of(bin) || bin == BINS - 1);
            assert!(bin == 0 || late_ns >= end_of(bin - 1));
        }
    }

    #[test]
    fn ends_rise_by_a_quarter_at_most() {
        for bin in 1..BINS {
            let (before, end) = (end_of(bin - 1), end_of(bin));
            assert!(before < end && end <= before + before / 4);
        }
    }

    #[test]
    fn shares_are_those_of_the_exact_sample() {
        let sample: Vec<i64> = (1..=100).map(|i| i * i * 10_000).collect();
        let mut lateness = Lateness::new();
        sample.iter().for_each(|&ns| lateness.filled_after(ns));
        for (end_ns, filled) in lateness.filled_by() {
            let exact = sample.iter().filter(|&&ns| ns < end_ns).count();
            assert_eq!(filled as usize, exact, "below {end_ns} ns");
        }
    }

    #[test]
    fn what_is_long_past_fades_and_the_present_rules() {
        let mut lateness = Lateness::new();
        (0..10_000).for_each(|_| lateness.filled_after(100_000));
        (0..300).for_each(|_| lateness.never_filled());
        assert!(lateness.outcomes() <= REMEMBERED);
        assert!(lateness.filled * 10 < lateness.lost);
    }

    #[test]
    fn gaps_that_fill_at_once_are_counted_like_one_after_another() {
        let (mut one, mut all) = (Lateness::new(), Lateness::new());
        for gaps in [1, 127, 1, 300, 64, 1000] {
            (0..gaps).for_each(|_| one.filled_after(0));
            all.filled_at_once(gaps);
            assert_eq!(one.bins, all.bins);
            assert_eq!((one.filled, one.lost), (all.filled, all.lost));
            one.filled_after(5_000);
            all.filled_after(5_000);
        }
    }

    #[test]
    fn halving_ends_at_nothing() {
        let mut lateness = Lateness::new();
        (0..100).for_each(|i| lateness.filled_after(i * 50_000));
        (0..20).for_each(|_| lateness.never_filled());
        (0..10).for_each(|_| lateness.halve());
        assert_eq!(lateness.outcomes(), 0);
    }
}
