//! Steady states and transients by independent replications.

use rayon::prelude::*;

use super::measures::{Measures, Observation};
use super::simulation::{Layout, Simulation};
use crate::coloured::RunError;

/// How to replicate. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Replications {
    /// Ticks per unit of time in the results.
    pub ticks_per_unit: f64,
    /// Time at the start of each run that does not count (warm-up).
    pub warm_up: u64,
    /// Time at which each run ends.
    pub end: u64,
    /// Number of runs in each round; at least two.
    pub round: u32,
    /// Maximum number of runs.
    pub most: u32,
    /// Relative half width of every throughput and mean number of tokens that is sufficient; 0 to make all runs.
    pub precision: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
}

/// The estimate, and how it was computed.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplicationsResult {
    /// The measures; each run is one observation.
    pub measures: Measures,
    /// Number of runs.
    pub runs: u32,
    /// True if the requested precision was reached.
    pub is_precise: bool,
}

/// Runs the nets that `start` creates for the numbers 0, 1, ... on all cores of the current rayon pool, until the
/// result is precise enough or `keep_going` returns false. It is called once per round, with the number of runs and
/// the worst relative error so far. The result does not depend on the number of threads.
pub fn replicate<S, E>(
    plan: &Replications,
    start: impl Fn(u64) -> Result<S, E> + Sync,
    mut keep_going: impl FnMut(u32, f64) -> bool,
) -> Result<ReplicationsResult, E>
where
    S: Simulation,
    E: From<RunError> + Send,
{
    let mut seen: Vec<Observation> = Vec::new();
    let mut layout = Layout::default();
    loop {
        let first = seen.len() as u64;
        let last = (first + u64::from(plan.round.max(2))).min(u64::from(plan.most.max(2)));
        let runs: Result<Vec<_>, E> = (first..last)
            .into_par_iter()
            .map(|number| one(plan, start(number)?))
            .collect();
        for (names, observation) in runs? {
            layout = names;
            seen.push(observation);
        }
        let measures = Measures::new(&layout, &seen, plan.confidence);
        let worst = measures.worst_relative_error();
        let is_precise = worst <= plan.precision;
        let runs = seen.len() as u32;
        if is_precise || runs >= plan.most || !keep_going(runs, worst) {
            return Ok(ReplicationsResult {
                measures,
                runs,
                is_precise,
            });
        }
    }
}

fn one<S: Simulation, E: From<RunError>>(
    plan: &Replications,
    mut simulation: S,
) -> Result<(Layout, Observation), E> {
    simulation.advance(plan.warm_up)?;
    let before = simulation.totals(plan.warm_up);
    let end = plan.end.max(plan.warm_up);
    simulation.advance(end)?;
    let after = simulation.totals(end);
    let ticks = end - plan.warm_up;
    Ok((
        simulation.layout(),
        Observation::between(&before, &after, ticks, plan.ticks_per_unit),
    ))
}
