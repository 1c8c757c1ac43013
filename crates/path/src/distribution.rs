//! Tables of delay distributions, as created by netem's `maketable` programs.
//!
//! netem computes a delay as `mean + jitter * t / 8192`, where `t` is one of 4096 equally likely 16-bit numbers. The
//! tables do not have exactly the distribution of their name: the range of 16 bits limits values to four times the
//! jitter, and the two Pareto tables have standard deviations of 0.82 and 0.83 times the jitter. The tables here
//! follow the formulas that iproute2 documents with its generators (`netem/normal.c`, `pareto.c`, `paretonormal.c`).

use inorder_scenario::config as plain;
use std::sync::{Arc, LazyLock};

/// One standard deviation in a table (`NETEM_DIST_SCALE`).
pub const SCALE: i64 = 8192;

/// Number of entries in a table of iproute2.
const ENTRIES: u32 = 4096;

/// Number of probability steps in iproute2's normal table, of which every fourth one is used.
const FINE: f64 = 16_384.0;

/// The shape of random delays.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Distribution {
    /// netem without a table: uniform from -jitter to just below +jitter, so the standard deviation is jitter /
    /// sqrt(3).
    Uniform,
    /// Uniform with the jitter as its standard deviation, from a table.
    UniformOfUnitDeviation,
    /// Normal, clipped at -4.0 and +3.52 standard deviations.
    Normal,
    /// Exponential less its mean: -1 to +4 standard deviations. Not one of iproute2's.
    Exponential,
    /// Pareto with index 3: -0.67 to +4.0 times the jitter, standard deviation 0.82 of it.
    Pareto,
    /// A quarter normal, three quarters Pareto: -1.5 to +3.88, standard deviation 0.83.
    ParetoNormal,
    /// Any other table; see [`Table`].
    Custom(Table),
}

/// Numbers from which a delay is chosen, each equally likely, in units of jitter / [`SCALE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table(Arc<[i16]>);

impl Table {
    /// A table of these numbers, 1 to 2^20 of them; netem's own limit is 16,384.
    pub fn new(numbers: &[i16]) -> Option<Self> {
        (1..=1 << 20)
            .contains(&numbers.len())
            .then(|| Table(numbers.into()))
    }

    /// 4096 numbers from a quantile function in standard deviations, evaluated in the middle of each step of
    /// probability and limited to 16 bits, that is, to four deviations.
    pub(crate) fn from_quantiles(quantile: impl Fn(f64) -> f64) -> Self {
        let middle = |i| (f64::from(i) + 0.5) / f64::from(ENTRIES);
        Table((0..ENTRIES).map(|i| entry(quantile(middle(i)))).collect())
    }

    /// The number selected by `random`.
    #[inline]
    pub fn pick(&self, random: u32) -> i16 {
        // netem computes the remainder; for 4096 entries it consists of the lower twelve bits, at a tenth of the
        // cost.
        let length = self.0.len();
        let index = match length.is_power_of_two() {
            true => random as usize & (length - 1),
            false => random as usize % length.max(1),
        };
        self.0.get(index).copied().unwrap_or(0)
    }

    /// The numbers.
    pub fn numbers(&self) -> &[i16] {
        &self.0
    }

    /// Mean and standard deviation of the delays, in units of the jitter.
    pub fn moments(&self) -> (f64, f64) {
        let n = self.0.len() as f64;
        let sum: i64 = self.0.iter().map(|&t| i64::from(t)).sum();
        let squares: i64 = self.0.iter().map(|&t| i64::from(t) * i64::from(t)).sum();
        let mean = sum as f64 / n;
        let variance = squares as f64 / n - mean * mean;
        (mean / SCALE as f64, libm::sqrt(variance) / SCALE as f64)
    }
}

/// Names of the distributions, with a description.
pub const DISTRIBUTIONS: &[(&str, Distribution, &str)] = &[
    (
        "uniform",
        Distribution::Uniform,
        "netem without a table; SD jitter / sqrt(3)",
    ),
    (
        "uniform-sd",
        Distribution::UniformOfUnitDeviation,
        "from a table; SD of the jitter itself",
    ),
    (
        "normal",
        Distribution::Normal,
        "iproute2's table, -4.0 to +3.52 SD",
    ),
    (
        "exponential",
        Distribution::Exponential,
        "less its mean, -1 to +4 SD",
    ),
    (
        "pareto",
        Distribution::Pareto,
        "iproute2's table, SD 0.82 of the jitter",
    ),
    (
        "paretonormal",
        Distribution::ParetoNormal,
        "iproute2's table, SD 0.83 of the jitter",
    ),
];

impl Distribution {
    /// The distribution with this name in [`DISTRIBUTIONS`].
    pub fn named(name: &str) -> Option<Self> {
        let found = DISTRIBUTIONS.iter().find(|(known, ..)| *known == name);
        found.map(|(_, distribution, _)| distribution.clone())
    }

    /// Its table; `None` for [`Distribution::Uniform`], for which netem uses no table.
    pub fn table(&self) -> Option<Table> {
        static UNIT: LazyLock<Table> = LazyLock::new(unit_uniform);
        static NORMAL: LazyLock<Table> = LazyLock::new(normal);
        static EXPONENTIAL: LazyLock<Table> = LazyLock::new(exponential);
        static PARETO: LazyLock<Table> = LazyLock::new(pareto);
        static PARETO_NORMAL: LazyLock<Table> = LazyLock::new(pareto_normal);
        let made = match self {
            Distribution::Uniform => return None,
            Distribution::Custom(table) => return Some(table.clone()),
            Distribution::UniformOfUnitDeviation => &UNIT,
            Distribution::Normal => &NORMAL,
            Distribution::Exponential => &EXPONENTIAL,
            Distribution::Pareto => &PARETO,
            Distribution::ParetoNormal => &PARETO_NORMAL,
        };
        Some(Table::clone(made))
    }
}

/// Standard deviations as an entry of a table; the cast saturates.
fn entry(deviations: f64) -> i16 {
    libm::rint(deviations * SCALE as f64) as i16
}

/// The distribution function of the standard normal.
fn phi(x: f64) -> f64 {
    0.5 + 0.5 * libm::erf(x / std::f64::consts::SQRT_2)
}

/// The normal quantile for `step` of 16,384, on iproute2's grid: the last of the points -10, -9.99995, ... whose
/// probability rounds to the step.
fn normal_quantile(step: u32) -> f64 {
    const SPACING: f64 = 0.000_05;
    let x = |point: u32| -10.0 + f64::from(point) * SPACING;
    let (mut below, mut above) = (0u32, 400_000u32);
    while above - below > 1 {
        let middle = below.midpoint(above);
        if libm::rint(FINE * phi(x(middle))) <= f64::from(step) {
            below = middle;
        } else {
            above = middle;
        }
    }
    x(below)
}

/// The Pareto value of index 3 for the `step`-th of 4096, mean 0, clipped to 16 bits.
fn pareto_value(step: u32) -> f64 {
    const MEAN: f64 = 1.5;
    let survival = f64::from(ENTRIES - step) / f64::from(ENTRIES);
    let value = (1.0 / libm::cbrt(survival) - MEAN) * 4.0 / 3.0;
    value.min(f64::from(i16::MAX) / SCALE as f64)
}

fn normal() -> Table {
    Table(
        (0..ENTRIES)
            .map(|i| entry(normal_quantile(4 * i)))
            .collect(),
    )
}

fn pareto() -> Table {
    Table((0..ENTRIES).map(|i| entry(pareto_value(i))).collect())
}

fn pareto_normal() -> Table {
    // Both parts are rounded first, and the sum is truncated towards zero.
    let rounded = |deviations: f64| libm::rint(deviations * SCALE as f64) as i32;
    let mixed = |i| (rounded(normal_quantile(4 * i)) + 3 * rounded(pareto_value(i))) / 4;
    Table((0..ENTRIES).map(|i| mixed(i) as i16).collect())
}

fn exponential() -> Table {
    Table::from_quantiles(|p| -libm::log1p(-p) - 1.0)
}

fn unit_uniform() -> Table {
    Table::from_quantiles(|p| (2.0 * p - 1.0) * libm::sqrt(3.0))
}

impl From<plain::Distribution> for Distribution {
    fn from(shape: plain::Distribution) -> Self {
        match shape {
            plain::Distribution::Uniform => Distribution::Uniform,
            plain::Distribution::UniformUnit => Distribution::UniformOfUnitDeviation,
            plain::Distribution::Normal => Distribution::Normal,
            plain::Distribution::Exponential => Distribution::Exponential,
            plain::Distribution::Pareto => Distribution::Pareto,
            plain::Distribution::ParetoNormal => Distribution::ParetoNormal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(table: &Table) -> (f64, f64) {
        let scaled = |t: Option<&i16>| f64::from(*t.unwrap()) / SCALE as f64;
        (scaled(table.0.iter().min()), scaled(table.0.iter().max()))
    }

    fn check(name: &Distribution, mean: f64, deviation: f64, low: f64, high: f64) {
        let table = name.table().unwrap();
        let (m, d) = table.moments();
        let (l, h) = range(&table);
        println!("{name:?}: mean {m:.4} sd {d:.4} from {l:.3} to {h:.3}");
        assert_eq!(table.numbers().len(), 4096);
        assert!((m - mean).abs() < 0.001, "{name:?}: mean {m}");
        assert!((d - deviation).abs() < 0.006, "{name:?}: deviation {d}");
        assert!((l - low).abs() < 0.006, "{name:?}: from {l}");
        assert!((h - high).abs() < 0.006, "{name:?}: to {h}");
    }

    #[test]
    fn the_tables_equal_those_of_iproute2() {
        // FNV-1a over the numbers of the .dist files of iproute2 6.1, 16 bits each, low byte first.
        let hash = |distribution: Distribution| {
            let table = distribution.table().unwrap();
            let bytes = table.numbers().iter().flat_map(|t| t.to_le_bytes());
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
        };
        assert_eq!(hash(Distribution::Normal), 0x3f19_8b60_14c3_b3b8);
        assert_eq!(hash(Distribution::Pareto), 0x209e_1d3c_8618_19fa);
        assert_eq!(hash(Distribution::ParetoNormal), 0x468c_e9c9_62a5_ecf9);
    }

    #[test]
    fn moments_equal_those_measured_with_the_kernels_tables() {
        check(&Distribution::Normal, 0.0, 1.000, -4.0, 3.52);
        check(&Distribution::Pareto, -0.034, 0.82, -0.67, 4.0);
        check(&Distribution::ParetoNormal, -0.025, 0.83, -1.50, 3.88);
    }

    #[test]
    fn the_other_tables_have_the_moments_of_their_formulas() {
        // Limiting to +4 reduces the exponential's mean by e^-5.
        check(&Distribution::Exponential, -0.0066, 0.963, -1.0, 4.0);
        check(
            &Distribution::UniformOfUnitDeviation,
            0.0,
            1.0,
            -1.732,
            1.732,
        );
    }

    #[test]
    fn distributions_are_found_by_name() {
        for (name, distribution, _) in DISTRIBUTIONS {
            assert_eq!(Distribution::named(name).as_ref(), Some(distribution));
        }
        assert_eq!(Distribution::named("gaussian"), None);
    }

    #[test]
    fn a_custom_table() {
        let table = Table::new(&[-8192, 0, 8192]).unwrap();
        assert_eq!(
            (0..4).map(|i| table.pick(i)).collect::<Vec<_>>(),
            [-8192, 0, 8192, -8192]
        );
        assert!(Table::new(&[]).is_none());
        assert_eq!(Distribution::Custom(table.clone()).table(), Some(table));
    }
}
