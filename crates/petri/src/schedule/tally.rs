//! Sums over the history of a run.

/// Sums over the history of a place. With `n` tokens at time `t`, the integral of their number is `n * t + moment`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PlaceTally {
    /// Sum of the times of departures minus that of arrivals.
    pub(crate) moment: i128,
    /// Number of tokens that arrived.
    pub(crate) arrivals: u64,
    /// Maximum number of tokens at one time.
    pub(crate) peak: u32,
}

/// Sums over the history of a transition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TransitionTally {
    /// Number of completed firings.
    pub(crate) firings: u64,
    /// Firings in progress, or running clocks.
    pub(crate) busy: u32,
    /// As [`PlaceTally::moment`], for firings in progress.
    pub(crate) busy_moment: i128,
    /// As [`PlaceTally::moment`], for "at least one firing is in progress".
    pub(crate) active_moment: i128,
}

impl PlaceTally {
    /// With these tokens at the start.
    pub(crate) fn starting(tokens: u32) -> Self {
        Self {
            peak: tokens,
            ..Self::default()
        }
    }

    /// `count` tokens arrived, and `held` are there now.
    #[inline]
    pub(crate) fn gain(&mut self, count: u32, held: u32, now: u64) {
        self.arrivals += u64::from(count);
        self.moment -= i128::from(count) * i128::from(now);
        self.peak = self.peak.max(held);
    }

    /// `count` tokens left.
    #[inline]
    pub(crate) fn lose(&mut self, count: u32, now: u64) {
        self.moment += i128::from(count) * i128::from(now);
    }
}

impl TransitionTally {
    /// A firing or a clock started.
    #[inline]
    pub(crate) fn start(&mut self, now: u64) {
        if self.busy == 0 {
            self.active_moment -= i128::from(now);
        }
        self.busy += 1;
        self.busy_moment -= i128::from(now);
    }

    /// One of them ended.
    #[inline]
    pub(crate) fn stop(&mut self, now: u64) {
        self.busy -= 1;
        self.busy_moment += i128::from(now);
        if self.busy == 0 {
            self.active_moment += i128::from(now);
        }
    }
}
