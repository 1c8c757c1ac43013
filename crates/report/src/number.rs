//! Numbers as text for people, and the text of a value of each kind.

use crate::escape::printable;
use crate::field::{Digits, Field, Kind};
use crate::value::Value;

/// The text of a value for people: a dash if there is none.
pub fn people(kind: Kind, value: &Value<'_>) -> String {
    shown(kind, value).unwrap_or_else(|| "-".to_owned())
}

fn shown(kind: Kind, value: &Value<'_>) -> Option<String> {
    Some(match (kind, value) {
        (_, Value::Text(text)) => printable(text),
        (_, Value::Flag(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
        (_, Value::List(values)) => {
            let each = values.iter().map(|one| people(kind, one));
            each.collect::<Vec<_>>().join(", ")
        }
        (Kind::Duration, Value::Number(ns)) => time(ns.max(i64::MIN as f64) as i64),
        (Kind::Duration, _) => time(value.integer()?),
        (Kind::Rate, _) => rate(value.count()?),
        (Kind::Bytes, _) => bytes(value.count()?),
        (Kind::Share, _) => percent(value.number()?),
        (Kind::Number(Digits::Mean), _) => mean(value.number()?),
        (Kind::Number(Digits::Short), _) => short(value.number()?),
        (Kind::Number(Digits::Fine), _) => fine(value.number()?),
        (Kind::Number(Digits::Fixed(n)), _) => format!("{:.1$}", value.number()?, n.into()),
        (_, Value::Count(n)) => count(*n),
        (_, Value::Integer(n)) => integer(*n),
        (_, Value::Number(x)) => short(*x),
        (_, Value::Absent) => return None,
    })
}

/// A value as a bare number, for tables whose rows differ in kind: shares in percent, durations in milliseconds.
/// [`bare_unit`] returns the unit.
pub fn bare(kind: Kind, value: &Value<'_>) -> Option<f64> {
    let number = kind.in_files(value).number()?;
    Some(match kind {
        Kind::Share => 100.0 * number,
        _ => number,
    })
}

/// The unit that belongs to [`bare`] numbers.
pub fn bare_unit<'f>(field: &Field<'f>) -> &'f str {
    match field.kind {
        Kind::Share => "%",
        _ => field.unit,
    }
}

/// The name of a column as words: `mean displacement` for `mean_displacement`. The suffix of times is removed, because
/// [`bare_unit`] returns the unit.
pub fn bare_name(field: &Field<'_>) -> String {
    let suffix = match (field.kind, field.unit) {
        (Kind::Duration, _) => "_ms",
        (_, "ns") => "_ns",
        _ => "",
    };
    let name = field.name.strip_suffix(suffix).unwrap_or(field.name);
    name.replace('_', " ")
}

/// A count with thousands separators: `1,234,567`.
pub fn count(n: u64) -> String {
    in_groups(&n.to_string())
}

/// Digits with a comma before every third one from the right.
fn in_groups(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A whole number with thousands separators: `-1,234,567`.
pub fn integer(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{}", count(n.unsigned_abs()))
}

/// `1 packet`, `2 packets`.
pub fn plural(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A part of a whole in percent, with its unit: `2.4 %`.
pub fn share(part: u64, whole: u64) -> String {
    format!("{} %", percent(part as f64 / whole.max(1) as f64))
}

/// Four significant digits; whole numbers from 1,000 on, with separators.
pub fn short(value: f64) -> String {
    // The sum of nothing is -0.0, of which nobody wants to read the sign.
    let value = value + 0.0;
    let size = value.abs();
    if !value.is_finite() {
        return "-".to_owned();
    }
    if size >= 999.95 {
        return grouped(value);
    }
    let decimals = match size {
        s if s >= 99.995 => 1,
        s if s >= 9.9995 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    if size > 0.0 && matches!(trimmed, "0" | "-0") {
        format!("{value:.1e}")
    } else {
        trimmed.to_owned()
    }
}

/// Six digits after the decimal point; with an exponent below a thousandth and from ten million on.
fn fine(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) {
        format!("{value:.6e}")
    } else {
        format!("{value:.6}")
    }
}

/// Rounded, in groups of three digits.
fn grouped(value: f64) -> String {
    let digits = in_groups(&format!("{:.0}", value.abs()));
    if value < 0.0 {
        format!("-{digits}")
    } else {
        digits
    }
}

/// A time with three significant digits and its unit: `12.4 ms`, `980 µs`, `3.20 s`.
pub fn time(ns: i64) -> String {
    let magnitude = ns.unsigned_abs() as f64;
    let (scaled, unit) = match ns.unsigned_abs() {
        0..=999 => return format!("{ns} ns"),
        1_000..=999_499 => (magnitude / 1e3, "µs"),
        999_500..=999_499_999 => (magnitude / 1e6, "ms"),
        _ => (magnitude / 1e9, "s"),
    };
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{} {unit}", significant(scaled))
}

/// As [`time`], for the unsigned values of a distribution.
pub fn time_u64(ns: u64) -> String {
    time(i64::try_from(ns).unwrap_or(i64::MAX))
}

/// A rate with three significant digits: `12.4 Mbit/s`; of whole bits a second less than one, `<1 bit/s`.
pub fn rate(bits_per_second: u64) -> String {
    let value = bits_per_second as f64;
    let (scaled, unit) = match bits_per_second {
        0 => return "<1 bit/s".to_owned(),
        1..=999 => return format!("{bits_per_second} bit/s"),
        1_000..=999_499 => (value / 1e3, "kbit/s"),
        999_500..=999_499_999 => (value / 1e6, "Mbit/s"),
        _ => (value / 1e9, "Gbit/s"),
    };
    format!("{} {unit}", significant(scaled))
}

/// A size in bytes with three significant digits: `12.4 MB` (decimal units).
pub fn bytes(n: u64) -> String {
    let value = n as f64;
    let (scaled, unit) = match n {
        0..=999 => return format!("{n} B"),
        1_000..=999_499 => (value / 1e3, "kB"),
        999_500..=999_499_999 => (value / 1e6, "MB"),
        _ => (value / 1e9, "GB"),
    };
    format!("{} {unit}", significant(scaled))
}

/// A share as a percentage without the sign; small ones keep two significant digits, and a share above zero is never
/// shown as zero.
pub fn percent(share: f64) -> String {
    let p = share * 100.0 + 0.0;
    if !p.is_finite() {
        "-".to_owned()
    } else if p == 0.0 || p >= 1.0 {
        format!("{p:.1}")
    } else if p >= 0.01 {
        format!("{p:.2}")
    } else if p >= 0.0001 {
        format!("{p:.4}")
    } else {
        "<0.0001".to_owned()
    }
}

/// One digit after the decimal point below ten thousand, none above.
pub fn mean(value: f64) -> String {
    if value < 10_000.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Nanoseconds as milliseconds, for machine-readable output (exact below 2^53 ns).
pub fn millis(ns: i64) -> f64 {
    ns as f64 / 1e6
}

fn significant(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(time(0), "0 ns");
        assert_eq!(time(-1_500), "-1.50 µs");
        assert_eq!(time(12_400_000), "12.4 ms");
        assert_eq!(time(999_499_999), "999 ms");
        assert_eq!(time(999_999_999), "1.00 s");
        assert_eq!(time(i64::MIN), "-9223372037 s");
        assert_eq!(rate(9_990_000), "9.99 Mbit/s");
        assert_eq!(
            (rate(0), rate(1)),
            ("<1 bit/s".to_owned(), "1 bit/s".to_owned())
        );
        assert_eq!(bytes(70_000_000), "70.0 MB");
        assert_eq!(percent(0.0), "0.0");
        assert_eq!(percent(0.5), "50.0");
        assert_eq!(percent(0.0067), "0.67");
        assert_eq!(percent(0.000_052), "0.0052");
        assert_eq!(percent(0.000_000_1), "<0.0001");
        assert_eq!(integer(-1_234), "-1,234");
        assert_eq!(plural(1, "packet"), "1 packet");
        assert_eq!(plural(0, "packet"), "0 packets");
    }

    #[test]
    fn four_significant_digits() {
        let cases = [
            (0.0, "0"),
            (12.0, "12"),
            (936.66, "936.7"),
            (12.345, "12.35"),
            (1.0 / 3.0, "0.333"),
            (25_194.4, "25,194"),
            (-1_234_567.0, "-1,234,567"),
            (0.000_02, "2.0e-5"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn the_kind_decides_the_text_for_people() {
        let cases = [
            (Kind::Count, Value::Count(12_345), "12,345"),
            (Kind::Count, Value::Absent, "-"),
            (Kind::Share, Value::Number(0.0052), "0.52"),
            (Kind::Duration, Value::Integer(12_400_000), "12.4 ms"),
            (Kind::Duration, Value::Number(1_500.0), "1.50 µs"),
            (Kind::Duration, Value::Count(u64::MAX), "-"),
            (Kind::Rate, Value::Count(9_990_000), "9.99 Mbit/s"),
            (Kind::Number(Digits::Fixed(3)), Value::Number(0.25), "0.250"),
            (Kind::Number(Digits::Mean), Value::Number(f64::NAN), "-"),
            (Kind::Number(Digits::Fine), Value::Number(0.5), "0.500000"),
            (
                Kind::Number(Digits::Fine),
                Value::Number(2e-5),
                "2.000000e-5",
            ),
            (Kind::Flag, Value::Flag(true), "yes"),
            (Kind::Text, Value::from("a\x1b[2Jb"), "a\u{fffd}[2Jb"),
        ];
        for (kind, value, text) in cases {
            assert_eq!(people(kind, &value), text, "{kind:?} {value:?}");
        }
    }
}
