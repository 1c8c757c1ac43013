//! Steady states by batch means.

use super::Estimated;
use super::doubts::{Doubts, batches};
use super::measures::{Kind, Measures, Observation};
use super::series::{self, of_series};
use super::simulation::{Layout, Simulation};
use crate::coloured::RunError;

/// Observations that are kept: between half as many and these; then pairs of them become one of twice the length.
const KEPT: usize = 2048;

/// Observations between two looks at the precision, so that each look has at least an eighth more than the one before.
const LOOK: usize = KEPT / 8;

/// The part of the run at its start that never counts.
const NEVER_COUNTED: usize = 16;

/// The first stage of a run to a precision ends when intervals are this many times as wide as wanted.
const FIRST_STAGE: f64 = 1.5;

/// How much longer the second stage is than its intervals are expected to need.
const RESERVE: f64 = 1.15;

/// Looks with the same growth after which a net is taken as unstable: the run has become twice as long meanwhile.
const UNSTABLE_LOOKS: u32 = 6;

/// Firings in the first observation of a net some of whose transitions are much slower than others.
const FIRST_FIRINGS: u64 = 1000;

/// How to estimate a steady state. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Steady {
    /// Ticks per unit of time in the results.
    pub ticks_per_unit: f64,
    /// Time at the start that does not count (warm-up); `None` to find it from the run.
    pub warm_up: Option<u64>,
    /// Length of the first observations; it grows with the run, and may be less if much happens in that time.
    pub batch: u64,
    /// Maximum time of the run.
    pub end: u64,
    /// Maximum number of firings of the run.
    pub most_firings: u64,
    /// Relative half width of every throughput and mean number of tokens at which the run ends; 0 to use the maximum
    /// time.
    pub precision: f64,
    /// Confidence level of the intervals, for example 0.95.
    pub confidence: f64,
}

/// Runs `simulation` until the estimates are precise enough, or until `keep_going` returns false. It is called
/// after every observation, with the time in ticks and the worst relative error so far. An incomplete observation does
/// not count.
///
/// The run is observed in a thousand or two intervals of equal length, which grow with it. The warm-up is a sixteenth of the
/// run, or more if the start lies apart from the rest; what counts forms 32 batches, whose remaining dependence widens the
/// intervals.
///
/// A run to a precision has two stages. The first tells how long the second must be, and then counts as its warm-up: a
/// chance that makes both an estimate and its interval too small, as that of a queue that was rarely long, ends the first
/// stage early, but does not bias the second (C. Stein, "A two-sample test for a linear hypothesis whose power is
/// independent of the variance", Annals of Mathematical Statistics 16, 1945).
pub fn steady_state<S: Simulation>(
    simulation: &mut S,
    plan: &Steady,
    mut keep_going: impl FnMut(u64, f64) -> bool,
) -> Result<Estimated, RunError> {
    let layout = simulation.layout();
    let start = plan.warm_up.unwrap_or(0);
    let mut run = Run {
        layout: &layout,
        plan,
        start,
        batch: plan
            .batch
            .min(plan.end.saturating_sub(start) / (KEPT as u64 / 2))
            .max(1),
        seen: Vec::with_capacity(KEPT),
        second_stage_from: None,
        second_stage_until: 0,
    };
    let mut now = warm_up(simulation, start, |now| keep_going(now, f64::INFINITY))?;
    let mut before = simulation.totals(now);
    run.batch = first_batch(simulation, now, run.batch)?;
    let (mut worst, mut is_precise, mut unstable_looks) = (f64::INFINITY, false, 0);
    let mut next_look = KEPT / 2;
    loop {
        let reached = now.saturating_add(run.batch);
        if reached > plan.end && !run.seen.is_empty() {
            break;
        }
        simulation.advance(reached)?;
        let after = simulation.totals(reached);
        run.seen.push(Observation::between(
            &before,
            &after,
            reached - now,
            plan.ticks_per_unit,
        ));
        (now, before) = (reached, after);
        if !keep_going(now, worst) || before.firings() > plan.most_firings {
            break;
        }
        if run.seen.len() < next_look {
            continue;
        }
        next_look += LOOK;
        if now >= run.second_stage_until {
            let (measures, doubts) = run.estimates();
            worst = measures.worst_relative_error();
            let is_clear = doubts.is_empty();
            is_precise = is_clear && run.is_second_stage() && worst <= plan.precision;
            unstable_looks = if doubts.unstable.is_empty() {
                0
            } else {
                unstable_looks + 1
            };
            if is_precise || (unstable_looks >= UNSTABLE_LOOKS && plan.precision > 0.0) {
                break;
            }
            if is_clear && !run.is_second_stage() && worst <= FIRST_STAGE * plan.precision {
                run.begin_second_stage(now, worst);
            }
        }
        if run.seen.len() >= KEPT {
            run.halve();
            next_look = KEPT / 2 + LOOK;
        }
    }
    let (measures, doubts) = run.estimates();
    Ok(Estimated {
        is_precise,
        observations: batches(&run.seen[run.warm_up()..]).len(),
        warm_up: start + run.warm_up() as u64 * run.batch,
        end: now,
        measures,
        doubts,
    })
}

/// What was seen of a run.
struct Run<'p> {
    layout: &'p Layout,
    plan: &'p Steady,
    /// Ticks at the start that were not observed.
    start: u64,
    /// Ticks of an observation.
    batch: u64,
    seen: Vec<Observation>,
    /// When the second stage began, and until when it lasts at least.
    second_stage_from: Option<u64>,
    second_stage_until: u64,
}

impl Run<'_> {
    fn is_second_stage(&self) -> bool {
        self.second_stage_from.is_some()
    }

    /// The first stage had intervals of this width: the second will be as long as the wanted ones need.
    fn begin_second_stage(&mut self, now: u64, worst: f64) {
        let counted = (now - self.start) as f64 * (1.0 - 1.0 / NEVER_COUNTED as f64);
        let needed = RESERVE * counted * (worst / self.plan.precision).powi(2);
        // Not less than what is wanted of the batches anyway.
        let length = needed.max(0.5 * counted);
        self.second_stage_from = Some(now);
        self.second_stage_until = now.saturating_add(length as u64);
    }

    /// Observations at the start that do not count.
    fn warm_up(&self) -> usize {
        match (self.second_stage_from, self.plan.warm_up) {
            (Some(from), _) if self.second_stage_until <= self.now() => {
                ((from - self.start).div_ceil(self.batch) as usize).min(self.seen.len())
            }
            (_, Some(_)) => 0,
            (_, None) => warm_up_of(&self.seen, NEVER_COUNTED),
        }
    }

    /// The time to which the run was observed.
    fn now(&self) -> u64 {
        self.start + self.seen.len() as u64 * self.batch
    }

    fn halve(&mut self) {
        self.seen = self
            .seen
            .chunks_exact(2)
            .map(Observation::together)
            .collect();
        self.batch = self.batch.saturating_mul(2);
    }

    fn estimates(&self) -> (Measures, Doubts) {
        let warm_up = self.warm_up();
        let units = self.batch as f64 / self.plan.ticks_per_unit;
        let doubts = Doubts::of_run(self.layout, &self.seen, warm_up, units);
        let counted = &self.seen[warm_up..];
        let batches = batches(counted);
        let mut measures =
            Measures::new(self.layout, Kind::Batches, &batches, self.plan.confidence);
        for unstable in &doubts.unstable {
            measures.without_mean_of(&unstable.place);
        }
        let time = self.start as f64 / self.plan.ticks_per_unit + units * self.seen.len() as f64;
        measures.bound_the_unseen(independent(counted, &batches), time, self.plan.confidence);
        (measures, doubts)
    }
}

/// Where the last of the numbers settles, but not before this part of the run.
pub(crate) fn warm_up_of(seen: &[Observation], part: usize) -> usize {
    let batches = batches(seen);
    let each = seen.len() / batches.len().max(1);
    let first = seen.len() - each * batches.len();
    let numbers = batches.first().map_or(0, Observation::numbers);
    let of = |index| {
        let values: Vec<f64> = batches.iter().map(|batch| batch.number(index)).collect();
        series::warm_up(&values)
    };
    let found = (0..numbers).map(of).max().unwrap_or(0);
    let found = if found > 0 { first + found * each } else { 0 };
    found.max(seen.len() / part)
}

/// Number of independent observations of the marking: as many as would give the least precise mean its interval.
fn independent(counted: &[Observation], batches: &[Observation]) -> f64 {
    let numbers = counted.first().map_or(0, Observation::numbers);
    let one = |index: usize| {
        let squares = |seen: &[Observation]| {
            let values: Vec<f64> = seen.iter().map(|seen| seen.number(index)).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
            (squares / (values.len() as f64 - 1.0).max(1.0), values)
        };
        let ((of_one, _), (of_batch, values)) = (squares(counted), squares(batches));
        let independent = of_series(&values, 0.95).independent;
        (of_batch > 0.0).then(|| (independent * of_one / of_batch).min(counted.len() as f64))
    };
    let least = (0..numbers).filter_map(one).fold(f64::INFINITY, f64::min);
    least.min(counted.len() as f64).max(1.0)
}

/// Runs to the end of the warm-up, in steps, or until `keep_going` returns false; returns the time reached.
fn warm_up<S: Simulation>(
    simulation: &mut S,
    end: u64,
    mut keep_going: impl FnMut(u64) -> bool,
) -> Result<u64, RunError> {
    let mut now = 0_u64;
    while now < end {
        now = now.saturating_add(end.div_ceil(64)).min(end);
        simulation.advance(now)?;
        if !keep_going(now) {
            break;
        }
    }
    Ok(now)
}

/// The length of the first observations: the wanted one, or less if more than [`FIRST_FIRINGS`] happen in it. The
/// simulation does not advance beyond the first of them.
fn first_batch<S: Simulation>(simulation: &mut S, now: u64, wanted: u64) -> Result<u64, RunError> {
    let before = simulation.totals(now).firings();
    let mut length = (wanted >> 20).max(1);
    while length < wanted {
        simulation.advance(now.saturating_add(length))?;
        if simulation.totals(now.saturating_add(length)).firings() - before >= FIRST_FIRINGS {
            break;
        }
        length = length.saturating_mul(2);
    }
    Ok(length.min(wanted))
}

#[cfg(test)]
mod tests {
    use super::super::doubts::BATCHES;
    use super::*;
    use crate::race::{Memory, Race};

    /// A run of at most `end` units of time.
    fn run(
        text: &str,
        end: f64,
        warm_up: Option<f64>,
        precision: f64,
        keep_going: impl FnMut(u64, f64) -> bool,
    ) -> Estimated {
        let net = crate::text::read("net", text).unwrap();
        let mut race = Race::new(&net, Memory::Enabling, 1).unwrap();
        let ticks = |units: f64| (units * race.ticks_per_unit()) as u64;
        let plan = Steady {
            ticks_per_unit: race.ticks_per_unit(),
            warm_up: warm_up.map(ticks),
            batch: ticks(6.0),
            end: ticks(end),
            most_firings: u64::MAX,
            precision,
            confidence: 0.95,
        };
        steady_state(&mut race, &plan, keep_going).unwrap()
    }

    fn of(text: &str, precision: f64) -> Estimated {
        run(text, 1e6, None, precision, |_, _| true)
    }

    #[test]
    fn it_ends_when_precise_or_at_the_end_or_on_request() {
        let queue = "place q 0 capacity 5\n\
            transition arrive exponential rate 1\n out q\n\
            transition serve exponential rate 2\n in q\n";
        let run = |precision: f64, patience: u32| {
            let mut asked = 0;
            run(queue, 20_000.0, Some(100.0), precision, |_, _| {
                asked += 1;
                asked < patience
            })
        };
        let precise = run(0.1, u32::MAX);
        assert!(precise.is_precise && precise.measures.worst_relative_error() <= 0.1);
        let whole = run(0.0, u32::MAX);
        assert!(!whole.is_precise && whole.observations == BATCHES);
        assert!(precise.end < whole.end);
        // Stopped after the warm-up and two observations.
        let told = run(0.0, 64 + 2);
        assert_eq!((told.observations, told.is_precise), (2, false));
        assert!(told.doubts.correlated.is_some());
        assert!(told.measures.places[0].tokens.mean.is_finite());
    }

    #[test]
    fn a_queue_that_gets_more_than_it_serves_has_no_steady_state() {
        let found = of(
            "place q\ntransition a exponential rate 1.1\n out q\ntransition s exponential rate 1\n in q\n",
            0.01,
        );
        let [unstable] = found.doubts.unstable.as_slice() else {
            panic!("{:?}", found.doubts);
        };
        assert!(
            (unstable.inflow - 1.1).abs() < 0.05 && (unstable.outflow - 1.0).abs() < 0.05,
            "{unstable:?}"
        );
        assert!(!found.is_precise && found.measures.places[0].tokens.half_width.is_infinite());
        assert!(found.end < 1_000_000_000_000);
    }

    #[test]
    fn a_queue_at_high_load_is_not_taken_as_unstable() {
        for (load, start) in [(0.5, 0), (0.9, 0), (0.95, 2000)] {
            let found = of(
                &format!(
                    "place q {start}\ntransition a exponential rate {load}\n out q\ntransition s exponential rate 1\n in q\n"
                ),
                0.0,
            );
            assert!(found.doubts.is_empty(), "{load}: {:?}", found.doubts);
            let tokens = found.measures.places[0].tokens;
            assert!(
                (tokens.mean - load / (1.0 - load)).abs() < 2.0 * tokens.half_width,
                "{load}: {tokens:?}"
            );
        }
    }

    #[test]
    fn what_was_never_seen_has_a_bound() {
        let found = of(
            "place q 0 capacity 30\nplace try\nplace lost\ntransition a exponential rate 0.5\n out try\n\
             transition enter immediate priority 2\n in try\n out q\ntransition lose immediate priority 1\n in try\n out lost\n\
             transition s exponential rate 1\n in q\n",
            0.05,
        );
        let lost = found.measures.transition("lose").unwrap().throughput;
        assert!(
            lost.mean == 0.0 && lost.half_width > 0.0 && lost.half_width < 1e-3,
            "{lost:?}"
        );
        assert!(found.is_precise && found.measures.has_unseen());
        // A place that tokens only pass has none for certain.
        assert_eq!(
            found.measures.place("try").unwrap().tokens,
            inorder_base::stats::Estimate::exact(0.0)
        );
    }
}
