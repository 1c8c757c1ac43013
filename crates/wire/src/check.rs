//! Checks for fuzzers and property tests: the fast path must agree with the general one.

use crate::{Dir, Endpoint, Fragments, Frame, LaterPart, LinkType, Other, Packet, fast, slow};

/// The link types that the general path reads, and one that it does not read.
const LINKS: [u16; 15] = [
    1, 113, 101, 0, 9, 12, 14, 50, 108, 228, 229, 276, 127, 239, 104,
];

/// Parses `frame` in both ways; panics if the fast path returns a result that differs from the general one.
#[doc(hidden)]
pub fn same_both_ways(frame: &Frame<'_>) -> Packet {
    let mut asides = Vec::new();
    let general = slow::parse(frame, &mut asides);
    let mut fast = Packet::Other(Other::NotIp);
    if fast::parse_into(frame, &mut fast).is_some() {
        assert_eq!(fast, general, "{frame:02x?}");
        assert_eq!(asides, [], "{frame:02x?}");
    }
    assert_eq!(crate::parse(frame), general);
    general
}

/// One input of the fuzzer: link type, original length, then the bytes of a frame.
#[doc(hidden)]
pub fn fuzz_one(input: &[u8]) {
    let [link, high, low, data @ ..] = input else {
        return;
    };
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let frame = Frame {
        ts_ns: -1,
        number: 1,
        link: LinkType(link),
        orig_len: u32::from(u16::from_be_bytes([*high, *low])),
        data,
    };
    let mut fragments = Fragments::new();
    let packet = match same_both_ways(&frame) {
        Packet::FirstFragment(key, dir, segment, part) => {
            assert_eq!(fragments.first(key, dir, segment, part), None);
            return again(&mut fragments, data);
        }
        Packet::LaterFragment(part) => {
            assert_eq!(fragments.later(&part), None);
            return again(&mut fragments, data);
        }
        packet => packet,
    };
    if let Packet::Tcp(key, dir, segment) = packet {
        let (src, dst) = key.ends(dir);
        assert_eq!(crate::FlowKey::new(src, dst, key.overlay), (key, dir));
        assert!(segment.sack_blocks().len() == usize::from(segment.sack_len));
    }
}

/// Feeds the bytes as further fragments, some of which belong to the open datagram. The result must not be longer
/// than a datagram can be, and no frame may be counted twice.
fn again(fragments: &mut Fragments, data: &[u8]) {
    let mut frames = 1;
    for bytes in data.chunks_exact(4) {
        let part = LaterPart {
            protocol: if bytes[3] & 4 == 0 { 6 } else { 17 },
            ts_ns: i64::from(bytes[0]) * 1_000_000_000,
            frame: 2,
            src: Endpoint::v4(0, 0),
            dst: Endpoint::v4(0, 0),
            overlay: 0,
            id: u16::from(bytes[0] & 1),
            offset: u32::from(bytes[1]) * 8,
            len: u32::from(bytes[2]),
            more: bytes[3] & 1 != 0,
        };
        let first = bytes[3] & 2 != 0;
        frames += 1;
        let out = if first {
            let (key, dir) = crate::FlowKey::new(part.src, part.dst, 0);
            let segment = crate::Segment {
                ts_ns: part.ts_ns,
                payload_len: part.len,
                ip_id: part.id,
                ..crate::Segment::default()
            };
            fragments.first(key, dir, segment, 20)
        } else {
            fragments.later(&part)
        };
        if let Some((_, dir, segment)) = out {
            assert_eq!(dir, Dir::LowToHigh);
            assert!(segment.payload_len <= 65_535);
            frames = unused(fragments);
        }
        assert!(unused(fragments) <= frames);
    }
}

fn unused(fragments: &Fragments) -> u64 {
    fragments.unused().values().sum()
}
