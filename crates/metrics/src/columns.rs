//! The columns of arrivals that are written as text, and the units of their times.

use std::fmt;

/// The unit that a header gives for times, as in `time_ms`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unit {
    /// `time`, `time_s`, or no header.
    #[default]
    Seconds,
    /// `time_ms`.
    Milliseconds,
    /// `time_us`.
    Microseconds,
    /// `time_ns`.
    Nanoseconds,
}

impl Unit {
    /// Decimal digits from this unit down to the nanosecond.
    fn digits(self) -> usize {
        match self {
            Unit::Seconds => 9,
            Unit::Milliseconds => 6,
            Unit::Microseconds => 3,
            Unit::Nanoseconds => 0,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Seconds => "seconds",
            Unit::Milliseconds => "milliseconds",
            Unit::Microseconds => "microseconds",
            Unit::Nanoseconds => "nanoseconds",
        })
    }
}

/// Decimal seconds as exact nanoseconds; `None` for any other text, also for digits below a nanosecond.
///
/// ```
/// assert_eq!(inorder_metrics::parse_seconds("-1.5"), Some(-1_500_000_000));
/// assert_eq!(inorder_metrics::parse_seconds("0.0000000001"), None);
/// ```
pub fn parse_seconds(text: &str) -> Option<i64> {
    parse_time(text, Unit::Seconds)
}

/// A decimal number of the unit as exact nanoseconds.
pub(crate) fn parse_time(text: &str, unit: Unit) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    // "1." and ".5" are numbers; "." and "" are not.
    let some = digits.bytes().any(|b| b.is_ascii_digit());
    let missing = unit.digits().checked_sub(fraction.len())?;
    if !some || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let number = |s: &str| {
        if s.is_empty() {
            Ok(0)
        } else {
            s.parse::<i128>()
        }
    };
    let whole = number(whole)
        .ok()?
        .checked_mul(10i128.pow(unit.digits() as u32))?;
    let ns = whole.checked_add(number(fraction).ok()? * 10i128.pow(missing as u32))?;
    let negative = digits.len() < text.len();
    i64::try_from(if negative { -ns } else { ns }).ok()
}

/// Which field of a line is what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) seq: usize,
    pub(crate) time: Option<(usize, Unit)>,
    pub(crate) bytes: Option<usize>,
    /// Fields that a line has at most; a header may name any number of others.
    pub(crate) at_most: usize,
}

/// Without a header.
pub(crate) const PLAIN: Columns = Columns {
    seq: 0,
    time: Some((1, Unit::Seconds)),
    bytes: Some(2),
    at_most: 3,
};

impl Columns {
    /// What a header names; `None` if no field of it has a known name for sequence numbers.
    pub(crate) fn named(header: &str) -> Option<Self> {
        let names: Vec<String> = fields(header)
            .map(|field| field.trim_matches('"').to_ascii_lowercase())
            .collect();
        let at = |known: &dyn Fn(&str) -> bool| names.iter().position(|name| known(name));
        let is_number = |name: &str| ["number", "packet", "index", "id"].contains(&name);
        Some(Columns {
            seq: at(&|name| name.contains("seq")).or_else(|| at(&is_number))?,
            time: at(&is_time).map(|i| (i, unit_of(&names[i]))),
            bytes: at(&|name| {
                ["bytes", "len", "size", "payload"]
                    .iter()
                    .any(|word| name.contains(word))
            }),
            at_most: usize::MAX,
        })
    }
}

/// Whether a column of this name has the times at which packets arrived, and not those between them, as `frame.time_delta` and
/// `inter-arrival` have.
fn is_time(name: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let between = has(&["delta", "inter", "gap", "diff"]);
    name == "t" || has(&["time", "seconds", "arrival", "epoch"]) && !between
}

fn unit_of(name: &str) -> Unit {
    let ends = |ends: [&str; 2]| ends.iter().any(|end| name.ends_with(end));
    match () {
        _ if ends(["_ms", "(ms)"]) => Unit::Milliseconds,
        _ if ends(["_us", "(us)"]) => Unit::Microseconds,
        _ if ends(["_ns", "(ns)"]) => Unit::Nanoseconds,
        _ => Unit::Seconds,
    }
}

/// The fields of a line: between semicolons or tabs where it has any, else between commas, else between spaces.
pub(crate) fn fields(line: &str) -> impl Iterator<Item = &str> {
    let separator = [';', '\t', ','].into_iter().find(|c| line.contains(*c));
    let is_separator = move |c| separator.map_or_else(|| char::is_whitespace(c), |s| s == c);
    // A run of spaces is one separator; nothing between two commas is an empty field.
    line.split(is_separator)
        .map(str::trim)
        .filter(move |field| separator.is_some() || !field.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seconds() {
        for (text, ns) in [
            ("0", Some(0)),
            ("1.", Some(1_000_000_000)),
            (".5", Some(500_000_000)),
            ("1700000000.123456789", Some(1_700_000_000_123_456_789)),
            ("0.1000000000000", Some(100_000_000)),
            ("-9223372036.854775808", Some(i64::MIN)),
            ("9223372036.854775808", None),
            ("1e3", None),
            ("--1", None),
            ("1.-5", None),
            (".", None),
            ("-", None),
            ("99999999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(parse_seconds(text), ns, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn printed_seconds_are_parsed_back(ns in any::<i64>()) {
            let (sign, size) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
            let text = format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
            prop_assert_eq!(parse_seconds(&text), Some(ns));
        }
    }
}
