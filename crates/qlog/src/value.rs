//! Numbers as the logs write them.

use serde_json::Value;

/// A number, or one in quotes: some logs write large ones so.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A whole number, or one in quotes.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    }
}

/// The member of an event, as a number.
pub(crate) fn member(data: &Value, name: &str) -> Option<f64> {
    data.get(name).and_then(number)
}
