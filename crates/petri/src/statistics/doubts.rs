//! What is wrong with estimates, beside their precision.

use super::measures::Observation;
use super::series::{self, distance_from_zero};
use super::simulation::Layout;

/// Batches for the judgement of a run.
pub(crate) const BATCHES: usize = 32;

/// Correlation of successive batches from which on the run is too short for its intervals, if their halves agree.
const TOO_CORRELATED: f64 = 0.35;

/// Correlation of successive halves of batches from which on the run is too short. They are twice as many as batches, and distinguish chance from memory better. Lower limits would sort out
/// those runs of some length that see their long memory and have wide intervals, and leave those that do not: of M/M/1 at a
/// load of 0.9 and 15,000 services, 92.4 % of the intervals that are left hold the mean, with 0.2 for batches 91.4 %.
const HALVES_CORRELATED: f64 = 0.5;

/// Standard errors from which on a difference is real. Many numbers are compared, many times.
const REAL: f64 = 5.0;

/// A place that gets more tokens than it loses, for as long as was simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Unstable {
    /// Its name.
    pub place: String,
    /// Tokens that arrive per unit of time.
    pub inflow: f64,
    /// Tokens that leave per unit of time.
    pub outflow: f64,
}

/// Reasons not to trust estimates of a steady state.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doubts {
    /// Places that grow: there is no steady state.
    pub unstable: Vec<Unstable>,
    /// Means still changed between the first and the second half of what counts: the warm-up is not over.
    pub unsettled: bool,
    /// The correlation of successive batches (or of the halves of runs), if it is so large that the time is hardly longer
    /// than the memory of the net.
    pub correlated: Option<f64>,
    /// Memoryless transitions whose clocks ran and that did not fire, with their mean delays: what follows their firing is not in
    /// the means. Known to who knows the delays.
    pub not_fired: Vec<(String, f64)>,
    /// Places without a capacity that had no room for the tokens of a further firing, since no more can be counted.
    pub full: Vec<String>,
    /// The largest correlation of successive batches.
    pub(crate) correlation: f64,
}

impl Doubts {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        let is_long_enough = self.is_settled() && self.correlated.is_none();
        is_long_enough && self.not_fired.is_empty() && self.full.is_empty()
    }

    /// Whether what was seen is that of a steady state.
    pub(crate) fn is_settled(&self) -> bool {
        self.unstable.is_empty() && !self.unsettled
    }

    /// About successive observations of one run, of which the first `warm_up` do not count; `units` is the length of one.
    pub(crate) fn of_run(
        layout: &Layout,
        seen: &[Observation],
        warm_up: usize,
        units: f64,
    ) -> Self {
        let batches = batches(&seen[warm_up.min(seen.len())..]);
        let halves = batches_of(&seen[warm_up.min(seen.len())..], 2 * BATCHES);
        let numbers = batches.first().map_or(0, Observation::numbers);
        let mut doubts = Self {
            unstable: unstable(layout, &seen[warm_up.max(seen.len() / 2)..], units),
            ..Self::default()
        };
        let mut worst = 0.0_f64;
        for index in 0..numbers {
            let values: Vec<f64> = batches.iter().map(|batch| batch.number(index)).collect();
            if series::is_constant(&values) {
                continue;
            }
            // A single correlation is large by chance in some of many numbers.
            let of_halves: Vec<f64> = halves.iter().map(|half| half.number(index)).collect();
            if series::correlation(&of_halves) > HALVES_CORRELATED {
                worst = worst.max(series::correlation(&values));
            }
            let (first, second) = values.split_at(values.len() / 2);
            let of = |half: &[f64]| series::of_series(half, 0.682_69);
            let (first, second) = (of(first), of(second));
            let change = (second.estimate.mean - first.estimate.mean).abs();
            let error = libm::hypot(first.estimate.half_width, second.estimate.half_width);
            // With few batches an interval may be narrow by chance.
            doubts.unsettled |= change > REAL * error && change > 1e-9 * second.estimate.mean.abs();
        }
        doubts.correlation = worst;
        doubts.correlated = (worst > TOO_CORRELATED || batches.len() < BATCHES).then_some(worst);
        doubts
    }
}

/// The observations as batches, as many of them as [`BATCHES`] if there are enough; the first few may be left out.
pub(crate) fn batches(seen: &[Observation]) -> Vec<Observation> {
    batches_of(seen, BATCHES)
}

/// The observations as `count` batches.
fn batches_of(seen: &[Observation], count: usize) -> Vec<Observation> {
    let each = seen.len() / count;
    if each <= 1 {
        return seen.to_vec();
    }
    let first = seen.len() - each * count;
    seen[first..]
        .chunks_exact(each)
        .map(Observation::together)
        .collect()
}

/// Places whose number of tokens grows from batch to batch, by the second half of a run.
fn unstable(layout: &Layout, seen: &[Observation], units: f64) -> Vec<Unstable> {
    let batches = batches(seen);
    let length = units * (seen.len() as f64 / batches.len().max(1) as f64).trunc();
    let grows = |place: usize| {
        let ends: Vec<f64> = batches.iter().map(|batch| batch.at_end(place)).collect();
        let (first, last) = (ends.first()?, ends.last()?);
        let rate = (last - first) / (ends.len() as f64 - 1.0) / length;
        let peak = f64::from(batches.last()?.peak(place));
        let is_real = ends.len() >= BATCHES && grows_without_end(&ends, peak);
        is_real.then(|| of_place(layout, place, &batches, rate))
    };
    (0..layout.places.len()).filter_map(grows).collect()
}

/// Whether a number that was seen at successive times, and was never above `peak`, grows more than by chance and is still about as
/// large as ever.
pub fn grows_without_end(levels: &[f64], peak: f64) -> bool {
    let growth: Vec<f64> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let is_large = levels.last().is_some_and(|last| *last > 0.75 * peak);
    is_large && distance_from_zero(&growth) > REAL
}

/// A place that grows at this rate.
pub(crate) fn of_place(layout: &Layout, place: usize, seen: &[Observation], rate: f64) -> Unstable {
    let arrivals = seen.iter().map(|seen| seen.arrivals(place)).sum::<f64>();
    let inflow = arrivals / seen.len().max(1) as f64;
    Unstable {
        place: layout.places[place].clone(),
        inflow,
        outflow: (inflow - rate).max(0.0),
    }
}
