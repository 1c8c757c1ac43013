//! One cell of a row, independent of the output format.

use std::borrow::Cow;

/// What a column reads from a row.
///
/// A value is what the row stores. The column's [`Kind`](crate::Kind) determines its meaning and how each output
/// writes it: a duration is stored in nanoseconds, printed as `12.4 ms` for people, and written as `12.4` in files
/// under a name that ends in `_ms`.
///
/// ```
/// use inorder_report::Value;
///
/// assert_eq!(Value::from(7_u64), Value::Count(7));
/// assert_eq!(Value::from(None::<f64>), Value::Absent);
/// assert_eq!(Value::from(vec![(1_u64, 0.5)]), Value::List(vec![
///     Value::List(vec![Value::Count(1), Value::Number(0.5)]),
/// ]));
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value<'r> {
    /// The row has no value: `null` in JSON and Parquet, empty in CSV, `-` for people.
    Absent,
    /// Yes or no.
    Flag(bool),
    /// A whole number that is never negative.
    Count(u64),
    /// A whole number.
    Integer(i64),
    /// A real number. One that is not finite is written as if it were absent.
    Number(f64),
    /// Text; it may come from outside, so every output escapes it.
    Text(Cow<'r, str>),
    /// Several values, in JSON only.
    List(Vec<Value<'r>>),
}

impl Value<'_> {
    /// The value as a real number; `None` if it is not a finite number.
    pub fn number(&self) -> Option<f64> {
        let number = match self {
            Value::Count(n) => *n as f64,
            Value::Integer(n) => *n as f64,
            Value::Number(x) => *x,
            _ => return None,
        };
        Some(number).filter(|x| x.is_finite())
    }

    /// The value as a whole number; `None` if it is not one or does not fit.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Count(n) => i64::try_from(*n).ok(),
            Value::Integer(n) => Some(*n),
            _ => None,
        }
    }

    /// The value as plain text: digits without thousands separators.
    pub(crate) fn plain(&self) -> Cow<'_, str> {
        match self {
            Value::Absent | Value::List(_) => Cow::Borrowed(""),
            Value::Flag(flag) => Cow::Owned(flag.to_string()),
            Value::Count(n) => Cow::Owned(n.to_string()),
            Value::Integer(n) => Cow::Owned(n.to_string()),
            Value::Number(x) => Cow::Owned(x.to_string()),
            Value::Text(text) => Cow::Borrowed(text),
        }
    }

    /// The value as a count; `None` if it is missing or negative.
    pub fn count(&self) -> Option<u64> {
        match self {
            Value::Count(n) => Some(*n),
            Value::Integer(n) => u64::try_from(*n).ok(),
            _ => None,
        }
    }
}

/// What becomes a value by itself.
macro_rules! values {
    ($($type:ty, $from:ident => $value:expr;)+) => {
        $(impl<'r> From<$type> for Value<'r> {
            fn from($from: $type) -> Self {
                $value
            }
        })+
    };
}

values! {
    bool, flag => Value::Flag(flag);
    u64, n => Value::Count(n);
    u32, n => Value::Count(n.into());
    usize, n => Value::Count(n as u64);
    i64, n => Value::Integer(n);
    f64, x => Value::Number(x);
    String, text => Value::Text(Cow::Owned(text));
    &'r str, text => Value::Text(Cow::Borrowed(text));
    &'r String, text => Value::Text(Cow::Borrowed(text));
}

impl<'r, T: Into<Value<'r>>> From<Option<T>> for Value<'r> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Absent, Into::into)
    }
}

impl<'r, T: Into<Value<'r>>> From<Vec<T>> for Value<'r> {
    fn from(values: Vec<T>) -> Self {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

impl<'r, A: Into<Value<'r>>, B: Into<Value<'r>>> From<(A, B)> for Value<'r> {
    fn from((a, b): (A, B)) -> Self {
        Value::List(vec![a.into(), b.into()])
    }
}
