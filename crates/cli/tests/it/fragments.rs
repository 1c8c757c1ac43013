//! `inorder analyze` of a capture whose data packets were fragmented on the path.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, inorder, json};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const ETHERNET: usize = 14;
/// Payload bytes of each fragment except the last.
const ROOM: u16 = 576;

/// The record at the start of `rest`, and its length.
fn record(rest: &[u8]) -> Option<(&[u8], usize)> {
    let len = u32::from_le_bytes(rest.get(8..12)?.try_into().ok()?) as usize;
    let whole = RECORD_HEADER + len;
    Some((rest.get(..whole)?, whole))
}

/// The fragments of a packet, headers only; with `backwards`, the later fragments come before the first.
fn fragments(record: &[u8], backwards: bool) -> Vec<Vec<u8>> {
    let ip = RECORD_HEADER + ETHERNET;
    let total = u16::from_be_bytes([record[ip + 2], record[ip + 3]]) - 20;
    let mut all = Vec::new();
    for offset in (0..total).step_by(usize::from(ROOM)) {
        let len = ROOM.min(total - offset);
        let mut bytes = match offset {
            0 => record.to_vec(),
            // Later fragments have no TCP header, and only the IP header is kept.
            _ => record[..ip + 20].to_vec(),
        };
        let more = if offset + len < total { 0x2000 } else { 0 };
        bytes[ip + 2..ip + 4].copy_from_slice(&(20 + len).to_be_bytes());
        bytes[ip + 6..ip + 8].copy_from_slice(&(more | (offset / 8)).to_be_bytes());
        let captured = (bytes.len() - RECORD_HEADER) as u32;
        bytes[8..12].copy_from_slice(&captured.to_le_bytes());
        let on_wire = ETHERNET as u32 + 20 + u32::from(len);
        bytes[12..16].copy_from_slice(&on_wire.to_le_bytes());
        all.push(bytes);
    }
    if backwards {
        all.reverse();
    }
    all
}

/// The capture with every sufficiently large packet in fragments; those of every third packet in reverse order.
fn fragmented(capture: &[u8]) -> Vec<u8> {
    let mut out = capture[..FILE_HEADER].to_vec();
    let mut rest = &capture[FILE_HEADER..];
    let mut number = 0;
    while let Some((record, len)) = record(rest) {
        number += 1;
        out.extend(fragments(record, number % 3 == 0).concat());
        rest = &rest[len..];
    }
    out
}

#[test]
fn a_fragmented_capture_gives_the_same_result_as_the_original() {
    let folder = Folder::new("fragments");
    let analyze =
        |file: &str, threads| json(&inorder(&["analyze", "--json", "--threads", threads, file]));
    for end in ["demo-sender.pcap", "demo-receiver.pcap"] {
        let whole = format!("{}/../../testdata/demo/{end}", env!("CARGO_MANIFEST_DIR"));
        let cut = folder.file(end, &fragmented(&fs::read(&whole).unwrap()));
        let (plain, one) = (analyze(&whole, "1"), analyze(&cut, "1"));
        assert_eq!(one, analyze(&cut, "3"), "{end}");
        let frames = |all: &Value| all["files"][0]["frames"].as_u64().unwrap();
        assert!(frames(&one) > 2 * frames(&plain), "{end}");
        assert_eq!(one["files"][0]["skipped"], plain["files"][0]["skipped"]);
        let (plain, one) = (&plain["flows"][0], &one["flows"][0]);
        for same in [
            "data_packets",
            "data_bytes",
            "losses",
            "retransmissions",
            "reordering",
        ] {
            assert!(!plain[same].is_null(), "{same}");
            assert_eq!(plain[same], one[same], "{end}: {same}");
        }
    }
}
