//! Figures 6 to 8: throughput against the metrics of the same path.

use inorder_metrics::Displacements;
use inorder_scenario::Cell;
use inorder_sim::{FlowResult, RunResult};
use serde::Deserialize;

use super::{DISTRIBUTIONS, Measured, Probes, jitter_ns};
use crate::campaign;
use crate::interval::{Interval, Value};
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting};

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Transfers {
    probes: Probes,
    scenario: String,
    repetitions: u32,
    /// Overrides of a quick run.
    quick: Vec<String>,
    /// Overrides of additional runs besides the scenario's grid.
    besides: Vec<String>,
    /// Congestion control and distribution of these runs, which are not axes of a grid.
    besides_congestion: String,
    besides_distribution: String,
    /// Throughput counts as collapsed below this share of its value without jitter.
    collapse: f64,
    /// Entropy at which throughput is reported, nats.
    entropy: f64,
}

/// The measured values at one jitter.
#[derive(Debug, Clone)]
struct Point {
    jitter_ns: i64,
    displacement: f64,
    entropy: f64,
    /// Throughput, Mbit/s.
    throughput: Value,
}

/// One congestion control with one distribution, by increasing jitter.
struct Curve {
    congestion: String,
    distribution: &'static str,
    points: Vec<Point>,
}

/// Where throughput leaves its plateau: the last point of the plateau, and the range of points where this may be.
#[derive(Debug, Clone, Copy)]
struct Collapse<'a> {
    last: &'a Point,
    /// Up to this point throughput has certainly not collapsed; `None` if it may have collapsed at the first jitter.
    earliest: &'a Point,
    /// After this point throughput has certainly collapsed; `None` if it may not have collapsed at the largest
    /// jitter.
    latest: Option<&'a Point>,
}

impl Curve {
    /// Throughput at a point divided by that without jitter.
    fn share(&self, point: &Point) -> Option<Interval> {
        let plateau = self.points.first()?;
        Some(point.throughput.over(&plateau.throughput).judged())
    }

    /// The plateau ends before throughput first falls below a share of its start.
    fn collapse(&self, bound: f64) -> Option<Collapse<'_>> {
        let rest = self.points.iter().skip(1);
        let shares: Vec<Interval> = rest.filter_map(|point| self.share(point)).collect();
        // Point n comes before share n, which belongs to point n + 1.
        let before = |falls: &dyn Fn(&Interval) -> bool| shares.iter().position(falls);
        let to_the_end = self.points.len().checked_sub(1)?;
        let last = before(&|share| share.value < bound);
        let earliest = before(&|share| share.low < bound);
        let latest = before(&|share| share.high < bound);
        Some(Collapse {
            last: self.points.get(last.unwrap_or(to_the_end))?,
            earliest: self.points.get(earliest.unwrap_or(to_the_end))?,
            latest: latest.and_then(|n| self.points.get(n)),
        })
    }

    /// Throughput in percent of the plateau at an entropy, interpolated; `None` outside the measured range.
    fn percent_at_entropy(&self, entropy: f64) -> Option<Value> {
        let pair = self
            .points
            .windows(2)
            .find(|pair| pair[0].entropy <= entropy && entropy < pair[1].entropy)?;
        let share = (entropy - pair[0].entropy) / (pair[1].entropy - pair[0].entropy);
        let [low, high] = [0, 1].map(|n: usize| &pair[n].throughput);
        let weighted = low
            .times(100.0 * (1.0 - share))
            .plus(&high.times(100.0 * share));
        Some(weighted.over(&self.points.first()?.throughput))
    }
}

impl Collapse<'_> {
    /// The value at the end of the plateau of a metric that grows with the jitter.
    fn at(&self, metric: impl Fn(&Point) -> f64) -> Interval {
        Interval {
            value: metric(self.last),
            low: metric(self.earliest),
            high: self.latest.map_or(f64::INFINITY, metric),
        }
    }
}

pub(super) fn transfers(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Transfers = setting.read()?;
    let context = setting.context;
    let probes = &wanted.probes;
    // The probes have no endpoints: a change of the transfers' is none of theirs.
    let of_probes = |change: &&String| !change.starts_with("flow.");
    let set: Vec<_> = context.set.iter().filter(of_probes).cloned().collect();
    let theirs = Context {
        set: &set,
        ..*context
    };
    let measured = probes.send(&theirs, &[], 1, |cell| {
        probes.keeps(context, jitter_ns(cell))
    })?;
    let mut cells = wanted.cells(setting, &[])?;
    cells.extend(wanted.cells(setting, &wanted.besides)?);
    let repetitions = context.repetitions_or(wanted.repetitions);
    let runs = campaign::run(context, &cells, repetitions, throughput)?;
    let curves = wanted.curves(&cells, &runs, &measured);
    let mut all = Quantities::default();
    for curve in &curves {
        tell(curve, &mut all);
        wanted.keep(curve, &mut all);
    }
    wanted.keep_spread(&curves, &mut all);
    Ok(all)
}

fn throughput(run: &RunResult) -> f64 {
    let flows = run.flows.iter();
    flows.map(FlowResult::throughput_bits_per_s).sum::<f64>() / 1e6
}

fn tell(curve: &Curve, all: &mut Quantities) {
    for point in &curve.points {
        let cell = format!(
            "{}, {}, {} ms, displacement {:.2}, entropy {:.2}",
            curve.congestion,
            curve.distribution,
            point.jitter_ns as f64 / 1e6,
            point.displacement,
            point.entropy
        );
        all.show(&cell, "throughput, Mb/s", point.throughput.clone());
    }
}

impl Transfers {
    fn cells(
        &self,
        setting: &Setting<'_>,
        overrides: &[String],
    ) -> Result<Vec<Cell>, ExperimentError> {
        let mut sets = overrides.to_vec();
        if setting.context.quick {
            sets.extend(self.quick.iter().cloned());
        }
        let mut cells = campaign::load(setting.context, &self.scenario, &sets)?;
        cells.retain(|cell| self.probes.keeps(setting.context, jitter_ns(cell)));
        Ok(cells)
    }

    /// Cells are ordered by congestion control, distribution and jitter: a new curve begins when one of the first two
    /// changes.
    fn curves(&self, cells: &[Cell], runs: &[Vec<f64>], measured: &Measured) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for (cell, runs) in cells.iter().zip(runs) {
            let congestion = cell.label("flow.sender.congestion");
            let named = congestion.unwrap_or(&self.besides_congestion);
            // Claims name the algorithm, without the version of the kernel (`bic-4.0`).
            let congestion = named.split('-').next().unwrap_or(named);
            let file = cell.label("forward.netem.distribution");
            let file = file.unwrap_or(&self.besides_distribution);
            let Some((_, distribution)) = DISTRIBUTIONS.iter().find(|(name, _)| *name == file)
            else {
                continue;
            };
            let same = |c: &Curve| c.congestion == congestion && c.distribution == *distribution;
            if !curves.last().is_some_and(same) {
                curves.push(Curve {
                    congestion: congestion.to_owned(),
                    distribution,
                    points: Vec::new(),
                });
            }
            let jitter_ns = jitter_ns(cell);
            let density = measured
                .get(&(file.to_owned(), jitter_ns))
                .and_then(|runs| runs.first());
            let of = |metric: fn(&Displacements) -> f64| density.map_or(f64::NAN, metric);
            if let Some(curve) = curves.last_mut() {
                curve.points.push(Point {
                    jitter_ns,
                    displacement: of(Displacements::mean_displacement),
                    entropy: of(Displacements::entropy),
                    throughput: Value::of(runs.iter().copied()),
                });
            }
        }
        curves
    }

    /// Where a curve collapses, and its throughput at the entropy that the text mentions.
    fn keep(&self, curve: &Curve, all: &mut Quantities) {
        let cell = format!("{}, {}", curve.congestion, curve.distribution);
        if let Some(collapse) = curve.collapse(self.collapse) {
            let at = collapse.at(|point| point.entropy);
            all.keep(&cell, "entropy at the collapse, nats", Value::Known(at));
        }
        if let Some(percent) = curve.percent_at_entropy(self.entropy) {
            let measure = format!("throughput at an entropy of {} nats, %", self.entropy);
            all.keep(&cell, &measure, percent);
        }
    }

    /// How much the collapses of the distributions differ: the greatest mean displacement at the collapse divided by
    /// the smallest, for each congestion control that was run with all distributions.
    fn keep_spread(&self, curves: &[Curve], all: &mut Quantities) {
        for first in curves
            .iter()
            .filter(|c| c.distribution == DISTRIBUTIONS[0].1)
        {
            let same = curves.iter().filter(|c| c.congestion == first.congestion);
            let collapses = same.filter_map(|curve| curve.collapse(self.collapse));
            let at: Vec<Interval> = collapses.map(|c| c.at(|p| p.displacement)).collect();
            if at.len() == DISTRIBUTIONS.len() {
                let measure = "mean displacement at the collapse, greatest over smallest";
                all.keep(&first.congestion, measure, Value::Known(spread(&at)));
            }
        }
    }
}

/// The greatest of some values divided by the smallest, at least 1.
fn spread(values: &[Interval]) -> Interval {
    let greatest = |of: fn(&Interval) -> f64| values.iter().map(of).fold(0.0, f64::max);
    let least = |of: fn(&Interval) -> f64| values.iter().map(of).fold(f64::INFINITY, f64::min);
    Interval {
        value: greatest(|v| v.value) / least(|v| v.value),
        low: (greatest(|v| v.low) / least(|v| v.high)).max(1.0),
        high: greatest(|v| v.high) / least(|v| v.low),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[(i64, f64, [f64; 2])]) -> Curve {
        let point = |&(jitter_ns, entropy, throughput): &(i64, f64, [f64; 2])| Point {
            jitter_ns,
            displacement: entropy,
            entropy,
            throughput: Value::of(throughput),
        };
        Curve {
            congestion: "bic".to_owned(),
            distribution: "normal",
            points: values.iter().map(point).collect(),
        }
    }

    #[test]
    fn the_plateau_ends_at_the_first_fall() {
        let falls = curve(&[
            (0, 0.5, [90.2, 90.1]),
            (1, 1.0, [88.1, 88.2]),
            (2, 2.0, [70.3, 70.2]),
            (3, 3.0, [89.2, 89.1]),
        ]);
        let at = falls.collapse(0.9).expect("a plateau").at(|p| p.entropy);
        assert_eq!((at.value, at.low, at.high), (1.0, 1.0, 1.0));
        let stays = curve(&[(0, 0.5, [90.2, 90.1]), (1, 1.0, [88.1, 88.2])]);
        let at = stays.collapse(0.9).expect("a plateau").at(|p| p.entropy);
        assert_eq!((at.value, at.low, at.high), (1.0, 1.0, f64::INFINITY));
    }

    #[test]
    fn scattered_throughput_gives_a_range_for_the_end_of_the_plateau() {
        let scatters = curve(&[
            (0, 0.5, [90.2, 90.1]),
            (1, 1.0, [70.0, 110.0]),
            (2, 2.0, [50.0, 70.0]),
            (3, 3.0, [20.1, 20.2]),
        ]);
        let collapse = scatters.collapse(0.9).expect("a plateau");
        let at = collapse.at(|p| p.entropy);
        assert_eq!((at.low, at.value, at.high), (0.5, 1.0, 2.0));
        let both = spread(&[at, Interval::exact(4.0)]);
        assert_eq!((both.low, both.value, both.high), (2.0, 4.0, 8.0));
    }

    #[test]
    fn throughput_is_interpolated_between_entropies() {
        let c = curve(&[
            (0, 0.0, [100.0, 100.5]),
            (1, 3.0, [90.0, 90.45]),
            (2, 4.0, [50.0, 50.25]),
        ]);
        let percent = c.percent_at_entropy(3.5).expect("inside").shown();
        assert!((percent.value - 70.0).abs() < 1e-9, "{percent:?}");
        assert!(c.percent_at_entropy(9.0).is_none());
    }
}
