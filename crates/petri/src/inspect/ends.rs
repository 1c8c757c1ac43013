//! Whether a net ends, and whether other runs of it would end elsewhere.
//!
//! One run shows one end. If a net can end in several sets of markings for good, the means of one run are not those of the
//! net, however narrow their intervals are. So a few shorter runs of other seeds are made: a net that stands still in
//! different markings, or in which a transition fires again and again in one run and never in the late part of another,
//! has several ends.

use std::collections::BTreeMap;

use crate::net::{Net, Timing, Transition};
use crate::reachability::{Graph, Plain, Report};
use crate::statistics::{Simulation, Totals};
use inorder_report::number::plural;
use rayon::prelude::*;

use crate::inspect::error::SimulationError;
use crate::inspect::watch::Watch;

/// Other runs that are made.
const OTHER_RUNS: u64 = 8;

/// If nothing more happens in a net, its runs are short, and more of them are made.
const ENDING_RUNS: u64 = 64;

/// The length of each of the other runs, as a part of the first one.
const OTHER_RUN_PART: u64 = 16;

/// Maximum number of markings that are explored to see that there is only one end, which saves the other runs.
const MAX_MARKINGS_EXPLORED: usize = 20_000;

/// Minimum number of firings in the late part of one run that cannot all be missing in the late part of another by chance.
const MIN_FIRINGS_ELSEWHERE: u64 = 60;

/// How a net ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// Each way to end, with the number of runs that did.
    pub ways: Vec<(String, u64)>,
    /// The ways to end by the markings that can be reached, if there are several and all runs took the same.
    pub reachable: Vec<String>,
    /// Nothing happened any more in the run of the estimates.
    pub stands_still: bool,
}

impl Ends {
    /// Whether the net ends in different ways.
    pub(crate) fn are_several(&self) -> bool {
        self.ways.len() > 1 || !self.reachable.is_empty()
    }

    /// In a sentence, without a point at its end.
    pub fn words(&self) -> String {
        let ways: Vec<String> = self
            .ways
            .iter()
            .map(|(way, runs)| format!("{way} in {}", plural(*runs, "run")))
            .collect();
        if !self.reachable.is_empty() {
            return format!(
                "no single steady state: the net can end in {} different ways, for good, of which a run shows at most one: {}",
                self.reachable.len(),
                self.reachable.join("; ")
            );
        }
        match self.ways.as_slice() {
            [(way, _)] if self.stands_still => format!("all runs end {way}"),
            _ => format!(
                "no single steady state: runs end in different ways for good: {}",
                ways.join("; ")
            ),
        }
    }
}

/// Of one run that ended at `end`; `others` starts further ones.
pub(crate) fn of_one_run<S: Simulation>(
    net: &Net,
    run: &S,
    end: u64,
    others: impl Fn(u64) -> Result<S, SimulationError> + Sync,
    watch: &Watch<'_>,
) -> Result<Option<Ends>, SimulationError> {
    if watch.is_stopped() {
        return Ok(None);
    }
    let stands_still = run.stands_still();
    let known = Known::of(net);
    if !stands_still && known == Known::OneWay {
        return Ok(None);
    }
    let own = stands_still.then(|| marking(net, &run.totals(end)));
    let (number, length) = match stands_still {
        true => (ENDING_RUNS, end),
        false => (OTHER_RUNS, end / OTHER_RUN_PART),
    };
    let runs = late_parts(net, 1..=number, length, others)?;
    let own = own.map(|marking| Late {
        still_in: Some(marking),
        fired: Vec::new(),
    });
    let all: Vec<Late> = own.into_iter().chain(runs).collect();
    Ok(known.beside(judge(net, &all, stands_still), stands_still))
}

/// Of many runs that ended at `end`: a look at the first of them.
pub(crate) fn of_many_runs<S: Simulation>(
    net: &Net,
    end: u64,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Option<Ends>, SimulationError> {
    let known = Known::of(net);
    if known == Known::OneWay {
        return Ok(None);
    }
    let runs = late_parts(net, 0..=OTHER_RUNS, end, start)?;
    let stands_still = runs.iter().all(|run| run.still_in.is_some());
    Ok(known.beside(judge(net, &runs, stands_still), stands_still))
}

/// What the reachable markings tell of how a net ends.
#[derive(Debug, PartialEq, Eq)]
enum Known {
    /// Those that are never left can all be reached from each other.
    OneWay,
    /// Several sets of markings that are never left, in words. Each is reached with a probability above 0, so that it does not
    /// matter whether some runs ended there.
    Several(Vec<String>),
    /// The markings are too many, or fixed delays allow fewer orders of firings than the markings do.
    Nothing,
}

impl Known {
    fn of(net: &Net) -> Self {
        let graph = Graph::explore(net, MAX_MARKINGS_EXPLORED);
        let long_run = graph
            .is_complete()
            .then(|| Report::of_graph(&Plain::of(net), &graph));
        let Some(long_run) = long_run.and_then(|report| report.long_run) else {
            return Known::Nothing;
        };
        match long_run.terminal.as_slice() {
            [_] => Known::OneWay,
            several if net.transitions.iter().all(may_take_any_time) => {
                Known::Several(several.iter().map(|end| end.text(net)).collect())
            }
            _ => Known::Nothing,
        }
    }

    /// With what runs showed.
    fn beside(self, shown: Option<Ends>, stands_still: bool) -> Option<Ends> {
        let Known::Several(reachable) = self else {
            return shown;
        };
        if shown.as_ref().is_some_and(Ends::are_several) {
            return shown;
        }
        Some(Ends {
            ways: shown.map_or_else(Vec::new, |shown| shown.ways),
            reachable,
            stands_still,
        })
    }
}

/// Whether firings that race with this transition may come first or last.
fn may_take_any_time(transition: &Transition) -> bool {
    matches!(
        transition.timing,
        Timing::Immediate { .. } | Timing::Exponential { .. } | Timing::Erlang { .. }
    )
}

/// What a run does in its second half.
struct Late {
    /// The marking, if nothing happens any more.
    still_in: Option<String>,
    /// Firings of each transition.
    fired: Vec<u64>,
}

fn late_parts<S: Simulation>(
    net: &Net,
    numbers: std::ops::RangeInclusive<u64>,
    length: u64,
    start: impl Fn(u64) -> Result<S, SimulationError> + Sync,
) -> Result<Vec<Late>, SimulationError> {
    let one = |number: u64| {
        let mut run = start(number)?;
        run.advance(length / 2)?;
        let before = run.totals(length / 2);
        run.advance(length)?;
        let after = run.totals(length);
        let transitions = before.transitions.iter().zip(&after.transitions);
        Ok(Late {
            still_in: run.stands_still().then(|| marking(net, &after)),
            fired: transitions
                .map(|(before, after)| after.firings - before.firings)
                .collect(),
        })
    };
    numbers.into_par_iter().map(one).collect()
}

/// Different ways to end among runs; `None` if all are alike and go on.
fn judge(net: &Net, runs: &[Late], stands_still: bool) -> Option<Ends> {
    let mut ways: BTreeMap<String, u64> = BTreeMap::new();
    let goes_on = |run: &&Late| run.still_in.is_none();
    let most: Vec<u64> = (0..net.transitions.len())
        .map(|t| {
            runs.iter()
                .filter_map(|run| run.fired.get(t))
                .copied()
                .max()
                .unwrap_or(0)
        })
        .collect();
    let is_never =
        |run: &Late, t: usize| run.fired.get(t) == Some(&0) && most[t] >= MIN_FIRINGS_ELSEWHERE;
    for run in runs {
        let way = match &run.still_in {
            Some(marking) => format!("standing still with {marking}"),
            None => {
                let missing = (0..net.transitions.len()).filter(|t| is_never(run, *t));
                let names: Vec<&str> = missing.map(|t| net.transitions[t].name.as_str()).collect();
                match names.is_empty() {
                    true => "going on with all transitions".to_owned(),
                    false => format!("going on without {}", names.join(", ")),
                }
            }
        };
        *ways.entry(way).or_default() += 1;
    }
    let all_go_on = runs.iter().filter(goes_on).count() == runs.len();
    if ways.len() == 1 && all_go_on {
        return None;
    }
    Some(Ends {
        ways: ways.into_iter().collect(),
        reachable: Vec::new(),
        stands_still,
    })
}

fn marking(net: &Net, totals: &Totals) -> String {
    let tokens: Vec<u32> = totals.places.iter().map(|place| place.tokens).collect();
    net.marking_text(&tokens)
}
