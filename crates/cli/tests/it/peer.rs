//! `inorder analyze --peer` with an address translator between the two captures.

use std::fs;

use crate::common::{Folder, inorder, json};

/// Lengths of the header of a classic pcap file and of the header of a record, bytes.
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// Gives the lower address a high value and the other one a low value, so that their order is reversed.
fn translate(capture: &mut [u8]) {
    let mut at = FILE_HEADER;
    while let Some(header) = capture.get(at..at + RECORD_HEADER) {
        let len = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        let ip = at + RECORD_HEADER + 14;
        for address in [ip + 12, ip + 16] {
            let low = capture[address + 3] == 1;
            let other = if low { [203, 0, 113, 9] } else { [10, 0, 0, 9] };
            capture[address..address + 4].copy_from_slice(&other);
        }
        for port in [ip + 20, ip + 22] {
            capture[port] ^= 0x0f;
        }
        at += RECORD_HEADER + len;
    }
}

#[test]
fn translated_addresses_and_the_number_of_threads_do_not_change_the_result() {
    let demo = |end| {
        format!(
            "{}/../../testdata/demo/demo-{end}.pcap",
            env!("CARGO_MANIFEST_DIR")
        )
    };
    let folder = Folder::new("peer");
    let (sender, receiver) = (demo("sender"), demo("receiver"));
    let mut capture = fs::read(&receiver).unwrap();
    translate(&mut capture);
    let translated = folder.file("translated.pcap", &capture);

    let run = |peer: &str, threads: &str| {
        let given = [
            "analyze",
            "--json",
            "--threads",
            threads,
            "--peer",
            peer,
            &sender,
        ];
        json(&inorder(&given))["files"][0]["peer"].take()
    };
    let plain = run(&receiver, "1");
    let one = run(&translated, "1");
    assert_eq!(one, run(&translated, "3"));

    let (plain, one) = (&plain["flows"][0], &one["flows"][0]);
    assert_eq!(plain["matched_by"], "addresses");
    assert_eq!(one["matched_by"], "numbers");
    assert_eq!(plain["there"], plain["flow"]);
    assert_ne!(one["there"], one["flow"]);
    for same in [
        "flow",
        "truth",
        "reordered",
        "lost",
        "spurious",
        "extents_exact",
    ] {
        assert!(!one[same].is_null());
        assert_eq!(plain[same], one[same], "{same}");
    }
}
