//! Steady states by batch means.

use super::measures::{Measures, Observation, lag_one_correlation};
use super::simulation::Simulation;
use crate::coloured::RunError;

/// Batches the intervals are made of: between this and twice as many, when pairs of them become one.
const BATCHES: usize = 32;

/// Batches whose means follow each other more closely than this are too short. The correlation of 32 independent
/// means has a standard deviation of 0.18.
const TOO_CORRELATED: f64 = 0.35;

/// How to estimate a steady state. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// Ticks a unit of time has in the results.
    pub ticks_per_unit: f64,
    /// Time at the start that does not count.
    pub warm_up: u64,
    /// Time of the first batches; they get longer as the run does.
    pub batch: u64,
    /// Time after which the run ends at the latest.
    pub end: u64,
    /// Relative half width of every throughput and mean number of tokens at which the run may end; 0 for never.
    pub precision: f64,
    /// Probability that an interval holds the true value, 0.95 say.
    pub confidence: f64,
}

/// The estimate, and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyResult {
    /// The measures.
    pub measures: Measures,
    /// Batches they were made of.
    pub batches: usize,
    /// Ticks of each batch.
    pub batch_ticks: u64,
    /// Time at the end, in ticks.
    pub end: u64,
    /// Whether the wanted precision was reached.
    pub is_precise: bool,
}

/// Runs `simulation` until its steady state is known well enough, or until `keep_going` says no; that is
/// asked once a batch, with the time in ticks and the worst relative error so far.
///
/// The batches double in length whenever there are twice as many as needed, so that they outgrow the net's
/// memory; as long as the means of neighbouring batches are clearly correlated, the run goes on.
pub fn steady_state<S: Simulation>(
    simulation: &mut S,
    plan: &Steady,
    mut keep_going: impl FnMut(u64, f64) -> bool,
) -> Result<SteadyResult, RunError> {
    let layout = simulation.layout();
    let mut seen: Vec<Observation> = Vec::with_capacity(2 * BATCHES);
    let (mut now, mut batch, mut is_precise) = (plan.warm_up, plan.batch.max(1), false);
    simulation.advance(now)?;
    let mut before = simulation.totals(now);
    loop {
        now = now.saturating_add(batch);
        simulation.advance(now)?;
        let after = simulation.totals(now);
        seen.push(Observation::between(
            &before,
            &after,
            batch,
            plan.ticks_per_unit,
        ));
        before = after;
        let worst = if seen.len() < BATCHES {
            f64::INFINITY
        } else {
            Measures::new(&layout, &seen, plan.confidence).worst_relative_error()
        };
        is_precise |= worst <= plan.precision && lag_one_correlation(&seen) <= TOO_CORRELATED;
        let over = now.saturating_add(batch) > plan.end && seen.len() > 1;
        if is_precise || over || !keep_going(now, worst) {
            break;
        }
        if seen.len() == 2 * BATCHES {
            seen = seen
                .chunks_exact(2)
                .map(|pair| pair[0].merged(&pair[1]))
                .collect();
            batch = batch.saturating_mul(2);
        }
    }
    Ok(SteadyResult {
        measures: Measures::new(&layout, &seen, plan.confidence),
        batches: seen.len(),
        batch_ticks: batch,
        end: now,
        is_precise,
    })
}
