//! Numbers with units, read exactly: `0.1 ms` is 100,000 ns without rounding.

use crate::error::{Place, Problem};
use crate::value::{Node, Value};

type Result<T> = std::result::Result<T, Problem>;

/// A decimal number without its point: `digits / 10^decimals`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Decimal {
    digits: u64,
    decimals: u32,
}

/// Units of one dimension, each with its size in smallest units.
type Units = &'static [(&'static str, u64)];

const TIMES: Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];
const RATES: Units = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Mb/s", 1_000_000),
    ("Gb/s", 1_000_000_000),
    ("kB/s", 8_000),
    ("MB/s", 8_000_000),
];
const SIZES: Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Parts in 10^9.
const SHARES: Units = &[("%", 10_000_000), ("ppm", 1_000)];
const PACKETS: Units = &[
    ("packets", 1),
    ("packet", 1),
    ("segments", 1),
    ("segment", 1),
];
/// Events per minute.
const FREQUENCIES: Units = &[("/s", 60), ("/min", 1)];

/// The limit of a queue as written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueLimit {
    /// No limit.
    Unlimited,
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
    /// Bandwidth-delay products of the rate at time 0 and a round-trip time given separately.
    Bdp(f64),
}

/// The limit of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// No limit.
    Unlimited,
    /// Packets.
    Packets(u64),
    /// Bytes on the wire.
    Bytes(u64),
}

impl QueueLimit {
    /// The limit for a link of this rate; `rtt_ns` is the round-trip time of a bandwidth-delay product.
    pub fn resolve(self, bits_per_s: u64, rtt_ns: i64) -> Queue {
        match self {
            QueueLimit::Unlimited => Queue::Unlimited,
            QueueLimit::Packets(packets) => Queue::Packets(packets),
            QueueLimit::Bytes(bytes) => Queue::Bytes(bytes),
            QueueLimit::Bdp(times) => {
                let rtt_ns = u128::from(rtt_ns.unsigned_abs());
                let bdp = u128::from(bits_per_s) * rtt_ns / 8_000_000_000;
                Queue::Bytes((bdp as f64 * times) as u64)
            }
        }
    }
}

/// A time, nanoseconds.
pub(crate) fn duration(node: &Node) -> Result<i64> {
    let expected = "a time as \"2.5 ms\" (ns, us, ms, s, min)";
    let ns = exact(node, TIMES, expected)?;
    i64::try_from(ns).map_err(|_| impossible(node, expected))
}

/// A rate, bits per second.
pub(crate) fn rate(node: &Node) -> Result<u64> {
    let expected = "a rate as \"10 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, MB/s)";
    exact(node, RATES, expected)
}

/// A size, bytes.
pub(crate) fn size(node: &Node) -> Result<u64> {
    let expected = "a size as \"1500 B\" (B, kB, MB, GB, KiB, MiB, GiB)";
    exact(node, SIZES, expected)
}

/// A size with 32 bits.
pub(crate) fn small_size(node: &Node) -> Result<u32> {
    narrow(node, size(node)?)
}

/// A share of a whole, 0 to 1.
pub(crate) fn share(node: &Node) -> Result<f64> {
    const EXPECTED: &str = "a share as \"10 %\", or a number from 0 to 1";
    let value = if let Value::Number(text) = &node.value {
        text.replace('_', "").parse().unwrap_or(f64::NAN)
    } else {
        let (number, factor) = with_unit(node, SHARES, EXPECTED)?;
        // One rounding: 95 % is 0.95, and not 0.9500000000000001.
        as_float(number) * factor as f64 / 1e9
    };
    if !(0.0..=1.0).contains(&value) {
        return Err(impossible(node, EXPECTED));
    }
    Ok(value)
}

/// A number of packets; the unit may be left out.
pub(crate) fn packets(node: &Node) -> Result<u64> {
    const EXPECTED: &str = "a number of packets as \"64 packets\"";
    match node.value {
        Value::Number(_) => count(node),
        _ => exact(node, PACKETS, EXPECTED),
    }
}

/// A number of packets that fits into 16 bits.
pub(crate) fn few_packets(node: &Node) -> Result<u16> {
    let expected = "less than 2^16";
    u16::try_from(packets(node)?).map_err(|_| impossible(node, expected))
}

/// A number of packets that fits into 32 bits.
pub(crate) fn small_packets(node: &Node) -> Result<u32> {
    narrow(node, packets(node)?)
}

/// A count.
pub(crate) fn count(node: &Node) -> Result<u64> {
    const EXPECTED: &str = "a whole number from 0 on";
    let Value::Number(text) = &node.value else {
        return Err(given(node, EXPECTED));
    };
    let plain = text.replace('_', "");
    plain.parse().map_err(|_| impossible(node, EXPECTED))
}

/// A count that fits into 32 bits.
pub(crate) fn small_count(node: &Node) -> Result<u32> {
    narrow(node, count(node)?)
}

/// A number that is not negative.
pub(crate) fn number(node: &Node) -> Result<f64> {
    const EXPECTED: &str = "a number";
    let Value::Number(text) = &node.value else {
        return Err(given(node, EXPECTED));
    };
    match text.replace('_', "").parse() {
        Ok(value) if (0.0..1e300).contains(&value) => Ok(value),
        _ => Err(impossible(node, "a number from 0 on")),
    }
}

/// A frequency, events per second.
pub(crate) fn frequency(node: &Node) -> Result<f64> {
    let expected = "how often as \"20 /s\"";
    let (number, factor) = with_unit(node, FREQUENCIES, expected)?;
    Ok(as_float(number) * (factor as f64 / 60.0))
}

/// `true` or `false`.
pub(crate) fn flag(node: &Node) -> Result<bool> {
    match node.value {
        Value::Flag(flag) => Ok(flag),
        _ => Err(given(node, "true or false")),
    }
}

/// A switch with an optional rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// `false`.
    Off,
    /// `true`: at the rate that the endpoint computes.
    On,
    /// At no more than this rate, bits per second.
    UpTo(u64),
}

/// `true`, `false`, or a rate.
pub(crate) fn pacing(node: &Node) -> Result<Pacing> {
    match node.value {
        Value::Flag(false) => Ok(Pacing::Off),
        Value::Flag(true) => Ok(Pacing::On),
        _ => rate(node).map(Pacing::UpTo).map_err(|mut problem| {
            problem.expected = format!("true, false, or {}", problem.expected);
            problem
        }),
    }
}

/// Text.
pub(crate) fn text(node: &Node) -> Result<String> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(given(node, "text")),
    }
}

/// A time, or the word `off`.
pub(crate) fn duration_or_off(node: &Node) -> Result<Option<i64>> {
    or_word(node, "off", duration)
}

/// A size, or the word `unlimited`.
pub(crate) fn size_or_unlimited(node: &Node) -> Result<Option<u64>> {
    or_word(node, "unlimited", size)
}

fn or_word<T>(node: &Node, word: &str, parse: fn(&Node) -> Result<T>) -> Result<Option<T>> {
    match &node.value {
        Value::Text(text) if text == word => Ok(None),
        _ => parse(node).map(Some).map_err(|mut problem| {
            problem.expected = format!("{} or \"{word}\"", problem.expected);
            problem
        }),
    }
}

/// The limit of a queue.
pub(crate) fn queue_limit(node: &Node) -> Result<QueueLimit> {
    const EXPECTED: &str = "a limit as \"64 packets\", \"100 kB\", \"1 BDP\" or \"unlimited\"";
    let Value::Text(text) = &node.value else {
        return Err(given(node, EXPECTED));
    };
    if text == "unlimited" {
        return Ok(QueueLimit::Unlimited);
    }
    let Some((number, unit)) = split(text) else {
        return Err(given(node, EXPECTED));
    };
    match unit {
        "BDP" => Ok(QueueLimit::Bdp(as_float(number))),
        unit if PACKETS.iter().any(|(name, _)| *name == unit) => {
            packets(node).map(QueueLimit::Packets)
        }
        unit if SIZES.iter().any(|(name, _)| *name == unit) => size(node).map(QueueLimit::Bytes),
        _ => Err(given(node, EXPECTED)),
    }
}

/// The value that belongs to one of a few words.
pub(crate) fn choice<T: Copy>(node: &Node, words: &[(&'static str, T)]) -> Result<T> {
    let names = || words.iter().map(|(name, _)| *name);
    let listed = || {
        let quoted: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
        quoted.join(", ")
    };
    let Value::Text(text) = &node.value else {
        return Err(given(node, &listed()));
    };
    let found = words.iter().find(|(name, _)| name == text);
    found
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| given(node, &listed()).nearest(text, names()))
}

/// A number and its unit, in whole numbers of the smallest unit.
fn exact(node: &Node, units: Units, expected: &str) -> Result<u64> {
    let (number, factor) = with_unit(node, units, expected)?;
    let product = u128::from(number.digits) * u128::from(factor);
    let divisor = 10u128.pow(number.decimals);
    let smallest = units.first().map_or("", |(name, _)| name);
    if !product.is_multiple_of(divisor) {
        let fraction = format!("{} is not a whole number of {smallest}", node.show());
        return Err(Problem::new(&node.place, fraction, expected));
    }
    u64::try_from(product / divisor).map_err(|_| impossible(node, expected))
}

fn with_unit(node: &Node, units: Units, expected: &str) -> Result<(Decimal, u64)> {
    let wrong = || given(node, expected);
    let Value::Text(text) = &node.value else {
        return Err(match node.value {
            Value::Number(_) => Problem::new(
                &node.place,
                format!("{} has no unit", node.show()),
                expected,
            ),
            _ => wrong(),
        });
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let known = units.iter().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| (number, *factor)).ok_or_else(wrong)
}

/// `2.5 ms` as 2.5 and `ms`. At most 9 decimals and 18 digits.
fn split(text: &str) -> Option<(Decimal, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let plain: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || fraction.len() > 9 || digits.len() > 18 {
        return None;
    }
    let number = Decimal {
        digits: digits.parse().ok()?,
        decimals: fraction.len() as u32,
    };
    Some((number, unit.trim()))
}

fn as_float(number: Decimal) -> f64 {
    // Both are exact below 2^53, and one division rounds once.
    number.digits as f64 / 10u64.pow(number.decimals) as f64
}

fn given(node: &Node, expected: &str) -> Problem {
    let shown = match node.value {
        Value::Text(_) => format!("\"{}\"", node.show()),
        _ => node.show(),
    };
    Problem::new(&node.place, shown, expected)
}

fn impossible(node: &Node, expected: &str) -> Problem {
    let what = format!("{} is impossible here", node.show());
    Problem::new(&node.place, what, expected)
}

fn narrow(node: &Node, value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| impossible(node, "less than 2^32"))
}

/// `value` if `holds` is true, otherwise an error at `place`.
pub(crate) fn require(holds: bool, place: &Place, what: &str, expected: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Problem::new(place, what, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(text: &str) -> Node {
        Node::from_default(text)
    }

    #[test]
    fn units_are_exact() {
        assert_eq!(duration(&node("0.1 ms")), Ok(100_000));
        assert_eq!(duration(&node("2.5ms")), Ok(2_500_000));
        assert_eq!(duration(&node("85 µs")), Ok(85_000));
        assert_eq!(duration(&node("2 min")), Ok(120_000_000_000));
        assert_eq!(rate(&node("1 Gbit/s")), Ok(1_000_000_000));
        assert_eq!(rate(&node("9.5 Mbit/s")), Ok(9_500_000));
        assert_eq!(rate(&node("1.25 MB/s")), Ok(10_000_000));
        assert_eq!(size(&node("64 KiB")), Ok(65_536));
        assert_eq!(share(&node("0.2 %")), Ok(0.002));
        assert_eq!(share(&node("0.25")), Ok(0.25));
        assert_eq!(packets(&node("64 packets")), Ok(64));
        assert_eq!(frequency(&node("20 /s")), Ok(20.0));
        assert_eq!(queue_limit(&node("1.5 BDP")), Ok(QueueLimit::Bdp(1.5)));
        assert_eq!(queue_limit(&node("100 kB")), Ok(QueueLimit::Bytes(100_000)));
        assert_eq!(duration_or_off(&node("off")), Ok(None));
    }

    #[test]
    fn errors_in_units_contain_what_was_expected() {
        for (wrong, what) in [
            ("10 MB", "\"10 MB\""),
            ("10", "10 has no unit"),
            ("0.3 ns", "0.3 ns is not a whole number of ns"),
            ("ms", "\"ms\""),
            ("-1 ms", "\"-1 ms\""),
            (
                "99999999999999999 min",
                "99999999999999999 min is impossible here",
            ),
        ] {
            let problem = duration(&node(wrong)).unwrap_err();
            assert_eq!(problem.what, what);
            assert!(problem.expected.starts_with("a time as"));
        }
        assert!(share(&node("101 %")).is_err() && share(&node("1.5")).is_err());
        assert!(count(&node("-1")).is_err() && count(&node("1.5")).is_err());
        assert!(small_count(&node("4294967296")).is_err());
    }

    #[test]
    fn a_choice_names_the_nearest() {
        let words = [("uniform", 1), ("normal", 2)];
        assert_eq!(choice(&node("normal"), &words), Ok(2));
        let problem = choice(&node("unifrom"), &words).unwrap_err();
        assert_eq!(problem.nearest.as_deref(), Some("uniform"));
    }

    proptest! {
        #[test]
        fn random_text_does_not_panic(text in ".{0,24}") {
            let node = node(&text);
            let _ = (duration(&node), rate(&node), size(&node), share(&node), packets(&node));
            let _ = (count(&node), number(&node), frequency(&node), queue_limit(&node));
        }

        #[test]
        fn written_values_are_read_back(ns in 0i64..10_000_000_000_000) {
            let ms = format!("{}.{:06} ms", ns / 1_000_000, ns % 1_000_000);
            prop_assert_eq!(duration(&node(&ms)), Ok(ns));
        }
    }
}
