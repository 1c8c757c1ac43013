//! The maximum of recent values, in constant space.
//!
//! Source: K. Nichols' algorithm as in Linux `lib/win_minmax.c`. It keeps the best value of the window, the best
//! since then, and the best since that one. A value may be somewhat outdated when it becomes the best: this is the
//! cost of storing three values instead of all.

/// A value and the round in which it was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sample {
    round: u32,
    value: u64,
}

/// The maximum of the last rounds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MaxFilter {
    /// The best, the second and the third choice, in order of time.
    best: [Sample; 3],
}

impl MaxFilter {
    pub(super) fn get(&self) -> u64 {
        self.best[0].value
    }

    /// Adds a value measured in `round`; values expire after `window` rounds.
    pub(super) fn update(&mut self, window: u32, round: u32, value: u64) {
        let sample = Sample { round, value };
        let age = |of: Sample| round.saturating_sub(of.round);
        if value >= self.best[0].value || age(self.best[2]) > window {
            self.best = [sample; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].value {
            self.best[2] = sample;
        }
        self.grow_old(window, sample);
    }

    /// The best value expires in time, and a window without a second choice gets one.
    fn grow_old(&mut self, window: u32, sample: Sample) {
        let age = sample.round.saturating_sub(self.best[0].round);
        if age > window {
            self.shift(sample);
            if sample.round.saturating_sub(self.best[0].round) > window {
                self.shift(sample);
            }
        } else if self.best[1].round == self.best[0].round && age > window / 4 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].round == self.best[1].round && age > window / 2 {
            self.best[2] = sample;
        }
    }

    fn shift(&mut self, sample: Sample) {
        self.best = [self.best[1], self.best[2], sample];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_is_kept_for_the_window_and_no_longer() {
        let mut filter = MaxFilter::default();
        filter.update(10, 0, 100);
        for round in 1..=10 {
            filter.update(10, round, 50 + u64::from(round));
            assert_eq!(filter.get(), 100, "round {round}");
        }
        // The best of the later values replaces it.
        filter.update(10, 11, 40);
        assert!((50..=60).contains(&filter.get()), "{}", filter.get());
    }

    proptest! {
        /// The straightforward twin keeps every value. The filter is never above the true maximum of the window,
        /// never below the newest value, and equal to the maximum of the last quarter of the window or more.
        #[test]
        fn it_lies_between_its_newest_value_and_the_true_maximum(
            window in 4u32..12,
            steps in proptest::collection::vec((0u32..3, 0u64..1000), 1..200),
        ) {
            let mut filter = MaxFilter::default();
            let mut all: Vec<(u32, u64)> = Vec::new();
            let mut round = 0;
            for (gap, value) in steps {
                round += gap;
                all.push((round, value));
                filter.update(window, round, value);
                let within = |rounds: u32| {
                    let recent = all.iter().filter(|(at, _)| round - at <= rounds);
                    recent.map(|&(_, value)| value).max().unwrap_or(0)
                };
                prop_assert!(filter.get() >= value);
                prop_assert!(filter.get() <= within(window), "{} > {}", filter.get(), within(window));
            }
        }
    }
}
