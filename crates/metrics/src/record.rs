//! Arrivals written as text: `seq[,time_s[,bytes]]`.

use std::fmt;

use crate::bound::MAX_SEQ;

/// One line of such text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Sequence number as written.
    pub seq: u64,
    /// Arrival time, nanoseconds.
    pub time_ns: Option<i64>,
    /// Payload, bytes.
    pub bytes: Option<u32>,
}

/// Why a line is not a record; displays what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordError {
    /// The first field is not a number of the given width (bits), or is above [`MAX_SEQ`].
    Seq(u32),
    /// The second field is not a decimal number of seconds that fits 64 bits of nanoseconds.
    Time,
    /// The third field is not a number of bytes below 2^32.
    Bytes,
    /// More than three fields.
    Fields,
    /// A time on a line after lines without times, or the other way round.
    TimeNowAndThen,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Seq(64) => write!(f, "expected a sequence number, 0 to {MAX_SEQ}"),
            RecordError::Seq(bits) => {
                let max = (1u64 << (bits % 64)) - 1;
                write!(f, "expected a sequence number of {bits} bits, 0 to {max}")
            }
            RecordError::Time => write!(
                f,
                "expected the time in decimal seconds, such as 0.148 or 1700000000.000000001"
            ),
            RecordError::Bytes => write!(f, "expected the payload in bytes, 0 to {}", u32::MAX),
            RecordError::Fields => write!(f, "expected seq[,time_s[,bytes]]"),
            RecordError::TimeNowAndThen => {
                write!(f, "expected a time on every line or on none")
            }
        }
    }
}

impl std::error::Error for RecordError {}

/// Decimal seconds as exact nanoseconds; `None` for any other text, also for digits below a nanosecond.
///
/// ```
/// assert_eq!(inorder_metrics::parse_seconds("-1.5"), Some(-1_500_000_000));
/// assert_eq!(inorder_metrics::parse_seconds("0.0000000001"), None);
/// ```
pub fn parse_seconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    // "1." and ".5" are numbers; "." and "" are not.
    let some = digits.bytes().any(|b| b.is_ascii_digit());
    if !some || fraction.len() > 9 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let number = |s: &str| {
        if s.is_empty() {
            Ok(0)
        } else {
            s.parse::<i128>()
        }
    };
    let scale = 10i128.pow(9 - fraction.len() as u32);
    let seconds = number(whole).ok()?.checked_mul(1_000_000_000)?;
    let ns = seconds.checked_add(number(fraction).ok()? * scale)?;
    let negative = digits.len() < text.len();
    i64::try_from(if negative { -ns } else { ns }).ok()
}

/// Reads the lines of one text. Comments (`#` to the end of the line), blank lines and a header line before the first
/// record are skipped.
///
/// ```
/// use inorder_metrics::RecordParser;
///
/// let mut parser = RecordParser::new(16);
/// assert_eq!(parser.parse("seq,time_s,bytes"), Ok(None));
/// let record = parser.parse("5, 0.148, 100").unwrap().unwrap();
/// assert_eq!((record.seq, record.time_ns, record.bytes), (5, Some(148_000_000), Some(100)));
/// assert_eq!(
///     parser.parse("65536,0.2").unwrap_err().to_string(),
///     "expected a sequence number of 16 bits, 0 to 65535",
/// );
/// ```
#[derive(Clone, Debug)]
pub struct RecordParser {
    bits: u32,
    timed: Option<bool>,
    header_seen: bool,
}

impl RecordParser {
    /// For sequence numbers of `bits` width, 1 to 64.
    pub fn new(bits: u32) -> Self {
        RecordParser {
            bits,
            timed: None,
            header_seen: false,
        }
    }

    /// The record of a line, if it has one.
    pub fn parse(&mut self, line: &str) -> Result<Option<Record>, RecordError> {
        // Spreadsheets begin a file with a byte order mark.
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() || self.is_header(line) {
            return Ok(None);
        }
        let mut fields = line.split(',').map(str::trim);
        let seq = self.parse_seq(fields.next().unwrap_or(""))?;
        let time_ns = match fields.next() {
            None | Some("") => None,
            Some(text) => Some(parse_seconds(text).ok_or(RecordError::Time)?),
        };
        let bytes = match fields.next() {
            None | Some("") => None,
            Some(text) => Some(parse_number(text).ok_or(RecordError::Bytes)?),
        };
        if fields.next().is_some() {
            return Err(RecordError::Fields);
        }
        if *self.timed.get_or_insert(time_ns.is_some()) != time_ns.is_some() {
            return Err(RecordError::TimeNowAndThen);
        }
        Ok(Some(Record {
            seq,
            time_ns,
            bytes,
        }))
    }

    /// A first line is a header if its first field is a known name for sequence numbers; any other word is an error.
    fn is_header(&mut self, line: &str) -> bool {
        let field = line.split(',').next().unwrap_or("");
        let name = field.trim().trim_matches('"').to_ascii_lowercase();
        let named = name.contains("seq") || ["number", "packet", "index", "id"].contains(&&*name);
        let first = self.timed.is_none() && !self.header_seen;
        self.header_seen |= named;
        named && first
    }

    fn parse_seq(&self, text: &str) -> Result<u64, RecordError> {
        let max = MAX_SEQ.min(u64::MAX >> (64 - self.bits.clamp(1, 64)));
        let seq = parse_number::<u64>(text).filter(|seq| *seq <= max);
        seq.ok_or(RecordError::Seq(self.bits))
    }
}

/// Accepts digits only: the standard library's parser would accept a leading plus sign.
fn parse_number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines() {
        let mut parser = RecordParser::new(64);
        for skipped in ["", "  ", "# a comment", "\t# another", "number,seconds"] {
            assert_eq!(parser.parse(skipped), Ok(None), "{skipped:?}");
        }
        let record = parser.parse(" 7 # late").unwrap().unwrap();
        assert_eq!((record.seq, record.time_ns, record.bytes), (7, None, None));
        let sized = parser.parse("8,,1500\r").unwrap().unwrap();
        assert_eq!((sized.time_ns, sized.bytes), (None, Some(1500)));
        for (line, error) in [
            ("seq", RecordError::Seq(64)),
            ("-1", RecordError::Seq(64)),
            ("+1", RecordError::Seq(64)),
            ("9223372036854775808", RecordError::Seq(64)),
            ("1,now", RecordError::Time),
            ("1,,4294967296", RecordError::Bytes),
            ("1,,2,3", RecordError::Fields),
            ("1,0.5", RecordError::TimeNowAndThen),
        ] {
            assert_eq!(parser.parse(line), Err(error), "{line:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let first = RecordParser::new(64).parse("\u{feff}7").unwrap();
        assert_eq!(first.map(|record| record.seq), Some(7));
    }

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

        #[test]
        fn no_line_panics(line in "\\PC*", bits in 0u32..70) {
            let _ = RecordParser::new(bits).parse(&line).map_err(|e| e.to_string());
        }
    }
}
