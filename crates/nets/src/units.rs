//! Dimensions and units. Times are counted in ticks, amounts of data in bits.

use std::fmt;

/// Exponents of time and data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Dim {
    pub(crate) time: i8,
    pub(crate) data: i8,
}

pub(crate) const NUMBER: Dim = Dim { time: 0, data: 0 };
pub(crate) const TIME: Dim = Dim { time: 1, data: 0 };

impl Dim {
    pub(crate) fn times(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_add(other.time),
            data: self.data.saturating_add(other.data),
        }
    }

    pub(crate) fn over(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_sub(other.time),
            data: self.data.saturating_sub(other.data),
        }
    }
}

impl fmt::Display for Dim {
    /// What a value of this dimension is, with an example.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.time, self.data) {
            (0, 0) => f.write_str("a number without a unit"),
            (1, 0) => f.write_str("a time, such as 5 us"),
            (-1, 0) => f.write_str("a frequency, such as 5 MHz"),
            (0, 1) => f.write_str("an amount of data, such as 64 byte"),
            (-1, 1) => f.write_str("a data rate, such as 10 Gbit/s"),
            (time, data) => write!(f, "a value in time^{time} data^{data}"),
        }
    }
}

/// A unit: its dimension, and its value `factor / divisor` in seconds, hertz or bits.
struct Entry {
    name: &'static str,
    dim: Dim,
    factor: f64,
    divisor: f64,
}

const fn time(name: &'static str, divisor: f64) -> Entry {
    Entry {
        name,
        dim: TIME,
        factor: 1.0,
        divisor,
    }
}

const fn frequency(name: &'static str, factor: f64) -> Entry {
    Entry {
        name,
        dim: Dim { time: -1, data: 0 },
        factor,
        divisor: 1.0,
    }
}

const fn data(name: &'static str, factor: f64) -> Entry {
    Entry {
        name,
        dim: Dim { time: 0, data: 1 },
        factor,
        divisor: 1.0,
    }
}

static UNITS: &[Entry] = &[
    time("s", 1.0),
    time("ms", 1e3),
    time("us", 1e6),
    time("ns", 1e9),
    time("ps", 1e12),
    frequency("Hz", 1.0),
    frequency("kHz", 1e3),
    frequency("MHz", 1e6),
    frequency("GHz", 1e9),
    data("bit", 1.0),
    data("kbit", 1e3),
    data("Mbit", 1e6),
    data("Gbit", 1e9),
    data("byte", 8.0),
    data("bytes", 8.0),
    data("KiB", 8.0 * 1024.0),
    data("MiB", 8.0 * 1048576.0),
];

/// Ticks of the engine in the unit of the clock.
pub(crate) const TICKS_PER_UNIT: f64 = 1000.0;

/// The unit of the clock, and how long it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clock {
    pub(crate) unit: String,
    /// `None` if the unit has no length in seconds.
    pub(crate) ticks_per_second: Option<f64>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            unit: "ns".to_owned(),
            ticks_per_second: Some(1e9 * TICKS_PER_UNIT),
        }
    }
}

/// Why a word is no unit.
pub(crate) enum NoUnit {
    Unknown,
    /// It is one, but the clock has no length in seconds.
    NoSeconds,
}

impl Clock {
    /// A clock whose unit has this frequency in hertz.
    pub(crate) fn new(unit: &str, hertz: Option<f64>) -> Self {
        let hertz = hertz.or_else(|| per_second(unit));
        Self {
            unit: unit.to_owned(),
            ticks_per_second: hertz.map(|hertz| hertz * TICKS_PER_UNIT),
        }
    }

    /// The value of a unit in ticks and bits, and its dimension.
    pub(crate) fn unit(&self, name: &str) -> Result<(f64, Dim), NoUnit> {
        if name == self.unit || name.strip_suffix('s') == Some(self.unit.as_str()) {
            return Ok((TICKS_PER_UNIT, TIME));
        }
        let unit = UNITS.iter().find(|unit| unit.name == name);
        let unit = unit.ok_or(NoUnit::Unknown)?;
        if unit.dim.time == 0 {
            return Ok((unit.factor, unit.dim));
        }
        let ticks = self.ticks_per_second.ok_or(NoUnit::NoSeconds)?;
        let value = match unit.dim.time {
            1 => ticks * unit.factor / unit.divisor,
            _ => unit.factor / ticks,
        };
        Ok((value, unit.dim))
    }

    /// A value as it could be written.
    pub(crate) fn words(&self, x: f64, dim: Dim) -> String {
        let per_second = self.ticks_per_second.unwrap_or(1.0);
        match (dim.time, dim.data) {
            (0, 0) => x.to_string(),
            (0, 1) => format!("{} byte", x / 8.0),
            (-1, 1) => format!("{} Gbit/s", rounded(x * per_second / 1e9)),
            (-1, 0) => format!("{} MHz", rounded(x * per_second / 1e6)),
            _ => dim.to_string(),
        }
    }

    /// A time in whole nanoseconds; in ticks if the unit has no length in seconds.
    pub(crate) fn nanoseconds(&self, ticks: u64) -> i64 {
        let ticks = ticks as f64;
        match self.ticks_per_second {
            None => ticks as i64,
            // A nanosecond has a whole number of ticks, so that the division is exact where it can be.
            Some(per_second) if is_time(&self.unit) => (ticks / (per_second / 1e9)) as i64,
            Some(per_second) => (ticks * (1e9 / per_second)) as i64,
        }
    }

    /// All units.
    pub(crate) fn units(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.unit.as_str()).chain(UNITS.iter().map(|unit| unit.name))
    }
}

/// Without the error that conversion to ticks and back may leave in the last digits.
fn rounded(x: f64) -> f64 {
    libm::round(x * 1e9) / 1e9
}

/// How many of a unit of time are in a second.
fn per_second(unit: &str) -> Option<f64> {
    let unit = UNITS.iter().find(|u| u.name == unit && u.dim == TIME)?;
    Some(unit.divisor / unit.factor)
}

fn is_time(name: &str) -> bool {
    UNITS
        .iter()
        .any(|unit| unit.name == name && unit.dim == TIME)
}

/// True for units of data.
pub(crate) fn is_data(name: &str) -> bool {
    let unit = UNITS.iter().find(|unit| unit.name == name);
    unit.is_some_and(|unit| unit.dim.data == 1)
}

/// The names of all units with their meanings, for the reference.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, Dim)> {
    UNITS.iter().map(|unit| (unit.name, unit.dim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_in_ticks() {
        let value = |clock: &Clock, name| clock.unit(name).map(|(value, _)| value).ok();
        let ns = Clock::default();
        assert_eq!(value(&ns, "us"), Some(1e6));
        assert_eq!(value(&ns, "ps"), Some(1.0));
        let cycle = Clock::new("cycle", Some(600e6));
        assert_eq!(value(&cycle, "cycles"), Some(1000.0));
        assert_eq!(value(&cycle, "ns"), Some(600.0));
        assert_eq!(value(&Clock::new("step", None), "ns"), None);
        assert_eq!(Clock::new("ns", None), ns);
    }
}
