//! Arrivals written as text: `seq[,time_s[,bytes]]`, or the columns that a header names.

use std::fmt;

use crate::bound::MAX_SEQ;
use crate::columns::{Columns, PLAIN, Unit, fields, parse_time};

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
    /// The time is not a decimal number of its unit that fits 64 bits of nanoseconds.
    Time(Unit),
    /// The field of bytes is not a number below 2^32.
    Bytes,
    /// More than three fields, and no header that names them.
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
            RecordError::Time(Unit::Seconds) => write!(
                f,
                "expected the time in decimal seconds, such as 0.148 or 1700000000.000000001"
            ),
            RecordError::Time(unit) => {
                write!(f, "expected the time in {unit}, to the nanosecond at most")
            }
            RecordError::Bytes => write!(f, "expected the payload in bytes, 0 to {}", u32::MAX),
            RecordError::Fields => write!(
                f,
                "expected seq[,time_s[,bytes]], or a header line that names the columns"
            ),
            RecordError::TimeNowAndThen => {
                write!(f, "expected a time on every line or on none")
            }
        }
    }
}

impl std::error::Error for RecordError {}

/// Reads the lines of one text. Comments (`#` to the end of the line) and blank lines are skipped. A header line before the
/// first record names the columns: those of the sequence number, the time with its unit and the bytes are found by their
/// names, all others are left out. Fields stand between commas, semicolons, tabs or spaces.
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
    columns: Option<Columns>,
}

impl RecordParser {
    /// For sequence numbers of `bits` width, 1 to 64.
    pub fn new(bits: u32) -> Self {
        RecordParser {
            bits,
            timed: None,
            columns: None,
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
        let columns = self.columns.unwrap_or(PLAIN);
        let (mut seq, mut time_ns, mut bytes) = (None, None, None);
        for (i, field) in fields(line).enumerate() {
            if i >= columns.at_most {
                return Err(RecordError::Fields);
            }
            if i == columns.seq {
                seq = Some(self.parse_seq(field)?);
            } else if field.is_empty() {
                continue;
            } else if let Some((_, unit)) = columns.time.filter(|(at, _)| *at == i) {
                time_ns = Some(parse_time(field, unit).ok_or(RecordError::Time(unit))?);
            } else if columns.bytes == Some(i) {
                bytes = Some(parse_number(field).ok_or(RecordError::Bytes)?);
            }
        }
        let seq = seq.ok_or(RecordError::Seq(self.bits))?;
        if *self.timed.get_or_insert(time_ns.is_some()) != time_ns.is_some() {
            return Err(RecordError::TimeNowAndThen);
        }
        Ok(Some(Record {
            seq,
            time_ns,
            bytes,
        }))
    }

    /// A first line is a header if a field of it is a known name for sequence numbers; any other word is an error.
    fn is_header(&mut self, line: &str) -> bool {
        if self.timed.is_some() || self.columns.is_some() {
            return false;
        }
        self.columns = Columns::named(line);
        self.columns.is_some()
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
        for skipped in [
            "",
            "  ",
            "# a comment",
            "\t# another",
            "number,seconds,bytes",
        ] {
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
            ("1,now", RecordError::Time(Unit::Seconds)),
            ("1,,4294967296", RecordError::Bytes),
            ("1,0.5", RecordError::TimeNowAndThen),
        ] {
            assert_eq!(parser.parse(line), Err(error), "{line:?}");
        }
    }

    /// What the lines of a text say: number, time and bytes of each.
    fn read(lines: &[&str]) -> Vec<(u64, Option<i64>, Option<u32>)> {
        let mut parser = RecordParser::new(64);
        let records = lines.iter().filter_map(|line| parser.parse(line).unwrap());
        records
            .map(|record| (record.seq, record.time_ns, record.bytes))
            .collect()
    }

    #[test]
    fn more_fields_than_three_need_a_header() {
        let without = RecordParser::new(64).parse("1,,2,3");
        assert_eq!(without, Err(RecordError::Fields));
        assert_eq!(
            read(&["seq,time_s,bytes,port", "1,,2,3"]),
            [(1, None, Some(2))]
        );
    }

    #[test]
    fn a_header_names_the_columns() {
        assert_eq!(read(&["seq,bytes", "7,1500"]), [(7, None, Some(1500))]);
        assert_eq!(
            read(&["time_ms,port,seq", "1.5,443,9", "2,443,8"]),
            [(9, Some(1_500_000), None), (8, Some(2_000_000), None)]
        );
        assert_eq!(
            read(&["frame.time_epoch\ttcp.seq\ttcp.len", "1700000000.5\t1\t20"]),
            [(1, Some(1_700_000_000_500_000_000), Some(20))]
        );
        assert_eq!(read(&["id;time_ns", "3;17"]), [(3, Some(17), None)]);
        // Times between packets say nothing of when they came.
        for between in ["frame.time_delta", "inter-arrival", "time_diff"] {
            let header = format!("seq,{between}");
            assert_eq!(read(&[&header, "3,0.5"]), [(3, None, None)], "{between}");
        }
        let mut parser = RecordParser::new(64);
        assert_eq!(parser.parse("seq,time_us"), Ok(None));
        assert_eq!(
            parser.parse("1,0.0001"),
            Err(RecordError::Time(Unit::Microseconds))
        );
        // A line that ends before the column of numbers has none.
        let mut parser = RecordParser::new(64);
        assert_eq!(parser.parse("time,seq"), Ok(None));
        assert_eq!(parser.parse("1"), Err(RecordError::Seq(64)));
    }

    #[test]
    fn fields_may_stand_between_other_separators() {
        for line in ["7,0.5,100", "7;0.5;100", "7\t0.5\t100", "7  0.5 100"] {
            assert_eq!(
                read(&[line]),
                [(7, Some(500_000_000), Some(100))],
                "{line:?}"
            );
        }
        let decimal_comma = RecordParser::new(64).parse("7;0,5");
        assert_eq!(decimal_comma, Err(RecordError::Time(Unit::Seconds)));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let first = RecordParser::new(64).parse("\u{feff}7").unwrap();
        assert_eq!(first.map(|record| record.seq), Some(7));
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*", bits in 0u32..70) {
            let _ = RecordParser::new(bits).parse(&line).map_err(|e| e.to_string());
        }
    }
}
