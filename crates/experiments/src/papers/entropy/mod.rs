//! P. R. Torres-Jr, E. P. Ribeiro, "Packet reordering metrics to enable performance comparison in IP-networks",
//! Journal of Computer Networks and Communications, 2020: the metrics of probes (figures 3 to 5), and transfers over the
//! same paths (figures 6 to 8, [`transfers`]).
//!
//! The paper gives the jitter as a standard deviation (its figure 2). netem's own uniform distribution uses it as
//! half the range, which reduces the mean displacement by a factor of the square root of 3. Both are shown.

mod transfers;

use std::collections::BTreeMap;

use inorder_metrics::Displacements;
use inorder_scenario::Cell;
use inorder_scenario::config::StageKind;
use inorder_sim::RunResult;
use serde::Deserialize;

use super::Named;
use crate::campaign;
use crate::interval::Value;
use crate::quantity::Quantities;
use crate::setting::{Context, ExperimentError, Setting};

pub(super) const REDUCTIONS: &[Named] = &[
    ("entropy-densities", densities),
    ("entropy-transfers", transfers::transfers),
];

/// Names of the distributions in the scenario and in the paper.
const DISTRIBUTIONS: [(&str, &str); 3] = [
    ("uniform-unit", "uniform"),
    ("normal", "normal"),
    ("exponential", "exponential"),
];

/// Time between two packets: 1518 bytes at 100 Mb/s, ns. Smaller jitters reorder few packets.
const PACKET_NS: i64 = 121_440;

/// Settings of the reduction.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Densities {
    probes: Probes,
    repetitions: u32,
    /// The only jitter to run, milliseconds; cells are then named by the distribution alone.
    jitter_ms: Option<f64>,
    measure: Vec<Wanted>,
    /// Minimum jitter, milliseconds, from which straight lines over the jitter, or over its logarithm, are fitted to
    /// the first measure.
    fit_from_ms: Option<f64>,
    /// An additional cell: its name and its overrides.
    #[serde(default)]
    also: BTreeMap<String, Vec<String>>,
}

/// The scenario of the probes, and which cells a quick run keeps.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Probes {
    scenario: String,
    /// Overrides of a quick run.
    quick: Vec<String>,
    /// Jitters of a quick run, milliseconds: those that the paper mentions, and some more for the curve.
    quick_ms: Vec<f64>,
}

/// A property of a density, and its heading.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    of: Property,
    heading: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Property {
    StandardDeviation,
    /// Percentage of the packets.
    InPlace,
    Skewness,
    ExcessKurtosis,
    MeanDisplacement,
    Entropy,
}

impl Property {
    fn of(self, density: &Displacements) -> f64 {
        match self {
            Self::StandardDeviation => density.variance().sqrt(),
            Self::InPlace => 100.0 * in_place(density),
            Self::Skewness => skewness(density),
            Self::ExcessKurtosis => excess_kurtosis(density),
            Self::MeanDisplacement => density.mean_displacement(),
            Self::Entropy => density.entropy(),
        }
    }
}

/// The jitter of the netem stage of a cell.
fn jitter_ns(cell: &Cell) -> i64 {
    let stages = cell.config.forward.iter();
    let jitter = stages.filter_map(|stage| match &stage.kind {
        StageKind::Netem(netem) => Some(netem.jitter_ns),
        _ => None,
    });
    jitter.sum()
}

/// Displacements of the probes, by distribution (as in the scenario) and jitter in ns.
type Measured = BTreeMap<(String, i64), Vec<Displacements>>;

impl Probes {
    /// Whether a run has the jitter.
    fn keeps(&self, context: &Context<'_>, jitter_ns: i64) -> bool {
        !context.quick || self.quick_ms.iter().any(|ms| ns(*ms) == jitter_ns)
    }

    /// Runs the probes of the cells for which `wanted` is true.
    fn send(
        &self,
        context: &Context<'_>,
        overrides: &[String],
        repetitions: u32,
        wanted: impl Fn(&Cell) -> bool,
    ) -> Result<Measured, ExperimentError> {
        let mut sets = overrides.to_vec();
        if context.quick {
            sets.extend(self.quick.iter().cloned());
        }
        let mut cells = campaign::load(context, &self.scenario, &sets)?;
        cells.retain(wanted);
        let runs = campaign::run(context, &cells, repetitions, displacements)?;
        let named = cells.iter().map(|cell| {
            let distribution = cell.label("forward.netem.distribution");
            (distribution.unwrap_or("given").to_owned(), jitter_ns(cell))
        });
        let whole = |runs: Vec<Option<Displacements>>| runs.into_iter().flatten().collect();
        Ok(named.zip(runs.into_iter().map(whole)).collect())
    }
}

fn displacements(run: &RunResult) -> Option<Displacements> {
    let probe = run.probes.first()?;
    Some(probe.metrics.as_ref()?.order.displacements.clone())
}

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

fn ns(ms: f64) -> i64 {
    (ms * 1e6).round() as i64
}

fn densities(setting: &Setting<'_>) -> Result<Quantities, ExperimentError> {
    let wanted: Densities = setting.read()?;
    let context = setting.context;
    let repetitions = context.repetitions_or(wanted.repetitions);
    let only = wanted.jitter_ms.map(ns);
    let measured = wanted.probes.send(context, &[], repetitions, |cell| {
        let at = jitter_ns(cell);
        only.map_or_else(|| wanted.probes.keeps(context, at), |only| only == at)
    })?;
    let mut all = Quantities::default();
    for (file, name) in DISTRIBUTIONS {
        let curve: Vec<(i64, &Vec<Displacements>)> = measured
            .iter()
            .filter(|((distribution, _), _)| distribution == file)
            .map(|((_, jitter_ns), runs)| (*jitter_ns, runs))
            .collect();
        for (jitter_ns, runs) in &curve {
            let cell = match only {
                Some(_) => name.to_owned(),
                None => format!("{name}, {} ms", ms(*jitter_ns)),
            };
            wanted.tell(&cell, runs, &mut all);
            if *jitter_ns > PACKET_NS {
                let cell = format!(
                    "{name} above the distance of packets, {} ms",
                    ms(*jitter_ns)
                );
                wanted.keep(&cell, runs, &mut all);
            }
        }
        wanted.fit(name, &curve, &mut all);
    }
    for (cell, sets) in &wanted.also {
        let measured = wanted.probes.send(context, sets, repetitions, |_| true)?;
        measured
            .values()
            .for_each(|runs| wanted.tell(cell, runs, &mut all));
    }
    Ok(all)
}

impl Densities {
    fn values<'a>(&'a self, runs: &'a [Displacements]) -> impl Iterator<Item = (&'a str, Value)> {
        self.measure.iter().map(|wanted| {
            let value = Value::of(runs.iter().map(|density| wanted.of.of(density)));
            (wanted.heading.as_str(), value)
        })
    }

    fn tell(&self, cell: &str, runs: &[Displacements], all: &mut Quantities) {
        for (heading, value) in self.values(runs) {
            all.show(cell, heading, value);
        }
    }

    fn keep(&self, cell: &str, runs: &[Displacements], all: &mut Quantities) {
        for (heading, value) in self.values(runs) {
            all.keep(cell, heading, value);
        }
    }

    /// How well straight lines fit a curve, for each repetition.
    fn fit(&self, name: &str, curve: &[(i64, &Vec<Displacements>)], all: &mut Quantities) {
        let (Some(from_ms), Some(wanted)) = (self.fit_from_ms, self.measure.first()) else {
            return;
        };
        let fitted = curve
            .iter()
            .filter(|(jitter_ns, _)| *jitter_ns >= ns(from_ms));
        let repetitions = fitted.clone().map(|(_, runs)| runs.len()).min();
        let fit_of = |scale: fn(f64) -> f64| {
            let of = |n: usize| {
                let point = |(jitter_ns, runs): &(i64, &Vec<Displacements>)| {
                    (scale(ms(*jitter_ns)), wanted.of.of(&runs[n]))
                };
                fit(&fitted.clone().map(point).collect::<Vec<_>>())
            };
            Value::of((0..repetitions.unwrap_or(0)).map(of))
        };
        all.keep(name, "R squared over the jitter", fit_of(|ms| ms));
        if from_ms > 0.0 {
            let measure = "R squared over the logarithm of the jitter";
            all.keep(name, measure, fit_of(libm::log));
        }
    }
}

fn in_place(d: &Displacements) -> f64 {
    d.density().find(|(k, _)| *k == 0).map_or(0.0, |(_, p)| p)
}

/// Exact, because displacements are at most 200.
fn power(displacement: i64, exponent: u32) -> f64 {
    displacement.pow(exponent) as f64
}

/// Third standardised moment; the mean of displacements is 0 (equation 4).
fn skewness(d: &Displacements) -> f64 {
    let third: f64 = d.density().map(|(k, p)| power(k, 3) * p).sum();
    third / (d.variance() * d.variance().sqrt())
}

/// Fourth standardised moment minus that of a normal distribution.
fn excess_kurtosis(d: &Displacements) -> f64 {
    let fourth: f64 = d.density().map(|(k, p)| power(k, 4) * p).sum();
    fourth / (d.variance() * d.variance()) - 3.0
}

/// Share of the variance explained by a straight line through the points (R squared).
fn fit(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|a, _| a * a), sum(&|_, b| b * b), sum(&|a, b| a * b));
    xy * xy / (xx * yy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_line_fits_a_line_and_not_a_parabola() {
        let points = |f: fn(f64) -> f64| (0..10).map(|x| (f64::from(x), f(f64::from(x)))).collect();
        let line: Vec<_> = points(|x| 3.0 - 2.0 * x);
        assert!((fit(&line) - 1.0).abs() < 1e-12);
        let parabola: Vec<_> = points(|x| x * x);
        assert!((0.9..0.96).contains(&fit(&parabola)));
    }

    #[test]
    fn shapes_of_known_densities() {
        // Uniform on -1, 0, 1: variance 2/3, fourth moment 2/3, kurtosis 1.5.
        let mut flat = Displacements::new(10);
        for d in [-1, 0, 1] {
            flat.count(d, 5);
        }
        assert!((excess_kurtosis(&flat) + 1.5).abs() < 1e-9 && skewness(&flat).abs() < 1e-9);
        assert!((in_place(&flat) - 1.0 / 3.0).abs() < 1e-9);
        // Two positions late once, for two packets that are one position early.
        let mut late = Displacements::new(10);
        late.count(2, 1);
        late.count(-1, 2);
        assert!((skewness(&late) - 2.0 / 2f64.powf(1.5)).abs() < 1e-9);
    }

    #[test]
    fn one_repetition_decides_nothing_here() {
        let findings = testing::quick("entropy", 1);
        let claims = findings.claims.iter();
        let decided: Vec<_> = claims
            .filter(|c| c.verdict != crate::Verdict::Undecided)
            .collect();
        assert!(decided.is_empty(), "{decided:#?}");
    }
}
