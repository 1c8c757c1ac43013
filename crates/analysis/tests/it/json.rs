//! The JSON output keeps to its schema and to the names that other programs rely on.

use inorder_analysis::json;
use serde_json::Value;

use crate::sample;
use crate::schema;

fn output(events: bool) -> Value {
    let analyses = [
        sample::analysis("a \"quoted\"\n.pcap", 3),
        sample::analysis("b.pcap", 0),
    ];
    let mut out = Vec::new();
    json::write(&mut out, &analyses, events).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn the_output_obeys_its_schema() {
    for events in [false, true] {
        schema::check(&output(events));
    }
}

#[test]
fn the_schema_file_matches_the_columns() {
    let mut schema = Vec::new();
    json::write_schema(&mut schema).unwrap();
    assert!(
        schema == schema::SCHEMA.as_bytes(),
        "docs/schemas/analyze.schema.json is out of date; regenerate it with\n  \
         cargo run -p inorder -- analyze --schema > docs/schemas/analyze.schema.json"
    );
}

#[test]
fn the_schema_rejects_wrong_documents() {
    let good = output(true);
    for (path, wrong) in [
        ("/flows/0/vantage", Value::from("nowhere")),
        ("/flows/0/losses", Value::from(-1)),
        ("/flows/0/reordering/reordered_ratio", Value::from("0.1")),
        ("/flows/0/events/0/at_ns", Value::from(0.5)),
        ("/schema", Value::from("other/1")),
        ("/flows/0/avoidance", Value::Null),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(path).unwrap() = wrong;
        assert!(schema::errors(&bad).len() == 1, "{path}");
    }
    let mut bad = good.clone();
    bad["flows"][0]
        .as_object_mut()
        .unwrap()
        .remove("recoveries");
    bad["files"][0]["surplus"] = Value::from(1);
    assert_eq!(schema::errors(&bad).len(), 2);
}

#[test]
fn names_used_by_other_programs_are_present() {
    let value = output(true);
    assert_eq!(value["schema"], "inorder-analyze/1");
    assert_eq!(value["files"].as_array().unwrap().len(), 2);
    assert_eq!(value["flows"].as_array().unwrap().len(), 7);
    let flow = &value["flows"][0];
    assert_eq!(flow["file"], "a \"quoted\"\n.pcap");
    assert_eq!(flow["flow"], "10.1.0.2:43210->192.0.2.17:5001");
    assert_eq!(flow["vantage"], "receiver");
    for name in ["total", "needed", "spurious", "ambiguous"] {
        assert!(flow["retransmissions"][name].is_u64(), "{name}");
    }
    for name in ["reordered", "max_extent"] {
        assert!(flow["reordering"][name].is_u64(), "{name}");
    }
    for name in [
        "reordered_ratio",
        "mean_extent",
        "max_late_ms",
        "mean_displacement",
        "entropy",
    ] {
        assert!(flow["reordering"][name].is_f64(), "{name}");
    }
    assert!(flow["recoveries"]["spurious"].is_u64());
    let event = &flow["events"][0];
    assert_eq!(event["flow"], flow["flow"]);
    assert_eq!(
        event["linux_metric"].as_u64(),
        event["extent"].as_u64().map(|e| e + 1)
    );
    assert_eq!(output(false)["flows"][0].get("events"), None);
}

#[test]
fn numbers_are_exact_after_parsing() {
    let analyses = [sample::analysis("a.pcap", 0)];
    let value = output(true);
    let flow = &analyses[0].flows[0];
    for (event, json) in flow
        .records
        .events
        .iter()
        .zip(value["flows"][0]["events"].as_array().unwrap())
    {
        assert_eq!(json["at_ns"].as_i64(), Some(event.at_ns));
        let late_ns = json["late_ms"].as_f64().map(|ms| (ms * 1e6).round() as i64);
        assert_eq!(late_ns, event.late_ns);
    }
    let extents: u64 = value["flows"][0]["reordering"]["extents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bucket| bucket[1].as_u64().unwrap())
        .sum();
    assert_eq!(extents, flow.reordering.reordered);
}
