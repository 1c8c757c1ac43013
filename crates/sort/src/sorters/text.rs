//! The text form of a sorter and its settings: `srpic:block_size=8,literal=true`.

use alloc::borrow::ToOwned;
use core::fmt;
use core::str::FromStr;

use super::config::{ConfigError, Setting, SorterConfig, Unit};

/// Units of time in nanoseconds, the largest first.
const TIMES: [(&str, u64); 4] = [
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl FromStr for SorterConfig {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let (name, settings) = text.split_once(':').unwrap_or((text, ""));
        let mut config = SorterConfig::named(name.trim())?;
        let given = settings.split(',').map(str::trim).filter(|s| !s.is_empty());
        for part in given {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let setting = config.setting(name.trim())?;
            config.set(setting.name, read(setting, value.trim())?)?;
        }
        Ok(config)
    }
}

fn read(setting: &Setting, text: &str) -> Result<u64, ConfigError> {
    let (number, expected) = match setting.unit {
        Unit::Packets => (text.parse().ok(), "a number of packets"),
        Unit::Nanoseconds => (time(text), "a time with its unit, as in 300us"),
        Unit::Flag => (flag(text), "true or false"),
    };
    number.ok_or_else(|| ConfigError::Malformed {
        what: setting.name,
        given: text.to_owned(),
        expected,
    })
}

fn flag(text: &str) -> Option<u64> {
    match text {
        "true" => Some(1),
        "false" => Some(0),
        _ => None,
    }
}

fn time(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, ns) = TIMES.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(*ns)
}

impl fmt::Display for SorterConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)?;
        let set = self.values().filter(|(s, value)| *value != s.default);
        for (at, (setting, value)) in set.enumerate() {
            let before = if at == 0 { ':' } else { ',' };
            write!(f, "{before}{}=", setting.name)?;
            write(f, setting, value)?;
        }
        Ok(())
    }
}

fn write(f: &mut fmt::Formatter<'_>, setting: &Setting, value: u64) -> fmt::Result {
    match setting.unit {
        Unit::Packets => write!(f, "{value}"),
        Unit::Flag => write!(f, "{}", value != 0),
        Unit::Nanoseconds => {
            let whole = TIMES.iter().find(|(_, ns)| value.is_multiple_of(*ns));
            let (name, ns) = whole.copied().unwrap_or(("ns", 1));
            write!(f, "{}{name}", value / ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn read_back(text: &str) -> std::string::String {
        match text.parse::<SorterConfig>() {
            Ok(config) => config.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn written_text_reads_back() {
        for text in [
            "none",
            "srpic",
            "srpic:block_size=8",
            "srpic:block_size=8,literal=true",
        ] {
            assert_eq!(read_back(text), text);
        }
        assert_eq!(
            read_back(" srpic : literal=true, block_size=32"),
            "srpic:literal=true"
        );
    }

    #[test]
    fn an_invalid_text_gives_a_message_of_one_line() {
        let cases = [
            ("sripc", "no sorter `sripc`; there are none, srpic"),
            ("none:x=1", "sorter none has no settings, so no `x`"),
            (
                "srpic:block=1",
                "sorter srpic has no setting `block`; it has block_size, literal",
            ),
            (
                "srpic:block_size=many",
                "block_size must be a number of packets, not `many`",
            ),
            (
                "srpic:block_size",
                "block_size must be a number of packets, not ``",
            ),
            (
                "srpic:block_size=0",
                "block_size must be 1 to 16777216, not 0",
            ),
            ("srpic:literal=1", "literal must be true or false, not `1`"),
        ];
        for (text, expected) in cases {
            let said = read_back(text);
            assert!(said.starts_with(expected), "{said}");
            assert!(!said.contains('\n'));
        }
    }

    #[test]
    fn times_need_a_unit() {
        let read = [
            "300us",
            "2 ms",
            "1s",
            "75",
            "us",
            "1.5us",
            "99999999999999s",
        ]
        .map(time);
        let expected = [Some(300_000), Some(2_000_000), Some(1_000_000_000)];
        assert_eq!(read[..3], expected);
        assert!(read[3..].iter().all(Option::is_none));
    }
}
