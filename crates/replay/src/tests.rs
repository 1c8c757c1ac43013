//! Captures generated here are sorted and read back.

use std::io::Cursor;

use inorder_capture::{Block, Capture};
use inorder_wire::{Frame, LinkType};

use crate::output::{Format, Output};
use crate::receiver::Receiver;
use crate::{SUMMARY, Settings, Summary};

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
    let settings = Settings {
        sorter: sorter.parse().unwrap(),
        ring_packets: ring,
        services,
        ..Settings::default()
    };
    let mut receiver = Receiver::new(&settings).unwrap();
    let out = write(&mut receiver, frames);
    (out, receiver.summary())
}

/// The frames that come out of a receiver if `frames` arrive.
fn write(receiver: &mut Receiver, frames: &[(i64, Vec<u8>)]) -> Frames {
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
    read(bytes)
}

fn text(summary: &Summary) -> String {
    let mut text = Vec::new();
    crate::write_text(summary, &mut text).unwrap();
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

/// The frames that come out, in microseconds, if `frames` arrive at a card that interrupts for each of them.
fn deliver(sorter: &str, frames: &[(i64, Vec<u8>)]) -> Frames {
    let settings = Settings {
        sorter: sorter.parse().unwrap(),
        coalesce_ns: 0,
        ..Settings::default()
    };
    let mut receiver = Receiver::new(&settings).unwrap();
    write(&mut receiver, frames)
}

const SYN: u8 = 0x02;

/// A flow whose round trip is 10 ms: the numbers of its data, and when each arrives, microseconds after the handshake.
fn connection(arrivals: &[(i64, u32)]) -> Frames {
    let handshake = [(0, tcp(1000, 99, SYN, 0)), (10_000, tcp(1000, 100, ACK, 0))];
    let data = |&(us, number): &(i64, u32)| (10_000 + us, tcp(1000, 100 + 100 * number, ACK, 100));
    handshake
        .into_iter()
        .chain(arrivals.iter().map(data))
        .collect()
}

#[test]
fn the_resequencer_writes_the_times_of_delivery() {
    // 2 comes 2 ms after 3; 6 never comes.
    let arrivals = [
        (0, 0),
        (10, 1),
        (20, 3),
        (30, 4),
        (2_020, 2),
        (2_100, 5),
        (2_200, 7),
        (2_300, 8),
    ];
    let out = deliver("resequence", &connection(&arrivals));
    // A gap is waited for, for half of the round trip at the most: 7 and 8 go up 5 ms after 7 came.
    let expected = [
        (0, 0),
        (10, 1),
        (2_020, 2),
        (2_020, 3),
        (2_020, 4),
        (2_100, 5),
        (7_200, 7),
        (7_200, 8),
    ];
    assert_eq!(out, connection(&expected));
}

/// Every frame once, none before it came or longer held than the bound, nothing out of order that was in order, and what comes
/// in order while nothing is missing at the time at which it came.
#[test]
fn the_resequencer_never_holds_longer_than_its_bound_and_delays_nothing_in_order() {
    const BOUND_US: i64 = 3_000;
    let (mut before, mut after) = (0, 0);
    for seed in 0..20 {
        let mut random = seed * 7 + 1;
        let mut below = |limit: u32| {
            random = u32::wrapping_mul(random, 1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % limit
        };
        let sent = (0..600u32).filter_map(|number| match below(40) {
            0 => None,
            1..4 => Some((i64::from(number) * 50 + i64::from(below(6_000)), number)),
            _ => Some((i64::from(number) * 50, number)),
        });
        let mut sent: Vec<(i64, u32)> = sent.collect();
        sent.sort_unstable();
        let frames = connection(&sent);
        let out = deliver("resequence:bound=3ms", &frames);
        let came = |data: &Vec<u8>| frames.iter().find(|f| f.1 == *data).unwrap().0;
        assert_eq!(out.len(), frames.len());
        assert!(out.is_sorted_by_key(|frame| frame.0));
        for (us, data) in &out {
            assert!((0..=BOUND_US).contains(&(us - came(data))), "{us}");
        }
        // The first one missing ends the part that is in order.
        let in_order = sent
            .iter()
            .zip(0..)
            .take_while(|((_, a), b)| a == b)
            .count();
        assert_eq!(out[..2 + in_order], frames[..2 + in_order]);
        let late = |frames: &Frames| {
            let mut top = 0;
            let seqs = frames
                .iter()
                .skip(2)
                .map(|(_, data)| u32::from_be_bytes(data[38..42].try_into().unwrap()));
            let is_late = |seq: &u32| {
                let is_late = *seq < top;
                top = top.max(*seq);
                is_late
            };
            seqs.filter(is_late).count()
        };
        assert!(late(&out) <= late(&frames));
        (before, after) = (before + late(&frames), after + late(&out));
    }
    assert!(after < before, "{after} of {before}");
}
