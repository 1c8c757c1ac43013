//! What the sorters did under each condition, side by side, and the weakest condition first.

use serde::Deserialize;

use crate::interval::{Interval, Value};
use crate::quantity::Quantities;

/// The measure that sorters are compared by.
const GOODPUT: &str = "throughput";

/// An oracle's gain is worth sharing if it is this part of the goodput without a sorter, and more than chance.
const WORTH_SHARING: f64 = 0.02;

/// A path with a sender.
pub(super) struct Condition {
    pub name: String,
    /// Nothing comes late on this path.
    pub keeps_order: bool,
    /// What makes it, over the scenario.
    pub set: Vec<String>,
}

/// Which sorter is what, by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Roles {
    /// Comparisons at equal conditions; the first is also that with the oracle.
    duel: Vec<Duel>,
    /// The one that knows what is late, if there is one.
    oracle: Option<String>,
}

/// The sorter that is judged, and those it must not be worse than.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Duel {
    /// What the ratio of the two is called.
    name: String,
    judged: String,
    /// No sorter; one of the rivals, too.
    none: String,
    rivals: Vec<String>,
}

/// The values of all measures of one run.
type Run = Vec<Option<f64>>;

/// What one condition gave.
struct Outcome<'c> {
    condition: &'c Condition,
    /// Goodput of each sorter, Mbit/s.
    goodputs: Vec<(String, Value)>,
    /// Of each duel, its name and the goodput of the one judged over the best rival's.
    ratios: Vec<(String, Value)>,
    /// Of the first duel's, over that without a sorter.
    to_none: Value,
    /// The mean delay of the one judged less that without a sorter, milliseconds.
    delay: Value,
    /// The part of the oracle's gain that the one judged has, where there is one.
    share: Option<Value>,
}

/// All conditions: shown is each sorter's goodput, and each duel's ratio, the goodput of the judged sorter over that of
/// the best of its rivals; the condition with the least ratio comes first. Kept for claims:
///
/// - `reach`: the upper end of the interval of a ratio, the least of the duels', which is at least 1 unless it is
///   worse beyond chance;
/// - `added delay, ms`: what the judged sorter adds to the mean delay of packets;
/// - `ratio to none, order kept`: goodput over that without a sorter, of paths that keep the order;
/// - `share of the oracle's gain`, where that gain is more than chance.
pub(super) fn tell<'r>(
    conditions: &[Condition],
    sorters: &[&str],
    runs: impl Iterator<Item = &'r [Vec<Run>]>,
    roles: &Roles,
) -> Quantities {
    let outcomes = conditions.iter().zip(runs);
    let outcomes =
        outcomes.filter_map(|(condition, runs)| outcome(condition, sorters, runs, roles));
    let mut outcomes: Vec<Outcome<'_>> = outcomes.collect();
    outcomes.sort_by(|a, b| a.weakness().total_cmp(&b.weakness()));
    let mut all = Quantities::default();
    for outcome in &outcomes {
        outcome.tell(&mut all);
    }
    let harmless = outcomes.iter().filter(|outcome| outcome.reach() >= 1.0);
    let harmless = harmless.count() as f64;
    all.keep("all", "conditions", Value::Exact(outcomes.len() as f64));
    all.keep("all", "conditions without harm", Value::Exact(harmless));
    all
}

fn outcome<'c>(
    condition: &'c Condition,
    sorters: &[&str],
    runs: &[Vec<Run>],
    roles: &Roles,
) -> Option<Outcome<'c>> {
    let at = |name: &str| runs.get(sorters.iter().position(|sorter| *sorter == name)?);
    let goodput = |name: &str| at(name).map(|runs| measure(runs, GOODPUT));
    let mean = |name: &&String| goodput(name).map_or(f64::NAN, |value| value.shown().value);
    let ratio = |duel: &Duel| {
        let best = duel
            .rivals
            .iter()
            .max_by(|a, b| mean(a).total_cmp(&mean(b)))?;
        let ratio = goodput(&duel.judged)?.over(&goodput(best)?);
        Some((duel.name.clone(), ratio))
    };
    let first = roles.duel.first()?;
    let (judged, none) = (goodput(&first.judged)?, goodput(&first.none)?);
    let delay = |name: &str| at(name).map(|runs| measure(runs, "delay"));
    let oracle = roles.oracle.as_deref().and_then(goodput);
    Some(Outcome {
        condition,
        ratios: roles.duel.iter().filter_map(ratio).collect(),
        to_none: judged.over(&none),
        delay: delay(&first.judged)?.minus(&delay(&first.none)?),
        share: oracle.and_then(|oracle| share(&judged, &none, &oracle)),
        goodputs: sorters
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), goodput(name)?)))
            .collect(),
    })
}

/// `None` if the oracle gains nothing, or no more than it may by chance.
fn share(judged: &Value, none: &Value, oracle: &Value) -> Option<Value> {
    let gain = oracle.minus(none);
    let least = gain.judged().low;
    let is_worth = gain.shown().value >= WORTH_SHARING * none.shown().value;
    (is_worth && least > 0.0).then(|| judged.minus(none).over(&gain))
}

fn measure(runs: &[Run], name: &str) -> Value {
    let at = inorder_sim::MEASURES
        .iter()
        .position(|measure| measure.field.name == name);
    Value::Repeated(
        runs.iter()
            .map(|run| run.get(at?).copied().flatten())
            .collect(),
    )
}

impl Outcome<'_> {
    /// The least ratio.
    fn weakness(&self) -> f64 {
        let ratios = self.ratios.iter().map(|(_, ratio)| ratio.shown().value);
        ratios.fold(f64::INFINITY, f64::min)
    }

    /// The least of the upper ends of the ratios' intervals.
    fn reach(&self) -> f64 {
        let ends = self.ratios.iter().map(|(_, ratio)| ratio.judged().high);
        ends.fold(f64::INFINITY, f64::min)
    }

    fn tell(&self, all: &mut Quantities) {
        let name = &self.condition.name;
        for (sorter, goodput) in &self.goodputs {
            all.show(name, sorter, goodput.clone());
        }
        for (duel, ratio) in &self.ratios {
            all.show(name, duel, ratio.clone());
        }
        let reach = Some(self.reach()).filter(|reach| reach.is_finite());
        let unknown = Value::Known(Interval::unknown(f64::NAN));
        all.keep(name, "reach", reach.map_or(unknown, Value::Exact));
        if self.condition.keeps_order {
            all.keep(name, "ratio to none, order kept", self.to_none.clone());
        }
        all.keep(name, "added delay, ms", self.delay.clone());
        if let Some(share) = &self.share {
            all.show(name, "share of the oracle's gain", share.clone());
        }
    }
}
