//! Steady states and transients by independent replications.

use rayon::prelude::*;

use super::Estimated;
use super::batch::warm_up_of;
use super::halves::Halves;
use super::measures::{Kind, Measures, Observation};
use super::simulation::{Layout, Simulation};
use crate::coloured::RunError;

/// The part of the runs that never counts.
const NEVER_COUNTED: usize = 12;

/// Intervals in which the first runs are observed to find the warm-up.
const SEGMENTS: u64 = 192;

/// Runs that are made before the precision is looked at: few runs have a narrow interval by chance.
const LEAST_RUNS: u32 = 32;

/// The first stage ends when intervals are this many times as wide as wanted.
const FIRST_STAGE: f64 = 1.5;

/// How many more runs the second stage has than its intervals are expected to need.
const RESERVE: f64 = 1.15;

/// Times that the runs are made longer because they were still in their warm-up.
const DOUBLINGS: u32 = 6;

/// Number of such extensions before the runs are checked for a place that grows without end.
const FIRST_DOUBLINGS: u32 = 3;

/// What counts begins later than the averages of the first runs seem to have settled, by this factor: they cannot tell a small rest
/// of the start from chance.
const LATER: u64 = 3;

/// The time that must be left to count, as a share of the run.
const LEFT: u64 = 4;

/// Standard errors from which on a difference between the halves of the runs is real. Many numbers are compared, many times.
pub(super) const REAL: f64 = 4.5;

/// Standard errors of a real difference in runs that were made longer because their halves differed: what was real once needs less evidence to be still there.
const REAL_AGAIN: f64 = 3.5;

/// How to replicate. Times are in ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Replications {
    /// Ticks per unit of time in the results.
    pub ticks_per_unit: f64,
    /// Time at the start of each run that does not count (warm-up); `None` to find it from the first runs.
    pub warm_up: Option<u64>,
    /// Time at which each run ends.
    pub end: u64,
    /// Whether the runs may be made longer if they end before the net has settled.
    pub may_grow: bool,
    /// Number of runs in each round; at least two.
    pub round: u32,
    /// Maximum number of runs.
    pub most: u32,
    /// Relative half width of every throughput and mean number of tokens that is sufficient; 0 to make all runs.
    pub precision: f64,
    /// Confidence level of the intervals.
    pub confidence: f64,
}

/// The seed of run `number` of a campaign: that of the campaign for the first, and numbers that have nothing to do with
/// those of other campaigns for the others.
pub fn run_seed(seed: u64, number: u64) -> u64 {
    match number {
        0 => seed,
        _ => inorder_base::random::Random::new(seed, "run")
            .fork(number)
            .next_u64(),
    }
}

/// Runs the nets that `start` creates for the numbers 0, 1, ... on all cores of the current rayon pool, until the
/// result is precise enough or `keep_going` returns false. It is called once per round, with the number of runs and
/// the worst relative error so far. The result does not depend on the number of threads.
///
/// The warm-up is found from the averages of the first runs over time (P. D. Welch's averages with R. W. Conway's rule). If
/// later the means of the first and of the second half of what counts turn out to differ, all runs are made anew with more
/// warm-up: twice as long if they may grow, with less that counts if not.
///
/// To a precision there are two stages, as in [`super::steady_state`]: the first runs tell how many are needed, and only others count. Runs
/// that end when their interval is narrow end sooner where, by chance, both the estimate and its interval are too small.
pub fn replicate<S, E>(
    plan: &Replications,
    start: impl Fn(u64) -> Result<S, E> + Sync,
    mut keep_going: impl FnMut(u32, f64) -> bool,
) -> Result<Estimated, E>
where
    S: Simulation,
    E: From<RunError> + Send,
{
    let mut plan = plan.clone();
    let is_free = plan.warm_up.is_none();
    let (mut doublings, mut real) = (0, REAL);
    if is_free {
        doublings = settle(&mut plan, &start, FIRST_DOUBLINGS)?;
    }
    loop {
        let (result, has_time) = attempt(&plan, is_free, real, &start, &mut keep_going)?;
        let settles = result.doubts.unstable.is_empty() && result.doubts.unsettled;
        if !settles || !is_free || !has_time {
            return Ok(result);
        }
        let warm_up = plan.warm_up.unwrap_or(0);
        real = REAL_AGAIN;
        if plan.may_grow && doublings < DOUBLINGS {
            plan.end = plan.end.saturating_mul(2);
            doublings += 1 + settle(&mut plan, &start, 0)?;
            plan.warm_up = plan.warm_up.max(Some(plan.end / LEFT * 2));
        } else if warm_up < plan.end - plan.end / LEFT {
            plan.warm_up = Some(plan.end - plan.end / LEFT);
        } else {
            return Ok(result);
        }
    }
}

/// Sets the warm-up, and makes the runs longer, at most so often, if they seem to be in it until their middle. Returns how
/// often.
fn settle<S, E>(
    plan: &mut Replications,
    start: &(impl Fn(u64) -> Result<S, E> + Sync),
    most: u32,
) -> Result<u32, E>
where
    S: Simulation,
    E: From<RunError> + Send,
{
    let mut doublings = 0;
    loop {
        let warm_up = first_warm_up(plan, start)?;
        if plan.may_grow && doublings < most && warm_up > plan.end / 5 * 2 {
            plan.end = plan.end.saturating_mul(2);
            doublings += 1;
            continue;
        }
        plan.warm_up = Some((warm_up / 2 * LATER).min(plan.end - plan.end / LEFT));
        return Ok(doublings);
    }
}

/// Rounds of runs until they are precise, or found not to have settled if they can be made anew; and whether `keep_going` allows
/// more.
fn attempt<S, E>(
    plan: &Replications,
    is_free: bool,
    real: f64,
    start: &(impl Fn(u64) -> Result<S, E> + Sync),
    keep_going: &mut impl FnMut(u32, f64) -> bool,
) -> Result<(Estimated, bool), E>
where
    S: Simulation,
    E: From<RunError> + Send,
{
    let mut runs = Runs {
        plan,
        real,
        layout: Layout::default(),
        halves: Vec::new(),
        not_counted: 0,
    };
    let mut next_look = LEAST_RUNS.min(plan.most);
    let mut worst = f64::INFINITY;
    loop {
        runs.more(start)?;
        let made = runs.halves.len() as u32;
        let is_last = made >= plan.most;
        let has_time = keep_going(made, worst);
        if made < next_look && !is_last && has_time {
            continue;
        }
        // Each look has at least an eighth more runs than the one before.
        next_look = made + made / 8;
        let result = runs.result();
        worst = result.measures.worst_relative_error();
        let is_unsettled = is_free && result.doubts.unsettled && made >= LEAST_RUNS;
        let is_first_stage = runs.not_counted == 0;
        if result.is_precise && !is_first_stage {
            return Ok((result, has_time));
        }
        if is_last || !has_time || is_unsettled {
            // Not the result has ended the runs, so that all of them may count.
            runs.not_counted = 0;
            return Ok((runs.result(), has_time));
        }
        let is_near = worst <= FIRST_STAGE * plan.precision && plan.precision > 0.0;
        if is_first_stage && is_near && result.doubts.is_settled() {
            next_look = runs.second_stage(made, worst).unwrap_or(plan.most);
        }
    }
}

/// The warm-up of the first runs.
fn first_warm_up<S, E>(
    plan: &Replications,
    start: &(impl Fn(u64) -> Result<S, E> + Sync),
) -> Result<u64, E>
where
    S: Simulation,
    E: From<RunError> + Send,
{
    let length = (plan.end / SEGMENTS).max(1);
    let one = |number: u64| {
        let mut simulation = start(number)?;
        let mut before = simulation.totals(0);
        let mut seen = Vec::with_capacity(SEGMENTS as usize);
        for segment in 1..=SEGMENTS {
            simulation.advance(segment * length)?;
            let after = simulation.totals(segment * length);
            seen.push(Observation::between(
                &before,
                &after,
                length,
                plan.ticks_per_unit,
            ));
            before = after;
        }
        Ok::<_, E>(seen)
    };
    let runs: Result<Vec<_>, E> = (0..u64::from(plan.round.max(2)))
        .into_par_iter()
        .map(one)
        .collect();
    let runs = runs?;
    let average = |segment: usize| {
        let all: Vec<Observation> = runs.iter().map(|run| run[segment].clone()).collect();
        Observation::together(&all)
    };
    let averages: Vec<Observation> = (0..SEGMENTS as usize).map(average).collect();
    Ok(warm_up_of(&averages, NEVER_COUNTED) as u64 * length)
}

/// Runs that were made.
struct Runs<'p> {
    plan: &'p Replications,
    /// Standard errors from which on a difference between the halves is real.
    real: f64,
    layout: Layout,
    /// The first and the second half of what counts of each run.
    halves: Vec<[Observation; 2]>,
    /// Runs of the first stage: they told how many more were needed.
    not_counted: usize,
}

impl Runs<'_> {
    /// The runs that were made had intervals of this width: from now on others count, which are as many as the wanted intervals need.
    /// Returns how many there are then. If that is more than there may be, all count: their number is no matter of chance.
    fn second_stage(&mut self, made: u32, worst: f64) -> Option<u32> {
        let needed = RESERVE * f64::from(made) * (worst / self.plan.precision).powi(2);
        let needed = needed.max(f64::from(LEAST_RUNS));
        let until = f64::from(made) + needed;
        (until <= f64::from(self.plan.most)).then(|| {
            self.not_counted = made as usize;
            until as u32
        })
    }

    /// Makes the runs of another round.
    fn more<S, E>(&mut self, start: &(impl Fn(u64) -> Result<S, E> + Sync)) -> Result<(), E>
    where
        S: Simulation,
        E: From<RunError> + Send,
    {
        let plan = self.plan;
        let first = self.halves.len() as u64;
        let last = (first + u64::from(plan.round.max(2))).min(u64::from(plan.most.max(2)));
        let runs: Result<Vec<_>, E> = (first..last)
            .into_par_iter()
            .map(|number| one(plan, start(number)?))
            .collect();
        for (names, halves) in runs? {
            self.layout = names;
            self.halves.push(halves);
        }
        Ok(())
    }

    fn result(&self) -> Estimated {
        let (plan, confidence) = (self.plan, self.plan.confidence);
        let warm_up = plan.warm_up.unwrap_or(0);
        let whole: Vec<Observation> = self.halves[self.not_counted..]
            .iter()
            .map(|halves| Observation::together(halves))
            .collect();
        let doubts = Halves {
            layout: &self.layout,
            all: &self.halves,
            end: plan.end,
            warm_up,
            ticks_per_unit: plan.ticks_per_unit,
            real: self.real,
        }
        .doubts();
        let mut measures = Measures::new(&self.layout, Kind::Runs, &whole, confidence);
        for unstable in &doubts.unstable {
            measures.without_mean_of(&unstable.place);
        }
        let runs = whole.len() as f64;
        let time = runs * plan.end as f64 / plan.ticks_per_unit;
        measures.bound_the_unseen(runs, time, confidence);
        Estimated {
            is_precise: doubts.is_settled() && measures.worst_relative_error() <= plan.precision,
            measures,
            doubts,
            observations: whole.len(),
            warm_up,
            end: plan.end.max(warm_up),
        }
    }
}

fn one<S: Simulation, E: From<RunError>>(
    plan: &Replications,
    mut simulation: S,
) -> Result<(Layout, [Observation; 2]), E> {
    let warm_up = plan.warm_up.unwrap_or(0);
    let end = plan.end.max(warm_up);
    let middle = warm_up + (end - warm_up) / 2;
    simulation.advance(warm_up)?;
    let first = simulation.totals(warm_up);
    simulation.advance(middle)?;
    let second = simulation.totals(middle);
    simulation.advance(end)?;
    let third = simulation.totals(end);
    let unit = plan.ticks_per_unit;
    Ok((
        simulation.layout(),
        [
            Observation::between(&first, &second, middle - warm_up, unit),
            Observation::between(&second, &third, end - middle, unit),
        ],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::{Memory, Race};

    /// The result, and how many runs were made.
    fn found(text: &str, plan: &Replications, seed: u64) -> (Estimated, u32) {
        let net = crate::text::read("net", text).unwrap();
        let unit = crate::lower::ticks_per_unit(&net);
        // Times of the plan are in units.
        let plan = Replications {
            ticks_per_unit: unit,
            warm_up: plan.warm_up.map(|time| (time as f64 * unit) as u64),
            end: (plan.end as f64 * unit) as u64,
            ..plan.clone()
        };
        let start = |number| {
            Ok::<_, RunError>(Race::new(&net, Memory::Enabling, run_seed(seed, number)).unwrap())
        };
        let mut made = 0;
        let found = replicate(&plan, start, |runs, _| {
            made = runs;
            true
        });
        (found.unwrap(), made)
    }

    fn plan(end: u64, may_grow: bool, most: u32) -> Replications {
        Replications {
            ticks_per_unit: 1.0,
            warm_up: None,
            end,
            may_grow,
            round: 16,
            most,
            precision: 0.0,
            confidence: 0.95,
        }
    }

    fn of(text: &str, end: u64, may_grow: bool, runs: u32, seed: u64) -> Estimated {
        found(text, &plan(end, may_grow, runs), seed).0
    }

    fn queue(load: f64, start: u32) -> String {
        format!(
            "place q {start}\ntransition a exponential rate {load}\n out q\ntransition s exponential rate 1\n in q\n"
        )
    }

    #[test]
    fn runs_that_start_far_from_the_steady_state_are_made_long_enough() {
        // 1000 customers are served in about 10,000 units of time.
        let found = of(&queue(0.9, 1000), 10_000, true, 64, 1);
        let tokens = found.measures.places[0].tokens;
        assert!(
            (tokens.mean - 9.0).abs() < 1.5 * tokens.half_width && tokens.half_width < 1.5,
            "{tokens:?}"
        );
        assert!(
            !found.doubts.unsettled && found.end > 10_000_000_000,
            "{:?}",
            found.doubts
        );
        // If they may not be longer, it is said.
        let short = of(&queue(0.9, 1000), 4_000, false, 64, 1);
        assert!(short.doubts.unsettled && !short.is_precise);
    }

    #[test]
    fn a_queue_that_grows_is_told_from_one_that_settles() {
        let found = of(&queue(2.0, 0), 1000, true, 50, 1);
        let [unstable] = found.doubts.unstable.as_slice() else {
            panic!("{:?}", found.doubts);
        };
        assert!(
            (unstable.inflow - unstable.outflow - 1.0).abs() < 0.05,
            "{unstable:?}"
        );
        assert!(
            of(&queue(0.9, 0), 10_000, true, 50, 1)
                .doubts
                .unstable
                .is_empty()
        );
    }

    /// Of M/M/1 at a load of 0.9. Were all runs to count, those would end first whose queues were short.
    #[test]
    fn runs_that_tell_how_many_are_needed_do_not_count() {
        let to = |precision: f64, most: u32| {
            let plan = Replications {
                warm_up: Some(500),
                precision,
                ..plan(2_500, false, most)
            };
            found(&queue(0.9, 0), &plan, 1)
        };
        let (precise, made) = to(0.1, 4000);
        assert!(
            precise.is_precise && precise.observations + LEAST_RUNS as usize <= made as usize,
            "{} of {made}",
            precise.observations
        );
        // All count if their number is no matter of chance: for lack of runs, or because no precision is wanted.
        for (precision, most) in [(0.05, 64), (0.0, 64)] {
            let (whole, made) = to(precision, most);
            assert_eq!(
                (whole.is_precise, whole.observations, made),
                (false, 64, 64)
            );
        }
    }

    /// S. Lu and P. Kumar's line (IEEE Trans. Automatic Control 36(12), 1991): each of two stations serves two stages, with a load of 0.8, but the
    /// stages that go first starve each other, and the queues grow by turns.
    #[test]
    fn queues_that_swing_and_grow_together_are_told() {
        let stage = |mean: f64, arcs: &str| format!("exponential mean {mean}\n{arcs}");
        let line = format!(
            "place b1\nplace b2\nplace b3\nplace b4\ntransition a exponential rate 1\n out b1\n\
             transition s1 {}\ntransition s2 {}\ntransition s3 {}\ntransition s4 {}\n",
            stage(0.2, " in b1\n out b2\n inhibit b4"),
            stage(0.6, " in b2\n out b3"),
            stage(0.2, " in b3\n out b4\n inhibit b2"),
            stage(0.6, " in b4"),
        );
        let doubts = of(&line, 2_000, true, 48, 1).doubts;
        assert!(!doubts.unstable.is_empty(), "{doubts:?}");
    }

    /// At a load of 1 a queue grows with the root of the time.
    #[test]
    fn a_queue_at_full_load_never_settles() {
        for seed in 1..=3 {
            let doubts = of(&queue(1.0, 0), 1_000, true, 200, seed).doubts;
            assert!(!doubts.is_empty(), "seed {seed}: {doubts:?}");
        }
    }

    #[test]
    fn neighbouring_seeds_share_no_run() {
        let seeds = |seed| (0..100).map(move |number| run_seed(seed, number));
        let mut all: Vec<u64> = (1..=20).flat_map(seeds).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2000);
        assert_eq!(run_seed(7, 0), 7);
    }
}
