//! Logs and captures of QUIC whose truth is known: `../shared/cases-turn3/quic`, each with its text and its JSON.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{self, inorder, json, stdout};

/// The folder with the cases; `None`, with the reason printed, where it is not.
fn cases() -> Option<PathBuf> {
    let shared = match std::env::var_os("INORDER_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    };
    let cases = shared.join("cases-turn3/quic");
    if !cases.is_dir() {
        common::skipped("there is no folder ../shared/cases-turn3/quic");
        return None;
    }
    Some(cases)
}

/// The path of a case.
fn case(name: &str) -> Option<String> {
    Some(cases()?.join(name).display().to_string())
}

/// All connections of these logs, and the text of the same command.
fn qlog(names: &[&str]) -> Option<(Value, String)> {
    let files: Option<Vec<String>> = names.iter().copied().map(case).collect();
    let files = files?;
    let all = |option: &'static str| {
        let mut arguments = vec!["qlog", option];
        arguments.extend(files.iter().map(String::as_str));
        inorder(&arguments)
    };
    let found = json(&all("--json"));
    let text = stdout(&all("--losses")).to_owned();
    Some((found["connections"].clone(), text))
}

#[test]
fn a_skipped_number_is_not_missing() {
    let both = ["skipped-number.server.sqlog", "skipped-number.client.sqlog"];
    let Some((found, text)) = qlog(&both) else {
        return;
    };
    let arrivals = &found[1]["arrivals"];
    assert_eq!(arrivals["missing"], 0);
    assert_eq!(arrivals["skipped"], 1);
    assert!(!text.contains("<="), "{text}");
    let Some((found, text)) = qlog(&both[1..]) else {
        return;
    };
    let arrivals = &found[0]["arrivals"];
    assert_eq!(arrivals["missing"], Value::Null);
    assert_eq!(arrivals["missing_at_most"], 1);
    assert!(text.contains("<=1"), "{text}");
}

#[test]
fn a_reduction_after_an_undone_one() {
    let Some((found, text)) = qlog(&["undone-reduction.sqlog"]) else {
        return;
    };
    assert_eq!(found[0]["reductions"], 2);
    assert_eq!(found[0]["needless_reductions"], 2);
    let said = "The server of 0102030405060708 declared 2 of 30 packets lost (6.7 %), although all of them were";
    assert!(text.starts_with(said), "{text}");
    // The rows of losses name connection and end.
    let rows = text.lines().filter(|line| {
        line.contains("0102030405060708") && line.contains("server") && line.contains("application")
    });
    assert_eq!(rows.count(), 2, "{text}");
}

#[test]
fn lost_acknowledgements_reduce_nothing() {
    let Some((found, _)) = qlog(&["ack-only-loss.sqlog"]) else {
        return;
    };
    assert_eq!(found[0]["reductions"], 1);
    assert_eq!(found[0]["declared_lost"], 4);
    let quinn = [
        "quinn-ackloss.client.sqlog.xz",
        "quinn-ackloss.server.sqlog.xz",
    ];
    let Some((found, _)) = qlog(&quinn) else {
        return;
    };
    // The window fell at 106, 470 and 929 ms.
    assert_eq!(found[0]["reductions"], 3);
}

#[test]
fn a_packet_dropped_as_a_duplicate_was_late() {
    let Some((found, text)) = qlog(&["dropped-late.client.sqlog"]) else {
        return;
    };
    let arrivals = &found[0]["arrivals"];
    assert_eq!(arrivals["reordered"], 1);
    assert_eq!(arrivals["missing"], 0);
    assert_eq!(arrivals["max_extent"], 4);
    assert!(!text.contains("<="), "{text}");
}

#[test]
fn logs_of_quinn_are_joined_and_their_losses_have_reasons() {
    let logs = [
        "quinn-quinn.two.sender.qlog.xz",
        "quinn-quinn.two.receiver.qlog.xz",
        "quinn-quinn.two.receiver.2.qlog.xz",
    ];
    let Some((found, text)) = qlog(&logs) else {
        return;
    };
    let ends = found.as_array().unwrap();
    assert_eq!(ends.len(), 4);
    for end in ends {
        assert_eq!(end["joined_by"], "numbers-and-times", "{end}");
        assert!(end["delivered"].is_u64());
    }
    let by_time: u64 = ends
        .iter()
        .map(|end| end["by_time_threshold"].as_u64().unwrap())
        .sum();
    assert!(by_time > 0, "{text}");
    // A threshold that follows from the order of arrival is printed as a bound.
    assert!(text.contains("<="), "{text}");
}

#[test]
fn of_two_copies_the_first_arrived() {
    let (Some(a), Some(b)) = (case("dup-a.pcap"), case("dup-b.pcap")) else {
        return;
    };
    let found = json(&inorder(&["diff", "--json", &a, &b]));
    let all = &found["directions"][0];
    assert_eq!(all["reordered"], 0, "{all}");
    assert_eq!(all["duplicated"], 1, "{all}");
    let text = inorder(&["diff", &a, &b]);
    assert!(stdout(&text).contains("A to B"));
}

#[test]
fn long_headers_without_the_fixed_bit_are_quic() {
    let Some(capture) = case("quinn-greased-long-header.pcap") else {
        return;
    };
    let output = inorder(&["analyze", &capture]);
    let text = stdout(&output).replace('\n', " ");
    let expected = "1 QUIC connection (version 1, 2 packets): its packet numbers are encrypted";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("`inorder qlog`"), "{text}");
    assert!(text.contains("2 of QUIC"), "{text}");
}
