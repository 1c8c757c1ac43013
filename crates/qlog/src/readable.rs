//! Whether what is read of an event has the types that the drafts and the programs give it.

use serde_json::Value;

use crate::ack::range;
use crate::event::Event;
use crate::value::{number, whole};

/// False if a member that is read has a type that no draft and no program gives it. What it says is left out, which must be reported.
pub(crate) fn is_readable(event: &Event) -> bool {
    let data = &event.data;
    let of_kind = match event.kind() {
        "packet_sent" | "packet_received" | "packet_dropped" | "packet_lost" => packet(data),
        "metrics_updated" | "recovery_metrics_updated" | "metric_update" => metrics(data),
        _ => true,
    };
    of_kind && !event.has_odd_time
}

fn packet(data: &Value) -> bool {
    let header = data.get("header").unwrap_or(&Value::Null);
    let both = [data, header];
    let of_both = |name: &str, fits: fn(&Value) -> bool| {
        both.iter().all(|members| absent_or(members, name, fits))
    };
    let raw = data.get("raw").unwrap_or(&Value::Null);
    data.is_object()
        && (header.is_null() || header.is_object())
        && (raw.is_null() || raw.is_object())
        && of_both("packet_type", Value::is_string)
        && of_both("packet_number", |value| whole(value).is_some())
        && of_both("packet_size", |value| number(value).is_some())
        && absent_or(raw, "length", |value| number(value).is_some())
        && absent_or(data, "frames", |frames| {
            frames.as_array().is_some_and(|all| all.iter().all(frame))
        })
}

fn frame(frame: &Value) -> bool {
    let is_range = |value: &Value| range(value).is_some_and(|(first, last)| first <= last);
    frame.is_object()
        && absent_or(frame, "frame_type", Value::is_string)
        && absent_or(frame, "acked_ranges", |ranges| {
            ranges
                .as_array()
                .is_some_and(|all| all.iter().all(is_range))
        })
}

fn metrics(data: &Value) -> bool {
    const NUMBERS: [&str; 6] = [
        "smoothed_rtt",
        "latest_rtt",
        "min_rtt",
        "congestion_window",
        "cwnd",
        "bytes_in_flight",
    ];
    let is_number = |name: &&str| absent_or(data, name, |value| number(value).is_some());
    data.is_object() && NUMBERS.iter().all(is_number)
}

/// Whether the member is not there, null, or as wanted.
fn absent_or(members: &Value, name: &str, fits: impl Fn(&Value) -> bool) -> bool {
    members
        .get(name)
        .is_none_or(|value| value.is_null() || fits(value))
}
