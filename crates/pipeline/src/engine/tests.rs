//! The engine on several threads gives the same packets as the plain loop, on captures generated here.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use inorder_wire::{Aside, Complaint, Dir, FlowKey, Numbered, Segment, StreamKey};

use super::sink::{NUMBERED_SHARD, SHARDS, TCP_SHARDS, shard_of};
use super::*;
use crate::Unwatched;

/// A sink that records what it receives.
#[derive(Clone, Default, PartialEq, Debug)]
struct Memory(Vec<Given>);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Given {
    Tcp(FlowKey, Dir, Segment),
    Numbered(StreamKey, Numbered),
    Complaint(FlowKey, Dir, Complaint),
    TidyUp(i64),
}

impl Sink for Memory {
    fn tcp(&mut self, key: &FlowKey, dir: Dir, segment: &Segment) {
        self.0.push(Given::Tcp(*key, dir, *segment));
    }

    fn numbered(&mut self, key: StreamKey, packet: &Numbered) {
        self.0.push(Given::Numbered(key, *packet));
    }

    fn aside(&mut self, aside: &Aside) {
        if let Aside::Complaint(key, dir, complaint) = aside {
            self.0.push(Given::Complaint(*key, *dir, *complaint));
        }
    }

    fn tidy_up(&mut self, now_ns: i64) {
        self.0.push(Given::TidyUp(now_ns));
    }
}

impl Memory {
    /// What each shard should receive if a single sink received this.
    fn shards(&self) -> Vec<Memory> {
        let mut shards = vec![Memory::default(); SHARDS];
        for given in &self.0 {
            match given {
                // What is said of a connection reaches the shard that has it, in the order of the capture.
                Given::Tcp(key, ..) | Given::Complaint(key, ..) => {
                    shards[shard_of(key)].0.push(*given);
                }
                Given::Numbered(..) => shards[NUMBERED_SHARD].0.push(*given),
                Given::TidyUp(_) => shards.iter_mut().for_each(|s| s.0.push(*given)),
            }
        }
        shards
    }

    /// Frame numbers of numbered packets.
    fn numbered(&self) -> Vec<u64> {
        let frame = |given: &Given| match given {
            Given::Numbered(_, packet) => Some(packet.frame),
            _ => None,
        };
        self.0.iter().filter_map(frame).collect()
    }

    fn packets(&self) -> usize {
        let packet = |given: &&Given| matches!(given, Given::Tcp(..) | Given::Numbered(..));
        self.0.iter().filter(packet).count()
    }
}

/// A file that is deleted when this value is dropped.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("inorder-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        TempFile(path)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Classic pcap, link type 101 (raw IP), microseconds.
fn pcap(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 2 | 4 << 16, 0, 0, 65_535, 101] {
        file.extend(word.to_le_bytes());
    }
    for (i, frame) in frames.into_iter().enumerate() {
        let len = frame.len() as u32;
        for word in [i as u32 / 1_000, i as u32 % 1_000, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// IPv4 around `body`; header checksums stay zero because the parser ignores them.
fn ip(protocol: u8, host: u8, body: &[u8]) -> Vec<u8> {
    let len = (20 + body.len()) as u16;
    let mut frame = vec![0x45, 0];
    frame.extend(len.to_be_bytes());
    frame.extend([
        0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, host, 10, 0, 0, 200,
    ]);
    frame.extend(body);
    frame
}

fn tcp(connection: u32, n: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend((1_000 + (connection % 5_000) as u16).to_be_bytes());
    body.extend(443u16.to_be_bytes());
    body.extend((n * 10).to_be_bytes());
    body.extend(1u32.to_be_bytes());
    body.extend([0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    body.extend([7; 10]);
    ip(6, (connection % 50) as u8, &body)
}

fn esp(n: u32) -> Vec<u8> {
    let mut body = vec![0, 0, 1, 0];
    body.extend(n.to_be_bytes());
    body.extend([9; 40]);
    ip(50, 9, &body)
}

/// A router says of the segment before that it was too large.
fn icmp(segment: &[u8]) -> Vec<u8> {
    ip(
        1,
        77,
        &[&[3, 4, 0, 0, 0, 0, 5, 120], &segment[..28]].concat(),
    )
}

/// Several blocks of many connections, what routers say of them, one ESP stream and some frames that are neither.
fn traffic(frames: u32, seed: u32) -> Vec<u8> {
    let segment = |n: u32| tcp(n.wrapping_mul(seed) % 3_001, n);
    pcap((0..frames).map(|n| match n % 10 {
        0 => esp(n),
        1 => vec![0; 30],
        9 => icmp(&segment(n - 1)),
        _ => segment(n),
    }))
}

fn run_on(files: &[PathBuf], threads: usize) -> (Vec<Memory>, Tally, Option<CaptureError>) {
    let input = Input::files(files);
    let done = consume(
        input,
        &Selection::default(),
        threads,
        Arc::new(Unwatched),
        Memory::default,
    )
    .unwrap();
    (done.sinks, done.tally, done.error)
}

#[test]
fn every_number_of_threads_gives_the_same_packets() {
    let file = TempFile::new("threads.pcap", &traffic(140_000, 2_654_435_761));
    let files = [file.0.clone()];
    let (one, tally, error) = run_on(&files, 1);
    assert!(error.is_none());
    assert_eq!(tally.all.count, 140_000);
    assert_eq!(tally.skipped().iter().map(|s| s.1).sum::<u64>(), 28_000);
    let expected = one[0].shards();
    assert_eq!(expected[NUMBERED_SHARD].numbered().len(), 14_000);
    let packets = |m: &Memory| m.packets();
    assert_eq!(expected.iter().map(packets).sum::<usize>(), 112_000);
    let complaints = |m: &Memory| {
        let all = m.0.iter();
        all.filter(|given| matches!(given, Given::Complaint(..)))
            .count()
    };
    assert_eq!(expected.iter().map(complaints).sum::<usize>(), 14_000);
    assert!(expected[..TCP_SHARDS].iter().all(|m| m.packets() > 2_000));
    let tidied = |m: &Memory| m.0.len() - m.packets();
    assert!(expected.iter().all(|m| tidied(m) - complaints(m) == 2));
    for threads in [2, 3, 8] {
        let (sinks, same, error) = run_on(&files, threads);
        assert!(error.is_none());
        assert_eq!(same, tally);
        assert!(sinks == expected, "{threads} threads differ");
    }
}

#[test]
fn frame_numbers_continue_over_rotated_files() {
    let whole = TempFile::new("rotated-0.pcap", &traffic(2_000, 7));
    let again = TempFile::new("rotated-1.pcap", &traffic(1_000, 7));
    for threads in [1, 2] {
        let (sinks, tally, error) = run_on(&[whole.0.clone(), again.0.clone()], threads);
        assert!(error.is_none());
        assert_eq!(tally.all.count, 3_000);
        let esp = sinks.last().unwrap().numbered();
        let expected: Vec<u64> = (0..300).map(|i| i * 10 + 1).collect();
        assert_eq!(esp, expected);
    }
}

#[test]
fn frames_before_damage_are_delivered() {
    let mut bytes = traffic(30_000, 3);
    bytes.truncate(bytes.len() - 5);
    let file = TempFile::new("damaged.pcap", &bytes);
    for threads in [1, 2, 4] {
        let (_, tally, error) = run_on(std::slice::from_ref(&file.0), threads);
        assert_eq!(tally.all.count, 29_999);
        assert!(matches!(
            error,
            Some(CaptureError::Damaged { frame: 30_000, .. })
        ));
    }
}

#[test]
fn stopping_takes_effect_at_the_end_of_a_block() {
    struct StopAfterTwo(AtomicU32);
    impl Watch for StopAfterTwo {
        fn progress(&self, _: u64, _: Option<u64>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn stop(&self) -> bool {
            self.0.load(Ordering::Relaxed) >= 2
        }
    }
    let file = TempFile::new("stop.pcap", &traffic(60_000, 3));
    for threads in [1, 2] {
        let watch = Arc::new(StopAfterTwo(AtomicU32::new(0)));
        let done = consume(
            Input::file(&file.0),
            &Selection::default(),
            threads,
            watch,
            Memory::default,
        )
        .unwrap();
        assert!(done.error.is_none());
        assert!(
            done.tally.all.count > 0 && done.tally.all.count < 60_000,
            "{}",
            done.tally.all.count
        );
        let seen: usize = done.sinks.iter().map(Memory::packets).sum();
        let skipped: u64 = done.tally.skipped().iter().map(|s| s.1).sum();
        assert_eq!(seen as u64 + skipped, done.tally.all.count);
    }
}
