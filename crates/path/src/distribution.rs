//! Tables of delay distributions, as created by netem's `maketable` programs.
//!
//! netem computes a delay as `mean + jitter * t / 8192`, where `t` is one of 4096 equally likely 16-bit numbers. The
//! tables do not have exactly the distribution of their name: the range of 16 bits limits values to four times the
//! jitter, and the two Pareto tables have standard deviations of 0.82 and 0.83 times the jitter. The tables here
//! follow the formulas that iproute2 documents with its generators (`netem/normal.c`, `pareto.c`, `paretonormal.c`).

use inorder_scenario::config::Distribution;
use std::sync::{Arc, LazyLock};

/// One standard deviation in a table (`NETEM_DIST_SCALE`).
pub const SCALE: i64 = 8192;

/// Number of entries in a table of iproute2.
const ENTRIES: u32 = 4096;

/// Number of probability steps in iproute2's normal table, of which every fourth one is used.
const FINE: f64 = 16_384.0;

/// Numbers from which a delay is chosen, each equally likely, in units of jitter / [`SCALE`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table(Arc<[i16]>);

impl Table {
    /// The table of a shape: normal, clipped at -4.0 and +3.52 standard deviations; Pareto with index 3, -0.67 to +4.0 times
    /// the jitter, standard deviation 0.82 of it; a quarter normal and three quarters Pareto, -1.5 to +3.88, standard
    /// deviation 0.83. Not iproute2's are the exponential one, less its mean, -1 to +4 standard deviations, and the uniform
    /// one with the jitter as its standard deviation. `None` for [`Distribution::Uniform`], for which netem uses no table:
    /// from -jitter to just below +jitter.
    pub fn of(shape: Distribution) -> Option<Table> {
        static UNIT: LazyLock<Table> = LazyLock::new(unit_uniform);
        static NORMAL: LazyLock<Table> = LazyLock::new(normal);
        static EXPONENTIAL: LazyLock<Table> = LazyLock::new(exponential);
        static PARETO: LazyLock<Table> = LazyLock::new(pareto);
        static PARETO_NORMAL: LazyLock<Table> = LazyLock::new(pareto_normal);
        let made = match shape {
            Distribution::Uniform => return None,
            Distribution::UniformUnit => &UNIT,
            Distribution::Normal => &NORMAL,
            Distribution::Exponential => &EXPONENTIAL,
            Distribution::Pareto => &PARETO,
            Distribution::ParetoNormal => &PARETO_NORMAL,
        };
        Some(Table::clone(made))
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
        self.0
            .get((random % ENTRIES) as usize)
            .copied()
            .unwrap_or(0)
    }

    /// The numbers.
    pub fn numbers(&self) -> &[i16] {
        &self.0
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

#[cfg(test)]
mod tests {
    use super::*;

    fn range(table: &Table) -> (f64, f64) {
        let scaled = |t: Option<&i16>| f64::from(*t.unwrap()) / SCALE as f64;
        (scaled(table.0.iter().min()), scaled(table.0.iter().max()))
    }

    /// Mean and standard deviation of the delays, in units of the jitter.
    fn moments(table: &Table) -> (f64, f64) {
        let n = table.0.len() as f64;
        let sum: i64 = table.0.iter().map(|&t| i64::from(t)).sum();
        let squares: i64 = table.0.iter().map(|&t| i64::from(t) * i64::from(t)).sum();
        let mean = sum as f64 / n;
        let variance = squares as f64 / n - mean * mean;
        (mean / SCALE as f64, libm::sqrt(variance) / SCALE as f64)
    }

    fn check(name: Distribution, mean: f64, deviation: f64, low: f64, high: f64) {
        let table = Table::of(name).unwrap();
        let (m, d) = moments(&table);
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
            let table = Table::of(distribution).unwrap();
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
        check(Distribution::Normal, 0.0, 1.000, -4.0, 3.52);
        check(Distribution::Pareto, -0.034, 0.82, -0.67, 4.0);
        check(Distribution::ParetoNormal, -0.025, 0.83, -1.50, 3.88);
    }

    #[test]
    fn the_other_tables_have_the_moments_of_their_formulas() {
        // Limiting to +4 reduces the exponential's mean by e^-5.
        check(Distribution::Exponential, -0.0066, 0.963, -1.0, 4.0);
        check(Distribution::UniformUnit, 0.0, 1.0, -1.732, 1.732);
    }
}
