//! Steady states by batch means.

use super::measures::{Measures, Observation, lag_one_correlation};
use super::simulation::Simulation;
use crate::coloured::RunError;

/// Batches the intervals are made of: between this and twice as many, when pairs of them become one.
const BATCHES: usize = 32;

/// Steps in which a batch is run.
const STEPS: u64 = 16;

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
/// asked several times a batch, with the time in ticks and the worst relative error so far; a batch that was
/// broken off does not count.
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
    let (mut batch, mut worst, mut is_precise) = (plan.batch.max(1), f64::INFINITY, false);
    let mut now = advance(simulation, 0, plan.warm_up, |now| keep_going(now, worst))?;
    let mut before = simulation.totals(now);
    loop {
        let reached = advance(simulation, now, batch, |now| keep_going(now, worst))?;
        let is_whole = reached == now.saturating_add(batch);
        // Part of a batch is better than nothing.
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

/// Runs for `ticks` from `from` on, in steps, as long as `keep_going` says; the time reached.
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
    fn it_ends_when_precise_at_the_end_or_when_told() {
        let precise = run(0.1, u32::MAX);
        assert!(precise.is_precise && precise.measures.worst_relative_error() <= 0.1);
        let whole = run(0.0, u32::MAX);
        assert!(!whole.is_precise && (BATCHES..=2 * BATCHES).contains(&whole.batches));
        assert!(precise.end < whole.end);
        // Told after the warm-up and two batches and a half.
        let told = run(0.0, 16 * 3 + 8);
        assert_eq!((told.batches, told.is_precise), (2, false));
        // Told in the midst of the first batch: better than nothing.
        let told = run(0.0, 16 + 8);
        assert_eq!(told.batches, 1);
        assert!(told.measures.places[0].tokens.mean.is_finite());
    }
}
