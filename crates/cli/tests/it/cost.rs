//! What reordering cost, on a pair of simulated transfers that differ by it alone. (Pairs of real Linux are in
//! `testdata/lab/cost.toml`; this one needs no kernel.)

use crate::common::{Folder, code, inorder, json, stderr};

/// 4 MB over 20 Mbit/s with a round trip of 30 ms and a fixed threshold of three duplicate ACKs.
const SCENARIO: &str = r#"
[run]
duration = "8 s"
seed = 1

[[flow]]
name = "bulk"
size = "4 MB"
sender = { profile = "linux-6", loss_detection = "static" }

[[forward]]
kind = "link"
rate = "20 Mbit/s"
queue = "2000 packets"

[[forward]]
kind = "delay"
delay = "15 ms"

[[forward]]
name = "some"
kind = "late"
probability = "0 %"
delay = "12 ms"

[[reverse]]
kind = "link"
rate = "1 Gbit/s"
delay = "15 ms"
"#;

/// Simulates the transfer with this share of late packets; returns what `analyze` says of the sender's capture.
fn analysed(folder: &Folder, late: &str, seed: u32) -> serde_json::Value {
    let scenario = folder.file("pair.toml", SCENARIO.as_bytes());
    let captures = folder.path(&format!("{}-{seed}", late.trim_end_matches(" %")));
    let (share, seed) = (format!("forward.some.probability={late}"), seed.to_string());
    let run = inorder(&[
        "simulate", &scenario, "--set", &share, "--seed", &seed, "--pcap", &captures,
    ]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let capture = format!("{captures}/pair.snd.pcapng");
    let said = inorder(&["analyze", "--json=-", &capture]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    json(&said)
}

fn cost(of: &serde_json::Value) -> &serde_json::Value {
    &of["flows"][0]["cost"]
}

/// The interval is one of nine in ten (`testdata/lab/cost-drawn` measures it over pairs of every kind), and the estimate itself
/// comes within a quarter of the truth as often.
#[test]
fn the_cost_is_that_of_the_same_transfer_without_late_packets() {
    const SEEDS: std::ops::RangeInclusive<u32> = 1..=10;
    let folder = Folder::new("cost");
    let goodput = |of: &serde_json::Value| cost(of)["goodput_bps"].as_f64().unwrap();
    let (mut near, mut inside, mut seen) = (0, 0, String::new());
    for seed in SEEDS {
        let plain = analysed(&folder, "0 %", seed);
        let late = analysed(&folder, "20 %", seed);
        let truth = 1.0 - goodput(&late) / goodput(&plain);
        assert!(truth > 0.15, "{truth}");
        let lost = &cost(&late)["lost"];
        let share = |name: &str| lost[name].as_f64().unwrap();
        near += u32::from((share("share") / truth - 1.0).abs() < 0.25);
        inside += u32::from((share("low")..share("high")).contains(&truth));
        seen += &format!("{lost}, in truth {truth}\n");
        assert_eq!(cost(&plain)["lost"]["share"], 0.0);
    }
    assert!(near >= 8, "{near} of 10 near the truth:\n{seen}");
    assert!(inside >= 8, "{inside} of 10 hold the truth:\n{seen}");
}

#[test]
fn what_would_help_is_named_where_reordering_costs_something_and_nowhere_else() {
    let folder = Folder::new("cure");
    let (plain, late) = (analysed(&folder, "0 %", 1), analysed(&folder, "20 %", 1));
    let first = &late["files"][0]["actions"][0];
    assert_eq!(first["kind"], "wait-longer");
    let actions = plain["files"][0]["actions"].as_array().unwrap();
    let about_order = ["undo", "wait-longer", "sort", "one-way", "sack"];
    let kinds = || actions.iter().filter_map(|action| action["kind"].as_str());
    assert!(
        kinds().all(|kind| !about_order.contains(&kind)),
        "{actions:?}"
    );
}

/// A sorter that holds packets for itself needs no coalescing of interrupts, and its longest hold is named.
#[test]
fn the_sorter_proposed_at_a_receiver_comes_with_its_longest_hold() {
    let capture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/demo/demo-receiver.pcap"
    );
    let output = inorder(&["analyze", "--json", capture]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let actions = &json(&output)["files"][0]["actions"];
    let sort = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|a| a["kind"] == "sort")
        .unwrap();
    let advice = sort["advice"].as_str().unwrap();
    assert!(
        advice.contains("resequence") && !advice.contains(" 0 "),
        "{advice}"
    );
    assert_eq!(sort["commands"], serde_json::json!([]), "{sort}");
}
