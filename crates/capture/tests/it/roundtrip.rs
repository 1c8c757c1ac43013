//! Whatever the writers write is read back unchanged, with any compression around it.

use inorder_capture::{
    AnnotateError, Block, Capture, CaptureError, Compression, Format, Interface, PcapNgWriter,
    PcapWriter, TIMES_NS, annotate,
};
use inorder_wire::{Frame, LinkType};
use proptest::prelude::*;
use std::io::{Cursor, Read, Write};

/// A frame that owns its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Owned {
    ts_ns: i64,
    orig_len: u32,
    link: LinkType,
    data: Vec<u8>,
}

impl Owned {
    fn frame(&self) -> Frame<'_> {
        Frame {
            ts_ns: self.ts_ns,
            number: 0,
            link: self.link,
            orig_len: self.orig_len,
            data: &self.data,
        }
    }
}

fn some_frames(count: usize) -> Vec<Owned> {
    (0..count)
        .map(|i| Owned {
            ts_ns: 1_700_000_000_000_000_007 + i as i64 * 1_000_003,
            orig_len: 1514,
            link: LinkType::ETHERNET,
            data: vec![i as u8; i % 97],
        })
        .collect()
}

fn pcap(frames: &[Owned]) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, 96).unwrap();
    for frame in frames {
        writer.write(&frame.frame()).unwrap();
    }
    writer.into_inner()
}

fn interface(link: LinkType, name: &str) -> Interface {
    Interface {
        link,
        snaplen: 0,
        name: Some(name.to_string()),
        description: None,
    }
}

fn pcapng(frames: &[Owned]) -> Vec<u8> {
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let ethernet = writer.add_interface(interface(LinkType::ETHERNET, "eth0"));
    let raw = writer.add_interface(interface(LinkType::RAW, "tun0"));
    for frame in frames {
        let id = if frame.link == LinkType::RAW {
            raw
        } else {
            ethernet
        };
        writer
            .write(id, &frame.frame(), Some("to be skipped"))
            .unwrap();
    }
    writer.into_inner()
}

fn open(bytes: &[u8]) -> Result<Capture, CaptureError> {
    Capture::from_reader("test", Box::new(Cursor::new(bytes.to_vec())))
}

fn read(bytes: &[u8]) -> (Vec<Owned>, Result<(), CaptureError>) {
    read_all(&mut open(bytes).unwrap())
}

fn read_all(capture: &mut Capture) -> (Vec<Owned>, Result<(), CaptureError>) {
    let mut block = Block::default();
    let mut frames = Vec::new();
    loop {
        let more = capture.read_block(&mut block);
        assert_eq!(block.first_frame_number(), frames.len() as u64 + 1);
        frames.extend(block.frames().map(|frame| Owned {
            ts_ns: frame.ts_ns,
            orig_len: frame.orig_len,
            link: frame.link,
            data: frame.data.to_vec(),
        }));
        match more {
            Ok(true) => assert!(!block.is_empty()),
            Ok(false) => return (frames, Ok(())),
            Err(e) => return (frames, Err(e)),
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let blocks = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(blocks, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

type Compressor = fn(&[u8]) -> Vec<u8>;

/// Every compression, with what compresses in it.
const COMPRESSORS: [(Compression, Compressor); 5] = [
    (Compression::Gzip, gzip),
    (Compression::Zstd, zstd),
    (Compression::Xz, xz),
    (Compression::Bzip2, bzip2),
    (Compression::Lz4, lz4),
];

#[test]
fn more_than_one_block_of_frames_in_both_formats() {
    let frames = some_frames(60_000);
    let bytes = pcap(&frames);
    assert!(bytes.len() > 3 << 20);
    let (back, end) = read(&bytes);
    end.unwrap();
    assert!(back == frames);
    let (back, end) = read(&pcapng(&frames));
    end.unwrap();
    assert!(back == frames);
}

#[test]
fn compressed_in_one_member_or_several() {
    let frames = some_frames(3000);
    let bytes = pcap(&frames);
    let (head, tail) = bytes.split_at(bytes.len() / 3);
    // A skippable frame: magic number, length, content.
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7];
    let mut files = vec![([&skippable[..], &zstd(&bytes)].concat(), Compression::Zstd)];
    for (compression, compress) in COMPRESSORS {
        files.push((compress(&bytes), compression));
        files.push(([compress(head), compress(tail)].concat(), compression));
    }
    for (compressed, compression) in files {
        let mut capture = open(&compressed).unwrap();
        assert_eq!(capture.info().compression, compression);
        assert_eq!(capture.info().format, Format::PcapNano);
        let (back, end) = read_all(&mut capture);
        end.unwrap();
        assert!(back == frames);
        assert_eq!(capture.bytes_read(), compressed.len() as u64);
    }
}

#[test]
fn a_truncated_compressed_file_delivers_the_frames_before_the_cut() {
    let frames = some_frames(30_000);
    for (compression, compress) in COMPRESSORS {
        let whole = compress(&pcap(&frames));
        let (back, end) = read(&whole[..whole.len() / 2]);
        assert!(
            matches!(end, Err(CaptureError::Decompress { .. })),
            "{compression}: {end:?}"
        );
        assert!(!back.is_empty() && back[..] == frames[..back.len()]);
    }
}

/// The header of the first block begins behind the 12 bytes of the stream's: its length, flags, the filter LZMA2 with
/// one byte of properties, padding, and a check sum (the .xz file format 1.2, section 3.1).
#[test]
fn the_dictionary_of_an_xz_file_is_bounded() {
    /// The size 4 GiB - 1 (section 5.3.1).
    const LARGEST_DICTIONARY: u8 = 40;
    let mut bytes = xz(&pcap(&some_frames(3)));
    let header = 12;
    let checked = usize::from(bytes[header]) * 4;
    assert_eq!(bytes[header + 2], 0x21, "the filter is LZMA2");
    bytes[header + 4] = LARGEST_DICTIONARY;
    let mut sum = flate2::Crc::new();
    sum.update(&bytes[header..header + checked]);
    bytes[header + checked..][..4].copy_from_slice(&sum.sum().to_le_bytes());
    let error = open(&bytes).unwrap_err().to_string();
    assert!(error.contains("memory"), "{error}");
}

#[test]
fn a_truncated_file_reports_the_position() {
    let frames = some_frames(3);
    for bytes in [pcap(&frames), pcapng(&frames)] {
        let mut ends = Vec::new();
        for len in 24..bytes.len() {
            let (back, end) = read(&bytes[..len]);
            assert_eq!(back[..], frames[..back.len()]);
            match end {
                Ok(()) => ends.push(len),
                Err(CaptureError::Damaged { frame, offset, .. }) => {
                    assert_eq!(frame, back.len() as u64 + 1);
                    assert!(offset < len as u64);
                }
                other => panic!("{other:?}"),
            }
        }
        // A cut between two records or blocks cannot be noticed; every other one is.
        assert!((3..=4).contains(&ends.len()), "{ends:?}");
    }
}

#[test]
fn input_that_is_not_a_capture_is_described() {
    for (bytes, found) in [
        (&b""[..], "an empty file"),
        (
            b"PK\x03\x04\x14\0\0\0",
            "a ZIP archive, which `unzip -p` decompresses",
        ),
        (
            b"\xd4\xc3\xb2\xa1\x02\x00",
            "only 6 bytes of a pcap file header",
        ),
        (
            b"snoop\0\0\0\0\0\0\x02\0\0\0\x05 and so on, and on",
            "a snoop capture of datalink type 5, not Ethernet, Token Ring or FDDI",
        ),
        (
            b"snoop\0\0\0\0\0\0\x03\0\0\0\x04 and so on, and on",
            "a snoop capture of version 3, not 2",
        ),
        (b"snoop\0\0\0\0\0", "only 10 bytes of a snoop file header"),
        (
            b"GMBU\0\0\0\0 and so on, and on",
            "a Network Monitor capture, which `editcap -F pcapng` converts",
        ),
        (
            b"ts\tseq\torig\tgap\tand more of it",
            r#"text that begins with "ts\tseq\to""#,
        ),
        (
            b"\x00\x01\x02\x03\x04\x05\x06\x07and more of it ....",
            "a file that begins with the bytes 00 01 02 03 04 05 06 07",
        ),
    ] {
        match open(bytes) {
            Err(CaptureError::NotACapture { found: said, .. }) => assert_eq!(said, found),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_snoop_file_is_read_whole_and_up_to_where_it_is_cut() {
    let mut file = b"snoop\0\0\0\0\0\0\x02\0\0\0\x04".to_vec();
    for n in 0..9_000u32 {
        let captured = 60 + n % 3;
        let len = (24 + captured).next_multiple_of(4);
        let end = file.len() + len as usize;
        for word in [1_514, captured, len, 0, 1_000 + n, 7] {
            file.extend(word.to_be_bytes());
        }
        file.resize(end, n as u8);
    }
    let (frames, end) = read(&file);
    assert!(end.is_ok(), "{end:?}");
    assert_eq!(frames.len(), 9_000);
    let last = frames.last().unwrap();
    assert_eq!((last.ts_ns, last.orig_len), (9_999_000_007_000, 1_514));
    assert_eq!(last.data, vec![8_999u32 as u8; 62]);
    let (frames, end) = read(&file[..file.len() - 1]);
    assert_eq!(frames.len(), 8_999);
    assert!(end.unwrap_err().to_string().contains("into a record"));
    assert!(read(&file[..16]).1.is_ok(), "no frames");
}

#[test]
fn unsupported_link_types_are_refused_by_name() {
    let usb = PcapWriter::new(Vec::new(), LinkType(189), 0)
        .unwrap()
        .into_inner();
    let refused = open(&usb).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "test: frames of USB (189) cannot be read; \
         expected one that is read, such as Ethernet, Linux cooked, raw IP, PPP or IEEE 802.11"
    );
}

#[test]
fn a_frame_longer_than_a_block() {
    let mut frames = some_frames(3);
    frames[1].data = vec![1; 5 << 20];
    let mut writer = PcapWriter::new(Vec::new(), LinkType::ETHERNET, 16 << 20).unwrap();
    for frame in &frames {
        writer.write(&frame.frame()).unwrap();
    }
    let (back, end) = read(&writer.into_inner());
    end.unwrap();
    assert!(back == frames);
    let (back, end) = read(&pcapng(&frames));
    end.unwrap();
    assert!(back == frames);
}

/// A reader that returns one byte at a time, then an error.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(&mut buf[..1])? {
            0 => Err(std::io::Error::other("cable pulled")),
            n => Ok(n),
        }
    }
}

#[test]
fn frames_before_a_system_error_are_delivered() {
    let frames = some_frames(10);
    let failing = Failing(Cursor::new(pcap(&frames)));
    let (back, end) = read_all(&mut Capture::from_reader("pipe", Box::new(failing)).unwrap());
    assert_eq!(back, frames);
    assert!(end.unwrap_err().to_string().ends_with("cable pulled"));
}

#[test]
fn an_annotated_copy_keeps_everything() {
    let mut frames = some_frames(50);
    for (i, frame) in frames.iter_mut().enumerate() {
        if i % 3 == 0 {
            frame.link = LinkType::RAW;
        }
        if i % 7 == 0 {
            frame.ts_ns = -frame.ts_ns;
        }
    }
    let mut copy = Vec::new();
    let comment = |number| (number == 2).then_some("late by 3 positions, ✓");
    let copied = annotate(&mut open(&pcapng(&frames)).unwrap(), &mut copy, comment).unwrap();
    assert_eq!(copied, 50);
    let mut capture = open(&copy).unwrap();
    let (back, end) = read_all(&mut capture);
    end.unwrap();
    assert_eq!(back, frames);
    let names: Vec<_> = capture
        .info()
        .interfaces
        .iter()
        .map(|i| i.name.as_deref())
        .collect();
    assert!(names.contains(&Some("eth0")) && names.contains(&Some("tun0")));
    let text = "late by 3 positions, ✓".as_bytes();
    assert_eq!(copy.windows(text.len()).filter(|w| *w == text).count(), 1);
}

#[test]
fn a_damaged_capture_is_copied_up_to_the_damage() {
    let frames = some_frames(5);
    let mut bytes = pcap(&frames);
    bytes.truncate(bytes.len() - 1);
    let mut copy = Vec::new();
    let end = annotate(&mut open(&bytes).unwrap(), &mut copy, |_| None);
    assert!(matches!(
        end,
        Err(AnnotateError::Read(CaptureError::Damaged { frame: 5, .. }))
    ));
    assert_eq!(read(&copy).0, frames[..4]);
}

fn any_frame() -> impl Strategy<Value = Owned> {
    let data = prop::collection::vec(any::<u8>(), 0..200);
    (TIMES_NS, any::<u32>(), any::<bool>(), data).prop_map(|(ts_ns, orig_len, raw, data)| Owned {
        ts_ns,
        orig_len,
        link: if raw {
            LinkType::RAW
        } else {
            LinkType::ETHERNET
        },
        data,
    })
}

proptest! {
    #[test]
    fn any_frames_survive_pcapng(frames in prop::collection::vec(any_frame(), 0..40)) {
        let (back, end) = read(&pcapng(&frames));
        prop_assert!(end.is_ok());
        prop_assert_eq!(back, frames);
    }

    #[test]
    fn any_frames_survive_pcap(
        mut frames in prop::collection::vec(any_frame(), 0..40),
        seconds in prop::collection::vec(i64::from(i32::MIN) + 1..=i64::from(u32::MAX), 40),
    ) {
        for (frame, seconds) in frames.iter_mut().zip(seconds) {
            frame.link = LinkType::ETHERNET;
            frame.ts_ns = seconds * 1_000_000_000 + frame.ts_ns.rem_euclid(2) * 999_999_999;
        }
        let (back, end) = read(&pcap(&frames));
        prop_assert!(end.is_ok());
        prop_assert_eq!(back, frames);
    }

    #[test]
    fn damage_anywhere_does_not_panic(
        ng in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let frames = some_frames(20);
        let mut bytes = if ng { pcapng(&frames) } else { pcap(&frames) };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        inorder_capture::fuzz_one(&bytes);
    }
}
