//! A selection gives what a capture of only the selected packets would give.

use std::io::Cursor;
use std::path::{Path, PathBuf};

use inorder_capture::{Block, Capture, PcapWriter};
use inorder_pipeline::{Analysis, Analyzer, Input, Moment, Selection};
use inorder_wire::{Frame, Packet, parse};

fn recorded(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name)
}

/// The twin: writes the frames that `keep` wants to a capture of their own.
fn cut(path: &Path, keep: impl Fn(&Frame<'_>) -> bool) -> Vec<u8> {
    let mut capture = Capture::open(path).unwrap();
    let mut block = Block::default();
    let mut writer: Option<PcapWriter<Vec<u8>>> = None;
    let mut more = true;
    while more {
        more = capture.read_block(&mut block).unwrap();
        for frame in block.frames().filter(&keep) {
            let writer = writer
                .get_or_insert_with(|| PcapWriter::new(Vec::new(), frame.link, 65_535).unwrap());
            writer.write(&frame).unwrap();
        }
    }
    writer.expect("some frames").into_inner()
}

/// The analysis with the selection, the same on one thread and on three.
fn selected(path: &Path, selection: &Selection) -> Analysis {
    let analyzer = |threads| Analyzer::new().threads(threads).select(selection.clone());
    let one = analyzer(1).run(path).unwrap();
    assert!(analyzer(3).run(path).unwrap() == one);
    one
}

fn assert_same(mut selected: Analysis, bytes: Vec<u8>) {
    let mut twin = Analyzer::new()
        .run(Input::reader("cut", Cursor::new(bytes)))
        .unwrap();
    assert!(selected.left_out > 0 && selected.frames > 0);
    selected.left_out = 0;
    (twin.file, twin.format) = (selected.file.clone(), selected.format.clone());
    assert_eq!(selected, twin);
}

#[test]
fn a_range_of_time_is_a_capture_that_was_cut() {
    let path = recorded("captures/tso-gro-late20.snd.pcap.gz");
    let whole = Analyzer::new().run(&path).unwrap();
    let (from, until) = (100_000_000, 400_000_000);
    let first = whole.first_ns;
    let relative = Selection {
        from: Some(Moment::After(from)),
        until: Some(Moment::After(until)),
        ..Selection::default()
    };
    let absolute = Selection {
        from: Some(Moment::At(first + from)),
        until: Some(Moment::At(first + until)),
        ..Selection::default()
    };
    let analysis = selected(&path, &relative);
    assert!(analysis == selected(&path, &absolute));
    assert_eq!(analysis.frames + analysis.left_out, whole.frames);
    // The start of the connection is not among the packets, and nothing is assumed of it.
    assert!(analysis.flows.iter().all(|flow| !flow.endpoints.syn_seen));
    let span = first + from..first + until;
    assert_same(analysis, cut(&path, |frame| span.contains(&frame.ts_ns)));
}

#[test]
fn a_filter_is_a_capture_of_the_connections_it_selects() {
    let path = recorded("captures/icmp.snd.pcap.gz");
    let selection = Selection {
        filter: Some("icmp-echo".parse().unwrap()),
        until: Some(Moment::After(1_000_000_000)),
        ..Selection::default()
    };
    let until = Analyzer::new().run(&path).unwrap().first_ns + 1_000_000_000;
    let is_echo = |frame: &Frame<'_>| {
        frame.ts_ns < until
            && matches!(parse(frame), Packet::Numbered(key, _) if key.asker().is_some())
    };
    assert_same(selected(&path, &selection), cut(&path, is_echo));
}

/// Else every filter by the host that asks would make its requests unanswered.
#[test]
fn requests_and_their_replies_are_analysed_and_the_selected_ones_are_reported() {
    let path = recorded("captures/icmp.snd.pcap.gz");
    let whole = Analyzer::new().run(&path).unwrap();
    assert_eq!(whole.streams.len(), 2);
    for stream in &whole.streams {
        let src = stream.key.src.socket_addr().ip();
        let selection = Selection {
            filter: Some(format!("icmp-echo and src {src}").parse().unwrap()),
            ..Selection::default()
        };
        let one = selected(&path, &selection);
        assert_eq!(one.streams, std::slice::from_ref(stream));
        assert_eq!((one.frames, one.left_out), (whole.frames, whole.left_out));
    }
}

#[test]
fn both_directions_are_analysed_and_the_selected_one_is_reported() {
    let path = recorded("demo/demo-sender.pcap");
    let whole = Analyzer::new().run(&path).unwrap();
    let flow = &whole.flows[0];
    let select = |text: String| {
        let filter = Some(text.parse().unwrap());
        Selection {
            filter,
            ..Selection::default()
        }
    };
    let there = selected(&path, &select(flow.flow.to_string()));
    assert_eq!(there.flows, whole.flows[..1]);
    let (src, dst) = (flow.flow.src, flow.flow.dst);
    let back = selected(&path, &select(format!("{dst} -> {src}")));
    assert_eq!(back.frames, there.frames);
    assert!(back.flows.iter().all(|flow| flow.flow.src == dst));
}

#[test]
fn the_other_end_is_read_whole_and_only_selected_flows_are_compared() {
    let (sender, receiver) = (
        recorded("demo/demo-sender.pcap"),
        recorded("demo/demo-receiver.pcap"),
    );
    let compare = |filter: &str| {
        let filter = Some(filter.parse().unwrap());
        let selection = Selection {
            filter,
            ..Selection::default()
        };
        let analysis = Analyzer::new()
            .select(selection)
            .compare(&sender, &receiver);
        analysis.unwrap().peer.unwrap()
    };
    assert_eq!(compare("tcp").flows.len(), 1);
    let none = compare("port 1");
    assert!(none.flows.is_empty() && none.only_there.is_empty());
}
