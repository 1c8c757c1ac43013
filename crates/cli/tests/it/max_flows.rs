//! What `--max-flows` leaves as it was: verdict, totals, thresholds and comparisons are of all flows.

use std::fs;

use serde_json::Value;

use crate::common::says;
use crate::common::{Folder, code, complaint, inorder, json, stderr, stdout};

const SENDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../testdata/demo/demo-sender.pcap"
);
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// Where the ports begin in a record: behind Ethernet and IPv4.
const PORTS: usize = RECORD_HEADER + 14 + 20;
/// Connections of the capture below.
const CONNECTIONS: usize = 14;
/// The client of the recorded connection, and of the first one of the capture below.
const CLIENT: u16 = 47_138;

/// The recorded connection as several at once, from other ports, each with more packets than the one before.
fn crowd() -> Vec<u8> {
    let recorded = fs::read(SENDER).expect("the capture that ships with the project");
    let mut out = recorded[..FILE_HEADER].to_vec();
    let mut rest = &recorded[FILE_HEADER..];
    for number in 0..200 * CONNECTIONS {
        let captured = u32::from_le_bytes(rest[8..12].try_into().expect("four bytes"));
        let (record, next) = rest.split_at(RECORD_HEADER + captured as usize);
        rest = next;
        for copy in number / 200..CONNECTIONS {
            let mut record = record.to_vec();
            for port in [PORTS, PORTS + 2] {
                if record[port..port + 2] == CLIENT.to_be_bytes() {
                    record[port..port + 2].copy_from_slice(&(CLIENT + copy as u16).to_be_bytes());
                }
            }
            out.extend(record);
        }
    }
    out
}

fn analyzed(options: &[&str], file: &str) -> Value {
    json(&inorder(
        &[&["analyze", "--json"], options, &[file]].concat(),
    ))
}

fn summed(document: &Value) -> u64 {
    let summed = &document["files"][0]["summed"]["tcp_flows"];
    summed.as_u64().expect("a count")
}

#[test]
fn what_is_said_of_the_capture_does_not_depend_on_the_number_of_flows_kept() {
    let folder = Folder::new("max-flows");
    let file = folder.path("crowd.pcap");
    fs::write(&file, crowd()).unwrap();
    let whole = analyzed(&[], &file);
    assert_eq!(whole["flows"].as_array().unwrap().len(), CONNECTIONS);
    assert_eq!(summed(&whole), 0);
    let (before, after) = (folder.path("whole.json"), folder.path("part.json"));
    fs::write(&before, whole.to_string()).unwrap();
    let judged = |options: &[&str]| {
        let bounds = "late=0%,lost=0,spurious=0%,extent=0,late_ms=0,rate_bps=1e12,min_rtt_ms=0";
        let options = [&["analyze", "-q", "--threshold", bounds], options, &[&file]].concat();
        let output = inorder(&options);
        assert_eq!(code(&output), 4);
        stderr(&output).to_owned()
    };
    for most in ["1", "10"] {
        let bounded = ["--max-flows", most];
        let part = analyzed(&bounded, &file);
        assert_eq!(part["flows"].as_array().unwrap().len().to_string(), most);
        assert_eq!(
            summed(&part),
            CONNECTIONS as u64 - most.parse::<u64>().unwrap()
        );
        assert_eq!(part["files"][0]["headline"], whole["files"][0]["headline"]);
        for threads in ["1", "2", "3"] {
            let again = analyzed(&[&bounded[..], &["--threads", threads]].concat(), &file);
            assert!(again == part, "{threads} threads");
        }
        assert_eq!(judged(&bounded), judged(&[]));
        fs::write(&after, part.to_string()).unwrap();
        let compared = json(&inorder(&["compare", "--json", &before, &after]));
        let changes = compared["changes"].as_array().expect("changes");
        assert!(!changes.is_empty());
        for change in changes {
            let of = |side: &str| change[side].as_f64();
            assert_eq!(change["before_units"], change["after_units"], "{change}");
            let (Some(before), Some(after)) = (of("before"), of("after")) else {
                panic!("no value in {change}");
            };
            assert!((before - after).abs() <= 1e-6 * before, "{change}");
        }
    }
}

#[test]
fn flows_are_selected_before_others_are_summed() {
    let folder = Folder::new("max-flows-selected");
    let file = folder.path("crowd.pcap");
    fs::write(&file, crowd()).unwrap();
    for selection in [["--flow", ":47138->"], ["--filter", "port 47138"]] {
        let document = analyzed(&[&selection[..], &["--max-flows", "1"]].concat(), &file);
        assert_eq!(
            document["flows"][0]["flow"],
            "10.0.1.1:47138->10.0.3.2:5001"
        );
        assert_eq!(summed(&document), 0);
    }
    let nothing = complaint(&["analyze", "--max-flows", "1", "--flow", "zzz", &file], 1);
    assert!(nothing.contains("there are 10.0.1.1:47138->"), "{nothing}");
    assert!(nothing.contains("and 11 more"), "{nothing}");
    let none = analyzed(&["--filter", "port 1"], &file);
    assert_eq!(
        (summed(&none), none["flows"].as_array().unwrap().len()),
        (0, 0)
    );
}

#[test]
fn it_is_said_that_flows_are_only_summed() {
    let folder = Folder::new("max-flows-said");
    let file = folder.path("crowd.pcap");
    fs::write(&file, crowd()).unwrap();
    let text = inorder(&["analyze", "--max-flows", "10", &file]);
    says(stdout(&text), "4 others only summed");
    let rows = inorder(&["analyze", "--csv", "--max-flows", "10", &file]);
    assert_eq!(stdout(&rows).lines().count(), 11);
    assert!(stderr(&rows).contains("4 flows"), "{}", stderr(&rows));
    let bound = ["--threshold", "flow.late=99%", "--max-flows", "10"];
    let judged = inorder(&[&["analyze", "-q"], &bound[..], &[&file]].concat());
    assert_eq!(code(&judged), 0);
    let said = stderr(&judged);
    says(said, "flow.late=99% was not applied to 4 flows");
    complaint(&["analyze", "--max-flows", "0", SENDER], 2);
    let both = ["analyze", "--max-flows", "5", "--peer", SENDER, SENDER];
    complaint(&both, 2);
}

/// Connections of eight packets, headers only (raw IPv4), all open at once. In the third packet of data of every
/// thousandth one, the second is missing and comes last.
fn open_connections(count: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101];
    header
        .iter()
        .for_each(|word| out.extend(word.to_le_bytes()));
    let mut ns: u32 = 0;
    for n in 0..count {
        let late = n % 1_000 == 7;
        let order: [u32; 5] = if late {
            [0, 2, 3, 4, 1]
        } else {
            [0, 1, 2, 3, 4]
        };
        let data = order.map(|nth| (true, 1 + 1_000 * nth, 1, 16, 1_000));
        let opening = [
            (true, 0, 0, 2, 0),
            (false, 0, 1, 18, 0),
            (true, 1, 1, 16, 0),
        ];
        for (forth, seq, ack, flags, payload) in opening.into_iter().chain(data) {
            ns += 10_000;
            let record = [
                ns / 1_000_000_000,
                ns % 1_000_000_000 / 1_000,
                40,
                40 + payload,
            ];
            record
                .iter()
                .for_each(|word| out.extend(word.to_le_bytes()));
            let client = (0x0a00_0000 + n / 50_000, 1_024 + (n % 50_000) as u16);
            let server = (0xc000_0201_u32, 443_u16);
            let (from, to) = if forth {
                (client, server)
            } else {
                (server, client)
            };
            out.extend([0x45, 0]);
            out.extend((40 + payload as u16).to_be_bytes());
            out.extend([(ns >> 8) as u8, ns as u8, 0x40, 0, 64, 6, 0, 0]);
            [from.0, to.0]
                .iter()
                .for_each(|address| out.extend(address.to_be_bytes()));
            [from.1, to.1]
                .iter()
                .for_each(|port| out.extend(port.to_be_bytes()));
            [seq, ack]
                .iter()
                .for_each(|number: &u32| out.extend(number.to_be_bytes()));
            out.extend([0x50, flags, 0xea, 0x60, 0, 0, 0, 0]);
        }
    }
    out
}

#[test]
fn connections_that_have_no_room_are_ended_early_and_it_is_said() {
    let folder = Folder::new("memory");
    let file = folder.path("open.pcap");
    fs::write(&file, open_connections(20_000)).unwrap();
    let whole = analyzed(&[], &file);
    let early = |document: &Value, name: &str| {
        let number = &document["files"][0]["ended_early"][name];
        number.as_u64().expect("a count")
    };
    assert_eq!(early(&whole, "connections"), 0);
    let mut one = Value::Null;
    for threads in ["1", "3"] {
        let part = analyzed(&["--memory", "16M", "--threads", threads], &file);
        assert!(
            early(&part, "connections") > 5_000,
            "{}",
            part["files"][0]["ended_early"]
        );
        let flows = early(&part, "flows_only_summed");
        assert!(flows > 5_000 && early(&part, "packets_only_summed") == 5 * flows);
        // What is said of those with a late packet is the same, and the sums are those of all.
        let late = |document: &Value| {
            let flows = document["flows"].as_array().unwrap().iter();
            let late = |flow: &&Value| {
                let name = flow["flow"].as_str().expect("a name");
                let port = name.split(['>', ':', '-']).nth(1).expect("a port");
                (port.parse::<u32>().expect("a number") - 1_024) % 1_000 == 7
            };
            flows.filter(late).cloned().collect::<Vec<_>>()
        };
        assert_eq!(late(&part).len(), 20);
        assert_eq!(late(&part), late(&whole));
        let count = |document: &Value| {
            summed(document) + document["flows"].as_array().unwrap().len() as u64
        };
        assert_eq!(count(&part), count(&whole));
        match &one {
            Value::Null => one = part,
            one => assert_eq!(one["files"][0], part["files"][0]),
        }
    }
    let text = inorder(&["analyze", "--memory", "16M", &file]);
    says(stdout(&text), "the memory (16 MiB) was used up");
    complaint(&["analyze", "--memory", "1 apple", SENDER], 2);
    complaint(&["analyze", "--memory", "64M", "--peer", SENDER, SENDER], 2);
}
