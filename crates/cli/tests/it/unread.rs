//! What a capture holds beside TCP and numbered services: everything is counted, with its name and number.

use std::path::{Path, PathBuf};

use crate::common::says;
use crate::common::{self, Folder, code, complaint, inorder, json, stderr, stdout};

const ETHERNET: u32 = 1;
const NFLOG: u32 = 239;

fn pcap(link: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    common::pcap(link, 1_714_564_800, frames.iter().cloned())
}

fn eth(ether_type: u16, body: &[u8]) -> Vec<u8> {
    let head = [
        &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1],
        &ether_type.to_be_bytes()[..],
    ];
    [&head.concat(), body].concat()
}

/// From 192.0.2.1 to 192.0.2.`to`, as a fragment at this offset (bytes) or whole.
fn ipv4(protocol: u8, to: u8, id: u8, offset: u16, more: bool, body: &[u8]) -> Vec<u8> {
    let len = (20 + body.len() as u16).to_be_bytes();
    let fragment = ((u16::from(more) << 13) | (offset / 8)).to_be_bytes();
    let head = [
        &[0x45, 0],
        &len[..],
        &[0, id],
        &fragment,
        &[64, protocol, 0, 0],
    ];
    [&head.concat(), &[192, 0, 2, 1, 192, 0, 2, to][..], body].concat()
}

fn udp(body: &[u8]) -> Vec<u8> {
    let len = (8 + body.len() as u16).to_be_bytes();
    [&[0x30, 0x39, 0, 53], &len[..], &[0, 0], body].concat()
}

/// What is said of a capture, in one line, and what was not used.
fn said(file: &str) -> (String, serde_json::Value) {
    let text = inorder(&["analyze", file]);
    assert_eq!(code(&text), 0, "{}", stderr(&text));
    let text = stdout(&text).lines().map(str::trim).collect::<Vec<_>>();
    let text = text.join(" ");
    let all = json(&inorder(&["analyze", "--json", file]));
    (text, all["files"][0]["skipped"].clone())
}

/// Frames of each reason.
fn counted(skipped: &serde_json::Value) -> Vec<(u64, String)> {
    let rows = skipped.as_array().expect("rows").iter();
    let row = |row: &serde_json::Value| {
        let reason = row["reason"].as_str().expect("a reason").to_owned();
        (row["count"].as_u64().expect("a count"), reason)
    };
    rows.map(row).collect()
}

#[test]
fn what_is_not_read_is_told_by_name_and_number() {
    let folder = Folder::new("unread");
    let whole = |protocol, to, body: &[u8]| eth(0x0800, &ipv4(protocol, to, 1, 0, false, body));
    let frames = [
        eth(0x0806, &[0; 28]),
        eth(0x0806, &[0; 28]),
        eth(0x88f7, &[0; 34]),
        eth(0x1234, &[0; 40]),
        whole(89, 5, &[2; 44]),
        whole(17, 2, &udp(b"a question")),
        whole(17, 3, &udp(b"another one")),
        whole(17, 3, &udp(b"and another")),
        whole(17, 3, &udp(b"and another")),
        whole(1, 2, &[13, 0, 0, 0, 0, 0, 0, 0]),
    ];
    let file = folder.file("mixed.pcap", &pcap(ETHERNET, &frames));
    let (text, skipped) = said(&file);
    let mut found = counted(&skipped);
    found.sort_by_key(|(frames, _)| std::cmp::Reverse(*frames));
    let expected = [
        (4, "UDP of no numbered service"),
        (2, "not IP: ARP (EtherType 0x0806)"),
        (1, "not IP: EtherType 0x1234"),
        (1, "not IP: PTP (EtherType 0x88f7)"),
        (
            1,
            "neither TCP nor a numbered service: OSPF (IP protocol 89)",
        ),
        (1, "ICMP other than echo"),
    ];
    let expected = expected.map(|(frames, reason)| (frames, reason.to_owned()));
    assert_eq!(found, expected);
    says(&text, "; the UDP is between 2 pairs of hosts)");
    assert!(!text.contains("direction"), "{text}");
    let message = complaint(
        &["analyze", &folder.file("usb.pcap", &pcap(189, &frames))],
        1,
    );
    assert!(message.contains("USB (189)"), "{message}");
}

/// A datagram in three fragments, whole; one without its last and one without its first fragment.
#[test]
fn fragments_are_of_whole_datagrams_or_of_incomplete_ones() {
    let folder = Folder::new("unread-fragments");
    let datagram = udp(&[7; 3_000]);
    let part = |id, from: usize, to: usize| {
        let more = to < datagram.len();
        eth(
            0x0800,
            &ipv4(17, 2, id, from as u16, more, &datagram[from..to]),
        )
    };
    let frames = [
        part(1, 1_480, 2_960),
        part(1, 0, 1_480),
        part(1, 2_960, 3_008),
        part(2, 0, 1_480),
        part(2, 1_480, 2_960),
        part(3, 1_480, 2_960),
    ];
    let file = folder.file("fragments.pcap", &pcap(ETHERNET, &frames));
    let found = counted(&said(&file).1);
    let expected = [
        (2, "UDP of no numbered service"),
        (
            2,
            "in further fragments of UDP datagrams of which others are missing",
        ),
        (2, "in further fragments of whole UDP datagrams"),
    ];
    assert_eq!(
        found,
        expected.map(|(frames, reason)| (frames, reason.to_owned()))
    );
    let threads = json(&inorder(&["analyze", "--json", "--threads", "3", &file]));
    assert_eq!(counted(&threads["files"][0]["skipped"]), found);
}

#[test]
fn connections_in_a_log_of_the_firewall_are_read() {
    let folder = Folder::new("unread-nflog");
    let segment = |number: u32| {
        let mut tcp = vec![0x9c, 0x40, 0, 80];
        tcp.extend((1 + 100 * number).to_be_bytes());
        tcp.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
        tcp.extend([7; 100]);
        let packet = ipv4(6, 2, number as u8, 0, false, &tcp);
        // Address family, version, group; the packet as the only attribute.
        let len = (4 + packet.len() as u16).to_le_bytes();
        [&[2, 0, 0, 5], &len[..], &[9, 0], &packet].concat()
    };
    let frames: Vec<_> = [0, 1, 2, 3, 4, 5].map(segment).into();
    let file = folder.file("nflog.pcap", &pcap(NFLOG, &frames));
    let all = json(&inorder(&["analyze", "--json", &file]));
    assert_eq!(all["flows"][0]["data_bytes"], 600, "{}", all["flows"]);
    assert_eq!(all["files"][0]["skipped"], serde_json::json!([]));
}

/// Captures with known answers beside the repository, where they are.
fn case(name: &str) -> Option<String> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("INORDER_SHARED").map_or(beside, PathBuf::from);
    let path = shared.join("cases-turn3").join(name);
    if !path.is_file() {
        common::skipped(&format!("there is no {}", path.display()));
        return None;
    }
    Some(path.to_str().expect("a path of text").to_owned())
}

#[test]
fn a_fragmented_tunnel_is_whole() {
    let Some(file) = case("tunnel-packets-fragmented.pcap") else {
        return;
    };
    let (_, skipped) = said(&file);
    let found = counted(&skipped);
    assert!(
        found
            .iter()
            .all(|(_, why)| why == "in further fragments of whole UDP datagrams"),
        "{found:?}"
    );
}

/// What begins like RTP, and has numbers that do not follow each other, is UDP of no service.
#[test]
fn what_is_not_confirmed_is_counted_and_is_no_question_about_directions() {
    let folder = Folder::new("unread-unproved");
    let frame = |n: u8| {
        let mut body = vec![0x80, 96, n.wrapping_mul(91), n, 0, 0, 0, n, 1, 2, 3, 4];
        body.extend([7; 40]);
        let mut datagram = udp(&body);
        datagram[2..4].copy_from_slice(&40_000u16.to_be_bytes());
        eth(0x0800, &ipv4(17, 2, n, 0, false, &datagram))
    };
    let frames: Vec<_> = (1..=14).map(frame).collect();
    let (text, skipped) = said(&folder.file("unproved.pcap", &pcap(ETHERNET, &frames)));
    let expected = (14, "UDP of no numbered service".to_owned());
    assert_eq!(counted(&skipped), [expected]);
    says(&text, "; the UDP is between one pair of hosts)");
    assert!(!text.contains("direction"), "{text}");
}
