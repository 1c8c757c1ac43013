//! Real captures of public test suites: each one is either read completely or refused with a clear message.
//!
//! They are not part of the project. The folder is taken from `INORDER_CAPTURES`, otherwise it is
//! `../shared/captures` beside the repository. The expected counts were measured with tshark 4.0.

use inorder_capture::{Block, Capture, CaptureError};
use inorder_wire::{Gate, Has, Packet, same_both_ways};
use std::path::PathBuf;

#[derive(Default, PartialEq, Eq, Debug)]
struct Counts {
    frames: u64,
    /// TCP segments with payload, with SACK blocks, with timestamps.
    data: u64,
    sack: u64,
    timestamps: u64,
    /// Packets of other numbered services; RTP packets count if `Gate` confirms them.
    numbered: u64,
}

/// File name, then the [`Counts`] in their order.
const EXPECTED: &[(&str, [u64; 5])] = &[
    ("lpa-negative-timestamps.pcap", [296, 0, 0, 0, 0]),
    (
        "mlab-ndt-dl-clean-ipv6-C2DA9.pcap",
        [5180, 3369, 0, 5178, 0],
    ),
    (
        "mlab-ndt-dl-loss-ackreorder-5BA77.pcap",
        [40797, 15686, 24724, 40797, 0],
    ),
    // tshark counts a SACK option in a header that is longer than its packet; this crate calls that segment
    // malformed.
    ("mlab-ndt-dl-nots-363A84.pcap", [5690, 2845, 713, 0, 0]),
    (
        "mlab-ndt-ul-bulk-3638D0.pcap.gz",
        [210_322, 140_934, 249, 210_322, 0],
    ),
    ("mlab-ndt-ul-clean-5B90B.pcap", [30097, 19130, 0, 30097, 0]),
    ("mlab-ndt-ul-lossy-dsack-C2DFE.pcap", [336, 187, 50, 336, 0]),
    ("mptcp-pair1-client.pcap", [2798, 1404, 845, 2470, 0]),
    ("mptcp-pair1-server.pcap", [2792, 1387, 853, 2462, 0]),
    // One segment whose IP length exceeds the frame, which tshark does not count; nine RTP packets in five streams,
    // too few to confirm any stream.
    ("ndpi-fuzz-2006.pcap", [691, 27, 0, 0, 0]),
    ("ndpi-ipsec-esp.pcap", [834, 0, 0, 0, 315]),
    ("ndpi-kakaotalk-rtp-reorder.pcap", [3203, 76, 4, 111, 2991]),
    ("ndpi-monero-pure-reorder.pcap", [60, 27, 9, 0, 0]),
    ("ndpi-quic-interop.pcapng", [246, 0, 0, 0, 0]),
    ("ndpi-reasm-reorder.pcapng", [82, 52, 26, 0, 0]),
    ("ndpi-ultrasurf-vlan-dsack.pcap", [333, 235, 54, 333, 0]),
    // tshark counts three custom blocks as frames.
    ("pcapng-gen-be-multisection.pcapng", [8, 0, 0, 0, 0]),
    ("pcpp-many-interfaces.pcapng", [64, 16, 0, 32, 0]),
    ("pcpp-nanosecs-bigendian.pcap", [10, 3, 0, 10, 0]),
    ("pcpp-sll.pcap", [518, 324, 0, 483, 0]),
    ("peafowl-seq-wrap-ooo.pcap", [11, 5, 0, 0, 0]),
    ("suricata-bug4953-loss-trap.pcap", [158, 91, 25, 0, 0]),
    ("suricata-http-body-ipv6-ts.pcap", [2007, 1240, 73, 2007, 0]),
    ("suricata-icmp-and-ssh.pcap", [362, 194, 0, 322, 40]),
    ("suricata-smb2-lan-reorder.pcap", [792, 566, 77, 767, 0]),
    ("suricata-tcp-empty-sack.pcap", [42, 20, 4, 1, 0]),
    (
        "suricata-tls-subjectaltname-mixed.pcap",
        [3138, 1481, 163, 0, 0],
    ),
    ("tcpdump-esp-in-udp.pcap", [8, 0, 0, 0, 8]),
    ("tcpdump-mptcp-v0.pcap", [264, 151, 0, 264, 0]),
    ("tcptrace-dsack.dmp", [15712, 11594, 179, 15710, 0]),
    ("tcptrace-first-seg-ooo.dmp", [243, 132, 1, 243, 0]),
    ("tcptrace-hardware-dups.dmp", [1458, 966, 0, 0, 0]),
    (
        "tcptrace-sack-nasa-byteorder-twin.dump",
        [15712, 11594, 179, 15710, 0],
    ),
    ("zeek-ssh-dups.pcap", [377, 216, 0, 377, 0]),
    ("zeek-tcprs-comp008.trace", [3280, 1923, 55, 3271, 0]),
    ("zeek-tcprs-comp014-dsack.trace", [379, 223, 76, 373, 0]),
    ("zeek-tcprs-fack023.trace", [480, 296, 69, 0, 0]),
    ("zeek-tcprs-fack041.trace", [118, 63, 14, 118, 0]),
    (
        "zeek-tcprs-reordering-via-proximity.trace",
        [1224, 792, 39, 0, 0],
    ),
];

fn folder() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures");
    let folder = std::env::var_os("INORDER_CAPTURES").map_or_else(|| beside.into(), PathBuf::from);
    let there = folder.join("tcptrace-dsack.dmp").is_file();
    if !there {
        eprintln!(
            "skipped: no captures in {}; set INORDER_CAPTURES",
            folder.display()
        );
    }
    there.then_some(folder)
}

fn count(capture: &mut Capture) -> (Counts, Result<(), CaptureError>) {
    let mut counts = Counts::default();
    let mut gate = Gate::new();
    let mut block = Block::default();
    loop {
        let more = capture.read_block(&mut block);
        for frame in block.frames() {
            counts.frames += 1;
            assert_eq!(frame.number, counts.frames);
            match same_both_ways(&frame) {
                Packet::Tcp(_, _, segment) => {
                    counts.data += u64::from(segment.payload_len > 0);
                    counts.sack += u64::from(segment.sack_len > 0);
                    counts.timestamps += u64::from(segment.has(Has::TIMESTAMPS));
                }
                Packet::Numbered(key, n) => gate.push(key, n, |_, _| counts.numbered += 1),
                Packet::FirstFragment(..) | Packet::LaterFragment(_) | Packet::Other(_) => {}
            }
        }
        match more {
            Ok(true) => {}
            Ok(false) => return (counts, Ok(())),
            Err(e) => return (counts, Err(e)),
        }
    }
}

#[test]
fn counts_are_those_of_tshark() {
    let Some(folder) = folder() else { return };
    for &(file, [frames, data, sack, timestamps, numbered]) in EXPECTED {
        let mut capture = Capture::open(&folder.join(file)).expect(file);
        let (counts, end) = count(&mut capture);
        end.expect(file);
        let expected = Counts {
            frames,
            data,
            sack,
            timestamps,
            numbered,
        };
        assert_eq!(counts, expected, "{file}");
        assert_eq!(Some(capture.bytes_read()), capture.total_bytes(), "{file}");
    }
}

#[test]
fn a_record_above_the_maximum_length_is_damage() {
    let Some(folder) = folder() else { return };
    let file = folder.join("ndpi-fuzz-2021-cutshort-nano.pcap");
    let (counts, end) = count(&mut Capture::open(&file).expect("a pcap file"));
    assert_eq!(counts, Counts::default());
    match end {
        Err(CaptureError::Damaged {
            frame: 1,
            offset: 24,
            what,
            ..
        }) => assert!(what.contains("524501 bytes"), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn times_before_1970_rise_through_the_file() {
    let Some(folder) = folder() else { return };
    let mut capture = Capture::open(&folder.join("lpa-negative-timestamps.pcap")).expect("pcap");
    let mut block = Block::default();
    assert!(capture.read_block(&mut block).expect("whole"));
    let times: Vec<i64> = block.frames().map(|frame| frame.ts_ns).collect();
    assert_eq!(times.first(), Some(&-3_599_996_481_000));
    assert!(times.is_sorted());
}

#[test]
fn text_is_refused() {
    let Some(folder) = folder() else { return };
    let refused = Capture::open(&folder.join("INDEX.tsv")).expect_err("text");
    assert!(
        matches!(refused, CaptureError::NotACapture { .. }),
        "{refused}"
    );
}
