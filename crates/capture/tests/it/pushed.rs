//! Bytes pushed in pieces of any size give the same blocks as a file with the same bytes.

use inorder_capture::{
    Block, Capture, CaptureError, Interface, PcapNgWriter, PcapWriter, PushCapture,
};
use inorder_wire::{Frame, LinkType};
use std::io::{Cursor, Write};

/// Number, time and bytes of a frame; a block is a list of these.
type Seen = Vec<(u64, i64, Vec<u8>)>;

fn seen(block: &Block) -> Seen {
    let frame = |f: Frame<'_>| (f.number, f.ts_ns, f.data.to_vec());
    block.frames().map(frame).collect()
}

fn frames(count: u64) -> impl Iterator<Item = (i64, Vec<u8>)> {
    (0..count).map(|i| (i as i64 * 1_000, vec![i as u8; (i * 7 % 1_400) as usize]))
}

fn pcap(count: u64) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), LinkType::RAW, 1_514).unwrap();
    for (ts_ns, data) in frames(count) {
        writer.write(&frame(ts_ns, &data)).unwrap();
    }
    writer.into_inner()
}

fn pcapng(count: u64) -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let interface = writer.add_interface(Interface {
        link: LinkType::RAW,
        snaplen: 0,
        name: None,
        description: None,
    });
    for (ts_ns, data) in frames(count) {
        writer.write(interface, &frame(ts_ns, &data), None).unwrap();
    }
    writer.into_inner()
}

fn frame(ts_ns: i64, data: &[u8]) -> Frame<'_> {
    Frame {
        ts_ns,
        number: 0,
        link: LinkType::RAW,
        orig_len: 1_514,
        data,
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn as_a_file(bytes: &[u8]) -> (Vec<Seen>, Option<CaptureError>) {
    let (mut block, mut blocks) = (Block::default(), Vec::new());
    let mut capture = match Capture::from_reader("test", Box::new(Cursor::new(bytes.to_vec()))) {
        Ok(capture) => capture,
        Err(error) => return (blocks, Some(error)),
    };
    loop {
        let more = capture.read_block(&mut block);
        if !block.is_empty() {
            blocks.push(seen(&block));
        }
        match more {
            Ok(true) => {}
            Ok(false) => return (blocks, None),
            Err(error) => return (blocks, Some(error)),
        }
    }
}

fn pushed(bytes: &[u8], piece: usize) -> (Vec<Seen>, Option<CaptureError>) {
    let mut capture = PushCapture::new("test");
    let (mut block, mut blocks) = (Block::default(), Vec::new());
    for piece in bytes.chunks(piece).map(Some).chain([None]) {
        match piece {
            Some(bytes) => capture.push(bytes),
            None => capture.close(),
        }
        loop {
            match capture.read_block(&mut block) {
                Ok(true) => blocks.push(seen(&block)),
                Ok(false) => break,
                Err(error) => {
                    if !block.is_empty() {
                        blocks.push(seen(&block));
                    }
                    assert!(matches!(capture.read_block(&mut block), Ok(false)));
                    return (blocks, Some(error));
                }
            }
        }
    }
    (blocks, None)
}

fn same(bytes: &[u8], pieces: &[usize]) {
    let (blocks, error) = as_a_file(bytes);
    let error = error.map(|e| e.to_string());
    for &piece in pieces {
        let (again, other) = pushed(bytes, piece);
        assert_eq!(other.map(|e| e.to_string()), error, "pieces of {piece}");
        assert!(again == blocks, "pieces of {piece} give other blocks");
    }
}

#[test]
fn several_blocks_in_pieces_of_any_size() {
    for bytes in [pcap(1_500), pcapng(1_500)] {
        assert!(as_a_file(&bytes).0.len() > 3);
        same(&bytes, &[13, 1_000, 1 << 18, 300_000, bytes.len()]);
    }
}

#[test]
fn compressed_and_byte_by_byte() {
    same(&pcap(30), &[1, 2, 3]);
    for bytes in [gzip(&pcap(800)), gzip(&pcapng(800))] {
        same(&bytes, &[1, 17, 4_096]);
    }
    // Two members in a row, as parallel compressors write them.
    let mut two = gzip(&pcap(10));
    two.extend(gzip(&pcap(10)[24..]));
    same(&two, &[1, 5]);
}

#[cfg(feature = "zstd")]
#[test]
fn zstd_byte_by_byte() {
    let bytes = zstd::encode_all(Cursor::new(pcap(800)), 1).unwrap();
    same(&bytes, &[1, 17, 4_096]);
}

#[test]
fn a_frame_longer_than_a_block() {
    let mut writer = PcapWriter::new(Vec::new(), LinkType::RAW, 1 << 20).unwrap();
    for length in [100, 700_000, 100] {
        writer.write(&frame(1, &vec![1; length])).unwrap();
    }
    same(&writer.into_inner(), &[999, 100_000, 1 << 18]);
}

#[test]
fn damage_and_input_that_is_not_a_capture() {
    let whole = pcap(600);
    let mut broken = whole.clone();
    broken[whole.len() / 2..].fill(0xee);
    let packed = gzip(&whole);
    for bytes in [
        &whole[..whole.len() - 3],
        &broken,
        &packed[..packed.len() - 9],
        &whole[..17],
        b"x",
        b"",
        b"nothing that anybody captured",
    ] {
        assert!(as_a_file(bytes).1.is_some());
        same(bytes, &[1, 100, 1 << 20]);
    }
}
