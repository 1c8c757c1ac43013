//! The description of a column, independent of any row.

use crate::value::Value;

/// The description of a column: everything except how to read its value.
///
/// The constructors of [`Column`](crate::Column) create it. For a column whose name is known only at run time (an
/// axis of a grid), use [`Field::new`].
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Field<'c> {
    /// Name in CSV and Parquet: lower case, words joined by `_`, with the unit as suffix if there is one (`_ms`,
    /// `_ns`, `_bps`).
    pub name: &'c str,
    /// The inner JSON object that contains the member; empty for none. Dots separate levels: `order.upstream`.
    pub object: &'c str,
    /// Name in that object; the same as `name` by default.
    pub member: &'c str,
    /// Second heading shared with neighbouring columns in tables for people; empty for none.
    pub group: &'c str,
    /// Heading in tables for people.
    pub heading: &'c str,
    /// Unit of the values in files; empty for counts and for text.
    pub unit: &'c str,
    /// The meaning, as a sentence: the description in the JSON Schema and in help.
    pub about: &'c str,
    /// The kind of the values.
    pub kind: Kind,
    /// Whether tables for people show the column, and when it is dropped.
    pub rank: Rank,
    /// Which files have the column.
    pub files: Files,
    /// Whether a row may have no value.
    pub optional: bool,
}

/// The kind of a column's values, which determines how each output writes them.
///
/// | kind | value read | CSV and JSON | Parquet | people |
/// |---|---|---|---|---|
/// | `Text`, `Choice` | text | text | UTF-8 | text |
/// | `Flag` | flag | `true`, `false` | boolean | `yes`, `no` |
/// | `Count`, `Small` | count | digits | 64 or 32 bits, unsigned | `12,345` |
/// | `Integer` | integer | digits | 64 bits | `-12,345` |
/// | `Number` | number | shortest exact | double | as its [`Digits`] say |
/// | `Share` | number, 0 to 1 | the same | double | percent: `0.52` |
/// | `Rate` | count, bit/s | digits | 64 bits, unsigned | `12.4 Mbit/s` |
/// | `Bytes` | count | digits | 64 bits, unsigned | `12.4 MB` |
/// | `Instant` | integer, ns since the Unix epoch | digits | timestamp, UTC | digits |
/// | `Duration` | nanoseconds | milliseconds | double, milliseconds | `12.4 ms` |
/// | `List` | list | JSON array, not in CSV | - | - |
/// | `Map` | list of pairs | JSON object, not in CSV | - | - |
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any text.
    Text,
    /// One of a few names; the schema lists them.
    Choice(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A count.
    Count,
    /// A count that always fits 32 bits; only Parquet distinguishes it from `Count`.
    Small,
    /// A whole number that may be negative.
    Integer,
    /// A real number.
    Number(Digits),
    /// A share of a whole, 1 for all of it.
    Share,
    /// Bits per second.
    Rate,
    /// A size in bytes.
    Bytes,
    /// A time of day: nanoseconds since the Unix epoch. The name ends in `_ns`, which Parquet
    /// drops, since a timestamp knows its unit.
    Instant,
    /// Stored in nanoseconds, written in milliseconds; the name ends in `_ms`.
    Duration,
    /// A list of numbers or texts.
    List(Element),
    /// Values by name: a list of pairs of name and value. In JSON an object.
    Map(Element),
    /// Rows of their own inside the row (an array of objects, or one object): only in JSON.
    Nested,
}

impl Kind {
    /// The value in the unit of files: durations in milliseconds (exact to the nanosecond below 2^53 ns, 104 days).
    pub fn in_files<'r>(self, value: &Value<'r>) -> Value<'r> {
        match (self, value) {
            (Kind::Duration, Value::Count(ns)) => Value::Number(*ns as f64 / 1e6),
            (Kind::Duration, Value::Integer(ns)) => Value::Number(*ns as f64 / 1e6),
            (Kind::Duration, Value::Number(ns)) => Value::Number(ns / 1e6),
            _ => value.clone(),
        }
    }
}

/// The type of the elements of a [`Kind::List`] or of the values of a [`Kind::Map`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Element {
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Pairs of numbers: value and count of a distribution.
    Pair,
}

/// Number of digits of a real number in text for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Digits {
    /// This many digits after the decimal point.
    Fixed(u8),
    /// One digit after the decimal point below ten thousand, none above: for means of counts.
    Mean,
    /// Four significant digits.
    Short,
    /// Six digits after the decimal point; with an exponent below a thousandth and from ten million on.
    Fine,
}

/// Whether tables for people show a column, and when it is dropped on a narrow terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rank {
    /// Only in files.
    Hidden,
    /// In tables; greater numbers are dropped first, 0 is never dropped.
    Shown(u8),
}

/// Which files have a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Files {
    /// JSON, CSV and Parquet.
    All,
    /// JSON only: lists, and values that would repeat other columns.
    Json,
    /// JSON, and only if details are requested ([`Json::with_details`](crate::json::Json)).
    JsonDetails,
    /// CSV and Parquet only: in JSON the surrounding object contains the information.
    Flat,
    /// None; only tables for people show it.
    None,
}

impl Files {
    /// In CSV and Parquet.
    pub(crate) fn is_flat(self) -> bool {
        matches!(self, Files::All | Files::Flat)
    }

    /// In JSON, with or without details.
    pub fn is_json(self, details: bool) -> bool {
        match self {
            Files::All | Files::Json => true,
            Files::JsonDetails => details,
            Files::Flat | Files::None => false,
        }
    }
}

impl<'c> Field<'c> {
    /// A column for files; [`Field::shown`] adds it to tables.
    pub const fn new(name: &'c str, kind: Kind, about: &'c str) -> Self {
        Field {
            name,
            object: "",
            member: name,
            group: "",
            heading: name,
            unit: match kind {
                Kind::Duration => "ms",
                Kind::Instant => "ns since the Unix epoch",
                Kind::Rate => "bit/s",
                Kind::Bytes => "bytes",
                _ => "",
            },
            about,
            kind,
            rank: Rank::Hidden,
            files: match kind {
                Kind::List(_) | Kind::Map(_) | Kind::Nested => Files::Json,
                _ => Files::All,
            },
            optional: false,
        }
    }

    /// Shows the column in tables, under `heading`; `rank` decides when it is dropped.
    pub const fn shown(mut self, heading: &'c str, rank: u8) -> Self {
        self.heading = heading;
        self.rank = Rank::Shown(rank);
        self
    }

    /// Puts the member into the JSON object `object`.
    pub const fn inside(mut self, object: &'c str) -> Self {
        self.object = object;
        self
    }

    /// Path in JSON: `recoveries.total` is the member `total` of the object `recoveries`.
    pub(crate) const fn at(mut self, path: &'c str) -> Self {
        let bytes = path.as_bytes();
        let mut dot = bytes.len();
        while dot > 0 && bytes[dot - 1] != b'.' {
            dot -= 1;
        }
        let (objects, member) = path.split_at(dot);
        if dot > 0 {
            self.object = objects.split_at(dot - 1).0;
        }
        self.member = member;
        self
    }

    /// Heading and unit on one line: `throughput Mbit/s`.
    pub fn title(&self) -> String {
        match self.unit {
            "" => self.heading.to_owned(),
            unit => format!("{} {unit}", self.heading),
        }
    }
}
