//! Steady states by batch means.

use super::measures::{Measures, Observation, lag_one_correlation};
use super::simulation::Simulation;
use crate::coloured::RunError;

/// Number of batches for the intervals: between this and twice as many; then pairs of batches are merged.
const BATCHES: usize = 32;

/// Number of steps in which a batch is run.
const STEPS: u64 = 16;

/// Maximum correlation of successive batch means; above it the batches are too short. The correlation of 32
/// independent means has a standard deviation of 0.18.
const TOO_CORRELATED: f64 = 0.35;

/// How to estimate a steady state. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// Ticks per unit of time in the results.
    pub ticks_per_unit: f64,
    /// Time at the start that does not count (warm-up).
    pub warm_up: u64,
    /// Length of the first batches; it grows with the run.
    pub batch: u64,
    /// Maximum time of the run.
    pub end: u64,
    /// Relative half width of every throughput and mean number of tokens at which the run ends; 0 to use the maximum
    /// time.
    pub precision: f64,
    /// Confidence level of the intervals, for example 0.95.
    pub confidence: f64,
}

/// The estimate, and how it was computed.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyResult {
    /// The measures.
    pub measures: Measures,
    /// Number of batches.
    pub batches: usize,
    /// Length of each batch, ticks.
    pub batch_ticks: u64,
    /// Time at the end, in ticks.
    pub end: u64,
    /// True if the requested precision was reached.
    pub is_precise: bool,
}

/// Runs `simulation` until the estimates are precise enough, or until `keep_going` returns false. It is called
/// several times per batch, with the time in ticks and the worst relative error so far. An incomplete batch does not
/// count.
///
/// The length of batches doubles whenever there are twice as many as needed, so that it exceeds the memory of the
/// net. As long as the means of successive batches are clearly correlated, the run continues.
pub fn steady_state<S: Simulation>(
    simulation: &mut S,
    plan: &Steady,
    mut keep_going: impl FnMut(u64, f64) -> bool,
) -> Result<SteadyResult, RunError> {
    let layout = simulation.layout();
    let mut seen: Vec<Observation> = Vec::with_capacity(2 * BATCHES);
    let (mut batch, mut worst, mut is_precise) = (plan.batch.max(1), f64::INFINITY, false);
    let mut now = advance(simulation, 0, plan.warm_up, |now| keep_going(now, worst))?;
    let mut before = simulation.totals(now);
    loop {
        let reached = advance(simulation, now, batch, |now| keep_going(now, worst))?;
        let is_whole = reached == now.saturating_add(batch);
        // Part of a batch is better than no result.
        if is_whole || seen.is_empty() {
            let after = simulation.totals(reached);
            let ticks = reached - now;
            seen.push(Observation::between(
                &before,
                &after,
                ticks,
                plan.ticks_per_unit,
            ));
            before = after;
        }
        now = reached;
        if !is_whole {
            break;
        }
        if seen.len() >= BATCHES {
            worst = Measures::new(&layout, &seen, plan.confidence).worst_relative_error();
        }
        is_precise |= worst <= plan.precision && lag_one_correlation(&seen) <= TOO_CORRELATED;
        let is_over = now.checked_add(batch).is_none_or(|next| next > plan.end);
        if is_precise || is_over && seen.len() > 1 {
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

/// Runs for `ticks` ticks from `from` on, in steps, until `keep_going` returns false; returns the time reached.
fn advance<S: Simulation>(
    simulation: &mut S,
    from: u64,
    ticks: u64,
    mut keep_going: impl FnMut(u64) -> bool,
) -> Result<u64, RunError> {
    let end = from.saturating_add(ticks);
    let mut now = from;
    while now < end {
        now = now.saturating_add(ticks.div_ceil(STEPS)).min(end);
        simulation.advance(now)?;
        if !keep_going(now) {
            break;
        }
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Net;
    use crate::race::{Memory, Race};

    fn queue() -> Net {
        let text = "place q 0 capacity 5\n\
            transition arrive exponential rate 1\n out q\n\
            transition serve exponential rate 2\n in q\n";
        crate::text::read("queue.net", text).unwrap()
    }

    fn run(precision: f64, patience: u32) -> SteadyResult {
        let mut race = Race::new(&queue(), Memory::Enabling, 1).unwrap();
        let unit = race.ticks_per_unit();
        let plan = Steady {
            ticks_per_unit: unit,
            warm_up: (100.0 * unit) as u64,
            batch: (20.0 * unit) as u64,
            end: (20_000.0 * unit) as u64,
            precision,
            confidence: 0.95,
        };
        let mut asked = 0;
        let patient = |_, _| {
            asked += 1;
            asked < patience
        };
        steady_state(&mut race, &plan, patient).unwrap()
    }

    #[test]
    fn it_ends_when_precise_or_at_the_end_or_on_request() {
        let precise = run(0.1, u32::MAX);
        assert!(precise.is_precise && precise.measures.worst_relative_error() <= 0.1);
        let whole = run(0.0, u32::MAX);
        assert!(!whole.is_precise && (BATCHES..=2 * BATCHES).contains(&whole.batches));
        assert!(precise.end < whole.end);
        // Stopped after the warm-up and two and a half batches.
        let told = run(0.0, 16 * 3 + 8);
        assert_eq!((told.batches, told.is_precise), (2, false));
        // Stopped during the first batch: its part is used.
        let told = run(0.0, 16 + 8);
        assert_eq!(told.batches, 1);
        assert!(told.measures.places[0].tokens.mean.is_finite());
    }
}
