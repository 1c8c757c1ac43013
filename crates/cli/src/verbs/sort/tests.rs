//! Captures generated here are sorted and read back.

use std::io::Cursor;

use inorder_capture::{Block, Capture};
use inorder_sort::{SorterConfig, Surroundings};
use inorder_wire::{Frame, LinkType};

use super::columns::SUMMARY;
use super::output::{Format, Output};
use super::receiver::Receiver;
use super::tally::Summary;

const ACK: u8 = 0x10;
const FIN: u8 = 0x01;
const US: i64 = 1_000;

/// An Ethernet frame with a TCP segment from this port, no options.
fn tcp(port: u16, seq: u32, flags: u8, payload: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let length = (40 + payload) as u16;
    frame.extend([0x45, 0]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0x1f, 0x90]);
    frame.extend(seq.to_be_bytes());
    frame.extend([0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    frame.resize(54 + payload, 0xaa);
    frame
}

/// An Ethernet frame with an ICMP echo request.
fn echo(number: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend([
        0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 1, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ]);
    frame.extend([8, 0, 0, 0, 0, 7]);
    frame.extend(number.to_be_bytes());
    frame.extend([0; 8]);
    frame
}

/// Time in microseconds and bytes of each frame.
type Frames = Vec<(i64, Vec<u8>)>;

/// The frames that come out if `frames` arrive, and the summary.
fn sort(sorter: &str, services: bool, frames: &[(i64, Vec<u8>)]) -> (Frames, Summary) {
    sort_in_ring(sorter, 512, services, frames)
}

fn sort_in_ring(
    sorter: &str,
    ring: usize,
    services: bool,
    frames: &[(i64, Vec<u8>)],
) -> (Frames, Summary) {
    let (config, around): (SorterConfig, _) = (sorter.parse().unwrap(), Surroundings::ring(ring));
    let mut receiver = Receiver::new(&config, &around, 75 * US, services, None).unwrap();
    let mut bytes = Vec::new();
    let mut output = Output::new(&mut bytes, Format::Pcap, 0);
    for (number, (us, data)) in (1..).zip(frames) {
        let frame = Frame {
            ts_ns: us * US,
            number,
            link: LinkType::ETHERNET,
            orig_len: data.len() as u32,
            data,
        };
        receiver.arrive(&frame, &mut output).unwrap();
    }
    receiver.finish(&mut output).unwrap();
    output.finish().unwrap();
    (read(bytes), receiver.summary())
}

fn text(summary: &Summary) -> String {
    let mut text = Vec::new();
    super::columns::write_text(summary, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn read(bytes: Vec<u8>) -> Frames {
    let mut capture = Capture::from_reader("test", Box::new(Cursor::new(bytes))).unwrap();
    let (mut block, mut frames) = (Block::default(), Vec::new());
    while capture.read_block(&mut block).unwrap() {
        frames.extend(block.frames().map(|f| (f.ts_ns / US, f.data.to_vec())));
    }
    frames
}

#[test]
fn a_late_segment_is_put_back_within_its_batch() {
    let data = |seq| tcp(1000, seq, ACK, 100);
    let frames = [
        (0, data(100)),
        (10, data(300)),
        (20, data(200)),
        (200, data(400)),
    ];
    let (out, summary) = sort("srpic", false, &frames);
    let expected = [
        (75, data(100)),
        (75, data(200)),
        (75, data(300)),
        (275, data(400)),
    ];
    assert_eq!(out, expected);
    assert_eq!((summary.batches, summary.batch_max), (2, 3));
    assert_eq!(
        (summary.before.reordered, summary.before.extents.max()),
        (1, Some(1))
    );
    assert_eq!((summary.after.reordered, summary.after.received), (0, 4));
    assert_eq!(summary.delay_max_ns, 75_000);
    assert_eq!(
        summary.delay_mean_ns,
        (75.0 + 65.0 + 55.0 + 75.0) * 1e3 / 4.0
    );
}

#[test]
fn the_text_is_made_from_the_columns() {
    let data = |seq| tcp(1000, seq, ACK, 100);
    let frames = [(0, data(100)), (10, data(300)), (20, data(200))];
    let (_, summary) = sort("srpic", false, &frames);
    let expected = [
        "frames           3",
        "sortable         3",
        "batches          1",
        "batch mean       3  frames",
        "batch max        3  frames",
        "delay mean  65,000  ns",
        "delay max   75,000  ns",
        "",
        "                              reordered     extent     late",
        "sorting  received  reordered          %  max  mean      max",
        "before          3          1       33.3    1   1.0  10.0 µs",
        "after           3          0        0.0    -     -        -",
    ];
    assert_eq!(text(&summary).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_fin_waits_for_its_data_except_in_literal_mode() {
    let frames = [
        (0, tcp(1, 200, ACK, 100)),
        (1, tcp(1, 100, ACK, 100)),
        (2, tcp(1, 300, ACK | FIN, 0)),
    ];
    let sorted = |order: [usize; 3]| order.map(|i| (75, frames[i].1.clone()));
    let (out, _) = sort("srpic", false, &frames);
    assert_eq!(out, sorted([1, 0, 2]));
    let literal = "srpic:literal=true";
    assert_eq!(sort(literal, false, &frames).0, sorted([2, 1, 0]));
}

#[test]
fn other_services_are_sorted_only_on_request() {
    let frames = [(0, echo(1)), (1, echo(3)), (2, echo(2))];
    let numbers = |frames: &Frames| -> Vec<u8> { frames.iter().map(|f| f.1[41]).collect() };
    let (out, summary) = sort("srpic", false, &frames);
    assert_eq!((numbers(&out), summary.sortable), (vec![1, 3, 2], 0));
    let (out, summary) = sort("srpic", true, &frames);
    assert_eq!((numbers(&out), summary.sortable), (vec![1, 2, 3], 3));
    assert_eq!((summary.before.reordered, summary.after.reordered), (1, 0));
}

#[test]
fn written_times_are_monotonic_and_a_full_ring_fires() {
    let frames: Vec<_> = (0..50)
        .map(|i| {
            (
                1_000 - 7 * i64::from(i % 5),
                tcp(1, 100 * (i ^ 1), ACK, 100),
            )
        })
        .collect();
    let (out, summary) = sort_in_ring("srpic:block_size=8", 4, false, &frames);
    assert_eq!((out.len(), summary.frames), (50, 50));
    assert!(out.is_sorted_by_key(|f| f.0));
    let sorted = |frames: &[(i64, Vec<u8>)]| {
        let mut bytes: Vec<_> = frames.iter().map(|f| f.1.clone()).collect();
        bytes.sort();
        bytes
    };
    assert_eq!(sorted(&out), sorted(&frames));
}

#[test]
fn an_empty_capture_gives_an_empty_capture() {
    assert_eq!(inorder_report::problems(SUMMARY), Vec::<String>::new());
    let (out, summary) = sort("srpic", true, &[]);
    assert!(out.is_empty());
    let mut json = Vec::new();
    inorder_report::json::write(&mut json, SUMMARY, &summary).unwrap();
    let parsed: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(parsed["frames"], 0);
    assert_eq!(parsed["before"]["max_extent"], 0);
    assert_eq!(text(&summary).lines().count(), 7 + 1 + 4);
}
