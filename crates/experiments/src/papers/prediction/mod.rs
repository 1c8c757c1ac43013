//! Our own question: which metric of reordering, measured with probes, predicts how much of its goodput a TCP loses on
//! the same path? Paths are drawn; the metrics and combinations of them with what is known of the path are compared by
//! their rank correlation with the loss, and one is chosen on half of the paths and judged on the other half.

mod draw;
mod predictors;
mod rank;

use inorder_base::random::Random;
use inorder_metrics::Reordering;
use inorder_scenario::Cell;
use inorder_sim::FlowResult;
use serde::Deserialize;

use self::draw::Path;
use self::predictors::{NAMED, PREDICTORS, Predictor};
use super::Named;
use crate::campaign;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting};

pub(super) const REDUCTIONS: &[Named] = &[("prediction", prediction)];

/// Lost share of goodput from which a path counts as costing something.
const SOME: f64 = 0.01;

/// The axis of the scenario of transfers.
const SENDER: &str = "sender";

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prediction {
    /// The scenarios.
    transfer: String,
    probes: String,
    paths: u32,
    /// Paths of a quick run, and overrides of its transfers and probes.
    quick_paths: u32,
    quick: Vec<String>,
    quick_probes: Vec<String>,
}

/// What was measured on a path.
struct Point {
    path: Path,
    order: Reordering,
    /// Lost share of the goodput of each sender.
    lost: Vec<f64>,
}

fn prediction(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Prediction = setting.read()?;
    let (senders, points) = wanted.measure(setting.context)?;
    let mut all = Quantities::default();
    for (at, sender) in senders.iter().enumerate() {
        let random = Random::new(setting.context.seed, "bootstrap").fork(at as u64);
        tell(sender, at, &points, &random, &mut all);
    }
    Ok(all)
}

impl Prediction {
    /// The senders' names, and every path on which each of them delivers something without reordering.
    fn measure(&self, context: &Context<'_>) -> Result<(Vec<String>, Vec<Point>), ExperimentError> {
        let count = if context.quick {
            self.quick_paths
        } else {
            self.paths
        };
        let mut random = Random::new(context.seed, "paths");
        let paths: Vec<Path> = (0..count).map(|_| Path::drawn(&mut random)).collect();
        let mut transfers = Vec::new();
        let mut probes = Vec::new();
        for (number, path) in paths.iter().enumerate() {
            let seed = format!("run.seed={}", context.seed.wrapping_add(number as u64));
            for sets in [path.in_order(), path.reordering()] {
                let quick = self.quick.iter().filter(|_| context.quick);
                let sets: Vec<_> = quick.cloned().chain(sets).chain([seed.clone()]).collect();
                transfers.extend(campaign::load(context, &self.transfer, &sets)?);
            }
            let quick = self.quick_probes.iter().filter(|_| context.quick);
            let sets = path.probing();
            let sets: Vec<_> = quick.cloned().chain(sets).chain([seed]).collect();
            probes.extend(campaign::load(context, &self.probes, &sets)?);
        }
        let rates = campaign::run(context, &transfers, 1, |run| {
            run.flows
                .iter()
                .map(FlowResult::throughput_bits_per_s)
                .sum::<f64>()
        })?;
        let orders = campaign::run(context, &probes, 1, |run| {
            let probe = run.probes.first()?;
            Some(probe.metrics.as_ref()?.order.clone())
        })?;
        let rates: Vec<f64> = rates.into_iter().flatten().collect();
        let senders = senders(&transfers);
        let of_path = rates.chunks(2 * senders.len().max(1));
        let orders = orders.into_iter().flatten().flatten();
        let points = paths.into_iter().zip(of_path).zip(orders);
        let points = points.filter_map(|((path, rates), order)| {
            let (in_order, reordered) = rates.split_at(rates.len() / 2);
            let lost = in_order.iter().zip(reordered);
            let lost = lost.map(|(full, rate)| (*full > 0.0).then_some(1.0 - rate / full));
            Some(Point {
                path,
                order,
                lost: lost.collect::<Option<_>>()?,
            })
        });
        Ok((senders, points.collect()))
    }
}

/// The names of the senders, in the order of the cells of a path.
fn senders(cells: &[Cell]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for cell in cells {
        let name = cell.label(SENDER).unwrap_or("given");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The correlations of one sender.
fn tell(sender: &str, at: usize, points: &[Point], random: &Random, all: &mut Quantities) {
    let lost: Vec<f64> = points.iter().map(|point| point.lost[at]).collect();
    let values = |predictor: &Predictor| -> Vec<f64> {
        points
            .iter()
            .map(|point| (predictor.of)(&point.order, &point.path))
            .collect()
    };
    let columns: Vec<Vec<f64>> = PREDICTORS.iter().map(values).collect();
    let measure = format!("rank correlation, {sender}");
    for (predictor, column) in PREDICTORS.iter().zip(&columns) {
        let value = Value::Known(rank::correlation(column, &lost, random));
        all.show(predictor.name, &measure, value);
    }
    let some = lost.iter().filter(|lost| **lost > SOME).count() as f64;
    let some = 100.0 * some / lost.len().max(1) as f64;
    let percent = format!("%, {sender}");
    all.show(
        "paths on which more than 1 % is lost",
        &percent,
        Value::Exact(some),
    );
    let median = 100.0 * rank::median(&lost);
    all.show(
        "lost share of goodput, median",
        &percent,
        Value::Exact(median),
    );
    for half in 0..2 {
        let here: Vec<usize> = (0..points.len()).filter(|n| n % 2 == half).collect();
        let there: Vec<usize> = (0..points.len()).filter(|n| n % 2 != half).collect();
        let best = |among: std::ops::Range<usize>| {
            let of =
                |n: &usize| rank::spearman(&rank::at(&columns[*n], &here), &rank::at(&lost, &here));
            among.max_by(|a, b| of(a).total_cmp(&of(b))).unwrap_or(0)
        };
        let (chosen, named) = (best(0..PREDICTORS.len()), best(0..NAMED));
        let judged = rank::at(&lost, &there);
        let (a, b) = (
            rank::at(&columns[chosen], &there),
            rank::at(&columns[named], &there),
        );
        let cell = format!(
            "half {}, {sender}: {} over {}",
            half + 1,
            PREDICTORS[chosen].name,
            PREDICTORS[named].name
        );
        all.show(
            &cell,
            "chosen",
            Value::Known(rank::correlation(&a, &judged, random)),
        );
        all.show(
            &cell,
            "best of the four",
            Value::Known(rank::correlation(&b, &judged, random)),
        );
        let more = rank::difference(&a, &b, &judged, random);
        all.show(&cell, "difference", Value::Known(more));
        // Claims refer to it by a name without the predictor that was chosen.
        all.keep(
            &format!("half {}, {sender}", half + 1),
            "difference",
            Value::Known(more),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::testing;

    #[test]
    fn a_quick_run_has_every_correlation() {
        let findings = testing::quick("prediction", 1);
        assert!(findings.claims.iter().all(|claim| claim.ours.abs() <= 2.0));
    }
}
