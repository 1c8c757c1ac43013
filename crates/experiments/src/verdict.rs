//! Verdicts: compares an interval with a range of admissible values.

use inorder_base::named;

use crate::interval::Interval;

named! {
    /// The verdict on a claim.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Verdict {
        /// Failed: the whole interval violates the criterion.
        Failed = "failed",
        /// Undecided: the interval contains the bound, or is unknown.
        Undecided = "undecided",
        /// Held: the whole interval satisfies the criterion.
        Held = "held",
    }
}

impl Verdict {
    /// Combines the parts of a claim: it held if all parts held, it failed if one part failed, otherwise it is
    /// undecided.
    ///
    /// The verdict "held" is at least as certain as for each part. The verdict "failed" may be due to chance if there
    /// are many parts with true values at the bound, because one interval in forty is then beyond it. The detail
    /// names the part.
    pub fn all(parts: impl IntoIterator<Item = Verdict>) -> Self {
        parts.into_iter().min().unwrap_or(Self::Undecided)
    }

    /// Combines alternatives: the claim held if one alternative held, it failed if all failed, otherwise it is
    /// undecided.
    pub fn any(parts: impl IntoIterator<Item = Verdict>) -> Self {
        parts.into_iter().max().unwrap_or(Self::Undecided)
    }
}

/// A range of admissible values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    low: Bound,
    high: Bound,
}

/// An end of a range, and whether the end itself is included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    at: f64,
    belongs: bool,
}

impl Default for Range {
    fn default() -> Self {
        let open = |at| Bound { at, belongs: false };
        Self {
            low: open(f64::NEG_INFINITY),
            high: open(f64::INFINITY),
        }
    }
}

impl Range {
    /// True if every value is admissible: a claim with this range cannot fail.
    pub(crate) fn is_everything(&self) -> bool {
        self.low.at == f64::NEG_INFINITY && self.high.at == f64::INFINITY
    }

    /// True if no value is admissible: a claim with this range cannot hold.
    pub(crate) fn is_empty(&self) -> bool {
        let both_belong = self.low.belongs && self.high.belongs;
        self.low.at > self.high.at || (self.low.at == self.high.at && !both_belong)
    }

    /// Restricts the range to values above `at`, including `at` if `belongs`.
    #[must_use]
    pub(crate) fn from(mut self, at: f64, belongs: bool) -> Self {
        if at > self.low.at || (at == self.low.at && !belongs) {
            self.low = Bound { at, belongs };
        }
        self
    }

    /// Restricts the range to values below `at`, including `at` if `belongs`.
    #[must_use]
    pub(crate) fn until(mut self, at: f64, belongs: bool) -> Self {
        if at < self.high.at || (at == self.high.at && !belongs) {
            self.high = Bound { at, belongs };
        }
        self
    }

    /// Restricts the range to values at most `distance` away from `centre`.
    #[must_use]
    pub(crate) fn around(self, centre: f64, distance: f64) -> Self {
        self.from(centre - distance, true)
            .until(centre + distance, true)
    }

    fn is_above_low(&self, value: f64) -> bool {
        value > self.low.at || (self.low.belongs && value == self.low.at)
    }

    fn is_below_high(&self, value: f64) -> bool {
        value < self.high.at || (self.high.belongs && value == self.high.at)
    }

    /// Held only if the whole interval is in the range, failed only if no part of it is.
    pub(crate) fn judge(&self, interval: Interval) -> Verdict {
        let Interval { low, high, .. } = interval;
        let holds_at_low = self.is_above_low(low);
        let holds_at_high = self.is_below_high(high);
        if holds_at_low && holds_at_high {
            Verdict::Held
        } else if !self.is_above_low(high) || !self.is_below_high(low) {
            // NaN is neither above nor below: a quantity that could not be measured is not a failure.
            let unknown = interval.value.is_nan() || low.is_nan() || high.is_nan();
            if unknown {
                Verdict::Undecided
            } else {
                Verdict::Failed
            }
        } else {
            Verdict::Undecided
        }
    }

    /// Distance of the value from the nearer bound, positive inside the range: the part of a claim with the smallest
    /// distance decides.
    pub(crate) fn margin(&self, value: f64) -> f64 {
        (value - self.low.at).min(self.high.at - value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval {
            value: f64::midpoint(low, high),
            low,
            high,
        }
    }

    #[test]
    fn the_whole_interval_decides() {
        let below_one = Range::default().until(1.0, false);
        assert_eq!(below_one.judge(interval(0.2, 0.9)), Verdict::Held);
        assert_eq!(below_one.judge(interval(0.9, 1.1)), Verdict::Undecided);
        assert_eq!(below_one.judge(interval(1.0, 1.1)), Verdict::Failed);
        assert_eq!(below_one.judge(Interval::unknown(0.1)), Verdict::Undecided);
        assert_eq!(below_one.judge(Interval::exact(1.0)), Verdict::Failed);
        let at_most_one = Range::default().until(1.0, true);
        assert_eq!(at_most_one.judge(Interval::exact(1.0)), Verdict::Held);
        let nothing = Interval::exact(f64::NAN);
        assert_eq!(at_most_one.judge(nothing), Verdict::Undecided);
    }

    #[test]
    fn a_range_with_two_ends() {
        let around = Range::default().around(2.0, 0.5);
        assert_eq!(around.judge(interval(1.5, 2.5)), Verdict::Held);
        assert_eq!(around.judge(interval(1.0, 3.0)), Verdict::Undecided);
        assert_eq!(around.judge(interval(2.6, 3.0)), Verdict::Failed);
        assert_eq!(around.judge(interval(0.0, 1.4)), Verdict::Failed);
        assert_eq!((around.margin(2.4) * 10.0).round(), 1.0);
        assert!(around.from(2.6, true).is_empty());
        assert!(Range::default().is_everything() && !around.is_everything());
    }

    #[test]
    fn parts_and_alternatives_are_combined() {
        use Verdict::{Failed, Held, Undecided};
        assert_eq!(Verdict::all([Held, Held]), Held);
        assert_eq!(Verdict::all([Held, Undecided]), Undecided);
        assert_eq!(Verdict::all([Held, Undecided, Failed]), Failed);
        assert_eq!(Verdict::any([Failed, Undecided]), Undecided);
        assert_eq!(Verdict::any([Failed, Held]), Held);
    }
}
