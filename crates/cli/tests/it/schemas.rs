//! The JSON Schemas under `docs/schemas` are those that the verbs print, and the JSON of the verbs conforms to them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Folder, inorder, json, stdout};

const SCENARIO: &str = r#"
[run]
duration = "200 ms"
repetitions = 2
[[flow]]
size = "100 kB"
[[forward]]
name = "line"
kind = "delay"
delay = "5 ms"
[[reverse]]
kind = "delay"
delay = "5 ms"
[grid]
"forward.line.jitter" = ["0 ms", "2 ms"]
"#;

const NET: &str = "net machine\nplace up 1\nplace down\ntransition breaks exponential rate 2\n in up\n \
    out down\ntransition mends exponential rate 2\n in down\n out up\n";

const LOG: &str = r#"{"qlog_version":"0.3","traces":[{"events":[
{"time":1,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1}}},
{"time":9,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":1}}}]}]}"#;

/// The verbs that print a schema, each with options that make it print JSON.
fn verbs(folder: &Folder) -> Vec<Vec<String>> {
    let scenario = folder.file("s.toml", SCENARIO.as_bytes());
    let net = folder.file("m.net", NET.as_bytes());
    let numbers = folder.file("numbers.txt", b"1\n2\n4\n3\n5\n");
    let log = folder.file("log.qlog", LOG.as_bytes());
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/demo/demo");
    let lines = [
        format!("simulate --json {scenario}"),
        "netproc --json --packets=2000".to_owned(),
        format!("petri --json --exact --simulate --time=100 --invariants --reachability=9 {net}"),
        format!("metrics --json {numbers}"),
        "reproduce --json periodic figures-10-11 --quick".to_owned(),
        format!("compare --json {demo}-sender.pcap {demo}-receiver.pcap"),
        format!("diff --json --packets {demo}-sender.pcap {demo}-receiver.pcap"),
        format!("qlog --json {log}"),
    ];
    let words = |line: String| line.split(' ').map(str::to_owned).collect();
    lines.into_iter().map(words).collect()
}

fn schema_of(verb: &str) -> Value {
    json(&inorder(&[verb, "--schema"]))
}

#[test]
fn documented_schemas_are_those_the_verbs_print() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas"));
    for verb in [
        "simulate",
        "netproc",
        "petri",
        "metrics",
        "sort",
        "reproduce",
        "compare",
        "diff",
        "qlog",
        "probe",
        "emulate",
        "live",
        "watch",
    ] {
        let printed = inorder(&[verb, "--schema"]);
        let known =
            fs::read_to_string(folder.join(format!("{verb}.schema.json"))).unwrap_or_default();
        assert!(
            stdout(&printed) == known,
            "docs/schemas/{verb}.schema.json is stale; regenerate it with\n  \
             cargo run -p inorder -- {verb} --schema > docs/schemas/{verb}.schema.json"
        );
    }
}

#[test]
fn the_schema_of_cells_is_documented_and_that_of_coloured_and_of_plain_nets() {
    let folder = Folder::new("cells");
    let coloured = "coloured net c\nparameter n = 1 from 1 to 9\nrecord job\n  came: time\nplace source n\n\
        sink out: job\ntransition t\n  in source\n  delay 1 us\n  out source\n  out out: {came = now}\n\
        run 10 at out\nmeasure rate = rate(out) in MHz\n";
    let coloured = folder.file("c.net", coloured.as_bytes());
    let plain = folder.file("p.net", format!("parameter n 1\n{NET}").as_bytes());
    let schema = inorder(&["petri", "--schema", &coloured]);
    let documented = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/schemas/petri-cells.schema.json"
    );
    assert!(
        stdout(&schema) == fs::read_to_string(documented).unwrap_or_default(),
        "docs/schemas/petri-cells.schema.json is stale; regenerate it with\n  \
         cargo run -p inorder -- petri --schema crates/netproc/nets/forwarder.net > docs/schemas/petri-cells.schema.json"
    );
    let schema = json(&schema);
    for command in [
        ["petri", "--json", "--set=n=1,2", &coloured, "--no-progress"],
        ["petri", "--json", "--set=n=1,2", "--exact", &plain],
        ["petri", "--json", "--at=0,1", "--replications=9", &plain],
    ] {
        let mut broken = Vec::new();
        check(&json(&inorder(&command)), &schema, "cells", &mut broken);
        assert!(broken.is_empty(), "{command:?} {broken:#?}");
    }
}

#[test]
fn json_of_the_verbs_conforms_to_its_schema() {
    let folder = Folder::new("schemas");
    for command in verbs(&folder) {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let printed = json(&inorder(&words));
        let mut broken = Vec::new();
        check(&printed, &schema_of(words[0]), words[0], &mut broken);
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

/// Collects the places where `value` breaks `schema`. Supports the keywords that the verbs use.
fn check(value: &Value, schema: &Value, at: &str, broken: &mut Vec<String>) {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "type" => rule.as_array().map_or_else(
                || is_a(value, rule),
                |any| any.iter().any(|one| is_a(value, one)),
            ),
            "const" => value == rule,
            "enum" => rule.as_array().is_some_and(|any| any.contains(value)),
            "minimum" => value
                .as_f64()
                .is_none_or(|v| v >= rule.as_f64().unwrap_or(0.0)),
            "required" => value.as_object().is_none_or(|object| {
                let mut names = rule.as_array().into_iter().flatten();
                names.all(|name| name.as_str().is_some_and(|name| object.contains_key(name)))
            }),
            "properties" | "items" => true,
            "additionalProperties" => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                rule.is_object() || value.as_object().is_none_or(|o| o.keys().all(known))
            }
            other => panic!("{other}: this check does not know the keyword"),
        };
        if !holds {
            broken.push(format!("{at}: {keyword} {rule} broken by {value}"));
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let own = schema["properties"].get(name);
        let inner = own.unwrap_or(&schema["additionalProperties"]);
        if inner.is_object() {
            check(member, inner, &format!("{at}/{name}"), broken);
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            check(item, &schema["items"], &format!("{at}/{number}"), broken);
        }
    }
}

fn is_a(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("number") => value.is_number(),
        _ => false,
    }
}
