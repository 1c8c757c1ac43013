//! Acknowledged ranges of a received packet.

use serde_json::Value;

use crate::value::whole;

/// First and last number of each range that the packet's frames acknowledge; drafts and programs write them as `[1, 3]`,
/// `["1", "3"]`, `[5]`, or `5`. Ranges that make no sense are left out.
pub(crate) fn ranges(data: &Value) -> Vec<(u64, u64)> {
    let frames = data.get("frames").and_then(Value::as_array);
    let acks = frames.into_iter().flatten().filter(|frame| {
        let kind = frame.get("frame_type").and_then(Value::as_str);
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("ack") || kind.starts_with("ack_"))
    });
    acks.filter_map(|frame| frame.get("acked_ranges")?.as_array())
        .flatten()
        .filter_map(range)
        .filter(|(first, last)| first <= last)
        .collect()
}

/// True if the packet has frames and all of them acknowledge or close: it is not in flight (RFC 9002 section 2).
pub(crate) fn only_acknowledges(data: &Value) -> bool {
    let frames = data.get("frames").and_then(Value::as_array);
    frames.is_some_and(|frames| {
        !frames.is_empty()
            && frames.iter().all(|frame| {
                let kind = frame.get("frame_type").and_then(Value::as_str);
                kind.is_some_and(|kind| kind.starts_with("ack") || kind == "connection_close")
            })
    })
}

/// First and last number of a range, in whatever order they stand.
pub(crate) fn range(value: &Value) -> Option<(u64, u64)> {
    match value {
        Value::Array(ends) => match ends.as_slice() {
            [one] => Some((whole(one)?, whole(one)?)),
            [first, last] => Some((whole(first)?, whole(last)?)),
            _ => None,
        },
        // Some write an object for each range.
        Value::Object(ends) => Some((whole(ends.get("first")?)?, whole(ends.get("last")?)?)),
        one => Some((whole(one)?, whole(one)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_every_spelling() {
        let data = serde_json::json!({"frames": [
            {"frame_type": "ack", "acked_ranges": [[1, 3], ["7", "9"], [12], 15, [9, 4], [1, 2, 3]]},
            {"frame_type": "padding"},
        ]});
        assert_eq!(ranges(&data), [(1, 3), (7, 9), (12, 12), (15, 15)]);
        assert_eq!(ranges(&Value::Null), []);
    }
}
