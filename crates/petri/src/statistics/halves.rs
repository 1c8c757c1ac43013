//! What independent runs tell of themselves by the halves of what counts.

use super::doubts::{Doubts, Unstable, of_place};
use super::measures::Observation;
use super::replications::REAL;
use super::series::distance_from_zero;
use super::simulation::Layout;

/// How much more tokens must come in the second half of the runs than in the first, as a share, to be growth without end.
const STEADY_GROWTH: f64 = 0.7;

/// How much of the level of a place must be due to growth at the rate of the second half, from the beginning of the run.
const GROWN: f64 = 0.5;

/// Correlation of the two halves of runs from which on it is said, if it is that large beyond chance. A queue at full load, whose memory
/// is as long as any run, has 0.8.
const REMEMBERED: f64 = 0.5;

/// The first and the second half of what counts of each run.
pub(super) struct Halves<'r> {
    pub layout: &'r Layout,
    pub all: &'r [[Observation; 2]],
    /// Time at which each run ended, in ticks.
    pub end: u64,
    /// Time at the start of each run that did not count, in ticks.
    pub warm_up: u64,
    pub ticks_per_unit: f64,
    /// Standard errors from which on a difference between the halves is real.
    pub real: f64,
}

impl Halves<'_> {
    /// What the halves of the runs tell.
    pub(super) fn doubts(&self) -> Doubts {
        let numbers = self.all.first().map_or(0, |halves| halves[0].numbers());
        let mut doubts = Doubts {
            unstable: self.unstable(),
            ..Doubts::default()
        };
        for index in 0..numbers {
            let of = |half: usize| {
                self.all
                    .iter()
                    .map(move |halves| halves[half].number(index))
            };
            let change: Vec<f64> = of(1)
                .zip(of(0))
                .map(|(second, first)| second - first)
                .collect();
            let scale = of(1).map(f64::abs).fold(0.0, f64::max);
            let is_more_than_rounding = change.iter().any(|change| change.abs() > 1e-9 * scale);
            doubts.unsettled |=
                is_more_than_rounding && distance_from_zero(&change).abs() > self.real;
            doubts.correlation = doubts.correlation.max(correlation(of(0), of(1)));
        }
        let is_real = self.all.len() >= 16 && remembers(doubts.correlation, self.all.len());
        doubts.correlated = is_real.then_some(doubts.correlation);
        doubts
    }

    /// Places that grew in the second half of the runs, and about as much as in the first.
    fn unstable(&self) -> Vec<Unstable> {
        let half = (self.end.saturating_sub(self.warm_up) as f64 / 2.0).max(1.0);
        let of = |place: usize| self.growth(&|seen| seen.at_end(place), &|seen| seen.tokens(place));
        let is_real = |growth: &Growth| {
            growth.errors > REAL
                && growth.late > STEADY_GROWTH * growth.early
                && growth.late * self.end as f64 / half > GROWN * growth.level
        };
        let last: Vec<Observation> = self.all.iter().map(|half| half[1].clone()).collect();
        let named = |place: usize, growth: &Growth| {
            let rate = growth.late / half * self.ticks_per_unit;
            of_place(self.layout, place, &last, rate)
        };
        let places = 0..self.layout.places.len();
        let each: Vec<Growth> = places.clone().map(of).collect();
        let growing = each
            .iter()
            .enumerate()
            .filter(|(_, growth)| is_real(growth));
        let growing: Vec<Unstable> = growing
            .map(|(place, growth)| named(place, growth))
            .collect();
        // Where tokens swing between places by more than they grow, only their sum tells.
        let all = self.growth(
            &|seen| places.clone().map(|place| seen.at_end(place)).sum(),
            &|seen| places.clone().map(|place| seen.tokens(place)).sum(),
        );
        if !growing.is_empty() || !is_real(&all) {
            return growing;
        }
        let most = each
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.late.total_cmp(&b.1.late));
        most.map(|(place, growth)| named(place, growth))
            .into_iter()
            .collect()
    }

    /// The growth of a number, from its values at the ends of the halves of what counts and its means over them.
    fn growth(
        &self,
        at_end: &dyn Fn(&Observation) -> f64,
        tokens: &dyn Fn(&Observation) -> f64,
    ) -> Growth {
        let runs = self.all.len() as f64;
        let change = |[first, second]: &[Observation; 2]| at_end(second) - at_end(first);
        let changes: Vec<f64> = self.all.iter().map(change).collect();
        let first = || self.all.iter().map(|halves| &halves[0]);
        let before: f64 = first().map(|seen| at_end(seen) - tokens(seen)).sum();
        Growth {
            errors: distance_from_zero(&changes),
            late: changes.iter().sum::<f64>() / runs,
            // The mean of a half lies in its middle: from there to its end it grew by half as much.
            early: 2.0 * before / runs,
            level: first().map(at_end).sum::<f64>() / runs,
        }
    }
}

/// How much a number of tokens grows in a half of what counts, on average over the runs.
struct Growth {
    /// Standard errors between the growth in the second half and 0.
    errors: f64,
    /// In the second half.
    late: f64,
    /// In the first half.
    early: f64,
    /// The number at the end of the first half.
    level: f64,
}

/// Whether a correlation of this number of pairs is above [`REMEMBERED`] by two standard errors (R. A. Fisher's transformation).
fn remembers(correlation: f64, pairs: usize) -> bool {
    let chance = 2.0 / libm::sqrt(pairs as f64 - 3.0);
    libm::atanh(correlation) - chance > libm::atanh(REMEMBERED)
}

/// Correlation of pairs.
fn correlation(a: impl Iterator<Item = f64> + Clone, b: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = a.clone().count() as f64;
    let (mean_a, mean_b) = (a.clone().sum::<f64>() / n, b.clone().sum::<f64>() / n);
    let squares = |values: &mut dyn Iterator<Item = f64>, mean: f64| {
        values.map(|x| (x - mean) * (x - mean)).sum::<f64>()
    };
    let (of_a, of_b) = (
        squares(&mut a.clone(), mean_a),
        squares(&mut b.clone(), mean_b),
    );
    let both: f64 = a.zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
    if of_a > 0.0 && of_b > 0.0 {
        both / libm::sqrt(of_a * of_b)
    } else {
        0.0
    }
}
