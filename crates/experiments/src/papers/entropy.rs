//! P. R. Torres-Jr, E. P. Ribeiro, "Packet reordering metrics to enable performance comparison in IP-networks",
//! Journal of Computer Networks and Communications, 2020: the metrics of probes, figures 3 to 5.
//!
//! The paper gives the jitter as a standard deviation (its figure 2); netem's own uniform distribution takes it
//! as half the range, which makes the mean displacement smaller by the square root of 3. Both are shown.

use std::collections::BTreeMap;

use inorder_metrics::Displacements;
use inorder_scenario::Cell;
use inorder_scenario::config::StageKind;
use inorder_sim::RunResult;

use super::{Context, ExperimentError, LegacyItem, entropy_transfers};
use crate::campaign::{self, File};
use crate::printed::Printed;
use crate::{Claim, Comparison, Estimate, Findings};

pub(super) const PAPER: (&str, &str, &[LegacyItem]) = (
    "entropy",
    "Torres-Jr, Ribeiro: Packet reordering metrics to enable performance comparison in IP-networks (Journal of Computer Networks and Communications 2020)",
    &[
        (
            "figure-3",
            "reorder density of three distributions, jitter 1.2475 ms",
            figure_3,
        ),
        ("figure-4", "mean displacement over jitter", figure_4),
        ("figure-5", "reorder entropy over jitter", figure_5),
        (
            "figures-6-8",
            "TCP throughput against both metrics: 16,740 transfers, and 1,860 of yeah",
            entropy_transfers::figures_6_to_8,
        ),
    ],
);

/// The file's names of the paper's distributions, and the paper's.
pub(super) const DISTRIBUTIONS: [(&str, &str); 3] = [
    ("uniform-unit", "uniform"),
    ("normal", "normal"),
    ("exponential", "exponential"),
];

/// Jitters of a quick run, ns: those the paper names, and some to draw a curve.
const QUICK_NS: [i64; 7] = [
    0, 75_000, 404_700, 858_500, 1_000_000, 1_247_500, 10_000_000,
];

/// From one packet to the next: 1518 bytes at 100 Mb/s, ns.
const PACKET_NS: i64 = 121_440;

/// What the text prints of the figures.
const PRINTED: &str = include_str!("../../printed/entropy.csv");

const PROBES: File = File {
    name: "entropy/probes.toml",
    text: include_str!("../../../../experiments/entropy/probes.toml"),
};

/// Displacements of the probes, by distribution (as in the file) and jitter in ns.
pub(super) type Densities = BTreeMap<(String, i64), Vec<Displacements>>;

/// Whether a quick run keeps the cell.
pub(super) fn kept(context: &Context<'_>, cell: &Cell) -> bool {
    !context.quick || QUICK_NS.contains(&jitter_ns(cell))
}

/// The jitter of a cell's netem.
pub(super) fn jitter_ns(cell: &Cell) -> i64 {
    let stages = cell.config.forward.iter();
    let jitter = stages.filter_map(|stage| match &stage.kind {
        StageKind::Netem(netem) => Some(netem.jitter_ns),
        _ => None,
    });
    jitter.sum()
}

/// Sends the probes of the cells that `wanted` keeps.
pub(super) fn probe(
    context: &Context<'_>,
    overrides: &[&str],
    repetitions: u32,
    wanted: impl Fn(&Cell) -> bool,
) -> Result<Densities, ExperimentError> {
    let mut overrides = overrides.to_vec();
    if context.quick {
        overrides.push("probe.count=16384");
    }
    let mut cells = campaign::cells(context, PROBES, &overrides)?;
    cells.retain(wanted);
    let runs = campaign::run(context, &cells, repetitions, displacements)?;
    let named = cells.iter().map(|cell| {
        let distribution = cell.label("forward.netem.distribution");
        (distribution.unwrap_or("given").to_owned(), jitter_ns(cell))
    });
    let whole = |runs: Vec<Option<Displacements>>| runs.into_iter().flatten().collect();
    Ok(named.zip(runs.into_iter().map(whole)).collect())
}

fn displacements(run: &RunResult) -> Option<Displacements> {
    let probe = run.probes.first()?;
    Some(probe.metrics.as_ref()?.displacements.clone())
}

/// Mean and interval of what `of` makes of a cell's densities.
pub(super) fn estimate(
    densities: &Densities,
    distribution: &str,
    jitter_ns: i64,
    of: impl Fn(&Displacements) -> f64,
) -> Estimate {
    let runs = densities.get(&(distribution.to_owned(), jitter_ns));
    let values: Vec<f64> = runs.into_iter().flatten().map(of).collect();
    Estimate::of(&values)
}

fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

fn figure_3(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let repetitions = context.repetitions_or(5);
    let at_ns = 1_247_500;
    let densities = probe(context, &[], repetitions, |cell| jitter_ns(cell) == at_ns)?;
    let mut findings = Findings::default();
    let shapes = DISTRIBUTIONS.map(|(file, name)| {
        let shape = |of: fn(&Displacements) -> f64| estimate(&densities, file, at_ns, of);
        let rows: [(&str, Estimate); 4] = [
            (
                "standard deviation, packets",
                shape(|d| d.variance().sqrt()),
            ),
            ("packets in place, %", shape(|d| 100.0 * in_place(d))),
            ("skewness", shape(skewness)),
            ("excess kurtosis", shape(excess_kurtosis)),
        ];
        for (measure, ours) in rows {
            let row = Comparison::new("figure-3", name, measure, None, ours);
            findings.comparisons.push(row);
        }
        (rows[2].1, rows[3].1)
    });
    let [uniform, normal, exponential] = shapes;
    let text = "the density has the shape of the distribution:";
    findings.claims = vec![
        Claim::new(
            "figure-3/uniform",
            &format!("{text} flat for uniform (excess kurtosis below -0.8)"),
            uniform.1,
            uniform.1.mean < -0.8,
        ),
        Claim::new(
            "figure-3/normal",
            &format!("{text} a bell for normal (excess kurtosis within 0.5 of 0)"),
            normal.1,
            normal.1.mean.abs() < 0.5,
        ),
        Claim::new(
            "figure-3/exponential",
            &format!("{text} leaning to late packets for exponential alone (skewness above 1)"),
            exponential.0,
            exponential.0.mean > 1.0 && uniform.0.mean.abs() < 0.3 && normal.0.mean.abs() < 0.3,
        ),
    ];
    Ok(findings)
}

fn in_place(d: &Displacements) -> f64 {
    d.density().find(|(k, _)| *k == 0).map_or(0.0, |(_, p)| p)
}

/// Exact: displacements are at most 200.
fn power(displacement: i64, exponent: u32) -> f64 {
    displacement.pow(exponent) as f64
}

/// Third standardised moment; displacements have mean 0 (equation 4).
fn skewness(d: &Displacements) -> f64 {
    let third: f64 = d.density().map(|(k, p)| power(k, 3) * p).sum();
    third / (d.variance() * d.variance().sqrt())
}

/// Fourth standardised moment less that of a normal distribution.
fn excess_kurtosis(d: &Displacements) -> f64 {
    let fourth: f64 = d.density().map(|(k, p)| power(k, 4) * p).sum();
    fourth / (d.variance() * d.variance()) - 3.0
}

/// What a figure draws over jitter, for each distribution.
struct Curves {
    densities: Densities,
    jitters_ns: Vec<i64>,
    of: fn(&Displacements) -> f64,
}

impl Curves {
    fn new(context: &Context<'_>, of: fn(&Displacements) -> f64) -> Result<Self, ExperimentError> {
        let repetitions = context.repetitions_or(3);
        let densities = probe(context, &[], repetitions, |cell| kept(context, cell))?;
        let mut jitters_ns: Vec<i64> = densities.keys().map(|(_, jitter)| *jitter).collect();
        jitters_ns.sort_unstable();
        jitters_ns.dedup();
        Ok(Curves {
            densities,
            jitters_ns,
            of,
        })
    }

    fn at(&self, distribution: &str, jitter_ns: i64) -> Estimate {
        estimate(&self.densities, distribution, jitter_ns, self.of)
    }

    /// Jitter in ms and value, from the smallest jitter that is not below `from_ns`.
    fn points(&self, distribution: &str, from_ns: i64) -> Vec<(f64, f64)> {
        let jitters = self.jitters_ns.iter().filter(|ns| **ns >= from_ns);
        let point = |ns: &i64| (ms(*ns), self.at(distribution, *ns).mean);
        jitters.map(point).collect()
    }

    /// Every point, with what the paper prints for it.
    fn comparisons(&self, item: &str, measure: &str) -> Result<Vec<Comparison>, ExperimentError> {
        let table = Printed::parse(PRINTED)?;
        let mut rows = Vec::new();
        for (file, name) in DISTRIBUTIONS {
            for &jitter_ns in &self.jitters_ns {
                let printed = table.rows().find(|row| {
                    row.text("item") == Some(item)
                        && row.text("distribution") == Some(name)
                        && row.number("jitter_ms") == Some(ms(jitter_ns))
                });
                let printed = printed
                    .and_then(|row| row.number("value"))
                    .map(|v| (v, 0.0));
                let cell = format!("{name}, {} ms", ms(jitter_ns));
                let ours = self.at(file, jitter_ns);
                rows.push(Comparison::new(item, &cell, measure, printed, ours));
            }
        }
        Ok(rows)
    }

    /// Share of the jitters from `from_ns` on at which `order` is the order of the values, greatest first; percent.
    fn ordered(&self, order: [&str; 3], from_ns: i64) -> f64 {
        let falls = |ns: &&i64| {
            let [a, b, c] = order.map(|name| self.at(name, **ns).mean);
            a > b && b > c
        };
        let jitters = || self.jitters_ns.iter().filter(|ns| **ns >= from_ns);
        100.0 * jitters().filter(falls).count() as f64 / jitters().count().max(1) as f64
    }

    /// That one distribution is systematically above the other.
    fn ordering(&self, item: &str, text: &str, order: [&str; 3]) -> Claim {
        let percent = self.ordered(order, PACKET_NS);
        let text = format!(
            "{text}, percent of the jitters above the distance of two packets, 0.12 ms (of all above 0: {:.0})",
            self.ordered(order, 1)
        );
        let id = format!("{item}/order");
        let claim = Claim::new(&id, &text, Estimate::exact(percent), percent == 100.0);
        if claim.verdict == crate::Verdict::Held {
            return claim;
        }
        claim.note("at small jitters few packets change places, and only the tails of the distributions matter")
    }

    /// A claim for each number the text prints of `item`.
    fn printed_claims(
        &self,
        item: &str,
        metric: &str,
        findings: &mut Findings,
    ) -> Result<(), ExperimentError> {
        for row in Printed::parse(PRINTED)?.rows() {
            let fields = (row.text("item"), row.text("distribution"));
            let numbers = (row.number("jitter_ms"), row.number("value"));
            let ((Some(of), Some(name)), (Some(jitter_ms), Some(value))) = (fields, numbers) else {
                continue;
            };
            let Some((file, _)) = DISTRIBUTIONS.iter().find(|(_, paper)| *paper == name) else {
                continue;
            };
            let jitter_ns = (jitter_ms * 1e6).round() as i64;
            if of != item || !self.jitters_ns.contains(&jitter_ns) {
                continue;
            }
            let id = format!("{item}/{name}-{jitter_ms}-ms");
            let text = format!("{metric} at {jitter_ms} ms, {name}, within 5 %");
            let claim = Claim::within(&id, &text, value, self.at(file, jitter_ns), 0.05);
            findings.claims.push(explained(claim, name));
        }
        Ok(())
    }
}

fn figure_4(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figure-4";
    let curves = Curves::new(context, Displacements::mean_displacement)?;
    let mut findings = Findings {
        comparisons: curves.comparisons(item, "mean displacement, packets")?,
        ..Findings::default()
    };
    curves.printed_claims(item, "mean displacement", &mut findings)?;
    let order = DISTRIBUTIONS.map(|(file, _)| file);
    findings
        .claims
        .push(curves.ordering(item, "uniform > normal > exponential", order));
    for (file, name) in DISTRIBUTIONS {
        let linear = fit(&curves.points(file, 0));
        findings.claims.push(Claim::new(
            &format!("{item}/linear-{name}"),
            &format!("grows linearly with the jitter, {name}: R squared above 0.99"),
            Estimate::exact(linear),
            linear > 0.99,
        ));
    }
    own_uniform(context, &mut findings)?;
    Ok(findings)
}

fn explained(claim: Claim, distribution: &str) -> Claim {
    if claim.verdict == crate::Verdict::Held {
        return claim;
    }
    claim.note(match distribution {
        "exponential" => {
            "the mean displacement is the packet rate times the mean absolute deviation of the delay: with the jitter \
             as standard deviation 7.1 for uniform and 6.6 for normal, as printed, but 8.235 x 2 / e = 6.1 for \
             exponential. iproute2 has no exponential table, and the paper does not show its own"
        }
        _ => "the printed value is read off a curve, \"approximately\"",
    })
}

/// The same at 1 ms with netem's own reading of a uniform jitter.
fn own_uniform(context: &Context<'_>, findings: &mut Findings) -> Result<(), ExperimentError> {
    let overrides = [
        "forward.netem.distribution=uniform",
        "forward.netem.jitter=1 ms",
    ];
    let densities = probe(context, &overrides, context.repetitions_or(3), |_| true)?;
    let ours = estimate(
        &densities,
        "given",
        1_000_000,
        Displacements::mean_displacement,
    );
    findings.comparisons.push(Comparison::new(
        "figure-4",
        "uniform as netem has it, 1 ms",
        "mean displacement, packets",
        None,
        ours,
    ));
    findings.remarks.push(format!(
        "netem's own uniform delay has the jitter as half its range: {:.1} packets at 1 ms",
        ours.mean
    ));
    Ok(())
}

fn figure_5(context: &Context<'_>) -> Result<Findings, ExperimentError> {
    let item = "figure-5";
    let curves = Curves::new(context, Displacements::entropy)?;
    let mut findings = Findings {
        comparisons: curves.comparisons(item, "entropy, nats")?,
        ..Findings::default()
    };
    let order = ["normal", "uniform-unit", "exponential"];
    findings
        .claims
        .push(curves.ordering(item, "normal > uniform > exponential", order));
    curves.printed_claims(item, "entropy", &mut findings)?;
    for (file, name) in DISTRIBUTIONS {
        // Below 0.1 ms, less than the distance of two packets, few change places at all.
        let points = curves.points(file, 100_000);
        let by_logarithm: Vec<_> = points.iter().map(|(x, y)| (libm::log(*x), *y)).collect();
        let (linear, logarithmic) = (fit(&points), fit(&by_logarithm));
        findings.claims.push(Claim::new(
            &format!("{item}/logarithmic-{name}"),
            &format!(
                "grows with the logarithm of the jitter, {name}, from 0.1 ms: R squared above 0.99 (linear: {linear:.3})"
            ),
            Estimate::exact(logarithmic),
            logarithmic > 0.99 && logarithmic > linear,
        ));
    }
    Ok(findings)
}

/// Share of the variance that a straight line through the points explains (R squared).
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

    #[test]
    fn a_line_is_a_line_and_a_parabola_is_not() {
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
        // Two places late once for two packets one place early.
        let mut late = Displacements::new(10);
        late.count(2, 1);
        late.count(-1, 2);
        assert!((skewness(&late) - 2.0 / 2f64.powf(1.5)).abs() < 1e-9);
    }
}
