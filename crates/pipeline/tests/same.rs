//! The analysis of a capture is the same, bit for bit, for every way of reading it.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_capture::PcapWriter;
use inorder_pipeline::{Analysis, Analyzer, CaptureError, Config, Error, Input, Watch};
use inorder_wire::{Frame, LinkType};

fn analyzer() -> Analyzer {
    Analyzer::new().config(Config::default().keep_events(true).keep_points(true))
}

fn recorded(name: &str) -> PathBuf {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/captures"
    ))
    .join(name)
}

fn read(bytes: &[u8], threads: usize) -> Result<Analysis, Error> {
    let input = Input::reader("test", Cursor::new(bytes.to_vec()));
    analyzer().threads(threads).run(input)
}

/// The same result for all numbers of threads.
fn same(bytes: &[u8]) -> Analysis {
    let one = read(bytes, 1).unwrap();
    for threads in [2, 3, 8] {
        assert!(read(bytes, threads).unwrap() == one, "{threads} threads");
    }
    one
}

#[test]
fn recorded_captures() {
    for name in [
        "tso-gro-late20.snd.pcap.gz",
        "gro-jitter-a.rcv.pcap.gz",
        "icmp.snd.pcap.gz",
    ] {
        let path = recorded(name);
        let bytes = std::fs::read(&path).unwrap();
        let mut by_name = analyzer().run(&path).unwrap();
        assert!(!by_name.flows.is_empty() || !by_name.streams.is_empty());
        by_name.file = "test".to_owned();
        assert!(same(&bytes) == by_name);
    }
}

/// One direction of many connections, each sending pairs of packets 40 ms apart, so that connections become idle for
/// ten minutes and are closed during the run. Every seventh pair is swapped.
fn long_traffic(frames: u32) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), LinkType::RAW, 96).unwrap();
    for n in 0..frames {
        let (pair, second) = (n / 2, n % 2);
        // 400 connections at a time; after every 15,000 pairs they are replaced by others.
        let connection = pair % 400 + pair / 15_000 * 400;
        let swapped = u32::from(pair / 400 % 7 == 3);
        let place = pair / 400 * 2 + (second ^ swapped);
        let mut data = segment(pair * 2 + (second ^ swapped), place * 10);
        data[12..16].copy_from_slice(&(0x0a00_0000 + connection).to_be_bytes());
        let frame = Frame {
            ts_ns: i64::from(pair) * 40_000_000 + i64::from(second) * 100_000,
            number: 0,
            link: LinkType::RAW,
            orig_len: data.len() as u32,
            data: &data,
        };
        writer.write(&frame).unwrap();
    }
    writer.into_inner()
}

/// IPv4 and TCP with ten bytes of data at `seq`; TTL 57, as if several routers away from the sender.
fn segment(ip_id: u32, seq: u32) -> Vec<u8> {
    let mut data = vec![0x45, 0, 0, 50];
    data.extend((ip_id as u16).to_be_bytes());
    data.extend([0x40, 0, 57, 6, 0, 0, 0, 0, 0, 0, 10, 200, 0, 1]);
    data.extend([0x10, 0, 1, 187]);
    data.extend(seq.to_be_bytes());
    data.extend([0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0]);
    data.extend([7; 10]);
    data
}

#[test]
fn connections_that_end_during_the_capture() {
    let bytes = long_traffic(140_000);
    let analysis = same(&bytes);
    assert_eq!((analysis.frames, analysis.flows.len()), (140_000, 2_000));
    let reordered = analysis.flows.iter().map(|flow| flow.reordering.reordered);
    // The first pair of each connection does not count: what was sent before it is unknown.
    assert_eq!(reordered.sum::<u64>(), 9_400);
}

#[test]
fn the_flows_that_are_kept_and_the_sums_over_the_others_are_the_same_for_any_number_of_threads() {
    let bytes = long_traffic(140_000);
    let all = read(&bytes, 1).unwrap();
    let bounded = |threads| {
        let input = Input::reader("test", Cursor::new(bytes.clone()));
        let config = Config::default().keep_events(true).keep_points(true);
        let analyzer = Analyzer::new().config(config.max_flows(150));
        analyzer.threads(threads).run(input).unwrap()
    };
    let one = bounded(1);
    assert_eq!((one.flows.len(), one.summed.flows), (150, 1_850));
    assert_eq!(one.totals(), all.totals());
    let key = |flow: &inorder_detect::FlowReport| {
        (inorder_detect::Gravity::of_flow(flow).key() * 1e9) as u64
    };
    let least = one.flows.iter().map(key).min();
    let kept = |flow: &&inorder_detect::FlowReport| Some(key(flow)) > least;
    assert!(all.flows.iter().filter(kept).count() < 150);
    for threads in [2, 3, 8] {
        assert!(bounded(threads) == one, "{threads} threads");
    }
}

#[test]
fn frames_before_damage_are_analysed() {
    let mut bytes = long_traffic(10_000);
    bytes.truncate(bytes.len() - 9);
    let parts = |result: Result<Analysis, Error>| match result {
        Err(Error::Partial { analysis, source }) => (analysis, source.to_string()),
        other => panic!("{other:?}"),
    };
    let (analysis, error) = parts(read(&bytes, 1));
    assert_eq!(analysis.frames, 9_999);
    assert!(analysis.warnings[0].starts_with(&error));
    assert!(parts(read(&bytes, 2)) == (analysis.clone(), error.clone()));
}

#[test]
fn input_that_is_not_a_capture_is_refused() {
    for threads in [1, 2] {
        let result = read(b"neither", threads);
        let Err(Error::Open(CaptureError::NotACapture { found, .. })) = result else {
            panic!("{result:?}");
        };
        assert!(!found.is_empty());
    }
    let Err(Error::Open(error)) = read(b"", 1) else {
        panic!("an empty capture is none");
    };
    assert!(error.to_string().contains("an empty file"));
    assert!(matches!(
        analyzer().run("no/such/file"),
        Err(Error::Open(CaptureError::Io { .. }))
    ));
}

/// A watch that stops behind the first block.
#[derive(Default)]
struct Button(AtomicBool);

impl Watch for Button {
    fn progress(&self, _: u64, _: Option<u64>) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn an_analysis_may_be_stopped() {
    let bytes = long_traffic(20_000);
    let input = Input::reader("test", Cursor::new(bytes));
    let watched = analyzer().watch(Arc::new(Button::default()));
    let analysis = watched.run(input).unwrap();
    assert!(
        (1..20_000).contains(&analysis.frames),
        "{}",
        analysis.frames
    );
    assert!(analysis.warnings[0].starts_with("interrupted"));
}

#[test]
fn comparison_with_the_other_end_is_the_same_on_all_threads() {
    let here = recorded("tso-gro-late20.snd.pcap.gz");
    let there = recorded("tso-gro-late20.rcv.pcap.gz");
    let one = analyzer().compare(&here, &there).unwrap();
    let peer = one.peer.as_ref().unwrap();
    assert!(!peer.flows.is_empty());
    assert_eq!(peer.file, there.display().to_string());
    let three = analyzer().threads(3).compare(&here, &there).unwrap();
    assert!(one == three);
    let missing = analyzer().compare(&here, "no/such/file");
    assert!(matches!(missing, Err(Error::Peer(_))));
}
