//! Families of delays that are named by their parameters: each is one entry of [`FAMILIES`], from which the readers,
//! the writers, validation and simulation take it.

use inorder_base::random::Random;

/// A family of distributions of delays.
pub struct Family {
    /// Its name in files.
    pub name: &'static str,
    /// The names of its parameters in files, in order.
    pub parameters: &'static [&'static str],
    /// What is wrong with parameters, which are finite: which one, and what was expected.
    fault: fn(&[f64]) -> Option<(usize, &'static str)>,
    mean: fn(&[f64]) -> f64,
    sample: fn(&[f64], &mut Random) -> f64,
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A delay of a family, in the net's unit of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    family: &'static Family,
    parameters: Vec<f64>,
}

impl Drawn {
    /// A delay of this family. Parameters that are missing count as 0; there are no more than the family has.
    pub fn new(family: &'static Family, mut parameters: Vec<f64>) -> Self {
        parameters.resize(family.parameters.len(), 0.0);
        Self { family, parameters }
    }

    /// The family.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The parameters with their names.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        let names = self.family.parameters.iter().copied();
        names.zip(self.parameters.iter().copied())
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        (self.family.mean)(&self.parameters)
    }

    /// One sample, not below 0.
    pub fn sample(&self, random: &mut Random) -> f64 {
        (self.family.sample)(&self.parameters, random).max(0.0)
    }

    /// The wrong parameter, its value and what was expected.
    pub fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let infinite = self.parameters().find(|(_, value)| !value.is_finite());
        if let Some((name, value)) = infinite {
            return Some((name, value, "a finite number"));
        }
        let (index, expected) = (self.family.fault)(&self.parameters)?;
        Some((
            self.family.parameters[index],
            self.parameters[index],
            expected,
        ))
    }
}

/// The families. To add one, add it here, and to the table in [`text`](crate::text).
pub static FAMILIES: &[Family] = &[
    // The normal distribution of which negative values are drawn again, so that its mean is above `mean`.
    Family {
        name: "normal",
        parameters: &["mean", "sd"],
        fault: |p| not_negative(p, 0).or_else(|| positive(p, 1)),
        mean: |p| {
            // The mean of a normal distribution that is cut off at 0.
            let (mean, sd) = (p[0], p[1]);
            let cut = -mean / sd;
            let density = libm::exp(-0.5 * cut * cut) / (2.0 * std::f64::consts::PI).sqrt();
            let kept = 0.5 * libm::erfc(cut / std::f64::consts::SQRT_2);
            mean + sd * density / kept
        },
        sample: |p, random| {
            loop {
                let x = p[0] + p[1] * random.normal();
                if x >= 0.0 {
                    return x;
                }
            }
        },
    },
    // Mean and standard deviation are those of the delay, not of its logarithm.
    Family {
        name: "lognormal",
        parameters: &["mean", "sd"],
        fault: |p| positive(p, 0).or_else(|| not_negative(p, 1)),
        mean: |p| p[0],
        sample: |p, random| {
            let ratio = p[1] / p[0];
            let variance = libm::log1p(ratio * ratio);
            let normal = random.normal();
            p[0] * libm::exp(libm::sqrt(variance) * normal - 0.5 * variance)
        },
    },
    // P(T > t) = exp(-(t / scale)^shape).
    Family {
        name: "weibull",
        parameters: &["shape", "scale"],
        fault: |p| positive(p, 0).or_else(|| positive(p, 1)),
        mean: |p| p[1] * libm::tgamma(1.0 + 1.0 / p[0]),
        sample: |p, random| p[1] * libm::pow(random.exponential(), 1.0 / p[0]),
    },
    Family {
        name: "triangular",
        parameters: &["low", "mode", "high"],
        fault: |p| {
            not_negative(p, 0)
                .or_else(|| positive(p, 2))
                .or_else(|| (p[1] < p[0]).then_some((1, "a number not below low")))
                .or_else(|| (p[2] < p[1]).then_some((2, "a number not below the mode")))
        },
        mean: |p| (p[0] + p[1] + p[2]) / 3.0,
        sample: |p, random| {
            let (low, mode, high) = (p[0], p[1], p[2]);
            let (u, width) = (random.unit(), high - low);
            if u * width < mode - low {
                low + libm::sqrt(u * width * (mode - low))
            } else {
                high - libm::sqrt((1.0 - u) * width * (high - mode))
            }
        },
    },
];

fn positive(parameters: &[f64], index: usize) -> Option<(usize, &'static str)> {
    (parameters[index] <= 0.0).then_some((index, "a number above 0"))
}

fn not_negative(parameters: &[f64], index: usize) -> Option<(usize, &'static str)> {
    (parameters[index] < 0.0).then_some((index, "a number not below 0"))
}

/// The words for all kinds of timing, as files have them.
pub(crate) fn timings() -> impl Iterator<Item = &'static str> {
    const WITHOUT_FAMILY: [&str; 6] = [
        "immediate",
        "exponential",
        "deterministic",
        "uniform",
        "erlang",
        "empirical",
    ];
    let families = FAMILIES.iter().map(|family| family.name);
    WITHOUT_FAMILY.into_iter().chain(families)
}

/// The kinds of timing in words, for messages that say what was expected.
pub(crate) fn one_of_timings() -> String {
    format!("one of {}", timings().collect::<Vec<_>>().join(", "))
}

/// The family with this name.
pub fn named(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(name: &str, parameters: &[f64]) -> Drawn {
        Drawn::new(named(name).unwrap(), parameters.to_vec())
    }

    #[test]
    fn samples_have_the_mean_and_the_share_below_a_point_of_their_formulas() {
        const N: usize = 200_000;
        // The points and shares: of the formulas of the distribution functions, computed by hand.
        for (name, parameters, point, share) in [
            // One standard deviation above the mean: 0.8413; nothing is cut off 10 standard deviations below.
            ("normal", &[10.0, 1.0][..], 11.0, 0.841_345),
            // Cut off at its mean: the absolute value of a normal one; P(T < 1) = 2 * 0.841345 - 1.
            ("normal", &[0.0, 1.0], 1.0, 0.682_690),
            // The median of a lognormal one is mean / sqrt(1 + (sd / mean)^2).
            (
                "lognormal",
                &[5.0, 5.0],
                5.0 / std::f64::consts::SQRT_2,
                0.5,
            ),
            ("weibull", &[2.0, 3.0], 3.0, 0.632_121),
            ("triangular", &[1.0, 2.0, 5.0], 2.0, 0.25),
        ] {
            let delay = drawn(name, parameters);
            assert_eq!(delay.fault(), None, "{name}");
            let mut random = Random::new(1, name);
            let samples: Vec<f64> = (0..N).map(|_| delay.sample(&mut random)).collect();
            let mean = samples.iter().sum::<f64>() / N as f64;
            assert!(
                (mean / delay.mean() - 1.0).abs() < 0.01,
                "{name}: {mean} for {}",
                delay.mean()
            );
            let below = samples.iter().filter(|x| **x < point).count() as f64 / N as f64;
            assert!((below - share).abs() < 0.005, "{name}: {below}");
        }
        let half_normal = drawn("normal", &[0.0, 1.0]).mean();
        assert!(
            (half_normal - 0.797_885).abs() < 1e-6,
            "the square root of 2 / pi"
        );
    }

    #[test]
    fn wrong_parameters_are_named() {
        for (name, parameters, parameter) in [
            ("normal", &[1.0, 0.0][..], "sd"),
            ("normal", &[-1.0, 1.0], "mean"),
            ("lognormal", &[0.0, 1.0], "mean"),
            ("weibull", &[1.0, f64::NAN], "scale"),
            ("triangular", &[1.0, 0.5, 2.0], "mode"),
            ("triangular", &[1.0, 1.5, 1.2], "high"),
            ("triangular", &[0.0, 0.0, 0.0], "high"),
        ] {
            let fault = drawn(name, parameters).fault();
            assert_eq!(
                fault.map(|(found, ..)| found),
                Some(parameter),
                "{name} {parameters:?}"
            );
        }
    }
}
