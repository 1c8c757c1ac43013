//! The numbers that a text may give: those of the JSON, their sums over flows, and the share of one in another.

use std::collections::{BTreeMap, BTreeSet};

use inorder_analysis::{Analysis, json};
use inorder_report::number::{bytes, count, percent, rate, time};
use serde_json::Value;

/// Shares that the headline may give: part and whole.
const SHARES: [(&str, &str); 8] = [
    ("late", "came"),
    ("outside_window", "came"),
    ("reneged", "came"),
    ("losses", "data_packets"),
    ("refused", "data_packets"),
    ("reordered", "received"),
    ("reordering.reordered", "reordering.received"),
    ("missing", "sent"),
];

/// Numbers by the path of the member; those of rows in a list are added up.
fn members(value: &Value, path: &str, all: &mut BTreeMap<String, f64>) {
    let Some(object) = value.as_object() else {
        return;
    };
    for (name, value) in object {
        let path = match path {
            "" => name.clone(),
            path => format!("{path}.{name}"),
        };
        match value {
            Value::Number(number) => *all.entry(path).or_default() += number.as_f64().unwrap(),
            Value::Object(_) => members(value, &path, all),
            Value::Array(rows) => rows.iter().for_each(|row| members(row, &path, all)),
            _ => {}
        }
    }
}

/// The members of one flow or stream, with what people call them by.
fn of(value: &Value) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    // What is listed by cause belongs to the cause.
    for cause in value["recoveries"]["by_cause"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let name = cause["cause"].as_str().unwrap();
        for number in ["recoveries", "timeouts", "expiries", "retransmissions"] {
            let of_cause = cause[number].as_f64().unwrap();
            all.insert(format!("{name} {number}"), of_cause);
            if name.ends_with("loss") {
                *all.entry(format!("by any loss {number}")).or_default() += of_cause;
            }
        }
    }
    let mut value = value.clone();
    for left_out in ["what_if", "by_rate"] {
        value.as_object_mut().unwrap().remove(left_out);
    }
    if let Some(recoveries) = value.get_mut("recoveries").and_then(Value::as_object_mut) {
        recoveries.remove("by_cause");
    }
    members(&value, "", &mut all);
    if let (Some(received), Some(refused)) = (all.get("reordering.received"), all.get("refused")) {
        let reneged = all.get("reneged").copied().unwrap_or_default();
        all.insert("came".to_owned(), received + refused - reneged);
    }
    if let (Some(late), Some(reordered)) = (all.get("late"), all.get("reordering.reordered")) {
        all.insert("discarded".to_owned(), late - reordered);
    }
    if let (Some(received), Some(missing)) = (all.get("received"), all.get("missing")) {
        all.insert("sent".to_owned(), received + missing);
    }
    if let (Some(first), Some(last)) = (value["first_ns"].as_i64(), value["last_ns"].as_i64()) {
        all.insert("duration_ns".to_owned(), (last - first) as f64);
    }
    all
}

/// The sum over some flows; durations are not added up, the greatest is taken.
fn sum(all: &[BTreeMap<String, f64>], without: Option<usize>) -> BTreeMap<String, f64> {
    let mut total = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        if Some(at) != without {
            for (name, number) in one {
                *total.entry(name.clone()).or_insert(0.0) += number;
            }
        }
    }
    total
}

/// The digits of all ways in which the numbers may be written.
fn written(all: &BTreeMap<String, f64>, texts: &mut BTreeSet<String>) {
    let mut add = |text: String| {
        let digits = text.split(' ').next().unwrap_or_default().to_owned();
        texts.insert(digits);
    };
    for (name, &number) in all {
        let whole = number.max(0.0) as u64;
        add(count(whole));
        add(bytes(whole));
        add(rate(whole));
        add(percent(number));
        if name.ends_with("_ms") {
            add(time((number * 1e6).round() as i64));
        }
        if name.ends_with("_ns") {
            add(time(number as i64));
        }
    }
    for (part, whole) in SHARES {
        if let (Some(part), Some(whole)) = (all.get(part), all.get(whole)) {
            add(percent(part / whole.max(*part).max(1.0)));
            add(count(whole.max(*part) as u64));
        }
    }
}

/// How long limits held a flow, alone and two together, and for which share of its life; its round trip from a capture between the
/// ends; and what was sent again in vain.
fn limits(flow: &Value, texts: &mut BTreeSet<String>) {
    let mut add = |text: String| {
        texts.insert(text.split(' ').next().unwrap_or_default().to_owned());
    };
    let number = |path: &str| flow.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
    let life = number("/limits/life_ms").max(1e-6);
    let shares = flow["limits"]["shares"].as_array();
    let held: Vec<f64> = shares
        .into_iter()
        .flatten()
        .filter_map(|share| share["ms"].as_f64())
        .collect();
    for (at, one) in held.iter().enumerate() {
        for ms in held
            .iter()
            .skip(at + 1)
            .map(|other| one + other)
            .chain([*one])
        {
            add(time((ms * 1e6).round() as i64));
            add(percent(ms / life));
            add(format!("{:.0}", 100.0 * ms / life));
        }
    }
    let way = number("/to_receiver_ms") + number("/to_sender_ms");
    add(time((way * 1e6).round() as i64));
    let discarded = number("/refused") - number("/outside_window") - number("/reneged");
    let vain =
        (number("/retransmissions/spurious") + discarded).min(number("/retransmissions/total"));
    add(count(vain.max(0.0) as u64));
}

/// The digits of every number that the JSON of `analysis` has or from which it can be derived.
pub(crate) fn derivable(analysis: &Analysis) -> BTreeSet<String> {
    let mut out = Vec::new();
    json::write(&mut out, std::slice::from_ref(analysis), false).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let mut texts = BTreeSet::new();
    let (mut ambiguous, mut file) = (0.0, BTreeMap::new());
    for list in [&document["flows"], &document["files"][0]["streams"]] {
        let rows: Vec<_> = list.as_array().unwrap().iter().map(of).collect();
        rows.iter().for_each(|row| written(row, &mut texts));
        written(&sum(&rows, None), &mut texts);
        (0..rows.len()).for_each(|at| written(&sum(&rows, Some(at)), &mut texts));
        texts.extend((0..=rows.len() as u64).map(count));
        for name in ["ambiguous", "reordering.ambiguous"] {
            ambiguous += sum(&rows, None).get(name).unwrap_or(&0.0);
        }
    }
    file.insert("ambiguous".to_owned(), ambiguous);
    for flow in document["flows"].as_array().unwrap() {
        limits(flow, &mut texts);
        // What a window without scaling cannot exceed.
        let unscaled = flow.pointer("/limits/window/unscaled");
        texts.extend((unscaled == Some(&Value::Bool(true))).then(|| count(u16::MAX.into())));
    }
    // A claim's own numbers prove nothing, but shares of the time, which are sums over many stretches.
    for claim in document["files"][0]["claims"].as_array().unwrap() {
        for bound in ["share", "share_at_most"] {
            let share = claim[bound].as_f64().unwrap_or(0.0);
            texts.insert(format!("{:.0}", 100.0 * share));
            texts.insert(percent(share));
        }
        // The number of recoveries of a cause that led into the time that is named.
        texts.extend(
            claim["recoveries"]
                .as_u64()
                .filter(|_| claim["kind"] == "held")
                .map(count),
        );
    }
    let mut capture = document["files"][0].clone();
    capture.as_object_mut().unwrap().remove("claims");
    members(&capture, "", &mut file);
    written(&file, &mut texts);
    texts
}

/// The numbers of a text; names of flows and streams, which contain numbers, are left out.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let text = text.replace(" (overlay ", " (in UDP port ");
    let names = text.split(" (in UDP port ").enumerate();
    let plain = names.filter_map(|(i, part)| match i {
        0 => Some(part),
        _ => Some(part.split_once(')')?.1),
    });
    let words = plain
        .flat_map(str::split_whitespace)
        .filter(|word| !word.contains("->") && !word.starts_with("0x"));
    let digits = |word: &str| {
        let trimmed = word.trim_matches(|c: char| !c.is_ascii_digit());
        let number = trimmed
            .chars()
            .all(|c| c.is_ascii_digit() || c == ',' || c == '.');
        (number && !trimmed.is_empty()).then(|| trimmed.to_owned())
    };
    words.filter_map(digits).collect()
}
