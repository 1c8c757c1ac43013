//! A measured quantity: a value and its 95 % confidence interval.

use inorder_base::stats::t_quantile;

use crate::Estimate;

/// If fewer repetitions than this give the same whole number, that does not show that the number is not random:
/// counts and thresholds may agree by chance. A fraction that is the same to its last digit is not random.
const REPETITIONS_TO_TRUST_EQUALITY: usize = 5;

/// Upper 95 % limit for the mean of a Poisson distribution if no event was observed: `-ln(0.025)`.
const NO_EVENT_SEEN: f64 = 3.689;

/// Quantile of the normal distribution for intervals of 95 %.
const NORMAL: f64 = 1.959_963_984_540_054;

/// A value and the ends of its interval; the ends are infinite if they are unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// A value with an unknown interval.
    pub(crate) fn unknown(value: f64) -> Self {
        Self {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        }
    }

    /// A value without uncertainty.
    pub(crate) fn exact(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }

    /// A share of `all` independent observations, with the interval of Wilson (E. B. Wilson, "Probable inference, the law of
    /// succession, and statistical inference", 1927).
    pub(crate) fn share(hits: usize, all: usize) -> Self {
        if all == 0 {
            return Self::unknown(f64::NAN);
        }
        let (n, value) = (all as f64, hits as f64 / all as f64);
        let spread = NORMAL * NORMAL / n;
        let middle = value + spread / 2.0;
        let half = NORMAL * (value * (1.0 - value) / n + spread / (4.0 * n)).sqrt();
        let end = |end: f64| end / (1.0 + spread);
        Self {
            value,
            low: if hits == 0 { 0.0 } else { end(middle - half) },
            high: if hits == all { 1.0 } else { end(middle + half) },
        }
    }

    /// A quantile of ascending values, with the interval between two of them that holds for any distribution: their places
    /// are quantiles of the binomial distribution, by its normal approximation. An end beyond the values is unknown.
    pub(crate) fn quantile(ascending: &[f64], share: f64) -> Self {
        let n = ascending.len() as f64;
        let half = NORMAL * (n * share * (1.0 - share)).sqrt();
        let at = |place: f64| match place {
            place if place >= 1.0 => ascending.get(place as usize - 1).copied(),
            _ => None,
        };
        Self {
            value: at((n * share).ceil()).unwrap_or(f64::NAN),
            low: at((n * share - half).floor() + 1.0).unwrap_or(f64::NEG_INFINITY),
            high: at((n * share + half).ceil()).unwrap_or(f64::INFINITY),
        }
    }

    /// In another unit.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    /// Both ends, if both are finite.
    pub(crate) fn ends(&self) -> Option<[f64; 2]> {
        (self.low.is_finite() && self.high.is_finite()).then_some([self.low, self.high])
    }
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        let [low, high] = estimate.interval();
        Self {
            value: estimate.mean,
            low,
            high,
        }
    }
}

/// A measured quantity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Not random: a single run gives the value.
    Exact(f64),
    /// One number for each repetition; `None` if a repetition has none.
    Repeated(Vec<Option<f64>>),
    /// One number for each repetition, of a count of rare events. `event` is the contribution of a single event to the number, so that a
    /// count of zero has an upper limit.
    Counted {
        /// One number for each repetition.
        values: Vec<Option<f64>>,
        /// Contribution of one event: 1, or 100 divided by the number of packets for a percentage.
        event: f64,
    },
    /// An interval computed by the reduction itself.
    Known(Interval),
}

impl Value {
    /// One number for each repetition; every repetition has one.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        Self::Repeated(values.into_iter().map(Some).collect())
    }

    /// The numbers of the repetitions; empty for the other variants.
    fn repetitions(&self) -> &[Option<f64>] {
        match self {
            Self::Repeated(values) | Self::Counted { values, .. } => values,
            Self::Exact(_) | Self::Known(_) => &[],
        }
    }

    /// The number in repetition `n`; an exact value is the same in each.
    fn in_repetition(&self, n: usize) -> Option<f64> {
        match self {
            Self::Exact(value) => Some(*value),
            _ => self.repetitions().get(n).copied().flatten(),
        }
    }

    /// The value for tables: the mean with Student's interval.
    pub(crate) fn shown(&self) -> Interval {
        match self {
            Self::Exact(value) => Interval::exact(*value),
            Self::Known(interval) => *interval,
            Self::Repeated(values) | Self::Counted { values, .. } => {
                let numbers: Vec<f64> = values.iter().copied().flatten().collect();
                Estimate::of(&numbers).into()
            }
        }
    }

    /// The value for claims. Equal whole numbers give an interval of zero width only if there are many repetitions; a
    /// count that is equal in all repetitions has the uncertainty of a Poisson distribution.
    pub(crate) fn judged(&self) -> Interval {
        let shown = self.shown();
        let random = matches!(self, Self::Repeated(_) | Self::Counted { .. });
        if !random || shown.low < shown.high || shown.value.is_nan() {
            return shown;
        }
        let n = self.repetitions().iter().flatten().count();
        match self {
            Self::Counted { event, .. } => {
                let events = shown.value / event * n as f64;
                let above = NO_EVENT_SEEN.max(1.96 * events.sqrt()) * event / n as f64;
                Interval {
                    low: (shown.value - above).max(0.0),
                    high: shown.value + above,
                    ..shown
                }
            }
            _ if may_agree_by_chance(shown.value, n) => Interval::unknown(shown.value),
            _ => shown,
        }
    }

    /// This value multiplied by `factor`.
    pub(crate) fn times(&self, factor: f64) -> Self {
        match self {
            Self::Exact(value) => Self::Exact(factor * value),
            Self::Known(interval) => {
                let ends = [interval.low * factor, interval.high * factor];
                Self::Known(Interval {
                    value: interval.value * factor,
                    low: ends[0].min(ends[1]),
                    high: ends[0].max(ends[1]),
                })
            }
            Self::Repeated(values) | Self::Counted { values, .. } => Self::Repeated(
                values
                    .iter()
                    .map(|value| Some((*value)? * factor))
                    .collect(),
            ),
        }
    }

    /// Combines this and `other` for each repetition.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        self.minus(&other.times(-1.0))
    }

    /// This minus `other`, for each repetition. Different repetitions are independent, and effects that both
    /// quantities of a repetition share (the same seed) cancel.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        if let (Self::Exact(a), Self::Exact(b)) = (self, other) {
            return Self::Exact(a - b);
        }
        if matches!(self, Self::Known(_)) || matches!(other, Self::Known(_)) {
            let (a, b) = (self.judged(), other.judged());
            return Self::Known(Interval {
                value: a.value - b.value,
                low: a.low - b.high,
                high: a.high - b.low,
            });
        }
        let n = self.repetitions().len().max(other.repetitions().len());
        let pair = |n| Some(self.in_repetition(n)? - other.in_repetition(n)?);
        Self::Repeated((0..n).map(pair).collect())
    }

    /// The mean of this divided by the mean of `other`, with Fieller's interval: all ratios `r` for which the mean of
    /// `self - r * other` over the repetitions is compatible with zero (E. C. Fieller, 1954).
    pub(crate) fn over(&self, other: &Self) -> Self {
        if let (Self::Exact(a), Self::Exact(b)) = (self, other) {
            return Self::Exact(a / b);
        }
        let n = self.repetitions().len().max(other.repetitions().len());
        let pairs = (0..n).filter_map(|n| Some((self.in_repetition(n)?, other.in_repetition(n)?)));
        Self::Known(fieller(&pairs.collect::<Vec<_>>()))
    }

    /// Mean over several quantities, for each repetition; quantities without a number are left out.
    pub(crate) fn mean(all: &[&Self]) -> Self {
        let average = |numbers: Vec<f64>| {
            (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
        };
        let n = all.iter().map(|value| value.repetitions().len()).max();
        match n.unwrap_or(0) {
            0 => {
                let numbers: Vec<f64> = all.iter().map(|value| value.shown().value).collect();
                Self::Exact(average(numbers).unwrap_or(f64::NAN))
            }
            n => {
                let at = |n| average(all.iter().filter_map(|v| v.in_repetition(n)).collect());
                Self::Repeated((0..n).map(at).collect())
            }
        }
    }
}

/// Interval for a number on which `n` repetitions agree.
fn may_agree_by_chance(number: f64, n: usize) -> bool {
    number.fract() == 0.0 && n < REPETITIONS_TO_TRUST_EQUALITY
}

/// Ratio of the means of pairs, with Fieller's interval.
fn fieller(pairs: &[(f64, f64)]) -> Interval {
    let n = pairs.len() as f64;
    let (a, b) = pairs
        .iter()
        .fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let moment = |of: &dyn Fn(f64, f64) -> f64| {
        let sum: f64 = pairs.iter().map(|(x, y)| of(x - a, y - b)).sum();
        sum / (n - 1.0) / n
    };
    let ratio = a / b;
    // The half width of the interval of a sample with standard error 1 is the quantile itself.
    let t = t_quantile(n - 1.0, 0.95);
    if !t.is_finite() {
        return Interval::unknown(ratio);
    }
    let all_agree = pairs.windows(2).all(|pair| pair[0] == pair[1]);
    if all_agree
        && [a, b]
            .iter()
            .any(|mean| may_agree_by_chance(*mean, pairs.len()))
    {
        return Interval::unknown(ratio);
    }
    let g = t * t;
    let (aa, bb, ab) = (
        moment(&|x, _| x * x),
        moment(&|_, y| y * y),
        moment(&|x, y| x * y),
    );
    // (b² - g bb) r² - 2 (a b - g ab) r + (a² - g aa) <= 0
    let (quadratic, linear, constant) = (b * b - g * bb, a * b - g * ab, a * a - g * aa);
    let root = (linear * linear - quadratic * constant).max(0.0).sqrt();
    if quadratic > 0.0 {
        Interval {
            value: ratio,
            low: (linear - root) / quadratic,
            high: (linear + root) / quadratic,
        }
    } else {
        // The denominator may be zero, so every ratio is possible.
        Interval::unknown(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repetition_or_two_equal_ones_give_no_narrow_interval() {
        assert_eq!(Value::of([3.0]).judged().ends(), None);
        assert_eq!(Value::of([3.0, 3.0]).judged().ends(), None);
        assert_eq!(Value::of([3.0; 5]).judged().ends(), Some([3.0, 3.0]));
        assert_eq!(Value::of([2.97; 2]).judged().ends(), Some([2.97, 2.97]));
        assert_eq!(Value::Exact(3.0).judged().ends(), Some([3.0, 3.0]));
        // Tables show the result of Student's formula.
        assert_eq!(Value::of([3.0, 3.0]).shown().ends(), Some([3.0, 3.0]));
    }

    #[test]
    fn a_count_of_zero_has_an_upper_limit() {
        let none = |n: usize| Value::Counted {
            values: vec![Some(0.0); n],
            event: 1.0,
        };
        let high = |n| none(n).judged().high;
        assert!(high(1).is_infinite());
        assert!((high(10) - 0.3689).abs() < 1e-9);
        let hundred = Value::Counted {
            values: vec![Some(25.0); 4],
            event: 1.0,
        };
        // A hundred events: 25 plus and minus 1.96 x 10 / 4.
        assert!((hundred.judged().low - 20.1).abs() < 1e-9);
    }

    #[test]
    fn a_difference_is_computed_for_each_repetition() {
        let (a, b) = (Value::of([1.0, 5.0, 9.0]), Value::of([0.0, 4.0, 8.0]));
        assert_eq!(a.minus(&b), Value::of([1.0; 3]));
        assert_eq!(a.minus(&Value::Exact(1.0)), Value::of([0.0, 4.0, 8.0]));
        assert_eq!(a.plus(&b.times(2.0)), Value::of([1.0, 13.0, 25.0]));
        assert_eq!(Value::mean(&[&a, &b]), Value::of([0.5, 4.5, 8.5]));
    }

    /// Fieller's interval contains exactly those ratios for which the difference is compatible with zero.
    #[test]
    fn the_interval_of_a_ratio_agrees_with_that_of_the_difference() {
        let (a, b) = ([4.1, 3.7, 4.4, 4.0, 3.9], [2.0, 2.1, 2.2, 1.8, 2.05]);
        let ratio = Value::of(a).over(&Value::of(b)).judged();
        let zero_at = |r: f64| {
            let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - r * b).collect();
            Estimate::of(&difference).interval()
        };
        assert!(zero_at(ratio.low)[0].abs() < 1e-6, "{ratio:?}");
        assert!(zero_at(ratio.high)[1].abs() < 1e-6, "{ratio:?}");
        let uncertain = Value::of([1.0, 2.0]).over(&Value::of([-1.0, 1.5]));
        assert_eq!(uncertain.judged().ends(), None);
    }

    #[test]
    fn shares_and_quantiles_have_intervals_that_hold_for_any_distribution() {
        let round = |i: Interval| [i.value, i.low, i.high].map(|x| (x * 1e3).round() / 1e3);
        assert_eq!(round(Interval::share(5, 10)), [0.5, 0.237, 0.763]);
        assert_eq!(Interval::share(0, 4000).low, 0.0);
        assert_eq!(Interval::share(4000, 4000).high, 1.0);
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(round(Interval::quantile(&values, 0.5)), [50.0, 41.0, 60.0]);
        // Four values do not bound their 95th percentile.
        assert_eq!(Interval::quantile(&values[..4], 0.95).ends(), None);
    }
}
