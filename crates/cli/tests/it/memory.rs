//! Logs, numbers and captures that are larger than the memory: what comes first is used, and it is said that something is left out.

use crate::common::{self, Folder, code, inorder, inorder_fed, json, says, stderr};

/// The least memory that can be set.
const LEAST: [&str; 2] = ["--memory", "16M"];

#[test]
fn of_a_log_that_is_larger_than_the_memory_the_first_packets_are_used() {
    let mut log =
        r#"{"qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#.to_owned();
    for n in 0..120_000 {
        log += &format!(
            r#"{{"time":{n},"name":"transport:packet_sent","data":{{"header":{{"packet_number":{n}}}}}}}"#
        );
    }
    let run = inorder_fed(
        &[&["qlog", "--json", "-"][..], &LEAST].concat(),
        log.as_bytes(),
    );
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let found = json(&run);
    let sent = found["connections"][0]["sent_packets"].as_u64().unwrap();
    assert!((30_000..120_000).contains(&sent), "{sent}");
    says(found["warnings"].to_string(), "--memory");
    let whole = json(&inorder_fed(&["qlog", "--json", "-"], log.as_bytes()));
    assert_eq!(whole["connections"][0]["sent_packets"], 120_000);
}

#[test]
fn of_very_many_late_packets_the_first_ones_are_listed() {
    let numbers: Vec<String> = (0..150_000).rev().map(|n| n.to_string()).collect();
    let run = inorder_fed(
        &[&["metrics", "--json", "--start", "0"][..], &LEAST].concat(),
        numbers.join("\n").as_bytes(),
    );
    assert_eq!(code(&run), 0);
    let found = json(&run);
    let listed = found["extents"].as_array().unwrap().len() as u64;
    assert!(listed > 100_000, "{listed}");
    assert_eq!(found["reordered"].as_u64(), Some(149_999));
    let said = stderr(&run).replace(',', "");
    says(said, &format!("the last {} that", 149_999 - listed));
}

#[test]
fn of_captures_that_are_larger_than_the_memory_the_first_packets_are_compared() {
    /// UDP between two hosts, with a number in it.
    fn packet(n: u32) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend([8, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0]);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2, 0, 9, 0, 9, 0, 12, 0, 0]);
        frame.extend(n.to_be_bytes());
        frame
    }
    let folder = Folder::new("memory");
    let capture = common::pcap(1, 1_000, (0..30_000).map(packet));
    let [a, b] = ["a.pcap", "b.pcap"].map(|name| folder.file(name, &capture));
    let run = inorder(&[&["diff", "--json", &a, &b][..], &LEAST].concat());
    let found = json(&run);
    assert_eq!(code(&run), 0);
    let compared = found["directions"][0]["received"].as_u64().unwrap();
    assert!((20_000..25_000).contains(&compared), "{compared}");
    let said = found["warnings"].to_string().replace(',', "");
    for name in ["a.pcap", "b.pcap"] {
        says(
            &said,
            &format!("{name} only the first {compared} packets were compared"),
        );
    }
}
